/// A small HTTP server that only reads: GET and HEAD, on the loopback interface unless asked
/// otherwise, everything bounded.
///
/// One thread takes connections and what they ask, a few answer, each with a handler of its own (a
/// store::Library belongs to one thread). A request line and headers of at most 8 KiB must come
/// within the deadline, one request per connection. Who says nothing holds up nobody: of
/// connections that have not asked yet a peer has so many, all peers together twice as many, and
/// the longest idle is closed for a new one. What a
/// browser says it thinks this server is called (Host) must be an address or localhost, so that a
/// page of somebody else's cannot look in through a name of its own. Tests:
/// tests/tools/viewer/http/server_test.cc.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "capture/wire/socket.h"
#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::viewer {

struct Request {
  std::string path;  ///< decoded: "/clip/stroke 1"
  std::multimap<std::string, std::string> query;
  /// The first of a name; empty: none.
  std::string Query(const std::string& name) const;
};

struct Response {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body = {};
};

using Handler = std::function<Response(const Request&)>;

struct ServerOptions {
  capture::wire::Address address = capture::wire::Address::Loopback(0);  ///< port 0: a free one
  int workers = 3;
  int waiting = 32;                                 ///< requests that may wait for a worker
  int idle_per_peer = 32;                           ///< connections of one peer before they ask
  Duration deadline = Duration::Seconds(5);         ///< for a request to come whole
  Duration write_deadline = Duration::Seconds(30);  ///< for an answer to go out
};

class Server {
 public:
  /// kIo, naming the address, when somebody else listens there. `make_handler` is called once in
  /// each worker's thread; a handler that fails to come is answered for with 500 and its reason.
  static Result<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                               std::function<Result<Handler>()> make_handler);
  ~Server();  ///< answers what it began, closes the rest

  const capture::wire::Address& address() const { return listener_.address(); }
  int64_t answered() const { return answered_; }

 private:
  Server() = default;
  void Accept();
  void Work();
  /// A connection, and what has come of its request.
  struct Asked {
    capture::wire::TcpStream stream;
    uint32_t peer = 0;
    Timestamp since;
    std::string head = {};
    bool late = false;  ///< the deadline passed before the request was whole
  };
  /// Closes one that has not asked, where there are too many.
  void MakeRoom(std::deque<Asked>* idle) const;
  void Answer(Asked asked, const Result<Handler>& handler);

  ServerOptions options_;
  std::function<Result<Handler>()> make_handler_;
  capture::wire::TcpListener listener_;
  std::mutex mutex_;
  std::condition_variable comes_;
  std::deque<Asked> waiting_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> answered_{0};
  std::vector<std::thread> threads_;
};

/// The request of a head ("GET /a?b=c HTTP/1.1\r\n..."); the status that refuses it and why.
struct Refusal {
  int status = 400;
  std::string why;
};
struct ParsedHead {
  Request request;
  bool head_only = false;
  std::optional<Refusal> refusal;
};
ParsedHead ParseHead(std::string_view head);

}  // namespace handhold::viewer

/// Says what a recorder sees, on the loopback interface, to whoever listens: the live page of
/// `handhold view`.
///
/// One datagram each time, sent without waiting: when nobody listens, or the listener is slow, it
/// is lost, and the recorder does not notice. Nothing comes back. Tests:
/// tests/tools/live/publish_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "capture/session/health.h"
#include "capture/wire/socket.h"
#include "database/base/result.h"
#include "database/text/json.h"

namespace handhold::live {

/// Where recorders say it, unless told otherwise.
inline constexpr uint16_t kLivePort = 28450;
/// A datagram of loopback takes 65,507 bytes; what would be longer leaves out the least.
inline constexpr size_t kMostLiveBytes = 60'000;

/// The snapshot as JSON: state, sources, health, forces, which markers are hidden, by name.
/// tools/viewer/README.md lists the members.
text::Json LiveJson(const capture::HealthSnapshot& health, int64_t sequence);
/// The same as text, within kMostLiveBytes: of what is too long the tail of the health items, then
/// the names of hidden markers.
std::string LiveText(const capture::HealthSnapshot& health, int64_t sequence);

class LivePublisher {
 public:
  /// Port 0: says nothing.
  static Result<LivePublisher> Open(uint16_t port);
  /// Called as often as one likes, from one thread. Never waits.
  void Say(const capture::HealthSnapshot& health);

 private:
  std::optional<capture::wire::UdpSocket> socket_;
  uint16_t port_ = 0;
  int64_t sequence_ = 0;
};

/// The other end: keeps the newest datagram. Has a thread of its own; the functions are for any.
class LiveListener {
 public:
  /// kIo, naming the port, when another program listens there.
  static Result<std::unique_ptr<LiveListener>> Open(uint16_t port);
  ~LiveListener();

  struct Heard {
    std::string json;  ///< well-formed
    double age_s = 0.0;
  };
  std::optional<Heard> Newest() const;
  uint16_t port() const { return socket_.address().port; }

 private:
  LiveListener() = default;
  void Listen();

  capture::wire::UdpSocket socket_;
  mutable std::mutex mutex_;
  std::string newest_;
  Timestamp heard_at_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace handhold::live

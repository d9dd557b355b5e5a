#include "capture/wire/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "capture/wire/cancel.h"

namespace handhold::capture::wire {
namespace {

struct Question {
  std::condition_variable answered;
  std::optional<Result<uint32_t>> answer;
};

/// The questions under way. Never destroyed: a thread may answer while the program ends.
struct Questions {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Question>> by_host;
};
Questions& Open() {
  static Questions* const questions = new Questions;
  return *questions;
}

std::shared_ptr<Question> Ask(const std::string& host, NameLookup lookup) {
  Questions& open = Open();
  const auto question = std::make_shared<Question>();
  open.by_host[host] = question;
  std::thread([host, lookup, question] {
    Result<uint32_t> answer = lookup(host);
    Questions& asked = Open();
    const std::lock_guard lock(asked.mutex);
    asked.by_host.erase(host);
    question->answer = std::move(answer);
    question->answered.notify_all();
  }).detach();
  return question;
}

Result<uint32_t> Answer(const std::string& host, Timestamp deadline, NameLookup lookup) {
  if (in_addr numeric{}; ::inet_pton(AF_INET, host.c_str(), &numeric) == 1)
    return ntohl(numeric.s_addr);
  const std::atomic<bool>& cancelled = CancelFlag();
  Questions& open = Open();
  std::unique_lock lock(open.mutex);
  const auto under_way = open.by_host.find(host);
  const std::shared_ptr<Question> question =
      under_way != open.by_host.end() ? under_way->second : Ask(host, lookup);
  while (!question->answer) {
    const Duration left = deadline - HostNow();
    if (cancelled || left <= Duration()) {
      return Error{ErrorCode::kTimeout,
                   "host '" + host +
                       "': no name server has answered yet: check this machine's network, or give "
                       "the host's IPv4 address"};
    }
    question->answered.wait_for(lock, std::chrono::nanoseconds(std::min(left, kCancelPeriod).ns()));
  }
  return *question->answer;
}

}  // namespace

Result<uint32_t> AskResolver(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0 || found == nullptr) {
    return Error{ErrorCode::kNotFound, "host '" + host + "' is not known (" +
                                           ::gai_strerror(error) +
                                           "): check the spelling, or give its IPv4 address"};
  }
  const uint32_t ipv4 =
      ntohl(reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr.s_addr);
  ::freeaddrinfo(found);
  return ipv4;
}

Result<Address> Resolve(std::string_view text, uint16_t default_port, Timestamp deadline,
                        NameLookup lookup) {
  std::string host(text);
  uint16_t port = default_port;
  if (const size_t colon = host.rfind(':'); colon != std::string::npos) {
    const char* first = host.data() + colon + 1;
    const char* last = host.data() + host.size();
    const auto [end, error] = std::from_chars(first, last, port);
    if (error != std::errc() || end != last || first == last || port == 0) {
      return Error{ErrorCode::kInvalid,
                   "address '" + std::string(text) + "': the port must be 1 to 65535"};
    }
    host.resize(colon);
  }
  if (host.empty())
    return Error{ErrorCode::kInvalid, "address '" + std::string(text) + "' has no host"};
  HANDHOLD_ASSIGN(const uint32_t ipv4, Answer(host, deadline, lookup));
  return Address{ipv4, port};
}

}  // namespace handhold::capture::wire

#include "tools/pipeline/process_pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "database/text/json_view.h"

namespace handhold::pipeline {
namespace {

using text::Json;

constexpr const char* kFound = "found";
constexpr const char* kFailed = "failed";
constexpr const char* kDone = "done";

/// A line to the parent; false once nobody reads.
bool SendLine(int fd, const char* what, const Json& value) {
  const auto line = text::WriteJson(Json::Object({{what, value}}));
  if (!line) return false;
  const std::string bytes = *line + "\n";
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + sent, bytes.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

struct Child {
  pid_t pid = -1;
  int fd = -1;
  std::string buffer;
  bool done = false;
};

[[noreturn]] void Work(const step::Parts& parts, int part, int fd) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  const Status done =
      parts.work(part, [&](const Json& found) { return SendLine(fd, kFound, found); });
  if (done) {
    SendLine(fd, kDone, true);
  } else {
    SendLine(fd, kFailed,
             Json::Object({{"code", static_cast<int64_t>(done.error().code)},
                           {"message", done.error().message}}));
  }
  ::_exit(0);
}

Status TakeLine(const step::Parts& parts, int part, const std::string& line, Child* child) {
  HANDHOLD_ASSIGN(const Json json, text::ParseJson(line, {.source = "a part"}));
  if (const Json* found = json.Find(kFound)) return parts.take(part, *found);
  child->done = true;
  const Json* failed = json.Find(kFailed);
  if (failed == nullptr) return {};
  const text::JsonView view(*failed, "a part");
  HANDHOLD_ASSIGN(const int code, view.Get<int>("code"));
  HANDHOLD_ASSIGN(const std::string message, view.Get<std::string>("message"));
  return Error{static_cast<ErrorCode>(code), message};
}

class Pool {
 public:
  explicit Pool(const step::Parts& parts) : parts_(parts) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (Child& child : children_) {
      if (child.fd >= 0) {
        ::close(child.fd);
        ::kill(child.pid, SIGKILL);
      }
      ::waitpid(child.pid, nullptr, 0);
    }
  }

  Status Start() {
    for (int part = 0; part < parts_.count; ++part) {
      std::array<int, 2> ends{};
      if (::pipe(ends.data()) != 0) return Error{ErrorCode::kIo, "no pipe for a part"};
      const pid_t pid = ::fork();
      if (pid == 0) {
        ::close(ends[0]);
        for (const Child& other : children_) ::close(other.fd);
        Work(parts_, part, ends[1]);
      }
      ::close(ends[1]);
      if (pid < 0) {
        ::close(ends[0]);
        return Error{ErrorCode::kIo, "no process for a part"};
      }
      children_.push_back({pid, ends[0], {}, false});
    }
    return {};
  }

  /// Answers the number of parts that were lost.
  Result<int> Gather() {
    while (std::ranges::any_of(children_, [](const Child& c) { return c.fd >= 0; })) {
      std::vector<pollfd> waits;
      for (const Child& c : children_) waits.push_back({c.fd, POLLIN, 0});
      ::poll(waits.data(), waits.size(), 200);
      for (size_t i = 0; i < children_.size(); ++i) {
        if (children_[i].fd >= 0 && (waits[i].revents & (POLLIN | POLLHUP)) != 0)
          HANDHOLD_TRY(Read(static_cast<int>(i)));
      }
      if (!parts_.go_on()) break;
    }
    return lost_;
  }

 private:
  Status Read(int part) {
    Child& child = children_[static_cast<size_t>(part)];
    std::array<char, 65536> bytes;
    const ssize_t n = ::read(child.fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) return {};
    if (n <= 0) {
      ::close(child.fd);
      child.fd = -1;
      if (!child.done) ++lost_;  // killed: what it had sent is here, the rest of its part is not
      return {};
    }
    child.buffer.append(bytes.data(), static_cast<size_t>(n));
    for (size_t end; (end = child.buffer.find('\n')) != std::string::npos;) {
      const std::string line = child.buffer.substr(0, end);
      child.buffer.erase(0, end + 1);
      HANDHOLD_TRY(TakeLine(parts_, part, line, &child));
    }
    return {};
  }

  const step::Parts& parts_;
  std::vector<Child> children_;
  int lost_ = 0;
};

}  // namespace

Result<int> RunInProcesses(const step::Parts& parts) {
  Pool pool(parts);
  HANDHOLD_TRY(pool.Start());
  return pool.Gather();
}

}  // namespace handhold::pipeline

// RunLimited of ezc3d_reader.h.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "database/exchange/ezc3d_reader.h"

namespace handhold::exchange::internal {
namespace {

constexpr int kLookEvery_ms = 10;

int64_t ResidentBytes(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/statm");
  int64_t all = 0, resident = 0;
  in >> all >> resident;
  return in ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

[[noreturn]] void Child(const std::function<std::string(int)>& work, int file, int message_pipe,
                        [[maybe_unused]] const ChildLimits& limits) {
  // The parent looks at the memory every 10 ms; the kernel stops what grows faster than that.
  // Sanitizers reserve terabytes of addresses, so there the look must do.
#if !defined(__SANITIZE_ADDRESS__)
  const struct rlimit memory {
    static_cast<rlim_t>(limits.memory_bytes * 2 + (int64_t{256} << 20)),
        static_cast<rlim_t>(limits.memory_bytes * 2 + (int64_t{256} << 20))
  };
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  const struct rlimit none {
    0, 0
  };
  ::setrlimit(RLIMIT_CORE, &none);
  // Whoever reads a foreign library's chatter on our stdout would be misled.
  if (std::freopen("/dev/null", "w", stdout) == nullptr ||
      std::freopen("/dev/null", "w", stderr) == nullptr)
    ::_exit(3);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(signal, SIG_DFL);
  std::string message;
  try {
    message = work(file);
  } catch (const std::bad_alloc&) {
    message = "ran out of memory";
  } catch (const std::exception& e) {
    message = e.what();
  } catch (...) {
    message = "failed";
  }
  message.resize(std::min<size_t>(message.size(), 2000));
  if (!message.empty() &&
      ::write(message_pipe, message.data(), message.size()) != static_cast<ssize_t>(message.size()))
    ::_exit(3);
  ::_exit(message.empty() ? 0 : 1);
}

}  // namespace

Result<int> RunLimited(const std::function<std::string(int file)>& work,
                       const ChildLimits& limits) {
  std::error_code error;
  std::string name =
      (std::filesystem::temp_directory_path(error) / "handhold-ezc3d-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return Error{ErrorCode::kIo, name + ": " + std::strerror(errno)};
  ::unlink(name.c_str());
  int message[2];
  if (::pipe(message) != 0) {
    ::close(file);
    return Error{ErrorCode::kIo, std::string("pipe: ") + std::strerror(errno)};
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(message[0]);
    Child(work, file, message[1], limits);
  }
  ::close(message[1]);
  if (child < 0) {
    ::close(message[0]);
    ::close(file);
    return Error{ErrorCode::kIo, std::string("fork: ") + std::strerror(errno)};
  }
  const Timestamp end = HostNow() + limits.time;
  const char* stopped = nullptr;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (stopped == nullptr && HostNow() > end) stopped = "time";
    if (stopped == nullptr && ResidentBytes(child) > limits.memory_bytes) stopped = "memory";
    if (stopped != nullptr) ::kill(child, SIGKILL);
    struct pollfd ready {
      message[0], POLLIN, 0
    };
    ::poll(&ready, 1, kLookEvery_ms);
    // A closed pipe is always ready; do not spin on it.
    if ((ready.revents & POLLIN) == 0) ::usleep(1000);
  }
  char said[2001] = "";
  const ssize_t got = ::read(message[0], said, 2000);
  ::close(message[0]);
  if (stopped == nullptr && WIFEXITED(status) && WEXITSTATUS(status) == 0) return file;
  ::close(file);
  if (stopped != nullptr && std::string_view(stopped) == "time")
    return Error{ErrorCode::kTimeout,
                 "ezc3d was stopped after " + FormatSeconds(limits.time) + " without an answer"};
  if (stopped != nullptr)
    return Error{ErrorCode::kUnsupported, "ezc3d was stopped when it held more than " +
                                              std::to_string(limits.memory_bytes >> 20) +
                                              " MB of memory"};
  if (got > 0) return Error{ErrorCode::kCorrupt, "ezc3d refuses: " + std::string(said)};
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return Error{ErrorCode::kCorrupt,
               signal != 0 ? std::string("ezc3d crashed: ") + ::strsignal(signal)
                           : "ezc3d ended with code " + std::to_string(WEXITSTATUS(status))};
}

}  // namespace handhold::exchange::internal

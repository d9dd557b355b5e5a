#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/lab/archive.h"
#include "tools/lab/engine_run.h"

namespace handhold::lab {
namespace {

/// Writes or reads everything; false on an error or an early end.
bool WriteAll(int fd, const void* data, size_t size) {
  const char* p = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n, size -= static_cast<size_t>(n);
  }
  return true;
}
bool ReadAll(int fd, void* data, size_t size) {
  char* p = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = ::read(fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n, size -= static_cast<size_t>(n);
  }
  return true;
}

/// A run's result on the pipe: 1 and its doubles, or 0, the error's code and its text.
void Send(int fd, const Result<EngineRecord>& result) {
  if (result) {
    Packer packer;
    EngineRecord record = *result;
    Fields(packer, record);
    const uint64_t head[2] = {1, packer.out.size()};
    (void)(WriteAll(fd, head, sizeof head) &&
           WriteAll(fd, packer.out.data(), packer.out.size() * sizeof(double)));
  } else {
    const std::string& text = result.error().message;
    const uint64_t head[3] = {0, static_cast<uint64_t>(result.error().code), text.size()};
    (void)(WriteAll(fd, head, sizeof head) && WriteAll(fd, text.data(), text.size()));
  }
}

Result<EngineRecord> Receive(int fd, const RunRequest& request) {
  const Error lost{ErrorCode::kIo, "run " + request.name + ": its process ended without a result"};
  uint64_t good = 0, size = 0, code = 0;
  if (!ReadAll(fd, &good, sizeof good)) return lost;
  if (good == 0) {
    if (!ReadAll(fd, &code, sizeof code) || !ReadAll(fd, &size, sizeof size) || size > 100000)
      return lost;
    std::string text(size, '\0');
    if (!ReadAll(fd, text.data(), size)) return lost;
    return Error{static_cast<ErrorCode>(code), text};
  }
  if (!ReadAll(fd, &size, sizeof size)) return lost;
  std::vector<double> numbers(size);
  if (!ReadAll(fd, numbers.data(), size * sizeof(double))) return lost;
  EngineRecord record;
  Unpacker unpacker{numbers};
  Fields(unpacker, record);
  if (!unpacker.good) return lost;
  record.run.name = request.name, record.run.surface = request.surface;
  return record;
}

}  // namespace

Result<std::vector<EngineRecord>> RunAll(const Laboratory& laboratory,
                                         const std::vector<RunRequest>& requests, int processes) {
  std::vector<EngineRecord> records(requests.size());
  const size_t workers =
      static_cast<size_t>(std::max(1, std::min(processes, static_cast<int>(requests.size()))));
  struct Child {
    pid_t pid = -1;
    int fd = -1;
  };
  std::vector<Child> children(workers);
  Status status;
  // Worker w takes requests w, w + workers, ...; this process is worker 0. A child that ends early
  // shows as a lost result.
  for (size_t w = 1; w < workers && status; ++w) {
    int ends[2];
    if (::pipe(ends) != 0) {
      status = Error{ErrorCode::kIo, std::string("runs in processes: ") + std::strerror(errno)};
      break;
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      for (size_t i = w; i < requests.size(); i += workers)
        Send(ends[1], RunEngine(laboratory, requests[i]));
      ::close(ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    children[w] = {pid, ends[0]};
    if (pid < 0)
      status = Error{ErrorCode::kIo, std::string("runs in processes: ") + std::strerror(errno)};
  }
  for (size_t i = 0; i < requests.size() && status; i += workers) {
    Result<EngineRecord> record = RunEngine(laboratory, requests[i]);
    if (record)
      records[i] = std::move(*record);
    else
      status = record.error();
  }
  for (size_t w = 1; w < workers; ++w) {
    for (size_t i = w; i < requests.size() && status; i += workers) {
      Result<EngineRecord> record = Receive(children[w].fd, requests[i]);
      if (record)
        records[i] = std::move(*record);
      else
        status = record.error();
    }
    if (children[w].fd >= 0) ::close(children[w].fd);
    if (children[w].pid > 0) ::waitpid(children[w].pid, nullptr, 0);
  }
  if (!status) return status.error();
  return records;
}

}  // namespace handhold::lab

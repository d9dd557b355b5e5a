#include "database/text/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "database/base/id.h"

namespace handhold::text {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  /// Closes and says whether that worked: on network file systems a failed write can first show
  /// here.
  bool Close() {
    const int fd = fd_;
    fd_ = -1;
    return close(fd) == 0;
  }

 private:
  int fd_;
};

Error SystemError(const std::filesystem::path& path, const char* doing, int error) {
  return {error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
          path.string() + ": cannot " + doing + ": " + std::strerror(error)};
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::string> ReadTextFile(const std::filesystem::path& path, size_t max_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError(path, "open", errno);
  std::string out;
  for (;;) {
    constexpr size_t kStep = 64 * 1024;
    const size_t had = out.size();
    out.resize(had + kStep);
    const ssize_t got = read(file.get(), out.data() + had, kStep);
    if (got < 0 && errno != EINTR) return SystemError(path, "read", errno);
    out.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return out;
    if (out.size() > max_bytes) {
      return Error{ErrorCode::kInvalid, path.string() + ": longer than the limit of " +
                                            std::to_string(max_bytes) + " bytes"};
    }
  }
}

Status WriteTextFile(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const std::filesystem::path temporary =
      folder / ("." + path.filename().string() + "." + Uuid::New().ToString() + ".tmp");
  const auto give_up = [&](const char* doing, int error) {
    unlink(temporary.c_str());
    return SystemError(path, doing, error);
  };
  FileDescriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return SystemError(path, "create", errno);
  if (!WriteAll(file.get(), text)) return give_up("write", errno);
  if (fsync(file.get()) != 0) return give_up("flush", errno);
  if (!file.Close()) return give_up("close", errno);
  if (rename(temporary.c_str(), path.c_str()) != 0) return give_up("replace", errno);
  const FileDescriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0 && fsync(directory.get()) != 0)
    return SystemError(folder, "flush", errno);
  return {};
}

}  // namespace handhold::text

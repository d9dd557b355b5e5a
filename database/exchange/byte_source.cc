#include "database/exchange/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace handhold::exchange {
namespace {

class FileBytes final : public ByteSource {
 public:
  FileBytes(std::string path, int file, int64_t size)
      : path_(std::move(path)), file_(file), size_(size) {}
  ~FileBytes() override { ::close(file_); }
  int64_t size() const override { return size_; }
  Status Read(int64_t offset, std::span<uint8_t> out) const override {
    for (size_t done = 0; done < out.size();) {
      const ssize_t n = ::pread(file_, out.data() + done, out.size() - done,
                                static_cast<off_t>(offset) + static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error{ErrorCode::kIo, path_ + ": " + std::strerror(errno)};
      if (n == 0) return Error{ErrorCode::kCorrupt, path_ + ": became shorter while it was read"};
      done += static_cast<size_t>(n);
    }
    return {};
  }

 private:
  const std::string path_;
  const int file_;
  const int64_t size_;
};

class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  Status Read(int64_t offset, std::span<uint8_t> out) const override {
    if (offset < 0 || offset > size() || out.size() > static_cast<size_t>(size() - offset))
      return Error{ErrorCode::kCorrupt, "ends before its data do"};
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return {};
  }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> ByteSource::OpenFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever; of a file it means
  // nothing.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
    const std::string why = std::strerror(errno);
    if (file >= 0) ::close(file);
    return Error{code, path + ": " + why};
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(file);
    return Error{ErrorCode::kInvalid, path + ": is not a file"};
  }
  return std::unique_ptr<ByteSource>(new FileBytes(path, file, status.st_size));
}

std::unique_ptr<ByteSource> ByteSource::OfDescriptor(int file, const std::string& name) {
  struct stat status {};
  const bool known = ::fstat(file, &status) == 0;
  return std::make_unique<FileBytes>(name, file, known ? status.st_size : 0);
}

std::unique_ptr<ByteSource> ByteSource::OfBytes(std::span<const uint8_t> bytes) {
  return std::make_unique<MemoryBytes>(bytes);
}

}  // namespace handhold::exchange

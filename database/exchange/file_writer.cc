#include "database/exchange/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace handhold::exchange {
namespace {

constexpr size_t kBuffer = 1 << 20;
constexpr int kMostParts = 100;

Error ExistsAlready(const std::string& path) {
  return Error{ErrorCode::kInvalid,
               path + ": exists already; exports never overwrite: choose another name"};
}

}  // namespace

Result<FileWriter> FileWriter::Create(const std::string& path) {
  if (path.empty()) return FileWriter("", -1);
  if (::access(path.c_str(), F_OK) == 0) return ExistsAlready(path);
  FileWriter writer(path, -1);
  for (int k = 1; writer.file_ < 0 && k <= kMostParts; ++k) {
    writer.part_ = path + (k == 1 ? "" : "." + std::to_string(k)) + ".part";
    writer.file_ = ::open(writer.part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (writer.file_ < 0 && errno != EEXIST) break;
  }
  if (writer.file_ < 0) return Error{ErrorCode::kIo, path + ": " + std::strerror(errno)};
  return writer;
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      part_(std::move(other.part_)),
      file_(other.file_),
      size_(other.size_),
      buffer_(std::move(other.buffer_)) {
  other.file_ = -1;
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(part_.c_str());
}

Status FileWriter::Write(std::span<const uint8_t> bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  if (path_.empty()) return {};
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() < kBuffer ? Status() : Flush();
}

Status FileWriter::Write(std::string_view text) {
  return Write(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

Status FileWriter::Pad(int64_t unit) {
  const std::vector<uint8_t> zeros(static_cast<size_t>((unit - size_ % unit) % unit));
  return Write(zeros);
}

Status FileWriter::Flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t n = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{ErrorCode::kIo, path_ + ": " + std::strerror(errno)};
    done += static_cast<size_t>(n);
  }
  buffer_.clear();
  return {};
}

Status FileWriter::TakeName() {
  // link, not rename: a file that came into being meanwhile is not replaced.
  if (::link(part_.c_str(), path_.c_str()) == 0) {
    ::unlink(part_.c_str());
    return {};
  }
  if (errno == EEXIST) return ExistsAlready(path_);
  // File systems without hard links (FAT, exFAT, some shares).
  if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0)
    return {};
  if (errno == EEXIST) return ExistsAlready(path_);
  // And without that flag, too (exFAT).
  if (::access(path_.c_str(), F_OK) == 0) return ExistsAlready(path_);
  if (::rename(part_.c_str(), path_.c_str()) == 0) return {};
  return Error{ErrorCode::kIo, path_ + ": " + std::strerror(errno)};
}

Status FileWriter::Publish() {
  if (path_.empty()) return {};
  HANDHOLD_TRY(Flush());
  if (::fsync(file_) != 0) return Error{ErrorCode::kIo, path_ + ": " + std::strerror(errno)};
  HANDHOLD_TRY(TakeName());
  ::close(file_);
  file_ = -1;
  return {};
}

}  // namespace handhold::exchange

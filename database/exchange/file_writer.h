/// A new file that appears whole or not at all: written beside its name, synced, then renamed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"

namespace handhold::exchange {

class FileWriter {
 public:
  /// kInvalid when `path` exists: exports never overwrite. An empty path writes nowhere and counts
  /// (dry runs).
  static Result<FileWriter> Create(const std::string& path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();  ///< removes what was not published

  Status Write(std::span<const uint8_t> bytes);
  Status Write(std::string_view text);
  /// Zeros up to a multiple of `unit`.
  Status Pad(int64_t unit);
  int64_t size() const { return size_; }
  Status Publish();

 private:
  FileWriter(std::string path, int file) : path_(std::move(path)), file_(file) {}
  Status Flush();
  std::string part() const { return path_ + ".part"; }

  std::string path_;
  int file_ = -1;
  int64_t size_ = 0;
  std::vector<uint8_t> buffer_;
};

}  // namespace handhold::exchange

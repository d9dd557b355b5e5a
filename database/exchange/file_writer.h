/// A new file that appears whole or not at all: written beside its name (PATH.part, or PATH.2.part
/// ... where that is taken: another's file is never touched), synced, then given its name.
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
  /// Fails with kInvalid when `path` came into being meanwhile: it is not replaced. (Where the file
  /// system has neither hard links nor RENAME_NOREPLACE, that is looked up just before.)
  Status Publish();

 private:
  FileWriter(std::string path, int file) : path_(std::move(path)), file_(file) {}
  Status Flush();
  Status TakeName();

  std::string path_, part_;
  int file_ = -1;
  int64_t size_ = 0;
  std::vector<uint8_t> buffer_;
};

}  // namespace handhold::exchange

/// Bytes of a file at any offset: read from disk when asked for, or held in memory. Nothing is
/// cached here; each Read of a file is a call of the system.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "database/base/result.h"

namespace handhold::exchange {

/// Reads name file and offset in their errors. Const and safe from several threads: no position is
/// kept between reads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// kNotFound, or kIo with the system's reason; folders, devices and pipes are refused, at once.
  static Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);
  /// Takes over an open descriptor; `name` is for messages.
  static std::unique_ptr<ByteSource> OfDescriptor(int file, const std::string& name);
  /// `bytes` must outlive the source.
  static std::unique_ptr<ByteSource> OfBytes(std::span<const uint8_t> bytes);

  virtual int64_t size() const = 0;
  /// Fills `out` from `offset`; fewer bytes than asked for are kCorrupt (the file shrank).
  virtual Status Read(int64_t offset, std::span<uint8_t> out) const = 0;
};

}  // namespace handhold::exchange

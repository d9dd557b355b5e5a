/// Little-endian numbers and varints in byte strings, with every read checked against the end.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace handhold::store {

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian; this code copies bytes as they are");

using Bytes = std::vector<uint8_t>;

/// Appends `value` as it lies in memory.
template <typename T>
void PutFixed(Bytes& out, T value) {
  const size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

/// Seven bits per byte, low first, high bit set on all but the last (LEB128): 1 to 10 bytes.
inline void PutVarint(Bytes& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<uint8_t>(value));
}

/// 0 -> 0, -1 -> 1, 1 -> 2, ...: small magnitudes become small numbers. Wraps; any value survives
/// the round trip.
template <typename U>
constexpr U ZigZag(U value) {
  return static_cast<U>((value << 1) ^ (U{0} - (value >> (sizeof(U) * 8 - 1))));
}
template <typename U>
constexpr U UnZigZag(U value) {
  return static_cast<U>((value >> 1) ^ (U{0} - (value & 1)));
}

/// Reads from a byte string; a read beyond the end answers 0 and makes ok() false for good.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T Fixed() {
    T value{};
    if (!ok_ || bytes_.size() - at_ < sizeof(T)) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (!ok_ || at_ >= bytes_.size()) break;
      const uint8_t byte = bytes_[at_++];
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

  std::span<const uint8_t> Take(size_t size) {
    if (!ok_ || bytes_.size() - at_ < size) {
      ok_ = false;
      return {};
    }
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }

  bool ok() const { return ok_; }
  size_t position() const { return at_; }
  size_t left() const { return ok_ ? bytes_.size() - at_ : 0; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace handhold::store

/// SHA-256 (FIPS 180-4): the address of everything that is stored by its content.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "database/base/result.h"

namespace handhold {

/// 256 bits. Two inputs with equal digests are taken to be equal. A plain value, ordered bytewise;
/// all zero by default: "none", as no input is known to have it.
struct Digest {
  std::array<uint8_t, 32> bytes{};

  std::string ToHex() const;  ///< 64 characters, lower case
  /// From 64 hexadecimal characters of either case; kInvalid says what is wrong with the text.
  static Result<Digest> Parse(std::string_view hex);
  auto operator<=>(const Digest&) const = default;
};

/// Takes a message in pieces: the digest depends on the bytes, not on how they were cut. One owner,
/// one thread; does not allocate. About 200 MB/s, and six times that where the processor has
/// instructions for it: it addresses files, results and parameters, and is no checksum for the
/// sample path (that is CRC-32C, in the store).
class Sha256 {
 public:
  enum class Code { kFastest, kPortable };
  /// kPortable: without the processor's instructions, for tests of what a lesser one computes.
  explicit Sha256(Code code = Code::kFastest);
  /// Adds bytes after those before; an empty piece changes nothing.
  Sha256& Update(std::span<const std::byte> data);
  Sha256& Update(std::string_view data) {
    return Update(std::as_bytes(std::span(data.data(), data.size())));
  }
  /// The digest of all bytes so far. The hasher is unchanged and may go on.
  Digest Finish() const;

 private:
  using Blocks = void (*)(std::array<uint32_t, 8>& state, const uint8_t* data, size_t count);

  Blocks blocks_;  ///< takes blocks of 64 bytes
  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> pending_{};  ///< the first length_ % 64 wait to become a block
  uint64_t length_ = 0;                ///< bytes so far
};

/// The digest of one piece that lies in memory.
Digest Sha256Of(std::span<const std::byte> data);
Digest Sha256Of(std::string_view data);

}  // namespace handhold

/// Identities: UUIDv7 values (RFC 9562) typed by what they name, so that a clip's id cannot be
/// passed for a subject's.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "database/base/result.h"

namespace handhold {

/// 128 bits, in the order in which they are printed. A plain value: compared and copied bytewise,
/// sorted by time of making because the time comes first.
struct Uuid {
  std::array<uint8_t, 16> bytes{};  ///< big-endian; all zero: nil, "no id"

  /// A new version-7 id: 48 bits of UTC milliseconds, 12 bits of their fraction, then random bits
  /// from the kernel. Thread-safe (a lock); does not allocate. Ids made in one process sort in the
  /// order they were made, even when the clock steps back; those of two machines as well as their
  /// clocks agree. CHECKs that the kernel gave its random bits.
  static Uuid New();
  /// From "0192f3a0-....": 36 characters, hex of either case. Any version is taken, since foreign
  /// ids may be of another. kInvalid quotes the text.
  static Result<Uuid> Parse(std::string_view text);

  std::string ToString() const;  ///< 36 characters, lower case
  bool is_nil() const { return bytes == std::array<uint8_t, 16>{}; }
  auto operator<=>(const Uuid&) const = default;
};

/// A Uuid that names a `Tag`. `struct ClipTag; using ClipId = Id<ClipTag>;` Tags are never defined:
/// they only keep one kind of id from being given for another. A default one is nil.
template <typename Tag>
class Id {
 public:
  Id() = default;
  explicit Id(Uuid uuid) : uuid_(uuid) {}
  static Id New() { return Id(Uuid::New()); }
  /// As Uuid::Parse. The text does not say what it names: that is the caller's word.
  static Result<Id> Parse(std::string_view text) {
    HANDHOLD_ASSIGN(const Uuid uuid, Uuid::Parse(text));
    return Id(uuid);
  }
  const Uuid& uuid() const { return uuid_; }
  std::string ToString() const { return uuid_.ToString(); }
  bool is_nil() const { return uuid_.is_nil(); }
  auto operator<=>(const Id&) const = default;

 private:
  Uuid uuid_;
};

struct ClipTag;
struct SubjectTag;
struct ArtefactTag;
using ClipId = Id<ClipTag>;  ///< one take, for as long as the library lives

}  // namespace handhold

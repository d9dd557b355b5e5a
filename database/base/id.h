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

struct Uuid {
  std::array<uint8_t, 16> bytes{};

  /// A new version-7 id: 48 bits of UTC milliseconds, then random bits. Thread-safe; ids made in
  /// one process sort in the order they were made.
  static Uuid New();
  /// From "0192f3a0-....": 36 characters, hex of either case.
  static Result<Uuid> Parse(std::string_view text);

  std::string ToString() const;  ///< 36 characters, lower case
  bool is_nil() const { return bytes == std::array<uint8_t, 16>{}; }
  auto operator<=>(const Uuid&) const = default;
};

/// A Uuid that names a `Tag`. `struct ClipTag; using ClipId = Id<ClipTag>;`
template <typename Tag>
class Id {
 public:
  Id() = default;
  explicit Id(Uuid uuid) : uuid_(uuid) {}
  static Id New() { return Id(Uuid::New()); }
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
using ClipId = Id<ClipTag>;

}  // namespace handhold

#include "database/base/id.h"

#include <sys/random.h>

#include <mutex>

#include "database/base/check.h"
#include "database/base/time.h"

namespace handhold {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Uuid Uuid::New() {
  static std::mutex mutex;
  static uint64_t last_stamp = 0;
  Uuid id;
  CHECK_EQ(getrandom(id.bytes.data(), id.bytes.size(), 0), static_cast<ssize_t>(id.bytes.size()));
  uint64_t stamp;
  {
    // 48 bits of milliseconds and 12 bits of its fraction (RFC 9562, 6.2, method 3), forced upwards
    // so that ids of one process keep their order even when the clock steps back.
    const std::lock_guard lock(mutex);
    const auto ns = static_cast<uint64_t>(UtcNow().ns());
    stamp = (ns / 1'000'000) << 12 | (ns % 1'000'000) * 4096 / 1'000'000;
    if (stamp <= last_stamp) stamp = last_stamp + 1;
    last_stamp = stamp;
  }
  const uint64_t ms = stamp >> 12;
  for (int i = 0; i < 6; ++i) id.bytes[i] = static_cast<uint8_t>(ms >> (40 - 8 * i));
  id.bytes[6] = static_cast<uint8_t>(0x70 | ((stamp >> 8) & 0x0f));
  id.bytes[7] = static_cast<uint8_t>(stamp & 0xff);
  id.bytes[8] = static_cast<uint8_t>(0x80 | (id.bytes[8] & 0x3f));
  return id;
}

Result<Uuid> Uuid::Parse(std::string_view text) {
  const Error bad{ErrorCode::kInvalid, "not an id: '" + std::string(text.substr(0, 64)) +
                                           "' (36 characters, as 'clip list' prints)"};
  if (text.size() != 36) return bad;
  Uuid id;
  size_t at = 0;
  for (size_t byte = 0; byte < 16; ++byte) {
    if (byte == 4 || byte == 6 || byte == 8 || byte == 10) {
      if (text[at++] != '-') return bad;
    }
    const int high = HexDigit(text[at]), low = HexDigit(text[at + 1]);
    if (high < 0 || low < 0) return bad;
    id.bytes[byte] = static_cast<uint8_t>(high << 4 | low);
    at += 2;
  }
  return id;
}

std::string Uuid::ToString() const {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  for (size_t byte = 0; byte < 16; ++byte) {
    if (byte == 4 || byte == 6 || byte == 8 || byte == 10) out += '-';
    out += kHex[bytes[byte] >> 4];
    out += kHex[bytes[byte] & 15];
  }
  return out;
}

}  // namespace handhold

#include "capture/simulator/rdt_codec.h"

#include <cmath>

namespace handhold::capture {
namespace {

void PutU32(uint32_t value, uint8_t* out) {
  out[0] = static_cast<uint8_t>(value >> 24);
  out[1] = static_cast<uint8_t>(value >> 16);
  out[2] = static_cast<uint8_t>(value >> 8);
  out[3] = static_cast<uint8_t>(value);
}

}  // namespace

void EncodeRdtRecord(const RdtReading& reading, std::span<uint8_t, wire::rdt::kRecordBytes> out) {
  PutU32(reading.rdt_sequence, &out[0]);
  PutU32(reading.ft_sequence, &out[4]);
  PutU32(reading.status, &out[8]);
  for (size_t axis = 0; axis < reading.counts.size(); ++axis) {
    PutU32(static_cast<uint32_t>(reading.counts[axis]), &out[12 + 4 * axis]);
  }
}

std::optional<RdtRequest> ParseRdtRequest(std::span<const uint8_t> bytes) {
  if (bytes.size() < wire::rdt::kRequestBytes) return std::nullopt;
  const auto u16 = [&](size_t at) { return static_cast<uint16_t>(bytes[at] << 8 | bytes[at + 1]); };
  if (u16(0) != wire::rdt::kRequestMagic) return std::nullopt;
  return RdtRequest{u16(2), static_cast<uint32_t>(u16(4)) << 16 | u16(6)};
}

int32_t ToCounts(double value, double counts_per_unit) {
  const double counts = std::round(value * counts_per_unit);
  if (!(counts > -2147483648.0)) return counts <= -2147483648.0 ? INT32_MIN : 0;
  return counts < 2147483647.0 ? static_cast<int32_t>(counts) : INT32_MAX;
}

}  // namespace handhold::capture

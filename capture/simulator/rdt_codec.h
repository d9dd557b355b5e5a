/// The device's side of ATI's Raw Data Transfer: writes records, reads requests. Shares constants,
/// and no code, with the driver's decoder in capture/source; golden byte vectors pin both
/// (tests/capture/simulator/rdt_codec_test.cc).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "capture/wire/rdt.h"

namespace handhold::capture {

/// What the device puts into one record.
struct RdtReading {
  uint32_t rdt_sequence = 0;
  uint32_t ft_sequence = 0;
  uint32_t status = 0;
  std::array<int32_t, 6> counts{};
};

void EncodeRdtRecord(const RdtReading& reading, std::span<uint8_t, wire::rdt::kRecordBytes> out);

struct RdtRequest {
  uint16_t command = 0;
  uint32_t sample_count = 0;  ///< 0: until stopped
};

/// A request as a hostile client may send it: empty unless it is long enough and carries the magic.
std::optional<RdtRequest> ParseRdtRequest(std::span<const uint8_t> bytes);

/// Newtons (or newton metres) to counts, rounded, limited to what 32 bits hold; NaN becomes 0.
int32_t ToCounts(double value, double counts_per_unit);

}  // namespace handhold::capture

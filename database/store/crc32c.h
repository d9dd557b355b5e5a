/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), the checksum of every frame and header of
/// the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace handhold::store {

/// CRC-32C of `bytes`, continuing from `crc` (0 to begin): Crc32c(b, Crc32c(a)) is that of a
/// followed by b. Uses the SSE4.2 instruction where the processor has it (about 8 GB/s), else
/// tables (about 1.5 GB/s). Thread-safe.
uint32_t Crc32c(std::span<const uint8_t> bytes, uint32_t crc = 0);

/// The table version, whatever the processor: the tests compare the two.
uint32_t Crc32cPortable(std::span<const uint8_t> bytes, uint32_t crc = 0);

}  // namespace handhold::store

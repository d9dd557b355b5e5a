/// Numbers as the three processors of C3D write them: Intel, DEC (VAX F-float) and MIPS.
///
/// The processor byte of the parameter section decides integers and floats alike. Inline: these are
/// the reader's innermost loops.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace handhold::exchange {

inline constexpr int64_t kC3dBlock = 512;  ///< bytes; sections begin at multiples of it

/// The values are those of the file's processor byte.
enum class C3dProcessor : uint8_t { kIntel = 84, kDec = 85, kMips = 86 };

inline uint16_t C3dWord(const uint8_t* p, C3dProcessor processor) {
  return processor == C3dProcessor::kMips ? static_cast<uint16_t>(p[0] << 8 | p[1])
                                          : static_cast<uint16_t>(p[1] << 8 | p[0]);
}

inline int16_t C3dInt16(const uint8_t* p, C3dProcessor processor) {
  return static_cast<int16_t>(C3dWord(p, processor));
}

/// VAX F-float: sign, 8 bits of exponent biased by 128 for a mantissa 0.1m, 23 bits of m; so an
/// IEEE float's bits with an exponent larger by 2. Exponent 0: zero, or, with the sign set, the
/// reserved operand (NaN here). `bits` holds the word that comes first in the file in its upper
/// half.
inline float FloatFromVax(uint32_t bits) {
  const uint32_t exponent = bits >> 23 & 0xFF;
  if (exponent > 2) return std::bit_cast<float>(bits - (2u << 23));
  if (exponent == 0) return (bits >> 31) != 0 ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
  const float mantissa = static_cast<float>((bits & 0x7FFFFF) | 0x800000);
  return std::ldexp((bits >> 31) != 0 ? -mantissa : mantissa,
                    static_cast<int>(exponent) - 129 - 23);
}

/// The inverse. Magnitudes below VAX's smallest become 0; infinities, NaN and magnitudes above its
/// largest the reserved operand.
inline uint32_t VaxFromFloat(float value) {
  if (std::isnan(value) || std::fabs(value) >= std::ldexp(1.0f, 127)) return 0x80000000u;
  if (std::fabs(value) < std::ldexp(1.0f, -128)) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // [0.5, 1)
  const auto mantissa = static_cast<uint32_t>(std::ldexp(fraction, 24)) & 0x7FFFFF;
  return (value < 0 ? 0x80000000u : 0u) | static_cast<uint32_t>(exponent + 128) << 23 | mantissa;
}

inline float C3dFloat(const uint8_t* p, C3dProcessor processor) {
  uint32_t bits;
  std::memcpy(&bits, p, 4);
  switch (processor) {
    case C3dProcessor::kIntel:
      return std::bit_cast<float>(bits);
    case C3dProcessor::kMips:
      return std::bit_cast<float>(__builtin_bswap32(bits));
    case C3dProcessor::kDec:
      return FloatFromVax(std::rotl(bits, 16));
  }
  return 0;
}

inline void PutC3dWord(uint16_t value, C3dProcessor processor, std::vector<uint8_t>& out) {
  const auto low = static_cast<uint8_t>(value), high = static_cast<uint8_t>(value >> 8);
  const bool big = processor == C3dProcessor::kMips;
  out.push_back(big ? high : low);
  out.push_back(big ? low : high);
}

inline void PutC3dFloat(float value, C3dProcessor processor, std::vector<uint8_t>& out) {
  uint32_t bits = processor == C3dProcessor::kDec ? std::rotl(VaxFromFloat(value), 16)
                                                  : std::bit_cast<uint32_t>(value);
  if (processor == C3dProcessor::kMips) bits = __builtin_bswap32(bits);
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<uint8_t>(bits >> (8 * i)));
}

}  // namespace handhold::exchange

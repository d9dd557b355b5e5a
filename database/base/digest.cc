#include "database/base/digest.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>

namespace handhold {
namespace {

// FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t BigEndian32(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 | static_cast<uint32_t>(bytes[1]) << 16 |
         static_cast<uint32_t>(bytes[2]) << 8 | bytes[3];
}

// FIPS 180-4, 6.2.2.
void PortableBlocks(std::array<uint32_t, 8>& state, const uint8_t* data, size_t count) {
  for (; count > 0; --count, data += 64) {
    std::array<uint32_t, 64> w;
    for (size_t t = 0; t < 16; ++t) w[t] = BigEndian32(data + 4 * t);
    for (size_t t = 16; t < 64; ++t) {
      const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
      const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
      w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t t = 0; t < 64; ++t) {
      const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRound[t] + w[t];
      const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    const std::array<uint32_t, 8> change = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state[i] += change[i];
  }
}

#if defined(__x86_64__)
bool HasShaInstructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0)
    return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

// The same, by the processor: two registers hold the state as ABEF and CDGH, each instruction does
// two rounds, four registers hold the 16 latest words of the message schedule.
__attribute__((target("sha,sse4.1,ssse3"))) void ShaInstructionBlocks(
    std::array<uint32_t, 8>& state, const uint8_t* data, size_t count) {
  const auto load = [](const void* from) __attribute__((target("sse4.1"))) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i cdab = _mm_shuffle_epi32(load(state.data()), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(load(state.data() + 4), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; count > 0; --count, data += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i) w[i] = _mm_shuffle_epi8(load(data + 16 * i), swap);
    for (int i = 0; i < 16; ++i) {  // four rounds each
      __m128i& now = w[i % 4];
      __m128i words = _mm_add_epi32(now, load(&kRound[static_cast<size_t>(4 * i)]));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
      words = _mm_shuffle_epi32(words, 0x0e);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, words);
      if (i >= 12) continue;
      const __m128i seven_before = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
      now = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]), seven_before);
      now = _mm_sha256msg2_epu32(now, w[(i + 3) % 4]);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#endif

}  // namespace

// FIPS 180-4, 5.3.3: the same of the square roots of the first 8 primes.
Sha256::Sha256([[maybe_unused]] Code code)
    : blocks_(PortableBlocks), state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {
#if defined(__x86_64__)
  static const bool has = HasShaInstructions();
  if (has && code == Code::kFastest) blocks_ = ShaInstructionBlocks;
#endif
}

Sha256& Sha256::Update(std::span<const std::byte> data) {
  const size_t filled = length_ % 64;
  length_ += data.size();
  if (filled > 0) {
    const size_t take = std::min(data.size(), 64 - filled);
    if (take > 0) std::memcpy(pending_.data() + filled, data.data(), take);
    data = data.subspan(take);
    if (filled + take == 64) blocks_(state_, pending_.data(), 1);
  }
  const size_t whole = data.size() / 64;
  if (whole > 0) blocks_(state_, reinterpret_cast<const uint8_t*>(data.data()), whole);
  data = data.subspan(64 * whole);
  if (!data.empty()) std::memcpy(pending_.data(), data.data(), data.size());
  return *this;
}

Digest Sha256::Finish() const {
  // FIPS 180-4, 5.1.1: a 1 bit, zeros, and the length in bits as 64 bits, up to a whole block.
  Sha256 last = *this;
  const uint64_t bits = length_ * 8;
  std::array<std::byte, 72> padding{};
  padding[0] = std::byte{0x80};
  const size_t zeros = (length_ % 64 < 56 ? 55 : 119) - length_ % 64;
  for (size_t i = 0; i < 8; ++i)
    padding[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  last.Update(std::span(padding).first(zeros + 9));
  Digest out;
  for (size_t i = 0; i < 32; ++i)
    out.bytes[i] = static_cast<uint8_t>(last.state_[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

Digest Sha256Of(std::span<const std::byte> data) { return Sha256().Update(data).Finish(); }
Digest Sha256Of(std::string_view data) { return Sha256().Update(data).Finish(); }

std::string Digest::ToHex() const {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(64);
  for (const uint8_t byte : bytes) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

Result<Digest> Digest::Parse(std::string_view hex) {
  const Error bad{ErrorCode::kInvalid, "not a SHA-256 digest: '" + std::string(hex.substr(0, 80)) +
                                           "' (64 hexadecimal characters)"};
  if (hex.size() != 64) return bad;
  Digest out;
  for (size_t i = 0; i < 64; ++i) {
    const char c = hex[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return bad;
    out.bytes[i / 2] = static_cast<uint8_t>(out.bytes[i / 2] << 4 | digit);
  }
  return out;
}

}  // namespace handhold

/// Random numbers that are the same with every compiler and library: std::mt19937_64's stream is
/// specified, the standard distributions are not.
///
/// For fits and searches that say "the same seed, the same bits". The laboratory has its own
/// (tools/lab): truth shares no code with what is tested against it. Pinned by
/// tests/database/base/random_test.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>

namespace handhold {

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  /// In [0, 1): the top 53 bits of the next number.
  double Unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  /// In [low, high).
  double In(double low, double high) { return low + (high - low) * Unit(); }
  /// Standard normal (Box-Muller, one of two): takes two numbers.
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Unit()));
    return radius * std::cos(2 * std::numbers::pi * Unit());
  }
  /// 0 .. n - 1. Precondition: n > 0.
  std::size_t Below(std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>(Unit() * static_cast<double>(n)));
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace handhold

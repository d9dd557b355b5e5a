/// Random numbers that are the same with every compiler and library: std::mt19937_64's stream is
/// specified, the standard distributions are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace handhold::lab {

class Random {
 public:
  /// Streams of one seed under different names are independent: adding a draw to one moves no
  /// other.
  Random(uint64_t seed, std::string_view stream) {
    uint64_t hash = 1469598103934665603ull;  // FNV-1a
    for (const char c : stream) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    engine_.seed(hash ^ (seed * 0x9E3779B97F4A7C15ull + 0x632BE59BD9B4E019ull));
    engine_.discard(16);
  }
  double Uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  /// Standard normal (Box-Muller).
  double Normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double u = 1.0 - Uniform(0.0, 1.0), angle = Uniform(0.0, 2.0 * std::numbers::pi);
    const double r = std::sqrt(-2.0 * std::log(u));
    spare_ = r * std::sin(angle), has_spare_ = true;
    return r * std::cos(angle);
  }
  /// 0 .. n - 1.
  int Index(int n) { return static_cast<int>(Uniform(0.0, static_cast<double>(n))); }
  std::vector<int> Permutation(int n) {
    std::vector<int> order(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) order[static_cast<size_t>(i)] = i;
    for (int i = n - 1; i > 0; --i)
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(Index(i + 1))]);
    return order;
  }

 private:
  std::mt19937_64 engine_;
  bool has_spare_ = false;
  double spare_ = 0.0;
};

}  // namespace handhold::lab

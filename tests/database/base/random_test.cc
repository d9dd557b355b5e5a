#include "database/base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace handhold::random_test {
namespace {

// The 10000th number of the standard's engine with its default seed is in the standard.
TEST(Random, IsTheStandardsEngine) {
  Random random(5489);
  for (int i = 0; i < 9999; ++i) random.Unit();
  EXPECT_EQ(random.Unit(), static_cast<double>(9981545732273789042ull >> 11) * 0x1p-53);
}

TEST(Random, DistributionsAreWhatTheySay) {
  Random random(3);
  double sum = 0, squares = 0, fourth = 0, low = 1, high = 0;
  constexpr int kCount = 200'000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.Normal();
    sum += x, squares += x * x, fourth += x * x * x * x;
    const double u = random.In(-2, 3);
    low = std::min(low, u), high = std::max(high, u);
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(fourth / kCount, 3, 0.1);
  EXPECT_GE(low, -2);
  EXPECT_LT(high, 3);
  EXPECT_NEAR(low, -2, 1e-3);
  EXPECT_NEAR(high, 3, 1e-3);
  std::set<std::size_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.Below(5));
  EXPECT_EQ(seen, (std::set<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(Random, TheSameSeedTheSameBits) {
  Random a(7), b(7), c(8);
  // The radius is drawn first, then the angle: compilers may not choose.
  Random parts(7);
  const double radius = std::sqrt(-2 * std::log(1 - parts.Unit()));
  EXPECT_EQ(a.Normal(), radius * std::cos(2 * std::numbers::pi * parts.Unit()));
  b.Normal();
  c.Normal();
  EXPECT_EQ(a.Unit(), b.Unit());
  EXPECT_NE(a.Unit(), c.Unit());
}

}  // namespace
}  // namespace handhold::random_test

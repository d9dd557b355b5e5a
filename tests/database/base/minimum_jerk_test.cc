#include "database/base/minimum_jerk.h"

#include <cmath>

#include <gtest/gtest.h>

namespace handhold::minimum_jerk_test {
namespace {

// From rest to rest: place, speed and acceleration at both ends, by differences.
TEST(MinimumJerk, GoesFromRestToRest) {
  EXPECT_EQ(MinimumJerk(-0.5), 0.0);
  EXPECT_EQ(MinimumJerk(0.0), 0.0);
  EXPECT_EQ(MinimumJerk(1.0), 1.0);
  EXPECT_EQ(MinimumJerk(2.0), 1.0);
  EXPECT_DOUBLE_EQ(MinimumJerk(0.5), 0.5);
  constexpr double kStep = 1e-4;
  for (const double end : {0.0, 1.0}) {
    const double inside = end == 0.0 ? end + kStep : end - kStep;
    EXPECT_LT(std::abs(MinimumJerk(inside) - end), 11 * kStep * kStep * kStep);
  }
  // Fastest in the middle: 15/8 of the mean.
  EXPECT_NEAR((MinimumJerk(0.5 + kStep) - MinimumJerk(0.5 - kStep)) / (2 * kStep), 1.875, 1e-6);
  EXPECT_DOUBLE_EQ(MinimumJerk(2.5, 2.0, 2.0), MinimumJerk(0.25));
}

}  // namespace
}  // namespace handhold::minimum_jerk_test

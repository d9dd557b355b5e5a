// How late packets are by a device's nominal rate: a slow device, stalls and bursts.
#include <gtest/gtest.h>

#include <cmath>

#include "capture/session/take.h"

namespace handhold::capture::take_pace_test {
namespace {

/// 100 packets a second for `seconds` of nominal time, late as `late` says.
template <typename Late>
Pace Fed(double seconds, const Late& late) {
  Pace pace;
  for (int k = 0; k < static_cast<int>(100 * seconds); ++k) pace.Add(0.01 * k, late(0.01 * k));
  return pace;
}

TEST(Pace, ASlowDeviceIsToldByItsLeastLatePackets) {
  const double slow = 1000.0 / 926 - 1;
  // Every third packet is up to 20 ms late beside.
  const Pace pace = Fed(20, [&](double t) { return slow * t + 0.02 * std::fmod(t / 0.03, 1.0); });
  EXPECT_NEAR(pace.slope(), slow, 2e-3);
  EXPECT_NEAR(pace.LeastLate(20), slow * 20, 6e-3);
}

TEST(Pace, StallsBurstsAndAFirstSecondAreNoSlowDevice) {
  EXPECT_LT(std::abs(Fed(20, [](double t) { return t > 12 ? 0.7 : 0.0; }).slope()), 1e-4);
  EXPECT_LT(
      std::abs(Fed(20, [](double t) { return t > 12 ? std::max(0.0, 13 - t) : 0.0; }).slope()),
      1e-4);
  EXPECT_EQ(Fed(0.9, [](double t) { return 0.1 * t; }).slope(), 0);
  EXPECT_EQ(Pace().slope(), 0);
}

}  // namespace
}  // namespace handhold::capture::take_pace_test

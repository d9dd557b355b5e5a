// The curves of figures 13 and 14 of Kry & Pai 2006, on the box that is lifted and on the one that
// slips out of a weak grip.
#include "synthesis/interaction/grip_traces.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pinch_scene.h"

namespace handhold::synthesis::grip_traces_test {
namespace {

using artefact::Motion;
using artefact::Series;
using handhold::testing::OnTable;
using handhold::testing::PinchBox;
using handhold::testing::PinchHand;
using handhold::testing::PinchProgram;
using handhold::testing::PinchReplay;

Motion Pinch(double depth_m, double mass_kg) {
  const auto reference =
      PinchReference(PinchHand(), handhold::testing::PinchBoxPlace(), PinchProgram(depth_m, 0.4));
  return *ReplayInteraction(PinchHand(), *reference, OnTable(PinchBox(mass_kg)), PinchReplay());
}

TEST(GripTraces, TheThumbCarriesTheForceOfItsRowsAndItsRatioIsTheirs) {
  const Motion motion = Pinch(0.012, 0.012);
  ASSERT_TRUE(artefact::CheckMotion(motion));
  const Series* force = motion.FindSeries("normal_force.R.thumb.dst");
  const Series* ratio = motion.FindSeries("friction_ratio.R.thumb.dst");
  ASSERT_NE(force, nullptr);
  ASSERT_NE(ratio, nullptr);
  EXPECT_EQ(force->unit, "N");
  EXPECT_EQ(ratio->unit, "1");
  EXPECT_NE(motion.FindSeries("normal_force.R.index.dst"), nullptr);
  EXPECT_NE(motion.FindSeries("normal_force.R.middle.dst"), nullptr);
  EXPECT_EQ(motion.FindSeries("normal_force.R.little.dst"), nullptr);
  int rows = 0;
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Side& side = motion.touches[static_cast<size_t>(row.touch)].a;
    if (!side.is_hand() || side.body != PinchHand().FindBody("thumb.dst")) continue;
    const double normal_N = row.f_onA_W.dot(row.normal_W);
    EXPECT_NEAR(force->values[row.frame], normal_N, 1e-9);
    if (row.f_onA_W.norm() < kTraced_N) {
      EXPECT_EQ(ratio->values[row.frame], 0.0) << row.frame;
      continue;
    }
    // |f|^2 = f_n^2 (1 + ratio^2)
    EXPECT_NEAR(normal_N * std::hypot(1.0, ratio->values[row.frame]), row.f_onA_W.norm(), 1e-9);
    ++rows;
  }
  EXPECT_GT(rows, 500);
  EXPECT_EQ(force->values[0], 0.0);
  EXPECT_EQ(ratio->values[0], 0.0);
}

TEST(GripTraces, StepsOfTheFallbackAreCounted) {
  EXPECT_EQ(FallbackSteps(Pinch(0.012, 0.012)), 0);
  const auto reference =
      PinchReference(PinchHand(), handhold::testing::PinchBoxPlace(), PinchProgram(0.012, 0.1));
  ReplayOptions options = PinchReplay();
  options.step.solve.solver = ContactSolver::kGaussSeidel;
  const auto motion = ReplayInteraction(PinchHand(), *reference, OnTable(PinchBox(0.012)), options);
  ASSERT_TRUE(motion) << motion.error().message;
  EXPECT_EQ(FallbackSteps(*motion), static_cast<int>(motion->times.size()) - 1);  // the table,
                                                                                  // always
  EXPECT_EQ(UnsolvedSteps(*motion), 0);
}

TEST(GripTraces, WhatSlipsReachesTheCoefficientWhatIsHeldStaysBelow) {
  const double mu = PinchBox(0.12).friction;
  const auto largest = [](const Motion& motion) {
    double most = 0;
    for (const double value : motion.FindSeries("friction_ratio.R.thumb.dst")->values)
      most = std::max(most, value);
    return most;
  };
  EXPECT_NEAR(largest(Pinch(0.004, 0.12)), mu, 0.01 * mu);
  const Motion held = Pinch(0.016, 0.012);
  const Series* ratio = held.FindSeries("friction_ratio.R.index.dst");
  ASSERT_NE(ratio, nullptr);
  const auto end = static_cast<Eigen::Index>(1.9 / 0.002);  // in the hold
  EXPECT_LT(ratio->values[end], 0.5 * mu);
}

}  // namespace
}  // namespace handhold::synthesis::grip_traces_test

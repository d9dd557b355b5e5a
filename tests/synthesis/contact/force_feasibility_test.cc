#include "synthesis/contact/force_feasibility.h"

#include <cmath>

#include <gtest/gtest.h>

namespace handhold::synthesis {
namespace {

using geometry::Vec3;
using geometry::Vec6;

Vec6 Wrench(const Vec3& torque, const Vec3& force) {
  Vec6 w;
  w << torque, force;
  return w;
}

// Two fingers on opposite faces hold a weight by friction alone: n = mg / (2 mu) each.
TEST(SolveLeastForce, APinchHoldsItsWeightByFriction) {
  std::vector<ForceContact> pinch(2);
  pinch[0] = {.p_O = Vec3(-0.015, 0, 0), .normal_O = Vec3::UnitX(), .friction = 0.4};
  pinch[1] = {.p_O = Vec3(0.015, 0, 0), .normal_O = -Vec3::UnitX(), .friction = 0.4};
  const Vec6 up = Wrench(Vec3::Zero(), Vec3(0, 0, 0.5));
  ForceWorkspace workspace;
  ForceAnswer answer;
  SolveLeastForce(pinch, up, {}, &workspace, &answer);
  ASSERT_EQ(answer.outcome, ForceOutcome::kBalanced);
  EXPECT_NEAR(answer.total_N, 2 * 0.5 / (2 * 0.4), 1e-3);
  EXPECT_NEAR((answer.f_O[0] + answer.f_O[1] - Vec3(0, 0, 0.5)).norm(), 0, 1e-9);
  // Two points cannot turn it about the line through them.
  SolveLeastForce(pinch, Wrench(Vec3(0.01, 0, 0), Vec3::Zero()), {}, &workspace, &answer);
  EXPECT_EQ(answer.outcome, ForceOutcome::kImpossible);
  EXPECT_NEAR(std::abs(answer.missing[0]), 1.0, 1e-6);
  ForceOptions weak;
  weak.max_total_N = 1.0;
  SolveLeastForce(pinch, up, weak, &workspace, &answer);
  EXPECT_NE(answer.outcome, ForceOutcome::kBalanced);
}

}  // namespace
}  // namespace handhold::synthesis

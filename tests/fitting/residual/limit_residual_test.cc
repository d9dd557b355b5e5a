#include "fitting/residual/limit_residual.h"

#include <cmath>

#include <gtest/gtest.h>

#include "database/geometry/rotation.h"
#include "tests/support/gradient.h"
#include "tests/support/hands.h"

namespace handhold::fitting::limit_residual_test {
namespace {

using test_support::EveryJoint;
using test_support::GradientIsRight;
using test_support::RandomPose;

Eigen::VectorXd Residual(const LimitResidual& limit, const Eigen::VectorXd& q) {
  Eigen::VectorXd r(limit.num_residuals());
  EXPECT_TRUE(limit.EvaluateTangent(q, r, nullptr));
  return r;
}

TEST(LimitResidualTest, GradientIsRightInsideAndOutside) {
  const model::Skeleton hand = EveryJoint();
  const SkeletonManifold manifold(hand);
  const LimitResidual limit(hand, 0.01);
  int outside = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Eigen::VectorXd q = RandomPose(hand, 1.4, seed);
    outside += Residual(limit, q).norm() > 0;
    // Small steps: the kink at a limit must not lie within one.
    EXPECT_TRUE(GradientIsRight(limit, {&manifold}, {q}, 1e-5, 1e-5)) << seed;
  }
  EXPECT_GT(outside, 8);
}

TEST(LimitResidualTest, HingesAreOneSided) {
  const model::Skeleton hand = EveryJoint();
  const LimitResidual limit(hand, 0.01);
  const int body = hand.FindBody("b"), iq = hand.q_index(body), iv = hand.v_index(body);
  Eigen::VectorXd q = hand.ZeroConfiguration();
  EXPECT_EQ(Residual(limit, q).norm(), 0);
  q[iq] = 1.0 + 0.02;
  EXPECT_NEAR(Residual(limit, q)[iv], 2.0, 1e-12);
  q[iq] = -0.5 - 0.03;
  EXPECT_NEAR(Residual(limit, q)[iv], -3.0, 1e-12);
  q[iq] = -0.5;
  EXPECT_EQ(Residual(limit, q).norm(), 0);
}

TEST(LimitResidualTest, BallSplitsIntoTwistAndSwing) {
  const model::Skeleton hand = EveryJoint();
  const LimitResidual limit(hand, 1.0);
  const int body = hand.FindBody("palm"), iq = hand.q_index(body), iv = hand.v_index(body);
  Eigen::VectorXd q = hand.ZeroConfiguration();
  auto set = [&](const geometry::Mat3& R) { q.segment<4>(iq) = geometry::ToQuaternion(R); };
  const geometry::Vec3 x = geometry::Vec3::UnitX();
  set(geometry::AxisAngle<double>(x, 1.2));
  EXPECT_NEAR(Residual(limit, q)[iv], 0.2, 1e-9);
  EXPECT_NEAR(Residual(limit, q)[iv + 1], 0.0, 1e-9);
  // A swing about y of 0.5 + 0.09 = middle 0.05 + half 0.45 x 1.2, whatever the twist; z in its
  // middle 0.15.
  const double beyond = 0.05 + 0.45 * 1.2;
  set(geometry::Exp<double>({0, beyond, 0.15}) * geometry::AxisAngle<double>(x, 0.4));
  EXPECT_NEAR(Residual(limit, q)[iv], 0.0, 1e-9);
  EXPECT_NEAR(Residual(limit, q)[iv + 1], 0.2 * 0.45, 1e-9);
  q.segment<4>(iq) *= -1;  // the same rotation
  EXPECT_NEAR(Residual(limit, q)[iv + 1], 0.2 * 0.45, 1e-9);
}

}  // namespace
}  // namespace handhold::fitting::limit_residual_test

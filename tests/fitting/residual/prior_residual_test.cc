#include "fitting/residual/prior_residual.h"

#include <gtest/gtest.h>

#include "tests/support/gradient.h"
#include "tests/support/hands.h"

namespace handhold::fitting::prior_residual_test {
namespace {

using test_support::EveryJoint;
using test_support::GradientIsRight;
using test_support::RandomPose;

TEST(PriorResidualTest, GradientIsRightNearAndFar) {
  const model::Skeleton hand = EveryJoint();
  const SkeletonManifold manifold(hand);
  const Eigen::VectorXd sd = Eigen::VectorXd::LinSpaced(hand.nv(), 0.1, 0.5);
  PriorResidual prior(hand, sd);
  for (unsigned seed = 1; seed <= 8; ++seed) {
    prior.SetCentre(RandomPose(hand, 0.6, seed + 100));
    EXPECT_TRUE(GradientIsRight(prior, {&manifold}, {RandomPose(hand, 0.6, seed)})) << seed;
  }
}

TEST(PriorResidualTest, IsZeroAtItsCentreAndCountsStandardDeviations) {
  const model::Skeleton hand = EveryJoint();
  PriorResidual prior(hand, Eigen::VectorXd::Constant(hand.nv(), 0.25));
  const Eigen::VectorXd q = RandomPose(hand, 0.6, 1);
  prior.SetCentre(q);
  Eigen::VectorXd r(hand.nv()), v = Eigen::VectorXd::Zero(hand.nv());
  ASSERT_TRUE(prior.EvaluateTangent(q, r, nullptr));
  EXPECT_NEAR(r.norm(), 0, 1e-9);
  v[hand.nv() - 1] = 0.5;
  ASSERT_TRUE(prior.EvaluateTangent(hand.Integrate(q, v), r, nullptr));
  EXPECT_NEAR(r[hand.nv() - 1], 2.0, 1e-9);
}

TEST(SkeletonManifoldTest, MinusUndoesPlusAndJacobiansAreInverse) {
  const model::Skeleton hand = EveryJoint();
  const SkeletonManifold manifold(hand);
  const Eigen::VectorXd q = RandomPose(hand, 0.9, 2);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(hand.nv(), -0.3, 0.4);
  Eigen::VectorXd moved(hand.nq()), back(hand.nv());
  manifold.Plus(q.data(), v.data(), moved.data());
  manifold.Minus(moved.data(), q.data(), back.data());
  EXPECT_NEAR((back - v).norm(), 0, 1e-9);
  const Eigen::MatrixXd identity = MinusJacobian(hand, q) * PlusJacobian(hand, q);
  EXPECT_NEAR((identity - Eigen::MatrixXd::Identity(hand.nv(), hand.nv())).norm(), 0, 1e-9);
}

}  // namespace
}  // namespace handhold::fitting::prior_residual_test

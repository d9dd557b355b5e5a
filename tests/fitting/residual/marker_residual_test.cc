#include "fitting/residual/marker_residual.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/gradient.h"
#include "tests/support/hands.h"

namespace handhold::fitting::marker_residual_test {
namespace {

using test_support::EveryJoint;
using test_support::GradientIsRight;
using test_support::RandomPose;

TEST(MarkerResidualTest, GradientIsRightForEveryKindOfJoint) {
  const model::Skeleton hand = EveryJoint();
  const SkeletonManifold manifold(hand);
  MarkerResidual residual(hand, 1e-2);
  Eigen::Matrix3Xd z =
      Eigen::Matrix3Xd::Random(3, static_cast<Eigen::Index>(hand.markers().size())) * 0.05;
  z.col(4).setConstant(std::nan(""));
  residual.SetMeasured(z);
  for (unsigned seed = 1; seed <= 10; ++seed)
    EXPECT_TRUE(GradientIsRight(residual, {&manifold}, {RandomPose(hand, 0.8, seed)}));
}

TEST(MarkerResidualTest, IsModelledMinusMeasuredAndAbsentMarkersAreZeroRows) {
  const model::Skeleton hand = EveryJoint();
  MarkerResidual residual(hand, 1e-3);
  const Eigen::VectorXd q = RandomPose(hand, 0.5, 3);
  model::KinematicsData data(hand);
  model::ComputePoses(hand, q, &data);
  std::vector<geometry::Vec3> p;
  model::MarkerPositions(hand, data, &p);
  Eigen::Matrix3Xd z(3, static_cast<Eigen::Index>(p.size()));
  for (size_t m = 0; m < p.size(); ++m)
    z.col(static_cast<Eigen::Index>(m)) = p[m] - geometry::Vec3(0.002, 0, 0);
  z(1, 7) = std::nan("");
  residual.SetMeasured(z);
  Eigen::VectorXd r(residual.num_residuals());
  ASSERT_TRUE(residual.EvaluateTangent(q, r, nullptr));
  EXPECT_NEAR(r[0], 2.0, 1e-9);
  EXPECT_EQ(r.segment<3>(21).norm(), 0.0);
}

TEST(MarkerResidualTest, NormalEquationsAreThoseOfTheRows) {
  const model::Skeleton hand = EveryJoint();
  MarkerResidual residual(hand, 1e-2);
  Eigen::Matrix3Xd z =
      Eigen::Matrix3Xd::Random(3, static_cast<Eigen::Index>(hand.markers().size())) * 0.05;
  z.col(2).setConstant(std::nan(""));
  residual.SetMeasured(z);
  const Eigen::VectorXd q = RandomPose(hand, 0.7, 5);
  Eigen::VectorXd r(residual.num_residuals());
  RowMajorMatrix J = RowMajorMatrix::Zero(r.size(), hand.nv());
  ASSERT_TRUE(residual.EvaluateTangent(q, r, &J));
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(hand.nv(), hand.nv());
  Eigen::VectorXd g = Eigen::VectorXd::Zero(hand.nv());
  EXPECT_NEAR(residual.AddNormal(q, &H, &g), r.squaredNorm(), 1e-9);
  const Eigen::MatrixXd expected = J.transpose() * J;
  EXPECT_NEAR((Eigen::MatrixXd(H.triangularView<Eigen::Lower>()) -
               Eigen::MatrixXd(expected.triangularView<Eigen::Lower>()))
                  .norm(),
              0, 1e-8 * expected.norm());
  EXPECT_NEAR((g - J.transpose() * r).norm(), 0, 1e-8);
  EXPECT_NEAR(residual.SquaredNorm(q), r.squaredNorm(), 1e-9);
}

}  // namespace
}  // namespace handhold::fitting::marker_residual_test

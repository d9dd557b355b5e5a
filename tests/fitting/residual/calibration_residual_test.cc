#include "fitting/residual/calibration_residual.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/gradient.h"
#include "tests/support/hands.h"
#include "tests/support/marker_motion.h"

namespace handhold::fitting {
namespace {

using test_support::EveryJoint;
using test_support::GradientIsRight;
using test_support::RandomPose;

TEST(CalibrationResidualTest, GradientIsRightAlongHandAndPose) {
  const model::Skeleton hand = EveryJoint();
  const SkeletonManifold manifold(hand);
  const CalibrationModel calibration(hand, -1);
  Eigen::Matrix3Xd z = Eigen::Matrix3Xd::Random(3, static_cast<Eigen::Index>(hand.markers().size())) * 0.05;
  z.col(4).setConstant(std::nan(""));
  const CalibrationResidual residual(calibration, z, 1e-2);
  std::srand(3);
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Eigen::VectorXd x = 0.05 * Eigen::VectorXd::Random(calibration.size());
    EXPECT_TRUE(GradientIsRight(residual, {nullptr, &manifold}, {x, RandomPose(hand, 0.8, seed)})) << seed;
  }
}

TEST(CalibrationResidualTest, ModelsTheChangedHandAsAnIndependentCompositionDoes) {
  const model::Skeleton hand = EveryJoint();
  const CalibrationModel calibration(hand, -1);
  std::srand(5);
  const Eigen::VectorXd x = 0.05 * Eigen::VectorXd::Random(calibration.size());
  const Eigen::VectorXd q = RandomPose(hand, 0.6, 9);
  const Eigen::Matrix3Xd z = test_support::MarkerPlaces(calibration.At(x), q);
  const CalibrationResidual residual(calibration, z, 1e-3);
  Eigen::VectorXd r;
  residual.EvaluateTangent(x, q, &r, nullptr, nullptr);
  EXPECT_NEAR(r.norm(), 0, 1e-9);
  residual.EvaluateTangent(Eigen::VectorXd::Zero(x.size()), q, &r, nullptr, nullptr);
  EXPECT_GT(r.norm(), 1);
}

TEST(CalibrationResidualTest, GaugesAreNoParameters) {
  const model::Skeleton hand = EveryJoint();
  const CalibrationModel calibration(hand, -1);
  // ball 3, universal 2 + 3, two hinges 2 + 2 each; 15 markers.
  EXPECT_EQ(calibration.size(), 3 + 5 + 4 + 4 + 45);
  EXPECT_EQ(calibration.names()[0], "j.palm.centre.1");
}

}  // namespace
}  // namespace handhold::fitting

#include "fitting/residual/calibration_residual.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include <Eigen/QR>

#include <gtest/gtest.h>

#include "tests/support/gradient.h"
#include "tests/support/hands.h"
#include "tests/support/marker_motion.h"

namespace handhold::fitting::calibration_residual_test {
namespace {

using test_support::EveryJoint;
using test_support::GradientIsRight;
using test_support::RandomPose;

TEST(CalibrationResidualTest, GradientIsRightAlongHandAndPose) {
  const model::Skeleton hand = EveryJoint();
  const SkeletonManifold manifold(hand);
  const CalibrationModel calibration(hand, -1);
  Eigen::Matrix3Xd z =
      Eigen::Matrix3Xd::Random(3, static_cast<Eigen::Index>(hand.markers().size())) * 0.05;
  z.col(4).setConstant(std::nan(""));
  const CalibrationResidual residual(calibration, z, 1e-2);
  std::srand(3);
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Eigen::VectorXd x = 0.05 * Eigen::VectorXd::Random(calibration.size());
    EXPECT_TRUE(GradientIsRight(residual, {nullptr, &manifold}, {x, RandomPose(hand, 0.8, seed)}))
        << seed;
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
  ASSERT_TRUE(residual.EvaluateTangent(x, q, &r, nullptr, nullptr));
  EXPECT_NEAR(r.norm(), 0, 1e-9);
  ASSERT_TRUE(residual.EvaluateTangent(Eigen::VectorXd::Zero(x.size()), q, &r, nullptr, nullptr));
  EXPECT_GT(r.norm(), 1);
}

TEST(CalibrationResidualTest, ParametersLeaveOutWhatThePoseTakesOver) {
  const model::Skeleton hand = EveryJoint();
  const CalibrationModel calibration(hand, -1);
  // ball 3, universal 2 + 3, two hinges 2 + 2 each; 15 markers.
  EXPECT_EQ(calibration.size(), 3 + 5 + 4 + 4 + 45);
  EXPECT_EQ(calibration.names()[0], "j.palm.centre.1");
}

TEST(CalibrationResidualTest, NoMarkerInNoPoseSeesAGauge) {
  const model::Skeleton hand = EveryJoint();
  const CalibrationModel calibration(hand, -1);
  const Eigen::MatrixXd gauges = calibration.GaugeDirections();
  ASSERT_EQ(gauges.cols(), 6 + 3 + 1 + 1 + 1);
  const Eigen::Matrix3Xd z =
      Eigen::Matrix3Xd::Zero(3, static_cast<Eigen::Index>(hand.markers().size()));
  const CalibrationResidual residual(calibration, z, 1.0);
  for (unsigned seed = 1; seed <= 3; ++seed) {
    Eigen::VectorXd r;
    Eigen::MatrixXd J_x, J_v;
    ASSERT_TRUE(residual.EvaluateTangent(Eigen::VectorXd::Zero(calibration.size()),
                                         RandomPose(hand, 0.6, seed), &r, &J_x, &J_v));
    for (Eigen::Index k = 0; k < gauges.cols(); ++k) {
      const Eigen::VectorXd moved = J_x * gauges.col(k);
      const Eigen::VectorXd v = J_v.colPivHouseholderQr().solve(moved);
      EXPECT_GT(moved.norm(), 1e-4) << k;
      EXPECT_NEAR((moved - J_v * v).norm(), 0, 1e-9) << "gauge " << k << ", pose " << seed;
    }
  }
}

// A solver tries steps that no hand survives; it must be told so, not be aborted by them.
TEST(CalibrationResidualTest, AStepThatMakesNoHandIsGivenUp) {
  const model::Skeleton hand = EveryJoint();
  const CalibrationModel calibration(hand, -1);
  const Eigen::Matrix3Xd z =
      Eigen::Matrix3Xd::Zero(3, static_cast<Eigen::Index>(hand.markers().size()));
  const CalibrationResidual residual(calibration, z, 1e-3);
  const Eigen::VectorXd good = Eigen::VectorXd::Zero(calibration.size());
  const Eigen::VectorXd q = RandomPose(hand, 0.6, 1);
  std::vector<double> residuals(static_cast<size_t>(residual.num_residuals()), 77.0);
  const auto evaluate = [&](const Eigen::VectorXd& x, const Eigen::VectorXd& at_q) {
    const double* blocks[] = {x.data(), at_q.data()};
    return residual.Evaluate(blocks, residuals.data(), nullptr);
  };
  const Eigen::VectorXd before = calibration.At(good).markers()[0].p_BM;
  for (int i = 0; i < calibration.size(); ++i) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      Eigen::VectorXd x = good;
      x[i] = bad;
      EXPECT_FALSE(evaluate(x, q)) << calibration.names()[static_cast<size_t>(i)] << " " << bad;
      EXPECT_EQ(calibration.TryAt(x), nullptr);
    }
  }
  EXPECT_EQ(residuals[0], 77.0);
  // Long steps: hands that can be built but lie beyond what a double holds, and turns whose square
  // overflows.
  EXPECT_FALSE(evaluate(Eigen::VectorXd::Constant(calibration.size(), 1e308), q));
  EXPECT_FALSE(evaluate(Eigen::VectorXd::Constant(calibration.size(), -1e200), q));
  EXPECT_FALSE(evaluate(good, Eigen::VectorXd::Constant(q.size(), std::nan(""))));
  // And it goes on where it was.
  EXPECT_TRUE(evaluate(good, q));
  EXPECT_EQ(calibration.At(good).markers()[0].p_BM, before);
  EXPECT_TRUE(evaluate(Eigen::VectorXd::Constant(calibration.size(), 1e3), q));
}

}  // namespace
}  // namespace handhold::fitting::calibration_residual_test

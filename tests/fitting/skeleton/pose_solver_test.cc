#include "fitting/skeleton/pose_solver.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>

#include "tests/support/hands.h"
#include "tests/support/marker_motion.h"

namespace handhold::fitting::pose_solver_test {
namespace {

using test_support::EveryJoint;
using test_support::MarkerPlaces;
using test_support::SmoothMotion;

TEST(PoseSolverTest, BothPathsEndAtTheSameMinimum) {
  const model::Skeleton hand = EveryJoint();
  const SmoothMotion motion(hand, 0.5, 1);
  PoseSolver solver(hand, {.marker_sd_m = 1e-4});
  std::mt19937 random(2);
  std::normal_distribution<double> noise(0, 3e-4);
  Eigen::VectorXd start = motion.At(0);
  for (int k = 1; k <= 40; ++k) {
    Eigen::Matrix3Xd z = MarkerPlaces(hand, motion.At(0.01 * k));
    for (double& x : z.reshaped()) x += noise(random);
    if (k % 3 == 0) z.col(k % z.cols()).setConstant(std::nan(""));
    const Eigen::VectorXd fast = solver.Solve(z, start, PoseMethod::kFast).q;
    const PoseSolution& ceres = solver.Solve(z, start, PoseMethod::kCeres);
    ASSERT_TRUE(ceres.converged);
    EXPECT_LT(hand.Difference(ceres.q, fast).cwiseAbs().maxCoeff(), 1e-6) << k;
    start = fast;
  }
}

TEST(PoseSolverTest, AgreesWithTruthWithinItsInformation) {
  const model::Skeleton hand = EveryJoint();
  const SmoothMotion motion(hand, 0.5, 3);
  const double sd = 5e-5;
  PoseSolver solver(hand, {.marker_sd_m = sd});
  std::mt19937 random(4);
  std::normal_distribution<double> noise(0, sd);
  const Eigen::VectorXd truth = motion.At(1.0);
  double chi2 = 0;
  const int trials = 200;
  for (int k = 0; k < trials; ++k) {
    Eigen::Matrix3Xd z = MarkerPlaces(hand, truth);
    for (double& x : z.reshaped()) x += noise(random);
    const PoseSolution& s = solver.Solve(z, truth, PoseMethod::kFast);
    const Eigen::VectorXd error = hand.Difference(truth, s.q);
    chi2 += error.dot(s.information * error) / trials;
    EXPECT_EQ(s.determined.sum(), hand.nv());
  }
  EXPECT_NEAR(chi2 / hand.nv(), 1.0, 0.1);
}

TEST(PoseSolverTest, ALimitBendsThePoseFromOutsideOnly) {
  const model::Skeleton hand = EveryJoint();
  Eigen::VectorXd q = hand.ZeroConfiguration();
  const int iq = hand.q_index(hand.FindBody("b")), iv = hand.v_index(hand.FindBody("b"));
  PoseSolver solver(hand, {.marker_sd_m = 1e-3, .limit_sd_rad = 0.01});
  q[iq] = 0.99;
  const PoseSolution inside = solver.Solve(MarkerPlaces(hand, q), q, PoseMethod::kFast);
  EXPECT_NEAR(inside.q[iq], 0.99, 1e-5);
  EXPECT_EQ(inside.at_limit[iv], 0);
  q[iq] = 1.2;
  const PoseSolution outside = solver.Solve(MarkerPlaces(hand, q), q, PoseMethod::kFast);
  EXPECT_EQ(outside.at_limit[iv], 1);
  EXPECT_LT(outside.q[iq], 1.19);
  EXPECT_GT(outside.q[iq], 1.0);
}

TEST(PoseSolverTest, ABodyWithoutMarkersIsNotDetermined) {
  const model::Skeleton hand = EveryJoint();
  const SmoothMotion motion(hand, 0.4, 5);
  const Eigen::VectorXd truth = motion.At(0.3);
  Eigen::Matrix3Xd z = MarkerPlaces(hand, truth);
  for (int m = 12; m < 15; ++m) z.col(m).setConstant(std::nan(""));  // body c
  PoseSolver solver(hand, {});
  const int c = hand.v_index(hand.FindBody("c"));
  for (const PoseMethod method : {PoseMethod::kFast, PoseMethod::kCeres}) {
    const PoseSolution& s = solver.Solve(z, truth, method);
    EXPECT_TRUE(s.converged);
    EXPECT_EQ(s.determined[c], 0);
    EXPECT_EQ(s.determined.sum(), hand.nv() - 1);
    EXPECT_EQ(s.information.row(c).norm(), 0);
    EXPECT_NEAR(hand.Difference(truth, s.q).norm(), 0, 1e-6)
        << "what is not seen stays where it was";
  }
  z.setConstant(std::nan(""));
  EXPECT_EQ(solver.Solve(z, truth, PoseMethod::kFast).determined.sum(), 0);
}

}  // namespace
}  // namespace handhold::fitting::pose_solver_test

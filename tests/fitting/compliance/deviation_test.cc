#include "fitting/compliance/deviation.h"

#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/LU>

namespace handhold::fitting::deviation_test {
namespace {

DeviationParameters Parameters(const Eigen::VectorXd& c, double t) {
  return {c, Eigen::VectorXd::Constant(c.size(), t), 1.0, {}};
}

TEST(DeviationTest, SettlesAtComplianceTimesTorque) {
  const Eigen::Vector2d c(0.3, 2.0);
  const Eigen::Matrix2d mass = (Eigen::Matrix2d() << 3e-4, 1e-5, 1e-5, 2e-6).finished();
  const Eigen::MatrixXd tau = Eigen::Vector2d(0.1, -0.02).replicate(1, 3000);
  const Eigen::MatrixXd d = SimulateDeviation(mass, tau, 5e-4, Parameters(c, 0.014));
  EXPECT_NEAR(d(0, 2999), 0.3 * 0.1, 1e-9);
  EXPECT_NEAR(d(1, 2999), 2.0 * -0.02, 1e-9);
}

TEST(DeviationTest, TorqueOnOneBendsTheOtherTheSameWayByAPositiveCoupling) {
  DeviationParameters p = Parameters(Eigen::Vector3d(0.3, 0.5, 2.0), 0.014);
  p.coupling = {{1, 2, 0.2}};
  const Eigen::Matrix3d mass = Eigen::Vector3d(3e-4, 2e-5, 2e-6).asDiagonal();
  const Eigen::MatrixXd tau = Eigen::Vector3d(0.1, 0.05, 0.0).replicate(1, 3000);
  const Eigen::MatrixXd d = SimulateDeviation(mass, tau, 5e-4, p);
  EXPECT_NEAR(d(0, 2999), 0.3 * 0.1, 1e-9);
  EXPECT_NEAR(d(1, 2999), 0.5 * 0.05, 1e-9);
  EXPECT_NEAR(d(2, 2999), 0.2 * std::sqrt(0.5 * 2.0) * 0.05, 1e-9);
  DeviationStepper stepper(3);
  for (int k = 0; k < 100; ++k) stepper.Step(mass, tau.col(k), 5e-4, p);
  EXPECT_NEAR((stepper.deviation() - d.col(99)).cwiseAbs().maxCoeff(), 0, 1e-12);
}

TEST(DeviationTest, MasslessAndUndampedIsEquationOneFromTheSecondStepOn) {
  const Eigen::MatrixXd tau = Eigen::RowVectorXd::LinSpaced(50, 0, 1);
  const Eigen::MatrixXd d = SimulateDeviation(Eigen::MatrixXd::Zero(1, 1), tau, 1e-3,
                                              Parameters(Eigen::VectorXd::Constant(1, 0.7), 0.0));
  EXPECT_NEAR((d - 0.7 * tau).cwiseAbs().maxCoeff(), 0, 1e-12);
}

TEST(DeviationTest, FirstOrderLagHasItsTimeConstant) {
  const Eigen::MatrixXd tau = Eigen::MatrixXd::Constant(1, 200, 1.0);
  const Eigen::MatrixXd d = SimulateDeviation(Eigen::MatrixXd::Zero(1, 1), tau, 5e-4,
                                              Parameters(Eigen::VectorXd::Constant(1, 1.0), 0.014));
  for (const int k : {20, 60, 150})
    EXPECT_NEAR(d(0, k), 1 - std::exp(-(k + 1) * 5e-4 / 0.014), 0.015) << k;
}

TEST(DeviationTest, AgreesWithAnExplicitIntegrationOfAMicrosecond) {
  const Eigen::Vector2d c(0.35, 1.0);
  const double t_constant = 0.014;
  const Eigen::Matrix2d mass = (Eigen::Matrix2d() << 4e-4, 5e-5, 5e-5, 2e-5).finished();
  const int steps = 340;
  const double h = 5e-4;
  auto torque = [](double t) {
    return Eigen::Vector2d(0.1 * (1 - std::exp(-t / 0.01)), 0.04 * std::sin(60 * t));
  };
  Eigen::MatrixXd tau(2, steps);
  for (int k = 0; k < steps; ++k) tau.col(k) = torque((k + 1) * h);
  const Eigen::MatrixXd d = SimulateDeviation(mass, tau, h, Parameters(c, t_constant));

  Eigen::Vector2d x = Eigen::Vector2d::Zero(), v = x;
  const Eigen::Matrix2d inverse = mass.inverse();
  const double fine = 1e-6;
  double worst = 0, largest = 0;
  for (int k = 0; k < steps; ++k) {
    for (int s = 0; s < 500; ++s) {
      v += fine * inverse *
           (torque(k * h + s * fine) - c.cwiseInverse().cwiseProduct(x + t_constant * v));
      x += fine * v;
    }
    worst = std::max(worst, (d.col(k) - x).cwiseAbs().maxCoeff());
    largest = std::max(largest, x.cwiseAbs().maxCoeff());
  }
  EXPECT_LT(worst, 0.004 * largest);
}

TEST(DeviationTest, ARigidJointStaysAndItsNeighbourMovesAsIfAlone) {
  const Eigen::Matrix2d mass = (Eigen::Matrix2d() << 4e-4, 5e-5, 5e-5, 2e-5).finished();
  const Eigen::MatrixXd tau = Eigen::Vector2d(0.1, 0.1).replicate(1, 100);
  const Eigen::MatrixXd d =
      SimulateDeviation(mass, tau, 5e-4, Parameters(Eigen::Vector2d(0.3, 0.0), 0.014));
  const Eigen::MatrixXd alone =
      SimulateDeviation(mass.topLeftCorner(1, 1), tau.topRows(1), 5e-4,
                        Parameters(Eigen::VectorXd::Constant(1, 0.3), 0.014));
  EXPECT_TRUE(d.allFinite());
  EXPECT_EQ(d.row(1).cwiseAbs().maxCoeff(), 0.0);
  EXPECT_NEAR((d.row(0) - alone).cwiseAbs().maxCoeff(), 0, 1e-12);
}

TEST(DeviationTest, InertiaScaleScalesTheMass) {
  const Eigen::Matrix2d mass = (Eigen::Matrix2d() << 4e-4, 5e-5, 5e-5, 2e-5).finished();
  const Eigen::MatrixXd tau = Eigen::Vector2d(0.1, 0.1).replicate(1, 100);
  DeviationParameters p = Parameters(Eigen::Vector2d(0.3, 1.0), 0.014);
  const Eigen::MatrixXd direct = SimulateDeviation(1.5 * mass, tau, 5e-4, p);
  p.inertia_scale = 1.5;
  EXPECT_EQ((SimulateDeviation(mass, tau, 5e-4, p) - direct).cwiseAbs().maxCoeff(), 0.0);
}

TEST(DeviationTest, TheStepperIsTheSameIntegration) {
  const Eigen::Matrix2d mass = (Eigen::Matrix2d() << 4e-4, 5e-5, 5e-5, 2e-5).finished();
  const Eigen::MatrixXd tau = Eigen::MatrixXd::Random(2, 60);
  const DeviationParameters p = Parameters(Eigen::Vector2d(0.3, 1.0), 0.014);
  const Eigen::MatrixXd d = SimulateDeviation(mass, tau, 5e-4, p);
  DeviationStepper stepper(2);
  for (int k = 0; k < 60; ++k)
    EXPECT_NEAR((stepper.Step(mass, tau.col(k), 5e-4, p) - d.col(k)).norm(), 0, 1e-14);
  stepper.Reset();
  EXPECT_NEAR((stepper.Step(mass, tau.col(0), 5e-4, p) - d.col(0)).norm(), 0, 1e-14);
}

}  // namespace
}  // namespace handhold::fitting::deviation_test

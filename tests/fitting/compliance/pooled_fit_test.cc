/// Planted compliance comes back from a finger whose dynamics share no code with the fit; what is
/// not there is not answered.
#include "fitting/compliance/pooled_fit.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "fitting/compliance/deviation.h"
#include "tests/support/planar_events.h"

namespace handhold::fitting::pooled_fit_test {
namespace {

using test_support::Joints;
using test_support::LoosePrior;
using test_support::MakeEvents;
using World = test_support::FingerWorld;

PooledResult FitAll(const World& world, int count) {
  const PooledFit fit(MakeEvents(world, count), LoosePrior());
  return fit.Solve(fit.FindStart(0.003));
}

TEST(PooledFitTest, RecoversPlantedComplianceWithInertiaAndClockWrongAtTheStart) {
  World world;
  world.inertia_error = 1.2;
  world.force_late_s = 0.001;
  const PooledResult result = FitAll(world, 16);
  ASSERT_TRUE(result.converged);
  for (int j = 0; j < 4; ++j) {
    const double error =
        result.parameters.log_compliance[j] - std::log(world.impedance.compliance_rad_per_Nm[j]);
    EXPECT_LT(std::abs(error), 0.12) << j;
    EXPECT_LT(std::abs(error), 3.5 * std::hypot(result.sd_log(j), 0.01)) << j;
  }
  EXPECT_NEAR(std::exp(result.parameters.log_inertia), 1 / 1.2, 0.05);
  EXPECT_NEAR(result.parameters.shift_s, 0.001, 2e-4);
  EXPECT_NEAR(std::exp(result.parameters.log_time_constant[0]), 0.014, 0.0015);
  EXPECT_NEAR(result.chi2_per_dof, 1.0, 0.25);
}

TEST(PooledFitTest, ReferencesThatBendTogetherNarrowTheAnswer) {
  const World world;
  const auto sd = [&](const Eigen::MatrixXd& correlation) {
    PooledOptions options = LoosePrior();
    options.prior_correlation = correlation;
    const PooledFit fit(MakeEvents(world, 8), options);
    const PooledResult result = fit.Solve(fit.FindStart(0.0));
    EXPECT_TRUE(result.converged);
    Eigen::Vector4d formal;
    for (int j = 0; j < 4; ++j) formal[j] = std::sqrt(result.formal(j, j));
    return formal;
  };
  const Eigen::Vector4d alone = sd({}), identity = sd(Eigen::Matrix4d::Identity());
  EXPECT_TRUE(alone.isApprox(identity, 1e-6)) << alone.transpose() << "; " << identity.transpose();
  Eigen::Matrix4d tied = Eigen::Matrix4d::Constant(0.9);
  tied.diagonal().setOnes();
  const Eigen::Vector4d together = sd(tied);
  EXPECT_LT(together[2], 0.97 * alone[2]);
  EXPECT_LT(together[3], 0.97 * alone[3]);
}

/// References of degree 2 and what the whole system of four, its palm held by nothing, does under
/// the torques of real strokes: the palm's angle is then no part of what is fitted.
std::vector<ComplianceEvent> FloatingEvents(int count, double palm_error) {
  const World world;
  std::vector<ComplianceEvent> events = MakeEvents(world, count);
  std::mt19937 random(3);
  std::normal_distribution<double> white(0, 1);
  const std::vector<int> order = {1, 2, 3, 0};
  for (ComplianceEvent& e : events) {
    DeviationParameters free;
    free.compliance_rad_per_Nm = world.impedance.compliance_rad_per_Nm;
    free.time_constant_s = world.impedance.time_constant_s;
    free.compliance_rad_per_Nm[0] = 1e5, free.time_constant_s[0] = 0.0;
    const Eigen::MatrixXd d =
        SimulateDeviation(e.mass + (palm_error - 1) * e.palm_mass, e.tau_Nm, e.tau_step_s, free);
    Eigen::MatrixXd theta = Eigen::MatrixXd::Zero(3, e.frame_s.size());
    for (Eigen::Index k = 0; k < e.frame_s.size(); ++k) {
      const double t = e.frame_s[k], at = std::max(0.0, (t - e.tau_begin_s) / e.tau_step_s);
      theta.col(k) = Eigen::Vector3d(1 + t, -t, 5 * t * t) +
                     d.col(std::min<Eigen::Index>(std::lround(at), d.cols() - 1)).tail(3);
      for (double& angle : theta.col(k)) angle += world.angle_sd * white(random);
    }
    e.theta_rad = theta;
    for (Eigen::MatrixXd& w : e.information) w = Eigen::MatrixXd(w.bottomRightCorner(3, 3));
    e.mass = Eigen::MatrixXd(e.mass(order, order));
    e.palm_mass = Eigen::MatrixXd(e.palm_mass(order, order));
    e.tau_Nm = Eigen::MatrixXd(e.tau_Nm(order, Eigen::all));
    e.floating = 1;
  }
  return events;
}

TEST(PooledFitTest, APalmThatNothingHoldsGivesWayByItsMass) {
  PooledOptions options = LoosePrior();
  options.prior_variance = Eigen::MatrixXd(options.prior_variance.topRows(3));
  for (const double palm : {1.0, 2.0}) {
    const PooledFit fit(FloatingEvents(12, palm), options);
    const PooledResult result = fit.Solve(fit.FindStart(0.0));
    ASSERT_TRUE(result.converged);
    const Joints planted = World().impedance.compliance_rad_per_Nm;
    for (int j = 0; j < 3; ++j) {
      const double error = result.parameters.log_compliance[j] - std::log(planted[j + 1]);
      std::printf("palm x %.0f, joint %d: %+.3f, sd %.3f\n", palm, j, error, result.sd_log(j));
      EXPECT_LT(std::abs(error), 3.5 * std::hypot(result.sd_log(j), 0.01)) << palm << " " << j;
    }
    std::printf("  palm %.2f\n", std::exp(result.parameters.log_palm));
    EXPECT_NEAR(result.parameters.log_inertia + result.parameters.log_palm, std::log(palm), 0.3);
  }
  // The canary: a palm that is taken to be held.
  std::vector<ComplianceEvent> held = FloatingEvents(12, 1.0);
  for (ComplianceEvent& e : held) {
    e.mass = Eigen::MatrixXd(e.mass.topLeftCorner(3, 3));
    e.palm_mass.resize(0, 0);
    e.tau_Nm = Eigen::MatrixXd(e.tau_Nm.topRows(3));
    e.floating = 0;
  }
  const PooledFit wrong(held, options);
  const PooledResult result = wrong.Solve(wrong.FindStart(0.0));
  const double mp =
      result.parameters.log_compliance[0] - std::log(World().impedance.compliance_rad_per_Nm[1]);
  std::printf("held: chi-square %.2f, MP %+.2f\n", result.chi2_per_dof, mp);
  EXPECT_TRUE(result.chi2_per_dof > 1.35 || std::abs(mp) > 0.1);
}

TEST(PooledFitTest, SignsMatter) {
  // Force acting on the object instead of on the hand: no compliance explains it, and chi-square
  // says so.
  World world;
  auto events = MakeEvents(world, 6);
  const PooledFit right(events, LoosePrior());
  for (ComplianceEvent& e : events) e.tau_Nm *= -1;
  const PooledFit wrong(events, LoosePrior());
  EXPECT_GT(wrong.Solve(wrong.FindStart(0.0)).chi2_per_dof,
            1.35 * right.Solve(right.FindStart(0.0)).chi2_per_dof);
}

TEST(PooledFitTest, DoublingComplianceCostsFarMoreThanItsIntervalAllows) {
  const World world;
  const PooledFit fit(MakeEvents(world, 8), LoosePrior());
  const PooledResult result = fit.Solve(fit.FindStart(0.0));
  PooledParameters doubled = result.parameters;
  doubled.log_compliance.array() += std::log(2.0);
  EXPECT_GT(fit.Chi2(doubled), result.chi2 + 100);
}

TEST(PooledFitTest, ASingleEventLeavesTheEndJointOpen) {
  World world;
  world.postures = {test_support::ExploringPosture()};
  const PooledFit fit(MakeEvents(world, 3), LoosePrior());
  for (int e = 0; e < fit.event_count(); ++e) {
    const PooledResult single = fit.SolveEvent(e, fit.Cold());
    EXPECT_GT(single.sd_log(3), 0.12) << "the end joint must be refused";
  }
}

TEST(PooledFitTest, ARigidJointIsNotToldFromZero) {
  World world;
  world.impedance.compliance_rad_per_Nm[2] = 1e-4;
  int told = 0;
  for (world.seed = 1; world.seed <= 4; ++world.seed) {
    const PooledFit fit(MakeEvents(world, 10), LoosePrior());
    const PooledResult best = fit.Solve(fit.FindStart(0.0));
    PooledParameters rigid = best.parameters;
    rigid.log_compliance[2] = std::log(1e-6);
    const bool this_told = (fit.Solve(rigid, 2).chi2 - best.chi2) / best.chi2_inflation[2] > 3.84;
    told += this_told;
    EXPECT_TRUE(!this_told || best.sd_log(2) > 0.12)
        << "a value would be given for a rigid joint, seed " << world.seed;
    rigid = best.parameters;
    rigid.log_compliance[1] = std::log(1e-6);
    EXPECT_GT((fit.Solve(rigid, 1).chi2 - best.chi2) / best.chi2_inflation[1], 20)
        << "a compliant joint is told from 0";
  }
  EXPECT_LE(told, 1);
}

TEST(PooledFitTest, OneTimeConstantPerJointCatchesAWrongSharedOne) {
  World world;
  world.impedance.time_constant_s = Joints(0.015, 0.035, 0.020, 0.040);
  const PooledFit fit(MakeEvents(world, 16), LoosePrior());
  const PooledResult shared = fit.Solve(fit.FindStart(0.0));
  PooledParameters start = shared.parameters;
  start.log_time_constant.setConstant(4, shared.parameters.log_time_constant[0]);
  const PooledResult own = fit.Solve(start);
  double largest = 0;
  for (int j = 0; j < 4; ++j) {
    largest = std::max(
        largest, std::abs(own.parameters.log_compliance[j] - shared.parameters.log_compliance[j]) /
                     own.sd_log(j));
  }
  EXPECT_GT(largest, 3.0);
  for (int j = 0; j < 4; ++j) {
    EXPECT_LT(std::abs(own.parameters.log_compliance[j] -
                       std::log(world.impedance.compliance_rad_per_Nm[j])),
              3.5 * own.sd_log(j))
        << j;
  }
}

}  // namespace
}  // namespace handhold::fitting::pooled_fit_test

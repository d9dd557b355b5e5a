/// Planted compliance comes back from a finger whose dynamics share no code with the fit; what is
/// not there is not answered.
#include "fitting/compliance/pooled_fit.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "database/base/units.h"
#include "tests/support/planar_finger.h"

namespace handhold::fitting {
namespace {

using test_support::Impedance;
using test_support::Joints;
using test_support::PlanarFinger;

struct World {
  PlanarFinger finger;
  Impedance impedance;
  double angle_sd = 4e-4;      ///< of each joint angle, per frame: what 0.05 mm markers give
  double inertia_error = 1.0;  ///< mass matrix handed to the fit, over the true one
  double force_late_s = 0.0;
  std::vector<Joints> postures = {test_support::ExploringPosture(),
                                  test_support::ScratchingPosture(), test_support::CurledPosture()};
  int seed = 1;
};

std::vector<ComplianceEvent> MakeEvents(const World& world, int count) {
  std::mt19937 random(static_cast<unsigned>(world.seed));
  std::normal_distribution<double> white(0, 1);
  std::uniform_real_distribution<double> speed(0.05, 0.2), force(0.7, 2.0);
  std::vector<ComplianceEvent> events;
  for (int e = 0; e < count; ++e) {
    const auto stroke =
        test_support::DrawStroke(world.finger, world.impedance, {},
                                 world.postures[static_cast<size_t>(e) % world.postures.size()],
                                 speed(random), force(random), &random);
    const test_support::Plate plate;
    const auto run =
        test_support::Simulate(world.finger, world.impedance, stroke.program, &plate, 0.5);
    if (run.onset_s < 0.12 || run.onset_s > 0.38) continue;
    ComplianceEvent event;
    event.touch = e;
    const auto onset = static_cast<int>(run.onset_s / run.step_s);
    // Torque every 0.5 ms from 20 ms before the onset; the recorded force may carry a late clock.
    event.tau_begin_s = -0.02;
    const int steps = 210;
    event.tau_Nm.resize(4, steps);
    for (int k = 0; k < steps; ++k) {
      const double t = run.onset_s + event.tau_begin_s + k * event.tau_step_s - world.force_late_s;
      const auto i = static_cast<size_t>(std::lround(t / run.step_s));
      Eigen::Vector2d f = run.force[i];
      if (f.y() > 0) f += Eigen::Vector2d(white(random), white(random)) * 0.006;
      event.tau_Nm.col(k) = world.finger.ContactJacobian(run.theta[i]).transpose() * f;
    }
    event.mass =
        world.inertia_error * world.finger.MassMatrix(run.theta[static_cast<size_t>(onset)]);
    const int frames = 85;
    event.frame_s.resize(frames);
    event.theta_rad.resize(4, frames);
    for (int k = 0; k < frames; ++k) {
      event.frame_s[k] = -0.1 + 0.002 * k;
      const auto i =
          static_cast<size_t>(std::lround((run.onset_s + event.frame_s[k]) / run.step_s));
      for (int j = 0; j < 4; ++j)
        event.theta_rad(j, k) = run.theta[i][j] + world.angle_sd * white(random);
      event.information.push_back(Eigen::Matrix4d::Identity() / (world.angle_sd * world.angle_sd));
    }
    events.push_back(std::move(event));
  }
  return events;
}

PooledOptions Options() {
  PooledOptions options;
  // A loose prior that falls with degree; free movement here is smooth.
  options.prior_variance.resize(4, 10);
  for (int k = 0; k < 10; ++k)
    options.prior_variance.col(k).setConstant(
        std::pow(0.03 * std::pow(0.45, std::max(0, k - 2)), 2));
  return options;
}

PooledResult FitAll(const World& world, int count) {
  const PooledFit fit(MakeEvents(world, count), Options());
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
    PooledOptions options = Options();
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

TEST(PooledFitTest, SignsMatter) {
  // Force acting on the object instead of on the hand: no compliance explains it, and chi-square
  // says so.
  World world;
  auto events = MakeEvents(world, 6);
  const PooledFit right(events, Options());
  for (ComplianceEvent& e : events) e.tau_Nm *= -1;
  const PooledFit wrong(events, Options());
  EXPECT_GT(wrong.Solve(wrong.FindStart(0.0)).chi2_per_dof,
            1.35 * right.Solve(right.FindStart(0.0)).chi2_per_dof);
}

TEST(PooledFitTest, DoublingComplianceCostsFarMoreThanItsIntervalAllows) {
  const World world;
  const PooledFit fit(MakeEvents(world, 8), Options());
  const PooledResult result = fit.Solve(fit.FindStart(0.0));
  PooledParameters doubled = result.parameters;
  doubled.log_compliance.array() += std::log(2.0);
  EXPECT_GT(fit.Chi2(doubled), result.chi2 + 100);
}

TEST(PooledFitTest, ASingleEventLeavesTheEndJointOpen) {
  World world;
  world.postures = {test_support::ExploringPosture()};
  const PooledFit fit(MakeEvents(world, 3), Options());
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
    const PooledFit fit(MakeEvents(world, 10), Options());
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
  const PooledFit fit(MakeEvents(world, 16), Options());
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
}  // namespace handhold::fitting

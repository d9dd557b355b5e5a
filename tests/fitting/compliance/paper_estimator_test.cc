#include "fitting/compliance/paper_estimator.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace handhold::fitting::paper_estimator_test {
namespace {

/// The case the paper has in mind: a straight reference, a joint that answers at once, a torque
/// that ramps.
struct Ramp {
  std::vector<double> t, theta, tau;
};

Ramp Make(double compliance, double bend, double noise_rad) {
  std::mt19937 random(2);
  std::normal_distribution<double> white(0, 1);
  Ramp r;
  for (int i = -25; i <= 25; ++i) {
    const double t = 0.002 * i;
    r.t.push_back(t);
    r.tau.push_back(t > 0 ? 0.8 * t + bend * t * t : 0.0);
    r.theta.push_back(0.3 - 1.2 * t + compliance * r.tau.back() + noise_rad * white(random));
  }
  return r;
}

TEST(PaperEstimatorTest, IsExactWhereItsAssumptionsHold) {
  const Ramp r = Make(1.04, 0.0, 0.0);
  const PaperEstimate e = EstimateByExtrapolation(r.t, r.theta, r.tau, {});
  EXPECT_TRUE(e.discarded.empty()) << e.discarded;
  EXPECT_NEAR(e.compliance_rad_per_Nm, 1.04, 1e-9);
  EXPECT_NEAR(e.torque_slope, 0.8, 1e-9);
}

TEST(PaperEstimatorTest, QuadraticsFollowACurvedRamp) {
  const Ramp r = Make(0.35, 12.0, 0.0);
  PaperEstimatorOptions options;
  options.degree = 2;
  EXPECT_NEAR(EstimateByExtrapolation(r.t, r.theta, r.tau, options).compliance_rad_per_Nm, 0.35,
              1e-6);
}

TEST(PaperEstimatorTest, NegativeAndUndeterminedAreDiscardedWithReasons) {
  const Ramp negative = Make(-0.4, 0.0, 1e-5);
  const PaperEstimate e = EstimateByExtrapolation(negative.t, negative.theta, negative.tau, {});
  EXPECT_NE(e.discarded.find("negative"), std::string::npos);
  EXPECT_NEAR(e.compliance_rad_per_Nm, -0.4, 0.01);
  const Ramp noisy = Make(0.05, 0.0, 0.02);
  EXPECT_FALSE(EstimateByExtrapolation(noisy.t, noisy.theta, noisy.tau, {}).discarded.empty());
  Ramp still = Make(1.0, 0.0, 0.0);
  for (double& x : still.tau) x = 0.0;
  EXPECT_EQ(EstimateByExtrapolation(still.t, still.theta, still.tau, {}).discarded,
            "torque slope not told from 0");
  EXPECT_EQ(EstimateByExtrapolation({}, {}, {}, {}).discarded, "too few samples around the onset");
}

}  // namespace
}  // namespace handhold::fitting::paper_estimator_test

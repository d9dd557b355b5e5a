#include "fitting/signal/onset.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace handhold::fitting::onset_test {
namespace {

/// A damped stop met at `speed`: force k x + c v over a body that slows down with time constant 25
/// ms; nothing of it is a polynomial.
struct Touching {
  std::vector<double> t, f;
  double crossing = 0.0;
};

Touching Simulate(double speed, double stiffness, double damping, double noise,
                  double drift_N_per_s, double onset, std::mt19937* random,
                  bool backwards = false) {
  std::normal_distribution<double> white(0, noise);
  Touching out;
  bool crossed = false;
  for (int i = -1400; i < 1400; ++i) {
    const double t = i / 7000.0;
    const double u = backwards ? onset - t : t - onset;
    const double decay = std::exp(-u / 0.025);
    const double f =
        u > 0 ? stiffness * speed * 0.025 * (1 - decay) + damping * speed * decay : 0.0;
    if (backwards ? f > 0.25 : (f > 0.25 && !crossed)) out.crossing = t, crossed = true;
    out.t.push_back(t);
    out.f.push_back(f + 0.03 + drift_N_per_s * t + white(*random));
  }
  return out;
}

TEST(KinkTest, FindsTheTouchWithinTwoMillisecondsAndItsIntervalHolds) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> speed(0.02, 0.2), onset(-0.001, 0.001);
  std::vector<double> errors;
  int inside = 0;
  const int trials = 120;
  for (int k = 0; k < trials; ++k) {
    const double truth = onset(random);
    const Touching touch = Simulate(speed(random), 5000, 4, 0.02, 0.2, truth, &random, k % 2 == 1);
    auto kink = FitKink(touch.t, touch.f, touch.crossing, k % 2 == 1);
    ASSERT_TRUE(kink) << kink.error().message;
    errors.push_back(std::abs(kink->time_s - truth));
    inside += errors.back() <= 2.5 * kink->sd_s;
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LE(errors[static_cast<size_t>(0.9 * trials)], 0.001);
  EXPECT_GE(inside, 0.9 * trials);
}

TEST(KinkTest, ASoftSlowTouchIsFoundWithALongerPieceAndAWiderInterval) {
  std::mt19937 random(5);
  const Touching hard = Simulate(0.1, 5000, 4, 0.02, 0, 0, &random);
  const Touching soft = Simulate(0.06, 300, 0.1, 0.05, 0, 0, &random);
  auto a = FitKink(hard.t, hard.f, hard.crossing);
  auto b = FitKink(soft.t, soft.f, soft.crossing);
  ASSERT_TRUE(a && b);
  EXPECT_GT(b->after_s, a->after_s);
  EXPECT_GT(b->sd_s, a->sd_s);
  EXPECT_NEAR(b->time_s, 0, 3 * b->sd_s + 1e-3);
}

TEST(KinkTest, PureNoiseIsRefused) {
  std::mt19937 random(9);
  std::normal_distribution<double> white(0, 0.02);
  std::vector<double> t, f;
  for (int i = 0; i < 2800; ++i) t.push_back(i / 7000.0), f.push_back(white(random));
  auto kink = FitKink(t, f, 0.2);
  ASSERT_FALSE(kink);
  EXPECT_EQ(kink.error().code, ErrorCode::kUnidentifiable);
  EXPECT_FALSE(FitKink({}, {}, 0.0));
}

TEST(KinkTest, AFallIsNotATouch) {
  std::mt19937 random(11);
  Touching touch = Simulate(0.1, 5000, 4, 0.02, 0, 0, &random);
  for (double& f : touch.f) f = -f;
  EXPECT_FALSE(FitKink(touch.t, touch.f, touch.crossing));
}

}  // namespace
}  // namespace handhold::fitting::onset_test

#include "fitting/signal/low_pass.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "database/base/units.h"

namespace handhold::fitting::low_pass_test {
namespace {

std::vector<double> Sine(double hz, double rate, int n) {
  std::vector<double> x;
  for (int i = 0; i < n; ++i) x.push_back(std::sin(2 * kPi * hz * i / rate));
  return x;
}

/// Amplitude and phase of `y` at `hz`, from the middle half, by correlation.
std::pair<double, double> Response(const std::vector<double>& y, double hz, double rate) {
  double s = 0, c = 0;
  int n = 0;
  const auto period = static_cast<size_t>(rate / hz + 0.5);
  const size_t begin = y.size() / 4, count = (y.size() / 2) / period * period;
  for (size_t i = begin; i < begin + count; ++i, ++n) {
    s += y[i] * std::sin(2 * kPi * hz * static_cast<double>(i) / rate);
    c += y[i] * std::cos(2 * kPi * hz * static_cast<double>(i) / rate);
  }
  return {2 * std::hypot(s, c) / n, std::atan2(c, s)};
}

TEST(LowPassTest, AmplitudeIsThatOfTheFormulaAndPhaseIsZero) {
  for (const int order : {2, 4}) {
    for (const double hz : {50.0, 175.0, 350.0, 700.0}) {
      auto y = LowPass(Sine(hz, 7000, 14000), 7000, {.cutoff_Hz = 350, .order = order});
      ASSERT_TRUE(y);
      const auto [amplitude, phase] = Response(*y, hz, 7000);
      // The bilinear transform warps frequency: tan(pi f / rate) takes its place.
      const double widening = std::pow(std::sqrt(2.0) - 1, -1.0 / (2 * order));
      const double ratio = std::tan(kPi * hz / 7000) / std::tan(kPi * 350 * widening / 7000);
      EXPECT_NEAR(amplitude, 1 / (1 + std::pow(ratio, 2 * order)), 2e-3)
          << hz << " Hz, order " << order;
      EXPECT_NEAR(phase, 0, 1e-3) << hz;
    }
  }
}

TEST(LowPassTest, HalfPowerIsAtTheCutoffOfTheWhole) {
  auto y = LowPass(Sine(300, 7000, 14000), 7000, {.cutoff_Hz = 300});
  EXPECT_NEAR(Response(*y, 300, 7000).first, std::sqrt(0.5), 0.01);
}

TEST(LowPassTest, AStraightLineComesBackToItsEnds) {
  std::vector<double> x;
  for (int i = 0; i < 500; ++i) x.push_back(3 - 0.01 * i);
  auto y = LowPass(x, 1000, {.cutoff_Hz = 30});
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR((*y)[i], x[i], 1e-7) << i;
}

TEST(LowPassTest, NothingCrossesAGapAndMissingStaysMissing) {
  std::vector<double> x(400, 1.0);
  for (size_t i = 200; i < 400; ++i) x[i] = 5.0;
  x[199] = x[200] = std::numeric_limits<double>::quiet_NaN();
  auto y = LowPass(x, 1000, {.cutoff_Hz = 20});
  EXPECT_NEAR((*y)[198], 1.0, 1e-12);
  EXPECT_NEAR((*y)[201], 5.0, 1e-12);
  EXPECT_TRUE(std::isnan((*y)[199]));
}

TEST(LowPassTest, DegenerateInputs) {
  EXPECT_TRUE(LowPass({}, 1000, {})->empty());
  EXPECT_EQ(LowPass(std::vector{7.0}, 1000, {})->front(), 7.0);
  EXPECT_FALSE(LowPass(std::vector{7.0}, 500, {.cutoff_Hz = 300}));
  EXPECT_FALSE(LowPass(std::vector{7.0}, 1000, {.cutoff_Hz = 100, .order = 3}));
  EXPECT_FALSE(LowPass(std::vector{7.0}, 1000, {.cutoff_Hz = std::nan("")}));
}

}  // namespace
}  // namespace handhold::fitting::low_pass_test

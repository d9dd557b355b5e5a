#include "fitting/signal/series.h"

#include <cmath>

#include <gtest/gtest.h>

namespace handhold::fitting::series_test {
namespace {

using recording::SampleOrigin;
const double kNan = std::nan("");

std::vector<Timestamp> Times(std::initializer_list<int> ms) {
  std::vector<Timestamp> t;
  for (const int v : ms) t.push_back(Timestamp() + Duration::Milliseconds(v));
  return t;
}

TEST(DerivativeTest, IsExactForAQuadraticAtUnevenTimes) {
  const auto t = Times({0, 1, 3, 4, 7});
  std::vector<double> y;
  for (const Timestamp s : t) y.push_back(1 + 2 * s.seconds() - 300 * s.seconds() * s.seconds());
  const auto d = Derivative(t, y);
  for (size_t i = 0; i < t.size(); ++i) EXPECT_NEAR(d[i], 2 - 600 * t[i].seconds(), 1e-9) << i;
}

TEST(DerivativeTest, MissingSamplesStayMissingAndNeighboursAreOneSided) {
  const auto d = Derivative(Times({0, 1, 2, 3, 4}), std::vector{0.0, 1e-3, kNan, 7.0, 7.002});
  EXPECT_NEAR(d[0], 1, 1e-9);
  EXPECT_NEAR(d[1], 1, 1e-9);
  EXPECT_TRUE(std::isnan(d[2]));
  EXPECT_NEAR(d[3], 2, 1e-9);
  EXPECT_TRUE(std::isnan(Derivative(Times({0}), std::vector{1.0})[0]));
}

TEST(SmoothDerivativeTest, SecondDerivativeOfACubicAtTheMiddle) {
  const auto t = Times({0, 2, 4, 6, 8, 10, 12});
  std::vector<double> y;
  for (const Timestamp s : t) y.push_back(std::pow(s.seconds(), 3) * 1e6);
  EXPECT_NEAR(SmoothDerivative(t, y, Duration::Milliseconds(6), 3, 2)[3], 6e6 * 0.006, 1e-4);
  EXPECT_NEAR(SmoothDerivative(t, y, Duration::Milliseconds(6), 3, 1)[3], 3e6 * 0.006 * 0.006,
              1e-6);
}

TEST(ResampleTest, LinesBetweenSamplesAndNothingAcrossGaps) {
  const auto y = ResampleAt(Times({0, 2, 4, 20, 22}), std::vector{0.0, 2.0, kNan, 20.0, 22.0},
                            Times({-1, 0, 1, 2, 3, 10, 20, 21, 22, 23}), Duration::Milliseconds(5));
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 1);
  EXPECT_EQ(y[3], 2);
  EXPECT_TRUE(std::isnan(y[4]));
  EXPECT_TRUE(std::isnan(y[5]));
  EXPECT_EQ(y[6], 20);
  EXPECT_EQ(y[7], 21);
  EXPECT_EQ(y[8], 22);
  EXPECT_TRUE(std::isnan(y[9]));
  EXPECT_TRUE(std::isnan(ResampleAt({}, {}, Times({1}), Duration::Seconds(1))[0]));
}

TEST(FillTest, ShortGapsAreFilledSmoothlyAndSaySo) {
  const auto t = Times({0, 1, 2, 3, 4, 5, 6, 7, 30, 31});
  const auto filled =
      FillShortGaps(t, std::vector{0.0, 1.0, kNan, kNan, 4.0, 5.0, kNan, 7.0, kNan, 9.0},
                    Duration::Milliseconds(4));
  EXPECT_NEAR(filled.values[2], 2, 1e-12);
  EXPECT_NEAR(filled.values[3], 3, 1e-12);
  EXPECT_NEAR(filled.values[6], 6, 1e-12);
  EXPECT_EQ(filled.origins[2], SampleOrigin::kInterpolated);
  EXPECT_EQ(filled.origins[1], SampleOrigin::kMeasured);
  EXPECT_TRUE(std::isnan(filled.values[8]));
  EXPECT_EQ(filled.origins[8], SampleOrigin::kMissing);
}

TEST(FillTest, EndsAreNeverInvented) {
  const auto filled =
      FillShortGaps(Times({0, 1, 2}), std::vector{kNan, 1.0, kNan}, Duration::Seconds(1));
  EXPECT_TRUE(std::isnan(filled.values[0]));
  EXPECT_TRUE(std::isnan(filled.values[2]));
}

}  // namespace
}  // namespace handhold::fitting::series_test

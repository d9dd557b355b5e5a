// The arithmetic of the marks: medians, ratios and verdicts. (No time is asserted.)
#include "tests/support/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace handhold::bench::marks_test {
namespace {

using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Summarise, IsMedianAndHalfInterquartileRange) {
  const Sample five = Summarise({5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(five.median, 3);
  EXPECT_DOUBLE_EQ(five.spread, 1);  // quartiles 2 and 4
  const Sample even = Summarise({1, 2, 3, 10});
  EXPECT_DOUBLE_EQ(even.median, 2.5);
  EXPECT_DOUBLE_EQ(even.spread, 0.5 * (4.75 - 1.75));
  EXPECT_DOUBLE_EQ(Summarise({7}).median, 7);
  EXPECT_DOUBLE_EQ(Summarise({7}).spread, 0);
  EXPECT_TRUE(std::isnan(Summarise({}).median));
}

TEST(Repeat, ThrowsTheFirstAwayAndAlternates) {
  int calls = 0;
  EXPECT_DOUBLE_EQ(Repeat(3, [&] { return calls++; }).median, 2);  // 1, 2, 3 counted; 0 warms up
  std::string order;
  RepeatBoth(2, [&] { return order += 'a', 1.0; }, [&] { return order += 'b', 1.0; });
  EXPECT_EQ(order, "ababab");
}

Result Against(double value, double peer, Better better, Goal goal) {
  return {.value = {value, 0},
          .unit = "u",
          .better = better,
          .peer = "P 1.0",
          .peer_value = {peer, 0},
          .goal = goal};
}

TEST(Judge, RatioSaysHowManyTimesAsGood) {
  const auto lower = Judge(Against(2, 3, Better::kLower, Goal::RatioAtLeast(1.5)), 0);
  EXPECT_DOUBLE_EQ(lower.ratio, 1.5);
  EXPECT_TRUE(lower.met);
  EXPECT_EQ(lower.goal, "ratio >= 1.5");
  const auto higher = Judge(Against(2, 3, Better::kHigher, Goal::RatioAtLeast(0.7)), 0);
  EXPECT_NEAR(higher.ratio, 2.0 / 3.0, 1e-15);
  EXPECT_FALSE(higher.met);
}

TEST(Judge, NaNMeetsNothing) {
  for (const Goal goal : {Goal::None(), Goal::RatioAtLeast(0), Goal::AtMost(1e300),
                          Goal::AtLeast(-1e300), Goal::SpeedAtMost(1e300)}) {
    EXPECT_FALSE(Judge({.value = {kNaN, 0}, .goal = goal}, kReferenceCalibration_ns).met);
    EXPECT_FALSE(Judge({.value = {kNaN, 0}, .goal = goal}, 10 * kReferenceCalibration_ns).met);
  }
}

TEST(Judge, NoMachineExcusesAnError) {
  const Result r{.value = {1.1, 0}, .unit = "us", .goal = Goal::AtMost(1.0)};
  const auto j = Judge(r, 100 * kReferenceCalibration_ns);
  EXPECT_FALSE(j.met);
  EXPECT_EQ(j.goal, "<= 1 us");
  EXPECT_TRUE(j.peer.empty());
}

TEST(Judge, ASlowMachineExcusesASpeedByItsSlownessAndNoMore) {
  const auto met = [](double value, double slowness) {
    return Judge({.value = {value, 0}, .unit = "ms", .goal = Goal::SpeedAtMost(10)},
                 slowness * kReferenceCalibration_ns)
        .met;
  };
  EXPECT_TRUE(met(10, 1.0));
  EXPECT_FALSE(met(11, 1.0));
  EXPECT_FALSE(met(11, 1.19));  // within 20 %: the absolute bound decides
  EXPECT_TRUE(met(19, 2.0));
  EXPECT_FALSE(met(21, 2.0));
  const auto rate = Judge({.value = {4000, 0},
                           .unit = "frames/s",
                           .better = Better::kHigher,
                           .goal = Goal::SpeedAtLeast(5000)},
                          2.0 * kReferenceCalibration_ns);
  EXPECT_DOUBLE_EQ(rate.ratio, 1.6);
  EXPECT_TRUE(rate.met);
  EXPECT_THAT(rate.peer, HasSubstr("calibration kernel"));
}

TEST(ToJson, HasTheKeysInOrderAndNullWhereNothingWasMeasured) {
  Result r{.value = {1.5, 0.25}, .unit = "u\"\n", .goal = Goal::AtLeast(1)};
  EXPECT_EQ(
      ToJson("a.b", r, Judge(r, 1)),
      R"({"name":"a.b","value":1.5,"spread":0.25,"unit":"u\" ","peer":null,"peer_value":null,)"
      R"("ratio":null,"goal":">= 1 u\" ","met":true})");
}

TEST(Selection, IsByNameOrDottedPrefix) {
  EXPECT_TRUE(internal::Selects("geometry", "geometry.closest_point"));
  EXPECT_TRUE(internal::Selects("geometry.closest_point", "geometry.closest_point"));
  EXPECT_FALSE(internal::Selects("geo", "geometry.closest_point"));
  EXPECT_FALSE(internal::Selects("geometry.closest_point.x", "geometry.closest_point"));
}

TEST(Reporter, RefusesAnUnregisteredMarkAndNamesAForgottenOne) {
  Reporter reporter({"a"}, {"a.one", "a.two", "b"});
  EXPECT_THROW(reporter.Report("c", {}), std::logic_error);
  EXPECT_THAT(reporter.Forgotten(), ::testing::ElementsAre("a.one", "a.two"));
  EXPECT_FALSE(reporter.wants("b"));
}

}  // namespace
}  // namespace handhold::bench::marks_test

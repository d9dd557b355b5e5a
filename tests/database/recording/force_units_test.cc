#include "database/recording/force_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::recording::force_units_test {
namespace {

using ::testing::HasSubstr;

std::vector<Channel> Channels(const std::string& force, const std::string& moment) {
  return {{"fx", force, 0},  {"fy", force, 0},  {"fz", force, 0},
          {"tx", moment, 0}, {"ty", moment, 0}, {"tz", moment, 0}};
}

// Forces of a weight of 1 kg and of a pound, moments by hand: an inch is 25.4 mm.
TEST(CalibrationByUnits, TurnsUnitsThatAreKnownIntoNewtonsAndNewtonMetres) {
  struct Case {
    const char *force, *moment;
    double newtons, newton_metres;
  };
  for (const Case& c :
       {Case{"N", "N m", 1, 1}, Case{"mN", "N mm", 1e-3, 1e-3}, Case{"kN", "N-m", 1e3, 1},
        Case{"N", "Ncm", 1, 1e-2},
        Case{"lbf", "lbf in", 0.45359237 * 9.80665, 0.45359237 * 9.80665 * 0.0254},
        Case{"kgf", "kgf.cm", 9.80665, 0.0980665}, Case{"gf", "mN.m", 9.80665e-3, 1e-3}}) {
    SCOPED_TRACE(c.moment);
    const auto calibration = CalibrationByUnits(Channels(c.force, c.moment));
    ASSERT_TRUE(calibration) << calibration.error().message;
    for (int k = 0; k < 6; ++k) {
      EXPECT_NEAR((*calibration)(k, k) / (k < 3 ? c.newtons : c.newton_metres), 1, 1e-14);
      for (int other = 0; other < 6; ++other) {
        if (other == k) continue;
        EXPECT_EQ((*calibration)(k, other), 0);
      }
    }
  }
}

// A moment's unit is none of a force, and what a converter counts is neither.
TEST(CalibrationByUnits, RefusesWhatNoUnitSays) {
  for (const auto& [force, moment] : {std::pair("count", "count"),
                                      {"V", "V"},
                                      {"foo", "N m"},
                                      {"N m", "N m"},
                                      {"N", "N"},
                                      {"1", "1"},
                                      {"", ""}}) {
    const auto calibration = CalibrationByUnits(Channels(force, moment));
    ASSERT_FALSE(calibration) << force;
    EXPECT_EQ(calibration.error().code, ErrorCode::kInvalid);
  }
  EXPECT_THAT(CalibrationByUnits(Channels("N", "foo")).error().message, HasSubstr("'tx'"));
  std::vector<Channel> eight = Channels("N", "N m");
  eight.resize(8, {"g", "N", 0});
  EXPECT_FALSE(CalibrationByUnits(eight));
}

}  // namespace
}  // namespace handhold::recording::force_units_test

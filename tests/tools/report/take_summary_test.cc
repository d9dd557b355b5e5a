#include "tools/report/take_summary.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::report::take_summary_test {
namespace {

using ::testing::ElementsAre;

const std::string kGap = "\xE2\x80\xAF";

TEST(TakeSummaryTest, AGapOfADeviceIsToldOnceAndOthersStayApart) {
  TakeSection take;
  take.gaps = {{"vicon/markers", 17.385, 0.3, 150, "device skipped"},
               {"vicon/points", 17.385, 0.3, 150, "device skipped"},
               {"plate/wrench", 13.2, 1e-4, 1, "device skipped"},
               {"plate/wrench", 25.6, 1e-4, 1, "device skipped"},
               {"vicon/timecode", 17.385, 0.3, 149, "device skipped"}};
  std::vector<std::string> said;
  for (const GapRow& g : MergedGaps(take))
    said.push_back(g.stream + " " + std::to_string(g.samples));
  EXPECT_THAT(said, ElementsAre("plate/wrench 1", "vicon (2 streams) 150", "vicon/timecode 149",
                                "plate/wrench 1"));
}

TEST(TakeSummaryTest, RedComesFirstAndStreamsOfADeviceShareALine) {
  TakeSection take;
  take.health = {{"vicon/markers", "rate_Hz", "", 500, 500, 505, false},
                 {"vicon/points", "rate_Hz", "", 500, 500, 505, false},
                 {"plate/wrench", "rate_Hz", "", 7000, 7000, 7070, false},
                 {"", "disk_left_s", "", 101480, 24095, 600, false},
                 {"vicon/markers", "jitter_p99_s", "uneven", 0.0038, 0.01127, 0.005, true},
                 {"vicon/points", "jitter_p99_s", "uneven", 0.0037, 0.01127, 0.005, true}};
  const std::vector<HealthLine> lines = HealthLines(take);
  std::vector<std::string> said;
  for (const HealthLine& l : lines) said.push_back(l.stream + ": " + l.figure);
  EXPECT_THAT(said,
              ElementsAre("vicon/markers: jitter p99", "vicon/points: jitter p99",
                          "vicon (2 streams): rate", "plate/wrench: rate", "recorder: disk left"));
  EXPECT_TRUE(lines[0].red);
  EXPECT_EQ(lines[0].cause, "uneven");
  EXPECT_EQ(lines[0].worst, "11" + kGap + "ms");
  EXPECT_EQ(lines[0].limit, "5.0" + kGap + "ms");
}

TEST(TakeSummaryTest, QuantitiesHaveUnitsOfTheirSize) {
  EXPECT_EQ(QuantityText("clock_residual_p99_s", 1.6e-5), "16" + kGap + "µs");
  EXPECT_EQ(QuantityText("last_sample_age_s", 0.212), "212" + kGap + "ms");
  EXPECT_EQ(QuantityText("last_sample_age_s", 0), "0" + kGap + "ms");
  EXPECT_EQ(QuantityText("disk_left_s", 600), "600" + kGap + "s");
  EXPECT_EQ(QuantityText("disk_left_s", 101480), "28.2" + kGap + "h");
  EXPECT_EQ(QuantityText("rate_Hz", 6999.83), "6999.8" + kGap + "Hz");
  EXPECT_EQ(QuantityText("visible_fraction", 0.9895), "99.0" + kGap + "%");
  EXPECT_EQ(QuantityText("lost_samples", 150), "150");
  EXPECT_EQ(QuantityText("rate_Hz", std::nan("")), "–");
}

}  // namespace
}  // namespace handhold::report::take_summary_test

#include "database/base/asked_range.h"

#include <gtest/gtest.h>

namespace handhold::asked_range_test {
namespace {

TimeRange Seconds(double begin, double end) {
  return {Timestamp::FromSeconds(begin), Timestamp::FromSeconds(end)};
}

// An end that was not asked for is open, and far beyond anything: it is not said.
TEST(AskedRangeTest, NamesTheEndThatMissesAndWhatThereIs) {
  const TimeRange there = Seconds(0.5, 8.25);
  EXPECT_EQ(NothingWithin(Seconds(30, 1e9), there, "the markers go"),
            "nothing lies from 30 s on: the markers go from 0.5 s to 8.25 s (--from, --to)");
  EXPECT_EQ(NothingWithin(Seconds(0, 0.2), there, "the markers go"),
            "nothing lies before 0.2 s: the markers go from 0.5 s to 8.25 s (--from, --to)");
  EXPECT_EQ(NothingWithin(Seconds(3, 2), there, "the markers go"),
            "nothing lies from 3 s to 2 s: the markers go from 0.5 s to 8.25 s (--from, --to)");
  EXPECT_EQ(NothingWithin(Seconds(8.25, 9), there, "it goes").substr(0, 27),
            "nothing lies from 8.25 s on");
  EXPECT_EQ(NothingWithin(Seconds(8, 1e9), there, "it goes"), "");
  EXPECT_EQ(NothingWithin(Seconds(0, 0.6), there, "it goes"), "");
}

}  // namespace
}  // namespace handhold::asked_range_test

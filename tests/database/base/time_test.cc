#include "database/base/time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace handhold::time_test {
namespace {

TEST(Duration, RoundsToTheNearestNanosecondTiesAwayFromZero) {
  EXPECT_EQ(Duration::FromSeconds(0.1).ns(), 100'000'000);
  EXPECT_EQ(Duration::FromSeconds(1.4e-9).ns(), 1);
  EXPECT_EQ(Duration::FromSeconds(-1.6e-9).ns(), -2);
  EXPECT_EQ(Duration::FromSeconds(-0.0).ns(), 0);
  EXPECT_EQ(Duration::FromSeconds(0.0009765625).ns(), 976563) << "976562.5 ns is a tie";
  EXPECT_EQ(Duration::FromSeconds(-0.0009765625).ns(), -976563);
}

// seconds * 1e9 alone rounds to multiples of 256 ns or more here.
TEST(Duration, KeepsNanosecondsInLongTimes) {
  EXPECT_EQ(Duration::FromSeconds(9'000'000'000.0).ns(), 9'000'000'000'000'000'000);
  EXPECT_EQ(Duration::FromSeconds(86'400.000000001).ns() - 86'400'000'000'000, 1);
  EXPECT_EQ(Duration::FromSeconds(-86'400.5).ns(), -86'400'500'000'000);
}

TEST(Duration, RefusesWhatDoesNotFit) {
  EXPECT_DEATH(Duration::FromSeconds(std::nan("")), "isfinite");
  EXPECT_DEATH(Duration::FromSeconds(INFINITY), "isfinite");
  EXPECT_DEATH(Duration::FromSeconds(9.3e9), "CHECK failed");
}

TEST(Duration, OfSamplesTakesWhateverADeviceSays) {
  EXPECT_EQ(Duration::OfSamples(3, 500.0).ns(), 6'000'000);
  EXPECT_EQ(Duration::OfSamples(-1, 1e3).ns(), -1'000'000);
  EXPECT_EQ(Duration::OfSamples(0, 0.0).ns(), 0);
  const Duration most = Duration::OfSamples(1, 0.0);
  EXPECT_NEAR(most.seconds(), 9.467e8, 1e6);
  EXPECT_EQ(Duration::OfSamples(INT64_MAX, 500.0), most);
  EXPECT_EQ(Duration::OfSamples(INT64_MIN, 500.0), -most);
  EXPECT_EQ(Duration::OfSamples(1, 1e-300), most);
  EXPECT_EQ(Duration::OfSamples(1, -5.0), most);
  EXPECT_EQ(Duration::OfSamples(1, std::nan("")), most);
  EXPECT_EQ(Duration::OfSamples(-1, 0.0), -most);
  EXPECT_EQ(Duration::OfSamples(7, INFINITY).ns(), 0);
}

TEST(Duration, Arithmetic) {
  const Duration d = Duration::Milliseconds(2);
  EXPECT_EQ((d + Duration::Microseconds(1)).ns(), 2'001'000);
  EXPECT_EQ((-d * 3).ns(), -6'000'000);
  EXPECT_EQ((d / 3).ns(), 666'666);
  EXPECT_DOUBLE_EQ(d.seconds(), 0.002);
  EXPECT_LT(d, Duration::Seconds(1));
}

TEST(Timestamp, DifferencesAreDurations) {
  const Timestamp a = Timestamp::FromNanoseconds(5), b = Timestamp::FromSeconds(1.0);
  EXPECT_EQ((b - a).ns(), 999'999'995);
  EXPECT_EQ(a + (b - a), b);
  EXPECT_EQ(b - Duration::Seconds(1), Timestamp());
}

TEST(TimeRange, IsHalfOpen) {
  const TimeRange range{Timestamp::FromNanoseconds(10), Timestamp::FromNanoseconds(20)};
  EXPECT_TRUE(range.Contains(range.begin));
  EXPECT_FALSE(range.Contains(range.end));
  EXPECT_EQ(range.length().ns(), 10);
}

TEST(HostNow, DoesNotGoBackwards) {
  Timestamp last = HostNow();
  for (int i = 0; i < 1000; ++i) {
    const Timestamp now = HostNow();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(FormatUtc, IsIso8601WithNineDecimals) {
  EXPECT_EQ(FormatUtc(Timestamp()), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(FormatUtc(Timestamp::FromNanoseconds(1'795'003'200'123'456'789)),
            "2026-11-18T12:00:00.123456789Z");
  EXPECT_EQ(FormatUtc(Timestamp::FromNanoseconds(951'782'400'000'000'000)),
            "2000-02-29T00:00:00.000000000Z");
  EXPECT_EQ(FormatUtc(Timestamp::FromNanoseconds(-1)), "1969-12-31T23:59:59.999999999Z");
}

TEST(FormatSeconds, IsExact) {
  EXPECT_EQ(FormatSeconds(Duration::Nanoseconds(1'250'000'000)), "1.250000000 s");
  EXPECT_EQ(FormatSeconds(Duration::Nanoseconds(-1)), "-0.000000001 s");
  EXPECT_EQ(FormatSeconds(Duration()), "0.000000000 s");
  EXPECT_EQ(FormatSeconds(Duration::Nanoseconds(std::numeric_limits<int64_t>::min())),
            "-9223372036.854775808 s");
}

}  // namespace
}  // namespace handhold::time_test

#include "database/store/clip_times.h"

#include <gtest/gtest.h>

#include <random>

namespace handhold::store::clip_times_test {
namespace {

TEST(ClipTimes, EqualTheClockMapSampleBySample) {
  std::mt19937_64 rng(1);
  for (int trial = 0; trial < 400; ++trial) {
    const recording::Rate rate = trial % 3 == 0
                                     ? recording::Rate{500, 1}
                                     : recording::Rate{1 + static_cast<int64_t>(rng() % 48'000),
                                                       1 + static_cast<int64_t>(rng() % 1001)};
    recording::ClockMap clock =
        recording::ClockMap::Identity(static_cast<int64_t>(rng() % 1'000'000'000'000));
    clock.constant_delay_ns = static_cast<int64_t>(rng() % 10'000'000);
    const int64_t counter = trial % 7 == 0 ? -static_cast<int64_t>(rng() % 1000)
                                           : static_cast<int64_t>(rng() % 1'000'000'000);
    int64_t at = recording::DeviceTimeOfCounter(counter, rate);
    for (int s = 0; s < trial % 4; ++s) {  // segments within the stretch looked at
      at += static_cast<int64_t>(static_cast<double>(rng() % 300) * 1e9 / rate.hz());
      recording::ClockSegment segment;
      segment.device_begin_ns = std::max(at, clock.segments.back().device_begin_ns + 1);
      segment.host_begin_ns = clock.ToHost(segment.device_begin_ns).ns() + clock.constant_delay_ns;
      segment.rate_error = 1e-6 * (static_cast<double>(rng() % 400) - 200);
      clock.segments.push_back(segment);
    }
    const int64_t host_start = static_cast<int64_t>(rng() % 1'000'000'000);
    const ClipTimes times(rate, &clock, host_start);
    std::vector<Timestamp> many;
    times.Append(counter, 700, many);
    ASSERT_EQ(many.size(), 700u);
    for (int i = 0; i < 700; ++i) {
      const Timestamp one = Timestamp::FromNanoseconds(
          clock.ToHost(recording::DeviceTimeOfCounter(counter + i, rate)).ns() - host_start);
      ASSERT_EQ(many[static_cast<size_t>(i)], one) << trial << " " << i;
    }
    for (int k = 0; k < 20; ++k) {
      const Timestamp t =
          many[rng() % many.size()] + Duration::Nanoseconds(static_cast<int64_t>(rng() % 3) - 1);
      const auto expected = std::lower_bound(many.begin(), many.end(), t) - many.begin();
      ASSERT_EQ(times.LowerBound(counter, 700, t), expected);
    }
  }
}

}  // namespace
}  // namespace handhold::store::clip_times_test

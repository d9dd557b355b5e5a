#include "capture/simulator/link.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>

#include "capture/simulator/device_clock.h"

namespace handhold::capture::link_test {
namespace {

TEST(DeviceClock, KeepsItsNanosecondsForAWeekAndInverts) {
  const DeviceClock clock{Timestamp::FromNanoseconds(1'000'000'007), 500.0, 40.0};
  EXPECT_EQ(clock.HostOf(0), clock.host_start);
  // Independent: integers. 500 Hz and +40 ppm is 500.02 Hz: 50002 samples take 100 s.
  for (const int64_t hundreds : {1, 7, 6048}) {
    EXPECT_NEAR(static_cast<double>((clock.HostOf(50002 * hundreds) - clock.host_start).ns() -
                                    hundreds * 100'000'000'000),
                0.0, 2.0);
  }
  for (const int64_t i : {0, 1, 499, 123456789}) {
    EXPECT_EQ(clock.IndexAt(clock.HostOf(i)), i);
    EXPECT_EQ(clock.IndexAt(clock.HostOf(i) - Duration::Nanoseconds(1)), i - 1);
  }
  EXPECT_LT(clock.HostOf(1'000'000), (DeviceClock{clock.host_start, 500.0, 0.0}.HostOf(1'000'000)));
}

TEST(Link, ReachesTheQuantilesItIsSetTo) {
  // The arrival jitter measured on a loaded machine: median 21 us, p99 208 us
  // (capture-protocols.md 4.2).
  Link link({.seed = 3,
             .jitter_median = Duration::Microseconds(21),
             .jitter_sigma = std::log(208.0 / 21.0) / 2.3263});
  std::vector<int64_t> ns;
  for (int i = 0; i < 100'000; ++i) ns.push_back(link.Delay().ns());
  std::sort(ns.begin(), ns.end());
  EXPECT_NEAR(static_cast<double>(ns[50'000]), 21e3, 0.5e3);
  EXPECT_NEAR(static_cast<double>(ns[99'000]), 208e3, 8e3);
}

TEST(Link, LateOnesComeInBurstsAndTheSeedDecides) {
  const LinkOptions options{.seed = 5,
                            .late_fraction = 0.001,
                            .late_min = Duration::Milliseconds(1),
                            .late_max = Duration::Milliseconds(12),
                            .late_burst = 20};
  Link a(options), b(options);
  int late = 0, bursts = 0;
  bool before = false;
  for (int i = 0; i < 100'000; ++i) {
    const Duration delay = a.Delay();
    EXPECT_EQ(delay, b.Delay());
    const bool is_late = delay > Duration();
    if (is_late) {
      EXPECT_GE(delay, Duration::Milliseconds(1));
      EXPECT_LE(delay, Duration::Milliseconds(12));
      ++late;
    }
    bursts += is_late && !before;
    before = is_late;
  }
  EXPECT_NEAR(bursts, 98, 40);
  EXPECT_NEAR(late, 20 * bursts, 60);
}

TEST(Link, LosesAndDuplicatesTheirShare) {
  Link link({.seed = 9, .loss_fraction = 0.01, .duplicate_fraction = 0.02});
  int lost = 0, twice = 0;
  for (int i = 0; i < 100'000; ++i) {
    lost += link.Lose();
    twice += link.Duplicate();
  }
  EXPECT_NEAR(lost, 1000, 150);
  EXPECT_NEAR(twice, 2000, 200);
}

}  // namespace
}  // namespace handhold::capture::link_test

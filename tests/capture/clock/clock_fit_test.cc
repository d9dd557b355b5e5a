#include "capture/clock/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/arrival_times.h"

namespace handhold::capture::clock_fit_test {
namespace {

using recording::ClockPair;
using testing::AlignmentErrors;
using testing::Arrivals;
using testing::PlantedArrivals;
using testing::PlantedClock;

double P99(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  return errors[errors.size() * 99 / 100];
}

class ClockFitOn : public ::testing::TestWithParam<PlantedClock> {};

TEST_P(ClockFitOn, AlignsWithin50MicrosecondsAndOnePpm) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    PlantedClock planted = GetParam();
    planted.seed = seed;
    const PlantedArrivals arrivals = Arrivals(planted);
    const auto fit = FitClock(arrivals.pairs);
    ASSERT_TRUE(fit) << fit.error().message;
    EXPECT_TRUE(fit->breaks.empty());
    EXPECT_LE(P99(AlignmentErrors(fit->map, arrivals, planted.least_delay_ns)), 50e3) << seed;
    for (const auto& s : fit->map.segments)
      EXPECT_NEAR(s.rate_error, planted.rate_error, 1e-6) << seed;
  }
}

PlantedClock Markers() { return {}; }
PlantedClock MarkersInBursts() {
  PlantedClock c;
  c.burst = 20;
  return c;
}
PlantedClock Force() {
  PlantedClock c;
  c.rate_hz = 7000;
  c.rate_error = -25e-6;
  return c;
}
PlantedClock ForceInBursts() {
  PlantedClock c = Force();
  c.burst = 20;
  return c;
}
INSTANTIATE_TEST_SUITE_P(Planted, ClockFitOn,
                         ::testing::Values(Markers(), MarkersInBursts(), Force(), ForceInBursts()));

TEST(ClockFitTest, TheQualityNumberCoversTheTruth) {
  int covered = 0, total = 0;
  for (uint64_t seed = 100; seed < 160; ++seed) {
    PlantedClock planted;
    planted.seed = seed;
    planted.seconds = 5.0 + static_cast<double>(seed % 7) * 5.0;
    planted.burst = seed % 2 == 0 ? 1 : 20;
    const PlantedArrivals arrivals = Arrivals(planted);
    const auto fit = FitClock(arrivals.pairs);
    ASSERT_TRUE(fit);
    for (size_t i = 0; i < arrivals.pairs.size(); i += arrivals.pairs.size() / 10) {
      const int64_t device = arrivals.pairs[i].device_ns;
      const double error = std::abs(static_cast<double>(
          fit->map.ToHost(device).ns() - arrivals.true_host_ns[i] - planted.least_delay_ns));
      covered += error <= ClockUncertaintyNs(fit->map, device);
      ++total;
    }
  }
  EXPECT_GE(covered, total * 95 / 100) << covered << " of " << total;
  EXPECT_GT(ClockUncertaintyNs(recording::ClockMap(), 0), 1e300);
}

// A device that restarted just before the fit: what two packets say of a clock is next to nothing.
TEST(ClockFitTest, OfAFewPacketsTheQualityNumberCoversTheTruthToo) {
  for (const int count : {2, 3, 10, 19}) {
    for (const double late_ns : {0.0, 0.1e6, 0.35e6}) {
      std::vector<ClockPair> pairs;  // 20 ms apart, as thinned; the first one late, as it is
      for (int i = 0; i < count; ++i) {
        const int64_t device_ns = 20'000'000LL * i;
        pairs.push_back({i, device_ns, device_ns + (i == 0 ? std::llround(late_ns) : 0), 0});
      }
      const auto fit = FitClock(pairs);
      ASSERT_TRUE(fit);
      for (const auto& s : fit->map.segments) EXPECT_LE(std::abs(s.rate_error), 300e-6);
      for (const double ahead_s : {0.0, 1.0, 20.0}) {
        const int64_t at = pairs.back().device_ns + std::llround(1e9 * ahead_s);
        const double error = static_cast<double>(fit->map.ToHost(at).ns() - at);
        EXPECT_LE(std::abs(error), ClockUncertaintyNs(fit->map, at))
            << count << " packets, " << late_ns << " ns late, " << ahead_s << " s ahead";
      }
    }
  }
}

// A clock that leaves out some time every second, and one that is a twentieth slow, each packet of
// which looks earlier than the one before: many breaks, in the time of a test.
TEST(ClockFitTest, VeryManyBreaksAreBoundedWork) {
  std::vector<ClockPair> leaves_out, slow;
  for (int64_t i = 0; i < 90'000; ++i) {
    leaves_out.push_back({i, 20'000'000 * i + 10'000'000 * (i / 60), 20'000'000 * i, 0});
    slow.push_back({i, 20'000'000 * i, 19'000'000 * i, 0});
  }
  const auto fit = FitClock(leaves_out);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_GT(fit->breaks.size(), 1000u);
  EXPECT_LE(fit->map.segments.size(), leaves_out.size());
  const auto of_slow = FitClock(slow);
  ASSERT_TRUE(of_slow) << of_slow.error().message;
  for (size_t i = 1; i < slow.size(); ++i) {
    const int64_t at = slow[i].device_ns;
    ASSERT_GT(of_slow->map.ToHost(at), of_slow->map.ToHost(slow[i - 1].device_ns)) << i;
    ASSERT_LE(std::abs(static_cast<double>(of_slow->map.ToHost(at).ns() - slow[i].host_ns)),
              ClockUncertaintyNs(of_slow->map, at))
        << i;
  }
}

TEST(ClockFitTest, AStepOfTheDevicesClockIsFoundAndLocated) {
  for (const int64_t step_ns :
       {int64_t{-5'000'000}, int64_t{5'000'000}, int64_t{-700'000}, int64_t{900'000}}) {
    PlantedClock planted;
    PlantedArrivals arrivals = Arrivals(planted);
    const size_t at = arrivals.pairs.size() / 3;
    for (size_t i = at; i < arrivals.pairs.size(); ++i) {
      if (step_ns < 0) {  // it gains time by leaving some out
        arrivals.pairs[i].device_ns -= step_ns;
        continue;
      }
      arrivals.pairs[i].host_ns += step_ns;
      arrivals.true_host_ns[i] += step_ns;
    }
    const auto fit = FitClock(arrivals.pairs);
    ASSERT_TRUE(fit);
    ASSERT_EQ(fit->breaks.size(), 1u) << step_ns;
    EXPECT_NEAR(static_cast<double>(fit->breaks[0].counter), static_cast<double>(at), 3.0)
        << step_ns;
    EXPECT_NEAR(static_cast<double>(fit->breaks[0].step_ns), static_cast<double>(step_ns), 50e3);
    EXPECT_LE(P99(AlignmentErrors(fit->map, arrivals, planted.least_delay_ns)), 50e3) << step_ns;
  }
}

TEST(ClockFitTest, AResetThatTheSourceToldStartsANewSegmentAtItsCounter) {
  PlantedClock planted;
  PlantedArrivals arrivals = Arrivals(planted);
  const size_t at = 20'001;
  for (size_t i = at; i < arrivals.pairs.size(); ++i) {
    arrivals.pairs[i].host_ns += 1'400'000'123;
    arrivals.true_host_ns[i] += 1'400'000'123;
  }
  const ToldBreak told[] = {{arrivals.pairs[at].counter, arrivals.pairs[at].device_ns}};
  const auto fit = FitClock(arrivals.pairs, {}, told);
  ASSERT_TRUE(fit);
  ASSERT_EQ(fit->breaks.size(), 1u);
  EXPECT_EQ(fit->breaks[0].counter, static_cast<int64_t>(at));
  EXPECT_TRUE(fit->breaks[0].told);
  EXPECT_LE(P99(AlignmentErrors(fit->map, arrivals, planted.least_delay_ns)), 50e3);
}

/// All of it, in slices of 20 ms and then, as in a long take, of ten times that.
ClockPairThinner Thinned(const PlantedArrivals& arrivals) {
  ClockPairThinner thinner(Duration::Milliseconds(20), 512, ClockPairThinner::WhenFull::kCoarsen);
  for (const ClockPair& pair : arrivals.pairs) thinner.Add(pair);
  return thinner;
}

// At every place within a slice.
TEST(ClockFitTest, OfThinnedPairsAToldBreakBeginsAtItsCounterAndAFoundOneAtItsPacket) {
  for (size_t at = 20'001; at < 20'400; at += 41) {
    PlantedClock planted;
    planted.rate_hz = 1000;
    planted.seconds = 40;
    planted.seed = at;
    const PlantedArrivals unbroken = Arrivals(planted);
    for (const int64_t step_ns : {int64_t{-122'000'000}, int64_t{-1'500'000}, int64_t{1'500'000},
                                  int64_t{31'000'000}, int64_t{2'000'000'000}}) {
      PlantedArrivals arrivals = unbroken;
      for (size_t i = at; i < arrivals.pairs.size(); ++i) {
        ClockPair& pair = arrivals.pairs[i];
        if (step_ns < 0) {  // its clock jumped ahead: so did its counter
          pair.device_ns -= step_ns;
          pair.counter = pair.device_ns / 1'000'000;
        } else {
          pair.host_ns += step_ns;
          arrivals.true_host_ns[i] += step_ns;
        }
      }
      const ClockPairThinner thinner = Thinned(arrivals);
      ASSERT_LE(thinner.pairs().size(), 1024u);
      for (const bool told : {false, true}) {
        SCOPED_TRACE(::testing::Message() << step_ns << " at " << at << " told " << told);
        std::vector<ToldBreak> breaks;
        if (told) breaks.push_back({arrivals.pairs[at].counter, arrivals.pairs[at].device_ns});
        auto fit = FitClock(thinner, {}, breaks);
        ASSERT_TRUE(fit);
        ASSERT_EQ(fit->breaks.size(), 1u);
        const ClockBreak& found = fit->breaks[0];
        if (!told) {
          std::vector<ClockPair> between;
          for (const ClockPair& pair : arrivals.pairs)
            if (found.counter_before < pair.counter && pair.counter <= found.counter)
              between.push_back(pair);
          LocateBreak(between, 0, &*fit);
        }
        EXPECT_EQ(found.counter, arrivals.pairs[at].counter);
        EXPECT_EQ(found.device_ns, arrivals.pairs[at].device_ns);
        const auto errors = AlignmentErrors(fit->map, arrivals, planted.least_delay_ns);
        EXPECT_LE(*std::max_element(errors.begin(), errors.end()), 50e3);
        for (size_t i = 1; i < fit->map.segments.size(); ++i)
          EXPECT_EQ(fit->map.segments[i - 1].device_end_ns, fit->map.segments[i].device_begin_ns);
      }
    }
  }
}

TEST(ClockFitTest, AStallThatEndsInABurstMovesNothing) {
  PlantedClock planted;
  PlantedArrivals arrivals = Arrivals(planted);
  const int64_t release = arrivals.pairs[10'100].host_ns;  // 200 ms of packets held, then all at
                                                           // once
  for (size_t i = 10'000; i < 10'100; ++i)
    arrivals.pairs[i].host_ns = std::max(arrivals.pairs[i].host_ns, release);
  const auto fit = FitClock(arrivals.pairs);
  ASSERT_TRUE(fit);
  EXPECT_TRUE(fit->breaks.empty());
  EXPECT_LE(P99(AlignmentErrors(fit->map, arrivals, planted.least_delay_ns)), 50e3);
}

// As on a starved machine: for seconds every packet comes late, by an amount that wanders, and then
// in time again. The device's clock did nothing of it.
PlantedArrivals Starved(std::initializer_list<std::pair<double, double>> stretches_s) {
  PlantedArrivals arrivals = Arrivals(PlantedClock());
  for (const auto& [begin, end] : stretches_s) {
    for (ClockPair& pair : arrivals.pairs) {
      const double t = 1e-9 * static_cast<double>(pair.device_ns);
      if (begin <= t && t < end)
        pair.host_ns += 20'000'000 + std::llround(300e6 * std::abs(std::sin(0.7 * (t - begin))));
    }
  }
  return arrivals;
}

TEST(ClockFitTest, LatenessForSecondsThatEndsOnTheOldLineMovesNothing) {
  const PlantedArrivals arrivals = Starved({{9, 13}, {21, 33}, {34, 36.5}, {50, 53}});
  const auto fit = FitClock(arrivals.pairs);
  ASSERT_TRUE(fit);
  EXPECT_THAT(fit->breaks, ::testing::IsEmpty());
  EXPECT_LE(P99(AlignmentErrors(fit->map, arrivals, PlantedClock().least_delay_ns)), 50e3);
}

// How late packets are at a take's beginning: a sender that is starved five times a second and
// catches up, never by more than to `floor_ns`.
struct LateBeginning {
  double seconds;
  double floor_ns, most_ns;
};

PlantedArrivals Late(const LateBeginning& late, PlantedClock planted) {
  PlantedArrivals arrivals = Arrivals(planted);
  std::mt19937_64 rng(planted.seed);
  std::uniform_real_distribution<double> peak_ns(late.floor_ns, late.most_ns);
  double peak = 0, since = -1;
  for (size_t i = 0; i < arrivals.pairs.size(); ++i) {
    ClockPair& pair = arrivals.pairs[i];
    const double t = 1e-9 * static_cast<double>(pair.device_ns);
    if (t < late.seconds) {
      if (since < 0 || t - since > 0.2) {
        peak = peak_ns(rng);
        since = t;
      }
      pair.host_ns += std::llround(std::max(late.floor_ns, peak * (1 - 2.5 * (t - since))));
    }
    if (i > 0) pair.host_ns = std::max(pair.host_ns, arrivals.pairs[i - 1].host_ns);
  }
  return arrivals;
}

// Nobody knows then what on time is until the lateness ends, and its end is no step of the clock:
// by that, times ran backwards, and were claimed to nanoseconds.
TEST(ClockFitTest, LatenessFromTheBeginningIsNoStepOfTheClock) {
  for (const LateBeginning late : {LateBeginning{2.65, 10e6, 170e6},
                                   {1.5, 5e6, 100e6},
                                   {4.0, 20e6, 20e6},
                                   {4.0, 20e6, 25e6}}) {
    for (const int samples_of_a_packet : {1, 20}) {
      for (uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(::testing::Message() << late.seconds << " s of " << late.floor_ns << ", "
                                          << samples_of_a_packet << " a packet, seed " << seed);
        PlantedClock planted;
        planted.rate_hz = 1000;
        planted.seconds = 14;
        planted.seed = seed;
        const PlantedArrivals arrivals = Late(late, planted);
        ClockPairThinner thinner;
        for (size_t i = 0; i < arrivals.pairs.size(); i += static_cast<size_t>(samples_of_a_packet))
          thinner.Add(arrivals.pairs[i], Duration::Milliseconds(samples_of_a_packet - 1));
        const auto fit = FitClock(thinner);
        ASSERT_TRUE(fit);
        EXPECT_THAT(fit->breaks, ::testing::IsEmpty());
        int64_t before = std::numeric_limits<int64_t>::min();
        for (size_t i = 0; i < arrivals.pairs.size(); ++i) {
          const int64_t device = arrivals.pairs[i].device_ns;
          const int64_t host = fit->map.ToHost(device).ns();
          ASSERT_GT(host, before) << "backwards at " << i;
          before = host;
          const double error = std::abs(
              static_cast<double>(host - arrivals.true_host_ns[i] - planted.least_delay_ns));
          ASSERT_LE(error, 1e6) << i;
          ASSERT_LE(error, 50e3 + ClockUncertaintyNs(fit->map, device)) << i;
        }
      }
    }
  }
}

// Late for most of a take: the few packets after it say where the line is, and little more.
TEST(ClockFitTest, LatenessForMostOfATakeIsUncertainty) {
  for (const double seconds : {1.5, 3.0, 6.0}) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      PlantedClock planted;
      planted.rate_hz = 1000;
      planted.seconds = seconds * 1.2;
      planted.seed = seed;
      const PlantedArrivals arrivals = Late({seconds, 10e6, 170e6}, planted);
      ClockPairThinner thinner;
      for (const ClockPair& pair : arrivals.pairs) thinner.Add(pair);
      const auto fit = FitClock(thinner);
      ASSERT_TRUE(fit);
      for (size_t i = 0; i < arrivals.pairs.size(); i += 10) {
        const int64_t device = arrivals.pairs[i].device_ns;
        const double error = std::abs(static_cast<double>(
            fit->map.ToHost(device).ns() - arrivals.true_host_ns[i] - planted.least_delay_ns));
        ASSERT_LE(error, ClockUncertaintyNs(fit->map, device))
            << seconds << " s, seed " << seed << ", " << i;
      }
    }
  }
}

// What packets of 14 s were late by, between `begin_s` and `end_s`.
struct LateStretch {
  const char* name;
  double begin_s, end_s;
};
constexpr LateStretch kLateStretches[] = {
    {"beginning", 0, 4},   {"middle", 5, 9},
    {"end", 10, 15},       {"most, from the beginning", 0, 10},
    {"most", 2, 12},       {"most, to the end", 4, 15},
    {"all but 1 s", 0, 13}};
struct Lateness {
  const char* name;
  double rate_hz;
  double least_ns, most_ns;  // alike: constant; else a sawtooth of 200 ms (a starved sender)
};

// How often, of seeds, the fitted times run backwards, and how often they are off by more than is
// claimed.
struct Wrong {
  int backwards = 0, claims = 0;
};

Wrong WrongFits(const LateStretch& when, const Lateness& how, uint64_t seeds) {
  Wrong wrong;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    PlantedClock planted;
    planted.rate_hz = how.rate_hz;
    planted.seconds = 14;
    planted.seed = seed;
    PlantedArrivals arrivals = Arrivals(planted);
    std::mt19937_64 rng(seed);
    std::uniform_real_distribution<double> peak_ns(how.least_ns, how.most_ns);
    double peak = 0, since = -1;
    ClockPairThinner thinner;
    for (size_t i = 0; i < arrivals.pairs.size(); ++i) {
      ClockPair& pair = arrivals.pairs[i];
      const double t = 1e-9 * static_cast<double>(pair.device_ns);
      if (when.begin_s <= t && t < when.end_s) {
        if (since < 0 || t - since > 0.2) {
          peak = peak_ns(rng);
          since = t;
        }
        pair.host_ns += std::llround(std::max(how.least_ns, peak * (1 - 2.5 * (t - since))));
      }
      if (i > 0) pair.host_ns = std::max(pair.host_ns, arrivals.pairs[i - 1].host_ns);
      thinner.Add(pair);
    }
    const auto fit = FitClock(thinner);
    if (!fit) {
      ADD_FAILURE() << fit.error().message;
      continue;
    }
    bool backwards = false, claim = false;
    int64_t before = std::numeric_limits<int64_t>::min();
    for (size_t i = 0; i < arrivals.pairs.size(); ++i) {
      const int64_t device = arrivals.pairs[i].device_ns;
      const int64_t host = fit->map.ToHost(device).ns();
      backwards |= host <= std::exchange(before, host);
      claim |=
          std::abs(static_cast<double>(host - arrivals.true_host_ns[i] - planted.least_delay_ns)) >
          ClockUncertaintyNs(fit->map, device);
    }
    wrong.backwards += backwards;
    wrong.claims += claim;
  }
  return wrong;
}

// Where nobody can know what is a step of the clock and what is lateness, the claim says so, also
// of lateness of less than a sample's time.
TEST(ClockFitTest, LateWheneverAndHoweverTimesAscendAndTheClaimCoversTheTruth) {
  for (const LateStretch& when : kLateStretches) {
    for (const Lateness& how :
         {Lateness{"0.5 ms", 500, 0.5e6, 0.5e6}, Lateness{"1 ms", 500, 1e6, 1e6},
          Lateness{"1 ms, a sample's time", 1000, 1e6, 1e6}, Lateness{"10 ms", 500, 10e6, 10e6},
          Lateness{"10-170 ms", 500, 10e6, 170e6}, Lateness{"0-60 ms", 500, 0, 60e6}}) {
      SCOPED_TRACE(::testing::Message() << when.name << " late by " << how.name);
      const Wrong wrong = WrongFits(when, how, 12);
      EXPECT_EQ(wrong.backwards, 0);
      EXPECT_EQ(wrong.claims, 0);
    }
  }
}

// A clock that leaves out time steps beyond doubt: its claim stays what it was. One that loses time
// may be late packets; so much is claimed after it, and no less before it.
TEST(ClockFitTest, OnlyAStepThatMayBeLatenessIsClaimedAsUncertainty) {
  for (const int64_t step_ns : {int64_t{-5'000'000}, int64_t{-900'000}, int64_t{5'000'000}}) {
    PlantedArrivals arrivals = Arrivals(PlantedClock());
    const size_t at = arrivals.pairs.size() / 2;
    for (size_t i = at; i < arrivals.pairs.size(); ++i)
      (step_ns < 0 ? arrivals.pairs[i].device_ns : arrivals.pairs[i].host_ns) += std::abs(step_ns);
    const auto fit = FitClock(arrivals.pairs);
    ASSERT_TRUE(fit);
    ASSERT_EQ(fit->breaks.size(), 1u) << step_ns;
    const double before = ClockUncertaintyNs(fit->map, arrivals.pairs[at / 2].device_ns);
    const double after = ClockUncertaintyNs(fit->map, arrivals.pairs[at + at / 2].device_ns);
    EXPECT_LE(before, 50e3) << step_ns;
    if (step_ns < 0) {
      EXPECT_LE(after, 50e3) << step_ns;
    } else {
      EXPECT_NEAR(after, 5e6, 50e3);
    }
  }
}

// As LatenessFromTheBeginning, but the device did leave time out, during the lateness or at its
// end, and told nobody.
TEST(ClockFitTest, AJumpOfTheCounterIsAStepAlsoWhereLatenessEnds) {
  for (const double jump_at_s : {8.0, 9.5, 12.0}) {
    PlantedClock planted;
    planted.rate_hz = 1000;
    planted.seconds = 30;
    PlantedArrivals arrivals = Arrivals(planted);
    for (size_t i = 0; i < arrivals.pairs.size(); ++i) {
      ClockPair& pair = arrivals.pairs[i];
      const double t = 1e-9 * static_cast<double>(pair.device_ns);
      if (8 <= t && t < 12) pair.host_ns += 60'000'000;
      if (i > 0) pair.host_ns = std::max(pair.host_ns, arrivals.pairs[i - 1].host_ns);
      if (t >= jump_at_s) {
        pair.device_ns += 30'000'000;
        pair.counter += 30;
      }
    }
    ClockPairThinner thinner(Duration::Milliseconds(20), 512, ClockPairThinner::WhenFull::kCoarsen);
    for (const ClockPair& pair : arrivals.pairs) thinner.Add(pair);
    for (const bool thinned : {false, true}) {
      SCOPED_TRACE(::testing::Message() << jump_at_s << " thinned " << thinned);
      const auto fit = thinned ? FitClock(thinner) : FitClock(arrivals.pairs);
      ASSERT_TRUE(fit);
      ASSERT_EQ(fit->breaks.size(), 1u);
      EXPECT_NEAR(static_cast<double>(fit->breaks[0].step_ns), -30e6, 50e3);
      // At its jump, also when packets were late before it; of thinned pairs in its slice.
      EXPECT_NEAR(1e-9 * static_cast<double>(fit->breaks[0].device_ns), jump_at_s + 0.03,
                  thinned ? 0.1 : 0.003);
    }
  }
}

TEST(ClockFitTest, AStepIsFoundAmongLatenessAndAToldBreakIsNeverTakenBack) {
  const PlantedClock planted;
  for (const int64_t step_ns : {int64_t{-2'000'000}, int64_t{2'000'000}, int64_t{40'000'000}}) {
    PlantedArrivals arrivals = Starved({{9, 13}, {40, 44}});
    for (size_t i = 12'500; i < arrivals.pairs.size(); ++i) {  // at 25 s
      if (step_ns < 0) {                                       // it gains time by leaving some out
        arrivals.pairs[i].device_ns -= step_ns;
        continue;
      }
      arrivals.pairs[i].host_ns += step_ns;
      arrivals.true_host_ns[i] += step_ns;
    }
    const auto fit = FitClock(arrivals.pairs);
    ASSERT_TRUE(fit);
    ASSERT_EQ(fit->breaks.size(), 1u) << step_ns;
    EXPECT_NEAR(static_cast<double>(fit->breaks[0].counter), 12'500, 3) << step_ns;
    EXPECT_LE(P99(AlignmentErrors(fit->map, arrivals, planted.least_delay_ns)), 50e3) << step_ns;
  }
  // Two steps that do not cancel are two, however late what lies between them looks.
  PlantedArrivals twice = Arrivals(planted);
  for (size_t i = 5'000; i < twice.pairs.size(); ++i) {
    const int64_t step_ns = i < 25'000 ? 5'000'000 : 8'000'000;
    twice.pairs[i].host_ns += step_ns;
    twice.true_host_ns[i] += step_ns;
  }
  EXPECT_EQ(FitClock(twice.pairs)->breaks.size(), 2u);
  // A device that says it was restarted was, even when it comes back on the old line.
  const PlantedArrivals late = Starved({{20, 30}});
  const ToldBreak told[] = {{15'000, late.pairs[15'000].device_ns}};
  const auto fit = FitClock(late.pairs, {}, told);
  ASSERT_TRUE(fit);
  EXPECT_EQ(std::count_if(fit->breaks.begin(), fit->breaks.end(),
                          [](const ClockBreak& b) { return b.told; }),
            1);
}

TEST(ClockFitTest, ALongTakeFollowsACrystalThatWarmsUp) {
  PlantedClock planted;
  planted.seconds = 610;
  PlantedArrivals arrivals = Arrivals(planted);
  for (size_t i = 0; i < arrivals.pairs.size(); ++i) {
    const double t = static_cast<double>(arrivals.pairs[i].device_ns) * 1e-9;
    const int64_t wander = std::llround(1e9 * 0.5e-6 * t * t / 600.0);  // the rate drifts by 1 ppm
                                                                        // over the take
    arrivals.pairs[i].host_ns += wander;
    arrivals.true_host_ns[i] += wander;
  }
  const auto fit = FitClock(arrivals.pairs);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->map.segments.size(), 5u);
  EXPECT_TRUE(fit->breaks.empty());
  EXPECT_LE(P99(AlignmentErrors(fit->map, arrivals, planted.least_delay_ns)), 50e3);
  // Continuous where pieces join.
  for (size_t i = 1; i < fit->map.segments.size(); ++i) {
    const int64_t at = fit->map.segments[i].device_begin_ns;
    EXPECT_LE(std::abs(fit->map.ToHost(at).ns() - fit->map.ToHost(at - 1).ns()), 3);
  }
}

// Held for `hold_s` at `at_s`, then everything within `burst_ns` a packet.
PlantedArrivals Held(PlantedClock planted, double at_s, double hold_s, int64_t burst_ns) {
  PlantedArrivals arrivals = Arrivals(planted);
  const auto from = static_cast<size_t>(at_s * planted.rate_hz);
  const auto to = static_cast<size_t>((at_s + hold_s) * planted.rate_hz);
  const int64_t release = arrivals.pairs[to].host_ns;
  for (size_t i = from; i < arrivals.pairs.size(); ++i) {
    arrivals.pairs[i].host_ns =
        std::max(arrivals.pairs[i].host_ns, release + burst_ns * static_cast<int64_t>(i - from));
  }
  return arrivals;
}

TEST(ClockFitTest, ABacklogMovesNothingAndItsLatenessIsNoUncertainty) {
  for (const double rate_hz : {500.0, 7000.0}) {
    for (const double hold_s : {0.3, 0.7, 1.0, 3.0}) {
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        PlantedClock planted;
        planted.rate_hz = rate_hz;
        planted.seconds = 10;
        planted.seed = seed;
        const PlantedArrivals arrivals = Held(planted, 3.0, hold_s, 20'000);
        ClockPairThinner thinner;
        for (const ClockPair& pair : arrivals.pairs) thinner.Add(pair);
        const auto fit = FitClock(thinner.pairs());
        ASSERT_TRUE(fit);
        EXPECT_TRUE(fit->breaks.empty()) << hold_s;
        const std::vector<double> errors =
            AlignmentErrors(fit->map, arrivals, planted.least_delay_ns);
        EXPECT_LE(P99(errors), 50e3);
        for (size_t i = 0; i < errors.size(); i += errors.size() / 7) {
          const double claimed = ClockUncertaintyNs(fit->map, arrivals.pairs[i].device_ns);
          EXPECT_LE(errors[i], claimed) << rate_hz << " Hz, " << hold_s << " s, seed " << seed;
          EXPECT_LE(claimed, 100e3) << rate_hz << " Hz, " << hold_s << " s, seed " << seed;
        }
      }
    }
  }
}

// Half a second of packets says so little of the rate that the line is often held at the largest
// one; a moment in which the machine read nothing, and every packet of a slice is late, is no
// evidence then either: of a clock at the wrong rate most packets would be.
TEST(ClockFitTest, ALateMomentOfAShortTakeIsNoClockAtTheWrongRate) {
  int held = 0;
  for (const double late_s : {0.0, 0.2, 0.48}) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      PlantedClock planted;
      planted.seconds = 0.53;
      planted.jitter_median_ns = 500e3;  // a machine that is busy
      planted.jitter_p99_ns = 3e6;
      planted.seed = seed;
      PlantedArrivals arrivals = Arrivals(planted);
      for (ClockPair& pair : arrivals.pairs) {  // 30 ms of packets that come 6 ms after the last
        const double t = 1e-9 * static_cast<double>(pair.device_ns);
        if (late_s <= t && t < late_s + 0.03)
          pair.host_ns += std::llround(1e9 * (late_s + 0.036 - t));
      }
      ClockPairThinner thinner;
      for (const ClockPair& pair : arrivals.pairs) thinner.Add(pair);
      const auto fit = FitClock(thinner.pairs());
      ASSERT_TRUE(fit);
      held += std::abs(fit->map.segments[0].rate_error) >= 300e-6;
      for (size_t i = 0; i < arrivals.pairs.size(); ++i) {
        const int64_t device = arrivals.pairs[i].device_ns;
        const double error = std::abs(static_cast<double>(
            fit->map.ToHost(device).ns() - arrivals.true_host_ns[i] - planted.least_delay_ns));
        ASSERT_LE(error, ClockUncertaintyNs(fit->map, device)) << seed << ", " << i;
        ASSERT_LE(ClockUncertaintyNs(fit->map, device), 2e6) << late_s << " s, seed " << seed;
      }
    }
  }
  EXPECT_GT(held, 5) << "no line was held: nothing was tested";
}

// A device that came back just before a fit: its few packets say little, the first of them is late,
// and the map may have to serve for long (a recorder that is killed then).
TEST(ClockFitTest, TheQualityNumberCoversTheTruthOfASegmentOfAFewPackets) {
  for (const int count : {2, 3, 4, 10, 40}) {
    for (const int64_t first_late_ns : {int64_t{0}, int64_t{300'000}, int64_t{1'000'000}}) {
      for (uint64_t seed = 1; seed <= 20; ++seed) {
        PlantedClock planted;
        planted.seed = seed;
        planted.rate_hz = 50;  // thinned pairs lie 20 ms apart
        planted.seconds = 30;
        PlantedArrivals arrivals = Arrivals(planted);
        const size_t back = 1000;
        arrivals.pairs[back].host_ns += first_late_ns;
        const ToldBreak told[] = {{arrivals.pairs[back].counter, arrivals.pairs[back].device_ns}};
        const auto fit =
            FitClock(std::span(arrivals.pairs).first(back + static_cast<size_t>(count)), {}, told);
        ASSERT_TRUE(fit);
        EXPECT_LE(std::abs(fit->map.segments.back().rate_error), 300e-6);
        for (size_t i = back; i < arrivals.pairs.size(); ++i) {
          const int64_t device = arrivals.pairs[i].device_ns;
          const double error = std::abs(static_cast<double>(
              fit->map.ToHost(device).ns() - arrivals.true_host_ns[i] - planted.least_delay_ns));
          ASSERT_LE(error, ClockUncertaintyNs(fit->map, device))
              << count << " pairs, first late by " << first_late_ns << ", seed " << seed << ", "
              << i - back;
        }
      }
    }
  }
}

// 300 s away, told by nobody (the counter goes on), and the crystal 1 ppm warmer after it.
TEST(ClockFitTest, PiecesAreNotBentOverAnOutage) {
  PlantedClock planted;
  planted.rate_hz = 50;
  planted.seconds = 540;
  PlantedArrivals all = Arrivals(planted), arrivals;
  for (size_t i = 0; i < all.pairs.size(); ++i) {
    const double t = 1e-9 * static_cast<double>(all.pairs[i].device_ns);
    const auto wander = std::llround(1e3 * std::max(0.0, t - 120));
    all.pairs[i].host_ns += wander;
    all.true_host_ns[i] += wander;
    if (t > 120 && t < 420) continue;
    arrivals.pairs.push_back(all.pairs[i]);
    arrivals.true_host_ns.push_back(all.true_host_ns[i]);
  }
  const auto fit = FitClock(arrivals.pairs);
  ASSERT_TRUE(fit);
  EXPECT_TRUE(fit->breaks.empty());
  const std::vector<double> errors = AlignmentErrors(fit->map, arrivals, planted.least_delay_ns);
  EXPECT_LE(*std::max_element(errors.begin(), errors.end()), 20e3);
  const std::vector<double> everywhere = AlignmentErrors(fit->map, all, planted.least_delay_ns);
  for (size_t i = 0; i < everywhere.size(); i += 100)
    EXPECT_LE(everywhere[i], ClockUncertaintyNs(fit->map, all.pairs[i].device_ns)) << i;
  for (size_t i = 1; i < fit->map.segments.size(); ++i) {
    const int64_t at = fit->map.segments[i].device_begin_ns;
    EXPECT_LE(std::abs(fit->map.ToHost(at).ns() - fit->map.ToHost(at - 1).ns()), 3);
  }
}

TEST(ClockFitTest, WhatDoesNotDetermineARateIsRefused) {
  EXPECT_EQ(FitClock(std::span<const ClockPair>()).error().code, ErrorCode::kUnidentifiable);
  const ClockPair one{5, 10'000'000, 77, 0};
  EXPECT_EQ(FitClock({&one, 1}).error().code, ErrorCode::kUnidentifiable);
  const ClockPair same[] = {one, one, one};
  EXPECT_EQ(FitClock(same).error().code, ErrorCode::kUnidentifiable);
  const ClockPair back[] = {one, {4, 8'000'000, 78, 0}};
  EXPECT_EQ(FitClock(back).error().code, ErrorCode::kInvalid);
}

TEST(ClockFitTest, ReportedLatencyIsTakenOffTheArrival) {
  PlantedClock planted;
  planted.seconds = 10;
  PlantedArrivals arrivals = Arrivals(planted);
  for (ClockPair& pair : arrivals.pairs) {
    pair.latency_ns = 4'000'000 + (pair.counter % 3) * 500'000;  // the device says how late each
                                                                 // packet is
    pair.host_ns += pair.latency_ns;
  }
  const auto fit = FitClock(arrivals.pairs);
  ASSERT_TRUE(fit);
  EXPECT_LE(P99(AlignmentErrors(fit->map, arrivals, planted.least_delay_ns)), 50e3);
}

TEST(ClockPairThinnerTest, KnowsTheMostThatIsMissingBetweenKeptPairs) {
  for (const size_t gap_at : {size_t{3'007}, size_t{3'999}, size_t{17'003}}) {
    ClockPairThinner thinner(Duration::Milliseconds(20), 64, ClockPairThinner::WhenFull::kCoarsen);
    PlantedClock planted;
    planted.rate_hz = 1000;
    planted.seconds = 20;
    const PlantedArrivals arrivals = Arrivals(planted);
    for (size_t i = 0; i < arrivals.pairs.size(); i += 2) {
      ClockPair pair = arrivals.pairs[i];
      if (i >= gap_at) pair.device_ns += 7'000'000;
      thinner.Add(pair, Duration::Milliseconds(1));
    }
    ASSERT_LE(thinner.pairs().size(), 128u);
    ASSERT_EQ(thinner.steps_ns().size(), thinner.pairs().size());
    int gaps = 0;
    for (size_t i = 1; i < thinner.pairs().size(); ++i) {
      const bool holds = thinner.pairs()[i - 1].counter < static_cast<int64_t>(gap_at) &&
                         static_cast<int64_t>(gap_at) <= thinner.pairs()[i].counter;
      EXPECT_EQ(thinner.steps_ns()[i], holds ? 8'000'000 : 1'000'000) << i;
      gaps += holds;
    }
    EXPECT_EQ(gaps, 1);
  }
}

TEST(ClockPairThinnerTest, KeepsTheLeastLateOfEachSliceInBoundedMemory) {
  PlantedClock planted;
  planted.rate_hz = 7000;
  const PlantedArrivals arrivals = Arrivals(planted);
  ClockPairThinner thinner(Duration::Milliseconds(20), 1000);
  for (const ClockPair& pair : arrivals.pairs) thinner.Add(pair);
  EXPECT_EQ(thinner.added(), static_cast<int64_t>(arrivals.pairs.size()));
  EXPECT_LE(thinner.pairs().size(), 2000u);
  EXPECT_GE(thinner.pairs().size(), 1000u);
  EXPECT_EQ(thinner.pairs().back().counter / 140, arrivals.pairs.back().counter / 140);
  const auto fit = FitClock(thinner.pairs());
  ASSERT_TRUE(fit);
  const std::vector<double> errors = AlignmentErrors(fit->map, arrivals, planted.least_delay_ns);
  EXPECT_LE(errors.back(), 50e3);
}

// A device that starts anew three times within 20 ms: each time is told, and has a segment of its
// own, also when the slices have become long.
TEST(ClockPairThinnerTest, ToldBreaksOfOneSliceEachHaveASegment) {
  for (const size_t capacity : {size_t{4096}, size_t{64}}) {
    PlantedClock planted;
    planted.rate_hz = 1000;
    planted.seconds = 40;
    PlantedArrivals arrivals = Arrivals(planted);
    ClockPairThinner thinner(Duration::Milliseconds(20), capacity,
                             ClockPairThinner::WhenFull::kCoarsen);
    std::vector<ToldBreak> told;
    for (const size_t at : {20'003u, 20'008u, 20'015u}) {
      for (size_t i = at; i < arrivals.pairs.size(); ++i) {
        arrivals.pairs[i].host_ns += 5'000'000;
        arrivals.true_host_ns[i] += 5'000'000;
      }
      told.push_back({arrivals.pairs[at].counter, arrivals.pairs[at].device_ns});
    }
    for (const ClockPair& pair : arrivals.pairs) {
      for (const ToldBreak& b : told)
        if (b.counter == pair.counter) thinner.Break(b.counter);
      thinner.Add(pair);
    }
    ASSERT_LE(thinner.pairs().size(), 2 * capacity);
    const auto fit = FitClock(thinner.pairs(), {}, told);
    ASSERT_TRUE(fit);
    ASSERT_EQ(fit->breaks.size(), 3u) << capacity;
    const auto errors = AlignmentErrors(fit->map, arrivals, planted.least_delay_ns);
    // A segment of a few packets is as good as the least late of them.
    EXPECT_LE(*std::max_element(errors.begin(), errors.end()), 400e3) << capacity;
  }
}

}  // namespace
}  // namespace handhold::capture::clock_fit_test

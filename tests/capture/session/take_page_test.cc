#include "capture/session/take_page.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include "capture/clock/clock_fit.h"
#include "capture/session/health_board.h"
#include "tests/support/scripted_source.h"

namespace handhold::capture::take_page_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TakeResult Take() {
  TakeResult take;
  take.info.name = "stroke_007";
  take.path = "/lab/clips/x.clip";
  take.length = Duration::Seconds(61);
  take.closed = true;
  take.quality.advice = "Keep it.";
  return take;
}

std::string Page(const TakeResult& take, StreamFigures figures = {}) {
  TakePageInput input;
  input.take = &take;
  input.streams = {testing::ForceStream("plate/wrench", 1000)};
  input.streams[0].id = 1;
  figures.stream = "plate/wrench";
  input.figures = {figures};
  return TakePage(input);
}

TEST(TakePageTest, TheVerdictComesFirst) {
  TakeResult take = Take();
  EXPECT_THAT(Page(take), StartsWith("KEEP  stroke_007  61.0 s"));
  EXPECT_THAT(Page(take), HasSubstr("no gaps"));
  EXPECT_THAT(Page(take), HasSubstr("nothing was red"));
  take.quality.keep = false;
  take.quality.advice = "Record it again if you can: plate/wrench has no samples.";
  EXPECT_THAT(Page(take), StartsWith("DO NOT RELY ON  stroke_007"));
  EXPECT_THAT(Page(take), HasSubstr("plate/wrench has no samples"));
  take.closed = false;
  EXPECT_THAT(Page(take), HasSubstr("not yet compacted"));
}

TEST(TakePageTest, ThousandsOfGapsStayOnOnePageLongestFirst) {
  TakeResult take = Take();
  for (int k = 0; k < 5000; ++k) {
    const auto at = Timestamp::FromSeconds(0.01 * k);
    take.gaps.push_back({1, 10 * k, 1, recording::GapCause::kNetworkLoss, at,
                         at + Duration::Milliseconds(k == 4321 ? 900 : 1)});
  }
  take.gaps.push_back({1, 70'000, 30, recording::GapCause::kRingOverflow,
                       Timestamp::FromSeconds(60), Timestamp::FromSeconds(60.03)});
  const std::string page = Page(take);
  EXPECT_LE(std::count(page.begin(), page.end(), '\n'), 60);
  EXPECT_THAT(page, HasSubstr("5000 x network loss (5000 samples)"));
  EXPECT_THAT(page, HasSubstr("1 x ring overflow (30 samples)"));
  EXPECT_THAT(page, HasSubstr("at    43.210 s for   0.900 s"));
  EXPECT_THAT(page, HasSubstr("and 4989 shorter ones"));
  EXPECT_LT(page.find("0.900 s"), page.find("0.030 s"));
}

TEST(TakePageTest, WhatWasRedIsExplained) {
  TakeResult take = Take();
  recording::QualityItem item;
  item.stream = "plate/wrench";
  item.what = "saturated_samples";
  item.worst = 12;
  item.red = true;
  item.cause = "the sensor was loaded beyond its range";
  take.quality.items = {item, {}};
  EXPECT_THAT(Page(take), HasSubstr("plate/wrench saturated_samples: worst 12, limit 0"));
  EXPECT_THAT(Page(take), HasSubstr("beyond its range"));
  EXPECT_THAT(Page(take), Not(HasSubstr("nothing was red")));
}

// One outage: every stream of both devices, three figures each.
TEST(TakePageTest, WhatOneCauseMadeRedInManyStreamsIsOneEntryADevice) {
  TakeResult take = Take();
  for (const char* what : {"last_sample_age_s", "jitter_p99_s", "lost_samples"}) {
    for (int k = 0; k < 12; ++k) {
      recording::QualityItem item;
      item.stream = (k < 2 ? "plate/" : "vicon/") + std::to_string(k);
      item.what = what;
      item.worst = 100.0 + (k == 7 ? 50 : k);
      item.threshold = 1;
      item.red = true;
      item.acknowledged = k != 3;
      item.clip_first_red = Timestamp::FromSeconds(20 - k);
      item.cause = "nothing received";
      take.quality.items.push_back(item);
    }
  }
  const std::string page = Page(take);
  EXPECT_LE(std::count(page.begin(), page.end(), '\n'), 30) << page;
  EXPECT_THAT(page, HasSubstr("  plate (2 streams) lost_samples: worst 101, limit 1, first at "
                              "19.0 s (acknowledged)\n    nothing received\n"));
  EXPECT_THAT(page, HasSubstr("  vicon (10 streams) lost_samples: worst 150, limit 1, first at "
                              "9.0 s\n    nothing received\n"));
}

TEST(TakePageTest, ARestartAndABufferThatWasNotGrantedAreSaidWithTheFix) {
  const TakeResult take = Take();
  TakePageInput input;
  input.take = &take;
  SourceHealth health;
  health.receive_buffer_asked = 8 << 20;
  health.receive_buffer_bytes = 16 << 20;
  input.sources = {{"plate", health}};
  EXPECT_THAT(TakePage(input), Not(HasSubstr("plate:")));
  input.sources[0].second.receive_buffer_bytes = 425'984;
  input.sources[0].second.clock_resets = 1;
  EXPECT_THAT(TakePage(input), HasSubstr("plate: granted 416 KiB of a receive buffer of 8192 KiB: "
                                         "sysctl -w net.core.rmem_max=8388608"));
  EXPECT_THAT(TakePage(input), HasSubstr("plate: was restarted 1 time(s)\n"));
  input.sources[0].second.keeps_zero = true;
  EXPECT_THAT(TakePage(input), HasSubstr("plate: was restarted 1 time(s): a zero that it kept"));
  input.sources[0].second.clock_resets = 4011;
  EXPECT_THAT(TakePage(input), HasSubstr("plate: its counter began anew 4011 times: no device is"));
}

// As the report's page says it: + is a device clock that runs fast, and one standard deviation.
TEST(TakePageTest, AFastClockIsPlusAndItsOffsetIsKnownToOneStandardDeviation) {
  const TakeResult take = Take();
  TakePageInput input;
  input.take = &take;
  recording::ClockSegment segment;
  segment.rate_error = 1 / (1 + 40e-6) - 1;  // host seconds per device second, less 1
  segment.offset_sd_ns = 26'500;
  segment.residual_p99_ns = 162'000;
  segment.pair_count = 100;
  decltype(input.clocks)::value_type clock;
  clock.stream = "vicon/markers";
  clock.map.segments = {segment};
  input.clocks = {clock};
  EXPECT_THAT(TakePage(input),
              HasSubstr("+40.00 ppm, offset known to 26.5 us (sd; p99 lateness 162 us)"));
  input.clocks[0].map.segments[0].rate_error = 1 / (1 - 25e-6) - 1;
  EXPECT_THAT(TakePage(input), HasSubstr("-25.00 ppm"));
}

TEST(HealthBoardTest, TheWorstRateIsTheFarthestOnEitherSideWithItsLimitAndCause) {
  for (const auto& [rates_Hz, worst_Hz, limit_Hz] :
       {std::tuple(std::vector{500.0, 499.9, 432.1, 470.0, 500.023, 506.0}, 432.1, 495.0),
        std::tuple(std::vector{499.9, 493.0, 540.0, 499.8, 520.0, 500.01}, 540.0, 505.0)}) {
    HealthBoard board({});
    StreamFigures figures;
    figures.stream = "vicon/markers";
    figures.nominal_Hz = 500;
    figures.rate_known = true;
    for (const double rate_Hz : rates_Hz) {
      figures.rate_Hz = rate_Hz;
      board.JudgeStream(figures, 0, Timestamp::FromSeconds(6));
    }
    const std::vector<recording::QualityItem> items = board.items();
    const auto rate = std::find_if(items.begin(), items.end(),
                                   [](const auto& item) { return item.what == "rate_Hz"; });
    ASSERT_NE(rate, items.end());
    EXPECT_EQ(rate->worst, worst_Hz);
    EXPECT_EQ(rate->value, rates_Hz.back());
    EXPECT_NEAR(rate->threshold, limit_Hz, 1e-9);
    EXPECT_TRUE(rate->red);
    EXPECT_THAT(rate->cause, HasSubstr(worst_Hz < 500 ? "at 432.1 Hz" : "at 540 Hz"));
  }
}

TEST(TakePageTest, RealTimeThatWasNotGrantedIsSaidOnceWithTheFix) {
  const TakeResult take = Take();
  TakePageInput input;
  input.take = &take;
  SourceHealth granted, not_granted, never_asked;
  granted.real_time_asked = granted.real_time = not_granted.real_time_asked = true;
  input.sources = {{"plate", granted}, {"past", never_asked}};
  EXPECT_THAT(TakePage(input), Not(HasSubstr("real-time")));
  input.sources.emplace_back("vicon", not_granted);
  input.sources.emplace_back("wrist", not_granted);
  EXPECT_THAT(TakePage(input), HasSubstr("real-time scheduling not granted to vicon, wrist: "));
  EXPECT_THAT(TakePage(input), HasSubstr("rtprio 10"));
}

TEST(TakePageTest, WhatIsVisibleIsOfTheWholeTake) {
  StreamFigures figures;
  figures.has_markers = true;
  figures.visible_fraction = 1.0;
  figures.visible_in_all_fraction = 0.42;
  EXPECT_THAT(Page(Take(), figures), HasSubstr(" 42 % "));
}

TEST(HealthBoardTest, WhatIsCountedTurnsRedAgainWhenThereIsMoreThanWasAcknowledged) {
  HealthBoard board({});
  StreamFigures figures;
  figures.stream = "plate/wrench";
  figures.has_forces = true;
  const auto shown = [&](int64_t lost, int64_t saturated) {
    figures.lost_samples = lost;
    figures.saturated_samples = saturated;
    board.JudgeStream(figures, 0, Timestamp::FromSeconds(static_cast<double>(lost)));
    std::vector<bool> out;
    for (const recording::QualityItem& item : board.items())
      if (item.red) out.push_back(!item.acknowledged);
    return out;
  };
  EXPECT_EQ(shown(3, 2), (std::vector{true, true}));
  board.Acknowledge();
  EXPECT_EQ(shown(3, 2), (std::vector{false, false})) << "nothing new";
  EXPECT_EQ(shown(4, 2), (std::vector{true, false}));
  board.Acknowledge();
  EXPECT_EQ(shown(4, 5), (std::vector{false, true}));
  board.Acknowledge();
  EXPECT_EQ(shown(4, 5), (std::vector{false, false}));
  EXPECT_EQ(board.items()[0].clip_first_red, Timestamp::FromSeconds(3)) << "the first time";
}

TEST(JudgeTakeTest, TimesThatCannotBeTrustedAreNothingToKeep) {
  const auto segment = [](double begin_s, double sd_us, double ppm) {
    recording::ClockSegment s;
    s.host_begin_ns = static_cast<int64_t>(1e9 * begin_s);
    s.offset_sd_ns = 1e3 * sd_us;
    s.rate_error = 1e-6 * ppm;
    s.pair_count = 100;
    return s;
  };
  const auto judged = [](const recording::ClockMap& map) {
    return JudgeTake({}, {}, std::vector<JudgedClock>{{"plate/wrench", map}},
                     Duration::Seconds(100));
  };
  recording::ClockMap map;
  map.segments = {segment(0, 10, 40)};
  EXPECT_TRUE(judged(map).keep);
  // A packet or two before a restart: uncertain, and next to nothing.
  map.segments = {segment(0, 10, 40), segment(50, 4e5, 0), segment(50.1, 10, 40)};
  EXPECT_TRUE(judged(map).keep);
  EXPECT_NEAR(UntrustedShare(map, Duration::Seconds(100)), 1e-3, 1e-9);
  map.segments = {segment(0, 10, 40), segment(50, 3e3, 0)};
  EXPECT_FALSE(judged(map).keep);
  EXPECT_THAT(judged(map).advice, HasSubstr("plate/wrench cannot be trusted in 50 %"));
  map.segments = {segment(0, 10, 4679219)};
  EXPECT_FALSE(judged(map).keep);
  map.segments = {segment(0, std::nan(""), 0)};
  EXPECT_FALSE(judged(map).keep);
  // One packet before a restart 30 s later costs a second; a bridge over an outage costs nothing.
  map.segments = {segment(0, 10, 40), segment(20, 400, 0), segment(50, 10, 40)};
  map.segments[1].pair_count = 1;
  EXPECT_NEAR(UntrustedShare(map, Duration::Seconds(100)), 1e-2, 1e-9);
  map.segments[1] = segment(20, 3e4, 0);
  map.segments[1].pair_count = 0;
  EXPECT_EQ(UntrustedShare(map, Duration::Seconds(100)), 0.0);
  EXPECT_TRUE(judged({}).keep) << "a stream that came in no packets is judged by its samples";
}

// A device that samples 5 % faster or slower than it says: what its arrivals are fitted to must
// not pass for a clock.
TEST(JudgeTakeTest, AClockAtTheWrongRateIsNothingToKeep) {
  for (const int64_t host_step_ns : {10'000'000, 19'000'000, 21'000'000, 40'000'000}) {
    std::vector<recording::ClockPair> pairs;
    for (int64_t i = 0; i < 500; ++i) pairs.push_back({i, 20'000'000 * i, host_step_ns * i, 0});
    const auto fit = FitClock(pairs);
    ASSERT_TRUE(fit) << fit.error().message;
    for (const recording::ClockPair& pair : pairs) {
      const double error =
          std::abs(static_cast<double>(fit->map.ToHost(pair.device_ns).ns() - pair.host_ns));
      ASSERT_LE(error, ClockUncertaintyNs(fit->map, pair.device_ns))
          << host_step_ns << ", pair " << pair.counter;
    }
    const Duration length = Duration::Nanoseconds(500 * host_step_ns);
    const auto quality =
        JudgeTake({}, {}, std::vector<JudgedClock>{{"vicon/markers", fit->map}}, length);
    EXPECT_FALSE(quality.keep) << host_step_ns << ", " << UntrustedShare(fit->map, length);
  }
}

TEST(JudgeTakeTest, KeepsWhatIsGoodAndSaysWhyNot) {
  StreamFigures good;
  good.stream = "vicon/markers";
  good.samples = 10'000;
  StreamFigures some = good;
  some.lost_samples = 400;
  StreamFigures much = good;
  much.lost_samples = 600;
  StreamFigures none = good;
  none.samples = 0;
  recording::QualityItem red;
  red.stream = "vicon/markers";
  red.what = "lost_samples";
  red.red = true;
  const auto judged = [](std::vector<recording::QualityItem> items, const StreamFigures& figures) {
    return JudgeTake(std::move(items), std::vector{figures}, {}, {});
  };
  EXPECT_EQ(judged({}, good).advice, "Keep it.");
  EXPECT_TRUE(judged({red}, some).keep);
  EXPECT_THAT(judged({red}, some).advice, HasSubstr("look at what was red"));
  EXPECT_FALSE(judged({red}, much).keep);
  EXPECT_THAT(judged({red}, much).advice, HasSubstr("lost 5.66 %"));
  EXPECT_THAT(judged({}, none).advice, HasSubstr("has no samples"));
  recording::QualityItem silent;
  silent.stream = "plate/wrench";
  silent.what = "last_sample_age_s";
  silent.red = true;
  silent.value = 3;
  silent.threshold = 0.5;
  EXPECT_FALSE(judged({silent}, good).keep);
  silent.value = 0.01;
  EXPECT_TRUE(judged({silent}, good).keep);
}

// Not the first in the list: the one that lost most. What is optional comes after it.
TEST(JudgeTakeTest, TheWorstRequiredStreamIsNamedFirst) {
  std::vector<StreamFigures> figures(4);
  const std::tuple<const char*, int64_t, bool> made[] = {{"vicon/markers", 600, true},
                                                         {"camera/points", 9'000, false},
                                                         {"plate/wrench", 3'800, true},
                                                         {"wall/wrench", 700, true}};
  for (size_t i = 0; i < 4; ++i) {
    figures[i].stream = std::get<0>(made[i]);
    figures[i].lost_samples = std::get<1>(made[i]);
    figures[i].samples = 10'000 - std::get<1>(made[i]);
    figures[i].required = std::get<2>(made[i]);
  }
  EXPECT_THAT(JudgeTake({}, figures, {}, Duration::Seconds(10)).advice,
              StartsWith("Record it again if you can: plate/wrench lost 38 % of its samples."));
  figures[3].samples = 0;
  EXPECT_THAT(JudgeTake({}, figures, {}, Duration::Seconds(10)).advice,
              StartsWith("Record it again if you can: wall/wrench has no samples."));
}

// A stream that the rig does not require: what is wrong with it is said, and condemns nothing.
TEST(JudgeTakeTest, AnOptionalStreamIsSaidAndCondemnsNothing) {
  StreamFigures markers, camera;
  markers.stream = "vicon/markers";
  markers.samples = 10'000;
  camera.stream = "camera/points";
  camera.samples = 100, camera.lost_samples = 9'900;
  recording::QualityItem silent;
  silent.stream = "camera/points";
  silent.what = "last_sample_age_s";
  silent.red = true;
  silent.value = 3, silent.threshold = 0.5;
  recording::ClockMap map;
  map.segments.resize(1);
  map.segments[0].pair_count = 100;
  map.segments[0].offset_sd_ns = 1e9;
  for (const bool required : {true, false}) {
    camera.required = required;
    const auto lost =
        JudgeTake({silent}, std::vector{markers, camera},
                  std::vector<JudgedClock>{{"camera/points", map, required}}, Duration::Seconds(9));
    EXPECT_EQ(lost.keep, !required);
    EXPECT_EQ(lost.advice,
              required ? "Record it again if you can: camera/points lost 99 % of its samples."
                       : "Keep it: what is required is there. Optional: camera/points lost 99 % of "
                         "its samples.");
    camera.lost_samples = 0;
    const auto ended = JudgeTake({silent}, std::vector{markers, camera}, {}, {});
    EXPECT_EQ(ended.keep, !required);
    EXPECT_THAT(ended.advice, HasSubstr("camera/points was silent when the take ended"));
    const auto untrusted =
        JudgeTake({}, std::vector{markers, camera},
                  std::vector<JudgedClock>{{"camera/points", map, required}}, Duration::Seconds(9));
    EXPECT_EQ(untrusted.keep, !required);
    EXPECT_THAT(untrusted.advice, HasSubstr("camera/points cannot be trusted in 100 %"));
    camera.lost_samples = 9'900;
  }
  // Both: the required one decides, and the other is said too.
  markers.lost_samples = 9'000;
  const auto both = JudgeTake({}, std::vector{markers, camera}, {}, {});
  EXPECT_FALSE(both.keep);
  EXPECT_THAT(both.advice, AllOf(HasSubstr("again if you can: vicon/markers lost"),
                                 HasSubstr("Optional: camera/points lost")));
}

}  // namespace
}  // namespace handhold::capture::take_page_test

// Rehearsals: the quiet stretch around a session is continuous, fault scripts are read for the
// rig's sources, and the comparison of injected and reported gaps notices every difference.
#include "tools/live/rehearsal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "capture/simulator/pattern_feed.h"
#include "tools/live/feeds.h"
#include "tools/live/session.h"

namespace handhold::live::rehearsal_test {
namespace {

using capture::FaultKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const capture::Rig& Demo() {
  static const capture::Rig rig = capture::FindRig("demo").value();
  return rig;
}

/// Index of the pattern's frame that `frame` of `feed` shows: its z tells.
int64_t ShownFrame(const capture::SimulatorFeed& feed, int64_t frame) {
  std::vector<double> xyz(3);
  feed.Markers(frame, xyz);
  return std::llround(xyz[2] / 1e-5);
}

TEST(SurroundedFeed, PlaysTheFeedInTheMiddleAndSwingsAroundItWithoutAJump) {
  const capture::PatternFeed inner({.marker_count = 1, .seconds = 3.0});
  const SurroundedFeed feed(inner, Duration::Milliseconds(2200), Duration::Milliseconds(1700));
  ASSERT_EQ(feed.lead_frames(), 1100);
  ASSERT_EQ(feed.lead_samples(), 15400);
  ASSERT_EQ(feed.frame_count(), 1100 + 1500 + 850);
  for (int64_t i = 0; i < 1500; ++i) ASSERT_EQ(ShownFrame(feed, 1100 + i), i);
  for (int64_t i = 0; i + 1 < feed.frame_count(); ++i)
    ASSERT_EQ(std::abs(ShownFrame(feed, i + 1) - ShownFrame(feed, i)), 1) << i;
  // Before it only the nearest half second is shown, after it the nearest 50 ms.
  for (int64_t i = 0; i < 1100; ++i) ASSERT_LE(ShownFrame(feed, i), 250);
  for (int64_t i = 2600; i < feed.frame_count(); ++i) ASSERT_GE(ShownFrame(feed, i), 1474);
  std::array<double, 6> inside{}, outside{};
  inner.Wrench(77, inside);
  feed.Wrench(feed.lead_samples() + 77, outside);
  EXPECT_EQ(inside, outside);
}

TEST(SurroundedFeed, AFeedShorterThanTheSwingIsNotLeft) {
  const capture::PatternFeed inner({.marker_count = 1, .seconds = 0.1});
  const SurroundedFeed feed(inner, Duration::Seconds(2), Duration::Seconds(2));
  for (int64_t i = 0; i < feed.frame_count(); ++i) {
    ASSERT_GE(ShownFrame(feed, i), 0);
    ASSERT_LT(ShownFrame(feed, i), 50);
  }
}

TEST(Faults, AreReadPerSource) {
  const auto faults =
      ParseRigFaults("# a rehearsal\nvicon at 5 s stall 300 ms\n\n  plate at 7 s lose 3  # three\n",
                     Demo(), "f.txt");
  ASSERT_TRUE(faults) << faults.error().message;
  ASSERT_THAT(*faults, SizeIs(2));
  EXPECT_EQ((*faults)[0].source, "vicon");
  EXPECT_EQ((*faults)[0].faults.at(0).kind, FaultKind::kStall);
  EXPECT_EQ((*faults)[0].faults.at(0).at, Duration::Seconds(5));
  EXPECT_EQ((*faults)[1].source, "plate");
  EXPECT_EQ((*faults)[1].faults.at(0).count, 3);
}

TEST(Faults, WrongOnesAreNamedWithTheFilesLine) {
  EXPECT_THAT(ParseRigFaults("vicon at 5 s stall 300 ms\nplte at 7 s lose 3\n", Demo(), "f.txt")
                  .error()
                  .message,
              HasSubstr("f.txt:2: no source 'plte' in rig 'demo': did you mean 'plate'?"));
  const std::string message =
      ParseRigFaults("\n\nvicon at 5 s stahl 300 ms\n", Demo(), "f.txt").error().message;
  EXPECT_THAT(message, HasSubstr("f.txt:3: "));
  EXPECT_THAT(message, HasSubstr("stahl"));
  EXPECT_THAT(message, ::testing::Not(HasSubstr("line 1")));
}

TEST(Faults, NeitherANameNorAFileIsToldWhatThereIs) {
  const auto message = [](const char* given) {
    const auto faults = LoadFaults(given, Demo(), Duration::Seconds(10));
    return faults ? std::string() : faults.error().message;
  };
  EXPECT_THAT(message("standrd"), AllOf(HasSubstr("did you mean 'standard'?"),
                                        HasSubstr("none, standard, or the path of a script")));
  EXPECT_THAT(message("garbage"),
              AllOf(HasSubstr("none, standard, or the path of a script"), HasSubstr("no such file"),
                    ::testing::Not(HasSubstr("did you mean"))));
}

TEST(Faults, TheStandardSetIsTheOneOfTheChain) {
  const auto faults = StandardFaults(Demo(), Duration::Seconds(41));
  ASSERT_THAT(faults, SizeIs(2));
  ASSERT_THAT(faults[0].faults, SizeIs(2));
  EXPECT_EQ(faults[0].faults[0].kind, FaultKind::kStall);
  EXPECT_EQ(faults[0].faults[0].length, Duration::Milliseconds(300));
  EXPECT_EQ(faults[0].faults[1].kind, FaultKind::kHold);
  EXPECT_EQ(faults[0].faults[1].length, Duration::Milliseconds(200));
  int lost = 0;
  for (const capture::Fault& fault : faults[1].faults) {
    EXPECT_EQ(fault.kind, FaultKind::kLose);
    lost += fault.count;
  }
  EXPECT_EQ(lost, 3);
  // The stall is a gap of 150 frames, the hold none.
  const capture::FaultTimeline timeline(faults[0].faults, 500);
  ASSERT_THAT(timeline.MissingRanges(), SizeIs(1));
  EXPECT_EQ(timeline.MissingRanges()[0].count(), 150);
}

// ---- comparing gaps: a clip of 10 s whose marker counter is the session's index plus 2500 ----

constexpr int64_t kOffset = 2500;
const Timestamp kSession = Timestamp::FromSeconds(1000);

recording::Clip ClipWithGaps(const std::vector<std::pair<int64_t, int64_t>>& gaps) {
  recording::Clip clip{recording::ClipInfo()};
  clip.mutable_info().host_start_ns = kSession.ns();
  recording::StreamInfo info;
  info.name = "vicon/markers";
  info.device = "vicon";
  info.kind = recording::StreamKind::kAnalog;
  info.rate = {500, 1};
  info.channels = {{"a", "1", 0.0}};
  // Counter kOffset is the session's begin.
  const int stream = clip.AddStream(
      info, recording::ClockMap::Identity(kSession.ns() - Duration::Seconds(5).ns()));
  int64_t next = 0;
  const auto append = [&](int64_t end) {
    if (end <= next) return;
    recording::SampleBlock block;
    block.stream_id = stream;
    block.first_counter = kOffset + next;
    block.count = static_cast<int>(end - next);
    block.values.assign(static_cast<size_t>(block.count), 0.0);
    clip.Append(block);
    next = end;
  };
  for (const auto& [begin, count] : gaps) {
    append(begin);
    next = begin + count;
  }
  append(5000);
  return clip;
}

InjectedGap Injected(int64_t first, int64_t count) {
  return {"vicon", first, count, kSession + Duration::Milliseconds(2 * first), 500.0};
}

capture::Rig OnlyVicon() {
  capture::Rig rig = Demo();
  rig.sources.resize(1);
  return rig;
}

TEST(CompareGaps, EqualOnesAreEqual) {
  EXPECT_THAT(CompareGaps({}, OnlyVicon(), ClipWithGaps({})), IsEmpty());
  EXPECT_THAT(CompareGaps({Injected(1000, 150), Injected(2000, 1)}, OnlyVicon(),
                          ClipWithGaps({{1000, 150}, {2000, 1}})),
              IsEmpty());
}

TEST(CompareGaps, OnesOutsideTheTakeAreNotExpected) {
  EXPECT_THAT(CompareGaps({Injected(1000, 150), Injected(5200, 10)}, OnlyVicon(),
                          ClipWithGaps({{1000, 150}})),
              IsEmpty());
}

TEST(CompareGaps, OnlyThoseOfTheTakeAreCounted) {
  const std::vector<InjectedGap> injected = {Injected(1000, 150), Injected(2000, 1),
                                             Injected(5200, 10)};
  EXPECT_EQ(InjectedWithin(injected, OnlyVicon(), ClipWithGaps({{1000, 150}, {2000, 1}})), 2);
  EXPECT_EQ(InjectedWithin({}, OnlyVicon(), ClipWithGaps({})), 0);
}

/// The plate of the same rig, without a gap: it says when the take ended.
recording::Clip WithPlate(recording::Clip clip) {
  recording::StreamInfo info;
  info.name = "plate/wrench";
  info.device = "plate";
  info.kind = recording::StreamKind::kAnalog;
  info.rate = {1000, 1};
  info.channels = {{"a", "1", 0.0}};
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(info, recording::ClockMap::Identity(kSession.ns()));
  block.count = 12'000;
  block.values.assign(12'000, 0.0);
  clip.Append(block);
  return clip;
}

TEST(CompareGaps, ADeviceThatIsSilentWhenTheTakeEndsIsExpectedToSaySo) {
  // The markers end at 10 s, the take at 12 s.
  const std::vector<InjectedGap> silent = {Injected(5000, 5000)};
  EXPECT_THAT(CompareGaps(silent, Demo(), WithPlate(ClipWithGaps({}))),
              ElementsAre(HasSubstr("1000 samples at 10.000 s: injected, not reported")));
  recording::Clip told = WithPlate(ClipWithGaps({}));
  told.AddGap({1, kOffset + 5000, 998, recording::GapCause::kDisconnected,
               Timestamp::FromSeconds(10), Timestamp::FromSeconds(11.996)});
  EXPECT_THAT(CompareGaps(silent, Demo(), told), IsEmpty());
  recording::Clip half = WithPlate(ClipWithGaps({}));
  half.AddGap({1, kOffset + 5000, 500, recording::GapCause::kDisconnected,
               Timestamp::FromSeconds(10), Timestamp::FromSeconds(11)});
  EXPECT_THAT(CompareGaps(silent, Demo(), half), SizeIs(1));
}

TEST(CompareGaps, EveryDifferenceIsNoticed) {
  const std::vector<InjectedGap> injected = {Injected(1000, 150), Injected(2000, 1)};
  EXPECT_THAT(CompareGaps(injected, OnlyVicon(), ClipWithGaps({{1000, 150}})),
              ElementsAre(HasSubstr("1 samples at 4.000 s: injected, not reported")));
  EXPECT_THAT(CompareGaps(injected, OnlyVicon(), ClipWithGaps({{1000, 150}, {2000, 1}, {3000, 1}})),
              ElementsAre(HasSubstr("1 samples at 6.000 s: reported, not injected")));
  EXPECT_THAT(CompareGaps(injected, OnlyVicon(), ClipWithGaps({{1000, 150}, {2001, 1}})), SizeIs(1))
      << "one sample later";
  EXPECT_THAT(CompareGaps(injected, OnlyVicon(), ClipWithGaps({{1000, 149}, {2000, 1}})), SizeIs(1))
      << "one sample short";
  EXPECT_THAT(CompareGaps(injected, OnlyVicon(), ClipWithGaps({{1010, 150}, {2010, 1}})),
              ::testing::Not(IsEmpty()))
      << "all of them 20 ms late";
  EXPECT_THAT(CompareGaps(injected, Demo(), ClipWithGaps({{1000, 150}, {2000, 1}})),
              ElementsAre(HasSubstr("plate: the clip holds no stream of it")));
}

TEST(Rehearsal, RefusesWhatItCannotPlay) {
  const capture::PatternFeed feed({.seconds = 1.0});
  capture::Rig two = Demo();
  two.sources.push_back(two.sources[0]);
  EXPECT_THAT(Rehearsal::Start(two, feed, {}).error().message,
              HasSubstr("a second vicon source; the simulator plays one of each"));
  capture::Rig away = Demo();
  away.sources[0].host = "192.168.1.10";
  EXPECT_THAT(Rehearsal::Start(away, feed, {.rig_ports = true}).error().message,
              HasSubstr("192.168.1.10 is another machine"));
  // The advice is a command as it stands.
  EXPECT_THAT(Rehearsal::Start(*capture::FindRig("lab"), feed, {.rig_ports = true}).error().message,
              HasSubstr("`handhold live record --rig lab --simulate pattern`"));
}

TEST(Session, SaysHowToStartTheSimulators) {
  EXPECT_THAT(Session::Advice(Demo()), HasSubstr("`handhold live simulate --rig demo`"));
  EXPECT_EQ(Session::Advice(*capture::FindRig("lab")), "");
}

// A command that cannot work is no advice: the simulator refuses two devices of one kind.
TEST(Session, DoesNotAdviseToSimulateTwoDevicesOfOneKind) {
  capture::Rig rig = Demo();
  capture::RigSource second = rig.sources.back();
  second.name = "wall";
  second.port += 10;
  rig.sources.push_back(second);
  EXPECT_EQ(Rehearsal::Start(rig, capture::PatternFeed({}), {.rig_ports = true}).error().code,
            ErrorCode::kUnsupported);
  EXPECT_THAT(Session::Advice(rig), AllOf(HasSubstr("one of each kind"), HasSubstr("'wall'"),
                                          Not(HasSubstr("--rig demo"))));
}

const lab::Subject& OneStroke() {
  static const lab::Subject subject = [] {
    lab::SubjectOptions options;
    options.plan = lab::Plan::OneStroke();
    options.counterfactual_friction = {};
    options.bump = false;
    return lab::MakeSubject(options).value();
  }();
  return subject;
}

// A take that is ended late, on a machine that is busy, holds no touch that the truth does not: the
// last stroke ends within half a second of the session.
TEST(SurroundedFeed, NothingIsTouchedOutsideTheSession) {
  const lab::SensorFeed& inner = OneStroke().feed;
  const auto& contacts = OneStroke().truth.FindRun("captured")->contacts;
  const double rate = inner.force_rate_hz();
  const auto session_s = static_cast<double>(inner.force_count()) / rate;
  ASSERT_FALSE(contacts.empty());
  ASSERT_LT(session_s - contacts.back().release_s, 0.5) << "nothing to play backwards";
  const SurroundedFeed feed(inner, Duration::Seconds(5), Duration::Seconds(5));
  const auto peak_N = [&](int64_t first, int64_t last) {
    double most = 0;
    std::array<double, 6> wrench{};
    for (int64_t i = first; i < last; ++i) {
      feed.Wrench(i, wrench);
      most = std::max(most, std::hypot(wrench[0], wrench[1], wrench[2]));
    }
    return most;
  };
  const int64_t begin = feed.lead_samples(), end = begin + inner.force_count();
  EXPECT_GT(peak_N(begin, end), 0.5);
  // Noise of 0.02 N per axis.
  EXPECT_LT(peak_N(0, begin), 0.15);
  EXPECT_LT(peak_N(end, feed.force_count()), 0.15);
}

// The rig that is shipped places the plate where the virtual laboratory has it.
TEST(DemoRig, AgreesWithTheLaboratory) {
  const recording::ForceSensor& plate = OneStroke().feed.data().sensor;
  const capture::RigSensor& rig = Demo().Find("plate")->sensors.at(0);
  EXPECT_TRUE(rig.X_MS.p.isApprox(plate.X_MS.p, 1e-9)) << plate.X_MS.p.transpose();
  EXPECT_TRUE(rig.X_MS.R.isApprox(plate.X_MS.R, 1e-9));
  EXPECT_TRUE(rig.normal_S.isApprox(plate.normal_S));
  EXPECT_EQ(rig.full_scale_N, plate.full_scale_N);
  EXPECT_EQ(rig.sign, plate.sign);
}

}  // namespace
}  // namespace handhold::live::rehearsal_test

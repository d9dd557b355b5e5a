#include "capture/session/recorder.h"

#include <future>
#include <map>
#include <set>
#include <thread>

#include "tests/support/session_fixture.h"

namespace handhold::capture::recorder_test {
namespace {

using test::WaitUntil;
using testing::AnalogStream;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::ForceStream;
using testing::HandSource;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MarkerStream;
using testing::ScriptedValue;

class RecorderTest : public testing::SessionFixture {};

TEST_F(RecorderTest, ATakeHoldsEverySampleWithItsTimeFromThePreRollOn) {
  HandSource* vicon =
      Add("vicon", {MarkerStream("vicon/markers", 5, 500), AnalogStream("vicon/emg", 2, 2000)});
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  options_.pre_roll = Duration::Seconds(1);
  MakeAndArm();
  vicon->Announce();
  plate->Announce();
  Play({vicon, plate}, 3.0);
  WaitForStreams({"vicon/markers", "vicon/emg", "plate/wrench"});
  recording::ClipInfo info;
  info.task = "stroke";
  ASSERT_TRUE(recorder_->Start(info));
  EXPECT_EQ(recorder_->Health().state, SessionState::kRecording);
  Play({vicon, plate}, 2.0);
  ASSERT_TRUE(recorder_->Mark({.clip_time = {},
                               .length = {},
                               .kind = "mark",
                               .origin = "operator",
                               .stream_id = 0,
                               .value = 0,
                               .text = "now"},
                              {}));
  auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_TRUE(take->closed);
  EXPECT_TRUE(take->gaps.empty());
  EXPECT_TRUE(take->quality.keep);
  EXPECT_THAT(take->page, HasSubstr("KEEP  take_1"));
  const auto clip = Open(*take);
  ASSERT_EQ(clip->streams().size(), 3u);
  EXPECT_TRUE(clip->closed());
  EXPECT_EQ(clip->info().task, "stroke");
  for (const recording::StreamInfo& stream : clip->streams()) {
    const auto window = clip->ReadAll(stream.id);
    ASSERT_TRUE(window);
    const double rate = stream.rate.hz();
    EXPECT_NEAR(window->count(), 3.0 * rate, 0.02 * rate) << stream.name;
    const int number = stream.name == "vicon/emg" ? 1 : 0;
    for (int i = 0; i < window->count(); ++i) {
      const int64_t counter = window->counters.front() + i;
      ASSERT_EQ(window->counters[i], counter);
      // The truth: sample n lies n / rate after the epoch, and packets came without delay.
      const double clip_s = 1e-9 * static_cast<double>(kEpoch - clip->info().host_start_ns) +
                            static_cast<double>(counter) / rate;
      ASSERT_NEAR(window->times[i].seconds(), clip_s, 1.0 / rate + 1e-6) << stream.name;
      for (int c = 0; c < stream.channel_count(); ++c) {
        const double quantum = stream.channels[c].quantum;
        ASSERT_NEAR(window->value(c, i), ScriptedValue(number, c, counter), quantum / 2 + 1e-12);
      }
    }
    EXPECT_FALSE(clip->ClockPairs(stream.id)->empty());
  }
  ASSERT_EQ(clip->events().size(), 1u);
  EXPECT_EQ(clip->events()[0].text, "now");
  EXPECT_NEAR(clip->events()[0].clip_time.seconds(), 3.0, 0.02);
  ASSERT_NE(clip->quality().Find("vicon/markers", "lost_samples"), nullptr);
  // Armed again: the next take goes on at once.
  Play({vicon, plate}, 0.5);
  ASSERT_TRUE(recorder_->Start({}));
  Play({vicon, plate}, 0.5);
  auto second = recorder_->Stop();
  ASSERT_TRUE(second);
  EXPECT_NE(second->path, take->path);
}

TEST_F(RecorderTest, WhatWasSaturatedCountsFromThePreRollOn) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  options_.pre_roll = Duration::Seconds(2);
  MakeAndArm();
  plate->Announce();
  const auto saturate = [&](double seconds) {  // 4 samples of every packet of 10
    plate->saturated = 4;
    Play({plate}, seconds);
    plate->saturated = 0;
  };
  saturate(0.5);
  Play({plate}, 2.5);  // so much for what is older than the pre-roll
  saturate(0.5);
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  while_made_ = [&] { saturate(0.1); };  // and while the take's file is made
  ASSERT_TRUE(recorder_->Start({}));
  Play({plate}, 1.0);
  for (const int expected : {240, 0}) {
    const auto take = recorder_->Stop();
    ASSERT_TRUE(take) << take.error().message;
    const auto* saturated = take->quality.Find("plate/wrench", "saturated_samples");
    ASSERT_NE(saturated, nullptr);
    EXPECT_EQ(saturated->worst, expected) << take->page;
    EXPECT_EQ(saturated->red, expected > 0);
    if (expected == 0) break;
    while_made_ = nullptr;
    Play({plate}, 3.0);
    ASSERT_TRUE(recorder_->Start({}));
    Play({plate}, 1.0);
  }
}

// A disk that is busy when the operator presses record makes the file seconds later; what came
// meanwhile belongs to the take.
TEST_F(RecorderTest, ASlowDiskAtTheStartCostsNoSample) {
  HandSource* vicon = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  vicon->Announce();
  plate->Announce();
  Play({vicon, plate}, 1.0);
  WaitForStreams({"vicon/markers", "plate/wrench"});
  while_made_ = [&] {
    Play({vicon, plate}, 4.0);
    int looks = 0;  // the encoder passes meanwhile, and would let go of what is old
    WaitUntil([&] { return ++looks > 20; });
  };
  ASSERT_TRUE(recorder_->Start({}));
  Play({vicon, plate}, 1.0);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_THAT(take->gaps, IsEmpty());
  const auto clip = Open(*take);
  EXPECT_GE(clip->sample_count(1), 5 * 500 - 10);
  EXPECT_GE(clip->sample_count(2), 5 * 1000 - 20);
  EXPECT_LE(clip->Extent(1).begin.seconds(), 0.02);
}

// What the store refuses once it refuses again: it must hold up neither the device's later streams
// nor the other devices.
TEST_F(RecorderTest, AnAnnouncementThatCannotBeStoredCostsThatStreamAlone) {
  HandSource* vicon = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  vicon->Announce();
  plate->Announce();
  Play({vicon, plate}, 1.0);
  WaitForStreams({"vicon/markers", "plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({vicon, plate}, 1.0);
  vicon->Announce({MarkerStream("vicon/markers", 0, 500)});
  Play({plate}, 1.0);
  vicon->Announce({MarkerStream("vicon/markers", 2, 500)});
  Play({vicon, plate}, 1.0);
  EXPECT_FALSE(recorder_->wants_stop());
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_THAT(take->page, HasSubstr("'vicon/markers': has no channels"));
  const auto clip = Open(*take);
  for (const recording::Gap& gap : take->gaps)
    EXPECT_NE(clip->streams()[static_cast<size_t>(gap.stream_id) - 1].name, "plate/wrench");
  int64_t plates = 0;
  Timestamp newest;
  for (const recording::StreamInfo* stream : clip->FindStreams("plate/wrench"))
    plates += clip->sample_count(stream->id);
  for (const recording::StreamInfo* stream : clip->FindStreams("vicon/markers"))
    newest = std::max(newest, clip->Extent(stream->id).end);
  EXPECT_GE(plates, 2970);
  EXPECT_GE(newest.seconds(), 2.9) << "markers are recorded again when they are back";
}

TEST_F(RecorderTest, CallsInTheWrongStateChangeNothing) {
  Add("plate", {ForceStream("plate/wrench", 1000)});
  options_.now = [this] { return Timestamp::FromNanoseconds(now_ns_.load()); };
  Make();
  EXPECT_EQ(recorder_->Arm().error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(recorder_->Start({}));
  EXPECT_FALSE(recorder_->Stop());
  EXPECT_FALSE(recorder_->Mark({}, {}));
  EXPECT_EQ(recorder_->Health().state, SessionState::kConfigured);
  ASSERT_TRUE(recorder_->Check());
  EXPECT_EQ(recorder_->Health().state, SessionState::kChecked);
  ASSERT_TRUE(recorder_->Arm());
  EXPECT_FALSE(recorder_->Check());
  EXPECT_FALSE(recorder_->Arm());
  ASSERT_TRUE(recorder_->Disarm());
  EXPECT_EQ(recorder_->Health().state, SessionState::kChecked);
}

TEST_F(RecorderTest, CheckNamesWhatIsMissingAndTheNearestRightName) {
  HandSource* vicon = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
  sources_.back().required_streams = {"vicon/marker"};
  Add("plate", {ForceStream("plate/wrench", 1000)})->probe_error =
      "nothing answers at 192.168.1.1: is it switched on?";
  sources_.back().required = false;
  options_.now = [this] { return Timestamp::FromNanoseconds(now_ns_.load()); };
  Make();
  auto lines = recorder_->Check();
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 4u);
  EXPECT_TRUE((*lines)[0].ok);
  EXPECT_EQ((*lines)[1].stream, "vicon/markers");
  EXPECT_FALSE((*lines)[1].required);
  EXPECT_FALSE((*lines)[2].ok);
  EXPECT_THAT((*lines)[2].text, HasSubstr("did you mean 'vicon/markers'"));
  EXPECT_FALSE((*lines)[3].ok);
  EXPECT_FALSE((*lines)[3].required);
  EXPECT_THAT((*lines)[3].text, HasSubstr("192.168.1.1"));
  // A required one is missing: not checked.
  EXPECT_FALSE(recorder_->Arm());
  static_cast<void>(vicon);
}

TEST_F(RecorderTest, ARequiredStreamThatDoesNotFlowRefusesTheStartWithItsCause) {
  HandSource* vicon = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  vicon->Announce();
  plate->sink->OnState(false, "answers HTTP but sends no data");
  Play({vicon}, 1.0);
  WaitForStreams({"vicon/markers"});
  ASSERT_TRUE(WaitUntil([&] { return !recorder_->Health().sources[1].text.empty(); }));
  const Status refused = recorder_->Start({});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("plate/wrench does not flow (answers HTTP but sends no data)"));
  EXPECT_EQ(takes_, 0);
  plate->Announce();
  Play({vicon, plate}, 1.0);
  ASSERT_TRUE(WaitUntil([&] { return recorder_->Start({}).has_value(); }));
  ASSERT_TRUE(recorder_->Stop());
}

TEST_F(RecorderTest, StopAfterEndsTheTakeToTheSample) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  options_.stop_after = Duration::Seconds(2);
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({plate}, 1.99);
  EXPECT_FALSE(recorder_->wants_stop());
  Play({plate}, 1.0);
  EXPECT_TRUE(recorder_->wants_stop());
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  const auto clip = Open(*take);
  // Packets of 10 ms: those whose first sample lies in the 2 s.
  EXPECT_EQ(clip->sample_count(1), 2000);
  EXPECT_TRUE(take->quality.keep) << take->page;
}

TEST_F(RecorderTest, ATakeStoppedWhileTheDiskStandsStillEndsWhenItWasStopped) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  std::atomic<bool> stall{false};
  options_.injected_stall = [&] {
    return stall.exchange(false) ? Duration::Milliseconds(1500) : Duration();
  };
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({plate}, 2.0);
  stall = true;
  ASSERT_TRUE(WaitUntil([&] { return !stall; }));
  auto stopping = std::async(std::launch::async, [&] { return recorder_->Stop(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  Play({plate}, 5.0);
  const auto take = stopping.get();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_THAT(take->gaps, IsEmpty());
  EXPECT_EQ(Open(*take)->sample_count(1), 2000) << take->page;
}

TEST_F(RecorderTest, GapsAreReportedExactlyWithTheirCauses) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({plate}, 0.5);
  // Three datagrams lost, then 0.2 s that the device skipped, and a hold that ends in a burst.
  const int64_t lost = next_[{plate, 0}];
  plate->sink->OnGap(plate->base, lost, 3, recording::GapCause::kNetworkLoss);
  next_[{plate, 0}] += 3;
  Play({plate}, 0.5);
  now_ns_ += 200'000'000;
  const int64_t skipped = next_[{plate, 0}];
  plate->sink->OnGap(plate->base, skipped, 200, recording::GapCause::kDeviceSkipped);
  next_[{plate, 0}] += 200;
  Play({plate}, 0.5);
  now_ns_ += 300'000'000;
  for (int k = 0; k < 30; ++k) {
    plate->Send(0, next_[{plate, 0}], 10, now_ns_);
    next_[{plate, 0}] += 10;
  }
  Play({plate}, 0.5);
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  ASSERT_EQ(take->gaps.size(), 2u) << take->page;
  EXPECT_EQ(take->gaps[0].first_missing_counter, lost);
  EXPECT_EQ(take->gaps[0].count, 3);
  EXPECT_EQ(take->gaps[0].cause, recording::GapCause::kNetworkLoss);
  EXPECT_EQ(take->gaps[1].first_missing_counter, skipped);
  EXPECT_EQ(take->gaps[1].count, 200);
  EXPECT_EQ(take->gaps[1].cause, recording::GapCause::kDeviceSkipped);
  EXPECT_NEAR((take->gaps[1].clip_end - take->gaps[1].clip_begin).seconds(), 0.2, 1e-6);
  EXPECT_EQ(take->quality.Find("plate/wrench", "lost_samples")->value, 203);
  // No time shift: every sample at its counter's instant, though the burst came late.
  const auto clip = Open(*take);
  const auto window = clip->ReadAll(1);
  const double first_s = window->times[0].seconds();
  for (int i = 0; i < window->count(); ++i) {
    ASSERT_NEAR(window->times[i].seconds() - first_s,
                1e-3 * static_cast<double>(window->counters[i] - window->counters[0]), 1e-6);
  }
}

class TakeEndTest : public testing::SessionFixture {
 protected:
  /// 1 s of both devices, then `silent` s in which the plate says nothing.
  void PlayUntilSilent(double silent) {
    vicon_ = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
    plate_ = Add("plate", {ForceStream("plate/wrench", 1000)});
    // The end is known before what comes after it.
    options_.stop_after = Duration::FromSeconds(1.0 + silent);
    MakeAndArm();
    vicon_->Announce();
    plate_->Announce();
    Play({vicon_, plate_}, 1.0);
    WaitForStreams({"vicon/markers", "plate/wrench"});
    ASSERT_TRUE(recorder_->Start({}));
    Play({vicon_, plate_}, 1.0);
    Play({vicon_}, silent);
  }
  HandSource* vicon_ = nullptr;
  HandSource* plate_ = nullptr;
};

TEST_F(TakeEndTest, ADeviceThatFellSilentShortlyBeforeTheEndHasAGapUpToIt) {
  PlayUntilSilent(0.2);
  const int64_t first = next_[{plate_, 0}];
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  ASSERT_EQ(take->gaps.size(), 1u) << take->page;
  EXPECT_EQ(take->gaps[0].first_missing_counter, first);
  EXPECT_EQ(take->gaps[0].count, 199) << "sample n is due at n + 1 ms, the take ends at 200";
  EXPECT_EQ(take->gaps[0].cause, recording::GapCause::kDisconnected);
  EXPECT_EQ(take->quality.Find("plate/wrench", "lost_samples")->value, 199);
  EXPECT_FALSE(take->quality.keep) << take->page;
}

TEST_F(TakeEndTest, AHoldInFlightIsTakenAndIsNoGap) {
  PlayUntilSilent(0.2);
  const int64_t first = next_[{plate_, 0}];
  // The burst comes when the take has ended: all of it was measured before, but its last packets.
  for (int k = 0; k < 30; ++k) plate_->Send(0, first + 10 * k, 10, now_ns_ + 15'000'000);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  EXPECT_THAT(take->gaps, IsEmpty()) << take->page;
  const auto clip = Open(*take);
  const auto window = clip->ReadAll(clip->FindStreams("plate/wrench").at(0)->id);
  // All but the packet that the end cuts.
  EXPECT_GE(window->counters.back(), first + 200 - 1 - 10 - 10);
  EXPECT_LT(window->counters.back(), first + 200);
  EXPECT_TRUE(take->quality.keep) << take->page;
}

// Also where packets had come late before: what is late at the end comes, what is lost does not.
TEST_F(TakeEndTest, AFewPacketsMissingAtTheEndAreSaid) {
  vicon_ = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
  plate_ = Add("plate", {ForceStream("plate/wrench", 1000)});
  options_.stop_after = Duration::FromSeconds(2.0);
  MakeAndArm();
  vicon_->Announce();
  plate_->Announce();
  Play({vicon_, plate_}, 1.0);
  WaitForStreams({"vicon/markers", "plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({vicon_, plate_}, 1.0);
  const int64_t held = next_[{plate_, 0}];
  Play({vicon_}, 0.1);
  for (int k = 0; k < 10; ++k) plate_->Send(0, held + 10 * k, 10, now_ns_);
  next_[{plate_, 0}] = held + 100;
  Play({vicon_, plate_}, 0.87);
  const int64_t first = next_[{plate_, 0}];
  Play({vicon_}, 0.03);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  ASSERT_EQ(take->gaps.size(), 1u) << take->page;
  EXPECT_EQ(take->gaps[0].first_missing_counter, first);
  EXPECT_NEAR(static_cast<double>(take->gaps[0].count), 29, 1);
  EXPECT_EQ(take->quality.Find("plate/wrench", "lost_samples")->value, take->gaps[0].count);
}

TEST_F(TakeEndTest, ALossThatIsToldAfterTheEndCountsUpToTheEnd) {
  PlayUntilSilent(0.2);
  const int64_t first = next_[{plate_, 0}];
  plate_->sink->OnGap(plate_->base, first, 500, recording::GapCause::kDeviceSkipped);
  plate_->Send(0, first + 500, 10, now_ns_ + 300'000'000);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  ASSERT_EQ(take->gaps.size(), 1u) << take->page;
  EXPECT_EQ(take->gaps[0].first_missing_counter, first);
  EXPECT_EQ(take->gaps[0].count, 199);
  EXPECT_EQ(take->quality.Find("plate/wrench", "lost_samples")->value, 199);
}

TEST_F(RecorderTest, ARunningTakeSaysFromItsBeginThatItHasNotEnded) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  {
    const auto clip = store::ClipReader::Open(directory_ + "/take_1.clip");
    ASSERT_TRUE(clip) << clip.error().message;
    EXPECT_FALSE((*clip)->quality().keep);
    EXPECT_THAT((*clip)->quality().advice, HasSubstr("ended before the take did"));
  }
  Play({plate}, 1.0);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  EXPECT_TRUE(Open(*take)->quality().keep);
  EXPECT_EQ(Open(*take)->quality().advice, "Keep it.");
}

TEST_F(RecorderTest, ARingOverflowIsCountedPlacedAndStored) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 7000)});
  std::atomic<int> stalls{0};
  options_.injected_stall = [&] {
    return stalls.exchange(0) > 0 ? Duration::Seconds(2) : Duration();
  };
  options_.ring = Duration::Seconds(1);
  MakeAndArm();
  plate->Announce();
  Play({plate}, 0.5);
  WaitForStreams({"plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({plate}, 0.5);
  stalls = 1;
  ASSERT_TRUE(WaitUntil([&] { return stalls == 0; }));
  // The encoder sleeps 2 s of real time; meanwhile 60 s of samples in packets of one come.
  const int64_t before = next_[{plate, 0}];
  for (int k = 0; k < 420'000; ++k) {
    now_ns_ = kEpoch + next_[{plate, 0}] * 1'000'000'000 / 7000;
    plate->Send(0, next_[{plate, 0}]++, 1, now_ns_);
  }
  ASSERT_TRUE(WaitUntil([&] {
    const auto health = recorder_->Health();
    for (const auto& item : health.items)
      if (item.what == "ring_fill_fraction" && item.red && item.value < 0.1) return true;
    return false;
  }));
  Play({plate}, 0.5);
  const int64_t end = next_[{plate, 0}];
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  const auto clip = Open(*take);
  ASSERT_FALSE(take->gaps.empty());
  int64_t missing = 0;
  for (const recording::Gap& gap : take->gaps) {
    EXPECT_EQ(gap.cause, recording::GapCause::kRingOverflow);
    EXPECT_GE(gap.first_missing_counter, before);
    missing += gap.count;
  }
  // Nothing lost that is not named, nothing named that is there.
  const auto window = clip->ReadAll(1);
  EXPECT_EQ(window->counters.back(), end - 1);
  EXPECT_EQ(window->count() + missing, end - window->counters.front());
  std::set<int64_t> first_missing;
  for (int i = 1; i < window->count(); ++i) {
    if (window->counters[i] != window->counters[i - 1] + 1)
      first_missing.insert(window->counters[i - 1] + 1);
  }
  EXPECT_EQ(first_missing.size(), take->gaps.size());
  for (const recording::Gap& gap : take->gaps)
    EXPECT_TRUE(first_missing.contains(gap.first_missing_counter));
  EXPECT_EQ(take->quality.Find("plate/wrench", "lost_samples")->value,
            static_cast<double>(missing));
  EXPECT_FALSE(take->quality.keep);
  EXPECT_THAT(take->page, HasSubstr("ring"));
}

TEST_F(RecorderTest, ASourceThatLeavesAndReturnsRejoinsWithAnExplicitGapAndNoTimeShift) {
  HandSource* vicon = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  vicon->Announce();
  plate->Announce();
  Play({vicon, plate}, 1.0);
  WaitForStreams({"vicon/markers", "plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({vicon, plate}, 3.0);
  plate->sink->OnState(false, "away");
  Play({vicon}, 2.0);
  // It was restarted: counters go on by the host's estimate, 1.2 ms off the truth.
  const int64_t first = next_[{plate, 0}], resumed = first + 2000;
  plate->sink->OnState(true, "back");
  plate->sink->OnGap(plate->base, first, resumed - first, recording::GapCause::kDisconnected);
  plate->sink->OnClockReset(plate->base, resumed);
  next_[{plate, 0}] = resumed;
  for (int k = 0; k < 300; ++k) {
    now_ns_ += 10'000'000;
    Deliver(vicon, now_ns_);
    plate->Send(0, next_[{plate, 0}], 10, now_ns_ + 1'200'000);
    next_[{plate, 0}] += 10;
  }
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  ASSERT_EQ(take->gaps.size(), 1u) << take->page;
  EXPECT_EQ(take->gaps[0].cause, recording::GapCause::kDisconnected);
  EXPECT_EQ(take->gaps[0].count, 2000);
  const auto clip = Open(*take);
  const int id = clip->FindStreams("plate/wrench").at(0)->id;
  EXPECT_EQ(clip->FindStreams("plate/wrench").size(), 1u);
  const auto& map = clip->clock_map(id);
  ASSERT_EQ(map.segments.size(), 2u);
  // After the reset the clock's new offset holds, before it the old one: to a microsecond.
  const auto window = clip->ReadAll(id);
  for (int i = 0; i < window->count(); ++i) {
    const int64_t counter = window->counters[i];
    const double shift_s = counter >= resumed ? 1.2e-3 : 0.0;
    const double truth_s = 1e-9 * static_cast<double>(kEpoch - clip->info().host_start_ns) +
                           1e-3 * static_cast<double>(counter + 1) + shift_s;
    ASSERT_NEAR(window->times[i].seconds(), truth_s, 2e-6) << counter;
  }
}

// Sources that the rig does not require: one is lost in the take, one comes late, one never.
TEST_F(RecorderTest, WhatIsOptionalMayBeLostAndIsSaid) {
  HandSource* vicon = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
  HandSource* camera = Add("camera", {AnalogStream("camera/a", 1, 100)});
  HandSource* late = Add("late", {AnalogStream("late/a", 1, 100)});
  Add("never", {AnalogStream("never/a", 1, 100)});
  for (auto source = sources_.begin() + 1; source != sources_.end(); ++source)
    source->required = false;
  MakeAndArm();
  vicon->Announce();
  camera->Announce();
  Play({vicon, camera}, 1.0);
  WaitForStreams({"vicon/markers", "camera/a"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({vicon, camera}, 2.0);
  Play({vicon}, 2.0);
  late->Announce();
  next_[{late, 0}] = (now_ns_ - kEpoch) / 10'000'000;
  Play({vicon, late}, 2.0);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_TRUE(take->quality.keep) << take->page;
  EXPECT_THAT(take->page, HasSubstr("KEEP  take_1"));
  EXPECT_THAT(take->page, HasSubstr("Optional: camera/a lost 6"));
  EXPECT_THAT(take->page, HasSubstr("late/a began 4"));
  EXPECT_THAT(take->page, HasSubstr("never (optional) was never there"));
  ASSERT_EQ(take->gaps.size(), 1u) << take->page;
  EXPECT_NEAR(static_cast<double>(take->gaps[0].count), 400, 2);
}

// Packets of one sample at 1 kHz, each late by up to 0.2 ms: the fit sees one of twenty.
TEST_F(RecorderTest, EverySampleHasItsTimeOnTheRightSideOfAClockBreak) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  std::map<int64_t, int64_t> truth_ns;  // by counter: when it was measured
  int64_t counter = next_[{plate, 0}];
  uint32_t random = 1;
  const auto play = [&](int samples) {
    for (int k = 0; k < samples; ++k) {
      now_ns_ += 1'000'000;
      truth_ns[counter] = now_ns_;
      random = random * 1'664'525 + 1'013'904'223;
      plate->Send(0, counter++, 1, now_ns_ + (random >> 12) % 200'000);
    }
  };
  play(4'124);
  counter += 122;  // its clock jumped ahead
  play(4'007);
  now_ns_ += 31'000'000;  // ... lost time
  play(4'013);
  now_ns_ += 300'400'000;  // ... and began anew, which the source saw
  plate->sink->OnGap(plate->base, counter, 300, recording::GapCause::kDisconnected);
  counter += 300;
  plate->sink->OnClockReset(plate->base, counter);
  play(6);
  now_ns_ += 5'400'000;  // ... and at once again
  plate->sink->OnGap(plate->base, counter, 3, recording::GapCause::kDisconnected);
  counter += 3;
  const int64_t again = counter;
  plate->sink->OnClockReset(plate->base, counter);
  play(4'000);
  now_ns_ += 1'000'000;  // the last packet, which was late too, has come
  double stored = 0;
  const auto take = recorder_->Stop([&](double share) {
    EXPECT_GE(share, stored);
    stored = share;
  });
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_DOUBLE_EQ(stored, 1.0);
  const auto clip = Open(*take);
  EXPECT_EQ(clip->clock_map(1).segments.size(), 5u) << take->page;
  const auto window = clip->ReadAll(1);
  ASSERT_TRUE(window);
  int compared = 0;
  for (int i = 0; i < window->count(); ++i) {
    if (i > 0) {
      ASSERT_GT(window->times[i], window->times[i - 1]) << window->counters[i];
    }
    const auto truth = truth_ns.find(window->counters[i]);
    if (truth == truth_ns.end()) continue;  // from before the take
    ++compared;
    // Six packets are known by the least late of them.
    const bool few = again - 9 <= window->counters[i] && window->counters[i] < again;
    ASSERT_NEAR(window->times[i].seconds(),
                1e-9 * static_cast<double>(truth->second - clip->info().host_start_ns),
                few ? 200e-6 : 50e-6)
        << window->counters[i];
  }
  EXPECT_EQ(compared, 4'124 + 4'007 + 4'013 + 6 + 4'000);
}

TEST_F(RecorderTest, ChangedChannelsOpenTheNextEpochAndUnchangedStreamsGoOn) {
  HandSource* vicon =
      Add("vicon", {MarkerStream("vicon/markers", 2, 500), AnalogStream("vicon/emg", 1, 1000)});
  MakeAndArm();
  vicon->Announce();
  Play({vicon}, 1.0);
  WaitForStreams({"vicon/markers", "vicon/emg"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({vicon}, 1.0);
  vicon->Announce({MarkerStream("vicon/markers", 7, 500), AnalogStream("vicon/emg", 1, 1000)});
  Play({vicon}, 1.0);
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  EXPECT_TRUE(take->gaps.empty()) << take->page;
  const auto clip = Open(*take);
  const auto epochs = clip->FindStreams("vicon/markers");
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[0]->channel_count(), 6);
  EXPECT_EQ(epochs[1]->channel_count(), 21);
  EXPECT_EQ(epochs[1]->epoch, 1);
  EXPECT_EQ(clip->FindStreams("vicon/emg").size(), 1u);
  // The second epoch begins where the first ends, in counters and in time.
  const auto a = clip->ReadAll(epochs[0]->id), b = clip->ReadAll(epochs[1]->id);
  EXPECT_EQ(b->counters.front(), a->counters.back() + 1);
  EXPECT_NEAR((b->times.front() - a->times.back()).seconds(), 2e-3, 1e-6);
}

// While no subject is labelled Vicon has no markers to lose, and tells of none.
TEST_F(RecorderTest, AStreamThatIsNotAnnouncedForAWhileLostWhatItMissed) {
  const auto emg = AnalogStream("vicon/emg", 1, 1000);
  for (const int markers_after : {2, 7}) {  // the same stream again, or its next epoch
    SCOPED_TRACE(markers_after);
    recorder_.reset();
    sources_.clear();
    next_.clear();
    now_ns_ = kEpoch;
    HandSource* vicon = Add("vicon", {emg, MarkerStream("vicon/markers", 2, 500)});
    MakeAndArm();
    vicon->Announce();
    Play({vicon}, 1.0);
    WaitForStreams({"vicon/emg", "vicon/markers"});
    ASSERT_TRUE(recorder_->Start({}));
    Play({vicon}, 1.0);
    vicon->Announce({emg});
    Play({vicon}, 2.0);
    const int64_t first = next_[{vicon, 1}];
    next_[{vicon, 1}] += 1000;
    vicon->Announce({emg, MarkerStream("vicon/markers", markers_after, 500)});
    Play({vicon}, 1.0);
    const auto take = recorder_->Stop();
    ASSERT_TRUE(take) << take.error().message;
    ASSERT_EQ(take->gaps.size(), 1u) << take->page;
    EXPECT_EQ(take->gaps[0].stream_id, 2);
    EXPECT_EQ(take->gaps[0].first_missing_counter, first);
    EXPECT_EQ(take->gaps[0].count, 1000);
    EXPECT_EQ(take->gaps[0].cause, recording::GapCause::kDisconnected);
    EXPECT_NEAR((take->gaps[0].clip_end - take->gaps[0].clip_begin).seconds(), 2.0, 1e-6);
    const auto* lost = take->quality.Find("vicon/markers", "lost_samples");
    EXPECT_EQ(lost->value, 1000);
    EXPECT_TRUE(lost->red);
    EXPECT_FALSE(take->quality.keep) << take->page;
    EXPECT_EQ(take->quality.Find("vicon/emg", "lost_samples")->value, 0);
  }
}

// At another rate counters begin anew, and mean other times: no epoch has the clock of another.
TEST_F(RecorderTest, ARateThatChangesAndComesBackLeavesEveryEpochItsClock) {
  HandSource* plate = Add("plate", {AnalogStream("plate/load", 1, 1000)});
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/load"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({plate}, 1.0);
  for (const int rate_Hz : {500, 1000}) {
    plate->Announce({AnalogStream("plate/load", 1, rate_Hz)});
    next_[{plate, 0}] = 0;
    Play({plate}, 1.0);
  }
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  const auto clip = Open(*take);
  const auto epochs = clip->FindStreams("plate/load");
  ASSERT_EQ(epochs.size(), 3u);
  for (const auto* epoch : epochs) {
    const auto& map = clip->clock_map(epoch->id);
    ASSERT_TRUE(map.valid()) << "epoch " << epoch->epoch;
    EXPECT_EQ(map.segments.size(), 1u) << "epoch " << epoch->epoch;
  }
}

TEST_F(RecorderTest, TwoDevicesWithOneNameStayApart) {
  HandSource* a = Add("left", {ForceStream("plate/wrench", 1000)});
  HandSource* b = Add("right", {ForceStream("plate/wrench", 1000)});
  for (HandSource* source : {a, b}) {
    recording::ForceSensor sensor;
    sensor.name = "plate";
    sensor.calibration.setIdentity(6, 6);
    sensor.bias.setZero(6);
    sensor.full_scale_N = source == a ? 100 : 0;
    source->sensors = {sensor};
  }
  sources_.back().sensor_overrides.push_back(b->sensors[0]);
  sources_.back().sensor_overrides[0].sign = -1;
  sources_.back().sensor_overrides[0].X_MS.p = {0.1, 0.2, 0.3};
  MakeAndArm();
  b->Announce();  // the second comes first: names are the rig's, not chance's
  a->Announce();
  Play({a, b}, 1.0);
  WaitForStreams({"plate/wrench", "right/plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({a, b}, 1.0);
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  const auto clip = Open(*take);
  ASSERT_EQ(clip->streams().size(), 2u);
  EXPECT_EQ(clip->FindStreams("plate/wrench").size(), 1u);
  ASSERT_EQ(clip->FindStreams("right/plate/wrench").size(), 1u);
  const recording::ForceSensor* left = clip->FindForceSensor("plate");
  const recording::ForceSensor* right = clip->FindForceSensor("right/plate");
  ASSERT_NE(left, nullptr);
  ASSERT_NE(right, nullptr);
  EXPECT_EQ(left->sign, 1.0);
  EXPECT_EQ(right->sign, -1.0);
  EXPECT_EQ(right->X_MS.p.z(), 0.3);
  EXPECT_EQ(clip->FindStream(right->stream_id)->name, "right/plate/wrench");
  EXPECT_EQ(clip->FindStream(left->stream_id)->name, "plate/wrench");
  // Two sources of one name are refused.
  std::vector<RecordedSource> twice(2);
  twice[0].source = std::make_unique<HandSource>("x", a->streams());
  twice[1].source = std::make_unique<HandSource>("x", a->streams());
  const auto refused = Recorder::Make(std::move(twice), Target(), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("two sources are called 'x'"));
}

TEST_F(RecorderTest, AConstantDelayIsTakenOffAndKeptWithItsUncertainty) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  sources_.back().delay = Duration::Milliseconds(8);
  sources_.back().delay_sd = Duration::Milliseconds(1);
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({plate}, 1.0);
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  const auto clip = Open(*take);
  EXPECT_EQ(clip->clock_map(1).constant_delay_ns, 8'000'000);
  EXPECT_EQ(clip->clock_map(1).constant_delay_sd_ns, 1'000'000);
  const auto window = clip->ReadAll(1);
  const double received_s = 1e-9 * static_cast<double>(kEpoch - clip->info().host_start_ns) +
                            1e-3 * static_cast<double>(window->counters[0] + 1);
  EXPECT_NEAR(window->times[0].seconds(), received_s - 8e-3, 2e-6);
}

TEST_F(RecorderTest, ARunningTakeAlreadyHasItsClockMapsAndQuality) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  const std::string path = directory_ + "/take_1.clip";
  // Time here runs by Play alone, so it must go on until the encoder, which may have slept through
  // the first ten seconds of it, has had its turn with samples to fit.
  ASSERT_TRUE(WaitUntil([&] {
    Play({plate}, 1.0);
    const auto clip = store::ClipReader::Open(path);
    return clip && !(*clip)->quality().items.empty() &&
           (*clip)->clock_map((*clip)->streams().at(0).id).segments.at(0).pair_count > 100;
  }));
  ASSERT_TRUE(recorder_->Stop());
}

}  // namespace
}  // namespace handhold::capture::recorder_test

// Each figure of a take's quality record has a fault that turns it red, and no other.
#include "capture/session/health.h"

#include <cmath>
#include <set>

#include "tests/support/session_fixture.h"

namespace handhold::capture::health_test {
namespace {

using test::WaitUntil;
using ::testing::ElementsAre;
using testing::ForceStream;
using testing::HandSource;
using ::testing::IsEmpty;
using testing::MarkerStream;

/// 12 s of a rig with a fault in the middle; the names of what turned red.
class HealthTest : public testing::SessionFixture {
 protected:
  struct Rig {
    HandSource* vicon;
    HandSource* plate;
  };

  Rig Begin() {
    Rig rig{};
    rig.vicon = Add("vicon", {MarkerStream("vicon/markers", 10, 500)});
    rig.plate = Add("plate", {ForceStream("plate/wrench", 1000)});
    recording::ForceSensor sensor;
    sensor.name = "plate";
    sensor.calibration.setIdentity(6, 6);
    sensor.bias.setZero(6);
    rig.plate->sensors = {sensor};
    MakeAndArm();
    rig.vicon->Announce();
    rig.plate->Announce();
    Play({rig.vicon, rig.plate}, 1.0);
    WaitForStreams({"vicon/markers", "plate/wrench"});
    EXPECT_TRUE(recorder_->Start({}));
    Play({rig.vicon, rig.plate}, 6.0);
    return rig;
  }
  std::set<std::string> EndAndName(const Rig& rig) {
    Play({rig.vicon, rig.plate}, 5.0);
    auto take = recorder_->Stop();
    EXPECT_TRUE(take);
    page_ = take->page;
    const auto clip = Open(*take);
    std::set<std::string> red;
    for (const recording::QualityItem& item : clip->quality().items) {
      if (!item.red) continue;
      red.insert(item.stream + " " + item.what);
      EXPECT_GE(item.clip_first_red.seconds(), 0.0);
      EXPECT_FALSE(item.cause.empty());
    }
    return red;
  }
  std::string page_;
};

TEST_F(HealthTest, AGoodTakeHasEveryFigureAndNothingRed) {
  const Rig rig = Begin();
  EXPECT_THAT(EndAndName(rig), IsEmpty()) << page_;
  const HealthSnapshot health = recorder_->Health();
  std::set<std::string> figures;
  for (const auto& item : health.items) figures.insert(item.what);
  EXPECT_THAT(figures, ElementsAre("clock_residual_p99_s", "disk_left_s", "jitter_p99_s",
                                   "last_sample_age_s", "lost_samples", "rate_Hz",
                                   "ring_fill_fraction", "saturated_samples", "visible_fraction"));
  EXPECT_FALSE(health.red());
}

TEST_F(HealthTest, SilenceThatEndsInABurstIsSampleAge) {
  const Rig rig = Begin();
  // In the middle of a second, so that every second has packets that are not late.
  Play({rig.vicon}, 0.7);
  ASSERT_TRUE(WaitUntil([&] { return recorder_->Health().red(); }));
  Deliver(rig.plate, now_ns_);
  EXPECT_THAT(EndAndName(rig), ElementsAre("plate/wrench last_sample_age_s")) << page_;
}

TEST_F(HealthTest, ADeviceThatSamplesFasterThanItSaysIsRate) {
  const Rig rig = Begin();
  int64_t counter = next_[{rig.plate, 0}];
  for (int k = 0; k < 12'000; ++k) {  // 3 % more samples than the nominal rate
    now_ns_ += 10'000'000;
    Deliver(rig.vicon, now_ns_);
    const int64_t end = next_[{rig.plate, 0}] + (k + 1) * 103 / 10;
    rig.plate->Send(0, counter, static_cast<int>(end - counter), now_ns_);
    counter = end;
  }
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  std::set<std::string> red;
  for (const auto& item : take->quality.items)
    if (item.red) red.insert(item.stream + " " + item.what);
  EXPECT_THAT(red, ElementsAre("plate/wrench rate_Hz")) << take->page;
  EXPECT_NEAR(take->quality.Find("plate/wrench", "rate_Hz")->value, 1030, 1);
}

// Every packet came: nothing is lost, however late each sample is by the rate that the device says.
TEST_F(HealthTest, ADeviceThatSamplesSlowerThanItSaysIsRateAndLosesNothing) {
  const Rig rig = Begin();
  const int64_t first = next_[{rig.plate, 0}];
  int64_t counter = first;
  for (int k = 0; k < 3000; ++k) {  // 926 samples a second
    now_ns_ += 10'000'000;
    Deliver(rig.vicon, now_ns_);
    const int64_t end = first + (k + 1) * 926 / 100;
    rig.plate->Send(0, counter, static_cast<int>(end - counter), now_ns_);
    counter = end;
  }
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  EXPECT_THAT(take->gaps, IsEmpty()) << take->page;
  EXPECT_EQ(take->quality.Find("plate/wrench", "lost_samples")->value, 0);
  const auto* rate = take->quality.Find("plate/wrench", "rate_Hz");
  EXPECT_TRUE(rate->red);
  EXPECT_NE(rate->cause.find("1000 Hz"), std::string::npos) << rate->cause;
  EXPECT_NE(rate->cause.find("samples at 9"), std::string::npos) << rate->cause;
}

TEST_F(HealthTest, PacketsThatComeInClumpsAreJitter) {
  const Rig rig = Begin();
  for (int k = 0; k < 600; ++k) {  // every 20th packet comes 30 ms late, those after it with it
    now_ns_ += 10'000'000;
    Deliver(rig.vicon, now_ns_);
    const int64_t late_ns = std::max<int64_t>(0, 30'000'000 - 10'000'000 * (k % 20));
    Deliver(rig.plate, now_ns_ + late_ns);
  }
  EXPECT_THAT(EndAndName(rig), ElementsAre("plate/wrench jitter_p99_s")) << page_;
}

TEST_F(HealthTest, LostSamplesAreLostSamples) {
  const Rig rig = Begin();
  rig.plate->sink->OnGap(rig.plate->base, next_[{rig.plate, 0}], 2,
                         recording::GapCause::kNetworkLoss);
  next_[{rig.plate, 0}] += 2;
  EXPECT_THAT(EndAndName(rig), ElementsAre("plate/wrench lost_samples")) << page_;
}

TEST_F(HealthTest, OccludedMarkersAreVisibility) {
  const Rig rig = Begin();
  for (int k = 0; k < 200; ++k) {
    now_ns_ += 10'000'000;
    Deliver(rig.vicon, now_ns_, 0.3);
    Deliver(rig.plate, now_ns_);
  }
  // A look is taken 5 times a second of real time.
  ASSERT_TRUE(WaitUntil([&] { return recorder_->Health().red(); }));
  EXPECT_THAT(EndAndName(rig), ElementsAre("vicon/markers visible_fraction")) << page_;
}

TEST_F(HealthTest, WhatTheDeviceCallsSaturatedIsSaturation) {
  const Rig rig = Begin();
  rig.plate->saturated = 4;
  Play({rig.vicon, rig.plate}, 0.01);
  rig.plate->saturated = 0;
  EXPECT_THAT(EndAndName(rig), ElementsAre("plate/wrench saturated_samples")) << page_;
}

TEST_F(HealthTest, AWanderingClockIsClockResidual) {
  const Rig rig = Begin();
  for (int k = 0; k < 3'000; ++k) {
    now_ns_ += 10'000'000;
    Deliver(rig.vicon, now_ns_);
    Deliver(rig.plate, now_ns_ + std::llround(6e6 * std::sin(2 * M_PI * k / 1000.0)));
  }
  ASSERT_TRUE(WaitUntil([&] { return recorder_->Health().red(); }));
  EXPECT_THAT(EndAndName(rig), ElementsAre("plate/wrench clock_residual_p99_s")) << page_;
}

TEST_F(HealthTest, AnEncoderThatStallsIsRingFillWhileItStalls) {
  std::atomic<int> stalls{0};
  options_.injected_stall = [&] {
    return stalls.exchange(0) > 0 ? Duration::Seconds(2) : Duration();
  };
  options_.ring = Duration::Seconds(30);
  const Rig rig = Begin();
  stalls = 1;
  ASSERT_TRUE(WaitUntil([&] { return stalls == 0; }));
  // 60 % of the rings, in packets of one: they are sized for that.
  for (int k = 0; k < 18'000; ++k) {
    now_ns_ += 1'000'000;
    Deliver(rig.vicon, now_ns_);
    Deliver(rig.plate, now_ns_);
  }
  EXPECT_THAT(EndAndName(rig), ElementsAre("plate ring_fill_fraction", "vicon ring_fill_fraction"))
      << page_;
}

TEST_F(HealthTest, ADiskThatFillsIsDiskLeft) {
  std::atomic<int64_t> free_bytes{int64_t{1} << 40};
  options_.free_bytes = [&](const std::string&) { return free_bytes.load(); };
  const Rig rig = Begin();
  free_bytes = 4 << 20;
  EXPECT_THAT(EndAndName(rig), ElementsAre(" disk_left_s")) << page_;
}

TEST_F(HealthTest, RedStaysUntilAcknowledgedAndComesBack) {
  const Rig rig = Begin();
  Play({rig.vicon}, 0.7);
  ASSERT_TRUE(WaitUntil([&] { return recorder_->Health().red(); }));
  Deliver(rig.plate, now_ns_);
  Play({rig.vicon, rig.plate}, 1.0);
  const auto item = [&] {
    for (const auto& i : recorder_->Health().items)
      if (i.stream == "plate/wrench" && i.what == "last_sample_age_s") return i;
    return recording::QualityItem();
  };
  ASSERT_TRUE(WaitUntil([&] { return item().value < 0.1; }));
  EXPECT_TRUE(recorder_->Health().red());
  recorder_->Acknowledge();
  EXPECT_FALSE(recorder_->Health().red());
  EXPECT_TRUE(item().red);
  Play({rig.vicon}, 0.8);
  ASSERT_TRUE(WaitUntil([&] { return recorder_->Health().red(); }));
  recorder_->Acknowledge();
  Deliver(rig.plate, now_ns_);
  Play({rig.vicon, rig.plate}, 1.0);
  auto take = recorder_->Stop();
  ASSERT_TRUE(take);
  const auto* kept = take->quality.Find("plate/wrench", "last_sample_age_s");
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->red);
  EXPECT_TRUE(kept->acknowledged);
  EXPECT_GE(kept->worst, 0.75);
}

}  // namespace
}  // namespace handhold::capture::health_test

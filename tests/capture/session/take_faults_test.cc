// What a refusing disk, an absent device and a device that changed may cost a take: that, and
// nothing of the next.
#include <sqlite3.h>

#include <array>
#include <thread>
#include <utility>

#include "capture/wire/socket.h"
#include "tests/fault/fault_vfs.h"
#include "tests/support/session_fixture.h"

namespace handhold::capture::take_faults_test {
namespace {

using test::WaitUntil;
using testing::ForceStream;
using testing::HandSource;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MarkerStream;
using ::testing::Not;

class TakeFaultsTest : public testing::SessionFixture {
 protected:
  TakeFaultsTest() { Disk().budget = -1; }
  ~TakeFaultsTest() override { Disk().budget = -1; }
  static fault::FaultVfs& Disk() { return fault::FaultVfs::Get(); }
  /// Both devices stream for 1 s of an armed session.
  void ArmBoth() {
    vicon_ = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
    plate_ = Add("plate", {ForceStream("plate/wrench", 1000)});
    MakeAndArm();
    vicon_->Announce();
    plate_->Announce();
    Play({vicon_, plate_}, 1.0);
    WaitForStreams({"vicon/markers", "plate/wrench"});
  }
  HandSource* vicon_ = nullptr;
  HandSource* plate_ = nullptr;
};

TEST_F(TakeFaultsTest, WhatADeviceSaysWhileTheDiskRefusesHoldsForTheNextTake) {
  options_.vfs = fault::FaultVfs::kName;
  ArmBoth();
  ASSERT_TRUE(recorder_->Start({}));
  Play({vicon_, plate_}, 1.0);
  WaitForStreams({"vicon/markers", "plate/wrench"});
  Disk().budget = 0;
  Play({vicon_, plate_}, 1.0);
  ASSERT_TRUE(WaitUntil([&] { return !recorder_->Health().trouble.empty(); }));
  vicon_->Announce({MarkerStream("vicon/markers", 3, 500)});
  plate_->sink->OnState(true, "back under another address");
  Play({vicon_, plate_}, 1.0);
  const auto lost = recorder_->Stop();
  ASSERT_TRUE(lost) << lost.error().message;
  EXPECT_FALSE(lost->quality.keep);
  // Of both announcements, though one was never written: 1 s each, and what waited for a commit.
  const auto* item = lost->quality.Find("vicon/markers", "lost_samples");
  ASSERT_NE(item, nullptr) << lost->page;
  EXPECT_GE(item->value, 990);
  EXPECT_LE(item->value, 1510);

  Disk().budget = -1;
  Play({vicon_, plate_}, 1.0);
  const Status started = recorder_->Start({});
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_TRUE(WaitUntil(
      [&] { return recorder_->Health().sources[1].text == "back under another address"; }));
  Play({vicon_, plate_}, 1.0);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_THAT(take->gaps, IsEmpty());
  EXPECT_TRUE(take->quality.keep) << take->page;
  const auto clip = Open(*take);
  const auto markers = clip->FindStreams("vicon/markers");
  ASSERT_EQ(markers.size(), 1u);
  EXPECT_EQ(markers[0]->channel_count(), 9);
  EXPECT_GE(clip->sample_count(markers[0]->id), 490);
}

TEST_F(TakeFaultsTest, AStartThatTheDiskRefusesAnywhereCanBeMadeAgain) {
  options_.vfs = fault::FaultVfs::kName;
  ArmBoth();
  int refused = 0;
  bool started = false;
  std::string last;
  for (int64_t budget = 0; !started && budget < (256 << 20);
       budget += std::max<int64_t>(4096, budget / 16)) {
    Disk().budget = budget;
    const Status status = recorder_->Start({});
    Disk().budget = -1;
    started = status.has_value();
    if (started) break;
    ++refused;
    last = status.error().message;
    EXPECT_THAT(status.error().message, Not(HasSubstr("does not flow")));
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      if (entry.path().string().ends_with("-lock")) continue;
      ADD_FAILURE() << "left behind: " << entry.path() << " after " << status.error().message;
    }
    if (HasFailure()) return;
    Play({vicon_, plate_}, 0.1);
    int looks = 0;
    WaitUntil([&] { return ++looks > 2; });
  }
  ASSERT_TRUE(started) << last;
  EXPECT_GE(refused, 5);
  Play({vicon_, plate_}, 1.0);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_TRUE(take->quality.keep) << take->page;
  EXPECT_EQ(Open(*take)->streams().size(), 2u);
}

TEST_F(TakeFaultsTest, AnAbsenceThatBeganBeforeTheTakeCountsFromItsBegin) {
  vicon_ = Add("vicon", {MarkerStream("vicon/markers", 2, 500)});
  plate_ = Add("plate", {ForceStream("plate/wrench", 1000)});
  sources_.back().required = false;
  MakeAndArm();
  vicon_->Announce();
  plate_->Announce();
  Play({vicon_, plate_}, 1.0);
  WaitForStreams({"vicon/markers", "plate/wrench"});
  Play({vicon_}, 20.0);
  ASSERT_TRUE(recorder_->Start({}));
  const int64_t at_begin = now_ns_;
  Play({vicon_}, 0.05);
  const int64_t next = (now_ns_ - kEpoch) / 1'000'000;
  int64_t& sent = next_[{plate_, 0}];
  plate_->sink->OnGap(plate_->base, sent, next - sent, recording::GapCause::kDisconnected);
  sent = next;
  Play({vicon_, plate_}, 3.0);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  ASSERT_EQ(take->gaps.size(), 1u);
  EXPECT_EQ(take->gaps[0].count, 50);
  EXPECT_EQ(take->gaps[0].first_missing_counter, (at_begin - kEpoch) / 1'000'000);
  EXPECT_GE(take->gaps[0].clip_begin.seconds(), -2e-3);
  EXPECT_EQ(take->quality.Find("plate/wrench", "lost_samples")->value, 50);
  EXPECT_THAT(take->page, Not(HasSubstr("DO NOT RELY"))) << take->page;
}

recording::ForceSensor Calibrated(double newtons_per_count) {
  recording::ForceSensor sensor;
  sensor.name = "plate";
  sensor.calibration.setZero(6, 6);
  for (int axis = 0; axis < 6; ++axis) sensor.calibration(axis, axis) = newtons_per_count;
  sensor.bias.setZero(6);
  return sensor;
}

// Also with a pre-roll: what was announced is read later than it was said.
TEST_F(TakeFaultsTest, ASensorThatReturnsWithAnotherCalibrationBeginsAnEpochUnderIt) {
  options_.pre_roll = Duration::Seconds(2);
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  plate->sensors = {Calibrated(1e-6)};
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  plate->sensors = {Calibrated(4e-6)};
  plate->Announce();
  Play({plate}, 1.0);
  ASSERT_TRUE(WaitUntil([&] { return recorder_->Start({}).has_value(); }));
  Play({plate}, 1.0);
  plate->Announce();  // as before: nothing changes
  Play({plate}, 1.0);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_THAT(take->page, HasSubstr("plate/wrench: its sensor came back with another calibration"));
  EXPECT_THAT(take->gaps, IsEmpty());
  const auto clip = Open(*take);
  const auto epochs = clip->FindStreams("plate/wrench");
  ASSERT_EQ(epochs.size(), 2u);
  for (size_t e = 0; e < 2; ++e) {
    int found = 0;
    for (const recording::ForceSensor& sensor : clip->force_sensors()) {
      if (sensor.stream_id != epochs[e]->id) continue;
      ++found;
      EXPECT_EQ(sensor.calibration(2, 2), e == 0 ? 1e-6 : 4e-6);
    }
    EXPECT_EQ(found, 1);
    EXPECT_NEAR(static_cast<double>(clip->sample_count(epochs[e]->id)), e == 0 ? 1000 : 3000, 20);
  }
}

TEST_F(TakeFaultsTest, ABlockThatTheFileCannotHoldIsALoss) {
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  plate->Announce();
  Play({plate}, 1.0);
  WaitForStreams({"plate/wrench"});
  ASSERT_TRUE(recorder_->Start({}));
  Play({plate}, 0.5);
  int64_t& next = next_[{plate, 0}];
  SampleView view;
  view.stream = plate->base;
  view.first_counter = next;
  view.count = 10;
  const std::vector<double> too_few(7, 1.0);
  view.values = too_few;
  view.clock.counter = next;
  view.clock.device_ns = next * 1'000'000;
  view.clock.host_ns = now_ns_ + 10'000'000;
  plate->sink->OnSamples(view);
  next += 10;
  now_ns_ += 10'000'000;
  Play({plate}, 0.5);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  ASSERT_EQ(take->gaps.size(), 1u);
  EXPECT_EQ(take->gaps[0].count, 10);
  EXPECT_EQ(take->quality.Find("plate/wrench", "lost_samples")->value, 10);
  EXPECT_TRUE(take->quality.Find("plate/wrench", "lost_samples")->red);
}

// The ring is sized for the nominal rate; what comes is four times that.
TEST_F(TakeFaultsTest, ALongPreRollGivesWayToWhatIsNew) {
  options_.ring = Duration::Seconds(5);
  options_.pre_roll = Duration::Seconds(60);
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  MakeAndArm();
  plate->Announce();
  Play({plate}, 0.1);
  WaitForStreams({"plate/wrench"});
  // Single samples: each carries a record's head. 30 MB and more into 8 MB.
  int64_t& next = next_[{plate, 0}];
  for (int k = 0; k < 200'000; ++k) {
    plate->Send(0, next++, 1, now_ns_ += 100'000);
    if (k % 2000 == 1999) {
      int looks = 0;
      WaitUntil([&] { return ++looks > 3; });
    }
  }
  ASSERT_TRUE(recorder_->Start({}));
  for (int k = 0; k < 1000; ++k) plate->Send(0, next++, 1, now_ns_ += 100'000);
  const auto take = recorder_->Stop();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_THAT(take->gaps, IsEmpty());
  EXPECT_THAT(take->page, HasSubstr("plate: its pre-roll is shorter than asked"));
}

TEST_F(TakeFaultsTest, ALibraryThatCannotBeWrittenIsSaidWhenArming) {
  Add("plate", {ForceStream("plate/wrench", 1000)});
  options_.now = [this] { return Timestamp::FromNanoseconds(now_ns_.load()); };
  const std::string real = std::exchange(directory_, "/proc/self");
  Make();
  directory_ = real;
  ASSERT_TRUE(recorder_->Check());
  const Status refused = recorder_->Arm();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_THAT(refused.error().message, HasSubstr("takes cannot be stored in '/proc/self'"));
  EXPECT_EQ(recorder_->Health().state, SessionState::kChecked);
}

/// Says nothing, as a device that accepts connections and hangs.
class MuteSource : public HandSource {
 public:
  using HandSource::HandSource;
  Result<std::vector<recording::StreamInfo>> Probe(Duration timeout) override {
    auto listener = wire::TcpListener::Listen({0x7f000001, 0});
    if (!listener) return listener.error();
    auto stream = wire::TcpStream::Connect(listener->address(), HostNow() + timeout);
    if (!stream) return stream.error();
    std::array<uint8_t, 4> buffer{};
    (void)stream->Read(buffer, HostNow() + timeout);
    return Error{ErrorCode::kTimeout, "said nothing"};
  }
};

TEST_F(TakeFaultsTest, CheckEndsWhenItIsCancelledNotWhenTheDevicesAnswer) {
  AddSource(std::make_unique<MuteSource>("mute", std::vector{ForceStream("mute/wrench", 1000)}));
  options_.probe_timeout = Duration::Seconds(1000);
  Make();
  int asked = 0;
  const auto lines = recorder_->Check([&] { return ++asked > 5; });
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(recorder_->Health().state, SessionState::kConfigured);
}

TEST_F(TakeFaultsTest, HealthMayBeAskedFromAnyThreadWhileArming) {
  ArmBoth();
  ASSERT_TRUE(recorder_->Disarm());
  std::atomic<bool> end{false};
  size_t fewest = 2;
  std::thread asker([&] {
    while (!end) fewest = std::min(fewest, recorder_->Health().sources.size());
  });
  for (int k = 0; k < 10; ++k) {
    EXPECT_TRUE(recorder_->Check());
    EXPECT_TRUE(recorder_->Arm());
    vicon_->sink->OnState(true, "a text that is long enough to be allocated on the heap");
    EXPECT_TRUE(WaitUntil([&] { return recorder_->Health().sources[0].connected; }));
    EXPECT_TRUE(recorder_->Disarm());
  }
  end = true;
  asker.join();
  EXPECT_EQ(fewest, 2u) << "every snapshot names every source";
}

}  // namespace
}  // namespace handhold::capture::take_faults_test

#include "capture/session/recorder.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "database/store/clip_reader.h"
#include "tests/support/capture_sink.h"
#include "tests/support/scripted_source.h"

namespace handhold::capture {
namespace {

using test::WaitUntil;
using testing::AnalogStream;
using testing::ForceStream;
using testing::HandSource;
using ::testing::HasSubstr;
using testing::MarkerStream;
using testing::ScriptedValue;

/// A session on a host clock that only the test moves.
class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    directory_ = ::testing::TempDir() + "recorder_test_" + std::to_string(::getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(directory_);
  }
  ~RecorderTest() override {
    recorder_.reset();
    std::filesystem::remove_all(directory_);
  }

  HandSource* Add(const std::string& name, std::vector<recording::StreamInfo> streams) {
    auto source = std::make_unique<HandSource>(name, std::move(streams));
    HandSource* raw = source.get();
    sources_.emplace_back();
    sources_.back().source = std::move(source);
    return raw;
  }
  TakeTarget Target() {
    TakeTarget target;
    target.directory = directory_;
    target.new_take =
        [this](recording::ClipInfo info) -> Result<std::pair<recording::ClipInfo, std::string>> {
      info.name = "take_" + std::to_string(++takes_);
      return std::pair(info, directory_ + "/" + info.name + ".clip");
    };
    return target;
  }
  void Make() {
    options_.now = [this] { return Timestamp::FromNanoseconds(now_ns_.load()); };
    auto made = Recorder::Make(std::move(sources_), Target(), options_);
    ASSERT_TRUE(made) << made.error().message;
    recorder_ = *std::move(made);
  }
  void MakeAndArm() {
    Make();
    auto lines = recorder_->Check();
    ASSERT_TRUE(lines);
    ASSERT_TRUE(recorder_->Arm());
  }
  /// Time passes; every stream of every source delivers its samples up to then, in packets of 10
  /// ms.
  void Play(std::vector<HandSource*> sources, double seconds) {
    const auto steps = static_cast<int64_t>(std::llround(seconds * 100));
    for (int64_t k = 0; k < steps; ++k) {
      now_ns_ += 10'000'000;
      for (HandSource* source : sources) {
        for (size_t s = 0; s < source->streams().size(); ++s) {
          const int64_t rate = source->streams()[s].rate.numerator;
          int64_t& next = next_[{source, s}];
          const int64_t end = (now_ns_ - kEpoch) * rate / 1'000'000'000;
          if (end > next)
            source->Send(static_cast<int>(s), next, static_cast<int>(end - next), now_ns_);
          next = end;
        }
      }
    }
  }
  std::unique_ptr<store::ClipReader> Open(const TakeResult& take) {
    auto clip = store::ClipReader::Open(take.path);
    EXPECT_TRUE(clip) << clip.error().message;
    return *std::move(clip);
  }
  /// Waits until the encoder has seen the streams.
  void WaitForStreams(size_t least) {
    ASSERT_TRUE(WaitUntil([&] { return recorder_->Health().items.size() >= least; }));
  }

  static constexpr int64_t kEpoch = 1'000'000'000'000;
  std::atomic<int64_t> now_ns_{kEpoch};
  std::map<std::pair<HandSource*, size_t>, int64_t> next_;
  std::vector<RecordedSource> sources_;
  RecorderOptions options_;
  std::string directory_;
  int takes_ = 0;
  std::unique_ptr<Recorder> recorder_;
};

TEST_F(RecorderTest, ATakeHoldsEverySampleWithItsTimeFromThePreRollOn) {
  HandSource* vicon =
      Add("vicon", {MarkerStream("vicon/markers", 5, 500), AnalogStream("vicon/emg", 2, 2000)});
  HandSource* plate = Add("plate", {ForceStream("plate/wrench", 1000)});
  options_.pre_roll = Duration::Seconds(1);
  MakeAndArm();
  vicon->Announce();
  plate->Announce();
  Play({vicon, plate}, 3.0);
  WaitForStreams(10);
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

}  // namespace
}  // namespace handhold::capture

/// A recorder on a host clock that only the test moves, with sources that the test plays by hand.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "capture/session/recorder.h"
#include "database/store/clip_reader.h"
#include "tests/support/capture_sink.h"
#include "tests/support/scripted_source.h"

namespace handhold::testing {

class SessionFixture : public ::testing::Test {
 protected:
  SessionFixture() {
    directory_ = ::testing::TempDir() + "session_" + std::to_string(::getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(directory_);
    // The test's clock runs as fast as the test: nothing may depend on the encoder keeping up.
    options_.ring = Duration::Seconds(300);
  }
  ~SessionFixture() override {
    recorder_.reset();
    std::filesystem::remove_all(directory_);
  }

  HandSource* Add(const std::string& name, std::vector<recording::StreamInfo> streams) {
    auto source = std::make_unique<HandSource>(name, std::move(streams));
    HandSource* raw = source.get();
    AddSource(std::move(source));
    return raw;
  }
  void AddSource(std::unique_ptr<capture::Source> source) {
    sources_.emplace_back();
    sources_.back().source = std::move(source);
  }
  capture::TakeTarget Target() {
    capture::TakeTarget target;
    target.directory = directory_;
    target.new_take =
        [this](recording::ClipInfo info) -> Result<std::pair<recording::ClipInfo, std::string>> {
      if (while_made_) while_made_();
      info.name = "take_" + std::to_string(++takes_);
      return std::pair(info, directory_ + "/" + info.name + ".clip");
    };
    return target;
  }
  void Make() {
    auto made = capture::Recorder::Make(std::move(sources_), Target(), options_);
    ASSERT_TRUE(made) << made.error().message;
    recorder_ = *std::move(made);
  }
  /// On the test's own clock.
  void MakeAndArm() {
    options_.now = [this] { return Timestamp::FromNanoseconds(now_ns_.load()); };
    Make();
    ASSERT_TRUE(recorder_->Check());
    ASSERT_TRUE(recorder_->Arm());
  }
  /// Time passes; every stream of every source delivers its samples up to then, in packets of 10
  /// ms.
  void Play(const std::vector<HandSource*>& sources, double seconds) {
    const auto steps = std::llround(seconds * 100);
    for (int64_t k = 0; k < steps; ++k) {
      now_ns_ += 10'000'000;
      for (HandSource* source : sources) Deliver(source, now_ns_);
    }
  }
  /// The samples of `source` up to now, as received at `host_ns`.
  void Deliver(HandSource* source, int64_t host_ns, double visible = 1.0) {
    for (size_t s = 0; s < source->streams().size(); ++s) {
      const int64_t rate = source->streams()[s].rate.numerator;
      int64_t& next = next_[{source, s}];
      const int64_t end = (now_ns_ - kEpoch) * rate / 1'000'000'000;
      if (end > next)
        source->Send(static_cast<int>(s), next, static_cast<int>(end - next), host_ns, visible);
      next = std::max(next, end);
    }
  }
  std::unique_ptr<store::ClipReader> Open(const capture::TakeResult& take) {
    auto clip = store::ClipReader::Open(take.path);
    EXPECT_TRUE(clip) << clip.error().message;
    return *std::move(clip);
  }
  /// Waits until the encoder has seen these streams.
  void WaitForStreams(const std::vector<std::string>& names) {
    ASSERT_TRUE(test::WaitUntil([&] {
      const capture::HealthSnapshot health = recorder_->Health();
      for (const std::string& name : names) {
        bool found = false;
        for (const auto& item : health.items) found = found || item.stream == name;
        if (!found) return false;
      }
      return true;
    }));
  }

  static constexpr int64_t kEpoch = 1'000'000'000'000;
  std::atomic<int64_t> now_ns_{kEpoch};
  std::map<std::pair<HandSource*, size_t>, int64_t> next_;
  std::vector<capture::RecordedSource> sources_;
  capture::RecorderOptions options_;
  std::string directory_;
  int takes_ = 0;
  std::function<void()> while_made_;  ///< happens while a take's place is made
  std::unique_ptr<capture::Recorder> recorder_;
};

}  // namespace handhold::testing

#include "capture/source/playback_source.h"

#include <cmath>

#include <gmock/gmock.h>

#include "tests/support/capture_sink.h"

namespace handhold::capture::playback_source_test {
namespace {

using recording::SampleBlock;
using recording::StreamInfo;
using recording::StreamKind;
using test::CaptureSink;
using test::GapRanges;
using test::WaitUntil;

constexpr int kFrames = 200, kForces = 2000;

std::shared_ptr<recording::Clip> NamedClip(const std::string& name) {
  recording::ClipInfo info;
  info.name = name;
  return std::make_shared<recording::Clip>(info);
}

StreamInfo Stream(const std::string& name, StreamKind kind, int64_t rate_hz) {
  StreamInfo info;
  info.name = name;
  info.kind = kind;
  info.rate = {rate_hz, 1};
  return info;
}

SampleBlock Block(int stream, int64_t index, int64_t counter, int count) {
  SampleBlock block;
  block.stream_id = stream;
  block.first_index = index;
  block.first_counter = counter;
  block.count = count;
  return block;
}

/// 0.4 s: markers at 500 Hz with counters from 1000 and frames 50..59 absent, force at 5 kHz,
/// ragged points.
std::shared_ptr<recording::Clip> MakeClip() {
  auto clip = NamedClip("stroke_001");
  StreamInfo markers = Stream("vicon/markers", StreamKind::kMarkers, 500);
  for (const char* axis : {"A.x", "A.y", "A.z"}) markers.channels.push_back({axis, "m", 1e-5});
  StreamInfo force = Stream("plate/wrench", StreamKind::kForceTorque, 5000);
  force.channels = {{"Fx", "count", 1.0}, {"Fy", "count", 1.0}};
  StreamInfo points = Stream("vicon/points", StreamKind::kUnlabelledPoints, 500);
  points.channels = {{"x", "m", 0.0}, {"y", "m", 0.0}, {"z", "m", 0.0}, {"id", "1", 0.0}};
  const int m = clip->AddStream(markers, recording::ClockMap::Identity(-2'000'000'000));
  const int f = clip->AddStream(force, recording::ClockMap::Identity());
  const int p = clip->AddStream(points, recording::ClockMap::Identity());
  for (const auto& [first, last] : {std::pair(0, 50), std::pair(60, kFrames)}) {
    SampleBlock block = Block(m, first == 0 ? 0 : 50, 1000 + first, last - first);
    for (int c = 0; c < 3; ++c) {
      for (int i = first; i < last; ++i) block.values.push_back(c + 0.001 * i);
    }
    if (first > 0) {
      recording::Gap gap;
      gap.stream_id = m;
      gap.first_missing_counter = 1050;
      gap.count = 10;
      gap.cause = recording::GapCause::kNetworkLoss;
      clip->AddGap(gap);
    }
    clip->Append(block);
  }
  SampleBlock block = Block(f, 0, 0, kForces);
  for (int c = 0; c < 2; ++c) {
    for (int i = 0; i < kForces; ++i) block.values.push_back(10 * c + i);
  }
  clip->Append(block);
  SampleBlock ragged = Block(p, 0, 0, kFrames);
  for (int i = 0; i < kFrames; ++i) {
    ragged.point_counts.push_back(i % 3);
    for (int k = 0; k < i % 3; ++k) {
      for (const double v : {0.1 * k, 0.2, 0.001 * i, 77.0 + k}) ragged.values.push_back(v);
    }
  }
  clip->Append(ragged);
  return clip;
}

TEST(PlaybackSource, PlaysEverySampleWithItsCounterAndItsGaps) {
  auto source = MakePlaybackSource(MakeClip(), {.name = "clip", .speed = 0});
  ASSERT_EQ(source->Probe({})->size(), 3u);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil(
      [&] { return !source->Health().connected && sink.Count("plate/wrench") == kForces; }));
  source->Stop();
  const auto streams = sink.streams();
  const auto& markers = streams[0];
  ASSERT_EQ(markers.counters.size(), kFrames - 10u);
  EXPECT_THAT(GapRanges(markers.gaps), ::testing::ElementsAre(std::pair(1050, 1060)));
  EXPECT_EQ(markers.gaps[0].cause, recording::GapCause::kNetworkLoss)
      << "the recording's own cause";
  for (size_t i = 0; i < markers.counters.size(); ++i) {
    const auto frame = static_cast<double>(markers.counters[i] - 1000);
    ASSERT_DOUBLE_EQ(markers.samples[i][2], 2 + 0.001 * frame);
  }
  for (int i = 0; i < kForces; ++i) {
    ASSERT_EQ(streams[1].counters[i], i);
    ASSERT_EQ(streams[1].samples[i][1], 10 + i);
  }
  const auto& points = streams[2];
  ASSERT_EQ(points.samples.size(), static_cast<size_t>(kFrames));
  for (int i = 0; i < kFrames; ++i) {
    ASSERT_EQ(points.samples[i].size(), 4u * (i % 3));
    if (i % 3 > 0) {
      ASSERT_DOUBLE_EQ(points.samples[i][4 * (i % 3) - 1], 77.0 + i % 3 - 1);
    }
  }
  EXPECT_EQ(source->Health().lost_samples, 10);
}

TEST(PlaybackSource, LoopsWithAscendingCounters) {
  auto source = MakePlaybackSource(MakeClip(), {.name = "clip", .speed = 0, .loop = true});
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= 3 * kForces; }));
  source->Stop();
  const auto force = sink.streams()[1];
  EXPECT_TRUE(force.gaps.empty());
  for (size_t i = 0; i < force.counters.size(); ++i)
    ASSERT_EQ(force.counters[i], static_cast<int64_t>(i));
  const auto markers = sink.streams()[0];
  ASSERT_GT(markers.counters.size(), 200u);
  EXPECT_EQ(markers.counters[190], 1200);
}

// 0.4 s of clip at 2x is 0.2 s of ours: never faster, since every window waits for its end.
TEST(PlaybackSource, PacesByTheClipsTime) {
  auto source = MakePlaybackSource(MakeClip(), {.name = "clip", .speed = 2.0});
  CaptureSink sink;
  const Timestamp begin = HostNow();
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") == kForces; }));
  source->Stop();
  const auto force = sink.streams()[1];
  for (const auto& pair : force.pairs) {
    // A packet comes no earlier than its last sample's time.
    EXPECT_GE(pair.host_ns - begin.ns(), pair.device_ns + pair.latency_ns);
  }
}

// To a consumer it is a device that samples so much faster.
TEST(PlaybackSource, AtAnotherSpeedRatesAndDeviceTimesAreTheHostClocks) {
  struct Case {
    double speed;
    recording::Rate force, markers;
  };
  for (const auto& [speed, force, markers] :
       {Case{20, {100'000, 1}, {10'000, 1}}, Case{0.75, {3750, 1}, {375, 1}},
        Case{1, {5000, 1}, {500, 1}}}) {
    auto source = MakePlaybackSource(MakeClip(), {.name = "clip", .speed = speed, .loop = true});
    EXPECT_EQ(source->Probe({})->at(1).rate, force) << speed;
    CaptureSink sink;
    ASSERT_TRUE(source->Start(&sink));
    ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= 2 * kForces; }));
    source->Stop();
    const auto streams = sink.streams();
    EXPECT_EQ(streams[0].info.rate, markers);
    EXPECT_EQ(streams[1].info.rate, force);
    for (size_t s : {0u, 1u}) {
      const double rate_hz = streams[s].info.rate.hz();
      for (const auto& pair : streams[s].pairs) {
        EXPECT_NEAR(1e-9 * static_cast<double>(pair.device_ns),
                    static_cast<double>(pair.counter) / rate_hz, 1e-9);
      }
    }
    EXPECT_TRUE(streams[1].gaps.empty()) << "a pass is as long as the clip, in its counters";
    EXPECT_EQ(streams[0].counters[190], 1200);
  }
  auto odd = MakePlaybackSource(MakeClip(), {.name = "clip", .speed = 1.2345678});
  EXPECT_NEAR(odd->Probe({})->at(1).rate.hz(), 5000 * 1.2345678, 0.01);
}

TEST(PlaybackSource, AnEmptyClipIsRefusedByName) {
  auto clip = NamedClip("nothing");
  auto source = MakePlaybackSource(clip, {.name = "clip"});
  EXPECT_THAT(source->Probe({}).error().message, ::testing::HasSubstr("nothing"));
  CaptureSink sink;
  EXPECT_FALSE(source->Start(&sink));
}

}  // namespace
}  // namespace handhold::capture::playback_source_test

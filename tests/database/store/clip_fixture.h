/// Clips with one of everything, made from a seed, and a way to say two sources are the same. For
/// the store's tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include "database/recording/clip.h"

namespace handhold::store {

/// A folder that is removed with its test.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "handhold-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct FixtureOptions {
  double seconds = 5.0;
  int markers = 4;
  bool quantised = true;  ///< 0.01 mm and counts; else quantum 0
  bool gaps = true;
  /// Points, text, derived origins, a second epoch; a pressure array, bodies, uneven analog
  /// samples.
  bool extras = true;
};

inline recording::StreamInfo MarkerStream(int markers, double quantum) {
  recording::StreamInfo info;
  info.name = "vicon/markers";
  info.kind = recording::StreamKind::kMarkers;
  info.device = "vicon";
  info.rate = {500, 1};
  info.frame = "W";
  for (int m = 0; m < markers; ++m) {
    for (const char* axis : {".x", ".y", ".z", ".residual"})
      info.channels.push_back({"M" + std::to_string(m) + axis, "m", quantum});
  }
  return info;
}

inline recording::StreamInfo ForceStream(bool quantised) {
  recording::StreamInfo info;
  info.name = "plate/wrench";
  info.kind = recording::StreamKind::kForceTorque;
  info.device = "plate";
  info.rate = {7000, 3};  // does not divide a second evenly
  info.frame = "S:plate";
  info.sign = "hand_on_object";
  for (const char* name : {"fx", "fy", "fz", "tx", "ty", "tz"})
    info.channels.push_back({name, "count", quantised ? 1.0 : 0.0});
  return info;
}

/// One block of marker samples [first, first + count): smooth motion, noise, now and then an
/// occluded marker.
inline recording::SampleBlock MarkerBlock(std::mt19937_64& rng, int stream, int channels,
                                          int64_t index, int64_t counter, int count) {
  std::normal_distribution<double> noise(0.0, 5e-5);
  recording::SampleBlock block;
  block.stream_id = stream;
  block.first_index = index;
  block.first_counter = counter;
  block.count = count;
  for (int c = 0; c < channels; ++c) {
    for (int i = 0; i < count; ++i) {
      const double t = 0.002 * static_cast<double>(counter + i);
      const bool occluded = std::fmod(t + 0.7 * (c / 4), 3.0) < 0.06;
      block.values.push_back(occluded ? std::numeric_limits<double>::quiet_NaN()
                                      : 0.2 * std::sin(3 * t + c) + noise(rng));
    }
  }
  return block;
}

inline recording::SampleBlock ForceBlock(std::mt19937_64& rng, int stream, int64_t index,
                                         int64_t counter, int count) {
  std::normal_distribution<double> noise(0.0, 3.0);
  recording::SampleBlock block;
  block.stream_id = stream;
  block.first_index = index;
  block.first_counter = counter;
  block.count = count;
  for (int c = 0; c < 6; ++c) {
    for (int i = 0; i < count; ++i)
      block.values.push_back(
          std::floor(1000 * std::sin(0.003 * static_cast<double>(counter + i) + c) + noise(rng)));
  }
  return block;
}

/// A pressure array (more cells than a frame groups), rigid bodies, one of them out of sight, and
/// analog samples that come when they come.
inline void AddRareKinds(std::mt19937_64& rng, const recording::ClockMap& clock,
                         recording::Clip& clip) {
  using namespace recording;
  StreamInfo pad;
  pad.name = "pad/cells";
  pad.kind = StreamKind::kPressureArray;
  pad.rate = {100, 1};
  for (int c = 0; c < 20; ++c) pad.channels.push_back({"p" + std::to_string(c), "Pa", 1.0});
  StreamInfo bodies;
  bodies.name = "vicon/bodies";
  bodies.kind = StreamKind::kRigidPoses;
  bodies.rate = {250, 1};
  bodies.frame = "W";
  for (const char* body : {"cup", "wrist"}) {
    for (const char* part : {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"})
      bodies.channels.push_back({std::string(body) + part, part[1] == 'q' ? "1" : "m", 0.0});
  }
  StreamInfo analog;
  analog.name = "trigger/level";
  analog.kind = StreamKind::kAnalog;
  analog.rate = {0, 1};
  analog.channels = {{"v", "V", 0.25}, {"w", "V", 0.0}};
  for (StreamInfo* info : {&pad, &bodies, &analog}) {
    const int id = clip.AddStream(*info, clock);
    const int channels = info->channel_count();
    int64_t at = 0;
    int64_t host_ns = clip.info().host_start_ns;
    for (int b = 0; b < 40; ++b) {
      SampleBlock block;
      block.stream_id = id;
      block.first_index = block.first_counter = at;
      block.count = 1 + static_cast<int>(rng() % 12);
      for (int c = 0; c < channels; ++c) {
        for (int i = 0; i < block.count; ++i) {
          const bool unseen = info->kind == StreamKind::kRigidPoses && c >= 7 && b % 5 == 1;
          block.values.push_back(unseen ? std::numeric_limits<double>::quiet_NaN()
                                        : 0.25 * static_cast<double>(rng() % 4000));
        }
      }
      for (int i = 0; i < block.count && info->rate.numerator == 0; ++i) {
        host_ns += static_cast<int64_t>(rng() % 30'000'000);
        block.host_times.push_back(Timestamp::FromNanoseconds(host_ns));
      }
      at += block.count;
      clip.Append(block);
    }
  }
}

/// A clip in memory with every kind of stream, gaps, events, a force sensor, clocks, quality.
inline recording::Clip MakeClip(uint64_t seed, const FixtureOptions& options = {}) {
  using namespace recording;
  std::mt19937_64 rng(seed);
  ClipInfo info;
  info.id = ClipId::New();
  info.name = "stroke_007";
  info.subject = "S03";
  info.session = "2026-11-18a";
  info.task = "stroke";
  Thing plate{.name = "plate", .model = "flat_plate", .pose = Thing::Pose::kFixed};
  plate.X_WT = geometry::RigidTransform{geometry::Exp<double>(Eigen::Vector3d(0.1, -0.2, 0.3)),
                                        Eigen::Vector3d(0.12, 0, -0.075)};
  info.things = {plate,
                 {.name = "box",
                  .model = "box_3x5x7",
                  .pose = Thing::Pose::kMarkers,
                  .stream = "vicon/markers",
                  .items = {"B1", "B2", "B3"}},
                 {.name = "R", .kind = Thing::Kind::kHand, .model = "hand27"}};
  info.utc_start = Timestamp::FromNanoseconds(1'763'000'000'123'456'789);
  info.host_start_ns = 5'000'000'000'000;
  info.properties = {{"tool", "test"}, {"note", "zwölf Marker; 'quotes' \"too\""}};
  Clip clip(info);
  ClockMap markers_clock = ClockMap::Identity(info.host_start_ns - 2'000'000'000);
  markers_clock.segments[0].rate_error = 41e-6;
  markers_clock.constant_delay_ns = 4'200'000;
  ClockMap force_clock = ClockMap::Identity(info.host_start_ns);
  ClockSegment later = force_clock.segments[0];
  later.device_begin_ns = 2'000'000'000;
  later.host_begin_ns = later.host_begin_ns + 2'000'123'000;
  later.rate_error = -12e-6;
  force_clock.segments[0].device_end_ns = later.device_begin_ns;
  force_clock.segments.push_back(later);

  const int markers =
      clip.AddStream(MarkerStream(options.markers, options.quantised ? 1e-5 : 0.0), markers_clock);
  const int force = clip.AddStream(ForceStream(options.quantised), force_clock);
  int64_t counter = 1000, index = 0;
  for (int64_t left = static_cast<int64_t>(options.seconds * 500); left > 0;) {
    const int count =
        static_cast<int>(std::min<int64_t>(left, 1 + static_cast<int64_t>(rng() % 40)));
    clip.Append(MarkerBlock(rng, markers, options.markers * 4, index, counter, count));
    index += count;
    counter += count + (options.gaps && rng() % 10 == 0 ? 1 + static_cast<int64_t>(rng() % 5) : 0);
    left -= count;
  }
  counter = index = 0;
  for (int64_t left = static_cast<int64_t>(options.seconds * 7000 / 3); left > 0;) {
    const int count =
        static_cast<int>(std::min<int64_t>(left, 100 + static_cast<int64_t>(rng() % 300)));
    clip.Append(ForceBlock(rng, force, index, counter, count));
    index += count;
    counter += count;
    left -= count;
  }
  ForceSensor sensor;
  sensor.name = "plate";
  sensor.stream_id = force;
  sensor.calibration = Eigen::Matrix<double, 6, 6>::Identity() * 0.01;
  sensor.calibration(2, 0) = 0.001;
  sensor.bias = Eigen::VectorXd::Constant(6, 3.0);
  sensor.sign = -1.0;
  sensor.X_MS.p = {0.1, 0.2, 0.3};
  sensor.full_scale_N = 50.0;
  sensor.serial = "FT12345";
  clip.AddForceSensor(sensor);
  clip.SetClockPairs(force,
                     {{0, 0, 5'000'000'001'000, 0}, {100, 42'857'142, 5'000'042'900'000, 7}});
  clip.AddEvent({Timestamp::FromNanoseconds(1'500'000'000), Duration::Milliseconds(20), "mark",
                 "operator", 0, 3.5, "first touch"});
  clip.AddEvent({Timestamp::FromNanoseconds(700'000'000), Duration(), "contact_on", "indexer",
                 force, 12.0, ""});
  QualityRecord quality;
  quality.items.push_back({"vicon/markers", "lost_samples", 3, 3, 0, true, false,
                           Timestamp::FromNanoseconds(5), "the network"});
  quality.keep = false;
  quality.advice = "record again";
  clip.SetQuality(quality);
  if (!options.extras) return clip;

  StreamInfo points;
  points.name = "vicon/points";
  points.kind = StreamKind::kUnlabelledPoints;
  points.rate = {500, 1};
  points.frame = "W";
  points.channels = {{"x", "m", 1e-5}, {"y", "m", 1e-5}, {"z", "m", 1e-5}, {"id", "1", 1.0}};
  const int ragged = clip.AddStream(points, markers_clock);
  int64_t at = 0;
  for (int b = 0; b < 60; ++b) {
    SampleBlock block;
    block.stream_id = ragged;
    block.first_index = at;
    block.first_counter = at;
    block.count = 25;
    for (int i = 0; i < block.count; ++i) {
      const int n = b < 5 ? 0 : static_cast<int>(rng() % 4);
      block.point_counts.push_back(n);
      for (int p = 0; p < n; ++p) {
        for (int k = 0; k < 3; ++k)
          block.values.push_back(1e-5 * static_cast<double>(rng() % 100'000));
        block.values.push_back(static_cast<double>(rng() % 50));
      }
    }
    at += block.count;
    clip.Append(block);
  }
  StreamInfo text;
  text.name = "operator/text";
  text.kind = StreamKind::kText;
  const int notes = clip.AddStream(text, ClockMap::Identity(0));
  for (int i = 0; i < 7; ++i) {
    SampleBlock block;
    block.stream_id = notes;
    block.first_index = i;
    block.first_counter = i;
    block.count = 1;
    block.texts = {i == 3 ? std::string() : "note " + std::to_string(i)};
    block.host_times = {Timestamp::FromNanoseconds(info.host_start_ns + 600'000'000ll * i)};
    clip.Append(block);
  }
  StreamInfo filled = MarkerStream(1, 0.0);
  filled.name = "vicon/markers/filled";
  filled.made_by = "0123abcd";
  const int derived = clip.AddStream(filled, markers_clock);
  at = 0;
  for (int b = 0; b < 30; ++b) {
    SampleBlock block = MarkerBlock(rng, derived, 4, at, at, 50);
    if (b >= 10) {
      for (double& v : block.values) {
        block.origins.push_back(std::isnan(v)    ? SampleOrigin::kPredicted
                                : rng() % 9 == 0 ? SampleOrigin::kInterpolated
                                                 : SampleOrigin::kMeasured);
        if (std::isnan(v)) v = 0.125;
      }
    }
    at += 50;
    clip.Append(block);
  }
  StreamInfo again = MarkerStream(2, 1e-5);
  again.epoch = 1;
  const int second = clip.AddStream(again, markers_clock);
  clip.Append(MarkerBlock(rng, second, 8, 0, 5000, 1));
  StreamInfo empty = ForceStream(true);
  empty.name = "unused/wrench";
  clip.AddStream(empty, force_clock);
  AddRareKinds(rng, markers_clock, clip);
  return clip;
}

inline void ExpectSameWindow(const recording::SampleWindow& a, const recording::SampleWindow& b,
                             const std::vector<double>& quanta) {
  ASSERT_EQ(a.times, b.times);
  ASSERT_EQ(a.counters, b.counters);
  ASSERT_EQ(a.channel_count, b.channel_count);
  ASSERT_EQ(a.point_counts, b.point_counts);
  ASSERT_EQ(a.texts, b.texts);
  ASSERT_EQ(a.origins, b.origins);
  ASSERT_EQ(a.values.size(), b.values.size());
  const size_t n = a.times.size();
  for (size_t i = 0; i < a.values.size(); ++i) {
    const size_t channel = !a.point_counts.empty() ? i % 4 : n == 0 ? 0 : i / n;
    const double quantum = quanta.empty() ? 0.0 : quanta[channel % quanta.size()];
    if (std::isnan(a.values[i])) {
      ASSERT_TRUE(std::isnan(b.values[i])) << i;
    } else if (quantum == 0.0) {
      ASSERT_EQ(std::bit_cast<uint64_t>(a.values[i]), std::bit_cast<uint64_t>(b.values[i])) << i;
    } else {
      ASSERT_LE(std::abs(a.values[i] - b.values[i]),
                0.5 * quantum + 2.5e-16 * std::abs(a.values[i]))
          << i;
    }
  }
}

/// Everything a source says, and every sample. `exact`: to the bit, else within half of each
/// channel's quantum.
inline void ExpectSameClip(const recording::ClipSource& a, const recording::ClipSource& b,
                           bool exact) {
  EXPECT_EQ(a.info(), b.info());
  ASSERT_EQ(a.streams(), b.streams());
  EXPECT_EQ(a.events(), b.events());
  EXPECT_EQ(a.gaps(), b.gaps());
  EXPECT_EQ(a.quality(), b.quality());
  ASSERT_EQ(a.force_sensors().size(), b.force_sensors().size());
  for (size_t s = 0; s < a.force_sensors().size(); ++s) {
    const recording::ForceSensor &x = a.force_sensors()[s], &y = b.force_sensors()[s];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.stream_id, y.stream_id);
    EXPECT_EQ(x.calibration, y.calibration);
    EXPECT_EQ(x.bias, y.bias);
    EXPECT_EQ(x.sign, y.sign);
    EXPECT_EQ(x.X_MS.R, y.X_MS.R);
    EXPECT_EQ(x.X_MS.p, y.X_MS.p);
    EXPECT_EQ(x.normal_S, y.normal_S);
    EXPECT_EQ(x.full_scale_N, y.full_scale_N);
    EXPECT_EQ(x.serial, y.serial);
  }
  for (const recording::StreamInfo& stream : a.streams()) {
    SCOPED_TRACE(stream.name);
    EXPECT_EQ(a.clock_map(stream.id), b.clock_map(stream.id));
    EXPECT_EQ(a.ClockPairs(stream.id).value(), b.ClockPairs(stream.id).value());
    EXPECT_EQ(a.Extent(stream.id), b.Extent(stream.id));
    std::vector<double> quanta;
    for (const recording::Channel& c : stream.channels) quanta.push_back(exact ? 0.0 : c.quantum);
    const auto x = a.ReadAll(stream.id), y = b.ReadAll(stream.id);
    ASSERT_TRUE(x) << x.error().message;
    ASSERT_TRUE(y) << y.error().message;
    ExpectSameWindow(*x, *y, quanta);
  }
}

}  // namespace handhold::store

#include "database/recording/clip.h"

#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::recording::clip_test {
namespace {

using ::testing::ElementsAre;

StreamInfo TwoMarkers() {
  StreamInfo info;
  info.name = "vicon/markers";
  info.kind = StreamKind::kMarkers;
  info.rate = {500, 1};
  for (const char* name : {"A.x", "A.y", "A.z", "B.x", "B.y", "B.z"})
    info.channels.push_back({name, "m", 1e-5});
  return info;
}

SampleBlock Block(int stream, int64_t counter, int count, double base) {
  SampleBlock b;
  b.stream_id = stream;
  b.first_counter = counter;
  b.count = count;
  for (int c = 0; c < 6; ++c) {
    for (int i = 0; i < count; ++i) b.values.push_back(base + 100 * c + i);
  }
  return b;
}

TEST(ClipTest, ReadsAWindowAcrossBlocksWithTimesUnderTheClockMap) {
  ClipInfo info;
  info.host_start_ns = 1'000'000;
  Clip clip(info);
  ClockMap map = ClockMap::Identity(1'000'000);
  map.segments[0].rate_error = 40e-6;
  const int id = clip.AddStream(TwoMarkers(), map);
  clip.Append(Block(id, 0, 3, 0));
  clip.Append(Block(id, 3, 2, 3));

  // Counter 4 is 8 ms of device time, 8.00032 ms of host time.
  auto window = clip.Read(
      id, {Timestamp::FromNanoseconds(3'000'000), Timestamp::FromNanoseconds(8'000'321)}, {5, 0});
  ASSERT_TRUE(window) << window.error().message;
  EXPECT_THAT(window->counters, ElementsAre(2, 3, 4));
  EXPECT_EQ(window->times[2].ns(), 8'000'320);
  EXPECT_EQ(window->value(0, 0), 502);
  EXPECT_EQ(window->value(0, 2), 504);
  EXPECT_EQ(window->value(1, 1), 3);
  EXPECT_TRUE(clip.gaps().empty());
}

TEST(ClipTest, AJumpOfTheCounterIsAGapAndShiftsNoTime) {
  Clip clip(ClipInfo{});
  const int id = clip.AddStream(TwoMarkers(), ClockMap::Identity());
  clip.Append(Block(id, 0, 3, 0));
  clip.Append(Block(id, 153, 1, 0));
  ASSERT_EQ(clip.gaps().size(), 1u);
  EXPECT_EQ(clip.gaps()[0].first_missing_counter, 3);
  EXPECT_EQ(clip.gaps()[0].count, 150);
  EXPECT_EQ(clip.gaps()[0].clip_begin.ns(), 6'000'000);
  EXPECT_EQ(clip.gaps()[0].clip_end.ns(), 306'000'000);
  EXPECT_EQ(clip.ReadAll(id)->times.back().ns(), 306'000'000);
}

TEST(ClipTest, UnknownStreamsAndChannelsAreNamed) {
  Clip clip(ClipInfo{});
  const int id = clip.AddStream(TwoMarkers(), ClockMap::Identity());
  EXPECT_EQ(clip.ReadAll(id + 1).error().code, ErrorCode::kNotFound);
  const auto bad = clip.Read(id, {}, {6});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, ::testing::HasSubstr("vicon/markers"));
}

TEST(ClipTest, RaggedPointsKeepTheirSamplesApart) {
  Clip clip(ClipInfo{});
  StreamInfo info;
  info.name = "vicon/unlabelled";
  info.kind = StreamKind::kUnlabelledPoints;
  info.rate = {500, 1};
  const int id = clip.AddStream(info, ClockMap::Identity());
  SampleBlock b;
  b.stream_id = id;
  b.count = 3;
  b.point_counts = {1, 0, 2};
  b.values = {1, 2, 3, 77, 4, 5, 6, 78, 7, 8, 9, 79};
  clip.Append(b);
  auto window =
      clip.Read(id, {Timestamp::FromNanoseconds(2'000'000), Timestamp::FromNanoseconds(6'000'000)});
  ASSERT_TRUE(window);
  EXPECT_THAT(window->point_counts, ElementsAre(0, 2));
  EXPECT_THAT(window->values, ElementsAre(4, 5, 6, 78, 7, 8, 9, 79));
}

/// Samples [begin, end) of a whole stream, one by one.
SampleWindow Filtered(const SampleWindow& all, StreamKind kind, TimeRange range) {
  SampleWindow window;
  window.stream_id = all.stream_id;
  window.channel_count = all.channel_count;
  size_t point = 0;
  std::vector<int> kept;
  for (int i = 0; i < all.count(); ++i) {
    const auto at = static_cast<size_t>(i);
    const size_t length = all.point_counts.empty() ? 0 : 4u * all.point_counts[at];
    if (range.Contains(all.times[at])) {
      kept.push_back(i);
      window.times.push_back(all.times[at]);
      window.counters.push_back(all.counters[at]);
      if (kind == StreamKind::kText) window.texts.push_back(all.texts[at]);
      if (!all.point_counts.empty()) window.point_counts.push_back(all.point_counts[at]);
      for (size_t k = 0; k < length; ++k) window.values.push_back(all.values[point + k]);
    }
    point += length;
  }
  if (!all.point_counts.empty() || kind == StreamKind::kText) return window;
  for (int c = 0; c < all.channel_count; ++c) {
    for (const int i : kept) {
      window.values.push_back(all.value(c, i));
      if (!all.origins.empty())
        window.origins.push_back(
            all.origins[static_cast<size_t>(c) * all.times.size() + static_cast<size_t>(i)]);
    }
  }
  return window;
}

// Windows are found by bisection where times ascend; where a clock stepped back or texts came out
// of order, by looking at every sample. Either way they are what filtering the whole stream gives.
TEST(ClipTest, AnyWindowIsWhatFilteringTheWholeStreamGives) {
  std::mt19937_64 rng(11);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(rng() % static_cast<uint64_t>(n));
  };
  int64_t compared = 0, partly = 0;
  for (int trial = 0; trial < 60; ++trial) {
    ClipInfo start;
    start.host_start_ns = 1'000'000'000;
    Clip clip(start);
    ClockMap map = ClockMap::Identity(start.host_start_ns);
    map.segments[0].rate_error = 3e-5;
    if (trial % 3 != 0) {  // a step of the clock, forwards or back
      ClockSegment after = map.segments[0];
      after.device_begin_ns = 150'000'000;
      after.host_begin_ns += 150'000'000 + (trial % 3 == 1 ? 40'000'000 : -40'000'000);
      map.segments.push_back(after);
    }
    const StreamKind kinds[] = {StreamKind::kMarkers, StreamKind::kUnlabelledPoints,
                                StreamKind::kText};
    for (const StreamKind kind : kinds) {
      StreamInfo info = TwoMarkers();
      info.kind = kind;
      if (kind != StreamKind::kMarkers) info.channels.clear();
      const int id = clip.AddStream(info, map);
      int64_t counter = below(3);
      Timestamp host = Timestamp::FromNanoseconds(start.host_start_ns);
      const int blocks = 1 + static_cast<int>(below(12));
      for (int k = 0; k < blocks; ++k) {
        const int count = 1 + static_cast<int>(below(20));
        SampleBlock b;
        if (kind == StreamKind::kMarkers)
          b = Block(id, counter, count, static_cast<double>(counter));
        b.stream_id = id;
        b.first_counter = counter;
        b.count = count;
        for (int i = 0; i < count && kind == StreamKind::kUnlabelledPoints; ++i) {
          b.point_counts.push_back(static_cast<int32_t>(below(4)));
          for (int32_t v = 0; v < 4 * b.point_counts.back(); ++v)
            b.values.push_back(static_cast<double>(below(1000)));
        }
        for (int i = 0; i < count && kind == StreamKind::kText; ++i) {
          host += Duration::Nanoseconds(below(8'000'000) - (trial % 2 == 0 ? 0 : 3'000'000));
          b.host_times.push_back(host);
          b.texts.push_back(std::to_string(counter + i));
        }
        if (kind == StreamKind::kMarkers && below(3) == 0)
          b.origins.assign(b.values.size(), SampleOrigin::kInterpolated);
        clip.Append(b);
        counter += count + (below(4) == 0 ? below(30) : 0);
      }
      const SampleWindow all = clip.ReadAll(id).value();
      for (int k = 0; k < 40; ++k) {
        const Timestamp begin = Timestamp::FromNanoseconds(below(500'000'000) - 50'000'000);
        const TimeRange range{begin, begin + Duration::Nanoseconds(below(200'000'000))};
        const SampleWindow window = clip.Read(id, range).value();
        SampleWindow expected = Filtered(all, kind, range);
        // Origins are given where a block of the window has them.
        if (window.origins.empty()) {
          for (const SampleOrigin origin : expected.origins)
            ASSERT_EQ(origin, SampleOrigin::kMeasured);
          expected.origins.clear();
        }
        ASSERT_EQ(window.times, expected.times) << trial;
        ASSERT_EQ(window.counters, expected.counters) << trial;
        ASSERT_EQ(window.values, expected.values) << trial;
        ASSERT_EQ(window.texts, expected.texts) << trial;
        ASSERT_EQ(window.point_counts, expected.point_counts) << trial;
        ASSERT_EQ(window.origins, expected.origins) << trial;
        ++compared;
        partly += window.count() > 0 && window.count() < all.count() ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(compared, 60 * 3 * 40);
  EXPECT_GT(partly, compared / 5) << "windows must cut the streams";
}

TEST(ClockMapTest, ToDeviceInvertsToHostInEverySegment) {
  ClockMap map = ClockMap::Identity(5'000);
  map.segments[0].rate_error = -25e-6;
  map.segments[0].device_end_ns = 10'000'000'000;
  ClockSegment after = map.segments[0];
  after.device_begin_ns = 10'000'000'000;
  after.host_begin_ns = 10'700'000'000;  // the device's clock jumped by 0.7 s
  map.segments.push_back(after);
  map.constant_delay_ns = 1'500;
  for (const int64_t device :
       {int64_t{0}, int64_t{9'999'999'999}, int64_t{10'000'000'000}, int64_t{3'600'000'000'000}}) {
    EXPECT_LE(std::abs(map.ToDevice(map.ToHost(device)) - device), 1) << device;
  }
  EXPECT_EQ(map.ToHost(1'000'000'000).ns(), 1'000'000'000 + 5'000 - 25'000 - 1'500);
}

TEST(DeviceTimeTest, IsExactForRatesThatDoNotDivideANanosecond) {
  EXPECT_EQ(DeviceTimeOfCounter(7000, {7000, 1}), 1'000'000'000);
  EXPECT_EQ(DeviceTimeOfCounter(1, {7000, 1}), 142'857);
  EXPECT_EQ(DeviceTimeOfCounter(7'000LL * 86'400 * 365, {7000, 1}), 86'400LL * 365 * 1'000'000'000);
  EXPECT_EQ(DeviceTimeOfCounter(-1, {7000, 1}), -142'857);
}

TEST(ForceSensorTest, PressingDownOnATableIsAPositiveNormalForceAndPushesTheHandUp) {
  ForceSensor plate;
  plate.calibration = Eigen::Matrix<double, 6, Eigen::Dynamic>::Identity(6, 6) * 0.001;
  plate.bias = Eigen::VectorXd::Constant(6, 10.0);
  Eigen::VectorXd raw = Eigen::VectorXd::Constant(6, 10.0);
  raw[2] -= 2000;  // 2 N of the hand on the object, downwards
  EXPECT_DOUBLE_EQ(plate.Wrench(raw)[2], -2.0);
  EXPECT_DOUBLE_EQ(plate.NormalForce(raw), 2.0);
  EXPECT_EQ(ForceOnHand(plate.Wrench(raw).head<3>()), geometry::Vec3(0, 0, 2));
  plate.sign = -1.0;
  EXPECT_DOUBLE_EQ(plate.NormalForce(raw), -2.0);
}

}  // namespace
}  // namespace handhold::recording::clip_test

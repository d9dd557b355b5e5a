#include "database/recording/clip.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::recording {
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
}  // namespace handhold::recording

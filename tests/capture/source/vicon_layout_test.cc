#include "capture/source/vicon_layout.h"

#include <cmath>
#include <set>

#include <gmock/gmock.h>

namespace handhold::capture::vicon_layout_test {
namespace {

constexpr int kMarkers = 0;  // where StreamOrder puts them when there are any

TEST(ViconRate, IsExactInTheProtocolsTicks) {
  EXPECT_EQ(ViconRate(500.0), (recording::Rate{500, 1}));
  EXPECT_EQ(ViconRate(2000.0), (recording::Rate{2000, 1}));
  // 59.94 Hz: 135e6 / 2252252 ticks.
  const recording::Rate ntsc = ViconRate(135e6 / 2252252.0);
  EXPECT_EQ(ntsc.numerator * 2252252, 135'000'000 * ntsc.denominator);
  EXPECT_EQ(ViconRate(0.0).numerator, 0);
  EXPECT_EQ(ViconRate(-1.0).numerator, 0);
  EXPECT_EQ(ViconRate(1e12).numerator, 0);
  EXPECT_EQ(ViconRate(1.0), (recording::Rate{1, 1}));
  for (const double never :
       {0.99, 0.12, 1e-8, 1e-300, 5e-324, 1.1e5, 135e6, std::nan(""), double{INFINITY}})
    EXPECT_EQ(ViconRate(never).numerator, 0) << never;
}

TEST(ViconStreams, NamesUnitsAndRates) {
  ViconLayout layout;
  layout.rate = {500, 1};
  layout.subjects = {{"Hand", {"RIFT", "RIFK"}}};
  layout.analogs = {
      {.device = "Plate",
       .wrench = true,
       .outputs = {{"Force", "Fx", "N"}, {"Moment", "Mx", "N m"}},
       .samples_per_frame = 4},
      {.device = "Plate", .cop = true, .outputs = {{"CoP", "Cx", "m"}}, .samples_per_frame = 4},
      {.device = "EMG", .outputs = {{"A", "A", "V"}, {"Dev", "B", "V"}}, .samples_per_frame = 2}};
  layout.timecode = true;
  const auto streams = ViconStreams("vicon", layout);
  ASSERT_EQ(streams.size(), 7u);
  EXPECT_EQ(streams[kMarkers].name, "vicon/markers");
  EXPECT_EQ(streams[kMarkers].channels[1].name, "RIFT.y");
  EXPECT_EQ(streams[kMarkers].channels[1].unit, "m");
  EXPECT_THAT(streams[kMarkers].ItemNames(), ::testing::ElementsAre("RIFT", "RIFK"));
  EXPECT_EQ(streams[3].name, "vicon/Plate");
  EXPECT_EQ(streams[3].kind, recording::StreamKind::kForceTorque);
  EXPECT_EQ(streams[3].rate, (recording::Rate{2000, 1}));
  EXPECT_EQ(streams[4].name, "vicon/Plate.cop");
  EXPECT_EQ(streams[5].channels[0].name, "A");
  EXPECT_EQ(streams[5].channels[1].name, "Dev.B");
  EXPECT_EQ(streams[6].name, "vicon/timecode");
}

TEST(ViconStreams, TwoSubjectsKeepTheirMarkersApart) {
  ViconLayout layout;
  layout.rate = {500, 1};
  layout.subjects = {{"Left", {"TIP"}}, {"Right", {"TIP"}}};
  const auto streams = ViconStreams("vicon", layout);
  EXPECT_THAT(streams[kMarkers].ItemNames(), ::testing::ElementsAre("Left:TIP", "Right:TIP"));
}

TEST(ViconStreams, WithoutMarkersThereIsNoStreamWithoutChannels) {
  ViconLayout layout;
  layout.rate = {500, 1};
  layout.subjects = {{"Hand", {}}};
  layout.analogs = {{.device = "EMG", .outputs = {{"A", "A", "V"}}, .samples_per_frame = 2}};
  const auto streams = ViconStreams("vicon", layout);
  const ViconStreamOrder order = StreamOrder(layout);
  ASSERT_EQ(streams.size(), 2u);
  for (const auto& stream : streams) EXPECT_FALSE(stream.channels.empty()) << stream.name;
  EXPECT_EQ(order.markers, -1);
  EXPECT_EQ(streams[static_cast<size_t>(order.points)].name, "vicon/points");
  EXPECT_EQ(streams[static_cast<size_t>(order.analogs)].name, "vicon/EMG");
}

TEST(ViconStreams, NoTwoChannelsOfAStreamShareAName) {
  ViconLayout layout;
  layout.rate = {500, 1};
  layout.subjects = {{"A", {"B:C"}}, {"A:B", {"C"}}};
  layout.analogs = {
      {.device = "EMG", .outputs = {{"", "A", "V"}, {"A", "A", "V"}}, .samples_per_frame = 2}};
  for (const auto& stream : ViconStreams("vicon", layout)) {
    std::set<std::string> names;
    for (const auto& channel : stream.channels)
      EXPECT_TRUE(names.insert(channel.name).second) << stream.name << " " << channel.name;
  }
}

}  // namespace
}  // namespace handhold::capture::vicon_layout_test

#include "capture/source/vicon_layout.h"

#include <gmock/gmock.h>

namespace handhold::capture {
namespace {

TEST(ViconRate, IsExactInTheProtocolsTicks) {
  EXPECT_EQ(ViconRate(500.0), (recording::Rate{500, 1}));
  EXPECT_EQ(ViconRate(2000.0), (recording::Rate{2000, 1}));
  // 59.94 Hz: 135e6 / 2252252 ticks.
  const recording::Rate ntsc = ViconRate(135e6 / 2252252.0);
  EXPECT_EQ(ntsc.numerator * 2252252, 135'000'000 * ntsc.denominator);
  EXPECT_EQ(ViconRate(0.0).numerator, 0);
  EXPECT_EQ(ViconRate(-1.0).numerator, 0);
  EXPECT_EQ(ViconRate(1e12).numerator, 0);
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
  EXPECT_EQ(streams[kViconMarkers].name, "vicon/markers");
  EXPECT_EQ(streams[kViconMarkers].channels[1].name, "RIFT.y");
  EXPECT_EQ(streams[kViconMarkers].channels[1].unit, "m");
  EXPECT_THAT(streams[kViconMarkers].ItemNames(), testing::ElementsAre("RIFT", "RIFK"));
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
  EXPECT_THAT(streams[kViconMarkers].ItemNames(), testing::ElementsAre("Left:TIP", "Right:TIP"));
}

}  // namespace
}  // namespace handhold::capture

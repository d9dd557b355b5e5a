#include "fitting/signal/find_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::fitting {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

int Add(recording::Clip* clip, const std::string& name, recording::StreamKind kind) {
  recording::StreamInfo info;
  info.name = name;
  info.kind = kind;
  info.rate = {100, 1};
  for (const char* c : {"A.x", "A.y", "A.z"}) info.channels.push_back({c, "m", 0});
  return clip->AddStream(info, recording::ClockMap::Identity());
}

TEST(FindStreamTest, WhatIsMissingIsSaidWithWhatThereIs) {
  recording::Clip bare{recording::ClipInfo{}};
  EXPECT_THAT(FindMarkerStreams(bare, "").error().message, HasSubstr("no stream at all"));
  Add(&bare, "daq/raw", recording::StreamKind::kAnalog);
  EXPECT_THAT(FindMarkerStreams(bare, "").error().message,
              AllOf(HasSubstr("no marker stream"), HasSubstr("'daq/raw' (analog)"),
                    HasSubstr("choose a clip with labelled markers")));
  const auto none = FindForceSensor(bare, "");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(none.error().message,
              AllOf(HasSubstr("no force sensor ("), HasSubstr("'daq/raw'"), HasSubstr("rig file")));

  Add(&bare, "vicon/markers", recording::StreamKind::kMarkers);
  const auto first = FindMarkerStreams(bare, "");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->at(0)->name, "vicon/markers");
  EXPECT_THAT(FindMarkerStreams(bare, "vicon/marker").error().message,
              HasSubstr("did you mean 'vicon/markers'?"));
  EXPECT_THAT(FindMarkerStreams(bare, "daq/raw").error().message, HasSubstr("holds no markers"));
}

TEST(FindStreamTest, AForceSensorIsNamedAndItsOptionToo) {
  recording::Clip clip{recording::ClipInfo{}};
  recording::ForceSensor sensor;
  sensor.name = "plate";
  sensor.stream_id = Add(&clip, "plate/wrench", recording::StreamKind::kForceTorque);
  clip.AddForceSensor(sensor);
  ASSERT_TRUE(FindForceSensor(clip, ""));
  EXPECT_EQ((*FindForceSensor(clip, "plate"))->name, "plate");
  EXPECT_EQ(FindForceSensor(clip, "nope").error().message,
            "the clip has no force sensor 'nope' (--sensor): known are 'plate'");
  EXPECT_THAT(FindForceSensor(clip, "plat").error().message, HasSubstr("did you mean 'plate'?"));
}

}  // namespace
}  // namespace handhold::fitting

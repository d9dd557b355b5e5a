#include "fitting/signal/find_stream.h"

#include "database/model/hand_library.h"
#include "fitting/signal/find_site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::fitting::find_stream_test {
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

// Nothing is taken because it happens to be the first.
TEST(FindStreamTest, OfSeveralNoneIsChosen) {
  recording::Clip clip{recording::ClipInfo{}};
  for (const char* name : {"A", "B"}) {
    recording::ForceSensor sensor;
    sensor.name = name;
    sensor.stream_id =
        Add(&clip, std::string(name) + "/wrench", recording::StreamKind::kForceTorque);
    clip.AddForceSensor(sensor);
    Add(&clip, std::string(name) + "/markers", recording::StreamKind::kMarkers);
  }
  const auto sensor = FindForceSensor(clip, "");
  ASSERT_FALSE(sensor);
  EXPECT_EQ(sensor.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(sensor.error().message, AllOf(HasSubstr("'A'"), HasSubstr("'B'")));
  EXPECT_EQ((*FindForceSensor(clip, "B"))->name, "B");
  const auto markers = FindMarkerStreams(clip, "");
  ASSERT_FALSE(markers);
  EXPECT_EQ(markers.error().code, ErrorCode::kInvalid);
  EXPECT_EQ((*FindMarkerStreams(clip, "B/markers"))[0]->name, "B/markers");
}

TEST(FindStreamTest, OfSeveralSitesNoneIsChosen) {
  const model::Skeleton hand = model::LoadHand("hand57").value();
  const auto none = FindSite(hand, "");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(none.error().message, HasSubstr("'R.index.pad'"));
  const auto index = FindSite(hand, "R.index.pad");
  ASSERT_TRUE(index);
  EXPECT_EQ(hand.body((*index)->body).name, "index.dst");
  EXPECT_EQ(FindSite(hand, "R.index.pads").error().code, ErrorCode::kNotFound);
  EXPECT_EQ((*FindSite(model::LoadHand("finger4").value(), ""))->name, "R.index.pad");
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
}  // namespace handhold::fitting::find_stream_test

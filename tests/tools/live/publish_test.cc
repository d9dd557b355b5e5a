// What a recorder says to a live page: whole, short enough, and without ever waiting for anybody.
#include "tools/live/publish.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::live::publish_test {
namespace {

using ::testing::HasSubstr;
using text::Json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

capture::HealthSnapshot Snapshot(int markers = 3) {
  capture::HealthSnapshot health;
  health.state = capture::SessionState::kRecording;
  health.take = "stroke_007";
  health.recorded = Duration::Milliseconds(1500);
  health.host = Timestamp::FromSeconds(100);
  health.sources = {{"plate", true, true, ""}, {"vicon", false, true, "no answer"}};
  capture::NewestSample force;
  force.info.name = "plate/wrench", force.info.kind = recording::StreamKind::kForceTorque;
  force.values = {1, 2, 3, 4, 5, 6}, force.sensor = "plate";
  force.normal_force_N = 2.5, force.peak_normal_force_N = 4.0;
  force.f_onObject_W = {0.1, 0.2, -2.5};
  capture::NewestSample points;
  points.info.name = "vicon/markers", points.info.kind = recording::StreamKind::kMarkers;
  for (int m = 0; m < markers; ++m) {
    for (const char* axis : {"x", "y", "z"}) {
      points.info.channels.push_back({"M" + std::to_string(m) + "." + axis, "m"});
      points.values.push_back(m == 1 ? kNaN : 0.1);
    }
  }
  health.newest = {force, points};
  recording::QualityItem lost;
  lost.stream = "plate/wrench", lost.what = "lost_samples", lost.value = 3, lost.worst = kNaN;
  lost.red = true, lost.cause = "network";
  health.items = {lost};
  return health;
}

TEST(LiveJsonTest, TellsForcesAndHiddenMarkersByName) {
  const Json live = LiveJson(Snapshot(), 7);
  EXPECT_EQ(*live.Find("state")->string(), "recording");
  EXPECT_EQ(*live.Find("sequence")->integer(), 7);
  const Json& force = live.Find("forces")->elements().at(0);
  EXPECT_EQ(*force.Find("sensor")->string(), "plate");
  EXPECT_DOUBLE_EQ(*force.Find("normal_N")->number(), 2.5);
  EXPECT_DOUBLE_EQ(*force.Find("peak_N")->number(), 4.0);
  const Json& markers = live.Find("markers")->elements().at(0);
  EXPECT_EQ(*markers.Find("seen")->integer(), 2);
  EXPECT_EQ(*markers.Find("of")->integer(), 3);
  ASSERT_EQ(markers.Find("occluded")->elements().size(), 1u);
  EXPECT_EQ(*markers.Find("occluded")->elements()[0].string(), "M1");
  EXPECT_TRUE(live.Find("items")->elements().at(0).Find("worst")->is_null()) << "NaN is no JSON";
}

// Nothing is armed where nothing can be recorded.
TEST(LiveJsonTest, AMonitorWatches) {
  capture::HealthSnapshot health = Snapshot();
  health.state = capture::SessionState::kArmed;
  EXPECT_EQ(*LiveJson(health, 7).Find("state")->string(), "armed");
  health.watching = true;
  EXPECT_EQ(*LiveJson(health, 7).Find("state")->string(), "watching");
}

TEST(LiveJsonTest, StaysWithinADatagram) {
  capture::HealthSnapshot health = Snapshot();
  recording::QualityItem item;
  item.stream = "a stream with a long name", item.what = "jitter_p99_s";
  health.items.resize(5000, item);
  const std::string text = LiveText(health, 1);
  EXPECT_LE(text.size(), kMostLiveBytes);
  const auto parsed = text::ParseJson(text);
  ASSERT_TRUE(parsed);
  EXPECT_GE(parsed->Find("items")->elements().size(), 40u);
  EXPECT_EQ(parsed->Find("forces")->elements().size(), 1u);
}

TEST(LivePublisherTest, ReachesWhoListensAndIgnoresWhoIsNotOurs) {
  auto listener = *LiveListener::Open(0);
  EXPECT_FALSE(listener->Newest());
  auto publisher = *LivePublisher::Open(listener->port());
  auto stranger = *capture::wire::UdpSocket::Bind(capture::wire::Address::Loopback(0));
  const std::string noise = "{\"format\":\"other\"}";
  for (int i = 0; i < 100 && !listener->Newest(); ++i) {
    ASSERT_EQ(stranger.SendTo(capture::wire::Address::Loopback(listener->port()),
                              {reinterpret_cast<const uint8_t*>(noise.data()), noise.size()}),
              capture::wire::IoStatus::kOk);
    publisher.Say(Snapshot());
    capture::wire::SleepUntil(HostNow() + Duration::Milliseconds(20));
  }
  const auto heard = listener->Newest();
  ASSERT_TRUE(heard);
  EXPECT_THAT(heard->json, HasSubstr("stroke_007"));
  EXPECT_LT(heard->age_s, 2.0);
}

TEST(LivePublisherTest, NobodyListening) {
  const auto gone = (*LiveListener::Open(0))->port();
  auto publisher = *LivePublisher::Open(gone);
  for (int i = 0; i < 1000; ++i) publisher.Say(Snapshot());  // a waiting send would hang here
  auto silent = *LivePublisher::Open(0);
  silent.Say(Snapshot());
}

TEST(LiveListenerTest, ATakenPortIsSaid) {
  auto first = *LiveListener::Open(0);
  const auto second = LiveListener::Open(first->port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(first->port())));
}

}  // namespace
}  // namespace handhold::live::publish_test

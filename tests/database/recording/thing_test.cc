// The things of a take: what each pose needs, what "with this prop" does, and where a sensor is.
#include "database/recording/thing.h"

#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/recording/clip.h"

namespace handhold::recording::thing_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using ::testing::HasSubstr;

Thing Box() { return {.name = "box", .model = "box_3x5x7"}; }

TEST(Thing, EveryPoseHasWhatItNeeds) {
  Thing fixed = Box(), body = Box(), cluster = Box();
  fixed.pose = Thing::Pose::kFixed;
  body.pose = Thing::Pose::kRigidPoses, body.stream = "vicon/segments", body.items = {"box"};
  cluster.pose = Thing::Pose::kMarkers, cluster.stream = "vicon/markers",
  cluster.items = {"B1", "B2", "B3"};
  for (const Thing& thing : {Box(), fixed, body, cluster}) EXPECT_TRUE(CheckThings({thing}));
  fixed.X_WT.p.x() = std::numeric_limits<double>::quiet_NaN();
  body.items.push_back("lid");
  cluster.items.pop_back();
  Thing nameless = Box();
  nameless.name.clear();
  for (const Thing& thing : {fixed, body, cluster, nameless}) {
    const Status checked = CheckThings({thing});
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalid);
  }
  EXPECT_FALSE(CheckThings({Box(), Box()})) << "one name, two things";
  cluster.items = {"B1", "B1", "B1"};
  EXPECT_FALSE(CheckThings({cluster})) << "one marker";
  Thing scaled = Box(), mirrored = Box();
  scaled.pose = mirrored.pose = Thing::Pose::kFixed;
  scaled.X_WT.R *= 2, mirrored.X_WT.R(2, 2) = -1;
  EXPECT_FALSE(CheckThings({scaled}));
  EXPECT_FALSE(CheckThings({mirrored}));
}

TEST(Thing, WhatLeadsNowhereIsTold) {
  StreamInfo markers, bodies;
  markers.name = "vicon/markers", markers.kind = StreamKind::kMarkers;
  for (const char* c : {"B1.x", "B1.y", "B1.z", "B2.x", "B2.y", "B2.z", "B3.x", "B3.y", "B3.z"})
    markers.channels.push_back({c, "m", 0});
  bodies.name = "vicon/segments", bodies.kind = StreamKind::kRigidPoses;
  ClipInfo info;
  Thing box = Box();
  box.pose = Thing::Pose::kMarkers, box.stream = "vicon/markers", box.items = {"B1", "B2", "B3"};
  info.things = {box};
  ForceSensor face;
  face.name = "face", face.mounted_on = "box";
  EXPECT_TRUE(FindThingIssues(info, {markers, bodies}, {face}).empty());
  face.mounted_on = "bx";
  info.things[0].items[2] = "B4";
  EXPECT_EQ(FindThingIssues(info, {markers, bodies}, {face}).size(), 2u);
  info.things[0].stream = "vicon/segments";
  EXPECT_EQ(FindThingIssues(info, {markers, bodies}, {}).size(), 1u) << "bodies are no markers";
  info.things[0].stream = "vicon/marker";
  EXPECT_EQ(FindThingIssues(info, {markers, bodies}, {}).size(), 1u);
}

TEST(Thing, NamesAreReadAsTheyAreWritten) {
  for (const Thing::Kind kind : {Thing::Kind::kProp, Thing::Kind::kHand})
    EXPECT_EQ(ParseThingKind(ThingKindName(kind)).value(), kind);
  for (const Thing::Pose pose : {Thing::Pose::kUnknown, Thing::Pose::kFixed,
                                 Thing::Pose::kRigidPoses, Thing::Pose::kMarkers})
    EXPECT_EQ(ParseThingPose(ThingPoseName(pose)).value(), pose);
  EXPECT_EQ(ParseThingPose("floating").error().code, ErrorCode::kInvalid);
}

TEST(Thing, WithThisPropSaidAfterTheFact) {
  ClipInfo info;
  SayProp("mug", &info);
  ASSERT_EQ(info.things.size(), 1u);
  EXPECT_EQ(info.things[0].name, "mug");
  EXPECT_EQ(info.things[0].pose, Thing::Pose::kUnknown);
  info.things[0].pose = Thing::Pose::kFixed, info.things[0].X_WT.p = Vec3(1, 2, 3);
  SayProp("bottle", &info);
  ASSERT_EQ(info.things.size(), 1u) << "the only prop becomes it";
  EXPECT_EQ(info.things[0].model, "bottle");
  EXPECT_EQ(info.things[0].pose, Thing::Pose::kUnknown) << "its frame stood nobody knows where";
  info.things.push_back(Box());
  info.things.push_back({.name = "R", .kind = Thing::Kind::kHand, .model = "hand27"});
  EXPECT_EQ(PropNames(info), "bottle, box_3x5x7") << "a hand is no prop";
  SayProp("box_3x5x7", &info);
  EXPECT_EQ(info.things.size(), 3u) << "it is there";
  SayProp("mug", &info);
  EXPECT_EQ(info.things.size(), 3u) << "the bottle's name: it is meant";
  SayProp("ball", &info);
  ASSERT_EQ(info.things.size(), 4u) << "which of two it replaces nobody knows";
  EXPECT_EQ(info.things[3].name, "ball");
}

TEST(Thing, ASensorIsWhereItsThingIs) {
  ClipInfo info;
  Thing box = Box();
  box.pose = Thing::Pose::kFixed;
  // The box lies on its side: its x is up. A face of it is 2 cm along its x.
  box.X_WT.R = geometry::Exp<double>(Vec3(0, -std::numbers::pi / 2, 0));
  box.X_WT.p = Vec3(0.3, 0, 0.1);
  info.things = {box};
  ForceSensor sensor;
  sensor.name = "face", sensor.X_MS = RigidTransform::Translation({0.02, 0, 0});
  EXPECT_LT((FixedSensorPose(info, sensor)->p - Vec3(0.02, 0, 0)).norm(), 1e-15) << "in the lab";
  sensor.mounted_on = "box";
  const auto placed = FixedSensorPose(info, sensor);
  ASSERT_TRUE(placed);
  EXPECT_LT((placed->p - Vec3(0.3, 0, 0.12)).norm(), 1e-15);
  info.things[0].pose = Thing::Pose::kMarkers;
  EXPECT_EQ(FixedSensorPose(info, sensor).error().code, ErrorCode::kInvalid) << "it moves";
  info.things[0].pose = Thing::Pose::kUnknown;
  EXPECT_EQ(FixedSensorPose(info, sensor).error().code, ErrorCode::kInvalid);
  sensor.mounted_on = "lid";
  EXPECT_THAT(FixedSensorPose(info, sensor).error().message, HasSubstr("lid"));
}

}  // namespace
}  // namespace handhold::recording::thing_test

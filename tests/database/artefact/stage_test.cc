#include "database/artefact/stage.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/artefact/grasp_file.h"
#include "database/artefact/motion.h"
#include "database/artefact/motion_set.h"
#include "database/geometry/rotation.h"
#include "database/model/hand_library.h"
#include "database/recording/force_sensor.h"
#include "database/text/json_view.h"

namespace handhold::artefact::stage_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using Is = StageThing::Is;

model::Prop PropOfOurs(const char* name) {
  auto prop = model::LoadLibraryProp(name);
  EXPECT_TRUE(prop) << name;
  return prop ? *prop : model::Prop();
}

StageHand HandOfOurs(const char* name) {
  StageHand hand;
  auto skeleton = model::LoadHand(name);
  EXPECT_TRUE(skeleton) << name;
  if (skeleton) hand.skeleton.value = std::make_shared<const model::Skeleton>(*skeleton);
  hand.skeleton.key = name;
  hand.q = hand.skeleton->ZeroConfiguration();
  return hand;
}

RigidTransform Up(double z_m) { return RigidTransform::Translation(Vec3(0, 0, z_m)); }

/// A quarter turn about Z and 10 cm along X within one second.
std::shared_ptr<const ObjectTrack> QuarterTurn() {
  ObjectTrack track;
  track.times = {Timestamp::FromSeconds(1), Timestamp::FromSeconds(2)};
  track.X_WT = {RigidTransform(), {geometry::Exp<double>(Vec3(0, 0, 0.5 * M_PI)), Vec3(0.1, 0, 0)}};
  return std::make_shared<const ObjectTrack>(std::move(track));
}

StageThing OnTrack() {
  StageThing thing = Placed(PropOfOurs("box_3x5x7"), {}, Is::kTrack);
  thing.X_WP = {};
  thing.track.value = QuarterTurn();
  return thing;
}

// Every way to be moved, and a table under what is free: what is said is what a mover gets.
TEST(Stage, ThingsOfEveryKindStandOnOneStage) {
  Stage stage{.name = "all"};
  StageThing& box = stage.Add(Placed(PropOfOurs("box_3x5x7"), Up(0.1), Is::kFree));
  EXPECT_EQ(box.name, "box_3x5x7");
  EXPECT_EQ(stage.Add(Placed(PropOfOurs("box_3x5x7"), Up(0.3), Is::kFree)).name, "box_3x5x7.2");
  const StageThing& table = stage.Add(TableUnder(stage.things.front()));
  EXPECT_NEAR(table.X_WP->p.z(), 0.1 - 0.035, 1e-12);
  EXPECT_EQ(table.is, Is::kFixed);
  EXPECT_NEAR(model::BoundsOf(*table.prop, *table.X_WP).min.z(), table.X_WP->p.z() - kTableSide_m,
              1e-12);
  StageThing bulb = Placed(PropOfOurs("light_bulb"), Up(0.2), Is::kPivot);
  bulb.X_WP->R = geometry::Exp<double>(Vec3(0.5 * M_PI, 0, 0));
  bulb.pivot = {.p_P = Vec3(0, 0, 0.01), .axis_P = Vec3::UnitZ(), .damping_Nms_per_rad = 2e-3};
  const BearingInWorld bearing = BearingOf(stage.Add(bulb));
  EXPECT_NEAR((bearing.axis_W + Vec3::UnitY()).norm(), 0.0, 1e-12);
  EXPECT_NEAR((bearing.p_W - Vec3(0, -0.01, 0.2)).norm(), 0.0, 1e-12);
  StageThing nail = Placed(PropOfOurs("hammer"), Up(0.5), Is::kSlider);
  nail.slider = {.axis_P = -Vec3::UnitZ(), .dry_friction_N = 60.0, .upper_m = 0.03};
  stage.Add(nail);
  stage.Add(OnTrack());
  const Status plays = CheckPlayable(stage);
  ASSERT_TRUE(plays) << plays.error().message;
  EXPECT_EQ(stage.Judged()->name, "box_3x5x7");
  EXPECT_EQ(stage.gravity_W, Vec3(0, 0, -kGravity_m_per_s2));
  stage.judged = "box_3x5x7.2";
  EXPECT_EQ(stage.Judged()->name, "box_3x5x7.2");
}

TEST(Stage, AHandIsThereAtOneInstantOrOverTime) {
  Stage stage;
  stage.Add(HandOfOurs("hand27"));
  StageHand led = HandOfOurs("hand27");
  led.q = {};
  PoseTrack poses;
  poses.times = {Timestamp()};
  poses.q = led.skeleton->ZeroConfiguration();
  led.poses = {.hash = "aa", .value = std::make_shared<const PoseTrack>(poses)};
  EXPECT_EQ(stage.Add(led).name, "R.2");
  EXPECT_TRUE(CheckPlayable(stage));
  stage.hands[1].poses.value = nullptr;
  EXPECT_TRUE(CheckStage(stage));
  EXPECT_FALSE(CheckPlayable(stage));
}

TEST(Stage, AnArmUnderAHandIsLedByTheTrackOfItsWrist) {
  Stage stage;
  StageHand arm = HandOfOurs("arm35");
  const model::Skeleton& skeleton = *arm.skeleton;
  ASSERT_GT(skeleton.body_count(), 2);
  arm.wrist = skeleton.body(2).name;
  arm.wrist_track = {.key = "wrist.csv", .value = QuarterTurn()};
  stage.Add(arm);
  EXPECT_TRUE(CheckPlayable(stage));
  stage.hands[0].wrist = "nobody";
  EXPECT_FALSE(CheckPlayable(stage));
  stage.hands[0].wrist = "";
  EXPECT_FALSE(CheckStage(stage));  // a track that leads nothing
}

TEST(Stage, JointsAreDrivenByImpedance) {
  Stage stage;
  StageHand hand = HandOfOurs("hand27");
  const int nv = hand.skeleton->nv();
  hand.impedance = {hand.q, Eigen::VectorXd::Constant(nv, 0.5),
                    Eigen::VectorXd::Constant(nv, 0.01)};
  stage.Add(hand);
  EXPECT_TRUE(CheckPlayable(stage));
  stage.hands[0].impedance.stiffness_Nm_per_rad.conservativeResize(nv - 1);
  EXPECT_FALSE(CheckPlayable(stage));
  stage.hands[0].impedance.stiffness_Nm_per_rad = Eigen::VectorXd::Constant(nv, -1.0);
  EXPECT_FALSE(CheckStage(stage));
  // Springs beside a trajectory: who leads?
  stage.hands[0].impedance.stiffness_Nm_per_rad = {};
  stage.hands[0].trajectory.key = "pinch_box_3x5x7";
  EXPECT_FALSE(CheckStage(stage));
}

// A sensor inside a prop that moves moves with it.
TEST(Stage, ASensorGoesWithTheThingThatItSitsOn) {
  Stage stage;
  stage.Add(OnTrack());
  stage.sensors.push_back({.name = "face",
                           .mounted_on = "box_3x5x7",
                           .X_MS = RigidTransform::Translation(Vec3(0.015, 0, 0)),
                           .normal_S = Vec3::UnitX()});
  ASSERT_TRUE(CheckPlayable(stage));
  const auto at = [&](double t_s) {
    return *SensorPoseAt(stage, stage.sensors[0], Timestamp::FromSeconds(t_s));
  };
  EXPECT_NEAR((at(0.5).p - Vec3(0.015, 0, 0)).norm(), 0.0, 1e-12);
  EXPECT_NEAR((at(2.5).p - Vec3(0.1, 0.015, 0)).norm(), 0.0, 1e-12);
  const double half = std::sqrt(0.5);
  EXPECT_NEAR((at(1.5).p - Vec3(0.05 + 0.015 * half, 0.015 * half, 0)).norm(), 0.0, 1e-12);
  EXPECT_NEAR((at(1.5).R * Vec3::UnitX() - Vec3(half, half, 0)).norm(), 0.0, 1e-12);
  stage.things[0].is = Is::kFree, stage.things[0].X_WP = RigidTransform();
  EXPECT_FALSE(SensorPoseAt(stage, stage.sensors[0], Timestamp()));
  stage.sensors[0].mounted_on = "";
  EXPECT_TRUE(SensorPoseAt(stage, stage.sensors[0], Timestamp()));
}

// One rule for what a thing weighs, how rough and how soft it is.
TEST(Stage, DressingSaysMassFrictionAndCompliance) {
  const model::Prop box = PropOfOurs("box_3x5x7");
  StageThing thing{.name = "box", .is = Is::kFree};
  ASSERT_TRUE(Dress(box, &thing));
  EXPECT_EQ(thing.mass_kg, box.mass.mass_kg);
  EXPECT_EQ(thing.friction, box.friction);
  thing = {
      .name = "box", .is = Is::kFree, .mass_kg = 0.3, .friction = 0.9, .compliance_m_per_N = 1e-4};
  ASSERT_TRUE(Dress(box, &thing));
  EXPECT_EQ(thing.prop->mass.mass_kg, 0.3);
  EXPECT_NEAR(thing.prop->mass.I_BCom_B(0, 0) / box.mass.I_BCom_B(0, 0), 0.3 / box.mass.mass_kg,
              1e-12);
  EXPECT_EQ(thing.prop->friction, 0.9);
  EXPECT_EQ(thing.prop->surface_compliance_m_per_N, 1e-4);
  // What says no mass is solid and weighs what everything does of which nobody says it.
  model::Prop weightless = box;
  weightless.mass = {};
  thing = {.name = "box", .is = Is::kFree};
  ASSERT_TRUE(Dress(weightless, &thing));
  EXPECT_EQ(thing.mass_kg, kUnweighed_kg);
  EXPECT_NEAR(thing.prop->mass.I_BCom_B(0, 0), kUnweighed_kg * (0.05 * 0.05 + 0.07 * 0.07) / 12,
              1e-9);
  thing = {.name = "box", .is = Is::kFixed};
  ASSERT_TRUE(Dress(weightless, &thing));
  EXPECT_FALSE(thing.mass_kg);
  weightless.shapes.clear();
  thing = {.name = "box", .is = Is::kFree};
  EXPECT_EQ(Dress(weightless, &thing).error().code, ErrorCode::kInvalid);
  const model::Prop twice = *ScaledProp(box, 2.0);
  EXPECT_NEAR((model::BoundsOf(twice).max - 2.0 * model::BoundsOf(box).max).norm(), 0.0, 1e-12);
  EXPECT_EQ(twice.mass.mass_kg, box.mass.mass_kg);
  EXPECT_NEAR(twice.mass.I_BCom_B(0, 0), 4.0 * box.mass.I_BCom_B(0, 0), 1e-12);
}

TEST(Stage, ATakeIsReadAsOne) {
  recording::ClipInfo info;
  info.name = "take";
  info.things = {{.name = "plate",
                  .model = "flat_plate",
                  .pose = recording::Thing::Pose::kFixed,
                  .X_WT = Up(0.1)},
                 {.name = "cup",
                  .model = "mug",
                  .pose = recording::Thing::Pose::kMarkers,
                  .stream = "markers",
                  .items = {"a", "b", "c"}},
                 {.name = "R", .kind = recording::Thing::Kind::kHand, .model = "hand27"}};
  recording::ForceSensor sensor;
  sensor.name = "under", sensor.mounted_on = "plate", sensor.X_MS = Up(-0.01);
  const Stage stage = StageOfTake(info, {sensor});
  ASSERT_TRUE(CheckStage(stage));
  ASSERT_EQ(stage.things.size(), 2u);
  EXPECT_EQ(stage.FindThing("plate")->is, Is::kFixed);
  EXPECT_EQ(stage.FindThing("cup")->is, Is::kMeasured);
  EXPECT_EQ(stage.FindThing("cup")->measured.items.size(), 3u);
  EXPECT_EQ(stage.FindThing("cup")->prop.key, "mug");
  EXPECT_EQ(stage.FindHand("R")->skeleton.key, "hand27");
  EXPECT_NEAR(SensorPoseAt(stage, stage.sensors[0], Timestamp())->p.z(), 0.09, 1e-12);
  EXPECT_FALSE(CheckPlayable(stage));  // nothing of it was looked up
}

TEST(Stage, AGraspWithItsPropIsReadAsOne) {
  const Grasp grasp = *LoadLibraryGrasp("hand27_cylinder");
  Stage stage = StageOfGrasp(grasp);
  ASSERT_TRUE(CheckStage(stage));
  EXPECT_EQ(stage.hands[0].q, grasp.q);
  EXPECT_EQ(stage.hands[0].impedance.q_rest, grasp.q_squeeze);
  EXPECT_EQ(stage.hands[0].X_WH.p, grasp.X_PH.p);
  EXPECT_EQ(stage.gravity_W, Vec3(0, 0, 0));
  ASSERT_TRUE(Dress(PropOfOurs(stage.things[0].prop.key.c_str()), &stage.things[0]));
  stage.hands[0].skeleton.value = HandOfOurs(grasp.skeleton_name.c_str()).skeleton.value;
  const Status plays = CheckPlayable(stage);
  EXPECT_TRUE(plays) << plays.error().message;
}

// What a motion begins with, and what it is at any of its frames.
TEST(Stage, AMotionsFrameIsReadAsOne) {
  Motion motion;
  motion.times = {Timestamp(), Timestamp::FromSeconds(1)};
  const StageHand hand = HandOfOurs("hand27");
  const Eigen::Index nq = hand.skeleton->nq();
  motion.Add(hand).q = Eigen::MatrixXd::Constant(nq, 2, 0.25);
  motion.Add(Placed(PropOfOurs("mug"), Up(0.1), Is::kFree)).X_WP = {Up(0.1), Up(0.2)};
  motion.Add(TableAt(Vec3::Zero()));
  motion.phases = {{phase::kHold, {motion.times[0], motion.times[1]}}};
  ASSERT_TRUE(CheckMotion(motion)) << CheckMotion(motion).error().message;
  const Stage begun = StageAt(motion, 0), ended = StageAt(motion, 1);
  EXPECT_TRUE(CheckPlayable(ended));
  EXPECT_EQ(begun.FindThing("mug")->X_WP->p.z(), 0.1);
  EXPECT_EQ(ended.FindThing("mug")->X_WP->p.z(), 0.2);
  EXPECT_EQ(ended.FindThing("table")->X_WP->p.z(), 0.0);
  EXPECT_EQ(ended.hands[0].q, motion.hands[0].q.col(1));
  // Canaries: another name on stage, a phase that is not within, one that begins before another
  // ends.
  Motion other = motion;
  other.stage.things[0].name = "cup";
  EXPECT_EQ(CheckMotion(other).error().code, ErrorCode::kCorrupt);
  other = motion;
  other.phases.push_back({phase::kLift, {motion.times[0], motion.times[1]}});
  EXPECT_EQ(CheckMotion(other).error().code, ErrorCode::kCorrupt);
}

// Several solutions over one object track: the set says once what they share.
TEST(Stage, AMotionSetHasOneForAllItsSolutions) {
  MotionSet set;
  set.stage.Add(OnTrack());
  set.stage.Add(HandOfOurs("hand29"));
  set.solutions.resize(3);
  const text::Json json = Writable(ToJson(set));
  const auto back = FromJson<MotionSet>(text::JsonView(json));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->stage.things[0].is, Is::kTrack);
  EXPECT_EQ(back->solutions.size(), 3u);
}

TEST(Stage, WhatIsWrittenIsRead) {
  Stage stage{.name = "s", .judged = "box_3x5x7"};
  StageThing& box = stage.Add(Placed(PropOfOurs("box_3x5x7"), Up(0.1), Is::kFree));
  box.omega_P = Vec3(0.5, 0, 0);
  box.slider.lower_m = -0.25;
  stage.Add(HandOfOurs("hand27")).assumed_dofs = {"a"};
  stage.sensors.push_back({.name = "pad", .kind = StageSensor::Kind::kArray});
  stage.hold = TimeRange{Timestamp::FromNanoseconds(5), Timestamp::FromNanoseconds(7)};
  const text::Json json = Writable(ToJson(stage));
  const auto back = FromJson<Stage>(text::JsonView(json));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(text::WriteJson(Writable(ToJson(*back))).value(), text::WriteJson(json).value());
  EXPECT_EQ(back->things[0].omega_P.x(), 0.5);
  EXPECT_FALSE(back->things[0].prop.there());  // a stage says where models are kept, not the models
}

// Canaries: each breach, and the same stage without it.
TEST(Stage, WhatCannotBeIsNamed) {
  const auto sound = [] {
    Stage stage;
    stage.Add(Placed(*model::LoadLibraryProp("ball"), Up(0.1), Is::kFree));
    stage.Add(HandOfOurs("hand27"));
    stage.sensors.push_back({.name = "pad", .mounted_on = "ball"});
    return stage;
  };
  ASSERT_TRUE(CheckPlayable(sound()));
  const double nan = std::nan("");
  const std::vector<std::pair<std::function<void(Stage&)>, const char*>> breaches = {
      {[](Stage& s) { s.things[0].name = ""; }, "without a name"},
      {[](Stage& s) { s.things.push_back(s.things[0]); }, "'ball'"},
      {[](Stage& s) { s.hands[0].name = ""; }, "without a name"},
      {[&](Stage& s) { s.things[0].X_WP->p.x() = nan; }, "'ball'"},
      {[](Stage& s) { s.things[0].X_WP->R *= 2; }, "'ball'"},
      {[](Stage& s) { s.things[0].mass_kg = -1; }, "mass"},
      {[](Stage& s) { s.things[0].friction = -0.1; }, "friction"},
      {[](Stage& s) { s.things[0].scale = 0; }, "scale"},
      {[](Stage& s) { s.things[0].is = Is::kPivot, s.things[0].pivot.axis_P *= 2; }, "pivot"},
      {[](Stage& s) { s.things[0].is = Is::kSlider, s.things[0].slider.lower_m = 0.1; }, "slider"},
      {[](Stage& s) { s.things[0].is = Is::kTrack; }, "track"},
      {[](Stage& s) { s.things[0].is = Is::kMeasured; }, "measured"},
      {[](Stage& s) { s.sensors[0].mounted_on = "bal"; }, "'ball'"},
      {[](Stage& s) { s.sensors[0].normal_S *= 2; }, "'pad'"},
      {[&](Stage& s) { s.gravity_W.z() = nan; }, "gravity"},
      {[](Stage& s) { s.judged = "bal"; }, "'ball'"},
      {[](Stage& s) { s.hold = TimeRange{}; }, "hold"},
      {[](Stage& s) { s.things[0].X_WP = {}; }, "where it is"},
      {[](Stage& s) { s.things[0].prop.value = nullptr; }, "looked up"},
      {[](Stage& s) { s.hands[0].skeleton.value = nullptr; }, "looked up"},
      {[](Stage& s) { s.hands[0].q = {}; }, "begins"},
  };
  for (const auto& [breach, named] : breaches) {
    Stage stage = sound();
    breach(stage);
    const Status refused = CheckPlayable(stage);
    ASSERT_FALSE(refused) << named;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr(named));
  }
}

}  // namespace
}  // namespace handhold::artefact::stage_test

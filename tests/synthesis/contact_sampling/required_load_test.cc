#include "synthesis/contact_sampling/required_load.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/support/sampling_tasks.h"

namespace handhold::synthesis::required_load_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using testing::EmptyTask;
using testing::Turned;

/// A box on the table that stays there; the hand is far away.
HandTask RestingBox(int frames) {
  HandTask task = EmptyTask("box_3x5x7", frames);
  for (int t = 0; t < frames; ++t) {
    task.X_WO.push_back(RigidTransform::Translation(Vec3(0, 0, 0.035)));
    task.hands[0].X_WR.push_back(RigidTransform::Translation(Vec3(0, 0, 0.5)));
  }
  return task;
}

TEST(RequiredLoad, IsThatOfAPlantedMotion) {
  // Thrown up with 3 m/s^2 and spun up by 5 rad/s^2 about the vertical, from an angle.
  HandTask task = RestingBox(60);
  task.supports.clear();
  for (int t = 0; t < 60; ++t) {
    const double s = t / 60.0;
    RigidTransform X =
        Turned(Vec3::UnitZ(), (0.3 + 2.5 * s * s) * 180 / M_PI) * Turned(Vec3::UnitX(), 90);
    X.p = Vec3(0.1 * s, 0, 1.5 * s * s);
    task.X_WO[static_cast<size_t>(t)] = X;
  }
  const auto loads = RequiredLoads(task);
  // By hand: a box of 3 x 5 x 7 cm lies on its side, so that it turns about its y axis.
  const double inertia = 0.3 / 12 * (0.03 * 0.03 + 0.07 * 0.07);
  for (const int t : {0, 20, 59}) {
    const RigidTransform& X = task.X_WO[static_cast<size_t>(t)];
    const auto& w = loads[static_cast<size_t>(t)].w_O;
    const Vec3 f_W = X.R * w.tail<3>(), tau_W = X.R * w.head<3>();
    EXPECT_LT((f_W - Vec3(0, 0, 0.3 * (9.81 + 3))).norm(), 2e-3) << t;
    EXPECT_LT((tau_W - Vec3(0, 0, inertia * 5)).norm(), 0.03 * inertia * 5) << t;
    EXPECT_TRUE(loads[static_cast<size_t>(t)].needs_hand);
    EXPECT_FALSE(loads[static_cast<size_t>(t)].at_rest);
  }
}

TEST(RequiredLoad, NoiseOnARestingObjectAsksForNoHand) {
  HandTask task = RestingBox(60);
  std::mt19937 rng(1);
  std::normal_distribution<double> noise(0, 2e-4);
  for (RigidTransform& X : task.X_WO) X.p += Vec3(noise(rng), noise(rng), noise(rng));
  for (const FrameLoad& load : RequiredLoads(task)) {
    EXPECT_TRUE(load.at_rest);
    EXPECT_FALSE(load.needs_hand);
    EXPECT_EQ(load.supports.size(), 4u);
  }
  // The canary: without rest detection the same noise does ask.
  int asked = 0;
  for (const FrameLoad& load : RequiredLoads(task, {.smoothing_s = 0.015, .rest_speed_m_per_s = 0}))
    asked += load.needs_hand;
  EXPECT_GT(asked, 5);
}

TEST(RequiredLoad, TakesAreCutAtRests) {
  HandTask task = RestingBox(240);
  for (int t = 0; t < 240; ++t) {
    const double up = t < 120 ? t / 60.0 : (t - 120) / 60.0;  // lifted and put down, twice
    task.X_WO[static_cast<size_t>(t)].p.z() +=
        0.05 * (testing::Smoothly((up - 0.2) / 0.6) - testing::Smoothly((up - 1.0) / 0.6));
  }
  const auto pieces = HeldPieces(RequiredLoads(task));
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_NEAR(pieces[0].first, 14, 6);
  EXPECT_NEAR(pieces[0].last, 94, 8);
  EXPECT_EQ(pieces[1].first - pieces[0].first, 120);
}

TEST(RequiredLoad, ATableThatABoxSlidesOverDragsIt) {
  HandTask task = RestingBox(60);
  for (int t = 0; t < 60; ++t) task.X_WO[static_cast<size_t>(t)].p.x() = 0.2 * t / 60.0;
  const auto load = RequiredLoads(task)[30];
  ASSERT_EQ(load.supports.size(), 4u);
  for (const ForceContact& c : load.supports) {
    ASSERT_TRUE(c.slides_O.has_value());
    EXPECT_LT(c.slides_O->x(), 0);  // the force on the object points back
  }
  EXPECT_TRUE(load.needs_hand);  // at constant speed somebody pushes
}

artefact::ObjectTrack TrackOf(const std::string& thing, int frames, double rate_Hz,
                              double begin_s) {
  artefact::ObjectTrack track;
  track.thing = thing;
  for (int t = 0; t < frames; ++t) {
    track.times.push_back(Timestamp::FromSeconds(begin_s) + Duration::OfSamples(t, rate_Hz));
    const double s = track.times.back().seconds();
    RigidTransform X = Turned(Vec3::UnitZ(), 30 * s);
    X.p = Vec3(s, 2 * s, 0);
    track.X_WT.push_back(X);
  }
  return track;
}

TEST(HandTask, TracksAreReadOverTheirCommonSpan) {
  const auto object = TrackOf("mug", 200, 100, 0.0), wrist = TrackOf("palm", 90, 50, 0.35);
  HandTask task = EmptyTask("mug", 0);
  ASSERT_TRUE(ReadTracks({&object, {&wrist}}, 60, 0.1, &task));
  EXPECT_EQ(task.times.front(), Timestamp::FromSeconds(0.35));
  EXPECT_EQ(task.frame_count(), 99);  // until 1.99 s
  for (int t = 0; t < task.frame_count(); ++t) {
    const double s = task.times[static_cast<size_t>(t)].seconds();
    EXPECT_LT((task.X_WO[static_cast<size_t>(t)].p - Vec3(s, 2 * s, 0)).norm(), 1e-9);
    EXPECT_LT(
        (task.hands[0].X_WR[static_cast<size_t>(t)].R - Turned(Vec3::UnitZ(), 30 * s).R).norm(),
        1e-9);
  }
  auto torn = wrist;
  torn.times.erase(torn.times.begin() + 20, torn.times.begin() + 40);
  torn.X_WT.erase(torn.X_WT.begin() + 20, torn.X_WT.begin() + 40);
  const auto refused = ReadTracks({&object, {&torn}}, 60, 0.1, &task);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_NE(refused.error().message.find("palm"), std::string::npos);
  const auto late = TrackOf("palm", 50, 50, 5.0);
  EXPECT_EQ(ReadTracks({&object, {&late}}, 60, 0.1, &task).error().code, ErrorCode::kInvalid);
}

TEST(HandTask, WhatIsUnsoundIsRefusedOrTold) {
  HandTask task = testing::BoxTask();
  const auto sound = JudgeTask(task);
  ASSERT_TRUE(sound) << sound.error().message;
  EXPECT_TRUE(sound->issues.empty());
  const auto codes = [&](const HandTask& t) {
    const auto judged = JudgeTask(t);
    return judged ? std::string() : judged.error().message;
  };
  HandTask deep = task;  // the palm put where the object is
  for (size_t t = 0; t < deep.times.size(); ++t)
    deep.hands[0].X_WR[t].p = deep.X_WO[t].p - deep.hands[0].X_WR[t].R * Vec3(0.04, 0, 0);
  EXPECT_NE(codes(deep).find("palm"), std::string::npos);
  const auto told = JudgeTask(deep, {.refuse = false});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->issues.size(), 1u);
  EXPECT_GT(told->palm_depth_m, 5e-3);
  HandTask jumps = task;
  jumps.X_WO[70].p.x() += 0.05;
  EXPECT_NE(codes(jumps).find("frame 70"), std::string::npos);
  HandTask sunk = task;
  sunk.supports[0].height_m = 0.01;
  EXPECT_NE(codes(sunk).find("support"), std::string::npos);
  HandTask light = task;
  light.mass_kg = 0;
  EXPECT_EQ(CheckTask(light).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::synthesis::required_load_test

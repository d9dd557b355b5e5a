#include "synthesis/evaluate/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/geometry/rotation.h"
#include "database/model/hand_library.h"

namespace handhold::synthesis::verdict_test {
namespace {

using artefact::Motion;
using artefact::Side;
using artefact::Verdict;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr int kFrames = 500;  // 1 s of 2 ms

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

Timestamp At(int frame) { return Timestamp::FromNanoseconds(frame * 2'000'000LL); }

// A hand that rises 10 cm and turns half round, a box that goes with it, touched by two fingers.
Motion Carried() {
  Motion motion;
  artefact::MotionHand& hand = motion.Add(artefact::StageHand{});
  hand.dof_names = Hand().dof_names();
  hand.q.resize(Hand().nq(), kFrames);
  motion.Add(artefact::TableAt(Vec3::Zero()));
  motion.Add(artefact::StageThing{.name = "box"});
  motion.series.push_back({"lcp_unsolved", "1", Eigen::VectorXd::Zero(kFrames)});
  for (int k = 0; k < kFrames; ++k) {
    const double s = k / (kFrames - 1.0);
    Eigen::VectorXd v = Eigen::VectorXd::Zero(Hand().nv());
    v.head<3>() = Vec3(0, 0, 3.0 * s);
    Eigen::VectorXd q = Hand().Integrate(Hand().ZeroConfiguration(), v);
    q.segment<3>(Hand().q_index(1)) = Vec3(0, 0, 0.1 * s);
    hand.q.col(k) = q;
    const RigidTransform X_WH{geometry::Exp(Vec3(0, 0, 3.0 * s)), Vec3(0, 0, 0.1 * s)};
    motion.times.push_back(At(k));
    motion.objects[1].X_WP.push_back(X_WH * RigidTransform::Translation(Vec3(0.1, 0, -0.05)));
  }
  const Side box{Side::Kind::kThing, "box", "", 0}, table{Side::Kind::kThing, "table", "", 0};
  for (const char* site : {"R.thumb.pad", "R.index.pad"})
    motion.TouchBetween({Side::Kind::kHand, "R", site, 4}, box, At(0));
  motion.TouchBetween(box, table, At(0));
  for (int k = 0; k < kFrames; ++k) {
    for (int touch = 0; touch < 2; ++touch) {
      artefact::ContactRow row;
      row.frame = k;
      row.touch = touch;
      row.f_onA_W = Vec3(touch == 0 ? 2.0 : -2.0, 0, 0);
      motion.rows.push_back(row);
    }
  }
  EXPECT_TRUE(artefact::CheckMotion(motion));
  return motion;
}

// No row of hands from frame `from` to before `to`.
void LetGo(Motion* motion, int from, int to) {
  std::erase_if(motion->rows, [&](const auto& row) { return row.frame >= from && row.frame < to; });
}

Verdict Judge(const Motion& motion, const VerdictOptions& options = {}) {
  const auto verdict = JudgeHold(Hand(), motion, options);
  EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().message);
  return verdict ? *verdict : Verdict{};
}

TEST(JudgeHold, WhatGoesWithTheHandIsHeld) {
  const Verdict verdict = Judge(Carried());
  EXPECT_EQ(verdict.kind, Verdict::Kind::kHeld);
  EXPECT_EQ(verdict.when, At(kFrames - 1));
}

TEST(JudgeHold, LettingGoIsADropButAFlickerIsNot) {
  Motion motion = Carried();
  LetGo(&motion, 200, 205);
  EXPECT_EQ(Judge(motion).kind, Verdict::Kind::kHeld);
  LetGo(&motion, 300, 330);
  const Verdict verdict = Judge(motion);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kDropped);
  EXPECT_EQ(verdict.when, At(300));
  EXPECT_THAT(verdict.cause, ::testing::HasSubstr("'box'"));
  // What happens outside the hold is nobody's business.
  VerdictOptions before;
  before.hold = {At(0), At(290)};
  EXPECT_EQ(Judge(motion, before).kind, Verdict::Kind::kHeld);
}

TEST(JudgeHold, LyingOnSomethingIsNoHold) {
  Motion motion = Carried();
  for (int k = 100; k < 150; ++k) {
    artefact::ContactRow row;
    row.frame = k;
    row.touch = 2;
    row.f_onA_W = Vec3(0, 0, 0.1);
    motion.rows.push_back(row);
  }
  const Verdict verdict = Judge(motion);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kDropped);
  EXPECT_EQ(verdict.when, At(100));
}

TEST(JudgeHold, WhatLiesOnTheObjectIsCarriedAndWhatItLiesOnIsNot) {
  Motion motion = Carried();
  motion.Add(artefact::StageThing{.name = "brick"}).X_WP = motion.objects[1].X_WP;
  const Side box{Side::Kind::kThing, "box", "", 0}, brick{Side::Kind::kThing, "brick", "", 0},
      table{Side::Kind::kThing, "table", "", 0};
  const auto press = [&](const Side& a, const Side& b) {
    const int touch = motion.TouchBetween(a, b, At(0));
    for (int k = 100; k < 200; ++k) {
      artefact::ContactRow row;
      row.frame = k;
      row.touch = touch;
      row.f_onA_W = Vec3(0, 0, 0.1);
      motion.rows.push_back(row);
    }
  };
  VerdictOptions options;
  options.object = "box";
  press(brick, box);
  EXPECT_EQ(Judge(motion, options).kind, Verdict::Kind::kHeld);
  // The brick stands on the table too: now the box rests on what stands.
  press(brick, table);
  EXPECT_EQ(Judge(motion, options).kind, Verdict::Kind::kDropped);
  EXPECT_EQ(Judge(motion, options).when, At(100));
}

TEST(JudgeHold, SlidingAndTurningInTheHandAreSlips) {
  Motion slides = Carried(), turns = Carried(), sways = Carried();
  for (int k = 250; k < kFrames; ++k) {
    const auto at = static_cast<size_t>(k);
    const double s = (k - 250) / 249.0;
    RigidTransform& slid = slides.objects[1].X_WP[at];
    slid = slid * RigidTransform::Translation(Vec3(0, 0, -0.010 * s));
    RigidTransform& turned = turns.objects[1].X_WP[at];
    turned = turned * RigidTransform{geometry::Exp(Vec3(0.52 * s, 0, 0)), Vec3::Zero()};
    RigidTransform& swayed = sways.objects[1].X_WP[at];
    swayed = swayed * RigidTransform{geometry::Exp(Vec3(0.2 * s, 0, 0)), Vec3(0, 0.004 * s, 0)};
  }
  const Verdict slid = Judge(slides), turned = Judge(turns);
  EXPECT_EQ(slid.kind, Verdict::Kind::kSlipped);
  EXPECT_EQ(turned.kind, Verdict::Kind::kSlipped);
  // 5 of 10 mm and 0.26 of 0.52 rad: halfway.
  EXPECT_NEAR((slid.when - At(250)).seconds(), 0.25, 0.004);
  EXPECT_NEAR((turned.when - At(250)).seconds(), 0.25, 0.004);
  EXPECT_EQ(Judge(sways).kind, Verdict::Kind::kHeld);
}

TEST(JudgeHold, JamsAndLostStepsAreNamed) {
  Motion motion = Carried();
  VerdictOptions options;
  options.jam_force_N = 3.9;  // the two fingers together: 4 N
  EXPECT_EQ(Judge(motion, options).kind, Verdict::Kind::kJammed);
  EXPECT_EQ(Judge(motion, options).when, At(0));
  options.jam_force_N = 4.1;
  EXPECT_EQ(Judge(motion, options).kind, Verdict::Kind::kHeld);
  motion.series[0].values.segment(100, 20).setOnes();  // 4 %
  EXPECT_EQ(Judge(motion).kind, Verdict::Kind::kHeld);
  motion.series[0].values.segment(100, 30).setOnes();
  const Verdict lost = Judge(motion);
  EXPECT_EQ(lost.kind, Verdict::Kind::kLost);
  EXPECT_EQ(lost.when, At(100));
}

TEST(JudgeHold, RefusesWhatItCannotJudge) {
  Motion motion = Carried();
  VerdictOptions options;
  options.object = "mug";
  EXPECT_EQ(JudgeHold(Hand(), motion, options).error().code, ErrorCode::kInvalid);
  options = {};
  options.hold = {At(100), At(kFrames + 100)};
  EXPECT_EQ(JudgeHold(Hand(), motion, options).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(JudgeHold(*model::LoadHand("hand57"), motion, {}).error().code, ErrorCode::kInvalid);
  Motion two = motion;
  two.Add(artefact::StageThing{.name = "ball"}).X_WP = two.objects[1].X_WP;
  EXPECT_EQ(JudgeHold(Hand(), two, {}).error().code, ErrorCode::kInvalid);
  options = {};
  options.object = "box";
  EXPECT_TRUE(JudgeHold(Hand(), two, options));
  motion.objects.pop_back();
  EXPECT_EQ(JudgeHold(Hand(), motion, {}).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::synthesis::verdict_test

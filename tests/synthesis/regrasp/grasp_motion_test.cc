#include "synthesis/regrasp/grasp_motion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/artefact/grasp_file.h"
#include "database/model/hand_library.h"

namespace handhold::synthesis::grasp_motion_test {
namespace {

using artefact::Verdict;
using geometry::Vec3;

struct Shipped {
  model::Skeleton hand = *model::LoadHand("hand57");
  artefact::Grasp grasp = artefact::LoadLibraryGrasp("hand57_cylinder").value();
  model::Prop prop = model::LoadLibraryProp(grasp.prop).value();
};

TEST(GraspMotion, OptionsDescribeThemselves) { artefact::CheckDescribed<GraspMotionOptions>(); }

TEST(GraspMotion, TheShippedCylinderGraspReachesClosesLiftsAndHolds) {
  const Shipped s;
  GraspMotionOptions options;
  options.hold_s = 0.4;
  const auto recorded = RecordGrasp(s.hand, s.prop, s.grasp, options);
  ASSERT_TRUE(recorded) << recorded.error().message;
  const artefact::Motion& motion = recorded->motion;
  EXPECT_EQ(motion.verdict.kind, Verdict::Kind::kHeld) << motion.verdict.cause;
  EXPECT_NEAR(motion.summary.figures.at("lifted_m"), 0.1, 0.02);
  // Frames every 10 ms from 0 on; nothing touches before the hand closes.
  EXPECT_NEAR(motion.times.back().seconds(), 0.8 + 0.5 + 0.3 + 0.3 + 0.8 + 0.4, 1e-9);
  EXPECT_EQ(motion.times.size(), 311u);
  ASSERT_FALSE(motion.rows.empty());
  EXPECT_GT(motion.rows.front().frame, 80);
  // The prop rests until it is lifted, the hand comes from where its back points.
  const auto& X = motion.objects[0].X_WP;
  EXPECT_LT((X[120].p - X[0].p).norm(), 1e-9);
  EXPECT_EQ(motion.hands[0].q.rows(), recorded->hand.nq());
  const Eigen::VectorXd away = motion.hands[0].q.col(0) - motion.hands[0].q.col(80);
  EXPECT_NEAR(away.head<3>().norm(), 0.12, 1e-3);
  // Its phases, one after the other, are the whole of it.
  std::vector<std::string> phases;
  for (const artefact::Phase& phase : motion.phases) phases.push_back(phase.name);
  EXPECT_THAT(phases,
              ::testing::ElementsAre("reach", "close", "squeeze", "settle", "lift", "hold"));
  EXPECT_EQ(motion.FindPhase("hold")->range.end, motion.times.back());
  EXPECT_NEAR(motion.FindPhase("close")->range.begin.seconds(), 0.8, 1e-9);
  EXPECT_EQ(motion.stage.hold->begin, motion.FindPhase("hold")->range.begin);
  EXPECT_EQ(motion.stage.things[0].mass_kg, 0.1);
  // What the prop does in the hand once it is let go is measured, not only what it does in the end.
  EXPECT_LT(motion.summary.figures.at("moved_in_hand_m"), 0.01);
  EXPECT_LT(motion.summary.figures.at("turned_in_hand_rad"), 0.1);
  // Forces on the hand while it holds balance the weight: 0.1 kg.
  Vec3 sum = Vec3::Zero();
  for (const artefact::ContactRow& row : motion.rows) {
    if (row.frame == 305 && motion.touches[static_cast<size_t>(row.touch)].a.is_hand())
      sum += row.f_onA_W;
  }
  EXPECT_NEAR(sum.z(), -0.981, 0.1);
}

// From a table, whose normal may be said: the prop stands on it, is lifted off it, and held.
TEST(GraspMotion, ItIsLiftedFromATable) {
  const Shipped s;
  GraspMotionOptions options;
  options.scene.table = true;
  options.hold_s = 0.2;
  const auto recorded = RecordGrasp(s.hand, s.prop, s.grasp, options);
  ASSERT_TRUE(recorded) << recorded.error().message;
  const artefact::Motion& motion = recorded->motion;
  ASSERT_EQ(motion.objects.size(), 2u);
  const double top = motion.objects[1].X_WP[0].p.z();
  EXPECT_NEAR(model::LowestAlong(s.prop, motion.objects[0].X_WP[0], Vec3::UnitZ()), top, 1e-6);
  EXPECT_GT(model::LowestAlong(s.prop, motion.objects[0].X_WP.back(), Vec3::UnitZ()), top + 0.05);
  EXPECT_EQ(motion.verdict.kind, Verdict::Kind::kHeld) << motion.verdict.cause;
  options.scene.table_up_P = Vec3::UnitX();
  const auto lying = RecordGrasp(s.hand, s.prop, s.grasp, options);
  ASSERT_TRUE(lying) << lying.error().message;
  EXPECT_LT((lying->motion.objects[0].X_WP[0].R * Vec3::UnitX() - Vec3::UnitZ()).norm(), 1e-9);
}

TEST(GraspMotion, ALimpHandDropsIt) {
  Shipped s;
  s.grasp.q_squeeze = s.grasp.q_open;
  GraspMotionOptions options;
  options.hold_s = 0.2;
  const auto recorded = RecordGrasp(s.hand, s.prop, s.grasp, options);
  ASSERT_TRUE(recorded) << recorded.error().message;
  EXPECT_EQ(recorded->motion.verdict.kind, Verdict::Kind::kDropped);
  EXPECT_FALSE(recorded->motion.summary.issues.empty());
  s.grasp.q_open.resize(0);
  EXPECT_EQ(RecordGrasp(s.hand, s.prop, s.grasp, options).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::synthesis::grasp_motion_test

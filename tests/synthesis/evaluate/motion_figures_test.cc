#include "synthesis/evaluate/motion_figures.h"

#include <gtest/gtest.h>

#include "database/model/hand_library.h"

namespace handhold::synthesis::motion_figures_test {
namespace {

using artefact::Motion;
using artefact::Side;
using geometry::RigidTransform;
using geometry::Vec3;

// A hand that rises at 0.1 m/s for 1 s and holds for 1 s (frames of 10 ms) a box that creeps in it
// at 2 mm/s along X; two fingers press with 1 N, in the hold with 2 N, one of them 0.5 mm deep.
struct Rising {
  model::Skeleton hand = *model::LoadHand("hand27");
  Motion motion;
  Rising() {
    artefact::MotionHand& moved = motion.Add(artefact::StageHand{});
    moved.dof_names = hand.dof_names();
    moved.q.resize(hand.nq(), 201);
    motion.Add(artefact::StageThing{.name = "box"});
    const Side box{Side::Kind::kThing, "box", "", 0};
    for (int k = 0; k <= 200; ++k) {
      const double t = 0.01 * k, up = std::min(0.1, 0.1 * t);
      motion.times.push_back(Timestamp::FromNanoseconds(10'000'000LL * k));
      moved.q.col(k) = hand.ZeroConfiguration();
      moved.q(2, k) = up;
      motion.objects[0].X_WP.push_back(
          RigidTransform::Translation(Vec3(0.1 + 2e-3 * t, 0, -0.05 + up)));
      for (const int finger : {4, 8}) {
        artefact::ContactRow row;
        row.frame = k;
        row.touch =
            motion.TouchBetween({Side::Kind::kHand, "R", "", finger}, box, motion.times.back());
        row.f_onA_W = Vec3(0, t >= 1.0 ? 2.0 : 1.0, 0);
        row.offset_m = finger == 4 ? -5e-4 : 1e-4;
        row.slip_m_per_s = t >= 1.0 ? 3e-3 : 9e-3;
        motion.rows.push_back(row);
      }
    }
  }
  VerdictOptions Hold() const {
    VerdictOptions options;
    options.hold = {Timestamp::FromSeconds(1.0), Timestamp::FromSeconds(2.0)};
    return options;
  }
};

TEST(MotionFigures, AreFormulas) {
  const Rising made;
  const auto figures = MeasureMotion(made.hand, made.motion, made.Hold());
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_DOUBLE_EQ(figures->peak_force_N, 4.0);
  EXPECT_NEAR(figures->mean_force_N, 4.0, 1e-12);
  EXPECT_DOUBLE_EQ(figures->deepest_m, 5e-4);
  EXPECT_DOUBLE_EQ(figures->slip_m_per_s, 3e-3);  // the faster slip came before the hold
  EXPECT_NEAR(figures->creep_m_per_s, 2e-3, 1e-9);
  EXPECT_NEAR(figures->lifted_m, 0.1, 1e-12);
  EXPECT_NEAR(figures->hold_s, 0.99, 1e-9);
  EXPECT_EQ(FiguresOf(*figures).at("creep_m_per_s"), figures->creep_m_per_s);
  EXPECT_EQ(FiguresOf(*figures).size(), 7u);
}

// It said -33.7 m of a prop that was let go 40 mm up and fell on: how far it was lifted is where
// the last hand left it.
TEST(MotionFigures, WhatIsDroppedWasLiftedToWhereItWasDropped) {
  Rising made;
  std::erase_if(made.motion.rows, [](const artefact::ContactRow& row) { return row.frame > 40; });
  for (size_t k = 41; k < made.motion.times.size(); ++k) {
    const double fell_s = 0.01 * static_cast<double>(k - 40);
    made.motion.objects[0].X_WP[k].p.z() = -0.05 + 0.04 - 4.905 * fell_s * fell_s;
  }
  EXPECT_NEAR(MeasureMotion(made.hand, made.motion, made.Hold())->lifted_m, 0.04, 1e-9);
  made.motion.rows.clear();
  EXPECT_EQ(LiftedBy(made.motion, made.motion.objects[0], 200), 0);
}

TEST(MotionFigures, AnUnloadedContactDoesNotSlipAndNonsenseIsRefused) {
  Rising made;
  for (auto& row : made.motion.rows) row.f_onA_W *= 0.01;
  EXPECT_EQ(MeasureMotion(made.hand, made.motion, made.Hold())->slip_m_per_s, 0.0);
  VerdictOptions other = made.Hold();
  other.object = "mug";
  EXPECT_EQ(MeasureMotion(made.hand, made.motion, other).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::synthesis::motion_figures_test

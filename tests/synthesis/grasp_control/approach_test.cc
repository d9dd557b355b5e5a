// An open hand comes to a prop: how near, from where, and as its mirror image.
#include "synthesis/grasp_control/approach.h"

#include <gtest/gtest.h>

#include "database/artefact/grasp_file.h"
#include "database/model/hand_library.h"
#include "synthesis/grasp_control/hand_world.h"

namespace handhold::synthesis::approach_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

struct Shipped {
  artefact::Grasp grasp;
  model::Skeleton hand;
  model::Prop prop;
  RigidTransform X_PPalm;  ///< when it grips
};

Shipped Of(const char* name) {
  const artefact::Grasp grasp = artefact::LoadLibraryGrasp(name).value();
  model::Skeleton hand = model::LoadHand(grasp.skeleton_name).value();
  const RigidTransform X = grasp.X_PH * PoseOfBody(hand, grasp.q, PalmOf(hand));
  return {grasp, std::move(hand), model::LoadLibraryProp(grasp.prop).value(), X};
}

double Gap(const Shipped& s, const model::Prop& prop, const RigidTransform& X_PPalm) {
  const auto world = HandWorld::Create().value();
  EXPECT_TRUE(world->AddHand(s.hand));
  EXPECT_TRUE(world->AddProp(artefact::Placed(prop, {})));
  const RigidTransform X_PalmH = PoseOfBody(s.hand, s.grasp.q_open, PalmOf(s.hand)).Inverse();
  EXPECT_TRUE(world->SetHand(0, world->Placed(0, s.grasp.q_open, X_PPalm * X_PalmH)));
  return world->HandGap(0, 0).value();
}

TEST(Approach, TheOpenHandStopsTwoMillimetresAway) {
  const Shipped s = Of("hand57_cylinder");
  const auto closed = ClosedIn(s.hand, s.grasp.q_open, s.prop, s.X_PPalm);
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_NEAR(Gap(s, s.prop, *closed), kReachClearance_m, 3e-4);
  EXPECT_EQ(closed->R, s.X_PPalm.R);
  const Vec3 moved = closed->p - s.X_PPalm.p;
  EXPECT_LT(moved.cross(s.X_PPalm.R.col(2)).norm(), 1e-9) << "along the palm's normal alone";
}

TEST(Approach, ComesAlongThePalmsNormalUnlessSomethingIsInTheWay) {
  const Shipped s = Of("hand57_cylinder");
  const auto free = ClearWay(s.hand, s.grasp.q_open, s.prop, s.X_PPalm);
  ASSERT_TRUE(free) << free.error().message;
  const auto clear = [&](const model::Prop& prop, const Vec3& way_Palm) {
    double gap_m = 1.0;
    for (const double away_m : {0.02, 0.04, 0.06, 0.08}) {
      RigidTransform X = s.X_PPalm;
      X.p += away_m * X.R * way_Palm;
      gap_m = std::min(gap_m, Gap(s, prop, X));
    }
    return gap_m > 1e-3;
  };
  EXPECT_TRUE(clear(s.prop, *free));
  // A wall where the back of the hand would pass on that way.
  model::Prop walled = s.prop;
  const Vec3 behind = s.X_PPalm.p + s.X_PPalm.R * (0.1 * *free);
  walled.shapes.push_back(
      {"wall", RigidTransform{s.X_PPalm.R, behind}, geometry::Box{Vec3(0.02, 0.02, 0.02)}, "test"});
  ASSERT_FALSE(clear(walled, *free)) << "the canary: the wall is in the way";
  const auto around = ClearWay(s.hand, s.grasp.q_open, walled, s.X_PPalm);
  ASSERT_TRUE(around) << around.error().message;
  EXPECT_LT(around->dot(*free), 0.95);
  EXPECT_TRUE(clear(walled, *around));
}

TEST(Approach, AMirroredGraspIsTheOtherHandsAndBack) {
  const Shipped s = Of("hand27_pinch");
  const artefact::Grasp left = MirroredGrasp(s.hand, s.grasp);
  EXPECT_EQ(left.X_PH.p.y(), -s.grasp.X_PH.p.y());
  EXPECT_NEAR(left.X_PH.R.determinant(), 1.0, 1e-12) << "a rotation still";
  const model::Skeleton mirror = model::Mirrored(s.hand);
  const RigidTransform palm = left.X_PH * PoseOfBody(mirror, left.q, PalmOf(mirror));
  EXPECT_NEAR(palm.p.x(), s.X_PPalm.p.x(), 1e-9);
  EXPECT_NEAR(palm.p.y(), -s.X_PPalm.p.y(), 1e-9);
  EXPECT_NEAR(palm.p.z(), s.X_PPalm.p.z(), 1e-9);
  const artefact::Grasp back = MirroredGrasp(mirror, left);
  EXPECT_LT((back.q - s.grasp.q).norm(), 1e-12);
  EXPECT_LT((back.X_PH.R - s.grasp.X_PH.R).norm(), 1e-12);
}

}  // namespace
}  // namespace handhold::synthesis::approach_test

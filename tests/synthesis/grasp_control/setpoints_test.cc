// The grasps that ship: their setpoints rest where they should, and closed as they say they hold.
#include "synthesis/grasp_control/setpoints.h"

#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "database/artefact/grasp_file.h"
#include "database/model/hand_library.h"
#include "synthesis/grasp_control/hand_world.h"
#include "synthesis/grasp_control/posture.h"

namespace handhold::synthesis::setpoints_test {
namespace {

using artefact::Grasp;
using geometry::RigidTransform;
using geometry::Vec3;

double Rms_deg(const Eigen::VectorXd& v) {
  return v.norm() / std::sqrt(static_cast<double>(v.size())) * 180 / M_PI;
}

TEST(Setpoints, TheMeanOfNeutralAndASetpointIsWhereTheHandRests) {
  for (const std::string& name : artefact::GraspNames().value()) {
    const Grasp grasp = artefact::LoadLibraryGrasp(name).value();
    const model::Skeleton hand = model::LoadHand(grasp.skeleton_name).value();
    const artefact::SetpointSet set = SetpointsOf(hand, grasp).value();
    ASSERT_TRUE(CheckSetpoints(hand, set));
    const auto rest = [&](int i) {
      return Between(hand, set.q_neutral, set.setpoints[static_cast<size_t>(i)].q, 0.5);
    };
    EXPECT_LT(Rms_deg(hand.Difference(rest(kOpen), grasp.q_open)), 1e-9);
    // Alpha 1, eqs. 15 and 16: 2 close - open, as vectors about neutral.
    const auto about = [&](int i) {
      return hand.Difference(set.q_neutral, set.setpoints[static_cast<size_t>(i)].q);
    };
    EXPECT_LT(Rms_deg(hand.Difference(
                  hand.Integrate(set.q_neutral, 0.5 * (2.0 * about(kClose) - about(kOpen))),
                  grasp.q_squeeze)),
              0.5)
        << name;
    EXPECT_LT(Rms_deg(hand.Difference(ClampedToLimits(hand, grasp.q_squeeze), grasp.q_squeeze)),
              1e-6);
  }
}

TEST(Setpoints, WhatDoesNotFitIsRefused) {
  const Grasp grasp = artefact::LoadLibraryGrasp("hand27_cylinder").value();
  const model::Skeleton hand = model::LoadHand("hand27").value();
  EXPECT_FALSE(SetpointsOf(model::LoadHand("hand57").value(), grasp));
  Grasp closed = grasp;
  closed.q_open.resize(0);
  EXPECT_FALSE(SetpointsOf(hand, closed));
  artefact::SetpointSet set = SetpointsOf(hand, grasp).value();
  set.approach_m = set.begin_m;
  EXPECT_FALSE(CheckSetpoints(hand, set));
  set = SetpointsOf(hand, grasp).value();
  set.setpoints.pop_back();
  EXPECT_FALSE(CheckSetpoints(hand, set));
  set = SetpointsOf(hand, grasp).value();
  set.setpoints[2].q[9] = NAN;
  EXPECT_FALSE(CheckSetpoints(hand, set));
}

// Opened at its place, closed on the held prop, let go, pushed: six directions of 1 N on 0.1 kg.
// Beyond 0.3 s is plant_grasps' own work (2 s) and P1's.
TEST(Examples, HoldTheirPropAndReproduceTheirJoints) {
  for (const std::string& name : artefact::GraspNames().value()) {
    const Grasp grasp = artefact::LoadLibraryGrasp(name).value();
    const model::Skeleton hand = model::LoadHand(grasp.skeleton_name).value();
    const auto world = HandWorld::Create().value();
    ASSERT_TRUE(world->AddHand(hand));
    ASSERT_TRUE(world->AddProp(artefact::Placed(model::LoadLibraryProp(grasp.prop).value(), {},
                                                artefact::StageThing::Is::kFree, 0.1, 0.6)));
    ASSERT_TRUE(world->SetHand(0, world->Placed(0, grasp.q_open, grasp.X_PH)));
    ASSERT_TRUE(world->HoldProp(0, true));
    const Eigen::VectorXd target = world->Placed(0, grasp.q_squeeze, grasp.X_PH);
    const auto run = [&](double seconds) -> Status {
      for (double t = 0; t < seconds; t += 2e-3) {
        HANDHOLD_TRY(world->Pull(0, target, {}, {}));
        HANDHOLD_TRY(world->Step(2e-3));
      }
      return {};
    };
    ASSERT_TRUE(run(0.46));
    ASSERT_TRUE(world->HoldProp(0, false));
    ASSERT_TRUE(run(0.4));
    const double rms_deg = Rms_deg(hand.Difference(grasp.q, world->Unplaced(0, world->q(0)).q));
    std::printf("%s: joints %.2f degrees RMS from the example, %.1f N\n", name.c_str(), rms_deg,
                world->GripOn(0, 0).normal_N);
    EXPECT_LT(rms_deg, 8.0) << name;
    const HandWorld::Saved closed = world->Save();
    const RigidTransform before = world->X_WP(0);
    for (int k = 0; k < 6; ++k) {
      ASSERT_TRUE(world->Restore(closed));
      world->SetGravity({.g_W = (k % 2 ? -10.0 : 10.0) * Vec3::Unit(k / 2)});
      ASSERT_TRUE(run(0.3));
      EXPECT_LT((world->X_WP(0).p - before.p).norm(), 0.05) << name << " push " << k;
      EXPECT_LT(geometry::Log(before.R.transpose() * world->X_WP(0).R).norm(), 15 * M_PI / 180)
          << name << " push " << k;
    }
  }
}

}  // namespace
}  // namespace handhold::synthesis::setpoints_test

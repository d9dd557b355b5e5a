// A hand closes on a cylinder and holds it: contacts from synthesis/contact, forces from the
// engine.
#include "synthesis/grasp_control/hand_world.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/support/closing_hand.h"

namespace handhold::synthesis::hand_world_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using testing::ClosingHand;
using testing::CylinderProp;

TEST(HandWorld, AHandClosesOnACylinderAndHoldsItInEveryDirection) {
  for (const char* name : {"hand57", "hand27"}) {
    ClosingHand scene(name);
    ASSERT_TRUE(scene.Close(0.6));
    const HandWorld::Grip grip = scene.world->GripOn(0, 0);
    EXPECT_GE(grip.contacts, 4) << name;
    EXPECT_GT(grip.normal_N, 1.0) << name;
    EXPECT_LT(grip.deepest_m, 3e-3) << name;
    const HandWorld::Saved closed = scene.world->Save();
    const Vec3 before = scene.world->X_WPalm(0).Inverse() * scene.world->X_WP(0).p;
    for (const Vec3& g : {Vec3(0, 0, -10), Vec3(0, 0, 10), Vec3(10, 0, 0), Vec3(-10, 0, 0)}) {
      ASSERT_TRUE(scene.world->Restore(closed));
      scene.world->SetGravity({.g_W = g});
      ASSERT_TRUE(scene.Run(0.3));
      const Vec3 after = scene.world->X_WPalm(0).Inverse() * scene.world->X_WP(0).p;
      EXPECT_LT((after - before).norm(), 0.02) << name << " under " << g.transpose();
      EXPECT_GT(scene.world->GripOn(0, 0).contacts, 2) << name;
    }
    // Without springs it falls 0.5 g t^2 in any direction that the hand does not block.
    ASSERT_TRUE(scene.world->Restore(closed));
    scene.world->LetGo(0);
    scene.world->SetGravity({.g_W = Vec3(0, 0, -10)});
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(scene.world->Step(2e-3));
    EXPECT_GT(before.z() - (scene.world->X_WPalm(0).Inverse() * scene.world->X_WP(0).p).z(), 0.1)
        << name;
  }
}

TEST(HandWorld, WeightIsOnPropsAndOnHandsOnlyWhenAsked) {
  ClosingHand scene("hand57", {}, RigidTransform::Translation(Vec3(0, 0, -1)));
  HandWorld& w = *scene.world;
  w.SetGravity({.g_W = Vec3(0, 0, -10)});
  const Eigen::VectorXd q = w.q(0);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(w.Step(2e-3));
  // Semi-implicit Euler falls g h^2 n (n + 1) / 2.
  EXPECT_NEAR(w.X_WP(0).p.z() + 1.0, -10 * 4e-6 * 50 * 51 / 2, 1e-9);
  EXPECT_LT((w.q(0) - q).norm(), 1e-9);
  w.SetGravity({.g_W = Vec3(0, 0, -10), .on_hands = true});
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(w.Step(2e-3));
  EXPECT_GT((w.q(0) - q).norm(), 0.1);
}

TEST(HandWorld, PlacedAndUnplacedAreInverse) {
  const RigidTransform X_WH{geometry::Exp<double>(Vec3(0.3, -0.2, 0.5)), Vec3(0.1, 0.2, 0.3)};
  for (const char* name : {"hand57", "hand27"}) {
    ClosingHand scene(name);
    const model::Skeleton given = model::LoadHand(name).value();
    HandWorld& w = *scene.world;
    Eigen::VectorXd v = 0.3 * Eigen::VectorXd::Ones(given.nv());
    const Eigen::VectorXd q = given.Integrate(given.ZeroConfiguration(), v);
    const Eigen::VectorXd placed = w.Placed(0, q, X_WH);
    ASSERT_EQ(placed.size(), w.hand(0).nq());
    ASSERT_TRUE(w.SetHand(0, placed));
    EXPECT_LT((w.hand(0).Difference(w.q(0), placed)).norm(), 1e-9) << name;
    const Placement back = w.Unplaced(0, placed);
    EXPECT_LT(w.hand(0).Difference(w.Placed(0, back.q, back.X_WH), placed).norm(), 1e-12) << name;
    // The palm is where the skeleton's own kinematics put it.
    model::KinematicsData kinematics(given);
    model::ComputePoses(given, q, &kinematics);
    const RigidTransform X = X_WH * kinematics.X_WB[static_cast<size_t>(w.palm_body(0))];
    EXPECT_LT((w.X_WPalm(0).p - X.p).norm(), 1e-12) << name;
    EXPECT_LT((w.X_WPalm(0).R - X.R).norm(), 1e-12) << name;
  }
}

TEST(HandWorld, RestoredAndRunAgainIsTheSameToTheBit) {
  for (const Stepper stepper : {Stepper::kExact, Stepper::kQuick}) {
    HandWorldOptions options;
    options.stepper = stepper;
    ClosingHand scene("hand57", options);
    const HandWorld::Saved start = scene.world->Save();
    Eigen::VectorXd first;
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(scene.world->Restore(start));
      ASSERT_TRUE(scene.Close(0.2, true));
      if (run == 0) first = scene.world->q(0);
    }
    EXPECT_EQ(first, scene.world->q(0));
  }
}

TEST(HandWorld, APalmMovesAsToldAndSaysHowFast) {
  ClosingHand scene("hand57", {}, RigidTransform::Translation(Vec3(0, 0, -1)));
  HandWorld& w = *scene.world;
  const double h = 1e-3;
  const RigidTransform start = w.X_WPalm(0);
  for (int i = 1; i <= 20; ++i) {
    const double t = i * h;
    ASSERT_TRUE(w.MovePalm(
        0, {start.R * geometry::Exp<double>(Vec3(0, 0, t)), start.p + Vec3(5 * t * t, 0, 0)}, h));
    EXPECT_NEAR(w.palm_A_W(0)[3], i == 1 ? 5.0 : 10.0, 1e-6);
    EXPECT_NEAR(w.palm_V_W(0)[2], 1.0, 1e-6);
    ASSERT_TRUE(w.Step(h));
    EXPECT_NEAR(w.X_WPalm(0).p.x(), start.p.x() + 5 * t * t, 1e-12);
  }
  ASSERT_TRUE(w.Step(h));
  EXPECT_EQ(w.palm_V_W(0).norm(), 0.0);
}

TEST(HandWorld, ASoftPalmYieldsAndAHardOneDoesNot) {
  ClosingHand scene("hand57", {}, RigidTransform::Translation(Vec3(0, 0, -1)));
  HandWorld& w = *scene.world;
  const RigidTransform start = w.X_WPalm(0);
  SoftRootDrive springs;
  springs.stiffness_N_per_m = 200, springs.damping_Ns_per_m = 20;
  springs.stiffness_Nm_per_rad = 2 * geometry::Mat3::Identity();
  springs.damping_Nms_per_rad = 0.1 * geometry::Mat3::Identity();
  ASSERT_TRUE(w.SoftenPalm(0, springs));
  const int palm = w.hand_in_world(0).engine_body(w.palm_body(0));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(w.MovePalm(0, start, 2e-3));
    ASSERT_TRUE(w.world().AddForce(palm, Vec3(2, 0, 0), w.X_WPalm(0).p));
    ASSERT_TRUE(w.Pull(0, w.q(0), {}, {}));
    ASSERT_TRUE(w.Step(2e-3));
  }
  EXPECT_NEAR(w.X_WPalm(0).p.x() - start.p.x(), 2.0 / 200, 5e-4);
}

TEST(HandWorld, ADeadWorldNamesTheBodyAndTheTimeAndRestoreRevivesIt) {
  ClosingHand scene("hand57");
  HandWorld& w = *scene.world;
  const HandWorld::Saved start = w.Save();
  ASSERT_TRUE(w.Step(2e-3));
  const int tip = w.hand_in_world(0).engine_body(w.hand(0).FindBody("index.dst"));
  ASSERT_TRUE(w.world().AddForce(tip, Vec3(0, 0, 1e9), w.world().com_W(tip)));
  const Status step = w.Step(2e-3);
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::kNotConverged);
  EXPECT_NE(step.error().message.find("index."), std::string::npos) << step.error().message;
  EXPECT_NE(step.error().message.find("0.00"), std::string::npos) << step.error().message;
  EXPECT_FALSE(w.Step(2e-3));
  ASSERT_TRUE(w.Restore(start));
  EXPECT_TRUE(w.Step(2e-3));
}

TEST(HandWorld, ContactsNameTheSkeletonsBodies) {
  // hand27's metacarpals are welded to its palm: the engine's body is one, ours are named.
  ClosingHand scene("hand27");
  ASSERT_TRUE(scene.Close(0.5));
  double sum = 0;
  for (const HandContact& c : scene.world->Contacts()) {
    if (c.prop != 0) continue;
    EXPECT_NEAR(c.normal_W.norm(), 1.0, 1e-9);
    const std::string& body = scene.world->hand(0).body(c.body).name;
    EXPECT_FALSE(body.empty());
    sum += c.f_onHand_W.dot(c.normal_W);
  }
  EXPECT_NEAR(sum, scene.world->GripOn(0, 0).normal_N, 1e-12);
}

}  // namespace
}  // namespace handhold::synthesis::hand_world_test

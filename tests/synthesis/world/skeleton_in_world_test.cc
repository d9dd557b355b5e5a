// A skeleton's joint frames as the engine holds them, against poses multiplied out by hand here.
#include "synthesis/world/skeleton_in_world.h"

#include <gmock/gmock.h>

#include <numbers>

#include "database/model/hand_library.h"
#include "tests/support/ball_limits.h"
#include "tests/support/grip_scene.h"

namespace handhold::synthesis::skeleton_in_world_test {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

geometry::MassProperties Block(double m, const Vec3& com) {
  return {m, com, Vec3(m * 2e-4, m * 3e-4, m * 4e-4).asDiagonal()};
}

// forearm (welded to the world) - palm (universal) - pad (welded to the palm) - finger (hinge) -
// stone (ball), thrown (free)
model::Skeleton Mixed() {
  model::SkeletonDraft draft;
  draft.name = "mixed", draft.side = "right";
  const auto add = [&](const char* name, int parent, model::JointType type,
                       std::vector<std::string> dofs, const RigidTransform& X_PJp,
                       const RigidTransform& X_BJc, double m) {
    model::Body body;
    body.name = name, body.parent = parent;
    body.joint.type = type, body.joint.name = std::string("j.") + name,
    body.joint.dof_names = std::move(dofs);
    body.joint.X_PJp = X_PJp, body.joint.X_BJc = X_BJc;
    body.joint.axes[0] = Vec3::UnitY(), body.joint.axes[1] = Vec3::UnitZ();
    if (m > 0) body.mass = Block(m, {0.02, 0.003, -0.001});
    draft.bodies.push_back(body);
  };
  const RigidTransform tilt{geometry::Exp<double>(Vec3(0.2, -0.1, 0.3)), {0.05, 0.01, -0.02}};
  const RigidTransform inset{geometry::Exp<double>(Vec3(-0.1, 0.2, 0.1)), {0.002, -0.003, 0.001}};
  add("forearm", 0, model::JointType::kFixed, {}, tilt, {}, 0.0);
  add("palm", 1, model::JointType::kUniversal, {"flex", "abd"}, tilt, inset, 0.2);
  add("pad", 2, model::JointType::kFixed, {}, inset, {}, 0.03);
  add("finger", 3, model::JointType::kHinge, {"flex"}, tilt, inset, 0.05);
  add("stone", 4, model::JointType::kBall, {"a", "b", "c"}, tilt, inset, 0.05);
  add("thrown", 0, model::JointType::kFree, {"rx", "ry", "rz", "x", "y", "z"}, tilt, inset, 0.05);
  return model::Skeleton::Build(draft).value();
}

TEST(SkeletonInWorld, ConfigurationsComeBackFromTheEngine) {
  const model::Skeleton skeleton = Mixed();
  auto world = std::move(World::Create({.gravity_W = Vec3::Zero()})).value();
  SkeletonInWorld hand =
      SkeletonInWorld::Add(
          skeleton, world.get(),
          {.X_WRoot = RigidTransform{geometry::Exp<double>(Vec3(0.1, 0.4, -0.2)), {1, 2, 3}}})
          .value();
  Eigen::VectorXd q = skeleton.ZeroConfiguration();
  EXPECT_LT((hand.q() - q).norm(), 1e-12);
  Eigen::VectorXd step(skeleton.nv());
  for (int i = 0; i < step.size(); ++i) step[i] = 0.3 * std::sin(1.0 + 2.3 * i);
  q = skeleton.Integrate(q, step);
  ASSERT_TRUE(hand.SetConfiguration(q));
  EXPECT_LT((hand.q() - q).norm(), 1e-12);
  for (int j = 0; j < world->joint_count(); ++j) EXPECT_LT(world->drift_m(j), 1e-14);
  EXPECT_EQ(hand.engine_body(1), kFixedBody);
  EXPECT_EQ(hand.engine_body(3), hand.engine_body(2));
  EXPECT_NEAR(world->mass_kg(hand.engine_body(2)), 0.23, 1e-15);
  EXPECT_FALSE(hand.SetConfiguration(q * std::numeric_limits<double>::quiet_NaN()));
}

TEST(SkeletonInWorld, VelocitiesAreInOurCoordinates) {
  const model::Skeleton skeleton = Mixed();
  auto world = std::move(World::Create({.gravity_W = Vec3::Zero()})).value();
  SkeletonInWorld hand = SkeletonInWorld::Add(skeleton, world.get()).value();
  Eigen::VectorXd step(skeleton.nv());
  for (int i = 0; i < step.size(); ++i) step[i] = 0.3 * std::sin(1.0 + 2.3 * i);
  ASSERT_TRUE(hand.SetConfiguration(skeleton.Integrate(skeleton.ZeroConfiguration(), step)));
  ASSERT_TRUE(world->SetVelocity(hand.engine_body(6), {0.3, -0.2, 0.5}, {0.1, 0.2, -0.3}));
  ASSERT_TRUE(world->SetVelocity(hand.engine_body(4), {0.3, -0.2, 0.5}, {0.1, 0.2, -0.3}));
  // v against the difference of configurations after a small step of free motion.
  const Eigen::VectorXd v = hand.v(), q0 = hand.q();
  const int free_dof = skeleton.v_index(6);
  const double h = 1e-6;
  ASSERT_TRUE(world->Step(h));
  const Eigen::VectorXd slope = skeleton.Difference(q0, hand.q()) / h;
  EXPECT_LT((slope - hand.v()).segment(free_dof, 6).norm(), 1e-4);
  EXPECT_GT(v.segment(free_dof, 6).norm(), 0.3);
}

TEST(SkeletonInWorld, Finger4HoldsAPostureOnItsSprings) {
  const model::Skeleton skeleton = model::LoadHand("finger4").value();
  auto world = std::move(World::Create()).value();
  SkeletonInWorld hand = SkeletonInWorld::Add(skeleton, world.get()).value();
  ASSERT_EQ(skeleton.nv(), 4);
  const Eigen::Vector4d target(0.1, 0.4, 0.5, 0.2), zero = Eigen::Vector4d::Zero();
  ASSERT_TRUE(hand.SetConfiguration(target));
  ASSERT_TRUE(
      hand.SetDrives(target, zero, Eigen::Vector4d::Constant(1e4), Eigen::Vector4d::Constant(10)));
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(world->Step(1e-4));
  EXPECT_LT((hand.q() - target).norm(), 1e-4);
  EXPECT_LT(hand.v().norm(), 1e-4);
  EXPECT_TRUE(world->contacts().empty());  // neighbours of a hand do not collide
  const int tip = skeleton.FindFrame("index.tip");
  ASSERT_GE(tip, 0);
  const Vec3 p = hand.X_WB(skeleton.frames()[tip].body) * skeleton.frames()[tip].X_BF.p;
  EXPECT_LT(p.z(), -0.03);  // flexed: the tip is down
}

TEST(SkeletonInWorld, AMasslessMovingBodyIsRefusedByName) {
  model::SkeletonDraft draft = model::LoadHand("finger4").value().draft();
  for (model::Body& body : draft.bodies) {
    if (body.name == "index.mid") body.mass = {};
  }
  const model::Skeleton skeleton = model::Skeleton::Build(draft).value();
  auto world = std::move(World::Create()).value();
  const auto refused = SkeletonInWorld::Add(skeleton, world.get());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("index.mid"));
}

TEST(SkeletonInWorld, VelocitiesComeBackFromTheEngine) {
  const model::Skeleton skeleton = Mixed();
  auto world = std::move(World::Create({.gravity_W = Vec3::Zero()})).value();
  SkeletonInWorld hand = SkeletonInWorld::Add(skeleton, world.get()).value();
  Eigen::VectorXd step(skeleton.nv()), v(skeleton.nv());
  for (int i = 0; i < step.size(); ++i)
    step[i] = 0.3 * std::sin(1.0 + 2.3 * i), v[i] = std::cos(3.1 * i);
  ASSERT_TRUE(hand.SetConfiguration(skeleton.Integrate(skeleton.ZeroConfiguration(), step)));
  ASSERT_TRUE(hand.SetVelocities(v));
  EXPECT_LT((hand.v() - v).norm(), 1e-12);
  const Eigen::VectorXd q0 = hand.q();
  const double h = 1e-6;
  ASSERT_TRUE(world->Step(h));
  EXPECT_LT((skeleton.Difference(q0, hand.q()) / h - v).norm(), 1e-3);
}

// Every kind of joint at once goes to where it is told, and hangs by the springs it was given.
TEST(SkeletonInWorld, DrivesOfEveryKindOfJointReachTheirTargets) {
  const model::Skeleton skeleton = Mixed();
  auto world = std::move(World::Create({.gravity_W = Vec3::Zero()})).value();
  const RigidTransform X_WRoot{geometry::Exp<double>(Vec3(0.1, 0.4, -0.2)), {1, 2, 3}};
  SkeletonInWorld hand =
      SkeletonInWorld::Add(skeleton, world.get(), {.colliders = false, .X_WRoot = X_WRoot}).value();
  Eigen::VectorXd step(skeleton.nv());
  for (int i = 0; i < step.size(); ++i) step[i] = 0.4 * std::sin(1.0 + 2.3 * i);
  const Eigen::VectorXd target = skeleton.Integrate(skeleton.ZeroConfiguration(), step);
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(skeleton.nv());
  Eigen::VectorXd k = Eigen::VectorXd::LinSpaced(skeleton.nv(), 2.0, 5.0), b = 0.05 * k;
  k.tail<3>().setConstant(50.0), b.tail<3>().setConstant(2.0);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(hand.SetDrives(target, rest, k, b));
    ASSERT_TRUE(world->Step(2e-3));
  }
  EXPECT_LT(skeleton.Difference(hand.q(), target).norm(), 1e-4);
  EXPECT_LT(hand.v().norm(), 1e-4);
  // A torque in a ball's joint against its three springs: k_i e_i.
  const int stone = skeleton.FindBody("stone"), joint = hand.engine_joint(stone);
  const Vec3 torque(0.02, -0.03, 0.01);
  for (int i = 0; i < 3000; ++i) {
    const Mat3 R_WJc = hand.X_WB(stone).R * skeleton.body(stone).joint.X_BJc.R;
    ASSERT_TRUE(hand.SetDrives(target, rest, k, b));
    ASSERT_TRUE(world->AddJointTorque(joint, R_WJc * torque));
    ASSERT_TRUE(world->Step(2e-3));
  }
  const Vec3 e = skeleton.Difference(target, hand.q()).segment<3>(skeleton.v_index(stone));
  EXPECT_LT((e - torque.cwiseQuotient(k.segment<3>(skeleton.v_index(stone)))).norm(), 2e-4);
  // A free joint without springs is free again.
  k.tail<6>().setZero(), b.tail<6>().setZero();
  ASSERT_TRUE(hand.SetDrives(target, rest, k, b));
  const int thrown = hand.engine_body(skeleton.FindBody("thrown"));
  ASSERT_TRUE(world->AddForce(thrown, {1, 0, 0}, world->com_W(thrown)));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(world->Step(2e-3));
  EXPECT_GT(world->v_W(thrown).norm(), 0.03);  // 1 N x 2 ms / 50 g, and nothing brakes it
}

TEST(SkeletonInWorld, AKinematicRootGoesToItsTarget) {
  const model::Skeleton skeleton = model::WithFreeBase(model::LoadHand("hand57").value()).value();
  auto world = std::move(World::Create()).value();
  SkeletonInWorld hand = SkeletonInWorld::Add(skeleton, world.get()).value();
  const int palm = skeleton.FindBody("palm");
  ASSERT_TRUE(world->SetKinematic(hand.engine_body(palm), true));
  Eigen::VectorXd q = skeleton.ZeroConfiguration();
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(skeleton.nv()),
                        k = Eigen::VectorXd::Constant(skeleton.nv(), 2.0);
  for (int i = 1; i <= 200; ++i) {
    q[skeleton.q_index(palm) + 1] = 0.5e-3 * i;
    ASSERT_TRUE(hand.SetDrives(q, rest, k, 0.02 * k));
    ASSERT_TRUE(world->Step(2e-3));
  }
  EXPECT_NEAR(hand.q()[skeleton.q_index(palm) + 1], 0.1, 1e-12);
  EXPECT_LT(skeleton.Difference(q, hand.q()).tail(skeleton.nv() - 6).norm(), 0.3);
  for (int j = 0; j < world->joint_count(); ++j) EXPECT_LT(world->drift_m(j), 1e-5);
}

TEST(SkeletonInWorld, WhatCannotBeDrivenIsSaid) {
  const model::Skeleton skeleton = Mixed();
  auto world = std::move(World::Create()).value();
  SkeletonInWorld hand = SkeletonInWorld::Add(skeleton, world.get()).value();
  const Eigen::VectorXd one = Eigen::VectorXd::Ones(skeleton.nv());
  Eigen::VectorXd unlike = one;
  unlike[skeleton.nv() - 1] = 2;  // one linear spring of three
  const Status refused = hand.SetDrives(skeleton.ZeroConfiguration(), 0 * one, unlike, one);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("j.thrown"));
}

TEST(SkeletonInWorld, Hand57StaysWithinItsLimitsUnderDrivesThatPullBeyondThem) {
  const handhold::testing::GripPlan plan;  // Pollard & Zordan's gains x10, with a floor
  const model::Skeleton& skeleton = plan.hand;
  for (const Stepper stepper : {Stepper::kExact, Stepper::kQuick}) {
    auto world = std::move(World::Create({.stepper = stepper, .quick_iterations = 100})).value();
    SkeletonInWorld hand =
        SkeletonInWorld::Add(skeleton, world.get(), {.colliders = false}).value();
    ASSERT_TRUE(hand.SetLimits());
    const Eigen::VectorXd rest = Eigen::VectorXd::Zero(skeleton.nv());
    Eigen::VectorXd k = rest, b = rest, q = skeleton.ZeroConfiguration();
    for (int i = 1; i < skeleton.body_count(); ++i) {
      if (skeleton.body(i).joint.type != model::JointType::kBall) continue;
      k.segment<3>(skeleton.v_index(i)).setConstant(plan.stiffness[static_cast<size_t>(i)]);
      b.segment<3>(skeleton.v_index(i)).setConstant(plan.damping[static_cast<size_t>(i)]);
    }
    double worst = 0, pressed = 0;
    for (int i = 0; i < 600; ++i) {
      if (i % 100 == 0) {
        Eigen::VectorXd far(skeleton.nv());
        for (int j = 1; j < skeleton.body_count(); ++j) {
          // Up to half a radian beyond, every way.
          const model::Joint& joint = skeleton.body(j).joint;
          if (joint.type != model::JointType::kBall) continue;
          const Vec3 middle = 0.5 * (joint.lower_rad + joint.upper_rad),
                     half = 0.5 * (joint.upper_rad - joint.lower_rad);
          for (int d = 0; d < 3; ++d)
            far[skeleton.v_index(j) + d] =
                middle[d] + (half[d] + 0.5) * std::sin(1.0 + i + 2.3 * d + 1.7 * j);
        }
        q = skeleton.Integrate(skeleton.ZeroConfiguration(), far);
      }
      ASSERT_TRUE(hand.SetDrives(q, rest, k, b));
      const Status ok = world->Step(2e-3);
      ASSERT_TRUE(ok) << ok.error().message;
      for (int j = 1; j < skeleton.body_count(); ++j) {
        const model::Joint& joint = skeleton.body(j).joint;
        if (joint.type != model::JointType::kBall) continue;
        const double outside = handhold::testing::OutsideBallLimits(
            world->R_JpJc(hand.engine_joint(j)), joint.lower_rad, joint.upper_rad);
        worst = std::max(worst, outside);
        pressed += outside > -1e-4;
      }
    }
    // QuickStep meets rows only as well as its iterations go.
    EXPECT_LT(worst * 180 / std::numbers::pi, stepper == Stepper::kExact ? 0.1 : 2.0);
    EXPECT_GT(pressed, 600 * 15);  // nearly every joint, nearly always
  }
}

}  // namespace
}  // namespace handhold::synthesis::skeleton_in_world_test

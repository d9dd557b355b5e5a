// A skeleton's joint frames as the engine holds them, against poses multiplied out by hand here.
#include "synthesis/world/skeleton_in_world.h"

#include <gmock/gmock.h>

#include <numbers>

#include "database/model/hand_library.h"

namespace handhold::synthesis {
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
  EXPECT_THAT(refused.error().message, testing::HasSubstr("index.mid"));
}

TEST(SkeletonInWorld, BallDrivesAreSaidToBeUnsupported) {
  const model::Skeleton skeleton = Mixed();
  auto world = std::move(World::Create()).value();
  SkeletonInWorld hand = SkeletonInWorld::Add(skeleton, world.get()).value();
  const Eigen::VectorXd one = Eigen::VectorXd::Ones(skeleton.nv());
  const Status refused = hand.SetDrives(0 * one, 0 * one, one, one);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace handhold::synthesis

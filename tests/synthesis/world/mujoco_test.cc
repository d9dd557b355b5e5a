// Trees of ball joints in the engine, thrown and driven, against accelerations by MuJoCo integrated
// with Runge and Kutta's method.
#include <gmock/gmock.h>

#include <random>

#include "synthesis/world/skeleton_in_world.h"
#include "synthesis/world/world.h"
#include "tests/support/mujoco_tree.h"
#include "tests/support/random_skeleton.h"

namespace handhold::synthesis::mujoco_test {
namespace {

using geometry::Vec3;
using model::JointType;

const Vec3 kGravity(0.5, -1.0, -9.81);

/// A palm (free or fixed) with three balls in a row and one beside, offset joint frames.
model::Skeleton Tree(bool free) {
  std::mt19937 rng(11);
  model::SkeletonDraft draft;
  draft.name = "tree";
  const int parents[5] = {0, 1, 2, 3, 1};
  for (int i = 0; i < 5; ++i) {
    model::Body body;
    body.name = "b" + std::to_string(i), body.parent = parents[i];
    body.joint.name = "j" + std::to_string(i);
    body.joint.type = i > 0 ? JointType::kBall : free ? JointType::kFree : JointType::kFixed;
    if (i > 0) body.joint.X_PJp = testing::RandomPose(rng, 0.1);
    if (i % 2 == 0) body.joint.X_BJc = testing::RandomPose(rng, 0.05);
    body.mass = testing::RandomMass(rng);
    draft.bodies.push_back(body);
  }
  return model::Skeleton::Build(draft).value();
}

struct Impedance {
  Eigen::VectorXd q_target, k, b;  // per degree of freedom; zero: free
};

/// Joint torques of the springs, by the skeleton's own Difference: no code of the engine's.
Eigen::VectorXd Torque(const model::Skeleton& s, const Impedance& z, const Eigen::VectorXd& q,
                       const Eigen::VectorXd& v) {
  return z.k.cwiseProduct(s.Difference(q, z.q_target)) - z.b.cwiseProduct(v);
}

struct State {
  Eigen::VectorXd q, v;
};

State Reference(const model::Skeleton& s, const Impedance& z, State x, double seconds, int steps) {
  testing::MujocoTree peer(s);
  const auto acceleration = [&](const State& at) {
    peer.SetState(at.q, at.v, {}, kGravity);
    return peer.ForwardDynamics(Torque(s, z, at.q, at.v));
  };
  const double h = seconds / steps;
  for (int i = 0; i < steps; ++i) {
    // Classical Runge-Kutta on (xi, v) with q = q0 (+) xi; over a step xi' = v up to the
    // commutator, which the small h makes harmless (checked by halving).
    const Eigen::VectorXd v1 = x.v, a1 = acceleration(x);
    const State x2{s.Integrate(x.q, h / 2 * v1), x.v + h / 2 * a1};
    const Eigen::VectorXd a2 = acceleration(x2);
    const State x3{s.Integrate(x.q, h / 2 * x2.v), x.v + h / 2 * a2};
    const Eigen::VectorXd a3 = acceleration(x3);
    const State x4{s.Integrate(x.q, h * x3.v), x.v + h * a3};
    const Eigen::VectorXd a4 = acceleration(x4);
    const Eigen::VectorXd dq = h / 6 * (v1 + 2 * x2.v + 2 * x3.v + x4.v);
    x = {s.Integrate(x.q, dq), x.v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)};
  }
  return x;
}

Eigen::VectorXd InEngine(const model::Skeleton& s, const Impedance& z, const State& x,
                         double seconds, int steps) {
  auto world = std::move(World::Create({.gravity_W = kGravity})).value();
  SkeletonInWorld tree = SkeletonInWorld::Add(s, world.get()).value();
  EXPECT_TRUE(tree.SetConfiguration(x.q));
  EXPECT_TRUE(tree.SetVelocities(x.v));
  EXPECT_LT((tree.v() - x.v).norm(), 1e-12);
  if (!z.k.isZero(0.0)) {
    EXPECT_TRUE(tree.SetDrives(z.q_target, Eigen::VectorXd::Zero(s.nv()), z.k, z.b));
  }
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(world->Step(seconds / steps));
  return tree.q();
}

void Compare(const model::Skeleton& s, const Impedance& z, const char* what) {
  std::mt19937 rng(4);
  const State start{s.Integrate(s.ZeroConfiguration(), testing::RandomVelocity(rng, s, 0.5)),
                    testing::RandomVelocity(rng, s, 2.0)};
  const double seconds = 0.2;
  const State reference = Reference(s, z, start, seconds, 400);
  const double own_error = s.Difference(Reference(s, z, start, seconds, 200).q, reference.q).norm();
  const auto error = [&](int steps) {
    return s.Difference(InEngine(s, z, start, seconds, steps), reference.q).norm();
  };
  const double way = s.Difference(start.q, reference.q).norm(), coarse = error(1000),
               fine = error(4000);
  EXPECT_GT(way, 0.5) << what;
  EXPECT_LT(own_error, 0.1 * fine) << what;
  EXPECT_LT(fine, 1e-3 * way) << what;
  EXPECT_NEAR(coarse / fine, 4.0, 0.5) << what;  // the engine is of first order; its limit is right
}

/// Greatest distance of a body's origin, and of its rotation matrix, from MuJoCo's own motion.
double FromMujoco(const model::Skeleton& s, const State& start, double seconds, int steps) {
  testing::MujocoTree peer(s);
  peer.SetState(start.q, start.v, {}, kGravity);
  peer.Simulate(seconds / 1000, 1000);
  auto world = std::move(World::Create({.gravity_W = kGravity})).value();
  SkeletonInWorld tree = SkeletonInWorld::Add(s, world.get()).value();
  EXPECT_TRUE(tree.SetConfiguration(start.q));
  EXPECT_TRUE(tree.SetVelocities(start.v));
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(world->Step(seconds / steps));
  double worst = 0;
  for (int b = 1; b < s.body_count(); ++b) {
    worst = std::max({worst, (tree.X_WB(b).p - peer.BodyOrigin(b)).norm(),
                      (tree.X_WB(b).R - peer.BodyRotation(b)).norm()});
  }
  return worst;
}

TEST(AgainstMujoco, FreeBallsMoveAsMujocoMovesThem) {
  for (const bool free : {true, false}) {  // thrown with their palm; hanging on a fixed one
    const model::Skeleton s = Tree(free);
    std::mt19937 rng(4);
    const State start{s.Integrate(s.ZeroConfiguration(), testing::RandomVelocity(rng, s, 0.5)),
                      testing::RandomVelocity(rng, s, 2.0)};
    const double coarse = FromMujoco(s, start, 0.2, 1000), fine = FromMujoco(s, start, 0.2, 4000);
    EXPECT_LT(fine, 1e-3) << free;
    EXPECT_NEAR(coarse / fine, 4.0, 0.3) << free;  // of first order, and to the right limit
  }
}

TEST(AgainstMujoco, DrivenBalls) {
  const model::Skeleton s = Tree(false);
  std::mt19937 rng(9);
  Impedance z{s.Integrate(s.ZeroConfiguration(), testing::RandomVelocity(rng, s, 0.6)),
              Eigen::VectorXd::Constant(s.nv(), 4.0), Eigen::VectorXd::Constant(s.nv(), 0.15)};
  Compare(s, z, "driven");
}

}  // namespace
}  // namespace handhold::synthesis::mujoco_test

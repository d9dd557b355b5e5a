// Our kinematics and dynamics against MuJoCo 4: random trees with every kind of joint, and the
// hands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/dynamics.h"
#include "database/model/hand_library.h"
#include "tests/support/mujoco_tree.h"
#include "tests/support/random_skeleton.h"

namespace handhold::model::mujoco_test {
namespace {

constexpr double kAgree = 1e-9;  // of the largest entry

template <typename A, typename B>
double RelativeToMax(const A& a, const B& b) {
  return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

void CompareStates(const Skeleton& skeleton, int states, std::mt19937* rng, bool limited) {
  testing::MujocoTree peer(skeleton);
  DynamicsData data(skeleton);
  KinematicsData kinematics(skeleton);
  Eigen::VectorXd tau(skeleton.nv()), a_out(skeleton.nv());
  Eigen::MatrixXd M(skeleton.nv(), skeleton.nv());
  for (int i = 0; i < states; ++i) {
    const Eigen::VectorXd q = skeleton.Integrate(
        skeleton.ZeroConfiguration(), testing::RandomVelocity(*rng, skeleton, limited ? 0.8 : 1.7));
    const Eigen::VectorXd v = testing::RandomVelocity(*rng, skeleton, 5.0);
    const Eigen::VectorXd a = testing::RandomVelocity(*rng, skeleton, 50.0);
    const geometry::Vec3 gravity = 9.81 * testing::RandomDirection(*rng);
    peer.SetState(q, v, a, gravity);
    InverseDynamics(skeleton, q, v, a, gravity, &data, tau);
    const Eigen::VectorXd tau_peer = peer.InverseDynamics();
    ASSERT_LT(RelativeToMax(tau, tau_peer), kAgree) << "state " << i;
    MassMatrix(skeleton, q, &data, M);
    ASSERT_LT(RelativeToMax(M, peer.MassMatrix()), kAgree) << "state " << i;
    ASSERT_TRUE(ForwardDynamics(skeleton, q, v, tau_peer, gravity, &data, a_out));
    ASSERT_LT(RelativeToMax(a_out, peer.ForwardDynamics(tau_peer)), kAgree) << "state " << i;
    ComputePoses(skeleton, q, &kinematics);
    for (int b = 1; b < skeleton.body_count(); ++b) {
      const geometry::RigidTransform& X_WB = kinematics.X_WB[static_cast<size_t>(b)];
      ASSERT_LT((X_WB.p - peer.BodyOrigin(b)).norm(), 1e-12);
      ASSERT_LT((X_WB.R - peer.BodyRotation(b)).cwiseAbs().maxCoeff(), 1e-12);
    }
  }
}

TEST(AgainstMujoco, RandomTreesOfAllJoints) {
  std::mt19937 rng(2024);
  for (int tree = 0; tree < 20; ++tree) {
    CompareStates(testing::RandomSkeleton(rng, 2 + tree % 9), 50, &rng, false);
  }
}

class HandAgainstMujoco : public ::testing::TestWithParam<const char*> {};

TEST_P(HandAgainstMujoco, ThousandStates) {
  std::mt19937 rng(7);
  CompareStates(*LoadHand(GetParam()), 1000, &rng, true);
}

INSTANTIATE_TEST_SUITE_P(Hands, HandAgainstMujoco,
                         ::testing::Values("finger4", "hand27", "hand29", "hand57"));

TEST(AgainstMujoco, FreeHand57) {
  std::mt19937 rng(8);
  CompareStates(*WithFreeBase(*LoadHand("hand57")), 100, &rng, true);
}

// The comparison bites: 0.01 % more mass on one body is seen.
TEST(AgainstMujoco, ASlightlyHeavierBodyIsNoticed) {
  std::mt19937 rng(3);
  SkeletonDraft draft = LoadHand("finger4")->draft();
  const Skeleton right = *Skeleton::Build(draft);
  draft.bodies[2].mass =
      geometry::WithTotalMass(draft.bodies[2].mass, draft.bodies[2].mass.mass_kg * 1.0001);
  const Skeleton heavier = *Skeleton::Build(draft);
  testing::MujocoTree peer(heavier);
  DynamicsData data(right);
  Eigen::MatrixXd M(4, 4);
  const Eigen::VectorXd q = testing::RandomConfiguration(rng, right),
                        none = Eigen::VectorXd::Zero(4);
  peer.SetState(q, none, none, geometry::Vec3::Zero());
  MassMatrix(right, q, &data, M);
  EXPECT_GT(RelativeToMax(M, peer.MassMatrix()), 1e-7);
}

}  // namespace
}  // namespace handhold::model::mujoco_test

#include "database/model/kinematics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "tests/support/random_skeleton.h"

namespace handhold::model::kinematics_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using geometry::Vec6;

Vec3 Tip(const Skeleton& hand, const Eigen::VectorXd& q) {
  KinematicsData data(hand);
  ComputePoses(hand, q, &data);
  return FramePose(hand, data, hand.FindFrame("index.tip")).p;
}

TEST(Finger4, PointsAlongXWhenStraightAndFlexionBendsItDown) {
  const Skeleton hand = *LoadHand("finger4");
  ASSERT_EQ(hand.nq(), 4);
  ASSERT_EQ(hand.nv(), 4);
  const Vec3 straight = Tip(hand, Eigen::VectorXd::Zero(4));
  EXPECT_LT((straight - Vec3(0.080 + 0.045 + 0.026 + 0.014, 0, 0)).norm(), 1e-15);
  for (int i = 0; i < 4; ++i) {
    Eigen::VectorXd q = Eigen::VectorXd::Zero(4);
    q[i] = 0.3;
    EXPECT_LT(Tip(hand, q).z(), -0.003) << hand.dof_names()[static_cast<size_t>(i)];
    EXPECT_LT(std::abs(Tip(hand, q).y()), 0.003);
  }
}

TEST(Finger4, PressingDownOnATableGivesExtendingTorques) {
  const Skeleton hand = *LoadHand("finger4");
  KinematicsData data(hand);
  const Eigen::Vector4d q(0.1, 0.4, 0.5, 0.2);
  ComputeJacobian(hand, q, &data);
  // The lowest point of the fingertip sphere, wherever the finger points.
  const Vec3 pad = FramePose(hand, data, hand.FindFrame("index.tip")).p - Vec3(0, 0, 0.006);
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(4);
  const double f_N = 2.0;
  AddForceTorques(hand, data, hand.FindBody("index.dst"), pad, Vec3(0, 0, f_N), tau);
  for (int i = 0; i < 4; ++i) EXPECT_LT(tau[i], 0) << hand.dof_names()[static_cast<size_t>(i)];
  // The lever of a vertical force about a nearly horizontal axis is the horizontal distance.
  const Vec3 mcp = data.X_WB[static_cast<size_t>(hand.FindBody("index.prx"))].p;
  const int dof = hand.FindDof("R.index.mcp.flex");
  ASSERT_GE(dof, 0);
  EXPECT_NEAR(tau[dof], -f_N * (pad.x() - mcp.x()), 0.02 * std::abs(tau[dof]));
}

// A hand57 or a finger is not enough: every kind of joint, with offset joint frames, against
// differences of poses.
class KinematicsOfRandomTrees : public ::testing::TestWithParam<int> {
 protected:
  std::mt19937 rng_{static_cast<uint32_t>(100 + GetParam())};
  Skeleton skeleton_ = testing::RandomSkeleton(rng_, 4 + GetParam());
  Eigen::VectorXd q_ = testing::RandomConfiguration(rng_, skeleton_);
};

Vec6 TwistBetween(const RigidTransform& X0, const RigidTransform& X1, double dt) {
  Vec6 V;
  const Vec3 w = geometry::Log(X1.R * X0.R.transpose()) / dt;
  V.head<3>() = w;
  V.tail<3>() = (X1.p - X0.p) / dt - w.cross(0.5 * (X0.p + X1.p));
  return V;
}

TEST_P(KinematicsOfRandomTrees, JacobianColumnsAreTheTwistsOfUnitVelocities) {
  KinematicsData data(skeleton_), before(skeleton_), after(skeleton_);
  ComputeJacobian(skeleton_, q_, &data);
  const double h = 1e-5;
  for (int k = 0; k < skeleton_.nv(); ++k) {
    const Eigen::VectorXd e = Eigen::VectorXd::Unit(skeleton_.nv(), k);
    ComputePoses(skeleton_, skeleton_.Integrate(q_, -h * e), &before);
    ComputePoses(skeleton_, skeleton_.Integrate(q_, h * e), &after);
    for (size_t b = 1; b < data.X_WB.size(); ++b) {
      const Vec6 numeric = TwistBetween(before.X_WB[b], after.X_WB[b], 2 * h);
      const Vec6 expected = skeleton_.DofMovesBody(k, static_cast<int>(b)) ? Vec6(data.J_W.col(k))
                                                                           : Vec6(Vec6::Zero());
      EXPECT_LT((numeric - expected).cwiseAbs().maxCoeff(), 1e-8) << "dof " << k << " body " << b;
    }
  }
}

TEST_P(KinematicsOfRandomTrees, PointJacobianMovesThePoint) {
  KinematicsData data(skeleton_), before(skeleton_), after(skeleton_);
  ComputeJacobian(skeleton_, q_, &data);
  const Eigen::VectorXd v = testing::RandomVelocity(rng_, skeleton_, 1.0);
  const double h = 1e-5;
  ComputePoses(skeleton_, skeleton_.Integrate(q_, -h * v), &before);
  ComputePoses(skeleton_, skeleton_.Integrate(q_, h * v), &after);
  for (int b = 1; b < skeleton_.body_count(); ++b) {
    const size_t i = static_cast<size_t>(b);
    const Vec3 p_B = testing::RandomVector(rng_, 0.2);
    Eigen::Matrix3Xd J(3, skeleton_.nv());
    PointJacobian(skeleton_, data, b, data.X_WB[i] * p_B, J);
    const Vec3 numeric = (after.X_WB[i] * p_B - before.X_WB[i] * p_B) / (2 * h);
    EXPECT_LT((J * v - numeric).norm(), 1e-8);
    // Eq. 2: the torques do the work that the force does.
    const Vec3 f = testing::RandomVector(rng_, 5.0);
    Eigen::VectorXd tau = Eigen::VectorXd::Zero(skeleton_.nv());
    AddForceTorques(skeleton_, data, b, data.X_WB[i] * p_B, f, tau);
    EXPECT_NEAR(tau.dot(v), f.dot(J * v), 1e-12 * (1 + std::abs(tau.dot(v))));
  }
}

TEST_P(KinematicsOfRandomTrees, AccelerationsAreTheRatesOfTwists) {
  const Eigen::VectorXd v = testing::RandomVelocity(rng_, skeleton_, 1.0);
  const Eigen::VectorXd a = testing::RandomVelocity(rng_, skeleton_, 1.0);
  KinematicsData data(skeleton_), before(skeleton_), after(skeleton_);
  ComputeVelocities(skeleton_, q_, v, a, &data);
  // v is not dq/dt of a flat space: moving by h v and then setting v + h a keeps both to second
  // order.
  const double h = 1e-5;
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(skeleton_.nv());
  ComputeVelocities(skeleton_, skeleton_.Integrate(q_, -h * v), v - h * a, none, &before);
  ComputeVelocities(skeleton_, skeleton_.Integrate(q_, h * v), v + h * a, none, &after);
  for (size_t b = 1; b < data.X_WB.size(); ++b) {
    const Vec6 numeric = (after.V_WB[b] - before.V_WB[b]) / (2 * h);
    EXPECT_LT((numeric - data.A_WB[b]).norm(), 1e-7 * (1 + data.A_WB[b].norm())) << "body " << b;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinematics, KinematicsOfRandomTrees, ::testing::Range(1, 9));

TEST(Kinematics, MarkersFollowTheirBodies) {
  const Skeleton hand = *LoadHand("finger4");
  KinematicsData data(hand);
  const Eigen::Vector4d q(-0.2, 0.3, 0.6, 0.1);
  ComputePoses(hand, q, &data);
  std::vector<Vec3> p_WM;
  MarkerPositions(hand, data, &p_WM);
  ASSERT_EQ(p_WM.size(), 9u);
  for (size_t i = 0; i < 9; ++i) {
    const MarkerAttachment& m = hand.markers()[i];
    EXPECT_EQ(p_WM[i], data.X_WB[static_cast<size_t>(m.body)] * m.p_BM);
  }
}

}  // namespace
}  // namespace handhold::model::kinematics_test

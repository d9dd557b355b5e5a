// The example of database/model/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/dynamics.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"

TEST(Readme, Example) {
  using namespace handhold;
  const model::Skeleton hand = model::LoadHand("finger4").value();
  model::KinematicsData kinematics(hand);
  Eigen::VectorXd q = hand.ZeroConfiguration(), tau = Eigen::VectorXd::Zero(hand.nv());
  q[hand.q_index(hand.FindBody("index.prx"))] = 0.4;
  model::ComputeJacobian(hand, q, &kinematics);
  const geometry::Vec3 tip = model::FramePose(hand, kinematics, hand.FindFrame("index.tip")).p;
  model::AddForceTorques(hand, kinematics, hand.FindBody("index.dst"), tip, geometry::Vec3(0, 0, 2),
                         tau);
  const double tau_mcp = tau[hand.FindDof("R.index.mcp.flex")];
  const model::Prop plate = model::LoadLibraryProp("bumped_plate").value();

  EXPECT_LT(tip.z(), -0.03);
  const double lever =
      tip.x() - kinematics.X_WB[static_cast<size_t>(hand.FindBody("index.prx"))].p.x();
  EXPECT_NEAR(tau_mcp, -2 * lever, 0.02 * 2 * lever);
  EXPECT_EQ(plate.shapes.size(), 2u);
}

// The composites are model/dynamics' own, and what carries them equals inverse dynamics of the hand
// moved as one rigid body.
#include "synthesis/grasp_control/outboard.h"

#include <gtest/gtest.h>

#include "database/model/dynamics.h"
#include "database/model/hand_library.h"
#include "synthesis/grasp_control/posture.h"

namespace handhold::synthesis::outboard_test {
namespace {

using geometry::Vec3;

struct Posed {
  model::Skeleton hand;
  Eigen::VectorXd q;
  model::KinematicsData kinematics;
  std::vector<Outboard> outboard;

  explicit Posed(const std::string& name) : hand(Load(name)), kinematics(hand) {
    Eigen::VectorXd v(hand.nv());
    for (int i = 0; i < hand.nv(); ++i) v[i] = 0.4 * std::sin(1.7 * i + 0.3);
    q = hand.Integrate(hand.ZeroConfiguration(), v);
    model::ComputePoses(hand, q, &kinematics);
    ComputeOutboard(hand, kinematics.X_WB, &outboard);
  }
  static model::Skeleton Load(const std::string& name) {
    model::Skeleton hand = model::LoadHand(name).value();
    auto free = model::WithFreeBase(hand);
    return free ? *free : hand;
  }
};

TEST(Outboard, IsModelsOutboardMass) {
  for (const char* name : {"hand57", "hand27"}) {
    Posed p(name);
    model::DynamicsData data(p.hand);
    for (int b = 1; b < p.hand.body_count(); ++b) {
      if (p.hand.body(b).joint.type == model::JointType::kFixed) continue;
      const auto truth = model::OutboardMass(p.hand, p.q, b, &data);
      const Outboard& o = p.outboard[static_cast<size_t>(b)];
      EXPECT_NEAR(o.mass_kg, truth.mass_kg, 1e-12);
      EXPECT_LT((o.com_W - truth.p_BCom).norm(), 1e-12);
      EXPECT_LT((o.I_com_W - truth.I_BCom_B).norm(), 1e-13);
    }
  }
}

// tau_ARM + tau_G: all joints at rest, the palm moving and accelerating, gravity on.
TEST(Outboard, CarryingTorqueIsInverseDynamicsWithTheFingersAtRest) {
  const Vec3 g(0.5, -1.0, -9.6), omega_B(1.0, -2.0, 3.0), v_B(0.3, 0.2, -0.4);
  const Vec3 domega_B(20, -10, 15), dv_B(3, -5, 7);
  for (const char* name : {"hand57", "hand27"}) {
    Posed p(name);
    model::DynamicsData data(p.hand);
    Eigen::VectorXd v = Eigen::VectorXd::Zero(p.hand.nv()), a = v, tau = v;
    v.head<6>() << omega_B, v_B;
    a.head<6>() << domega_B, dv_B;
    model::InverseDynamics(p.hand, p.q, v, a, g, &data, tau);
    model::ComputeVelocities(p.hand, p.q, v, a, &p.kinematics);
    int palm = 1;
    while (p.hand.body(palm).joint.type != model::JointType::kFree) ++palm;
    const auto u = static_cast<size_t>(palm);
    // Twists in W about the world's origin.
    const auto V = p.kinematics.V_WB[u];
    const auto A = p.kinematics.A_WB[u];
    PalmMotion motion;
    motion.p_W = Vec3::Zero();
    motion.omega_W = V.head<3>();
    motion.alpha_W = A.head<3>();
    // The material point at the origin: dv/dt of the spatial velocity plus omega x v.
    motion.a_W = A.tail<3>() + V.head<3>().cross(V.tail<3>());
    for (int b = 1; b < p.hand.body_count(); ++b) {
      const model::Joint& joint = p.hand.body(b).joint;
      if (b == palm || joint.type == model::JointType::kFixed) continue;
      const Outboard& o = p.outboard[static_cast<size_t>(b)];
      const Vec3 torque_Jc = o.R_WJc.transpose() * CarryingTorque_W(o, motion, g);
      const int k = p.hand.v_index(b);
      if (joint.type == model::JointType::kBall) {
        EXPECT_LT((torque_Jc - tau.segment<3>(k)).norm(), 1e-10) << joint.name;
      } else {
        // The last axis is fixed in Jc.
        const int last = joint.nv() - 1;
        EXPECT_NEAR(torque_Jc.dot(joint.axes[last]), tau[k + last], 1e-10) << joint.name;
      }
    }
  }
}

}  // namespace
}  // namespace handhold::synthesis::outboard_test

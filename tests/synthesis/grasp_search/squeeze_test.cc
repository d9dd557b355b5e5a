#include "synthesis/grasp_search/squeeze.h"

#include <gtest/gtest.h>

#include "database/model/hand_library.h"

namespace handhold::synthesis::squeeze_test {
namespace {

using geometry::Vec3;

SkinContact At(const Vec3& p, const Vec3& out, int digit, int body = 1) {
  SkinContact c;
  c.p_P = p;
  c.normal_P = out.normalized();
  c.digit = digit;
  c.body = body;
  return c;
}

TEST(Squeeze, ATripodBalancesWithinItsCones) {
  const std::vector<SkinContact> contacts = {At(Vec3(0, -0.02, 0), Vec3(0, -1, 0), 0),
                                             At(Vec3(0.01, 0.02, 0), Vec3(0.1, 1, 0), 1),
                                             At(Vec3(-0.01, 0.02, 0.003), Vec3(-0.1, 1, 0.1), 2)};
  const Squeeze s = BalanceSqueeze(contacts, Vec3(0, 0.001, 0), 0.6, {});
  EXPECT_LT(s.unbalanced, 1e-6);
  Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
  double total = 0;
  for (size_t i = 0; i < 3; ++i) {
    const Vec3& f = s.f_onObject_P[i];
    force += f;
    torque += contacts[i].p_P.cross(f);
    const double normal = -f.dot(contacts[i].normal_P);  // into the object
    EXPECT_GT(normal, 1.0);
    EXPECT_LE((f + normal * contacts[i].normal_P).norm(), 0.6 * normal);
    total += normal;
  }
  EXPECT_LT(force.norm(), 1e-4);
  EXPECT_LT(torque.norm(), 1e-5);
  EXPECT_NEAR(total, 40.0, 1e-9);
}

TEST(Squeeze, WhatCannotBalanceSaysSo) {
  const std::vector<SkinContact> contacts = {At(Vec3(0.01, 0, 0.02), Vec3::UnitZ(), 1),
                                             At(Vec3(-0.01, 0, 0.02), Vec3::UnitZ(), 2),
                                             At(Vec3(0, 0.01, 0.02), Vec3::UnitZ(), 3)};
  EXPECT_GT(BalanceSqueeze(contacts, Vec3::Zero(), 0.6, {}).unbalanced, 0.5);
  EXPECT_EQ(BalanceSqueeze({}, Vec3::Zero(), 0.6, {}).unbalanced, 1.0);
}

// Power: what the joints give, tau . v, is what the skin does to the object, sum f . velocity.
TEST(Squeeze, TorquesDoTheWorkOfTheForces) {
  const HandSurface hand = *HandSurface::Build(*model::LoadHand("hand27"));
  const Eigen::VectorXd shape = hand.ClampedToLimits(Eigen::VectorXd::Constant(21, 0.4));
  const geometry::RigidTransform X{geometry::Exp<double>(Vec3(0.2, 0.1, -0.5)), Vec3(0.1, 0, 0)};
  model::KinematicsData data(hand.skeleton());
  model::ComputeJacobian(hand.skeleton(), hand.Configuration(X, shape), &data);
  std::vector<SkinContact> contacts;
  Squeeze squeeze;
  for (const char* body : {"thumb.dst", "index.dst", "ring.mid"}) {
    const int b = hand.skeleton().FindBody(body);
    contacts.push_back(
        At(data.X_WB[static_cast<size_t>(b)].p + Vec3(0.003, 0.001, -0.008), Vec3(0, 0, 1), 1, b));
    squeeze.f_onObject_P.push_back(Vec3(1, -2, 3) * static_cast<double>(contacts.size()));
  }
  const Eigen::VectorXd tau = SqueezeTorques(hand.skeleton(), data, contacts, squeeze);
  EXPECT_EQ(tau.head<6>().norm(), 0.0);
  for (int dof = 6; dof < hand.skeleton().nv(); ++dof) {
    double work = 0;
    const double step = 1e-6;
    for (const double side : {-1.0, 1.0}) {
      Eigen::VectorXd moved = shape;
      moved[dof - 6] += side * step;
      model::KinematicsData there(hand.skeleton());
      model::ComputePoses(hand.skeleton(), hand.Configuration(X, moved), &there);
      for (size_t i = 0; i < contacts.size(); ++i) {
        const auto b = static_cast<size_t>(contacts[i].body);
        work += side *
                squeeze.f_onObject_P[i].dot(there.X_WB[b] *
                                            (data.X_WB[b].Inverse() * contacts[i].p_P)) /
                (2 * step);
      }
    }
    EXPECT_NEAR(tau[dof], work, 1e-6);
  }
}

}  // namespace
}  // namespace handhold::synthesis::squeeze_test

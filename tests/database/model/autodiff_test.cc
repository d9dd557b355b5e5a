// Another scalar through the whole of kinematics and dynamics: derivatives against differences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

#include "database/model/dynamics_inl.h"
#include "database/model/kinematics_inl.h"
#include "tests/support/random_skeleton.h"

namespace handhold::model::autodiff_test {
namespace {

using geometry::Vec3;
using Dual = Eigen::AutoDiffScalar<Eigen::Matrix<double, 1, 1>>;

const Vec3 kGravity(0, 0, -9.81);

class AutoDiff : public ::testing::TestWithParam<int> {
 protected:
  std::mt19937 rng_{static_cast<uint32_t>(900 + GetParam())};
  Skeleton s_ = testing::RandomSkeleton(rng_, 4 + GetParam());
  Eigen::VectorXd q_ = testing::RandomConfiguration(rng_, s_);
  Eigen::VectorXd v_ = testing::RandomVelocity(rng_, s_, 2.0);
  Eigen::VectorXd a_ = testing::RandomVelocity(rng_, s_, 5.0);
  Eigen::MatrixXd M_ = Eigen::MatrixXd::Zero(s_.nv(), s_.nv());
  DynamicsData data_{s_};
};

TEST_P(AutoDiff, KinematicsPassesThrough) {
  const Eigen::VectorXd v = testing::RandomVelocity(rng_, s_, 1.0);
  const double h = 1e-6;
  const Eigen::VectorXd dq = (s_.Integrate(q_, h * v) - s_.Integrate(q_, -h * v)) / (2 * h);
  VectorT<Dual> q(s_.nq());
  for (int i = 0; i < q.size(); ++i) q[i] = Dual(q_[i], Eigen::Matrix<double, 1, 1>(dq[i]));
  KinematicsDataT<Dual> dual(s_);
  ComputeJacobian<Dual>(s_, q, &dual);
  KinematicsData data(s_);
  ComputeVelocities(s_, q_, v, Eigen::VectorXd::Zero(s_.nv()), &data);
  for (size_t b = 1; b < data.X_WB.size(); ++b) {
    const Vec3 rate = data.V_WB[b].tail<3>() + Vec3(data.V_WB[b].head<3>()).cross(data.X_WB[b].p);
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(dual.X_WB[b].p[k].value(), data.X_WB[b].p[k], 1e-14);
      EXPECT_NEAR(dual.X_WB[b].p[k].derivatives()[0], rate[k], 1e-8);
    }
  }
}

TEST_P(AutoDiff, DynamicsPassesThrough) {
  const Eigen::VectorXd dv = testing::RandomVelocity(rng_, s_, 1.0);
  const double h = 1e-6;
  VectorT<Dual> q(s_.nq()), v(s_.nv()), a(s_.nv()), tau(s_.nv()), back(s_.nv());
  const Eigen::VectorXd dq = (s_.Integrate(q_, h * dv) - s_.Integrate(q_, -h * dv)) / (2 * h);
  for (int i = 0; i < s_.nq(); ++i) q[i] = Dual(q_[i], Eigen::Matrix<double, 1, 1>(dq[i]));
  for (int i = 0; i < s_.nv(); ++i) v[i] = Dual(v_[i]), a[i] = Dual(a_[i]);
  DynamicsDataT<Dual> dual(s_);
  InverseDynamics<Dual>(s_, q, v, a, kGravity, &dual, tau);
  Eigen::VectorXd up(s_.nv()), down(s_.nv());
  InverseDynamics(s_, s_.Integrate(q_, h * dv), v_, a_, kGravity, &data_, up);
  InverseDynamics(s_, s_.Integrate(q_, -h * dv), v_, a_, kGravity, &data_, down);
  for (int i = 0; i < s_.nv(); ++i) {
    const double slope = (up[i] - down[i]) / (2 * h);
    EXPECT_NEAR(tau[i].derivatives()[0], slope, 1e-6 * (1 + (up - down).norm() / (2 * h)));
  }
  // Along the way that the accelerations stay the same, and the mass matrix passes too.
  ASSERT_TRUE(ForwardDynamics<Dual>(s_, q, v, tau, kGravity, &dual, back));
  for (int i = 0; i < s_.nv(); ++i) {
    EXPECT_NEAR(back[i].value(), a_[i], 1e-7);
    EXPECT_NEAR(back[i].derivatives()[0], 0.0, 1e-6);
  }
  Eigen::Matrix<Dual, Eigen::Dynamic, Eigen::Dynamic> M(s_.nv(), s_.nv());
  MassMatrix<Dual>(s_, q, &dual, M);
  MassMatrix(s_, q_, &data_, M_);
  EXPECT_NEAR(M(0, 0).value(), M_(0, 0), 1e-12 * M_(0, 0));
}

INSTANTIATE_TEST_SUITE_P(Scalars, AutoDiff, ::testing::Range(1, 6));

}  // namespace
}  // namespace handhold::model::autodiff_test

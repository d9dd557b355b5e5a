#include "database/model/dynamics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/random_skeleton.h"

namespace handhold::model::dynamics_test {
namespace {

using geometry::Vec3;

const Vec3 kGravity(0, 0, -9.81);

double PotentialEnergy(const Skeleton& s, const Eigen::VectorXd& q) {
  KinematicsData data(s);
  ComputePoses(s, q, &data);
  double energy = 0;
  for (int b = 1; b < s.body_count(); ++b) {
    const auto& m = s.body(b).mass;
    energy -= m.mass_kg * kGravity.dot(data.X_WB[static_cast<size_t>(b)] * m.p_BCom);
  }
  return energy;
}

double KineticEnergy(const Skeleton& s, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  KinematicsData data(s);
  ComputeVelocities(s, q, v, Eigen::VectorXd::Zero(s.nv()), &data);
  double energy = 0;
  for (int b = 1; b < s.body_count(); ++b) {
    const size_t i = static_cast<size_t>(b);
    const auto m = geometry::Transformed(data.X_WB[i], s.body(b).mass);
    const Vec3 w = data.V_WB[i].head<3>();
    const Vec3 v_com = data.V_WB[i].tail<3>() + w.cross(m.p_BCom);
    energy += 0.5 * m.mass_kg * v_com.squaredNorm() + 0.5 * w.dot(m.I_BCom_B * w);
  }
  return energy;
}

class RandomTree : public ::testing::TestWithParam<int> {
 protected:
  std::mt19937 rng_{static_cast<uint32_t>(500 + GetParam())};
  Skeleton s_ = testing::RandomSkeleton(rng_, 4 + GetParam());
  Eigen::VectorXd q_ = testing::RandomConfiguration(rng_, s_);
  Eigen::VectorXd v_ = testing::RandomVelocity(rng_, s_, 2.0);
  Eigen::VectorXd a_ = testing::RandomVelocity(rng_, s_, 5.0);
  Eigen::VectorXd tau_ = Eigen::VectorXd::Zero(s_.nv());
  Eigen::MatrixXd M_ = Eigen::MatrixXd::Constant(s_.nv(), s_.nv(), 99.0);
  DynamicsData data_{s_};
};

TEST_P(RandomTree, MassMatrixIsThatOfTheKineticEnergy) {
  MassMatrix(s_, q_, &data_, M_);
  EXPECT_EQ(M_, M_.transpose());
  const double energy = KineticEnergy(s_, q_, v_);
  EXPECT_NEAR(0.5 * v_.dot(M_ * v_), energy, 1e-12 * energy);
}

TEST_P(RandomTree, InverseDynamicsIsMassTimesAccelerationPlusBias) {
  Eigen::VectorXd bias(s_.nv());
  MassMatrix(s_, q_, &data_, M_);
  BiasForces(s_, q_, v_, kGravity, &data_, bias);
  InverseDynamics(s_, q_, v_, a_, kGravity, &data_, tau_);
  EXPECT_LT((M_ * a_ + bias - tau_).norm(), 1e-12 * tau_.norm());
}

TEST_P(RandomTree, ForwardDynamicsUndoesInverseDynamics) {
  InverseDynamics(s_, q_, v_, a_, kGravity, &data_, tau_);
  Eigen::VectorXd a(s_.nv());
  ASSERT_TRUE(ForwardDynamics(s_, q_, v_, tau_, kGravity, &data_, a));
  EXPECT_LT((a - a_).norm(), 1e-9 * a_.norm());
}

TEST_P(RandomTree, GravityTorqueIsTheSlopeOfThePotential) {
  GravityTorque(s_, q_, kGravity, &data_, tau_);
  const double h = 1e-5;
  for (int k = 0; k < s_.nv(); ++k) {
    const Eigen::VectorXd e = h * Eigen::VectorXd::Unit(s_.nv(), k);
    const double slope =
        (PotentialEnergy(s_, s_.Integrate(q_, e)) - PotentialEnergy(s_, s_.Integrate(q_, -e))) /
        (2 * h);
    EXPECT_NEAR(tau_[k], slope, 1e-8 * (1 + std::abs(slope)));
  }
}

TEST_P(RandomTree, PowerOfTheJointsIsTheRateOfEnergy) {
  InverseDynamics(s_, q_, v_, a_, kGravity, &data_, tau_);
  const double h = 1e-5;
  const auto energy = [&](double t) {
    const Eigen::VectorXd q = s_.Integrate(q_, t * v_ + 0.5 * t * t * a_), v = v_ + t * a_;
    return KineticEnergy(s_, q, v) + PotentialEnergy(s_, q);
  };
  const double rate = (energy(h) - energy(-h)) / (2 * h);
  EXPECT_NEAR(tau_.dot(v_), rate, 1e-6 * (1 + std::abs(rate)));
}

TEST_P(RandomTree, OutboardMassIsTheBlockOfMAtItsJoint) {
  MassMatrix(s_, q_, &data_, M_);
  KinematicsData kinematics(s_);
  ComputeJacobian(s_, q_, &kinematics);
  for (int b = 1; b < s_.body_count(); ++b) {
    const auto outboard = OutboardMass(s_, q_, b, &data_);
    const geometry::Mat6 I = geometry::SpatialInertia(outboard);
    for (int k = s_.v_index(b); k < s_.v_index(b) + s_.body(b).joint.nv(); ++k) {
      EXPECT_NEAR(kinematics.J_W.col(k).dot(I * kinematics.J_W.col(k)), M_(k, k), 1e-11 * M_(k, k));
    }
  }
}

TEST_P(RandomTree, NothingAllocatesOnceTheScratchIsMade) {
  KinematicsData kinematics(s_);
  std::vector<Vec3> points;
  MarkerPositions(s_, kinematics, &points);
  Eigen::VectorXd a(s_.nv());
  Eigen::Matrix3Xd J(3, s_.nv());
  const size_t before = testing::AllocationsOfThisThread();
  ComputeVelocities(s_, q_, v_, a_, &kinematics);
  PointJacobian(s_, kinematics, 1, Vec3(0.1, 0.2, 0.3), J);
  AddForceTorques(s_, kinematics, 1, Vec3(0.1, 0.2, 0.3), Vec3(1, 2, 3), tau_);
  MarkerPositions(s_, kinematics, &points);
  InverseDynamics(s_, q_, v_, a_, kGravity, &data_, tau_);
  BiasForces(s_, q_, v_, kGravity, &data_, tau_);
  GravityTorque(s_, q_, kGravity, &data_, tau_);
  MassMatrix(s_, q_, &data_, M_);
  const bool moved = ForwardDynamics(s_, q_, v_, tau_, kGravity, &data_, a).has_value();
  (void)OutboardMass(s_, q_, 1, &data_);
  EXPECT_EQ(testing::AllocationsOfThisThread(), before);
  EXPECT_TRUE(moved);
}

INSTANTIATE_TEST_SUITE_P(Dynamics, RandomTree, ::testing::Range(1, 9));

TEST(AllocationCounter, CountsWhatItShould) {
  const size_t before = testing::AllocationsOfThisThread();
  Eigen::VectorXd v = Eigen::VectorXd::Zero(100);
  ASSERT_EQ(v.sum(), 0);
  EXPECT_GT(testing::AllocationsOfThisThread(), before);
}

// A rod of mass m and length L, level: its hinge must hold m g L / 2 upwards, against flexion.
TEST(GravityTorque, HoldsALevelFingerUp) {
  const Skeleton hand = *LoadHand("finger4");
  DynamicsData data(hand);
  Eigen::VectorXd tau(4);
  GravityTorque(hand, Eigen::VectorXd::Zero(4), kGravity, &data, tau);
  const int dip = hand.FindDof("R.index.dip.flex");
  EXPECT_LT(tau[dip], 0);
  const auto& m = hand.body(hand.FindBody("index.dst")).mass;
  EXPECT_NEAR(tau[dip], -m.mass_kg * 9.81 * m.p_BCom.x(), 2e-3 * std::abs(tau[dip]));
}

TEST(OutboardMass, IsZeroWhereNothingHasMass) {
  SkeletonDraft draft;
  draft.name = "s";
  draft.bodies.resize(1);
  draft.bodies[0].name = "b";
  const Skeleton s = *Skeleton::Build(draft);
  DynamicsData data(s);
  EXPECT_EQ(OutboardMass(s, s.ZeroConfiguration(), 1, &data).mass_kg, 0);
}

/// A chain of joints of `types` along x, 0.1 m apart, hinges about y; every body weighs `mass_kg`.
SkeletonDraft Chain(const std::vector<JointType>& types, const std::vector<double>& mass_kg) {
  SkeletonDraft draft;
  draft.name = "chain";
  for (size_t i = 0; i < types.size(); ++i) {
    Body body;
    body.name = "b" + std::to_string(i);
    body.parent = static_cast<int>(i);
    body.joint.name = "j" + std::to_string(i);
    body.joint.type = types[i];
    body.joint.axes[0] = Vec3::UnitY();
    if (i > 0) body.joint.X_PJp.p = Vec3(0.1, 0, 0);
    body.mass.mass_kg = mass_kg[i];
    if (mass_kg[i] > 0) body.mass.I_BCom_B = 1e-6 * geometry::Mat3::Identity();
    draft.bodies.push_back(body);
  }
  return draft;
}

// A skeleton for kinematics only needs no mass; what it cannot answer must not look like an answer.
TEST(ForwardDynamics, NamesTheJointThatCarriesNoMass) {
  const JointType hinge = JointType::kHinge, ball = JointType::kBall, fixed = JointType::kFixed;
  const struct {
    std::vector<JointType> types;
    std::vector<double> mass_kg;
    const char* says;  // empty: it can be answered
  } cases[] = {
      {{hinge}, {0}, "joint 'j0' of body 'b0'"},
      {{JointType::kFree}, {0}, "joint 'j0' of body 'b0'"},
      {{JointType::kUniversal}, {0}, "joint 'j0' of body 'b0'"},
      {{hinge, hinge, hinge}, {0.1, 0.1, 0}, "joint 'j2' of body 'b2'"},
      {{hinge, ball, hinge}, {0.1, 0, 0}, "joint 'j2' of body 'b2'"},  // the outermost first
      {{hinge, ball, fixed}, {0.1, 0, 0}, "joint 'j1' of body 'b1'"},
      {{hinge, ball, fixed}, {0.1, 0, 0.1}, ""},
      {{hinge, hinge, hinge}, {0, 0, 0.1}, ""},  // massless links between are no matter ...
      {{fixed, hinge}, {0, 0.1}, ""},
  };
  for (const auto& c : cases) {
    const auto built = Skeleton::Build(Chain(c.types, c.mass_kg));
    ASSERT_TRUE(built) << built.error().message;
    const Skeleton& s = *built;
    DynamicsData data(s);
    for (const double tau_Nm : {0.0, 1.0}) {
      const Eigen::VectorXd tau = Eigen::VectorXd::Constant(s.nv(), tau_Nm);
      Eigen::VectorXd a = Eigen::VectorXd::Constant(s.nv(), 77.0);
      const Eigen::VectorXd rest = Eigen::VectorXd::Zero(s.nv());
      // Bent: three parallel hinges in a straight line cannot move their end along that line.
      const Eigen::VectorXd q =
          s.Integrate(s.ZeroConfiguration(), 0.3 * Eigen::VectorXd::Ones(s.nv()));
      const Status done = ForwardDynamics(s, q, rest, tau, kGravity, &data, a);
      if (*c.says == 0) {
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_TRUE(a.allFinite());
      } else {
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, ErrorCode::kInvalid);
        EXPECT_THAT(done.error().message, ::testing::HasSubstr(c.says));
        EXPECT_EQ(a, Eigen::VectorXd::Constant(s.nv(), 77.0));
      }
    }
  }
}

// ... unless two joints turn the same mass about the same line, always or in one posture.
TEST(ForwardDynamics, NamesAJointThatAnotherOneDoublesInThisPosture) {
  SkeletonDraft always = Chain({JointType::kHinge, JointType::kHinge}, {0, 0.1});
  always.bodies[1].joint.X_PJp = {};
  // Three hinges about z, y, x through one point: at 90 degrees of the middle one the outer two
  // are in line (gimbal lock).
  SkeletonDraft gimbal =
      Chain({JointType::kHinge, JointType::kHinge, JointType::kHinge}, {0, 0, 1});
  const Vec3 axes[] = {Vec3::UnitZ(), Vec3::UnitY(), Vec3::UnitX()};
  for (size_t i = 0; i < 3; ++i) {
    gimbal.bodies[i].joint.X_PJp = {};
    gimbal.bodies[i].joint.axes[0] = axes[i];
  }
  const Skeleton two = *Skeleton::Build(always), three = *Skeleton::Build(gimbal);
  const auto forward = [](const Skeleton& s, const Eigen::VectorXd& q) {
    DynamicsData data(s);
    Eigen::VectorXd zero = Eigen::VectorXd::Zero(s.nv()), a = zero;
    return ForwardDynamics(s, q, zero, zero, kGravity, &data, a);
  };
  const Status doubled = forward(two, Eigen::Vector2d(0.3, -0.2));
  ASSERT_FALSE(doubled);
  EXPECT_THAT(doubled.error().message, ::testing::HasSubstr("joint 'j0' of body 'b0'"));
  EXPECT_TRUE(forward(three, Eigen::Vector3d(0.1, 0.2, 0.3)));
  EXPECT_TRUE(forward(three, Eigen::Vector3d(0.1, M_PI / 2 - 1e-3, 0.3)));
  EXPECT_FALSE(forward(three, Eigen::Vector3d(0.1, M_PI / 2, 0.3)));
  EXPECT_FALSE(forward(three, Eigen::Vector3d(0.1, std::nan(""), 0.3)));
}

}  // namespace
}  // namespace handhold::model::dynamics_test

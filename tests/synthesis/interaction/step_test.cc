#include "synthesis/interaction/step.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chain_hands.h"

namespace handhold::synthesis::step_test {
namespace {

using geometry::Vec3;
using geometry::Vec6;

constexpr double kLength = 0.1;

HandStep At(const Eigen::VectorXd& q, const Eigen::VectorXd& reference, const Eigen::VectorXd& next,
            const Eigen::VectorXd& compliance) {
  HandStep hand;
  hand.q = q;
  hand.q_reference = reference;
  hand.q_reference_next = next;
  hand.compliance_rad_per_Nm = compliance;
  return hand;
}

Eigen::VectorXd One(double x) { return Eigen::VectorXd::Constant(1, x); }

// Contact of the tip of the one-hinge hand, at q = 0, with a floor below it.
Contact Floor(double separation_m, double friction) {
  Contact c;
  c.a = ContactSide::Link(0, 1);
  c.law.stiffness_N_per_m = kRigid_N_per_m;
  c.p_W = Vec3(kLength, 0, 0);
  c.normal_W = Vec3::UnitZ();
  c.separation_m = separation_m;
  c.law.friction = friction;
  return c;
}

TEST(StepTest, AFingerThatWantsToGoThroughAFloorPushesWithItsStiffness) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  StepOptions options;
  options.root_compliance_m_per_N = 0.0;
  InteractionStepper stepper(hand, options);
  // The reference flexes by 0.02 rad (2 mm down); the floor is 0.5 mm below; C = 0.5 rad/Nm.
  const auto result = stepper.Step(At(One(0), One(0), One(0.02), One(0.5)),
                                   std::vector<Contact>{Floor(5e-4, 0.0)}, {});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->solve.solved_by, SolvedBy::kLemke);
  // f = (wanted - allowed) / (L^2 C) = 1.5e-3 / 5e-3 = 0.3 N, up; theta = 0.02 - 0.5 * 0.1 * 0.3 =
  // 0.005: just on the floor.
  EXPECT_NEAR(result->forces[0].f_onHand_W.z(), 0.3, 1e-9);
  EXPECT_NEAR(result->q[0], 0.005, 1e-10);
}

TEST(StepTest, TheSurfacesOwnComplianceSharesTheLoad) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  StepOptions options;
  options.root_compliance_m_per_N = 0.0;
  InteractionStepper stepper(hand, options);
  Contact floor = Floor(0.0, 0.0);
  floor.law.stiffness_N_per_m = 5000;
  const auto result =
      stepper.Step(At(One(0), One(0), One(0.02), One(0.5)), std::vector<Contact>{floor}, {});
  const double force = 2e-3 / (5e-3 + 2e-4);
  EXPECT_NEAR(result->forces[0].f_onHand_W.z(), force, 1e-9);
  EXPECT_NEAR(kLength * result->q[0], force / 5000, 1e-9);  // it sinks in by f / k
}

// A fingertip pressed against a wall and pulled along it: the wall's grip is stretched by c f,
// holds still under the same pull, and comes back. None of that is slip.
TEST(StepTest, ASurfaceThatGripsGivesSidewaysAndComesBack) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  StepOptions options;
  options.root_compliance_m_per_N = 0.0;
  InteractionStepper stepper(hand, options);
  Contact wall = Floor(-1e-3, 0.5);
  wall.normal_W = -Vec3::UnitX();  // the finger cannot move along x: it presses with 1e-3 / c = 5 N
  wall.law.stiffness_N_per_m = 5000;
  const double force = 2e-3 / (5e-3 + 2e-4);
  Eigen::VectorXd q = One(0);
  for (const double wanted : {0.02, 0.02, 0.0, 0.0}) {
    const auto result =
        stepper.Step(At(q, One(wanted), One(wanted), One(0.5)), std::vector<Contact>{wall}, {});
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->solve.solved_by, SolvedBy::kLemke);
    EXPECT_NEAR(result->forces[0].f_onHand_W.x(), -5.0, 1e-9);
    EXPECT_NEAR(result->forces[0].f_onHand_W.z(), wanted > 0 ? force : 0.0, 1e-9);
    EXPECT_NEAR(kLength * result->q[0], wanted > 0 ? force / 5000 : 0.0, 1e-9);
    EXPECT_LT(result->forces[0].slip_m_per_s, 1e-9);
    q = result->q;
  }
}

TEST(StepTest, AContactThatOpensHasNoForce) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  InteractionStepper stepper(hand, {});
  const auto result = stepper.Step(At(One(0), One(0), One(-0.02), One(0.5)),
                                   std::vector<Contact>{Floor(0.0, 0.5)}, {});
  EXPECT_EQ(result->forces[0].f_onHand_W.norm(), 0.0);
  EXPECT_NEAR(result->q[0], -0.02, 1e-12);
}

// The damped form against the implicit step written out: (theta+ - theta_r+) + T (dtheta/h -
// dtheta_r/h) = C tau.
TEST(StepTest, TheDampedFormIsTheImplicitStepOfASpringAndDamper) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  StepOptions options;
  options.root_compliance_m_per_N = 0.0;
  InteractionStepper stepper(hand, options);
  HandStep step = At(One(0), One(0.004), One(0.02), One(0.5));
  step.time_constant_s = One(0.014);
  const auto result = stepper.Step(step, std::vector<Contact>{Floor(1e-4, 0.0)}, {});
  const double f = result->forces[0].f_onHand_W.z(), q = result->q[0], h = options.step_s,
               T = 0.014;
  EXPECT_GT(f, 0.0);
  EXPECT_NEAR((q - 0.02) + T * ((q - 0.0) - (0.02 - 0.004)) / h, 0.5 * -kLength * f, 1e-10);
  EXPECT_NEAR(kLength * q, 1e-4, 1e-10);
}

// The balance is taken anew at the next step: it holds while the contact stays where it was, and is
// off by C dJ^T f when the contact has moved.
TEST(StepTest, TheDampedFormsResidualSeesAContactThatMoved) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  StepOptions options;
  options.root_compliance_m_per_N = 0.0;
  for (const double moved : {0.0, 0.03}) {
    InteractionStepper stepper(hand, options);
    HandStep step = At(One(0), One(0.004), One(0.02), One(0.5));
    step.time_constant_s = One(0.014);
    Contact floor = Floor(1e-4, 0.0);
    floor.feature = 1;
    // From rest at the reference: the first step finds what is off itself.
    step.q = One(0.004);
    const auto first = stepper.Step(step, std::vector<Contact>{floor}, {});
    EXPECT_NEAR(first->equilibrium_residual_rad, 0.0, 1e-12);
    const double f = first->forces[0].f_onHand_W.z();
    ASSERT_GT(f, 0.01);
    step.q = first->q;
    step.q_reference = step.q_reference_next;
    floor.p_W.x() -= moved;
    const auto second = stepper.Step(step, std::vector<Contact>{floor}, {});
    EXPECT_NEAR(second->equilibrium_residual_rad, 0.5 * moved * f, 1e-10) << moved;
  }
}

// A hinge whose limit holds it far from its reference is in balance: the limit carries the spring.
TEST(StepTest, AJointHeldByItsLimitIsInBalance) {
  model::SkeletonDraft draft = testing::ChainHand({0.08, 0.06}, 0.006).draft();
  draft.bodies[0].joint.lower_rad[0] = -0.2;
  draft.bodies[0].joint.upper_rad[0] = 0.3;
  const model::Skeleton hand = model::Skeleton::Build(draft).value();
  StepOptions options;
  options.limits = true;
  const Eigen::Vector2d C(0.5, 0.5);
  for (const double time_constant_s : {0.0, 0.014}) {
    InteractionStepper stepper(hand, options);
    HandStep step = At(Eigen::Vector2d(0, 0.1), Eigen::Vector2d(0, 0.1), {}, C);
    if (time_constant_s > 0) step.time_constant_s = Eigen::Vector2d::Constant(time_constant_s);
    double most_rad = 0.0;
    for (int k = 0; k < 200; ++k) {
      step.q_reference_next = Eigen::Vector2d(0.9 * (k + 1) / 200, 0.1);
      const auto result = stepper.Step(step, {}, {});
      ASSERT_TRUE(result) << result.error().message;
      most_rad = std::max(most_rad, result->equilibrium_residual_rad);
      step.q = result->q;
      step.q_reference = step.q_reference_next;
    }
    EXPECT_NEAR(step.q[0], 0.3, 1e-9);
    EXPECT_LE(most_rad, 1e-9) << time_constant_s;
    // Another take begins with no limit's torque.
    stepper.Reset();
    step.q = step.q_reference = step.q_reference_next = Eigen::Vector2d(0, 0.1);
    EXPECT_LE(stepper.Step(step, {}, {})->equilibrium_residual_rad, 1e-12);
  }
}

// s' as the paper writes it, with the error of eq. 7 added to dtheta_r, gives the forces the
// absolute form gives.
TEST(StepTest, TheAbsoluteFormIsThePapers) {
  const model::Skeleton hand = testing::ChainHand({0.08, 0.045, 0.026}, 0.006);
  StepOptions options;
  options.root_compliance_m_per_N = 0.0;
  options.solve.sides = 4;
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int trial = 0; trial < 20; ++trial) {
    InteractionStepper stepper(hand, options);
    Eigen::VectorXd q(3), reference(3), next(3), C(3);
    for (int j = 0; j < 3; ++j) {
      q[j] = 0.3 + 0.1 * u(rng);
      C[j] = 0.8 + 0.5 * u(rng);
    }
    model::KinematicsData data(hand);
    model::ComputeJacobian<double>(hand, q, &data);
    Contact c = Floor(-1e-4, 0.6);
    c.a = ContactSide::Link(0, 3);
    c.p_W = data.X_WB[3] * Vec3(0.026, 0, -0.006);
    c.normal_W = Vec3(0.1 * u(rng), 0, 1).normalized();
    Eigen::MatrixXd J(3, 3);
    model::PointJacobian<double>(hand, data, 3, c.p_W, J);
    // A state in balance up to theta_err: theta^k = theta_r^k + C J^T f^k - theta_err.
    const Vec3 f_k(0.1 * u(rng), 0, 0.5);
    Eigen::VectorXd theta_err(3);
    for (int j = 0; j < 3; ++j) {
      theta_err[j] = 1e-3 * u(rng);
      reference[j] = q[j] - C[j] * (J.transpose() * f_k)[j] + theta_err[j];
      next[j] = reference[j] + 5e-3 * u(rng) + 2e-3;
    }
    Eigen::MatrixXd D = Eigen::MatrixXd::Zero(3, 5);
    const Vec3 t1 = c.normal_W.cross(Vec3::UnitX()).normalized(), t2 = c.normal_W.cross(t1);
    D << c.normal_W, t1, -t1, t2, -t2;
    const Eigen::MatrixXd G = J * C.asDiagonal() * J.transpose();
    Eigen::VectorXd s = Eigen::VectorXd::Zero(5);
    s[0] = c.separation_m;
    const Eigen::VectorXd s_prime =
        s + D.transpose() * (J * (next - reference + theta_err) - G * f_k);
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(6, 6);
    M.topLeftCorner(5, 5) = D.transpose() * G * D + 1e-9 * Eigen::MatrixXd::Identity(5, 5);
    M.block(5, 0, 1, 5) << 0.6, -1, -1, -1, -1;
    M.block(1, 5, 4, 1).setOnes();
    Eigen::VectorXd rhs = Eigen::VectorXd::Zero(6), z;
    rhs.head(5) = s_prime;
    LcpWorkspace ws;
    ASSERT_EQ(SolveLcp(M, rhs, {}, &ws, &z).outcome, LcpOutcome::kSolved);
    const Vec3 f_paper = D * z.head(5);

    const auto result = stepper.Step(At(q, reference, next, C), std::vector<Contact>{c}, {});
    ASSERT_TRUE(result);
    // Compare what the linearised hand feels: joint torques. (The plane's two tangents span
    // different octants.)
    const Eigen::VectorXd tau_paper = J.transpose() * f_paper,
                          tau = J.transpose() * result->forces[0].f_onHand_W;
    EXPECT_LE((tau - tau_paper).norm(), 2e-2 * std::max(1e-3, tau_paper.norm())) << trial;
  }
}

TEST(StepTest, FrictionHoldsBelowTheConeAndSlidesAtIt) {
  // Two hinges: the tip can be asked to move along X while it presses down.
  const model::Skeleton hand = testing::ChainHand({0.08, 0.06}, 0.006);
  StepOptions options;
  options.solve.sides = 16;
  Eigen::VectorXd q(2), C(2);
  q << 0.3, 0.9;
  C << 0.3, 0.3;
  model::KinematicsData data(hand);
  model::ComputeJacobian<double>(hand, q, &data);
  Contact c = Floor(0.0, 0.5);
  c.a = ContactSide::Link(0, 2);
  c.p_W = data.X_WB[2] * Vec3(0.06, 0, 0) - Vec3(0, 0, 0.006);
  Eigen::MatrixXd J(3, 2);
  model::PointJacobian<double>(hand, data, 2, c.p_W, J);
  const auto pull = [&](double along_x_m) {
    InteractionStepper stepper(hand, options);
    const Eigen::Vector2d wanted(along_x_m, -2e-3);
    Eigen::Matrix2d planar;
    planar << J.row(0), J.row(2);
    const Eigen::VectorXd next = q + planar.inverse() * wanted;
    return stepper.Step(At(q, q, next, C), std::vector<Contact>{c}, {}).value().forces[0];
  };
  // Which sideways pull makes friction vanish depends on G; sweep it, and look at both regimes.
  bool stuck = false, slid = false;
  for (double x = -8e-3; x <= 8e-3; x += 1e-3) {
    const HandForce f = pull(x);
    const double normal = f.f_onHand_W.z(),
                 tangent = std::hypot(f.f_onHand_W.x(), f.f_onHand_W.y());
    ASSERT_GT(normal, 0.0);
    EXPECT_LE(tangent, 0.5 * normal * (1 + 1e-9));
    if (f.slip_m_per_s > 1e-3) {
      slid = true;
      // Sliding: at the bound, within the polyhedron's error of cos(pi / 16), and against the
      // motion.
      EXPECT_GE(tangent, 0.5 * normal * std::cos(M_PI / 16) * (1 - 1e-9)) << x;
    } else {
      stuck = true;
    }
  }
  EXPECT_TRUE(stuck);
  EXPECT_TRUE(slid);
}

// A 12 g ball above the fingertip, no gravity: one implicit step by hand.
TEST(StepTest, APushedFreeBallFollowsTheImplicitStepComputedByHand) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  StepOptions options;
  options.root_compliance_m_per_N = 0.0;
  options.gravity_W.setZero();
  InteractionStepper stepper(hand, options);
  MovingBody ball;
  ball.mass.mass_kg = 0.012;
  ball.mass.I_BCom_B = 2e-6 * geometry::Mat3::Identity();
  ball.X_WB.p = Vec3(kLength, 0, 0.026);
  ball.V_B << 0, 0, 0, 0, 0, -0.05;  // it comes down at 5 cm/s
  Contact c;
  c.a = ContactSide::Link(0, 1);
  c.b = ContactSide::Body(0);
  c.law.stiffness_N_per_m = kRigid_N_per_m;
  c.p_W = Vec3(kLength, 0, 0.006);
  c.normal_W = -Vec3::UnitZ();  // outward of the ball, towards the finger
  c.separation_m = 2e-5;
  c.law.friction = 0.0;
  // The reference lifts the tip by 1 mm: q = -0.01.
  std::vector<MovingBody> bodies = {ball};
  const auto result =
      stepper.Step(At(One(0), One(0), One(-0.01), One(0.5)), std::vector<Contact>{c}, bodies);
  ASSERT_TRUE(result);
  const double h = options.step_s, m = 0.012, G = kLength * kLength * 0.5;
  const double beta = -(2e-5 - 1e-3 - h * 0.05) / (G + h * h / m);
  EXPECT_NEAR(result->forces[0].f_onHand_W.z(), -beta, 1e-9);
  EXPECT_NEAR(bodies[0].V_B[5], -0.05 + h * beta / m, 1e-9);
  EXPECT_NEAR(bodies[0].X_WB.p.z(), 0.026 + h * (-0.05 + h * beta / m), 1e-12);
  // Hand and ball end in touch: the gap closed exactly.
  const double tip_rise = -kLength * result->q[0];
  EXPECT_NEAR(2e-5 + (bodies[0].X_WB.p.z() - 0.026) - tip_rise, 0.0, 1e-10);
}

TEST(StepTest, AFreeBodyFallsAndSpinsAsNewtonAndEulerSay) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  InteractionStepper stepper(hand, {});
  MovingBody body;
  body.mass.mass_kg = 0.2;
  body.mass.I_BCom_B = Vec3(1e-4, 2e-4, 2.5e-4).asDiagonal();
  body.mass.p_BCom = Vec3(0.01, -0.02, 0.005);
  body.V_B << 1.0, 2.0, -0.5, 0.1, 0, 0;
  std::vector<MovingBody> bodies = {body};
  const auto momentum = [](const MovingBody& b) {  // angular about the centre, world axes
    return Vec3(b.X_WB.R * b.mass.I_BCom_B * b.V_B.head<3>());
  };
  const Vec3 before = momentum(body);
  const auto velocity_of_com = [](const MovingBody& b) {
    return Vec3(b.X_WB.R * (Vec3(b.V_B.tail<3>()) + Vec3(b.V_B.head<3>()).cross(b.mass.p_BCom)));
  };
  const Vec3 v0 = velocity_of_com(body);
  StepOptions options;
  for (int k = 0; k < 100; ++k)
    ASSERT_TRUE(stepper.Step(At(One(0), One(0), One(0), One(0.5)), {}, bodies));
  const double t = 100 * options.step_s;
  // First-order integration: errors of order h.
  EXPECT_LE((velocity_of_com(bodies[0]) - v0 - t * Vec3(0, 0, -9.81)).norm(), 0.01);
  EXPECT_LE((momentum(bodies[0]) - before).norm(), 0.02 * before.norm());
}

TEST(StepTest, InputsThatAreNotFiniteAreRefused) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  InteractionStepper stepper(hand, {});
  EXPECT_EQ(stepper.Step(At(One(std::nan("")), One(0), One(0), One(0.5)), {}, {}).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(stepper.Step(At(One(0), One(0), One(0), One(-0.5)), {}, {}).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(
      stepper.Step(At(Eigen::VectorXd::Zero(2), One(0), One(0), One(0.5)), {}, {}).error().code,
      ErrorCode::kInvalid);
}

TEST(StepTest, BodiesAndContactsThatAreNoneAreRefusedAndNothingMoves) {
  const model::Skeleton hand = testing::ChainHand({kLength}, 0.006);
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  InteractionStepper stepper(hand, {});
  MovingBody ball;
  ball.mass.mass_kg = 0.012;
  ball.mass.I_BCom_B = 2e-6 * geometry::Mat3::Identity();
  Contact touch = Floor(-1e-4, 0.5);
  touch.b = ContactSide::Body(0);
  const HandStep step = At(One(0), One(0), One(0.01), One(0.5));
  const auto code = [&](const MovingBody& body, const Contact& contact) {
    std::vector<MovingBody> bodies = {body};
    const geometry::Mat3 R_before = stepper.X_WB()[1].R;
    const auto result = stepper.Step(step, std::vector<Contact>{contact}, bodies);
    if (result) return std::string("ok");
    EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(stepper.X_WB()[1].R, R_before);
    return result.error().message.substr(0, result.error().message.find(' '));
  };
  const std::vector<std::function<void(MovingBody&)>> bad_bodies = {[&](MovingBody& b) { b.V_B[3] = nan; },
                                                                    [&](MovingBody& b) { b.X_WB.p.x() = inf; },
                                                                    [&](MovingBody& b) { b.X_WB.R(0, 0) = nan; },
                                                                    [&](MovingBody& b) { b.w_external_B[1] = nan; },
                                                                    [&](MovingBody& b) { b.mass.mass_kg = 0.0; },
                                                                    [&](MovingBody& b) { b.mass.mass_kg = nan; },
                                                                    [&](MovingBody& b) { b.mass.I_BCom_B.setZero(); }};
  for (const auto& spoil : bad_bodies) {
    MovingBody bad = ball;
    spoil(bad);
    EXPECT_EQ(code(bad, touch), "body");
  }
  const std::vector<std::function<void(Contact&)>> bad_contacts = {
      [&](Contact& c) { c.p_W.z() = nan; },
      [&](Contact& c) { c.normal_W.x() = nan; },
      [&](Contact& c) { c.separation_m = inf; },
      [&](Contact& c) { c.law.friction = inf; },
      [&](Contact& c) { c.law.damping_Ns_per_m = inf; },
      [&](Contact& c) { c.law.stiffness_N_per_m = nan; }};
  for (const auto& spoil : bad_contacts) {
    Contact bad = touch;
    spoil(bad);
    EXPECT_EQ(code(ball, bad), "contact");
  }
  EXPECT_EQ(code(ball, touch), "ok");
  // After a step that went well it still looks.
  ball.mass.mass_kg = 0.0;
  EXPECT_EQ(code(ball, touch), "body");
}

}  // namespace
}  // namespace handhold::synthesis::step_test

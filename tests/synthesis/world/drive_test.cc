// Drives of ball joints, soft roots, and limits under drives, against laws worked out by hand.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <random>

#include "database/model/skeleton.h"
#include "synthesis/world/world.h"
#include "tests/support/ball_limits.h"
#include "tests/support/random_skeleton.h"

namespace handhold::synthesis::drive_test {
namespace {

using geometry::MassProperties;
using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kDeg = std::numbers::pi / 180;

std::unique_ptr<World> MakeWorld(const Vec3& gravity = Vec3::Zero(),
                                 Stepper stepper = Stepper::kExact) {
  return std::move(
             World::Create({.gravity_W = gravity, .stepper = stepper, .quick_iterations = 200}))
      .value();
}
MassProperties Lump(double m) {
  Mat3 I = Vec3(3e-4, 2e-4, 4e-4).asDiagonal();
  const Mat3 R = geometry::Exp<double>(Vec3(0.4, -0.3, 0.5));
  I = (R * I * R.transpose()).eval();
  return {m, {0.03, 0.01, -0.02}, m * 0.5 * (I + I.transpose())};
}
/// About the body's origin.
Mat3 InertiaAboutOrigin(const MassProperties& m) {
  const Mat3 c = geometry::Skew<double>(m.p_BCom);
  return m.I_BCom_B - m.mass_kg * c * c;
}
Mat3 RandomSpd(std::mt19937& rng, double size) {
  const Mat3 R = geometry::Exp<double>(testing::RandomVector(rng, 1.5));
  const Vec3 e(testing::Uniform(rng, 0.1, 1), testing::Uniform(rng, 0.1, 1),
               testing::Uniform(rng, 0.1, 1));
  const Mat3 M = R * e.asDiagonal() * R.transpose();
  return size * 0.5 * (M + M.transpose());
}

TEST(BallDrive, TorqueIsTheSpringAndDamperAtTheEndOfTheStep) {
  std::mt19937 rng(3);
  auto world = MakeWorld();
  const int parent = world->AddBody("palm", Lump(0.3), {}).value();
  const int child =
      world
          ->AddBody("finger", Lump(0.1), {geometry::Exp<double>(Vec3(0.3, 0.2, -0.5)), {0.1, 0, 0}})
          .value();
  const Mat3 R_WJ = geometry::Exp<double>(Vec3(-0.2, 0.7, 0.1));
  const int joint = world->AddBall({"knuckle", parent, child, {0.08, 0.01, 0}, R_WJ}).value();
  const Mat3 R_CJc = world->X_WB(child).R.transpose() * R_WJ;
  ASSERT_TRUE(world->SetVelocity(parent, {1.0, -2.0, 0.5}, {0.1, 0.2, 0.3}));
  double first_order = 0;
  for (int i = 0; i < 300; ++i) {
    const double h = i < 150 ? 1e-3 : 3e-3;
    BallDrive drive{.target_R = geometry::Exp<double>(testing::RandomVector(rng, 0.8)),
                    .target_rate_rad_per_s = testing::RandomVector(rng, 5.0),
                    .stiffness_Nm_per_rad = RandomSpd(rng, 0.5),
                    .damping_Nms_per_rad = RandomSpd(rng, 0.01)};
    ASSERT_TRUE(world->SetBallDrive(joint, drive));
    const Mat3 R0 = world->R_JpJc(joint), R_WJc0 = world->X_WB(child).R * R_CJc;
    ASSERT_TRUE(world->Step(h));
    const Vec3 omega = R_WJc0.transpose() * (world->omega_W(child) - world->omega_W(parent));
    const Vec3 damper = drive.damping_Nms_per_rad * (drive.target_rate_rad_per_s - omega);
    const Vec3 torque = R_WJc0.transpose() * world->joint_reading(joint).t_onChild_W;
    const Vec3 predicted = geometry::Log(R0.transpose() * drive.target_R) - h * omega;
    EXPECT_LT((torque - drive.stiffness_Nm_per_rad * predicted - damper).norm(), 1e-9) << i;
    const Vec3 end = geometry::Log(world->R_JpJc(joint).transpose() * drive.target_R);
    first_order = std::max(first_order, (end - predicted).norm() / (h * omega.norm() * end.norm()));
  }
  // Exact where the turn is about the error's axis; else off by half of their cross product.
  EXPECT_LT(first_order, 0.6);
}

// With K and B in proportion to the inertia every axis is the same oscillator e'' = -k e - b e',
// whatever the shape of the body.
double WorstFromOscillator(double h) {
  auto world = MakeWorld();
  const MassProperties mass = Lump(0.1);
  const int body = world->AddBody("finger", mass, {}).value();
  const int joint = world->AddBall({"knuckle", kFixedBody, body, {0, 0, 0}}).value();
  const double k = 400, b = 12;
  const Vec3 start(1e-4, -2e-4, 1.5e-4);  // gyroscopic torques are of second order
  EXPECT_TRUE(world->SetBallDrive(joint, BallDrive::OfInertia(InertiaAboutOrigin(mass), k, b)));
  EXPECT_TRUE(world->SetPose(body, {geometry::Exp<double>(start), Vec3::Zero()}));
  const double sigma = b / 2, w = std::sqrt(k - sigma * sigma);
  double worst = 0;
  for (int i = 1; i * h <= 0.4; ++i) {
    EXPECT_TRUE(world->Step(h));
    const double t = i * h;
    const Vec3 e = start * std::exp(-sigma * t) * (std::cos(w * t) + sigma / w * std::sin(w * t));
    worst = std::max(worst, (geometry::Log(world->R_JpJc(joint)) - e).norm() / start.norm());
  }
  return worst;
}

TEST(BallDrive, IsTheAnalyticOscillator) {
  const double coarse = WorstFromOscillator(4e-4), fine = WorstFromOscillator(1e-4);
  EXPECT_LT(fine, 0.005);
  EXPECT_NEAR(coarse / fine, 4.0, 0.2);  // of first order in the step
}

TEST(BallDrive, StiffGainsStandLargeSteps) {
  for (const Stepper stepper : {Stepper::kExact, Stepper::kQuick}) {
    auto world = MakeWorld({0, 0, -9.81}, stepper);
    const MassProperties mass = Lump(0.01);
    const int body = world->AddBody("tip", mass, {}).value();
    const int joint = world->AddBall({"knuckle", kFixedBody, body, {0, 0, 0}}).value();
    const Mat3 target = geometry::Exp<double>(Vec3(0.4, -1.0, 0.6));
    BallDrive drive = BallDrive::OfInertia(InertiaAboutOrigin(mass), 4e5, 2e3);
    drive.target_R = target;
    ASSERT_TRUE(world->SetBallDrive(joint, drive));
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(world->Step(4e-3));
    EXPECT_LT(geometry::Log(world->R_JpJc(joint).transpose() * target).norm(), 0.02);
    EXPECT_LT(world->omega_W(body).norm(), 1e-6);
    world->ClearDrive(joint);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(world->Step(4e-3));
    EXPECT_GT(world->omega_W(body).norm(), 1.0);  // it falls
  }
}

TEST(BallDrive, BadOnesAreRefusedByName) {
  auto world = MakeWorld();
  const int body = world->AddBody("tip", Lump(0.01), {}).value();
  const int joint = world->AddBall({"knuckle", kFixedBody, body, {0, 0, 0}}).value();
  const BallDrive good{.stiffness_Nm_per_rad = Mat3::Identity()};
  ASSERT_TRUE(world->SetBallDrive(joint, good));
  std::vector<BallDrive> bad(7, good);
  bad[0].target_R *= 2;
  bad[1].target_R(0, 0) = std::nan("");
  bad[2].target_rate_rad_per_s.x() = HUGE_VAL;
  bad[3].stiffness_Nm_per_rad(0, 1) = 0.5;                       // not symmetric
  bad[4].stiffness_Nm_per_rad = Vec3(1, 1, -1e-6).asDiagonal();  // not definite
  bad[5].damping_Nms_per_rad = Vec3(1, -1e-6, 1).asDiagonal();   // drives instead of damping
  bad[6].stiffness_Nm_per_rad = Mat3::Zero();
  for (size_t i = 0; i < bad.size(); ++i) {
    const Status refused = world->SetBallDrive(joint, bad[i]);
    ASSERT_FALSE(refused) << i;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("knuckle"));
  }
  EXPECT_FALSE(world->SetBallLimits(joint, {0, 0.2, 0}, {0, 0.1, 0}));
  EXPECT_FALSE(world->SetBallLimits(joint, {0, std::nan(""), 0}, {0, 0.1, 0}));
  EXPECT_FALSE(world->SetBallLimits(joint, {0, 3.2, 0}, {0, 3.3, 0}));
  EXPECT_FALSE(world->SetBallLimits(joint, {-HUGE_VAL, 0, 0}, {-HUGE_VAL, 0, 0}));
  EXPECT_TRUE(world->SetBallLimits(joint, {-HUGE_VAL, -0.1, -4}, {HUGE_VAL, 0.1, 4}));
  EXPECT_FALSE(world->AddJointTorque(joint, {0, std::nan(""), 0}));
  EXPECT_TRUE(world->Step(1e-3));
}

TEST(JointTorque, TurnsTheChildForwardsAndTheParentBack) {
  auto world = MakeWorld();
  const int parent = world->AddBody("palm", Lump(0.3), {}).value();
  const int child = world->AddBody("finger", Lump(0.1), {}).value();
  const int joint = world->AddBall({"knuckle", parent, child, {0, 0, 0}}).value();
  const Vec3 torque(0.01, -0.02, 0.03);
  const double h = 1e-4;
  ASSERT_TRUE(world->AddJointTorque(joint, torque));
  ASSERT_TRUE(world->Step(h));
  // What each body gained beyond the joint's force is the torque, with its sign.
  const Vec3 f = world->joint_reading(joint).f_onChild_W;
  for (const auto& [body, sign] : {std::pair{child, 1.0}, std::pair{parent, -1.0}}) {
    const MassProperties m = body == child ? Lump(0.1) : Lump(0.3);
    const Vec3 gained = m.I_BCom_B * world->omega_W(body) / h;
    const Vec3 arm = -m.p_BCom;
    EXPECT_LT((gained - sign * (torque + arm.cross(f))).norm(), 1e-9);
  }
  const Vec3 spin = world->omega_W(child);
  ASSERT_TRUE(world->Step(h));  // for one step only
  EXPECT_LT((world->omega_W(child) - spin).norm(), 0.01 * spin.norm());
}

TEST(Limits, HoldUnderADriveOnHingeAndUniversal) {
  for (const Stepper stepper : {Stepper::kExact, Stepper::kQuick}) {
    auto world = MakeWorld({0, 0, -9.81}, stepper);
    const int a = world->AddBody("a", Lump(0.1), {}).value();
    const int b =
        world->AddBody("b", Lump(0.05), RigidTransform::Translation({0.05, 0, 0})).value();
    const int hinge = world->AddHinge({"hinge", kFixedBody, a, {0, 0, 0}, Vec3::UnitY()}).value();
    const int uni =
        world->AddUniversal({"uni", a, b, {0.05, 0, 0}, Vec3::UnitY(), Vec3::UnitZ()}).value();
    ASSERT_TRUE(world->SetLimits(hinge, 0, -0.2, 0.5));
    ASSERT_TRUE(world->SetLimits(uni, 0, -0.1, 0.8));
    ASSERT_TRUE(world->SetLimits(uni, 1, -0.3, 0.3));
    const double lower[3] = {-0.2, -0.1, -0.3}, upper[3] = {0.5, 0.8, 0.3};
    double outside = 0, inside = 0;
    for (int i = 0; i < 2000; ++i) {
      const double sign = (i / 250) % 2 == 0 ? 1.0 : -1.0;  // pulled a radian beyond either end
      ASSERT_TRUE(world->SetDrive(hinge, 0, {sign * 1.5, 0, 5.0, 0.05}));
      ASSERT_TRUE(world->SetDrive(uni, 0, {sign * 1.8, 0, 2.0, 0.01}));
      ASSERT_TRUE(world->SetDrive(uni, 1, {-sign * 1.3, 0, 2.0, 0.01}));
      ASSERT_TRUE(world->Step(2e-3));
      const double q[3] = {world->angle_rad(hinge), world->angle_rad(uni, 0),
                           world->angle_rad(uni, 1)};
      for (int k = 0; k < 3; ++k) {
        outside = std::max({outside, lower[k] - q[k], q[k] - upper[k]});
        inside = std::max(inside, std::min(q[k] - lower[k], upper[k] - q[k]));
      }
    }
    EXPECT_LT(outside, 0.1 * kDeg) << static_cast<int>(stepper);
    EXPECT_GT(inside, 0.2);  // it did travel from end to end
  }
}

TEST(Limits, HoldUnderADriveOnABall) {
  std::mt19937 rng(5);
  const Vec3 lower = Vec3(-10, -45, -20) * kDeg, upper = Vec3(10, 90, 20) * kDeg;
  for (const Stepper stepper : {Stepper::kExact, Stepper::kQuick}) {
    auto world = MakeWorld({0, 0, -9.81}, stepper);
    const MassProperties mass = Lump(0.02);
    const int body = world->AddBody("finger", mass, {}).value();
    const int joint =
        world
            ->AddBall(
                {"knuckle", kFixedBody, body, {0, 0, 0}, geometry::Exp<double>(Vec3(1, 2, 3))})
            .value();
    ASSERT_TRUE(world->SetBallLimits(joint, lower, upper));
    double worst = -1, spread = 0, pressed = 0;
    for (int i = 0; i < 3000; ++i) {
      if (i % 150 == 0) {
        BallDrive drive = BallDrive::OfInertia(InertiaAboutOrigin(mass), 4000, 316);
        drive.target_R = geometry::Exp<double>(2.0 * testing::RandomDirection(rng));
        ASSERT_TRUE(world->SetBallDrive(joint, drive));
      }
      ASSERT_TRUE(world->Step(2e-3));
      const double outside = testing::OutsideBallLimits(world->R_JpJc(joint), lower, upper);
      worst = std::max(worst, outside);
      pressed += outside > -0.01 * kDeg;
      spread = std::max(spread, geometry::Log(world->R_JpJc(joint)).norm());
    }
    EXPECT_LT(worst, 0.1 * kDeg) << static_cast<int>(stepper);
    EXPECT_GT(pressed, 1000);  // it stood at its limits much of the time
    EXPECT_GT(spread, 0.7);
  }
}

TEST(Limits, ABallThatBeginsOutsideComesBackAndIsNotThrown) {
  auto world = MakeWorld();
  const int body = world->AddBody("finger", Lump(0.02), {}).value();
  const int joint = world->AddBall({"knuckle", kFixedBody, body, {0, 0, 0}}).value();
  const Vec3 bound(0.1, 0.2, 0.3);
  ASSERT_TRUE(world->SetBallLimits(joint, -bound, bound));
  ASSERT_TRUE(world->SetPose(body, {geometry::Exp<double>(Vec3(0.5, 0.9, -0.4)), Vec3::Zero()}));
  double fastest = 0;
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(world->Step(2e-3));
    fastest = std::max(fastest, world->omega_W(body).norm());
  }
  EXPECT_LT(testing::OutsideBallLimits(world->R_JpJc(joint), -bound, bound), 0.1 * kDeg);
  EXPECT_LT(fastest, 30.0);
}

TEST(SoftRoot, PullsByItsSpringsAndFollowsItsTarget) {
  auto world = MakeWorld({0, 0, -9.81});
  const MassProperties mass = Lump(0.4);
  const int body = world->AddBody("palm", mass, {}).value();
  const RigidTransform X_BF{geometry::Exp<double>(Vec3(0.1, 0.2, -0.4)), {0.02, -0.03, 0.01}};
  const int root = world->AddSoftRoot({"wrist", body, X_BF}).value();
  ASSERT_TRUE(world->Step(1e-3));
  EXPECT_EQ(world->joint_reading(root).f_onChild_W, Vec3::Zero());  // nothing until it is set
  const double k = 800, b = 30, h = 2e-3;
  SoftRootDrive drive{.stiffness_N_per_m = k, .damping_Ns_per_m = b};
  drive.stiffness_Nm_per_rad = Vec3(3, 4, 5).asDiagonal();
  drive.damping_Nms_per_rad = Vec3(0.1, 0.1, 0.2).asDiagonal();
  const auto frame = [&] { return world->X_WB(body) * X_BF; };
  for (int i = 0; i < 2000; ++i) {
    const double t = world->time_s() + h, s = std::min(1.0, t / 2.0);
    drive.X_WF = RigidTransform{geometry::AxisAngle<double>(Vec3::UnitX(), 0.6 * s),
                                Vec3(0.1, 0.2, 0.3) * s} *
                 X_BF;
    drive.omega_W = s < 1 ? Vec3(0.3, 0, 0) : Vec3(0, 0, 0);
    drive.v_W = s < 1 ? Vec3(Vec3(0.05, 0.1, 0.15) +
                             drive.omega_W.cross(drive.X_WF.p - Vec3(0.1, 0.2, 0.3) * s))
                      : Vec3(0, 0, 0);
    ASSERT_TRUE(world->SetSoftRoot(root, drive));
    ASSERT_TRUE(world->Step(h));
    const Vec3 law =
        -k * (frame().p - drive.X_WF.p) - b * (world->PointVelocity(body, frame().p) - drive.v_W);
    ASSERT_LT((world->joint_reading(root).f_onChild_W - law).norm(), i < 100 ? 0.1 : 5e-3) << i;
  }
  // At rest it hangs by its weight; about F the weight's moment is the rotational springs'.
  EXPECT_NEAR(frame().p.z() - drive.X_WF.p.z(), -mass.mass_kg * 9.81 / k, 1e-6);
  const Vec3 moment = (world->com_W(body) - frame().p).cross(Vec3(0, 0, -mass.mass_kg * 9.81));
  const Vec3 e = geometry::Log(frame().R.transpose() * drive.X_WF.R);
  EXPECT_LT((frame().R * (drive.stiffness_Nm_per_rad * e) + moment).norm(), 1e-6);
  EXPECT_GT(moment.norm(), 0.05);
}

TEST(Kinematic, ABodyEndsWhereItWasToldAndCarriesWhatHangsOnIt) {
  auto world = MakeWorld();
  const int palm = world->AddBody("palm", Lump(0.4), {}).value();
  const int finger = world->AddBody("finger", Lump(0.02), {}).value();
  const int joint = world->AddBall({"knuckle", palm, finger, {0.05, 0, 0}}).value();
  ASSERT_TRUE(world->SetBallDrive(joint, {.stiffness_Nm_per_rad = 50 * Mat3::Identity(),
                                          .damping_Nms_per_rad = 0.5 * Mat3::Identity()}));
  ASSERT_TRUE(world->SetKinematic(palm, true));
  EXPECT_TRUE(world->kinematic(palm));
  RigidTransform X;
  double drift = 0;
  for (int i = 1; i <= 500; ++i) {
    const double t = i * 2e-3;
    X = {geometry::Exp<double>(Vec3(2 * t, -t, 0.5 * t)), {0.3 * t, 0.1 * t * t, 0}};
    ASSERT_TRUE(world->MoveTo(palm, X));
    ASSERT_TRUE(world->AddForce(palm, {100, 100, 100}, {0, 0, 0}));  // forces do nothing
    ASSERT_TRUE(world->Step(2e-3));
    ASSERT_LT((world->X_WB(palm).R - X.R).norm(), 1e-12);
    ASSERT_LT((world->X_WB(palm).p - X.p).norm(), 1e-12);
    drift = std::max(drift, world->drift_m(joint));
  }
  EXPECT_LT(drift, 2e-5);
  EXPECT_LT(geometry::Log(world->R_JpJc(joint)).norm(), 0.05);
  EXPECT_NEAR(world->v_W(palm).x(), 0.3, 1e-2);
  ASSERT_TRUE(world->Step(2e-3));  // not told where to: it rests
  EXPECT_LT((world->X_WB(palm).p - X.p).norm(), 1e-12);
  EXPECT_EQ(world->omega_W(palm), Vec3::Zero());
  const Status far = [&] {
    EXPECT_TRUE(world->MoveTo(palm, RigidTransform::Translation({1e3, 0, 0})));
    return world->Step(2e-3);
  }();
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(far.error().message, ::testing::HasSubstr("palm"));
  ASSERT_TRUE(world->SetKinematic(palm, false));
  ASSERT_TRUE(world->AddForce(palm, {1, 0, 0}, world->com_W(palm)));
  ASSERT_TRUE(world->Step(2e-3));
  EXPECT_GT(world->v_W(palm).norm(), 1e-3);  // a body among others again
}

}  // namespace
}  // namespace handhold::synthesis::drive_test

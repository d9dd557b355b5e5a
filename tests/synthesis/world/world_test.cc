// The engine behind its wrapper, against mechanics worked out by hand: momentum, springs, Coulomb,
// and bad input.
#include "synthesis/world/world.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <thread>

namespace handhold::synthesis::world_test {
namespace {

using geometry::MassProperties;
using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kG = 9.81;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::unique_ptr<World> MakeWorld(const Vec3& gravity = {0, 0, -kG}) {
  return std::move(World::Create({.gravity_W = gravity})).value();
}

MassProperties SphereMass(double m, double r) {
  return {m, Vec3::Zero(), Mat3::Identity() * (0.4 * m * r * r)};
}
MassProperties RodMass(double m, double length, double r) {
  const double along = 0.5 * m * r * r, across = m * length * length / 12 + m * r * r / 4;
  return {m, {length / 2, 0, 0}, Vec3(along, across, across).asDiagonal()};
}

// A finger of four rods along +X with axes that are not parallel; flexion turns about about +Y,
// down.
struct Finger {
  std::unique_ptr<World> world;
  std::vector<int> bodies, joints;
  Eigen::Vector4d compliance, time_constant;
  static constexpr double kLengths[4] = {0.080, 0.045, 0.026, 0.020};

  explicit Finger(double time_constant_s = 0.014)
      : world(MakeWorld()),
        compliance(0.3488, 0.9882, 0.6715, 2.0052),
        time_constant(Eigen::Vector4d::Constant(time_constant_s)) {
    const double masses[4] = {0.1225, 0.00875, 0.0042, 0.0021},
                 radii[4] = {0.015, 0.008, 0.0075, 0.006};
    double x = 0;
    for (int i = 0; i < 4; ++i) {
      const Vec3 axis = Vec3(0.05 * (i - 1.5), 1.0, 0.03 * i).normalized();
      bodies.push_back(world
                           ->AddBody("rod" + std::to_string(i),
                                     RodMass(masses[i], kLengths[i], radii[i]),
                                     RigidTransform::Translation({x, 0, 0}))
                           .value());
      joints.push_back(world
                           ->AddHinge({"hinge" + std::to_string(i),
                                       i == 0 ? kFixedBody : bodies[i - 1],
                                       bodies[i],
                                       {x, 0, 0},
                                       axis})
                           .value());
      x += kLengths[i];
    }
  }
  void Drive(const Eigen::Vector4d& target, const Eigen::Vector4d& rate = Eigen::Vector4d::Zero()) {
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(world->SetDrive(
          joints[i], 0, {target[i], rate[i], 1 / compliance[i], time_constant[i] / compliance[i]}));
    }
  }
  Eigen::Vector4d Angles() const {
    Eigen::Vector4d q;
    for (int i = 0; i < 4; ++i) q[i] = world->angle_rad(joints[i]);
    return q;
  }
  Vec3 Tip() const { return world->X_WB(bodies[3]) * Vec3(0.014, 0, 0); }
  // Column j: velocity of the point per unit rate of joint j, from the engine's own anchors and
  // axes.
  Eigen::Matrix<double, 3, 4> Jacobian(const Vec3& p_W) const {
    Eigen::Matrix<double, 3, 4> J;
    for (int i = 0; i < 4; ++i)
      J.col(i) = world->axis_W(joints[i]).cross(p_W - world->anchor_W(joints[i]));
    return J;
  }
  // Torques that hold the rods against gravity.
  Eigen::Vector4d GravityTorque() const {
    Eigen::Vector4d tau = Eigen::Vector4d::Zero();
    for (int j = 0; j < 4; ++j) {
      for (int b = j; b < 4; ++b) {
        const Vec3 arm = world->com_W(bodies[b]) - world->anchor_W(joints[j]);
        tau[j] -=
            world->axis_W(joints[j]).dot(arm.cross(Vec3(0, 0, -kG * world->mass_kg(bodies[b]))));
      }
    }
    return tau;
  }
};

TEST(Drive, TorqueIsTheSpringAndDamperAtTheEndOfTheStep) {
  auto world = MakeWorld({0, 0, 0});
  const int body = world->AddBody("rod", RodMass(0.1, 0.1, 0.01), {}).value();
  const Vec3 axis = Vec3(0.1, 1, -0.2).normalized();
  const int joint = world->AddHinge({"hinge", kFixedBody, body, {0, 0, 0}, axis}).value();
  const double k = 2.5, b = 0.03;
  for (int i = 0; i < 400; ++i) {
    const double h = i < 200 ? 1e-4 : 7e-4;  // ERP and CFM follow a change of step
    const double t = world->time_s() + h;
    const double target = 0.4 * std::sin(30 * t), rate = 12 * std::cos(30 * t);
    ASSERT_TRUE(world->SetDrive(joint, 0, {target, rate, k, b}));
    ASSERT_TRUE(world->Step(h));
    const double torque = world->joint_reading(joint).t_onChild_W.dot(axis);
    const double expected =
        -k * (world->angle_rad(joint) - target) - b * (world->rate_rad_per_s(joint) - rate);
    ASSERT_NEAR(torque, expected, 1e-6 * k) << "step " << i;
  }
}

TEST(Drive, PositiveAngleTurnsTheChildByTheRightHandRule) {
  auto world = MakeWorld({0, 0, 0});
  const int body = world->AddBody("rod", RodMass(0.1, 0.1, 0.01), {}).value();
  const int joint = world->AddHinge({"hinge", kFixedBody, body, {0, 0, 0}, Vec3::UnitY()}).value();
  ASSERT_TRUE(world->SetDrive(joint, 0, {0.5, 0, 50, 0.5}));
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(world->Step(1e-3));
  EXPECT_NEAR(world->angle_rad(joint), 0.5, 1e-9);
  EXPECT_LT((world->X_WB(body).R - geometry::AxisAngle<double>(Vec3::UnitY(), 0.5)).norm(), 1e-8);
  EXPECT_LT((world->X_WB(body) * Vec3(0.1, 0, 0)).z(), -0.04);  // +Y takes +X down
}

TEST(Drive, TargetsJumpBothWaysWithoutGoingLimp) {
  auto world = MakeWorld({0, 0, 0});
  const int body = world->AddBody("rod", RodMass(0.1, 0.1, 0.01), {}).value();
  const int joint = world->AddHinge({"hinge", kFixedBody, body, {0, 0, 0}, Vec3::UnitY()}).value();
  for (const double target : {1.0, -1.0, 2.9, -2.9, 0.3, 0.2, 0.25}) {
    ASSERT_TRUE(world->SetDrive(joint, 0, {target, 0, 200, 2}));
    for (int i = 0; i < 1500; ++i) ASSERT_TRUE(world->Step(1e-3));
    EXPECT_NEAR(world->angle_rad(joint), target, 1e-9);
  }
}

TEST(Chain, StaticPushDeflectsByComplianceTimesTorqueAtTheDeflectedPosture) {
  Finger finger;
  const Eigen::Vector4d target(0.05, 0.4, 0.5, 0.3);
  finger.Drive(target);
  const Vec3 f(0.3, 0.05, 0.8);
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(finger.world->AddForce(finger.bodies[3], f, finger.Tip()));
    ASSERT_TRUE(finger.world->Step(1e-4));
  }
  const Eigen::Vector4d tau =
      finger.Jacobian(finger.Tip()).transpose() * f - finger.GravityTorque();
  const Eigen::Vector4d delta = finger.Angles() - target;
  EXPECT_LT((delta - finger.compliance.cwiseProduct(tau)).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_GT(delta.cwiseAbs().minCoeff(), 1e-3);  // every joint did deflect
  EXPECT_GT(-delta[1], 0.0);                     // pressed from below, the knuckle extends
}

TEST(Chain, MomentumBalancesWithTheWristAndTheContact) {
  Finger finger;
  ASSERT_TRUE(finger.world->AddCollider({.name = "tip",
                                         .body = finger.bodies[3],
                                         .X_BS = RigidTransform::Translation({0.014, 0, 0}),
                                         .shape = geometry::Sphere{0.006},
                                         .mask = ColliderMask::Hand()}));
  ASSERT_TRUE(finger.world->AddCollider({.name = "plate",
                                         .X_BS = RigidTransform::Translation({0.1, 0, -0.055}),
                                         .shape = geometry::Box{{0.4, 0.4, 0.02}},
                                         .law = ContactLaw{5000, 4, 0.5}}));
  double worst = 0, drift = 0, peak = 0, law = 0;
  for (int i = 0; i < 5000; ++i) {
    const double t = finger.world->time_s() + 1e-4;
    const Eigen::Vector4d amplitude(0.1, 0.5, 0.5, 0.3);
    const double s = 0.5 - 0.5 * std::cos(14 * t), rate = 7 * std::sin(14 * t);
    finger.Drive(Eigen::Vector4d(amplitude * s), Eigen::Vector4d(amplitude * rate));
    Vec3 before = Vec3::Zero(), after = Vec3::Zero(), force = Vec3::Zero();
    for (const int b : finger.bodies)
      before += finger.world->mass_kg(b) * finger.world->PointVelocity(b, finger.world->com_W(b));
    ASSERT_TRUE(finger.world->Step(1e-4));
    for (const int b : finger.bodies) {
      after += finger.world->mass_kg(b) * finger.world->PointVelocity(b, finger.world->com_W(b));
      force.z() -= finger.world->mass_kg(b) * kG;
    }
    force += finger.world->joint_reading(finger.joints[0]).f_onChild_W;
    for (const ContactReading& c : finger.world->contacts()) {
      force += c.f_onA_W;
      peak = std::max(peak, c.normal_force_N());
      ASSERT_EQ(c.body_a, finger.bodies[3]);
      ASSERT_GE(c.normal_force_N(), 0.0);
      // The plate's spring and damper, with penetration and speed at the end of the step (plate top
      // at z = -0.045).
      const double depth = -0.045 - (finger.Tip().z() - 0.006);
      const double speed = finger.world->PointVelocity(finger.bodies[3], c.p_W).z();
      if (c.normal_force_N() > 0)
        law = std::max(law, std::abs(c.normal_force_N() - (5000 * depth - 4 * speed)));
    }
    worst = std::max(worst, ((after - before) / 1e-4 - force).norm());
    for (const int j : finger.joints) drift = std::max(drift, finger.world->drift_m(j));
  }
  EXPECT_LT(worst, 1e-11);
  EXPECT_LT(drift, 1e-7);
  EXPECT_GT(peak, 0.3);
  EXPECT_LT(law, 1e-3);  // the contact's lever moves within the step; the law itself is pinned by
                         // RestingSphere
  EXPECT_TRUE(finger.world->warnings().empty());
}

TEST(Chain, RunsRepeatToTheBit) {
  Eigen::Vector4d ends[2];
  for (Eigen::Vector4d& end : ends) {
    Finger finger;
    ASSERT_TRUE(finger.world->AddCollider({.name = "tip",
                                           .body = finger.bodies[3],
                                           .X_BS = RigidTransform::Translation({0.014, 0, 0}),
                                           .shape = geometry::Sphere{0.006},
                                           .mask = ColliderMask::Hand()}));
    ASSERT_TRUE(finger.world->AddCollider({.name = "plate",
                                           .X_BS = RigidTransform::Translation({0.1, 0, -0.055}),
                                           .shape = geometry::Box{{0.4, 0.4, 0.02}}}));
    finger.Drive({0.1, 0.5, 0.5, 0.3});
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(finger.world->Step(1e-4));
    end = finger.Angles();
  }
  EXPECT_EQ(ends[0], ends[1]);
}

// Drops a sphere on a plate made by `plate`; returns the heights of its centre.
struct Drop {
  std::vector<double> z, force;
  double rest_force = 0;
};
Drop DropSphere(const ColliderSpec& plate, bool by_generator = false) {
  auto world = MakeWorld();
  const double r = 0.02, m = 0.05;
  const int ball =
      world
          ->AddBody("ball", SphereMass(m, r), RigidTransform::Translation({0.003, 0.002, r + 0.01}))
          .value();
  if (!by_generator) {
    EXPECT_TRUE(world->AddCollider({.name = "ball", .body = ball, .shape = geometry::Sphere{r}}));
    EXPECT_TRUE(world->AddCollider(plate));
  }
  const ContactGenerator generator = [&](const World& w, std::vector<ContactCandidate>* out) {
    const Vec3 p = w.X_WB(ball).p;
    out->push_back({.body_a = ball,
                    .feature = 7,
                    .p_W = p - Vec3(0, 0, r),
                    .depth_m = r - p.z(),
                    .law = *plate.law});
  };
  Drop drop;
  for (int i = 0; i < 10000; ++i) {
    EXPECT_TRUE(world->Step(1e-4, by_generator ? generator : nullptr));
    drop.z.push_back(world->X_WB(ball).p.z());
    double force = 0;
    for (const ContactReading& c : world->contacts()) {
      EXPECT_EQ(c.body_a, ball);
      force += c.normal_force_N();
    }
    drop.force.push_back(force);
  }
  drop.rest_force = drop.force.back();
  return drop;
}
ColliderSpec BoxPlate() {
  return {.name = "plate",
          .X_BS = RigidTransform::Translation({0, 0, -0.01}),
          .shape = geometry::Box{{0.3, 0.3, 0.02}},
          .law = ContactLaw{5000, 4, 0.5}};
}

TEST(Contact, RestingSphereSinksByItsWeightOverTheStiffness) {
  const Drop drop = DropSphere(BoxPlate());
  EXPECT_NEAR(drop.rest_force, 0.05 * kG, 1e-9);
  EXPECT_NEAR(0.02 - drop.z.back(), 0.05 * kG / 5000, 1e-11);
  // First touch: free fall from 10 mm, then the damped spring m z'' = -k z - b z' - m g, which it
  // must leave by itself.
  const double touch = std::sqrt(2 * 0.01 / kG);
  const size_t first = static_cast<size_t>(
      std::find_if(drop.force.begin(), drop.force.end(), [](double f) { return f > 0; }) -
      drop.force.begin());
  EXPECT_NEAR(static_cast<double>(first) * 1e-4, touch, 2.5e-4);
  const double omega = std::sqrt(5000 / 0.05 - std::pow(4 / 0.1, 2)), sigma = 4 / 0.1,
               g_sink = 0.05 * kG / 5000;
  const double v0 = -std::sqrt(2 * kG * 0.01);
  double worst = 0;
  for (int i = 0; i < 60; ++i) {  // 6 ms of the 10 ms that the half wave takes
    const double t = (static_cast<double>(first) + i + 1) * 1e-4 - touch;
    const double a = g_sink, b = (v0 + sigma * a) / omega;
    const double z =
        std::exp(-sigma * t) * (a * std::cos(omega * t) + b * std::sin(omega * t)) - g_sink;
    worst = std::max(worst, std::abs(drop.z[first + static_cast<size_t>(i)] - 0.02 - z));
  }
  EXPECT_LT(worst, 5e-5);  // of 1.2 mm: first-order in the step
  EXPECT_THAT(drop.force, ::testing::Each(::testing::Ge(0.0)));
}

TEST(Contact, MeshPlateAndGeneratedContactsActLikeTheBox) {
  const Drop box = DropSphere(BoxPlate());
  geometry::Mesh mesh;
  for (const double x : {-0.15, 0.15}) {
    for (const double y : {-0.15, 0.15}) {
      for (const double z : {-0.01, 0.01}) mesh.vertices.push_back({x, y, z});
    }
  }
  mesh.triangles = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                    {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
  ColliderSpec mesh_plate = BoxPlate();
  mesh_plate.shape = geometry::MakeTriangleMesh(mesh).value();
  const Drop by_mesh = DropSphere(mesh_plate);
  const Drop by_generator = DropSphere(BoxPlate(), true);
  for (size_t i = 0; i < box.z.size(); ++i) {
    ASSERT_NEAR(by_mesh.z[i], box.z[i], 1e-7) << i;
    ASSERT_NEAR(by_generator.z[i], box.z[i], 1e-9) << i;
  }
}

TEST(Contact, SphereOnALyingCylinderHasTheAnalyticDepthAndNormal) {
  auto world = MakeWorld({0, 0, 0});
  const double r = 0.006, big = 0.052;
  const int ball = world->AddBody("tip", SphereMass(0.01, r), {}).value();
  ASSERT_TRUE(world->AddCollider(
      {.name = "tip", .body = ball, .shape = geometry::Sphere{r}, .mask = ColliderMask::Hand()}));
  const Mat3 lying = geometry::AxisAngle<double>(Vec3::UnitX(), std::numbers::pi / 2);  // its axis
                                                                                        // along Y
  ASSERT_TRUE(world->AddCollider({.name = "bump",
                                  .X_BS = {lying, {0, 0, -0.048}},
                                  .shape = geometry::Cylinder{big, 0.2},
                                  .law = ContactLaw{5000, 0, 0}}));
  for (const double angle : {-0.35, -0.1, 0.0, 0.2, 0.38}) {
    const double depth = 2e-4;
    const Vec3 outward(std::sin(angle), 0, std::cos(angle));
    ASSERT_TRUE(world->SetPose(
        ball, RigidTransform::Translation(Vec3(0, 0, -0.048) + (big + r - depth) * outward)));
    ASSERT_TRUE(world->SetVelocity(ball, Vec3::Zero(), Vec3::Zero()));
    ASSERT_TRUE(world->Step(1e-4));
    ASSERT_EQ(world->contacts().size(), 1u);
    EXPECT_NEAR(world->contacts()[0].depth_m, depth, 1e-12);
    EXPECT_LT((world->contacts()[0].normal_W - outward).norm(), 1e-12);
  }
}

// Speed of a block sliding on the plate after half a second.
double SlideSpeed(const Vec3& direction, double mu, double v0, const Vec3& gravity = {0, 0, -kG},
                  double seconds = 0.1) {
  auto world = MakeWorld(gravity);
  const double m = 0.2;
  const MassProperties mass{m, Vec3::Zero(), Vec3(m * 5e-4, m * 5e-4, m * 8e-4).asDiagonal()};
  const double sink = m * std::abs(gravity.z()) / (4 * 5000);
  const int block =
      world->AddBody("block", mass, RigidTransform::Translation({0, 0, 0.01 - sink})).value();
  EXPECT_TRUE(world->AddCollider(
      {.name = "block", .body = block, .shape = geometry::Box{{0.1, 0.1, 0.02}}}));
  EXPECT_TRUE(world->AddCollider({.name = "plate",
                                  .X_BS = RigidTransform::Translation({0, 0, -0.05}),
                                  .shape = geometry::Box{{4, 4, 0.1}},
                                  .law = ContactLaw{5000, 4, mu}}));
  EXPECT_TRUE(world->SetVelocity(block, Vec3::Zero(), v0 * direction));
  const int steps = static_cast<int>(std::lround(seconds / 1e-4));
  for (int i = 0; i < steps; ++i) EXPECT_TRUE(world->Step(1e-4));
  return world->PointVelocity(block, world->com_W(block)).dot(direction);
}

TEST(Friction, ASlidingBlockLosesMuGInEveryDirection) {
  for (const double degrees : {0.0, 20.0, 45.0, 90.0}) {
    const double a = degrees * std::numbers::pi / 180;
    const double lost = (1.0 - SlideSpeed({std::cos(a), std::sin(a), 0}, 0.5, 1.0)) / 0.1;
    EXPECT_NEAR(lost / (0.5 * kG), 1.0, 0.005) << degrees;  // an unaligned pyramid gives 1.414 at
                                                            // 45 degrees
  }
}

TEST(Friction, ASlidingBlockTurnsAsCoulombSays) {
  // Pushed sideways while it slides: friction opposes the velocity, whichever way that turns.
  const double mu = 0.5, push = 2.0, v0 = 1.0, seconds = 0.15;
  const Vec3 gravity(0, push, -kG);
  Vec3 v(v0, 0, 0);
  for (int i = 0; i < 150000; ++i)
    v += seconds / 150000 * (Vec3(0, push, 0) - mu * kG * v.normalized());
  EXPECT_GT(v.y(), 0.1);
  auto world = MakeWorld(gravity);
  const double m = 0.2, r = 0.02;
  // A sphere that cannot roll: its inertia is enormous.
  const int body = world
                       ->AddBody("slider", {m, Vec3::Zero(), Mat3::Identity() * 1e3},
                                 RigidTransform::Translation({0, 0, r - m * kG / 5000}))
                       .value();
  ASSERT_TRUE(world->AddCollider({.name = "slider", .body = body, .shape = geometry::Sphere{r}}));
  ASSERT_TRUE(world->AddCollider({.name = "plate",
                                  .X_BS = RigidTransform::Translation({0, 0, -0.05}),
                                  .shape = geometry::Box{{4, 4, 0.1}},
                                  .law = ContactLaw{5000, 4, mu}}));
  ASSERT_TRUE(world->SetVelocity(body, Vec3::Zero(), {v0, 0, 0}));
  double ratio = 0;
  for (int i = 0; i < 1500; ++i) {
    ASSERT_TRUE(world->Step(1e-4));
    for (const ContactReading& c : world->contacts())
      ratio = std::max(ratio, c.f_onA_W.head<2>().norm() / c.normal_force_N());
  }
  EXPECT_LT((world->v_W(body) - v).norm(), 0.005);
  EXPECT_LT(ratio, 1.035 * mu);
}

TEST(Friction, SticksBelowTheConeAndSlidesAboveIt) {
  // Gravity tilted by an angle whose tangent is a share of mu, diagonal to every axis of the block.
  const double mu = 0.5, a = 0.6;
  const Vec3 direction(std::cos(a), std::sin(a), 0);
  const auto speed = [&](double share, double seconds) {
    return SlideSpeed(direction, mu, 0.0, Vec3(0, 0, -kG) + share * mu * kG * direction, seconds);
  };
  EXPECT_LT(std::abs(speed(0.90, 0.3)), 0.002);
  // After the grip has been stretched.
  EXPECT_NEAR(speed(1.10, 0.3) - speed(1.10, 0.1), 0.10 * mu * kG * 0.2, 0.002);
}

TEST(Friction, AGripGivesSidewaysByTheForceOverTheStiffnessAndComesBack) {
  auto world = MakeWorld();
  const double m = 0.2, r = 0.02, k = 5000;
  const int body = world
                       ->AddBody("pressed", {m, Vec3::Zero(), Mat3::Identity() * 1e3},
                                 RigidTransform::Translation({0, 0, r - m * kG / k}))
                       .value();
  ASSERT_TRUE(world->AddCollider({.name = "pressed", .body = body, .shape = geometry::Sphere{r}}));
  ASSERT_TRUE(world->AddCollider({.name = "plate",
                                  .X_BS = RigidTransform::Translation({0, 0, -0.05}),
                                  .shape = geometry::Box{{4, 4, 0.1}},
                                  .law = ContactLaw{k, 40, 0.5}}));
  const Vec3 push(0.3, -0.4, 0);  // half of what friction holds
  const auto run = [&](const Vec3& force) {
    double slip = 0;
    for (int i = 0; i < 5000; ++i) {
      EXPECT_TRUE(world->AddForce(body, force, world->com_W(body)));
      EXPECT_TRUE(world->Step(1e-4));
      slip = std::max(slip, world->contacts()[0].slip_W.norm());
    }
    return slip;
  };
  const Vec3 start = world->com_W(body);
  run(push);  // its first step has no grip yet
  const Vec3 moved = world->com_W(body) - start;
  EXPECT_LT((moved - Vec3(push / k)).head<2>().norm(), 0.03 * push.norm() / k);
  EXPECT_LT((world->contacts()[0].f_onA_W.head<2>() + push.head<2>()).norm(), 1e-4);
  EXPECT_LT(run(Vec3::Zero()), 1e-9);
  EXPECT_LT((world->com_W(body) - start).head<2>().norm(), 0.03 * push.norm() / k);
}

TEST(Universal, AnglesAreThoseOfOurConvention) {
  auto world = MakeWorld({0, 0, 0});
  const int body = world->AddBody("rod", RodMass(0.1, 0.1, 0.01), {}).value();
  const Vec3 axis1 = Vec3(0.2, 1, 0.1).normalized();
  const Vec3 axis2 = axis1.cross(Vec3(1, 0.3, -0.2)).normalized();
  const int joint =
      world->AddUniversal({"knuckle", kFixedBody, body, {0, 0, 0}, axis1, axis2}).value();
  for (const auto& [a, b] :
       {std::pair{0.3, 0.0}, std::pair{0.0, 0.4}, std::pair{0.5, -0.7}, std::pair{-0.2, 0.6}}) {
    ASSERT_TRUE(world->SetPose(
        body, {geometry::AxisAngle<double>(axis1, a) * geometry::AxisAngle<double>(axis2, b),
               Vec3::Zero()}));
    EXPECT_NEAR(world->angle_rad(joint, 0), a, 1e-12);
    EXPECT_NEAR(world->angle_rad(joint, 1), b, 1e-12);
  }
  ASSERT_TRUE(world->SetPose(body, {}));
  ASSERT_TRUE(world->SetDrive(joint, 0, {0.4, 0, 50, 0.5}));
  ASSERT_TRUE(world->SetDrive(joint, 1, {-0.3, 0, 50, 0.5}));
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(world->Step(1e-3));
  EXPECT_NEAR(world->angle_rad(joint, 0), 0.4, 1e-8);
  EXPECT_NEAR(world->angle_rad(joint, 1), -0.3, 1e-8);
  const Mat3 R = geometry::AxisAngle<double>(axis1, 0.4) * geometry::AxisAngle<double>(axis2, -0.3);
  EXPECT_LT((world->X_WB(body).R - R).norm(), 1e-7);
}

TEST(BadInput, IsAnErrorThatNamesTheThing) {
  auto world = MakeWorld();
  EXPECT_FALSE(World::Create({.gravity_W = {0, kNaN, 0}}));
  const auto zero = world->AddBody("ghost", MassProperties{}, {});
  ASSERT_FALSE(zero);
  EXPECT_THAT(zero.error().message, ::testing::HasSubstr("ghost"));
  EXPECT_FALSE(world->AddBody("nan", SphereMass(kNaN, 0.1), {}));
  EXPECT_FALSE(world->AddBody("negative", SphereMass(-1, 0.1), {}));
  EXPECT_FALSE(world->AddBody("placed", SphereMass(1, 0.1), {2 * Mat3::Identity(), Vec3::Zero()}));
  EXPECT_FALSE(world->AddBody("placed", SphereMass(1, 0.1), {Mat3::Identity(), {kInf, 0, 0}}));
  const int body = world->AddBody("rod", RodMass(0.1, 0.1, 0.01), {}).value();
  EXPECT_FALSE(world->AddHinge({"self", body, body, {0, 0, 0}, Vec3::UnitY()}));
  EXPECT_FALSE(world->AddHinge({"long axis", kFixedBody, body, {0, 0, 0}, {0, 2, 0}}));
  EXPECT_FALSE(
      world->AddUniversal({"skew", kFixedBody, body, {0, 0, 0}, Vec3::UnitY(), Vec3(0, 0.6, 0.8)}));
  const int joint =
      world->AddHinge({"knuckle", kFixedBody, body, {0, 0, 0}, Vec3::UnitY()}).value();
  for (const JointDrive& bad :
       {JointDrive{kNaN, 0, 1, 1}, JointDrive{0, kInf, 1, 1}, JointDrive{0, 0, 0, 1},
        JointDrive{0, 0, -1, 1}, JointDrive{0, 0, 1, -1}, JointDrive{3.2, 0, 1, 0},
        JointDrive{3.0, 20.0, 1, 0.01}}) {
    const Status refused = world->SetDrive(joint, 0, bad);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("knuckle"));
  }
  EXPECT_FALSE(world->SetLimits(joint, 0, 0.2, 0.1));  // ODE itself would take it and let the joint
                                                       // hang limp
  EXPECT_FALSE(world->SetLimits(joint, 0, kNaN, 0.1));
  // Ranges that no angle of the engine lies in: it would say nothing and hold nothing.
  for (const auto& [lower, upper] : {std::pair{std::numbers::pi, 4.0},
                                     {-4.0, -std::numbers::pi},
                                     {kInf, kInf},
                                     {-kInf, -kInf}}) {
    EXPECT_EQ(world->SetLimits(joint, 0, lower, upper).error().code, ErrorCode::kInvalid);
  }
  EXPECT_TRUE(world->SetLimits(joint, 0, -kInf, kInf));
  EXPECT_TRUE(world->SetLimits(joint, 0, -4, 4));
  EXPECT_FALSE(world->AddCollider({.name = "flat", .shape = geometry::Sphere{0.0}}));
  EXPECT_FALSE(world->AddCollider(
      {.name = "soft", .shape = geometry::Sphere{0.1}, .law = ContactLaw{0, 1, 0.5}}));
  EXPECT_FALSE(world->AddForce(body, {kNaN, 0, 0}, {0, 0, 0}));
  EXPECT_FALSE(world->SetVelocity(body, {0, 0, 0}, {0, kInf, 0}));
  EXPECT_FALSE(world->Step(0.0));
  EXPECT_FALSE(world->Step(kNaN));
  EXPECT_FALSE(world->Step(1.0));
  const ContactGenerator bad = [&](const World&, std::vector<ContactCandidate>* out) {
    out->push_back({.body_a = body, .p_W = {kNaN, 0, 0}, .depth_m = 0.001});
  };
  EXPECT_FALSE(world->Step(1e-3, bad));
  for (const ContactLaw& law :
       {ContactLaw{.stiffness_N_per_m = kInf}, ContactLaw{.damping_Ns_per_m = kInf},
        ContactLaw{.friction = kInf}}) {
    const ContactGenerator infinite = [&](const World&, std::vector<ContactCandidate>* out) {
      out->push_back({.body_a = body, .depth_m = 0.001, .law = law});
    };
    const Status refused = world->Step(1e-3, infinite);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  }
  EXPECT_TRUE(world->Step(1e-3));  // none of it harmed the world
}

TEST(BadInput, LimitsHold) {
  auto world = MakeWorld();
  const int body = world->AddBody("rod", RodMass(0.1, 0.1, 0.01), {}).value();
  const int joint =
      world->AddHinge({"knuckle", kFixedBody, body, {0, 0, 0}, Vec3::UnitY()}).value();
  ASSERT_TRUE(world->SetLimits(joint, 0, -0.1, 0.7));
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(world->Step(1e-3));
  EXPECT_NEAR(world->angle_rad(joint), 0.7, 1e-3);  // it fell and hangs in its stop
}

TEST(Threads, ASecondThreadIsRefused) {
  auto here = MakeWorld();
  ErrorCode code = ErrorCode::kInvalid;
  std::thread([&] {
    const auto there = World::Create();
    if (!there) code = there.error().code;
  }).join();
  EXPECT_EQ(code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace handhold::synthesis::world_test

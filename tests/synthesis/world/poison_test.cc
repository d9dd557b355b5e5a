// A failure inside the engine ends one world, not the process.
//
// Leaving ODE by an exception costs it a few hundred bytes of its job lists per dead world (a
// program that meets this is about to say so and stop); that leak alone is excused here, and in no
// other test.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "synthesis/world/world.h"
#include "tests/support/grip_scene.h"

// The sanitizer's hook; harmless without it.
extern "C" const char* __lsan_default_suppressions() { return "leak:libode\n"; }

namespace handhold::synthesis::poison_test {
namespace {

const geometry::MassProperties kMass{0.1, {0.05, 0, 0}, geometry::Mat3::Identity() * 1e-4};

TEST(Poison, AFailureInsideTheEngineEndsTheWorldAndNothingElse) {
  for (const double force : {1e308, 1e200, 1e155}) {
    auto world = std::move(World::Create()).value();
    const int body = world->AddBody("rod", kMass, {}).value();
    ASSERT_TRUE(world->AddHinge({"knuckle", kFixedBody, body, {0, 0, 0}, geometry::Vec3::UnitY()}));
    Status status;
    for (int i = 0; i < 20 && status; ++i) {
      ASSERT_TRUE(world->AddForce(body, {force, force, -force}, {0.1, 0.2, 0.3}));
      status = world->Step(1e-3);
    }
    ASSERT_FALSE(status) << force;
    EXPECT_EQ(status.error().code, ErrorCode::kNotConverged);
    const Status again = world->Step(1e-3);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message, status.error().message);
  }
  auto other = std::move(World::Create()).value();
  const int body = other->AddBody("ball", kMass, {}).value();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(other->Step(1e-3));
  EXPECT_NEAR(other->v_W(body).z(), -9.81 * 0.01, 1e-12);
}

/// Steps until the world ends or `steps` are over; an end must name one of the bodies and the time.
bool EndsWell(World* world, int steps, double h, const std::function<void()>& before_step) {
  for (int i = 0; i < steps; ++i) {
    before_step();
    const double t = world->time_s();
    const Status status = world->Step(h);
    if (status) continue;
    bool named = false;
    for (int b = 1; b < world->body_count(); ++b)
      named |= status.error().message.find("body " + world->body_name(b)) != std::string::npos;
    EXPECT_TRUE(named) << status.error().message;
    EXPECT_TRUE(status.error().message.find(std::to_string(t) + " s") != std::string::npos ||
                status.error().message.find(std::to_string(t + h) + " s") != std::string::npos)
        << status.error().message << " at " << t;
    return false;
  }
  for (int b = 1; b < world->body_count(); ++b) {
    EXPECT_TRUE(world->X_WB(b).p.allFinite() && world->X_WB(b).R.allFinite());
    EXPECT_LE(world->omega_W(b).norm(), 1e6);
  }
  return true;
}

class WildHands : public ::testing::TestWithParam<Stepper> {};
INSTANTIATE_TEST_SUITE_P(Poison, WildHands, ::testing::Values(Stepper::kExact, Stepper::kQuick));

TEST_P(WildHands, AnyGainsEndInAResult) {
  for (const double k : {1e-300, 1e-9, 1e6, 1e12, 1e100, 1e300}) {
    for (const double ratio : {0.0, 1e-12, 1.0, 1e12}) {
      handhold::testing::GripScene scene({.stepper = GetParam(), .quick_iterations = 20});
      ASSERT_TRUE(scene.hand->SetLimits());
      const Eigen::VectorXd all = Eigen::VectorXd::Constant(scene.stiffness.size(), k);
      bool refused = false;
      EndsWell(scene.world.get(), 15, 4e-3, [&] {
        const Status ok = scene.hand->SetDrives(scene.plan.q_target, scene.rest, all, ratio * all);
        refused |= !ok;
        if (!ok) {
          EXPECT_EQ(ok.error().code, ErrorCode::kInvalid) << k << " " << ratio;
        }
      });
      EXPECT_EQ(refused, !std::isfinite(ratio * k)) << k << " " << ratio;
    }
  }
}

// Pollard & Zordan's explicit form at a step at which it must run away: the study saw the process
// abort.
TEST_P(WildHands, ExplicitTorquesThatRunAwayNameTheBody) {
  handhold::testing::GripScene scene({.stepper = GetParam(), .object = false});
  World& world = *scene.world;
  ASSERT_TRUE(scene.hand->SetConfiguration(scene.plan.q_target));
  const Eigen::VectorXd q0 = scene.plan.hand.ZeroConfiguration();
  const bool ended = !EndsWell(&world, 2000, 4e-3, [&] {
    const Eigen::VectorXd tau =
        scene.stiffness.cwiseProduct(scene.plan.hand.Difference(scene.hand->q(), q0)) -
        3 * scene.damping.cwiseProduct(scene.hand->v());
    for (int b = 1; b < scene.plan.hand.body_count(); ++b) {
      const int joint = scene.hand->engine_joint(b);
      if (joint < 0) continue;
      ASSERT_TRUE(world.AddJointTorque(
          joint, scene.hand->X_WB(b).R * tau.segment<3>(scene.plan.hand.v_index(b))));
    }
  });
  EXPECT_TRUE(ended);
}

TEST_P(WildHands, InterpenetratingStartsEndInAResult) {
  for (const double deep : {0.0, 0.02, 0.04}) {
    for (const double stiffness : {5e3, 1e7, 1e15}) {
      handhold::testing::GripScene scene({.stepper = GetParam(), .quick_iterations = 20});
      World& world = *scene.world;
      // A box around the whole hand, and the object in its middle.
      ASSERT_TRUE(world.AddCollider({.name = "block",
                                     .X_BS = geometry::RigidTransform::Translation({0.1, 0, -0.02}),
                                     .shape = geometry::Box{{0.3, 0.2, 0.1}},
                                     .law = ContactLaw{stiffness, 1, 0.5}}));
      ASSERT_TRUE(
          world.SetPose(scene.object, geometry::RigidTransform::Translation({0.09, 0, -deep})));
      EndsWell(&world, 40, 2e-3, [&] {
        ASSERT_TRUE(
            scene.hand->SetDrives(scene.plan.q_target, scene.rest, scene.stiffness, scene.damping));
      });
    }
  }
}

TEST(Poison, NumbersThatAreNoneAreRefusedAndHarmNothing) {
  handhold::testing::GripScene scene;
  World& world = *scene.world;
  const double nan = std::nan("");
  const int joint = scene.hand->engine_joint(3), body = scene.hand->engine_body(3);
  const Eigen::VectorXd bad = nan * scene.rest;
  EXPECT_FALSE(scene.hand->SetDrives(scene.plan.q_target, bad, scene.stiffness, scene.damping));
  EXPECT_FALSE(scene.hand->SetDrives(scene.plan.q_target, scene.rest, bad, scene.damping));
  EXPECT_FALSE(
      scene.hand->SetDrives(nan * scene.plan.q_target, scene.rest, scene.stiffness, scene.damping));
  EXPECT_FALSE(scene.hand->SetVelocities(bad));
  EXPECT_FALSE(world.AddJointTorque(joint, {nan, 0, 0}));
  ASSERT_TRUE(world.SetKinematic(body, true));
  EXPECT_FALSE(world.MoveTo(body, {nan * geometry::Mat3::Identity(), geometry::Vec3::Zero()}));
  ASSERT_TRUE(world.SetKinematic(body, false));
  EXPECT_FALSE(world.AddSoftRoot({"root", body, {geometry::Mat3::Zero(), geometry::Vec3::Zero()}}));
  EXPECT_TRUE(EndsWell(&world, 20, 2e-3, [&] {}));
  // Finite addends whose sum is not.
  ASSERT_TRUE(world.AddForce(body, {1.7e308, 0, 0}, world.com_W(body)));
  ASSERT_TRUE(world.AddForce(body, {1.7e308, 0, 0}, world.com_W(body)));
  EXPECT_FALSE(EndsWell(&world, 1, 2e-3, [&] {}));
}

}  // namespace
}  // namespace handhold::synthesis::poison_test

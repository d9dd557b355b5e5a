// The rule of contact memory is written twice, here and in synthesis/world, which share no code:
// the same sheared contact on a turning object, in both.
#include "synthesis/contact/contact_memory.h"

#include <cmath>

#include <gtest/gtest.h>

#include "synthesis/world/world.h"
#include "tests/support/contact_scene.h"

namespace handhold::synthesis::world_memory_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using testing::BallBody;
using testing::BlockBody;

constexpr double kRate = M_PI / 2, kPress_N = 1.0, kPull_N = 0.2, kRadius = 0.02;

// A ball is pressed on a turning plate and pulled along it, at the contact, by forces that turn
// with the plate; the plate feels their opposites. Nothing slips: where the ball ends in the
// plate's axes is what the memory does. Kept in the world's axes the stretch lags behind, and the
// ball creeps by rate x stretch: 60 um in a second.
struct Plan {
  MovingBody plate = BlockBody(10.0, Vec3(0.4, 0.4, 0.02), Vec3(0, 0, -0.01));
  MovingBody ball = BallBody(0.05, kRadius, Vec3(0, 0, kRadius - kPress_N / 5000));
  Plan() {
    ball.mass.I_BCom_B = 10 * geometry::Mat3::Identity();  // so that it does not roll away
    plate.V_B[2] = ball.V_B[2] = kRate;
  }
};
geometry::Vec3 PullOnBall(const geometry::Mat3& R_plate, double t) {
  return R_plate * Vec3(kPull_N * std::min(1.0, t / 0.2), 0, -kPress_N);
}

Vec3 InPlate(const RigidTransform& plate, const Vec3& p_W) { return plate.Inverse() * p_W; }

Vec3 CreepInOurs() {
  Plan plan;
  testing::ContactScene scene;
  scene.body_options = {.step_s = 5e-4, .gravity_W = Vec3::Zero()};
  const SurfaceLaw law{.friction = 0.5, .stiffness_N_per_m = 5000, .damping_Ns_per_m = 4};
  FreeBody& ball = scene.AddBody(plan.ball, geometry::Sphere{kRadius}, law);
  FreeBody& plate = scene.AddBody(plan.plate, geometry::Box{Vec3(0.4, 0.4, 0.02)}, law);
  Vec3 before = Vec3::Zero();
  const auto push = [](FreeBody* body, const Vec3& f_W, const Vec3& p_W) {
    MovingBody state = body->state();
    const Vec3 f_B = state.X_WB.R.transpose() * f_W;
    state.w_external_B << (state.X_WB.Inverse() * p_W).cross(f_B), f_B;
    body->SetState(state);
  };
  for (int k = 0; k < 3000; ++k) {
    const Vec3 f = PullOnBall(plate.X_WB().R, k * 5e-4);
    const Vec3 p = ball.X_WB().p - kRadius * plate.X_WB().R.col(2);
    push(&ball, f, p);
    push(&plate, -f, p);
    scene.Step();
    EXPECT_EQ(scene.contacts.size(), 1u);
    if (k + 1 == 1000) before = InPlate(plate.X_WB(), ball.X_WB().p);
  }
  return InPlate(plate.X_WB(), ball.X_WB().p) - before;
}

Vec3 CreepInTheWorld() {
  Plan plan;
  auto world = World::Create({.gravity_W = Vec3::Zero()}).value();
  const ContactLaw law{.stiffness_N_per_m = 5000, .damping_Ns_per_m = 4, .friction = 0.5};
  const int ball = world->AddBody("ball", plan.ball.mass, plan.ball.X_WB).value();
  const int plate = world->AddBody("plate", plan.plate.mass, plan.plate.X_WB).value();
  for (const int body : {ball, plate})
    EXPECT_TRUE(world->SetVelocity(body, Vec3(0, 0, kRate), Vec3::Zero()));
  const auto contact = [&](const World& w, std::vector<ContactCandidate>* out) {
    const RigidTransform X = w.X_WB(plate);
    const Vec3 n = X.R.col(2), c = w.X_WB(ball).p;
    ContactCandidate candidate;
    candidate.body_a = ball;
    candidate.body_b = plate;
    candidate.normal_W = n;
    candidate.depth_m = kRadius + 0.01 - n.dot(c - X.p);
    candidate.p_W = c - (kRadius - candidate.depth_m) * n;
    candidate.law = law;
    out->push_back(candidate);
  };
  Vec3 before = Vec3::Zero();
  for (int k = 0; k < 3000; ++k) {
    const geometry::Mat3 R = world->X_WB(plate).R;
    const Vec3 f = PullOnBall(R, k * 5e-4), p = world->X_WB(ball).p - kRadius * R.col(2);
    EXPECT_TRUE(world->AddForce(ball, f, p));
    EXPECT_TRUE(world->AddForce(plate, -f, p));
    EXPECT_TRUE(world->Step(5e-4, contact));
    if (k + 1 == 1000) before = InPlate(world->X_WB(plate), world->X_WB(ball).p);
  }
  return InPlate(world->X_WB(plate), world->X_WB(ball).p) - before;
}

TEST(WorldMemory, AShearedContactTurnsWithItsObjectInBoth) {
  const Vec3 ours = CreepInOurs(), worlds = CreepInTheWorld();
  std::printf("creep over a quarter turn: ours %.2f um, the world's %.2f um\n", 1e6 * ours.norm(),
              1e6 * worlds.norm());
  EXPECT_LE(ours.norm(), 1e-5);
  EXPECT_LE(worlds.norm(), 1e-5);
  EXPECT_LE((ours - worlds).norm(), 1e-6);
}

}  // namespace
}  // namespace handhold::synthesis::world_memory_test

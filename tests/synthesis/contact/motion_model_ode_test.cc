// Motion models in contact against the engine: the same bodies, springs and surfaces in
// synthesis/world, whose steps are a tenth of ours. A slider, which the engine's wrapper has not,
// stands against its closed form.
#include "synthesis/contact/motion_model.h"

#include <cmath>

#include <gtest/gtest.h>

#include "synthesis/world/skeleton_in_world.h"
#include "synthesis/world/world.h"
#include "tests/support/chain_hands.h"
#include "tests/support/contact_scene.h"

namespace handhold::synthesis::motion_model_ode_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using testing::BallBody;
using testing::BlockBody;
using testing::ContactScene;

constexpr double kFine_s = 1e-4;
constexpr ContactLaw kEngineLaw{.stiffness_N_per_m = 5000, .damping_Ns_per_m = 4, .friction = 0.4};
constexpr SurfaceLaw kLaw{.friction = 0.4, .stiffness_N_per_m = 5000, .damping_Ns_per_m = 4};

void AddTable(World* world, const ContactLaw& law = kEngineLaw) {
  ColliderSpec table;
  table.name = "table";
  table.X_BS = RigidTransform::Translation(Vec3(0, 0, -0.05));
  table.shape = geometry::Box{Vec3(2, 2, 0.1)};
  table.law = law;
  ASSERT_TRUE(world->AddCollider(table));
}

// A spinning ball is thrown on a table: it slides, grips, rolls.
TEST(MotionModelAgainstOde, AThrownBallSlidesAndRolls) {
  auto world = World::Create({}).value();
  const MovingBody state = BallBody(0.05, 0.02, Vec3(0, 0, 0.021));
  const int ball = world->AddBody("ball", state.mass, state.X_WB).value();
  ColliderSpec collider;
  collider.name = "ball";
  collider.body = ball;
  collider.shape = geometry::Sphere{0.02};
  collider.law = kEngineLaw;
  ASSERT_TRUE(world->AddCollider(collider));
  AddTable(world.get());
  ASSERT_TRUE(world->SetVelocity(ball, Vec3(0, -30, 5), Vec3(0.6, 0.3, 0)));

  ContactScene scene;
  scene.body_options.step_s = 1e-3;
  MovingBody thrown = state;
  thrown.V_B << 0, -30, 5, 0.6, 0.3, 0;
  FreeBody& ours = scene.AddBody(thrown, geometry::Sphere{0.02}, kLaw);
  scene.AddTable(kLaw);
  double worst = 0;
  for (int k = 1; k <= 500; ++k) {
    scene.Step();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(world->Step(kFine_s));
    worst = std::max(worst, (ours.X_WB().p - world->X_WB(ball).p).norm());
  }
  const Vec3 travelled = world->X_WB(ball).p - state.X_WB.p;
  std::printf("thrown ball: %.1f mm travelled, at most %.2f mm apart\n", 1e3 * travelled.norm(),
              1e3 * worst);
  EXPECT_GT(travelled.norm(), 0.1);
  EXPECT_LE(worst, 0.02 * travelled.norm());
  // At the end both roll: v = w x r.
  const Vec3 v = ours.X_WB().R * Vec3(ours.state().V_B.tail<3>());
  EXPECT_LE((v - world->v_W(ball)).norm(), 0.02 * v.norm());
  EXPECT_LE((ours.X_WB().R * Vec3(ours.state().V_B.head<3>()) - world->omega_W(ball)).norm(), 0.6);
}

// A lever on a pivot falls on a table with its round end. Critically damped, without friction: how
// high it would bounce hangs on the step, and what friction keeps on its history.
TEST(MotionModelAgainstOde, ALeverOnAPivotComesToRestOnATable) {
  auto world = World::Create({}).value();
  MovingBody state = BlockBody(0.1, Vec3(0.1, 0.02, 0.02), Vec3(0.05, 0, 0.03));
  const int lever = world->AddBody("lever", state.mass, state.X_WB).value();
  HingeSpec hinge;
  hinge.name = "pivot";
  hinge.child = lever;
  hinge.p_W = Vec3(0, 0, 0.03);
  hinge.axis_W = Vec3::UnitY();
  ASSERT_TRUE(world->AddHinge(hinge));
  ColliderSpec tip;
  tip.name = "tip";
  tip.body = lever;
  tip.X_BS = RigidTransform::Translation(Vec3(0.05, 0, 0));
  tip.shape = geometry::Sphere{0.01};
  tip.law = ContactLaw{.stiffness_N_per_m = 5000, .damping_Ns_per_m = 25, .friction = 0};
  ASSERT_TRUE(world->AddCollider(tip));
  AddTable(world.get(), *tip.law);
  const SurfaceLaw smooth{.friction = 0, .stiffness_N_per_m = 5000, .damping_Ns_per_m = 25};

  PivotBody pivot(state, 0, hinge.p_W, hinge.axis_W, 0.0, 0.0, {.step_s = 1e-3});
  ContactScene scene;
  scene.body_options.step_s = 1e-3;
  scene.poses.bodies.push_back(&pivot.X_WB());
  scene.models.push_back(&pivot);
  ASSERT_TRUE(scene.finder.Add(
      {.side = ContactSide::Body(0), .shape = tip.shape, .X_BS = tip.X_BS, .law = smooth}));
  scene.AddTable(smooth);
  double worst = 0, most = 0;
  for (int k = 1; k <= 400; ++k) {
    pivot.Prepare();
    scene.Step();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(world->Step(kFine_s));
    worst = std::max(worst, std::abs(pivot.position() - world->angle_rad(0)));
    most = std::max(most, pivot.position());
  }
  std::printf("lever: %.3f rad fallen, at most %.4f rad apart\n", most, worst);
  EXPECT_GT(most, 0.19);
  EXPECT_LE(worst, 0.01);
  // At rest the table carries half the lever.
  ASSERT_EQ(scene.contacts.size(), 1u);
  EXPECT_NEAR(scene.problem.forces()[0].f_onA_W.z(), 0.5 * 0.1 * 9.81, 0.02 * 0.1 * 9.81);
}

// A drawer with a damper and a spring against a stop: its rest, and its decay, in closed form.
TEST(MotionModelClosedForm, ASliderBetweenSpringDamperAndContact) {
  const double m = 0.2, k = 40, b = 3;
  const Vec3 axis = Vec3(1, 0, 0);
  BodyOptions options{.step_s = 1e-3, .gravity_W = Vec3(2, 0, 0)};
  SliderBody slider(BlockBody(m, Vec3(0.1, 0.1, 0.1), Vec3::Zero()), 0, axis, b, k, options);
  slider.SetState(0.05, 0.0);
  const double rest = m * 2 / k, decay = b / (2 * m), w = std::sqrt(k / m - decay * decay);
  double worst = 0;
  for (int i = 1; i <= 600; ++i) {
    slider.Prepare();
    slider.Advance(slider.free_motion());
    const double t = 1e-3 * i, x0 = 0.05 - rest;
    const double x =
        rest + std::exp(-decay * t) * x0 * (std::cos(w * t) + decay / w * std::sin(w * t));
    worst = std::max(worst, std::abs(slider.position() - x));
  }
  EXPECT_LE(worst, 0.01 * 0.05);
  // Against a wall short of its rest: the contact carries what the spring leaves.
  ContactScene scene;
  scene.body_options = options;
  slider.SetState(0.0, 0.0);
  scene.poses.bodies.push_back(&slider.X_WB());
  scene.models.push_back(&slider);
  ASSERT_TRUE(scene.finder.Add(
      {.side = ContactSide::Body(0), .shape = geometry::Box{Vec3(0.1, 0.1, 0.1)}, .law = kLaw}));
  scene.AddFixed(geometry::Box{Vec3(0.1, 1, 1)}, RigidTransform::Translation(Vec3(0.104, 0, 0)),
                 kLaw);
  for (int i = 0; i < 2000; ++i) {
    slider.Prepare();
    scene.Step();
  }
  double push = 0;
  for (const ContactForce& f : scene.problem.forces()) push -= f.f_onA_W.x();
  EXPECT_NEAR(push, m * 2 - k * slider.position(), 1e-6);
  EXPECT_NEAR(slider.position(), 0.004 + push / (4 * 5000), 1e-6);
}

// A dynamic finger with joint springs presses a table and strokes along it.
TEST(MotionModelAgainstOde, ADynamicFingerPressesAndStrokes) {
  model::SkeletonDraft draft = testing::ChainHand({0.08, 0.06}, 0.006, Vec3(0, 0, 0.06)).draft();
  for (model::Body& body : draft.bodies) body.mass.I_BCom_B = 1e-5 * geometry::Mat3::Identity();
  const model::Skeleton hand = model::Skeleton::Build(draft).value();
  auto world = World::Create({}).value();
  SkeletonInWorld in_world = SkeletonInWorld::Add(hand, world.get()).value();
  AddTable(world.get());
  Eigen::VectorXd q(2);
  q << 0.1, 0.7;
  ASSERT_TRUE(in_world.SetConfiguration(q));

  const double h = 1e-3;
  DynamicTree tree(hand, 0, {.step_s = h});
  tree.SetState(q, Eigen::VectorXd::Zero(2));
  ContactScene scene;
  scene.body_options.step_s = h;
  scene.models = {&tree};
  ASSERT_TRUE(scene.finder.AddSkeleton(hand, 0));
  scene.poses.trees = {tree.X_WB()};
  scene.AddTable(kLaw);
  const Eigen::Vector2d stiffness(2.0, 1.0), damping(0.02, 0.01);
  const auto reference = [&](double t) {
    const double s = std::min(1.0, t / 0.3), in = s * s * (3 - 2 * s);
    const double out = std::clamp((t - 0.3) / 0.3, 0.0, 1.0), along = out * out * (3 - 2 * out);
    return Eigen::Vector2d(q + Eigen::Vector2d(0.30 * in - 0.10 * along, 0.10 * in + 0.35 * along));
  };
  double force_error = 0, force_peak = 0, angle_error = 0;
  int compared = 0;
  for (int k = 1; k <= 700; ++k) {
    const double t = k * h;
    DynamicStep step;
    step.q_reference = reference(t);
    step.v_reference = (reference(t) - reference(t - h)) / h;
    step.stiffness_Nm_per_rad = stiffness;
    step.damping_Nms_per_rad = damping;
    ASSERT_TRUE(tree.Prepare(step));
    scene.Step();
    Vec3 truth = Vec3::Zero();
    for (int i = 1; i <= 10; ++i) {
      const double fine = t - h + i * kFine_s;
      ASSERT_TRUE(in_world.SetDrives(reference(fine),
                                     (reference(fine) - reference(fine - kFine_s)) / kFine_s,
                                     stiffness, damping));
      ASSERT_TRUE(world->Step(kFine_s));
      for (const ContactReading& c : world->contacts()) truth += 0.1 * c.f_onA_W;
    }
    Vec3 ours = Vec3::Zero();
    for (const ContactForce& f : scene.problem.forces()) ours += f.f_onA_W;
    angle_error = std::max(angle_error, (tree.q() - in_world.q()).cwiseAbs().maxCoeff());
    force_peak = std::max(force_peak, truth.norm());
    force_error += (ours - truth).squaredNorm();
    ++compared;
  }
  force_error = std::sqrt(force_error / compared);
  std::printf("dynamic finger: peak %.2f N, force RMS %.2f %%, angles within %.4f rad\n",
              force_peak, 100 * force_error / force_peak, angle_error);
  EXPECT_GT(force_peak, 0.5);
  EXPECT_LE(force_error, 0.05 * force_peak);
  EXPECT_LE(angle_error, 0.01);
  EXPECT_EQ(scene.counts.nobody, 0);
}

// A compliant finger, slow, where inertia does not count: the engine's finger is light and damped.
TEST(MotionModelAgainstOde, ACompliantFingerPressesAndStrokes) {
  model::SkeletonDraft draft = testing::ChainHand({0.08, 0.06}, 0.006, Vec3(0, 0, 0.06)).draft();
  for (model::Body& body : draft.bodies) body.mass.I_BCom_B = 1e-6 * geometry::Mat3::Identity();
  const model::Skeleton hand = model::Skeleton::Build(draft).value();
  auto world = World::Create({.gravity_W = Vec3::Zero()}).value();
  SkeletonInWorld in_world = SkeletonInWorld::Add(hand, world.get()).value();
  AddTable(world.get());
  Eigen::VectorXd q(2);
  q << 0.1, 0.7;
  ASSERT_TRUE(in_world.SetConfiguration(q));
  const double h = 2e-3, T = 0.014;
  CompliantTree tree(hand, 0, {.step_s = h});
  tree.SetConfiguration(q);
  ContactScene scene;
  scene.body_options.step_s = h;
  scene.models = {&tree};
  ASSERT_TRUE(scene.finder.AddSkeleton(hand, 0));
  scene.poses.trees = {tree.X_WB()};
  scene.AddTable(kLaw);
  const Eigen::Vector2d C(0.5, 0.8);
  const auto reference = [&](double t) {
    const double s = std::min(1.0, t / 0.4), in = s * s * (3 - 2 * s);
    const double out = std::clamp((t - 0.4) / 0.4, 0.0, 1.0), along = out * out * (3 - 2 * out);
    return Eigen::Vector2d(q + Eigen::Vector2d(0.30 * in - 0.10 * along, 0.10 * in + 0.35 * along));
  };
  double error = 0, peak = 0, angles = 0;
  for (int k = 1; k <= 500; ++k) {
    const double t = k * h;
    CompliantStep step;
    step.q_reference = reference(t - h);
    step.q_reference_next = reference(t);
    step.compliance_rad_per_Nm = C;
    step.time_constant_s = Eigen::Vector2d(T, T);
    ASSERT_TRUE(tree.Prepare(step));
    scene.Step();
    Vec3 truth = Vec3::Zero(), ours = Vec3::Zero();
    for (int i = 1; i <= 20; ++i) {
      const double fine = t - h + i * kFine_s;
      ASSERT_TRUE(in_world.SetDrives(reference(fine),
                                     (reference(fine) - reference(fine - kFine_s)) / kFine_s,
                                     C.cwiseInverse(), T * C.cwiseInverse()));
      ASSERT_TRUE(world->Step(kFine_s));
      for (const ContactReading& c : world->contacts()) truth += 0.05 * c.f_onA_W;
    }
    for (const ContactForce& f : scene.problem.forces()) ours += f.f_onA_W;
    peak = std::max(peak, truth.norm());
    error += (ours - truth).squaredNorm();
    angles = std::max(angles, (tree.q() - in_world.q()).cwiseAbs().maxCoeff());
  }
  error = std::sqrt(error / 500);
  std::printf("compliant finger: peak %.2f N, force RMS %.2f %%, angles within %.4f rad\n", peak,
              100 * error / peak, angles);
  EXPECT_GT(peak, 0.5);
  EXPECT_LE(error, 0.05 * peak);
  EXPECT_LE(angles, 0.01);
}

}  // namespace
}  // namespace handhold::synthesis::motion_model_ode_test

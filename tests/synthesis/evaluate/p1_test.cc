#include "synthesis/evaluate/p1.h"

#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/geometry/rotation.h"

namespace handhold::synthesis::p1_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using ::testing::HasSubstr;

// A mass on a spring and damper per axis: where it comes to rest under a force is F / k. Along an
// axis of stiffness 0 it falls, and a moment arm makes it turn in proportion to the shift.
class SpringScene : public GraspScene {
 public:
  Vec3 stiffness = Vec3::Constant(1000.0);
  double turn_per_m = 0.0;
  double gives_up_s = 1e9, mass = 0.1, mu = 0.6, gravity = 0.0, follows = 1.0;
  GraspDepths deep;
  bool lies = false;
  int restarts = 0;

  std::string engine() const override { return "spring"; }
  double step_s() const override { return 1e-3; }
  double mass_kg() const override { return mass; }
  double friction() const override { return mu; }
  GraspDepths depths() const override { return deep; }
  Status Restart() override {
    x_ = v_ = Vec3::Zero();
    t_ = rise_ = 0.0;
    ++restarts;
    return {};
  }
  Status Step(const Vec3& f_W, double rise_m) override {
    t_ += step_s();
    if (t_ > gives_up_s) return Error{ErrorCode::kNotConverged, "gave up"};
    rise_ = follows * rise_m;
    const Vec3 f = f_W - mass * gravity * Vec3::UnitZ();
    const Vec3 a = (f - stiffness.cwiseProduct(x_) - 5.0 * v_) / mass;
    v_ += step_s() * a;
    x_ += step_s() * v_;
    return {};
  }
  RigidTransform X_WO() const override {
    return {geometry::Exp(Vec3(turn_per_m * x_.x(), 0, 0)), Vec3(1, 2, 3 + rise_) + x_};
  }
  Vec3 p_OCom() const override { return Vec3::Zero(); }
  int hand_contacts() const override { return 4; }
  bool on_table() const override { return lies; }

 private:
  Vec3 x_ = Vec3::Zero(), v_ = Vec3::Zero();
  double t_ = 0.0, rise_ = 0.0;
};

P1Result Tested(SpringScene& scene, P1Options options = {}) {
  const auto result = RunP1(options, &scene);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : P1Result{};
}

TEST(P1, NumbersAreTheProtocols) {
  const P1Options o;
  EXPECT_EQ(o.mass_kg, 0.1);
  EXPECT_EQ(o.friction, 0.6);
  EXPECT_EQ(o.acceleration_m_per_s2, 10.0);
  EXPECT_EQ(o.hold_s, 2.0);
  EXPECT_EQ(o.shift_m, 0.05);
  EXPECT_DOUBLE_EQ(o.turn_rad, M_PI / 12);
  EXPECT_EQ(o.depth_m, 0.01);
  artefact::CheckDescribed<P1Options>();
  artefact::CheckDescribed<LiftOptions>();
}

TEST(P1, AFirmGraspHoldsAllSixAndSaysHowFarItMoved) {
  SpringScene scene;
  const P1Result result = Tested(scene);
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(result.held(), 6);
  EXPECT_EQ(scene.restarts, 6);
  // 1 N on 1000 N/m, overshoot below twice that.
  for (const P1Push& push : result.pushes) {
    EXPECT_GT(push.shift_m, 0.999e-3);
    EXPECT_LT(push.shift_m, 2e-3);
    EXPECT_NEAR(push.creep_m_per_s, 0.0, 1e-6);
    EXPECT_NEAR(push.held_s, 2.0, 1e-9);
  }
  EXPECT_NEAR(result.worst, result.pushes[0].shift_m / 0.05, 1e-12);
}

TEST(P1, AWeakDirectionShiftsAndIsNamed) {
  SpringScene scene;
  scene.stiffness.y() = 0.0;
  const P1Result result = Tested(scene);
  EXPECT_EQ(result.fault, GraspFault::kShifted);
  EXPECT_EQ(result.held(), 2);  // +X, -X; then +Y fails and the rest is not tried
  EXPECT_EQ(result.pushes[2].fault, GraspFault::kShifted);
  EXPECT_FALSE(result.pushes[3].tried);
  EXPECT_THAT(result.cause, HasSubstr("+Y"));
  EXPECT_GT(result.worst, 1.0);
  P1Options all;
  all.stop_at_first = false;
  EXPECT_EQ(Tested(scene, all).held(), 4);
}

TEST(P1, TurningBeyondFifteenDegreesFails) {
  SpringScene scene;
  scene.stiffness.x() = 100.0;  // 1 cm at rest
  scene.turn_per_m = 1.01 * M_PI / 12 / 0.01;
  const P1Result result = Tested(scene);
  EXPECT_EQ(result.fault, GraspFault::kTurned);
  EXPECT_LT(result.pushes[0].shift_m, 0.05);
  scene.turn_per_m = 0.4 * M_PI / 12 / 0.01;  // with the overshoot still below
  EXPECT_TRUE(Tested(scene).passed());
}

TEST(P1, DepthEndsItBeforeAPush) {
  SpringScene scene;
  scene.deep.object_m = 0.0101;
  EXPECT_EQ(Tested(scene).fault, GraspFault::kTooDeep);
  EXPECT_EQ(scene.restarts, 0);
  scene.deep = {.object_m = 0.0099, .self_m = 0.0101};
  EXPECT_EQ(Tested(scene).fault, GraspFault::kSelfTooDeep);
  scene.deep = {.object_m = 0.0, .table_m = 0.0101};
  EXPECT_EQ(Tested(scene).fault, GraspFault::kTooDeep);
  scene.deep = {.object_m = 0.0099, .table_m = 0.0099, .self_m = 0.0099};
  EXPECT_TRUE(Tested(scene).passed());
}

TEST(P1, AnEngineThatGivesUpIsAFaultOfTheGrasp) {
  SpringScene scene;
  scene.gives_up_s = 0.5;
  const P1Result result = Tested(scene);
  EXPECT_EQ(result.fault, GraspFault::kLost);
  EXPECT_NEAR(result.pushes[0].held_s, 0.5, 2e-3);
  EXPECT_GT(result.worst, 1.0);
}

TEST(P1, ASceneOfAnotherMassOrFrictionIsRefused) {
  SpringScene scene;
  scene.mass = 0.2;
  EXPECT_EQ(RunP1({}, &scene).error().code, ErrorCode::kInvalid);
  scene.mass = 0.1;
  scene.mu = 1.0;
  EXPECT_EQ(RunP1({}, &scene).error().code, ErrorCode::kInvalid);
}

TEST(P1, TheTestCarriesEveryFigure) {
  SpringScene scene;
  scene.stiffness.y() = 0.0;
  const artefact::GraspTest test = ToGraspTest({}, Tested(scene));
  EXPECT_EQ(test.protocol, "P1");
  EXPECT_EQ(test.engine, "spring");
  EXPECT_FALSE(test.passed);
  EXPECT_THAT(test.cause, ::testing::StartsWith("shifted: "));
  EXPECT_EQ(test.figures.at("held"), 2);
  EXPECT_EQ(test.figures.at("mass_kg"), 0.1);
  EXPECT_GT(test.figures.at("shift_m"), 0.05);
}

LiftResult Lift(SpringScene& scene) {
  scene.gravity = 9.81;
  const auto result = RunLift({}, &scene);
  EXPECT_TRUE(result);
  return result ? *result : LiftResult{};
}

TEST(Lift, WhatFollowsTheHandIsLifted) {
  SpringScene scene;
  const LiftResult result = Lift(scene);
  EXPECT_TRUE(result.passed());
  EXPECT_NEAR(result.rose_m, 0.1 - 0.1 * 9.81 / 1000, 1e-4);
  EXPECT_NEAR(result.held_s, 2.4, 1e-9);
}

TEST(Lift, WhatStaysBehindOrLiesOnTheTableIsNot) {
  SpringScene scene;
  scene.follows = 0.3;
  EXPECT_EQ(Lift(scene).fault, GraspFault::kShifted);
  scene.follows = 1.0;
  scene.lies = true;
  EXPECT_EQ(Lift(scene).fault, GraspFault::kNotLifted);
}

TEST(GraspFault, NamesDiffer) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(GraspFault::kLost); ++i)
    names.insert(GraspFaultName(static_cast<GraspFault>(i)));
  EXPECT_EQ(names.size(), 9u);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace handhold::synthesis::p1_test

// The hooks of Kry & Pai 2006, section 8.1, step by step. Whole grips: grip_truth_test.cc.
#include "synthesis/interaction/grip_adjustment.h"

#include <cmath>
#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/model/hand_library.h"
#include "database/text/json.h"

namespace handhold::synthesis::grip_adjustment_test {
namespace {

using geometry::Vec3;

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

Contact FingerOnBox(double friction = 0.5) {
  Contact c;
  c.a = ContactSide::Link(0, Hand().FindBody("thumb.dst"));
  c.b = ContactSide::Body(0);
  c.normal_W = Vec3::UnitX();
  c.law.friction = friction;
  return c;
}

/// One step with one contact.
void Feel(GripAdjuster* grip, const Contact& contact, const Vec3& f_W, double slip_m_per_s = 0.0) {
  const HandForce force{f_W, slip_m_per_s};
  grip->Observe({&contact, 1}, {&force, 1});
}

GripOptions Of(GripKind kind) { return {.kind = kind}; }

TEST(GripAdjustment, TheFingersAreWhatLiesBeyondThePalm) {
  const std::vector<char> fingers = FingerDofs(Hand());
  int count = 0;
  for (int d = 0; d < Hand().nv(); ++d) {
    const bool root = Hand().dof_names()[static_cast<size_t>(d)].find(".base") != std::string::npos;
    EXPECT_EQ(fingers[static_cast<size_t>(d)] != 0, !root)
        << Hand().dof_names()[static_cast<size_t>(d)];
    count += fingers[static_cast<size_t>(d)];
  }
  EXPECT_EQ(count, Hand().nv() - 6);
  // An arm's joints are not a finger's; a single finger is one whole.
  const model::Skeleton arm = *model::LoadHand("arm35"), finger = *model::LoadHand("finger4");
  const std::vector<char> of_arm = FingerDofs(arm), of_finger = FingerDofs(finger);
  const auto of = [&](const char* part) {
    int in = 0;
    for (int d = 0; d < arm.nv(); ++d)
      if (arm.dof_names()[static_cast<size_t>(d)].find(part) != std::string::npos)
        in += of_arm[static_cast<size_t>(d)];
    return in;
  };
  EXPECT_GT(of("index"), 0);
  EXPECT_EQ(of("shoulder") + of("elbow") + of("wrist"), 0);
  EXPECT_EQ(std::count(of_finger.begin(), of_finger.end(), 1), finger.nv());
}

TEST(GripAdjustment, AnticipationTightensBeyondItsShareOfTheCone) {
  GripAdjuster grip(Hand(), 0, Of(GripKind::kAnticipate), 0.002);
  Feel(&grip, FingerOnBox(), Vec3(1, 0, 0.449));  // 0.9 x 0.5 = 0.45
  EXPECT_EQ(grip.finger_scale(), 1.0);
  Feel(&grip, FingerOnBox(), Vec3(1, 0, 0.451));
  EXPECT_DOUBLE_EQ(grip.finger_scale(), 0.99);
  Feel(&grip, FingerOnBox(), Vec3(1, -0.451, 0));
  EXPECT_DOUBLE_EQ(grip.finger_scale(), 0.99 * 0.99);
  Feel(&grip, FingerOnBox(0.6), Vec3(1, 0, 0.451));  // another surface's coefficient
  Feel(&grip, FingerOnBox(), Vec3(0.17, 0, 0.08));   // 0.188 N: a graze
  Feel(&grip, FingerOnBox(), Vec3(1, 0, 0), 1.0);    // sliding is the reflex's business
  EXPECT_DOUBLE_EQ(grip.finger_scale(), 0.99 * 0.99);
  // On the fingers, not on the root.
  EXPECT_EQ(grip.scale()[Hand().FindDof("R.base.lin_z")], 1.0);
  EXPECT_EQ(grip.scale()[Hand().FindDof("R.little.pip.flex")], grip.finger_scale());
}

TEST(GripAdjustment, OnlyObjectsAreHeld) {
  GripAdjuster grip(Hand(), 0, Of(GripKind::kAnticipate), 0.002);
  const Vec3 f_W(1, 0, 0.5);
  Contact c = FingerOnBox();
  c.b = ContactSide::Fixed(0);
  Feel(&grip, c, f_W);
  c.b = ContactSide::Link(1, 3);
  Feel(&grip, c, f_W);
  c = FingerOnBox();
  c.a.tree = 1;
  Feel(&grip, c, f_W);
  EXPECT_EQ(grip.finger_scale(), 1.0);
  std::swap(c.a, c.b);
  c.b.tree = 0;
  Feel(&grip, c, f_W);
  EXPECT_DOUBLE_EQ(grip.finger_scale(), 0.99);
}

TEST(GripAdjustment, TheReflexComesAReactionTimeAfterTheSlip) {
  GripAdjuster grip(Hand(), 0, Of(GripKind::kReflex), 0.002);
  const Contact c = FingerOnBox();
  const auto step = [&](double slip_m_per_s) { Feel(&grip, c, Vec3(1, 0, 0.5), slip_m_per_s); };
  step(9.9e-3);
  step(10.1e-3);  // two steps of slip
  step(10.1e-3);
  for (int k = 0; k < 48; ++k) step(0.0);
  EXPECT_EQ(grip.finger_scale(), 1.0);  // 98 ms after the first
  step(0.0);
  EXPECT_DOUBLE_EQ(grip.finger_scale(), 0.97);
  step(0.0);
  EXPECT_DOUBLE_EQ(grip.finger_scale(), 0.97 * 0.97);
  for (int k = 0; k < 200; ++k) step(0.0);
  EXPECT_DOUBLE_EQ(grip.finger_scale(), 0.97 * 0.97);
}

TEST(GripAdjustment, TheScaleHasAFloorAndThePaceDoesNotHangOnTheStep) {
  GripAdjuster fine(Hand(), 0, Of(GripKind::kAnticipate), 0.002);
  GripAdjuster coarse(Hand(), 0, Of(GripKind::kAnticipate), 0.004);
  for (int k = 0; k < 20; ++k) {
    Feel(&fine, FingerOnBox(), Vec3(1, 0, 0.5));
    if (k % 2 == 1) Feel(&coarse, FingerOnBox(), Vec3(1, 0, 0.5));
  }
  EXPECT_NEAR(fine.finger_scale(), std::pow(0.99, 20), 1e-12);
  EXPECT_NEAR(coarse.finger_scale(), fine.finger_scale(), 1e-12);
  for (int k = 0; k < 1000; ++k) Feel(&fine, FingerOnBox(), Vec3(1, 0, 0.5));
  EXPECT_EQ(fine.finger_scale(), GripOptions{}.smallest_scale);
}

TEST(GripAdjustment, TheDamperStays) {
  GripAdjuster grip(Hand(), 0, Of(GripKind::kAnticipate), 0.002);
  for (int k = 0; k < 50; ++k) Feel(&grip, FingerOnBox(), Vec3(1, 0, 0.5));
  HandStep step;
  step.compliance_rad_per_Nm = Eigen::VectorXd::Constant(Hand().nv(), 0.8);
  grip.Apply(&step);  // quasi-static: there is no T
  EXPECT_EQ(step.time_constant_s.size(), 0);
  step.time_constant_s = Eigen::VectorXd::Constant(Hand().nv(), 0.014);
  step.compliance_rad_per_Nm.setConstant(0.8);
  grip.Apply(&step);
  const int finger = Hand().FindDof("R.index.pip.flex");
  EXPECT_NEAR(step.compliance_rad_per_Nm[finger], 0.8 * std::pow(0.99, 50), 1e-12);
  for (int d = 0; d < Hand().nv(); ++d)  // T / C
    EXPECT_NEAR(step.time_constant_s[d] / step.compliance_rad_per_Nm[d], 0.014 / 0.8, 1e-12);
}

TEST(GripAdjustment, NoneStaysAsItIs) {
  GripAdjuster grip(Hand(), 0, {}, 0.002);
  for (int k = 0; k < 200; ++k) Feel(&grip, FingerOnBox(), Vec3(1, 0, 0.6), 1.0);
  EXPECT_EQ(grip.scale(), Eigen::VectorXd::Ones(Hand().nv()));
}

TEST(GripAdjustment, NumbersThatAreNoSenseAreRefusedByName) {
  EXPECT_TRUE(CheckGrip({}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<std::function<void(GripOptions*)>, const char*> bad[] = {
      {[](GripOptions* o) { o->smallest_scale = 0.0; }, "smallest_scale"},
      {[](GripOptions* o) { o->anticipate_factor = 1.01; }, "anticipate_factor"},
      {[&](GripOptions* o) { o->reflex_factor = nan; }, "reflex_factor"},
      {[](GripOptions* o) { o->reaction_s = -0.1; }, "reaction_s"},
      {[&](GripOptions* o) { o->force_N = nan; }, "force_N"},
      {[](GripOptions* o) { o->slip_m_per_s = -1; }, "slip_m_per_s"},
      {[&](GripOptions* o) { o->ratio_share = nan; }, "ratio_share"},
  };
  for (const auto& [spoil, name] : bad) {
    GripOptions o;
    spoil(&o);
    const Status checked = CheckGrip(o);
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(checked.error().message, ::testing::HasSubstr(name));
  }
}

TEST(GripAdjustment, ParametersGoThroughTheirDescription) {
  GripOptions o = Of(GripKind::kReflex);
  o.smallest_scale = 0.3;
  o.reaction_s = 0.08;
  const text::Json json = artefact::ToJson(o);
  const auto back = artefact::FromJson<GripOptions>(text::JsonView(json, "test"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*text::WriteJson(artefact::ToJson(*back)), *text::WriteJson(json));
  EXPECT_EQ(back->kind, GripKind::kReflex);
  EXPECT_EQ(back->reaction_s, 0.08);
}

}  // namespace
}  // namespace handhold::synthesis::grip_adjustment_test

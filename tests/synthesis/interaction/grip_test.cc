// Scripted pinches on free objects: Kry & Pai 2006's box of 3 x 5 x 7 cm is lifted, held and put
// down by hand27, and what is too heavy stays on the table.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "synthesis/evaluate/verdict.h"
#include "synthesis/interaction/replay.h"
#include "synthesis/interaction/scripted_reference.h"

namespace handhold::synthesis::grip_test {
namespace {

using artefact::Motion;
using artefact::Verdict;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kStep_s = 0.002;

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

model::Prop Box(double mass_kg) {
  model::Prop box = *model::LoadLibraryProp("box_3x5x7");
  box.mass.I_BCom_B *= mass_kg / box.mass.mass_kg;
  box.mass.mass_kg = mass_kg;
  return box;
}

RigidTransform BoxPose() { return RigidTransform::Translation(Vec3(0.3, 0.1, 0.035)); }

// 25 mm above the middle: only fingertips touch.
PinchPlace Place() { return *PinchAcross(Box(0.012), BoxPose(), 0.025); }

PinchOptions Program(double depth_m, double hold_s = 1.0) {
  PinchOptions o;
  o.depth_m = depth_m;
  o.hold_s = hold_s;
  return o;
}

Result<Motion> Lift(const PinchOptions& program, double mass_kg,
                    const model::Skeleton& hand = Hand(), bool limits = false) {
  HANDHOLD_ASSIGN(const auto reference, PinchReference(hand, Place(), program));
  artefact::Stage scene;
  scene.Add(artefact::TableAt(Vec3(0.3, 0, 0)));
  scene.Add(artefact::Placed(Box(mass_kg), BoxPose(), artefact::StageThing::Is::kFree));
  ReplayOptions options;
  options.form = ReplayForm::kDamped;
  options.margin_m = 4e-3;
  options.step.root_compliance_m_per_N = 0.0;  // the free root yields by its own
  options.step.limits = limits;
  HANDHOLD_ASSIGN(Motion motion, ReplayInteraction(hand, reference, scene, options));
  VerdictOptions judge;
  judge.hold = PinchHold(program);
  HANDHOLD_ASSIGN(motion.verdict, JudgeHold(hand, motion, judge));
  return motion;
}

size_t FrameAt(Timestamp t) {
  return static_cast<size_t>(std::llround((t - Timestamp()).seconds() / kStep_s));
}

const artefact::MotionObject& BoxOf(const Motion& motion) { return motion.objects[1]; }

TEST(Grip, TheTwelveGramBoxIsLiftedHeldAndPutDown) {
  const PinchOptions program = Program(0.012, 2.0);
  const auto motion = Lift(program, 0.012);
  ASSERT_TRUE(motion) << motion.error().message;
  EXPECT_EQ(motion->verdict.kind, Verdict::Kind::kHeld) << motion->verdict.cause;
  EXPECT_EQ(UnsolvedSteps(*motion), 0);

  const TimeRange hold = PinchHold(program);
  const size_t begin = FrameAt(hold.begin), end = FrameAt(hold.end) - 1;
  const auto& X_WP = BoxOf(*motion).X_WP;
  // The compliant root hangs by some 2 mm of the reference's 10 cm.
  EXPECT_NEAR(X_WP[end].p.z() - X_WP[0].p.z(), 0.1, 0.004);
  const size_t half = (begin + end) / 2;
  const double seconds = kStep_s * static_cast<double>(end - half);
  EXPECT_LT((X_WP[end].p - X_WP[half].p).norm() / seconds, 1e-6);  // 0.001 mm/s
  EXPECT_LT(geometry::Log(X_WP[half].R.transpose() * X_WP[end].R).norm() / seconds, 1e-5);

  // Thumb against the two fingers, as hard as planted compliances and depth make it; the rest of
  // the hand grazes at the most.
  double thumb_N = 0, fingers_N = 0, others_N = 0;
  for (const artefact::ContactRow& row : motion->rows) {
    if (static_cast<size_t>(row.frame) != half) continue;
    const artefact::Side& side = motion->touches[static_cast<size_t>(row.touch)].a;
    ASSERT_TRUE(side.is_hand());
    const std::string& body = Hand().body(side.body).name;
    const double along_N = row.f_onA_W.dot(Place().axis_W);
    (body.starts_with("thumb") ? thumb_N : fingers_N) += along_N;
    if (!body.ends_with(".dst")) others_N += row.f_onA_W.norm();
  }
  EXPECT_NEAR(thumb_N, -fingers_N, 1e-6);
  EXPECT_GT(thumb_N, 1.8);  // on the thumb, outwards: along +axis
  EXPECT_LT(thumb_N, 2.8);
  EXPECT_LT(others_N, 0.02);

  // Put down upright where it was, within the slip of letting go.
  EXPECT_NEAR(X_WP.back().p.z(), 0.035, 2e-4);
  EXPECT_LT((X_WP.back().p - X_WP.front().p).norm(), 0.005);
  EXPECT_LT(geometry::Log(X_WP.back().R).norm(), 0.02);
}

// The thumb lies flat on the box's face, half over its edge: a contact that jumped between the ends
// of where it lies let the box creep by 0.4 mm/s.
TEST(Grip, ABoxUnderAThumbThatLiesFlatDoesNotCreep) {
  const PinchOptions program = Program(0.016, 2.0);
  const auto motion = Lift(program, 0.012);
  ASSERT_TRUE(motion) << motion.error().message;
  EXPECT_EQ(motion->verdict.kind, Verdict::Kind::kHeld) << motion->verdict.cause;
  const size_t end = FrameAt(PinchHold(program).end) - 1;
  const auto& X_WP = BoxOf(*motion).X_WP;
  EXPECT_LT((X_WP[end].p - X_WP[end - 400].p).norm() / (400 * kStep_s), 1e-6);  // 0.001 mm/s
}

TEST(Grip, TenTimesTheMassIsTooMuchForAWeakGripOnly) {
  const auto weak = Lift(Program(0.004), 0.12), strong = Lift(Program(0.016), 0.12);
  ASSERT_TRUE(weak) << weak.error().message;
  ASSERT_TRUE(strong) << strong.error().message;
  EXPECT_EQ(weak->verdict.kind, Verdict::Kind::kDropped) << weak->verdict.cause;
  EXPECT_EQ(weak->verdict.when, PinchHold(Program(0.004)).begin);
  EXPECT_EQ(strong->verdict.kind, Verdict::Kind::kHeld) << strong->verdict.cause;
  EXPECT_EQ(UnsolvedSteps(*weak) + UnsolvedSteps(*strong), 0);
  const size_t end = FrameAt(PinchHold(Program(0.004)).end) - 1;
  EXPECT_LT(BoxOf(*weak).X_WP[end].p.z(), 0.04);
  EXPECT_GT(BoxOf(*strong).X_WP[end].p.z(), 0.12);
}

// Newton's second law on the box from what is stored: forces of the rows, second differences of the
// poses.
TEST(Grip, ForcesOnTheBoxAreItsMassTimesItsAcceleration) {
  constexpr double kMass_kg = 0.12;
  const auto motion = Lift(Program(0.016, 0.2), kMass_kg);
  ASSERT_TRUE(motion);
  const auto& X_WP = BoxOf(*motion).X_WP;
  std::vector<Vec3> force_N(X_WP.size(), Vec3(0, 0, -9.81 * kMass_kg));
  for (const artefact::ContactRow& row : motion->rows) {
    const artefact::Touch& touch = motion->touches[static_cast<size_t>(row.touch)];
    const bool box_is_a = !touch.a.is_hand() && touch.a.name == BoxOf(*motion).name;
    force_N[static_cast<size_t>(row.frame)] += (box_is_a ? 1.0 : -1.0) * row.f_onA_W;
  }
  double worst_N = 0, largest_N = 0;
  for (size_t k = 2; k < X_WP.size(); ++k) {
    const Vec3 a = (X_WP[k].p - 2 * X_WP[k - 1].p + X_WP[k - 2].p) / (kStep_s * kStep_s);
    worst_N = std::max(worst_N, (force_N[k] - kMass_kg * a).norm());
    largest_N = std::max(largest_N, (kMass_kg * a).norm());
  }
  EXPECT_GT(largest_N, 0.1);
  EXPECT_LT(worst_N, 1e-9);
}

// What slides slides at its cone: eight directions reach mu at their corners and mu cos(pi / 8)
// between them. What sticks is within it.
TEST(Grip, WhatSlidesDoesSoAtTheConeOfFriction) {
  const auto motion = Lift(Program(0.004), 0.12);  // it slips out of the fingers
  ASSERT_TRUE(motion);
  const double mu = Box(0.12).friction;
  int sliding = 0;
  for (const artefact::ContactRow& row : motion->rows) {
    const double normal_N = row.f_onA_W.dot(row.normal_W);
    const double friction_N = (row.f_onA_W - normal_N * row.normal_W).norm();
    EXPECT_LE(friction_N, mu * normal_N + 1e-7) << row.frame;
    if (row.slip_m_per_s < 0.01 || normal_N < 0.05) continue;
    EXPECT_GE(friction_N, mu * std::cos(M_PI / 8) * normal_N - 1e-7) << row.frame;
    ++sliding;
  }
  EXPECT_GT(sliding, 100);
}

// Surfaces overlap by what their springs of 5000 N/m give under the force, and no touch is noted
// while they are apart.
TEST(Grip, SurfacesOverlapByTheirSpringsAlone) {
  const auto motion = Lift(Program(0.016, 0.2), 0.12);
  ASSERT_TRUE(motion);
  double deepest_m = 0, strongest_N = 0;
  for (const artefact::ContactRow& row : motion->rows) {
    const double normal_N = row.f_onA_W.dot(row.normal_W);
    EXPECT_GT(normal_N, 1e-9) << row.frame;
    // The offset is of the step's begin, the force of its end; the closing is 0.2 mm a step.
    EXPECT_GT(row.offset_m, -normal_N / 5000 - 3e-4) << row.frame;
    deepest_m = std::max(deepest_m, -row.offset_m);
    strongest_N = std::max(strongest_N, normal_N);
  }
  EXPECT_GT(strongest_N, 2.0);
  EXPECT_LT(deepest_m, strongest_N / 5000 + 3e-4);
  for (const artefact::Touch& touch : motion->touches) {
    if (touch.a.is_hand()) {
      EXPECT_GT(touch.peak_force_N, 1e-6) << touch.a.site;
    }
  }
}

TEST(Grip, AJointLimitHoldsAPressedFingertip) {
  // The press bends the index finger's last joint backwards; a limit halfway there holds it.
  const PinchOptions program = Program(0.012, 0.2);
  const auto reference = PinchReference(Hand(), Place(), program);
  const auto freely = Lift(program, 0.012);
  ASSERT_TRUE(reference && freely);
  const int body = Hand().FindBody("index.dst"), row = Hand().q_index(body);
  const double asked_rad = reference->q_reference.row(row).minCoeff();
  const double pressed_rad = freely->hands[0].q.row(row).minCoeff();
  ASSERT_LT(pressed_rad, asked_rad - 0.005);
  const double limit_rad = 0.5 * (asked_rad + pressed_rad);
  model::SkeletonDraft draft = Hand().draft();
  draft.bodies[static_cast<size_t>(body - 1)].joint.lower_rad[0] = limit_rad;
  const auto stiff = model::Skeleton::Build(std::move(draft));
  ASSERT_TRUE(stiff);
  const auto limited = Lift(program, 0.012, *stiff, true);
  ASSERT_TRUE(limited) << limited.error().message;
  EXPECT_GT(limited->hands[0].q.row(row).minCoeff(), limit_rad - 1.7e-5);  // 0.001 degrees
  EXPECT_LT(limited->hands[0].q.row(row).minCoeff(), limit_rad + 1e-3);    // and it is reached
  EXPECT_EQ(limited->verdict.kind, Verdict::Kind::kHeld) << limited->verdict.cause;
  EXPECT_EQ(UnsolvedSteps(*limited), 0);
}

TEST(Grip, SmallerAndLargerHandsLiftTheBoxToo) {
  for (const double scale : {0.9, 1.1}) {
    const auto hand = model::ScaledUniformly(Hand(), scale);
    ASSERT_TRUE(hand);
    const auto motion = Lift(Program(0.012, 0.4), 0.012, *hand);
    ASSERT_TRUE(motion) << scale << motion.error().message;
    EXPECT_EQ(motion->verdict.kind, Verdict::Kind::kHeld) << scale << motion->verdict.cause;
    EXPECT_EQ(UnsolvedSteps(*motion), 0) << scale;
  }
}

TEST(Grip, TheSameLiftHasTheSameBits) {
  const auto a = Lift(Program(0.012, 0.2), 0.012), b = Lift(Program(0.012, 0.2), 0.012);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*text::WriteJson(artefact::ToJson(*a)), *text::WriteJson(artefact::ToJson(*b)));
}

}  // namespace
}  // namespace handhold::synthesis::grip_test

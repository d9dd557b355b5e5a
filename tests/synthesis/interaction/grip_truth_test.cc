// Scripted pinches of Kry & Pai 2006, section 8, against the engine (tests/support/ode_grip_truth):
// the same program, hand and props, colliders and steps of its own. Long form, with more depths and
// masses: grip_study; figures: results/grip_study.txt.
#include <cmath>
#include <map>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"
#include "database/text/json.h"
#include "tests/support/bulb_scene.h"
#include "tests/support/contact_audit.h"
#include "tests/support/grip_comparison.h"
#include "tests/support/ode_grip_truth.h"
#include "tests/support/pinch_scene.h"
#include "tests/support/prop_lift.h"

namespace handhold::testing::grip_truth_test {
namespace {

using artefact::InteractionTrajectory;
using artefact::Motion;
using geometry::Vec3;
using synthesis::GripKind;
using synthesis::GripOptions;

constexpr double kFrame_s = 2e-3;

/// One program, its contact-free run in the engine, and both sides of the comparison.
struct Pinched {
  synthesis::PinchOptions program;
  OdeGripOptions ode;
  InteractionTrajectory scripted, free;
  size_t lift = 0, hold = 0, end = 0;  // frames

  explicit Pinched(const synthesis::PinchOptions& asked) : program(asked) {
    const TimeRange held = synthesis::PinchHold(program);
    const auto frame = [](double s) { return static_cast<size_t>(std::llround(s / kFrame_s)); };
    hold = frame((held.begin - Timestamp()).seconds());
    end = frame((held.end - Timestamp()).seconds()) - 1;
    lift = hold - frame(program.lift_s);
    ode.step_s = 4e-4;
    ode.end_s = (held.end - Timestamp()).seconds();
    scripted = *synthesis::PinchReference(PinchHand(), PinchBoxPlace(), program);
    free = *OdeFreeRun(PinchHand(), scripted, ode);
  }
  Motion Truth(const model::Prop& prop, const GripOptions& grip = {}) const {
    OdeGripOptions options = ode;
    options.grip = grip;
    return *OdeGripRun(PinchHand(), scripted, OnTable(prop), options);
  }
  Motion Ours(const model::Prop& prop, const GripOptions& grip = {}) const {
    return *synthesis::ReplayInteraction(PinchHand(), free, OnTable(prop), PinchReplay(grip));
  }
};

double Degrees(double rad) { return rad * 180 / M_PI; }

void ExpectAlike(const Motion& ours, const Motion& truth, const Pinched& p, const char* what,
                 double median_m, double median_deg, double largest_m) {
  ASSERT_TRUE(Lifted(truth, p.end)) << what;
  ASSERT_TRUE(Lifted(ours, p.end)) << what;
  EXPECT_EQ(synthesis::UnsolvedSteps(ours), 0) << what;
  EXPECT_EQ(synthesis::FallbackSteps(ours), 0) << what;
  const GripComparison c = CompareGrips(ours, truth, PinchFingers(), p.end, kFrame_s);
  std::printf(
      "%s: force RMS %.2f %%, first 150 ms %.2f %% of peak; pose median %.3f mm %.2f deg, "
      "at most %.2f mm\n",
      what, 100 * c.worst_rms, 100 * c.worst_first_rms, 1e3 * c.median_m, Degrees(c.median_rad),
      1e3 * c.largest_m);
  for (const FingerComparison& finger : c.fingers) EXPECT_GT(finger.peak_N, 0.5) << what;
  EXPECT_LE(c.worst_rms, 0.03) << what;
  EXPECT_LE(c.worst_first_rms, 0.08) << what;
  EXPECT_LE(c.median_m, median_m) << what;
  EXPECT_LE(Degrees(c.median_rad), median_deg) << what;
  EXPECT_LE(c.largest_m, largest_m) << what;
}

TEST(GripTruth, ForcesAndPosesOfTheLiftedBoxAreTheEngines) {
  const Pinched light(PinchProgram(0.012, 1.0));
  ExpectAlike(light.Ours(PinchBox(0.012)), light.Truth(PinchBox(0.012)), light, "12 g", 0.4e-3, 0.8,
              2.5e-3);
  const Pinched heavy(PinchProgram(0.014, 1.0));
  ExpectAlike(heavy.Ours(PinchBox(0.12)), heavy.Truth(PinchBox(0.12)), heavy, "120 g", 0.5e-3, 0.8,
              5e-3);
}

// The engine lifts 156 g at 10 mm and no more (grip_study threshold).
TEST(GripTruth, TheHeaviestBoxThatIsLiftedIsTheEngines) {
  const Pinched p(PinchProgram(0.010, 1.0));
  const double threshold_kg = 0.1563;
  EXPECT_TRUE(Lifted(p.Truth(PinchBox(0.98 * threshold_kg)), p.end));
  EXPECT_FALSE(Lifted(p.Truth(PinchBox(1.02 * threshold_kg)), p.end));
  EXPECT_TRUE(Lifted(p.Ours(PinchBox(0.93 * threshold_kg)), p.end));
  EXPECT_FALSE(Lifted(p.Ours(PinchBox(1.07 * threshold_kg)), p.end));
}

// Faces that lean by 12 degrees each, a quarter more than what is lifted without adjustment.
TEST(GripTruth, AWedgeSlipsAwayUnlessTheGripAnticipates) {
  const Pinched p(PinchProgram(0.008, 1.0));
  const model::Prop wedge = PinchWedge(0.076, 24 * M_PI / 180);
  const double mu = wedge.friction;
  EXPECT_FALSE(Lifted(p.Truth(wedge), p.end));
  EXPECT_FALSE(Lifted(p.Ours(wedge), p.end));
  const GripOptions anticipate{.kind = GripKind::kAnticipate};
  const Motion truth = p.Truth(wedge, anticipate), ours = p.Ours(wedge, anticipate);
  std::map<const Motion*, double> scale, force_N;
  for (const Motion* motion : {&truth, &ours}) {
    const char* whose = motion == &truth ? "engine" : "ours";
    EXPECT_TRUE(Lifted(*motion, p.end)) << whose;
    for (const int finger : PinchFingers())
      EXPECT_LE(RatioOf(*motion, finger, p.hold, p.end).largest, 0.95 * mu) << whose << finger;
    const artefact::Series* series = motion->FindSeries(synthesis::kGripScale);
    ASSERT_NE(series, nullptr) << whose;
    scale[motion] = series->values[static_cast<Eigen::Index>(p.end)];
    force_N[motion] = RatioOf(*motion, PinchFingers()[0], p.hold, p.end).normal_N;
    std::printf("%s: C x %.3f, thumb %.2f N\n", whose, scale[motion], force_N[motion]);
  }
  EXPECT_LT(scale[&ours], 0.6);  // it had to tighten
  EXPECT_GT(scale[&ours], GripOptions{}.smallest_scale);
  EXPECT_NEAR(scale[&ours], scale[&truth], 0.1 * scale[&truth]);
  EXPECT_NEAR(force_N[&ours], force_N[&truth], 0.1 * force_N[&truth]);
  EXPECT_EQ(synthesis::UnsolvedSteps(ours), 0);
  EXPECT_EQ(*text::WriteJson(artefact::ToJson(ours)),
            *text::WriteJson(artefact::ToJson(p.Ours(wedge, anticipate))));
}

// 120 g on a grip that lifts 96 g: lifted slowly, so that it slides slowly.
TEST(GripTruth, AReflexSavesTheHeavyBoxOfAWeakGrip) {
  synthesis::PinchOptions program = PinchProgram(0.006, 1.0);
  program.lift_s = 1.6;
  const Pinched p(program);
  const model::Prop box = PinchBox(0.12);
  EXPECT_FALSE(Lifted(p.Truth(box), p.end));
  EXPECT_FALSE(Lifted(p.Ours(box), p.end));
  const GripOptions reflex{.kind = GripKind::kReflex};
  const Motion truth = p.Truth(box, reflex), ours = p.Ours(box, reflex);
  for (const Motion* motion : {&truth, &ours}) {
    const char* whose = motion == &truth ? "engine" : "ours";
    EXPECT_TRUE(Lifted(*motion, p.end)) << whose;
    const double slid_m = SlideAlong(*motion, PinchHand(), p.lift, p.end);
    const artefact::Series* scale = motion->FindSeries(synthesis::kGripScale);
    ASSERT_NE(scale, nullptr) << whose;
    size_t tightens = 0;
    while (tightens < p.end && scale->values[static_cast<Eigen::Index>(tightens)] == 1.0)
      ++tightens;
    std::printf("%s: slid %.1f mm, tightens from %.3f s\n", whose, 1e3 * slid_m,
                kFrame_s * static_cast<double>(tightens));
    EXPECT_LT(slid_m, 0.02) << whose;
    EXPECT_GT(slid_m, 0.002) << whose;     // it did slide first,
    EXPECT_GT(tightens, p.lift) << whose;  // in the lift,
    EXPECT_LT(tightens, p.hold) << whose;  // and was caught in it
  }
}

// Two strokes of the gaiting that turns a light bulb on its pivot; the engine's bulb is its 30 mm
// sphere. Six strokes, a bearing that is stiff and one that is slippery: grip_study bulb.
TEST(GripTruth, ALightBulbOnItsPivotTurnsAsTheEngines) {
  const InteractionTrajectory scripted =
      *synthesis::GaitingReference(BulbHand(), BulbPlace(), {.strokes = 2});
  OdeGripOptions ode;
  ode.step_s = 4e-4;
  const InteractionTrajectory free = *OdeFreeRun(BulbHand(), scripted, ode);
  double turned_rad[2] = {};
  const double cases[][4] = {{0.5, 2e-3, 0.02, 0.03}, {0.2, 0.02, 0.05, 0.05}};
  for (int c = 0; c < 2; ++c) {
    const auto [friction, damping, of_sphere, of_mesh] = cases[c];
    const Motion truth =
        *OdeGripRun(BulbHand(), scripted, BulbOnPivot(friction, damping, true), ode);
    const double engine_rad = BulbTurned_rad(truth);
    for (const bool as_sphere : {true, false}) {
      const Motion ours = *synthesis::ReplayInteraction(
          BulbHand(), free, BulbOnPivot(friction, damping, as_sphere), BulbReplay());
      turned_rad[c] = BulbTurned_rad(ours);
      std::printf("friction %.1f: engine %.1f deg, here (%s) %.1f\n", friction, Degrees(engine_rad),
                  as_sphere ? "sphere" : "mesh", Degrees(turned_rad[c]));
      EXPECT_NEAR(turned_rad[c], engine_rad, (as_sphere ? of_sphere : of_mesh) * engine_rad)
          << friction;
      EXPECT_EQ(synthesis::UnsolvedSteps(ours), 0);
      for (const char* finger : {"thumb", "index", "middle", "ring", "little"})
        EXPECT_EQ(BulbContactsOf(ours, finger), BulbContactsOf(truth, finger)) << finger;
    }
    for (const char* finger : {"thumb", "index", "middle", "ring"})
      EXPECT_EQ(BulbContactsOf(truth, finger), 1) << finger;
    // The bearing lets it turn and nothing else.
    for (const geometry::RigidTransform& X : truth.objects[0].X_WP) {
      ASSERT_LT((X.p - BulbPlace().p_W).norm(), 1e-5);
      ASSERT_NEAR(X.R(2, 2), 1.0, 1e-6);
    }
  }
  EXPECT_LT(turned_rad[1], 0.9 * turned_rad[0]);  // the second slips
}

// The wedge of the props' table on which the engine and the replay part (results/props.md): the
// engine's bodies, joints and friction with a replay's contacts do what the replay does, and its
// own colliders press as exact distances say but at a point that jumps along the wedge's edge.
TEST(GripTruth, WithAReplaysContactsTheEngineDoesWhatTheReplayDoes) {
  const model::Prop wedge = *model::LoadLibraryProp("wedge");
  const PropLift lift = *ScriptLift(PinchHand(), wedge, synthesis::ScriptedGrip::kPinch);
  OdeGripOptions ode;
  ode.limits = true;
  ode.end_s = (synthesis::PinchHold(lift.program).end - Timestamp()).seconds();
  const InteractionTrajectory free = *OdeFreeRun(PinchHand(), lift.script, ode);
  const Motion ours = *synthesis::ReplayInteraction(PinchHand(), free, lift.stage, LiftOptions());
  const Motion colliders = *OdeGripRun(PinchHand(), lift.script, lift.stage, ode);
  ode.replay_contacts = true;
  const Motion contacts = *OdeGripRun(PinchHand(), lift.script, lift.stage, ode);
  const auto turned = [](const Motion& motion) -> double {
    const auto& object = motion.objects.back();
    return geometry::Log(object.X_WP.back().R).norm();
  };
  std::printf("wedge turned by: here %.1f deg, engine with our contacts %.1f, with its own %.1f\n",
              Degrees(turned(ours)), Degrees(turned(contacts)), Degrees(turned(colliders)));
  EXPECT_GT(Degrees(turned(ours)), 15.0);
  EXPECT_LT(Degrees(turned(colliders)), 10.0);
  EXPECT_NEAR(Degrees(turned(contacts)), Degrees(turned(ours)), 2.0);
  EXPECT_LT((contacts.objects.back().X_WP.back().p - ours.objects.back().X_WP.back().p).norm(),
            1.5e-3);
  const ContactAudit of_colliders = AuditContacts(PinchHand(), wedge, colliders),
                     of_contacts = AuditContacts(PinchHand(), wedge, contacts);
  EXPECT_GT(of_colliders.touches, 1000);
  EXPECT_EQ(of_colliders.wrong, 0);
  EXPECT_GT(of_colliders.jump_m, 0.5e-3);
  EXPECT_LT(of_contacts.worst_N, of_contacts.touches > 0 ? 0.3 : 0.0);
}

}  // namespace
}  // namespace handhold::testing::grip_truth_test

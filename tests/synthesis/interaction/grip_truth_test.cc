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
#include "tests/support/grip_comparison.h"
#include "tests/support/ode_grip_truth.h"
#include "tests/support/pinch_scene.h"

namespace handhold::testing {
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

}  // namespace
}  // namespace handhold::testing

#include "tools/pipeline/synth_interaction.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/stage_file.h"
#include "database/model/hand_library.h"
#include "database/store/artefact_file.h"
#include "synthesis/interaction/reference_step.h"
#include "tests/tools/pipeline/pipeline_fixture.h"
#include "tools/pipeline/engine.h"

namespace handhold::pipeline::synth_grip_test {
namespace {

using artefact::Verdict;

class SynthGrip : public ::testing::Test {
 protected:
  SynthGrip() : library_(std::move(*store::Library::Create(folder_.path() + "/lab"))) {}
  StepContext context() { return {.library = *library_}; }

  std::string Reference(double depth_m) {
    synthesis::SynthReferenceStep step{.prop = "box_3x5x7"};
    step.options.depth_m = depth_m;
    step.options.hold_s = 0.4;
    const auto made = RunStep(context(), step);
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->hash : "";
  }
  artefact::Motion Motion(const std::string& hash) {
    const auto motion = store::Load<artefact::Motion>(library_->ArtefactPath(hash));
    EXPECT_TRUE(motion);
    return motion ? *motion : artefact::Motion{};
  }

  static artefact::Stage SceneOfOurs(const char* name) {
    const auto scene = artefact::ReadStage(name);
    EXPECT_TRUE(scene) << scene.error().message;
    return scene ? *scene : artefact::Stage{};
  }

  store::TempDir folder_;
  std::unique_ptr<store::Library> library_;
};

TEST_F(SynthGrip, AReferenceIsKeptWithWhatItWasMadeFrom) {
  const std::string hash = Reference(0.012);
  const auto kept = store::Load<artefact::InteractionTrajectory>(library_->ArtefactPath(hash));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->provenance.step, "synth.reference");
  ASSERT_EQ(kept->provenance.inputs.size(), 2u);
  EXPECT_EQ(kept->provenance.inputs[0].role, "skeleton");
  EXPECT_EQ(kept->provenance.inputs[0].hash, kept->skeleton_hash);
  EXPECT_EQ(kept->provenance.inputs[1].role, "prop");
  EXPECT_EQ(Reference(0.012), hash);
  EXPECT_NE(Reference(0.006), hash);
}

TEST_F(SynthGrip, EveryProgramIsMadeAndKept) {
  for (const char* program : {"tripod", "power", "gaiting"}) {
    synthesis::SynthReferenceStep step{.prop = "box_3x5x7"};
    if (std::string(program) == "gaiting") step.prop = "light_bulb";
    step.program = program;
    step.options.depth_m = 0.006;
    step.gaiting.strokes = 1;
    const auto made = RunStep(context(), step);
    EXPECT_TRUE(made) << program << ": " << made.error().message;
  }
  synthesis::SynthReferenceStep unknown{.prop = "box_3x5x7"};
  unknown.program = "pich";
  EXPECT_THAT(RunStep(context(), unknown).error().message, ::testing::HasSubstr("pinch"));
}

TEST_F(SynthGrip, TheBoxIsHeldAndTenTimesItsMassIsNot) {
  SynthInteractionStep step{.clip = Reference(0.004)};
  const auto light = step.Run(context());
  ASSERT_TRUE(light) << light.error().message;
  const artefact::Motion held = Motion(light->hash);
  EXPECT_EQ(held.verdict.kind, Verdict::Kind::kHeld) << held.verdict.cause;
  EXPECT_NEAR(held.summary.figures.at("lifted_m"), 0.1, 0.005);
  EXPECT_EQ(held.summary.figures.at("lcp_failures"), 0.0);
  EXPECT_GT(held.summary.figures.at("peak_force_N"), 0.5);
  for (const artefact::StageThing& thing : held.stage.things)
    EXPECT_TRUE(LoadPropArtefact(*library_, thing.prop.hash)) << thing.name;
  EXPECT_EQ(held.FindPhase(artefact::phase::kHold)->range.end, held.stage.hold->end);

  step.mass_kg = 0.12;
  const auto heavy = step.Run(context());
  ASSERT_TRUE(heavy) << heavy.error().message;
  EXPECT_NE(heavy->hash, light->hash);
  EXPECT_EQ(Motion(heavy->hash).verdict.kind, Verdict::Kind::kDropped);
  // Asked again: nothing is computed.
  EXPECT_TRUE(step.Run(context())->reused);
}

TEST_F(SynthGrip, AReferenceOfOursPlaysByNameOnAHandOfAnotherSize) {
  SynthInteractionStep step{.clip = "pinch_box_3x5x7"};
  const auto own = step.Run(context());
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(Motion(own->hash).verdict.kind, Verdict::Kind::kHeld);
  EXPECT_EQ(FindInput(own->provenance, "trajectory")->hash.size(), 64u);
  step.hand.scale = 1.1;
  const auto larger = step.Run(context());
  ASSERT_TRUE(larger) << larger.error().message;
  EXPECT_NE(FindInput(larger->provenance, "skeleton")->hash,
            FindInput(own->provenance, "skeleton")->hash);
  EXPECT_EQ(Motion(larger->hash).verdict.kind, Verdict::Kind::kHeld);
  step.hand.key = "finger4";
  EXPECT_EQ(step.Run(context()).error().code, ErrorCode::kInvalid);
}

TEST_F(SynthGrip, ASceneOfOursIsStagedAndItsFiguresNameItsObjects) {
  SynthInteractionStep step{.clip = "pinch_flat_box_3x5x7", .scene = SceneOfOurs("stack_on_box")};
  const auto made = step.Run(context());
  ASSERT_TRUE(made) << made.error().message;
  const artefact::Motion motion = Motion(made->hash);
  EXPECT_EQ(motion.verdict.kind, Verdict::Kind::kHeld) << motion.verdict.cause;
  ASSERT_EQ(motion.objects.size(), 3u);
  EXPECT_EQ(motion.objects[1].name, "lower");
  EXPECT_EQ(motion.objects[2].name, "upper");
  EXPECT_EQ(motion.stage.things[2].prop.key, "box_3x5x7");
  EXPECT_LT(motion.summary.figures.at("shift_m.upper"), 0.004);
  EXPECT_EQ(motion.summary.figures.at("lcp_failures"), 0.0);
  // The same by another mass is another motion.
  step.scene->things[2].mass_kg = 0.06;
  const auto heavier = step.Run(context());
  ASSERT_TRUE(heavier);
  EXPECT_NE(heavier->hash, made->hash);
}

TEST_F(SynthGrip, APropThatStandsAsideIsPlacedFirst) {
  SynthInteractionStep step{.clip = "pinch_flat_box_3x5x7"};
  step.X_WProp = geometry::RigidTransform{geometry::Exp(geometry::Vec3(0, 0.5 * M_PI, 0)),
                                          geometry::Vec3(0.304, 0, 0.015)};
  step.place = true;
  const auto made = step.Run(context());
  ASSERT_TRUE(made) << made.error().message;
  const artefact::Motion motion = Motion(made->hash);
  EXPECT_EQ(motion.verdict.kind, Verdict::Kind::kHeld) << motion.verdict.cause;
  // The box lies, 4 mm off: it slides to where the grip expects it, and hardly moves from there.
  const geometry::Vec3 began_p_W = motion.objects.back().X_WP.front().p;
  const auto& figures = motion.summary.figures;
  EXPECT_NEAR(figures.at("placed_m"), (began_p_W - step.X_WProp->p).norm(), 1e-12);
  EXPECT_GT(figures.at("pushed_before_m"), 1e-3);
  EXPECT_LT(figures.at("pushed_after_m"), 0.5 * figures.at("pushed_before_m"));
  EXPECT_TRUE(motion.summary.issues.empty());
}

// An upright box is pushed near its top: it tips, falls back, and that is said.
TEST_F(SynthGrip, PlacingThatWinsNothingSaysSo) {
  SynthInteractionStep step{.clip = "pinch_box_3x5x7"};
  step.X_WProp = geometry::RigidTransform::Translation(geometry::Vec3(0.306, 0, 0.035));
  step.place = true;
  const auto made = step.Run(context());
  ASSERT_TRUE(made) << made.error().message;
  const artefact::Motion motion = Motion(made->hash);
  EXPECT_LT(motion.summary.figures.at("placed_m"), 5e-4);
  EXPECT_GT(motion.summary.figures.at("pushed_after_m"), 1e-3);
  ASSERT_EQ(motion.summary.issues.size(), 1u);
  EXPECT_EQ(motion.summary.issues[0].where, "placement");
  EXPECT_EQ(motion.summary.issues[0].severity, Severity::kWarning);
}

// Two hands lift; one lets go; from then on the other alone carries.
TEST_F(SynthGrip, ABeamIsHeldByTwoHandsAndThenByTheSecondAlone) {
  SynthInteractionStep step{.clip = "pinch_beam_left", .scene = SceneOfOurs("two_hands_on_beam")};
  const auto made = step.Run(context());
  ASSERT_TRUE(made) << made.error().message;
  const artefact::Motion motion = Motion(made->hash);
  EXPECT_EQ(motion.verdict.kind, Verdict::Kind::kHeld) << motion.verdict.cause;
  ASSERT_EQ(motion.hands.size(), 2u);
  EXPECT_EQ(motion.hands[0].name, "L");
  EXPECT_EQ(motion.hands[1].name, "R");
  EXPECT_EQ(motion.summary.figures.at("lcp_failures"), 0.0);
  // The other hand's opening ends at 2.8 s; the judged hold goes to 4.6 s.
  bool right_carried = false;
  geometry::Vec3 at_end_N = geometry::Vec3::Zero();
  const auto end = static_cast<int>(
      std::lower_bound(motion.times.begin(), motion.times.end(), Timestamp::FromSeconds(4.5)) -
      motion.times.begin());
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
    if (!touch.a.is_hand() || touch.b.name != "beam") continue;
    const bool right = touch.a.name == "R";
    const Timestamp t = motion.times[static_cast<size_t>(row.frame)];
    if (right && t > Timestamp::FromSeconds(1.7) && t < Timestamp::FromSeconds(2.1))
      right_carried = true;
    if (t > Timestamp::FromSeconds(2.85)) {
      ASSERT_FALSE(right) << "still touched";
    }
    if (row.frame == end) at_end_N -= row.f_onA_W;
  }
  EXPECT_TRUE(right_carried);
  const double weight_N = 9.81 * 0.012;
  EXPECT_NEAR((at_end_N - geometry::Vec3(0, 0, weight_N)).norm(), 0.0, 0.02 * weight_N);
}

// Lifted slowly, ten times too heavy for the grip: it slides out, unless the hand's reflex saves
// it.
TEST_F(SynthGrip, AReflexSavesTheHeavyBoxOfTheSlowPinch) {
  SynthInteractionStep step{.clip = "pinch_slow_box_3x5x7"};
  step.mass_kg = 0.12;
  EXPECT_EQ(Motion(step.Run(context())->hash).verdict.kind, Verdict::Kind::kDropped);
  step.grip.kind = synthesis::GripKind::kReflex;
  const artefact::Motion saved = Motion(step.Run(context())->hash);
  EXPECT_EQ(saved.verdict.kind, Verdict::Kind::kHeld) << saved.verdict.cause;
  EXPECT_GT(saved.summary.figures.at("lifted_m"), 0.08);  // of 0.1: less than 20 mm of sliding
}

TEST_F(SynthGrip, AJointsOwnTimeConstantIsUsedAndAnUnknownJointIsNamed) {
  SynthInteractionStep step{.clip = "pinch_box_3x5x7"};
  const auto plain = step.Run(context());
  step.time_constant_s = {{"R.index.mcp.flex", 0.014}};  // the trajectory's own
  const auto same = step.Run(context());
  step.time_constant_s = {{"R.index.mcp.flex", 0.2}};
  const auto slow = step.Run(context());
  ASSERT_TRUE(plain && same && slow);
  EXPECT_NE(plain->hash, same->hash);
  const Eigen::MatrixXd q = Motion(plain->hash).hands[0].q;
  EXPECT_EQ(q, Motion(same->hash).hands[0].q);
  EXPECT_GT((q - Motion(slow->hash).hands[0].q).cwiseAbs().maxCoeff(), 1e-3);
  step.time_constant_s = {{"R.index.mpc.flex", 0.2}};
  const auto typo = step.Run(context());
  ASSERT_FALSE(typo);
  EXPECT_EQ(typo.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(typo.error().message, ::testing::HasSubstr("R.index.mcp.flex"));
}

TEST_F(SynthGrip, AReferenceIsMirroredAndMovedAlongTheFaces) {
  synthesis::SynthReferenceStep step{.prop = "beam_3x16x7"};
  step.options.hold_s = 0.1;
  step.along_faces_m = 0.05;
  const auto right = RunStep(context(), step);
  step.skeleton.ask.hand.side = "left";
  step.along_faces_m = -0.05;
  const auto left = RunStep(context(), step);
  ASSERT_TRUE(right && left) << (right ? left : right).error().message;
  const auto of = [&](const std::string& hash) {
    return store::Load<artefact::InteractionTrajectory>(library_->ArtefactPath(hash)).value();
  };
  const auto r = of(right->hash), l = of(left->hash);
  EXPECT_EQ(r.hand, "R");
  EXPECT_EQ(l.hand, "L");
  // The mirror image in y: the root's place; the faces look along x.
  const Eigen::Vector3d p_right = r.q_reference.col(0).head<3>(),
                        p_left = l.q_reference.col(0).head<3>();
  EXPECT_GT(p_right.y(), 0.02);
  EXPECT_NEAR(p_left.x(), p_right.x(), 1e-3);
  EXPECT_NEAR(p_left.y(), -p_right.y(), 1e-3);
}

TEST_F(SynthGrip, AScriptedHandBorrowsWhatATakeKnows) {
  artefact::InteractionTrajectory lender;
  lender.dof_names = {"R.index.pip.flex"};
  lender.times = {Timestamp(), Timestamp::FromSeconds(1)};
  lender.q = lender.q_reference = lender.q_reference_dynamic = Eigen::MatrixXd::Zero(1, 2);
  lender.compliance_rad_per_Nm = Eigen::MatrixXd::Constant(1, 2, 0.123);
  artefact::ComplianceFit& fit = lender.fits.emplace_back();
  fit.estimator = "dynamic";
  fit.task = "pinch";
  fit.joints = {{.dof = "R.index.pip.flex", .compliance_rad_per_Nm = 0.123, .refusal = ""}};
  lender.provenance.step = "fit.compliance";
  lender.provenance.version = 1;
  lender.provenance.parameters_json = "{}";
  const auto kept = library_->Save(lender);
  ASSERT_TRUE(kept) << kept.error().message;
  SynthInteractionStep step{.clip = "pinch_box_3x5x7"};
  const auto own = step.Run(context());
  step.borrow = *kept;
  const auto borrowed = step.Run(context());
  ASSERT_TRUE(own && borrowed) << borrowed.error().message;
  EXPECT_NE(own->hash, borrowed->hash);
  EXPECT_EQ(FindInput(borrowed->provenance, "lender")->hash, *kept);
  const artefact::Motion motion = Motion(borrowed->hash);
  ASSERT_EQ(motion.summary.issues.size(), 1u);
  EXPECT_THAT(motion.summary.issues[0].what, ::testing::HasSubstr("R.index.pip.flex"));
  // A stiffer finger presses harder.
  EXPECT_GT(motion.summary.figures.at("peak_force_N"),
            Motion(own->hash).summary.figures.at("peak_force_N") + 0.05);
  step.borrow = "nobody";
  EXPECT_FALSE(step.Run(context()));
}

// What stands on a pivot cannot be dropped: nothing is judged, and the verdict says why.
TEST_F(SynthGrip, WhatTurnsOnAPivotIsTurnedAndNotJudged) {
  SynthInteractionStep step{.clip = "gaiting_light_bulb", .scene = SceneOfOurs("bulb_on_pivot")};
  const auto made = step.Run(context());
  ASSERT_TRUE(made) << made.error().message;
  const artefact::Motion motion = Motion(made->hash);
  EXPECT_EQ(motion.verdict.kind, Verdict::Kind::kNotJudged);
  EXPECT_NE(motion.verdict.cause, "");
  EXPECT_GT(motion.summary.figures.at("turned_rad.bulb"), 0.35);
}

// Too heavy by far it stays on the table, which is thick; without one nothing carries it; a dry run
// of what ships needs nothing in the library.
TEST_F(SynthGrip, ATableCarriesWhatIsTooHeavyAndNothingElseDoes) {
  SynthInteractionStep step{.clip = "pinch_box_3x5x7"};
  const StepContext dry{.library = *library_, .dry_run = true};
  EXPECT_TRUE(step.Run(dry).has_value());
  SynthInteractionStep scaled = step;
  scaled.hand.scale = 1.1;
  EXPECT_TRUE(scaled.Run(dry).has_value());
  step.mass_kg = 20.0;
  const auto heavy = step.Run(context());
  ASSERT_TRUE(heavy) << heavy.error().message;
  const artefact::Motion motion = Motion(heavy->hash);
  EXPECT_EQ(motion.verdict.kind, Verdict::Kind::kDropped);
  EXPECT_GT(motion.objects.front().X_WP.back().p.z(),
            motion.objects.front().X_WP.front().p.z() - 0.1);
}

// The joints of a weak grip on a heavy box are pushed to their limits and no further.
TEST_F(SynthGrip, JointsStayWithinTheirLimits) {
  SynthInteractionStep step{.clip = "pinch_weak_box_3x5x7"};
  step.mass_kg = 0.12;
  const auto made = step.Run(context());
  ASSERT_TRUE(made) << made.error().message;
  const artefact::Motion motion = Motion(made->hash);
  const model::Skeleton hand = *model::LoadHand("hand27");
  double beyond_rad = 0.0, nearest_rad = 1.0;
  for (int b = 1; b < hand.body_count(); ++b) {
    const model::Joint& joint = hand.body(b).joint;
    if (joint.nq() != joint.nv()) continue;
    for (int k = 0; k < joint.nv(); ++k) {
      const Eigen::RowVectorXd q = motion.hands.front().q.row(hand.q_index(b) + k);
      const double room =
          std::min(joint.upper_rad[k] - q.maxCoeff(), q.minCoeff() - joint.lower_rad[k]);
      beyond_rad = std::max(beyond_rad, -room), nearest_rad = std::min(nearest_rad, room);
    }
  }
  EXPECT_LT(beyond_rad, 1.8e-5);  // 0.001 degrees
  EXPECT_LT(nearest_rad, 1e-3) << "no joint comes near its limit: this shows nothing";
}

// What is no box is gripped between two of its faces, and lifted.
TEST_F(SynthGrip, ABallIsGrippedBetweenItsFaces) {
  synthesis::SynthReferenceStep reference{.prop = "ball"};
  reference.options.hold_s = 0.4;
  const auto made = RunStep(context(), reference);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->chosen, ::testing::Contains(::testing::HasSubstr("faces")));
  SynthInteractionStep step{.clip = made->hash};
  step.mass_kg = 0.05;
  EXPECT_EQ(Motion(step.Run(context())->hash).verdict.kind, Verdict::Kind::kHeld);
}

TEST_F(SynthGrip, RefusesWhatIsNoScript) {
  EXPECT_EQ((SynthInteractionStep{.clip = "0123456789ab"}).Run(context()).error().code,
            ErrorCode::kNotFound);
  synthesis::SynthReferenceStep far{.prop = "flat_plate"};
  const auto refused = RunStep(context(), far);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::pipeline::synth_grip_test

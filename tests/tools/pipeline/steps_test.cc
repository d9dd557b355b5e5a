// Every step of the chain on one short take in a library: what is made, recognised, refused,
// cancelled, and where it came from. How good the numbers are is tests/end_to_end_test.cc's matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "database/model/hand_library.h"
#include "database/store/clip_writer.h"
#include "database/text/json.h"
#include "fitting/compliance/steps.h"
#include "fitting/skeleton/steps.h"
#include "tests/support/marker_motion.h"
#include "tests/tools/pipeline/pipeline_fixture.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/export_motion.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/lineage.h"
#include "tools/pipeline/synth_interaction.h"

namespace handhold::pipeline::steps_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class Steps : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new store::TempDir();
    auto library = store::Library::Create(folder_->path() + "/lab");
    ASSERT_TRUE(library) << library.error().message;
    library_ = library->release();
    feed_ = new lab::SensorFeed(testing::ShortFeed());
    testing::Keep(*library_, lab::MakeClip(*feed_), "stroke_001");
    made_ = new Made();
    Take(RunStep(Context(), Skeleton()), &made_->skeleton);
    Take(RunStep(Context(), Pose()), &made_->pose);
    Take(RunStep(Context(), fitting::FitContactStep{.clip = "stroke_001"}), &made_->contact);
    Take(RunStep(Context(), fitting::FitComplianceStep{.clip = "stroke_001"}), &made_->compliance);
  }
  static void TearDownTestSuite() {
    delete made_;
    delete feed_;
    delete library_;
    delete folder_;
  }

  struct Made {
    StepResult skeleton, pose, contact, compliance;
  };
  static void Take(Result<StepResult> result, StepResult* into) {
    ASSERT_TRUE(result) << result.error().message;
    *into = *std::move(result);
  }
  static StepContext Context() { return {.library = *library_, .tool = "test 1"}; }
  static fitting::FitSkeletonStep Skeleton() {
    fitting::FitSkeletonStep step{.clip = "stroke_001"};
    step.options.frames = step.options.contact_frames = 40;
    return step;
  }
  static fitting::FitPoseStep Pose() {
    fitting::FitPoseStep step{.clip = "stroke_001"};
    step.options.method = fitting::PoseMethod::kFast;
    return step;
  }
  static size_t Count() {
    const auto all = library_->Artefacts();
    EXPECT_TRUE(all);
    return all->size();
  }

  static store::TempDir* folder_;
  static store::Library* library_;
  static lab::SensorFeed* feed_;
  static Made* made_;
};
store::TempDir* Steps::folder_ = nullptr;
store::Library* Steps::library_ = nullptr;
lab::SensorFeed* Steps::feed_ = nullptr;
Steps::Made* Steps::made_ = nullptr;

TEST_F(Steps, EveryResultSaysWhatWasChosenAndWhereItCameFrom) {
  EXPECT_FALSE(made_->skeleton.reused);
  EXPECT_THAT(made_->skeleton.chosen, Contains(HasSubstr("template 'finger4'")));
  EXPECT_THAT(made_->skeleton.chosen, Contains(HasSubstr("range of motion")));
  EXPECT_THAT(made_->pose.chosen, Contains(HasSubstr("newest fitted to this clip")));
  EXPECT_THAT(made_->contact.chosen, Contains(HasSubstr("pose_track")));
  EXPECT_EQ(made_->compliance.provenance.tool, "test 1");
  const auto info = store::ReadArtefactInfo(library_->ArtefactPath(made_->compliance.hash));
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->kind, "interaction_trajectory");
  EXPECT_EQ(info->provenance, made_->compliance.provenance);
  // Every option is told, defaults included.
  const auto parameters = text::ParseJson(made_->pose.provenance.parameters_json);
  ASSERT_TRUE(parameters);
  EXPECT_EQ(*parameters->Find("method")->string(), "fast");
  EXPECT_EQ(*parameters->Find("outlier_m")->number(), 0.005);
}

TEST_F(Steps, TheLineageLeadsToTheRecordingAndBack) {
  const auto nodes = Lineage(*library_, made_->compliance.hash);
  ASSERT_TRUE(nodes) << nodes.error().message;
  const auto row = library_->FindClip("stroke_001");
  ASSERT_TRUE(row);
  std::set<std::string> kinds;
  bool clip = false;
  for (const LineageNode& node : *nodes) {
    kinds.insert(node.kind);
    clip = clip || (node.kind == "clip" && node.hash == row->sha256 && node.name == "stroke_001");
  }
  EXPECT_TRUE(clip);
  EXPECT_THAT(kinds, Contains("skeleton"));
  EXPECT_THAT(kinds, Contains("pose_track"));
  EXPECT_THAT(kinds, Contains("contact_track"));
  EXPECT_THAT(kinds, Contains("prop"));
  const auto made = Descendants(*library_, row->sha256);
  ASSERT_TRUE(made);
  std::set<std::string> hashes;
  for (const store::ArtefactInfo& info : *made) hashes.insert(info.hash);
  for (const StepResult* result :
       {&made_->skeleton, &made_->pose, &made_->contact, &made_->compliance})
    EXPECT_THAT(hashes, Contains(result->hash)) << result->provenance.step;
}

TEST_F(Steps, TheSameStepIsRecognisedAndAnotherParameterIsAnotherResult) {
  const size_t before = Count();
  bool computed = false;
  StepContext context = Context();
  context.tool = "another program";
  context.progress = [&](double, std::string_view) { return computed = true; };
  const auto again = RunStep(context, Pose());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->reused);
  EXPECT_FALSE(computed);
  EXPECT_EQ(again->hash, made_->pose.hash);
  EXPECT_EQ(again->provenance, made_->pose.provenance) << "told as it was made then";
  EXPECT_EQ(Count(), before);
  fitting::FitPoseStep other = Pose();
  other.options.outlier_m = 0.004;
  context.dry_run = true;
  const auto would = RunStep(context, other);
  ASSERT_TRUE(would) << would.error().message;
  EXPECT_FALSE(would->reused);
  EXPECT_NE(would->hash, made_->pose.hash);
}

// A bad fit that was tried in between is not what the next step takes.
TEST_F(Steps, AResultThatIsAskedForAgainIsTheNewest) {
  fitting::FitPoseStep other = Pose();
  other.options.outlier_m = 0.0045;
  const auto bad = RunStep(Context(), other);
  ASSERT_TRUE(bad) << bad.error().message;
  const auto next = [&] {
    StepContext dry = Context();
    dry.dry_run = true;
    const auto would = RunStep(dry, fitting::FitContactStep{.clip = "stroke_001"});
    EXPECT_TRUE(would) << would.error().message;
    return would ? FindInput(would->provenance, "pose")->hash : "";
  };
  EXPECT_EQ(next(), bad->hash);
  StepContext dry = Context();
  dry.dry_run = true;
  ASSERT_TRUE(RunStep(dry, Pose())->reused);
  EXPECT_EQ(next(), bad->hash) << "a dry run changes nothing";
  ASSERT_TRUE(RunStep(Context(), Pose())->reused);
  EXPECT_EQ(next(), made_->pose.hash);
  ASSERT_TRUE(library_->Rebuild(false));
  EXPECT_EQ(next(), made_->pose.hash) << "whatever becomes of the catalogue";
  EXPECT_THAT(library_->Check().value(), ::testing::IsEmpty());
  ASSERT_TRUE(RunStep(Context(), other)->reused);
  EXPECT_EQ(next(), bad->hash);
  // What cannot be read of the note counts for nothing.
  std::ofstream(library_->path() + "/derived/" + made_->pose.hash + ".renewed") << "x";
  EXPECT_EQ(next(), bad->hash);
  std::filesystem::remove(library_->path() + "/derived/" + bad->hash + ".renewed");
  std::filesystem::remove(library_->ArtefactPath(bad->hash));
  ASSERT_TRUE(library_->Rebuild(false));
  EXPECT_EQ(next(), made_->pose.hash);
}

TEST_F(Steps, ADryRunSavesNothingAndNamesWhatWouldBeMade) {
  const size_t before = Count();
  fitting::FitContactStep step{.clip = "stroke_001"};
  step.options.threshold_N = 0.4;
  StepContext dry = Context();
  dry.dry_run = true;
  const auto would = RunStep(dry, step);
  ASSERT_TRUE(would) << would.error().message;
  EXPECT_FALSE(would->reused);
  EXPECT_EQ(Count(), before);
  const auto done = RunStep(Context(), step);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->hash, would->hash);
  EXPECT_EQ(Count(), before + 1);
}

// An exchange format that holds instants only leaves a take without its length.
// What a take lacks is told before the fit, and stays with its result.
TEST_F(Steps, TheAdviceOnATakeIsToldAndKeptInItsResult) {
  std::vector<std::string> told;
  StepContext context = Context();
  context.tell = [&](const std::string& said) { told.push_back(said); };
  context.progress = [&](double, std::string_view doing) {
    return doing != "fit.compliance: the paper's estimator" || told.empty();
  };
  fitting::FitComplianceStep other{.clip = "stroke_001"};
  other.dynamic.inertia_sd_log = 0.32;
  const auto cancelled = RunStep(context, other);
  ASSERT_FALSE(cancelled) << "cancelled once it was told";
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  ASSERT_FALSE(told.empty()) << "a short feed lacks something";
  const auto kept =
      store::Load<artefact::InteractionTrajectory>(library_->ArtefactPath(made_->compliance.hash));
  ASSERT_TRUE(kept) << kept.error().message;
  std::vector<std::string> stays;
  for (const Issue& issue : kept->summary.issues) {
    if (issue.where == fitting::kOfTheTake) stays.push_back("the take: " + issue.what);
  }
  EXPECT_EQ(stays, told);
}

TEST_F(Steps, ARangeOfMotionWithoutALengthIsNone) {
  for (const bool long_enough : {true, false}) {
    const auto finger = model::LoadHand("finger4");
    ASSERT_TRUE(finger);
    recording::Clip clip = test_support::MarkerClip(
        *finger, [&](double) { return finger->ZeroConfiguration(); }, 20, 5e-5, 3,
        [](int, int) { return false; });
    recording::Event take;
    take.kind = "take";
    take.text = "range_of_motion";
    take.clip_time = clip.Extent(1).begin;
    if (long_enough) take.length = clip.Extent(1).length();
    clip.AddEvent(take);
    const std::string name = long_enough ? "marked" : "exchanged";
    testing::Keep(*library_, std::move(clip), name);
    const fitting::FitSkeletonStep step{.clip = name, .surface = "none"};
    StepContext dry = Context();
    dry.dry_run = true;
    const auto would = RunStep(dry, step);
    ASSERT_TRUE(would) << would.error().message;
    const auto chosen = Contains(HasSubstr("range of motion"));
    if (long_enough) {
      EXPECT_THAT(would->chosen, chosen);
    } else {
      EXPECT_THAT(would->chosen, ::testing::Not(chosen));
    }
  }
}

TEST_F(Steps, ACancelledStepSavesNothing) {
  const size_t before = Count();
  for (const int calls : {0, 1}) {  // before the work, and in it
    int left = calls;
    StepContext context = Context();
    context.progress = [&](double, std::string_view) { return left-- > 0; };
    fitting::FitPoseStep step = Pose();
    step.options.outlier_m = 0.006;
    const auto cancelled = RunStep(context, step);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled) << cancelled.error().message;
  }
  EXPECT_EQ(Count(), before);
}

// The long fits ask in every iteration, so that Ctrl-C is answered in the middle of one.
TEST_F(Steps, TheFitsOfHandAndComplianceAreCancelledWithinAnIteration) {
  const size_t before = Count();
  fitting::FitSkeletonStep skeleton = Skeleton();
  skeleton.options.frames = 42;
  fitting::FitComplianceStep compliance{.clip = "stroke_001"};
  compliance.dynamic.inertia_sd_log = 0.31;
  const auto expect_cancelled = [&](const auto& step, int calls) {
    int asked = 0;
    StepContext context = Context();
    context.progress = [&](double, std::string_view) { return ++asked <= calls; };
    const auto cancelled = RunStep(context, step);
    ASSERT_FALSE(cancelled) << "not asked " << calls << " times";
    EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled) << cancelled.error().message;
    EXPECT_EQ(asked, calls + 1) << "who cancelled is not asked again";
  };
  for (const int calls : {0, 1, 2, 3}) expect_cancelled(skeleton, calls);
  for (const int calls : {0, 1, 2, 5, 20}) expect_cancelled(compliance, calls);
  EXPECT_EQ(Count(), before);
}

// A take whose recorder died may still change when it is closed: no result may hang on it.
TEST_F(Steps, AnUnfinishedClipIsRefusedWithTheCommandThatClosesIt) {
  recording::Clip clip = lab::MakeClip(*feed_);
  recording::ClipInfo info = clip.info();
  info.id = ClipId::New();
  info.name = "cut_off";
  {
    auto writer = store::ClipWriter::Create(library_->ClipPath(info.id), info, {});
    ASSERT_TRUE(writer) << writer.error().message;
    for (const recording::StreamInfo& stream : clip.streams())
      ASSERT_TRUE((*writer)->AddStream(stream));
  }  // never closed
  const Status indexed = library_->Index(info.id);
  ASSERT_TRUE(indexed) << indexed.error().message;
  const size_t before = Count();
  const auto expect_refused = [](const auto& result) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(result.error().message,
                AllOf(HasSubstr("'cut_off' was cut off and not closed"),
                      HasSubstr("handhold library rebuild --finish --library ")));
  };
  expect_refused(RunStep(Context(), fitting::FitSkeletonStep{.clip = "cut_off"}));
  expect_refused(RunStep(Context(), fitting::FitPoseStep{.clip = "cut_off"}));
  expect_refused(RunStep(Context(), fitting::FitContactStep{.clip = "cut_off"}));
  expect_refused(RunStep(Context(), fitting::FitComplianceStep{.clip = "cut_off"}));
  expect_refused(SynthInteractionStep{.clip = "cut_off"}.Run(Context()));
  expect_refused(RunStep(
      Context(), fitting::FitSkeletonStep{.clip = "stroke_001", .contact_clip = "cut_off"}));
  EXPECT_EQ(Count(), before);
}

TEST_F(Steps, WhatIsMissingIsNamedWithTheCommandThatMakesIt) {
  const auto code_and_text = [](const auto& result) {
    EXPECT_FALSE(result);
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(code_and_text(RunStep(Context(), fitting::FitPoseStep{.clip = "stroke_002"})),
              AllOf(HasSubstr("stroke_002"), HasSubstr("stroke_001")));
  recording::Clip bare = lab::MakeClip(*feed_);
  bare.mutable_info().subject = "S99";
  bare.mutable_info().things[0].pose = recording::Thing::Pose::kUnknown;
  testing::Keep(*library_, std::move(bare), "bare");
  EXPECT_THAT(code_and_text(RunStep(Context(), fitting::FitPoseStep{.clip = "bare"})),
              AllOf(HasSubstr("S99"), HasSubstr("fit skeleton bare")));
  EXPECT_THAT(code_and_text(RunStep(Context(), fitting::FitContactStep{.clip = "bare"})),
              HasSubstr("fit pose bare"));
  EXPECT_THAT(code_and_text(RunStep(Context(), fitting::FitComplianceStep{.clip = "bare"})),
              HasSubstr("fit contact bare"));
  EXPECT_THAT(code_and_text(SynthInteractionStep{.clip = "bare"}.Run(Context())),
              HasSubstr("fit compliance bare"));
  EXPECT_THAT(code_and_text(RunStep(Context(), fitting::FitSkeletonStep{.clip = "bare"})),
              AllOf(HasSubstr("give its pose"), HasSubstr("bare")));
  EXPECT_THAT(code_and_text(
                  RunStep(Context(), fitting::FitPoseStep{.clip = "bare", .skeleton = "finger5"})),
              HasSubstr("finger4"));
  // An artefact of another kind, and of another clip.
  EXPECT_THAT(code_and_text(RunStep(
                  Context(), fitting::FitPoseStep{.clip = "bare", .skeleton = made_->pose.hash})),
              HasSubstr("is a pose_track, not a skeleton"));
  EXPECT_THAT(code_and_text(RunStep(
                  Context(), fitting::FitContactStep{.clip = "bare", .pose = made_->pose.hash})),
              AllOf(HasSubstr("stroke_001"), HasSubstr("bare")));
}

// One stroke determines no compliance of the end joints: they are refused, stay refused, and
// synthesis says what it assumed and what hangs on it.
TEST_F(Steps, ARefusedJointStaysRefusedAndWhatIsAssumedIsMarked) {
  const auto fitted =
      store::Load<artefact::InteractionTrajectory>(library_->ArtefactPath(made_->compliance.hash));
  ASSERT_TRUE(fitted) << fitted.error().message;
  const auto has = [&](const std::string& estimator) {
    return std::any_of(fitted->fits.begin(), fitted->fits.end(),
                       [&](const auto& fit) { return fit.estimator == estimator; });
  };
  EXPECT_TRUE(has("dynamic"));
  EXPECT_TRUE(has("paper"));
  const int dip = 3;
  EXPECT_FALSE(fitted->compliance_rad_per_Nm.row(dip).array().isFinite().any());
  EXPECT_EQ(fitted->assumed[dip], 0);

  SynthInteractionStep none{.clip = "stroke_001", .prop = "bumped_plate"};
  none.assume_table1 = false;
  const auto refused = none.Run(Context());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnidentifiable);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("R.index.dip.flex"), HasSubstr("--assume-compliance")));
  SynthInteractionStep typo{.clip = "stroke_001"};
  typo.assume_compliance = {{"R.index.dpi.flex", 0.5}};
  EXPECT_THAT(typo.Run(Context()).error().message, HasSubstr("R.index.dip.flex"));

  SynthInteractionStep step{.clip = "stroke_001", .prop = "bumped_plate"};
  step.assume_compliance = {{"R.index.dip.flex", 0.6}};
  const auto made = step.Run(Context());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->assumed_dofs, Contains("R.index.dip.flex"));
  EXPECT_THAT(made->chosen, Contains(AllOf(HasSubstr("R.index.dip.flex"), HasSubstr("0.6"))));
  ASSERT_FALSE(made->assumed.empty());
  for (const AssumedValue& value : made->assumed) {
    EXPECT_THAT(made->assumed_dofs, Contains(value.dof));
    EXPECT_NE(value.task, "");
    if (value.dof == "R.index.dip.flex") {
      EXPECT_EQ(value.compliance_rad_per_Nm, 0.6);
    }
  }
  ASSERT_EQ(made->replays.size(), 2u);
  EXPECT_EQ(made->replays[0].factor, 0.5);
  EXPECT_EQ(made->replays[1].factor, 2.0);
  EXPECT_GT(made->replays[1].site_rms_m, 0.0);
  const auto motion = store::Load<artefact::Motion>(library_->ArtefactPath(made->hash));
  ASSERT_TRUE(motion);
  ASSERT_EQ(motion->hands.size(), 1u);
  EXPECT_EQ(motion->stage.hands[0].assumed_dofs, made->assumed_dofs);
  ASSERT_EQ(motion->objects.size(), 1u);
  EXPECT_EQ(motion->stage.things[0].prop.key, "bumped_plate");
  EXPECT_TRUE(motion->objects[0].stands_still());
  EXPECT_FALSE(motion->rows.empty());
  ASSERT_FALSE(motion->touches.empty());
  EXPECT_EQ(motion->touches[0].a.site, "R.index.pad");
  const auto after =
      store::Load<artefact::InteractionTrajectory>(library_->ArtefactPath(made_->compliance.hash));
  ASSERT_TRUE(after);
  EXPECT_FALSE(after->compliance_rad_per_Nm.row(dip).array().isFinite().any());
  // Recognised, with the replays.
  const auto again = step.Run(Context());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->reused);
  EXPECT_EQ(again->replays.size(), 2u);
  // The clip's newest trajectory is still the fitted one.
  EXPECT_EQ(again->hash, made->hash);

  // A larger hand plays the same angles: it presses deeper into the surface that stands where it
  // stood, and both hands are kept apart.
  SynthInteractionStep larger = step;
  larger.replay_assumed = false;
  larger.hand.scale = 1.02;
  const auto grown = larger.Run(Context());
  ASSERT_TRUE(grown) << grown.error().message;
  EXPECT_NE(grown->hash, made->hash);
  const auto of_larger = store::Load<artefact::Motion>(library_->ArtefactPath(grown->hash));
  ASSERT_TRUE(of_larger);
  EXPECT_NE(of_larger->stage.hands[0].skeleton.hash, motion->stage.hands[0].skeleton.hash);
  EXPECT_EQ(of_larger->objects[0].X_WP.front().p, motion->objects[0].X_WP.front().p);
  EXPECT_GT(std::abs(of_larger->summary.figures.at("peak_force_N") -
                     motion->summary.figures.at("peak_force_N")),
            0.01);
  larger.hand.key = "hand27";
  EXPECT_EQ(larger.Run(Context()).error().code, ErrorCode::kInvalid);
  // Borrowed of a take that knows the joint; what is named wins; the surface stays.
  artefact::InteractionTrajectory lender;
  lender.dof_names = {"R.index.dip.flex"};
  lender.times = {Timestamp(), Timestamp::FromSeconds(1)};
  lender.q = lender.q_reference = Eigen::MatrixXd::Zero(1, 2);
  lender.compliance_rad_per_Nm = Eigen::MatrixXd::Constant(1, 2, 0.45);
  artefact::ComplianceFit& lent = lender.fits.emplace_back();
  lent.estimator = "dynamic";
  lent.joints = {{.dof = "R.index.dip.flex", .compliance_rad_per_Nm = 0.45, .refusal = ""}};
  lender.provenance.step = "fit.compliance";
  lender.provenance.version = 1;
  lender.provenance.parameters_json = "{}";
  const auto kept = library_->Save(lender);
  ASSERT_TRUE(kept) << kept.error().message;
  SynthInteractionStep borrows{.clip = "stroke_001", .replay_assumed = false};
  borrows.borrow = *kept;
  const auto with = borrows.Run(Context());
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(FindInput(with->provenance, "lender")->hash, *kept);
  for (const AssumedValue& value : with->assumed) {
    if (value.dof == "R.index.dip.flex") {
      EXPECT_EQ(value.compliance_rad_per_Nm, 0.45);
    }
  }
  borrows.assume_compliance = {{"R.index.dip.flex", 0.6}};
  const auto named = borrows.Run(Context());
  ASSERT_TRUE(named);
  for (const AssumedValue& value : named->assumed) {
    if (value.dof == "R.index.dip.flex") {
      EXPECT_EQ(value.compliance_rad_per_Nm, 0.6);
    }
  }

  // A value that the refused fit contradicts is taken, since it was named, and that is said.
  const AssumedValue& of = made->assumed.front();
  const bool bounded = std::isfinite(of.upper_rad_per_Nm);
  ASSERT_TRUE(bounded || of.lower_rad_per_Nm > 0) << "this fit leaves everything open";
  SynthInteractionStep outside{
      .clip = "stroke_001", .prop = "bumped_plate", .replay_assumed = false};
  outside.assume_compliance = {
      {of.dof, bounded ? 1.5 * of.upper_rad_per_Nm : 0.5 * of.lower_rad_per_Nm}};
  const auto told = outside.Run(Context());
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_THAT(told->chosen, Contains(AllOf(HasSubstr(of.dof), HasSubstr("excludes it"))));
}

// A captured finger plays beside a scripted hand: what its fit refused is assumed, as where it
// plays alone, and it follows its own reference.
TEST_F(Steps, ACapturedHandPlaysInAScene) {
  SynthInteractionStep step{.clip = "pinch_box_3x5x7"};
  artefact::Stage scene{.name = "beside"};
  scene.hands.emplace_back().trajectory.key = "stroke_001";
  artefact::StageThing box{.name = "box"};
  box.prop.key = "box_3x5x7";
  scene.Add(box);
  artefact::StageThing pedestal{.name = "pedestal",  // a table would stand in the finger
                                .is = artefact::StageThing::Is::kFixed,
                                .X_WP = geometry::RigidTransform::Translation({0.3, 0, -0.035})};
  pedestal.prop.key = "box_3x5x7";
  scene.Add(pedestal);
  step.scene = scene;
  const auto made = step.Run(Context());
  ASSERT_TRUE(made) << made.error().message;
  const auto motion = store::Load<artefact::Motion>(library_->ArtefactPath(made->hash));
  ASSERT_TRUE(motion);
  ASSERT_EQ(motion->hands.size(), 2u);
  EXPECT_THAT(motion->stage.hands[1].assumed_dofs, Contains("R.index.dip.flex"));
  EXPECT_EQ(motion->verdict.kind, artefact::Verdict::Kind::kHeld) << motion->verdict.cause;
  const auto fitted =
      store::Load<artefact::InteractionTrajectory>(library_->ArtefactPath(made_->compliance.hash));
  ASSERT_TRUE(fitted);
  const Eigen::VectorXd moved =
      motion->hands[1].q.rowwise().maxCoeff() - motion->hands[1].q.rowwise().minCoeff();
  EXPECT_GT(moved.maxCoeff(), 0.2) << "it does not move";
}

// A motion made by hand: every column where it belongs, numbers to the bit.
TEST(ExportMotion, IsATableWithUnits) {
  artefact::Motion motion;
  motion.times = {Timestamp(), Timestamp() + Duration::Milliseconds(2)};
  motion.hands.push_back({"R", {"a.flex", "b,x"}, Eigen::MatrixXd::Zero(2, 2)});
  motion.hands[0].q(1, 1) = 0.1 + 0.2;
  motion.series.push_back({"equilibrium_residual", "rad", Eigen::VectorXd::Zero(2)});
  motion.objects = {
      {"ball",
       {geometry::RigidTransform::Identity(), geometry::RigidTransform::Translation({0, 0, 1})}}};
  for (const double f : {1.0, 2.5}) {
    artefact::ContactRow c;
    c.frame = 1;
    c.touch = motion.TouchBetween({artefact::Side::Kind::kHand, "R", "", 1},
                                  {artefact::Side::Kind::kThing, "ball", "", 0}, motion.times[1]);
    c.f_onA_W = {0, 0, f};
    c.slip_m_per_s = f;
    motion.rows.push_back(c);
  }
  EXPECT_EQ(MotionToCsv(motion),
            "time_s,a.flex_rad,\"b,x_rad\",f_onHand_x_N,f_onHand_y_N,f_onHand_z_N,contacts,"
            "slip_m_per_s,equilibrium_residual_rad,ball.x_m,ball.y_m,ball.z_m,ball.qw,ball.qx,"
            "ball.qy,ball.qz\n"
            "0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0\n"
            "0.002,0,0.30000000000000004,0,0,3.5,2,2.5,0,0,0,1,1,0,0,0\n");
}

TEST_F(Steps, FrictionAndPlaceAreParameters) {
  SynthInteractionStep step{.clip = "stroke_001"};
  StepContext dry = Context();
  dry.dry_run = true;
  const auto plain = step.Run(dry);
  ASSERT_TRUE(plain) << plain.error().message;
  step.friction = 0.5;  // the plate's own
  EXPECT_EQ(step.Run(dry)->hash, plain->hash);
  step.friction = 0.1;
  EXPECT_NE(step.Run(dry)->hash, plain->hash);
  step.friction = {};
  step.X_WProp = geometry::RigidTransform::Translation({0, 0, -1});
  EXPECT_NE(step.Run(dry)->hash, plain->hash);
}

// The plate raised into the stroke of a stiff hand, and lowered away from it.
TEST_F(Steps, AJamAndAMissAreTold) {
  const std::vector<recording::Thing> things = lab::MakeClip(*feed_).info().things;
  ASSERT_EQ(things.size(), 1u);
  const geometry::RigidTransform stood = things[0].X_WT;
  const auto issues = [&](double raised_m, double compliance_scale, double* nearest_m) {
    SynthInteractionStep step{.clip = "stroke_001", .prop = "flat_plate", .replay_assumed = false};
    step.compliance_scale = compliance_scale;
    step.X_WProp = stood;
    step.X_WProp->p.z() += raised_m;
    const auto made = step.Run(Context());
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return std::string();
    const auto motion = store::Load<artefact::Motion>(library_->ArtefactPath(made->hash));
    EXPECT_TRUE(motion);
    const auto nearest = motion->summary.figures.find("nearest_approach_m");
    *nearest_m = nearest == motion->summary.figures.end() ? -1.0 : nearest->second;
    std::string all;
    for (const Issue& issue : motion->summary.issues) all += issue.where + ": " + issue.what + "\n";
    return all;
  };
  double nearest_m = 0;
  const std::string as_captured = issues(0, 1.0, &nearest_m);
  EXPECT_EQ(as_captured.find("jam"), std::string::npos) << as_captured;
  EXPECT_EQ(nearest_m, -1.0) << "not asked where it touches";
  EXPECT_THAT(as_captured, HasSubstr("gives back what was recorded, whatever the compliances"));
  EXPECT_THAT(issues(0.01, 0.1, &nearest_m),
              AllOf(::testing::Not(HasSubstr("gives back")), HasSubstr("jam: 1 of 1 touches jam"),
                    HasSubstr("more than 2 times"), HasSubstr("assumed for"),
                    HasSubstr("R.index.dip.flex")));
  EXPECT_THAT(issues(-0.05, 1.0, &nearest_m),
              AllOf(HasSubstr("never touches 'flat_plate'; it comes no nearer than"),
                    HasSubstr("--prop-pose")));
  EXPECT_NEAR(nearest_m, 0.035, 0.012);  // the reference goes 15 mm into the plate
}

TEST_F(Steps, TheSameMeshIsTheSamePropWhereverItLies) {
  const double corner[4][3] = {{0, 0, 0}, {40, 0, 0}, {0, 40, 0}, {0, 0, 40}};
  const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  std::filesystem::create_directory(folder_->path() + "/other");
  std::vector<std::string> paths = {folder_->path() + "/tip.stl",
                                    folder_->path() + "/other/tip.stl"};
  for (const std::string& path : paths) {
    std::ofstream out(path);
    out << "solid tip\n";
    for (const auto& f : face) {
      out << "facet normal 0 0 0\nouter loop\n";
      for (const int c : f)
        out << "vertex " << corner[c][0] << " " << corner[c][1] << " " << corner[c][2] << "\n";
      out << "endloop\nendfacet\n";
    }
    out << "endsolid tip\n";
  }
  std::vector<std::string> chosen;
  const auto here = FindProp(Context(), paths[0], 0.001, &chosen);
  const auto there = FindProp(Context(), paths[1], 0.001, &chosen);
  const auto larger = FindProp(Context(), paths[1], 0.01, &chosen);
  ASSERT_TRUE(here && there && larger) << here.error().message;
  EXPECT_EQ(here->hash, there->hash);
  EXPECT_NE(here->hash, larger->hash);
  EXPECT_THAT(chosen[0], HasSubstr("40 x 40 x 40 mm"));
  const auto kept = LoadPropArtefact(*library_, here->hash);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->prop.name, "tip");
  // Under the hand: its top at the height of the plate.
  SynthInteractionStep step{.clip = "stroke_001", .prop = paths[0]};
  StepContext dry = Context();
  dry.dry_run = true;
  const auto placed = step.Run(dry);
  ASSERT_TRUE(placed) << placed.error().message;
  EXPECT_THAT(placed->chosen, Contains(HasSubstr("under the middle of the captured contacts")));
}

}  // namespace
}  // namespace handhold::pipeline::steps_test

#include "tools/pipeline/regrasp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/store/artefact_file.h"
#include "tests/tools/pipeline/pipeline_fixture.h"

namespace handhold::pipeline::regrasp_test {
namespace {

using ::testing::HasSubstr;

class Regrasp : public ::testing::Test {
 protected:
  Regrasp() : library_(std::move(*store::Library::Create(folder_.path() + "/lab"))) {}
  StepContext context() { return {.library = *library_}; }
  static RegraspStep Small() {
    RegraspStep step{.example = "hand57_cylinder", .prop = "cylinder_50"};
    step.poses = 4;
    step.top = 2;
    step.motions = false;
    step.trial.quick_hold_s = 0.1;
    step.judge.exact = 0;
    return step;
  }
  RegraspResult Run(const RegraspStep& step) {
    auto result = step.Run(context());
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *std::move(result) : RegraspResult{};
  }

  store::TempDir folder_;
  std::unique_ptr<store::Library> library_;
};

TEST_F(Regrasp, GraspsAndMotionsAreKeptWithWhatTheyWereMadeFrom) {
  RegraspStep step = Small();
  step.motions = true;
  step.judge.exact = 1;
  const RegraspResult result = Run(step);
  EXPECT_EQ(result.progress.tried, 4);
  ASSERT_EQ(result.kept.size(), 2u);
  for (const RegraspResult::Kept& kept : result.kept) {
    const auto grasp = store::Load<artefact::Grasp>(library_->ArtefactPath(kept.hash));
    ASSERT_TRUE(grasp);
    EXPECT_EQ(grasp->provenance.step, "regrasp");
    ASSERT_EQ(grasp->provenance.inputs.size(), 3u);
    EXPECT_EQ(FindInput(grasp->provenance, "example")->name, "hand57_cylinder");
    EXPECT_EQ(grasp->prop, "cylinder_50");
    EXPECT_TRUE(LoadPropArtefact(*library_, grasp->prop_hash));
    EXPECT_TRUE(LoadSkeletonArtefact(*library_, grasp->skeleton_hash));
    EXPECT_TRUE(grasp->scores.contains("epsilon"));
    const auto motion = store::Load<artefact::Motion>(library_->ArtefactPath(kept.motion));
    ASSERT_TRUE(motion);
    EXPECT_EQ(FindInput(motion->provenance, "grasp")->hash, kept.hash);
    EXPECT_TRUE(LoadSkeletonArtefact(*library_, motion->hands.front().skeleton_hash));
  }
  EXPECT_NE(synthesis::ExactTestOf(result.kept.front().grasp), nullptr);
  EXPECT_NE(result.kept[0].hash, result.kept[1].hash);
  // A motion made here is an example itself: the hand and prop it was made of.
  std::vector<std::string> chosen;
  const auto example = FindExample(context(), result.kept.front().motion, &chosen);
  ASSERT_TRUE(example) << example.error().message;
  EXPECT_EQ(example->prop.prop.name, "cylinder_50");
  EXPECT_GE(example->grasp.contacts.size(), 3u);
}

// Tested exactly or not: what is kept is where hand and prop have come to rest.
TEST_F(Regrasp, WhatIsKeptHasSettled) {
  const RegraspStep step = Small();  // none is tested exactly
  const RegraspResult result = Run(step);
  ASSERT_FALSE(result.kept.empty());
  const model::Prop prop = *model::LoadLibraryProp("cylinder_50");
  for (const RegraspResult::Kept& kept : result.kept) {
    ASSERT_EQ(synthesis::ExactTestOf(kept.grasp), nullptr);
    synthesis::HandTrialOptions options;
    options.scene.mass_kg = step.mass_kg, options.scene.friction = step.friction;
    synthesis::HandTrial trial(*model::LoadHand("hand57"), prop, options);
    const auto again = trial.Settled(kept.grasp);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_LT((again->X_PH.p - kept.grasp.X_PH.p).norm(), 1e-3);
    EXPECT_EQ(again->contacts.size(), kept.grasp.contacts.size());
  }
}

TEST_F(Regrasp, TwoProcessesFindWhatOneFinds) {
  RegraspStep step = Small();
  const RegraspResult one = Run(step);
  step.jobs = 2;
  const RegraspResult two = Run(step);
  EXPECT_EQ(two.progress.tried, 4);
  ASSERT_EQ(one.kept.size(), two.kept.size());
  for (size_t i = 0; i < one.kept.size(); ++i) {
    EXPECT_EQ(one.kept[i].grasp.q, two.kept[i].grasp.q);  // to the bit, through the pipe
    EXPECT_EQ(one.kept[i].hash, two.kept[i].hash);
  }
  EXPECT_EQ(one.refused, two.refused);
}

TEST_F(Regrasp, StoppedItKeepsWhatWasFound) {
  for (const int jobs : {1, 2}) {
    RegraspStep step = Small();
    step.poses = 400;
    step.jobs = jobs;
    step.watch = [](const RegraspProgress& p) { return p.survived == 0; };
    const RegraspResult result = Run(step);
    EXPECT_TRUE(result.stopped) << jobs;
    EXPECT_LT(result.progress.tried, 100) << jobs;
    EXPECT_GE(result.kept.size(), 1u) << jobs;
  }
}

TEST_F(Regrasp, WithoutAMatchItSaysSoAndKeepsNothing) {
  RegraspStep step = Small();
  step.region = "spout";
  EXPECT_THAT(Run(step).no_match, HasSubstr("spout"));
  step.region = "1,1,1,0.01";
  EXPECT_THAT(Run(step).no_match, HasSubstr("region"));
  step.region = "";
  step.type = "tripod";
  const RegraspResult result = Run(step);
  EXPECT_THAT(result.no_match, HasSubstr("tripod"));
  EXPECT_TRUE(result.kept.empty());
  step.jobs = 2;
  EXPECT_THAT(Run(step).no_match, HasSubstr("tripod"));
}

TEST_F(Regrasp, WhatCannotBeIsRefusedByName) {
  RegraspStep step = Small();
  step.example = "hand57_cylindr";
  const auto unknown = step.Run(context());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("hand57_cylinder"));
  step = Small();
  step.hand.key = "hand27";
  EXPECT_EQ(step.Run(context()).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::pipeline::regrasp_test

#include "tools/pipeline/regrasp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "database/model/hand_library.h"
#include "database/store/artefact_file.h"
#include "tests/tools/pipeline/pipeline_fixture.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/find_grasp.h"

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
  struct Kept {
    artefact::Grasp grasp;
    std::string hash, motion;
  };
  struct Made {
    StepResult result;
    std::vector<Kept> kept;
    int64_t Count(const char* name) const { return *result.report.Find(name)->integer(); }
  };
  Made Load(StepResult result) {
    Made made{std::move(result), {}};
    for (const StepOutput& output : made.result.outputs) {
      if (output.role == "grasp") {
        made.kept.push_back(
            {*store::Load<artefact::Grasp>(library_->ArtefactPath(output.hash)), output.hash, ""});
      } else {
        made.kept.at(static_cast<size_t>(output.rank - 1)).motion = output.hash;
      }
    }
    return made;
  }
  Made Make(const RegraspStep& step) {
    auto result = RunStep(context(), step);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? Load(*std::move(result)) : Made{};
  }

  store::TempDir folder_;
  std::unique_ptr<store::Library> library_;
};

TEST_F(Regrasp, GraspsAndMotionsAreKeptWithWhatTheyWereMadeFrom) {
  RegraspStep step = Small();
  step.motions = true;
  step.judge.exact = 1;
  const Made result = Make(step);
  EXPECT_EQ(result.Count("tried"), 4);
  ASSERT_EQ(result.kept.size(), 2u);
  for (const Kept& kept : result.kept) {
    const auto grasp = store::Load<artefact::Grasp>(library_->ArtefactPath(kept.hash));
    ASSERT_TRUE(grasp);
    EXPECT_EQ(grasp->provenance.step, "regrasp");
    EXPECT_EQ(FindInput(grasp->provenance, "example")->name, "hand57_cylinder");
    EXPECT_EQ(grasp->prop, "cylinder_50");
    EXPECT_TRUE(LoadPropArtefact(*library_, grasp->prop_hash));
    EXPECT_TRUE(LoadSkeletonArtefact(*library_, grasp->skeleton_hash));
    EXPECT_TRUE(grasp->scores.contains("epsilon"));
    const auto motion = store::Load<artefact::Motion>(library_->ArtefactPath(kept.motion));
    ASSERT_TRUE(motion);
    EXPECT_EQ(FindInput(motion->provenance, "grasp")->hash, kept.hash);
    EXPECT_TRUE(LoadSkeletonArtefact(*library_, motion->stage.hands.front().skeleton.hash));
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
  const Made result = Make(step);
  ASSERT_FALSE(result.kept.empty());
  const model::Prop prop = *model::LoadLibraryProp("cylinder_50");
  for (const Kept& kept : result.kept) {
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
  const Made one = Make(step);
  // What one process found is there: it is found anew by two.
  for (const StepOutput& output : one.result.outputs)
    ASSERT_TRUE(std::filesystem::remove(library_->ArtefactPath(output.hash)));
  step.jobs = 2;
  const Made two = Make(step);
  EXPECT_FALSE(two.result.reused);
  EXPECT_EQ(two.Count("tried"), 4);
  ASSERT_EQ(one.kept.size(), two.kept.size());
  for (size_t i = 0; i < one.kept.size(); ++i) {
    EXPECT_EQ(one.kept[i].grasp.q, two.kept[i].grasp.q);  // to the bit, through the pipe
    EXPECT_EQ(one.kept[i].hash, two.kept[i].hash);
  }
  EXPECT_EQ(*one.result.report.Find("refused"), *two.result.report.Find("refused"));
  EXPECT_TRUE(Make(step).result.reused) << "and then both know it";
}

TEST_F(Regrasp, StoppedItKeepsWhatWasFoundAndSaysSo) {
  for (const int jobs : {1, 2}) {
    RegraspStep step = Small();
    step.poses = 400;
    step.jobs = jobs;
    StepContext stopping = context();
    stopping.progress = [](double, std::string_view doing) {
      return doing.find(" hold)") == std::string_view::npos;
    };
    auto result = RunStep(stopping, step);
    ASSERT_TRUE(result) << result.error().message;
    const Made made = Load(*std::move(result));
    EXPECT_THAT(made.result.cut_short, HasSubstr("of 400 poses")) << jobs;
    EXPECT_LT(made.Count("tried"), 100) << jobs;
    EXPECT_GE(made.kept.size(), 1u) << jobs;
    // It is never taken for the whole.
    StepContext dry = context();
    dry.dry_run = true;
    EXPECT_FALSE(RunStep(dry, step)->reused);
  }
}

TEST_F(Regrasp, WithoutAMatchItSaysSoAndKeepsNothing) {
  const auto no_match = [&](const RegraspStep& step) {
    const auto result = RunStep(context(), step);
    EXPECT_FALSE(result);
    if (result) return std::string();
    EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
    return result.error().message;
  };
  RegraspStep step = Small();
  step.region = "spout";
  EXPECT_THAT(no_match(step), HasSubstr("spout"));
  step.region = "1,1,1,0.01";
  EXPECT_THAT(no_match(step), HasSubstr("region"));
  step.region = "";
  step.type = "tripod";
  EXPECT_THAT(no_match(step), HasSubstr("tripod"));
  step.jobs = 2;
  EXPECT_THAT(no_match(step), HasSubstr("tripod"));
  EXPECT_TRUE(library_->Artefacts("grasp")->size() == 1) << "the example alone";
}

TEST_F(Regrasp, WhatCannotBeIsRefusedByName) {
  RegraspStep step = Small();
  step.example = "hand57_cylindr";
  const auto unknown = RunStep(context(), step);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("hand57_cylinder"));
  step = Small();
  step.skeleton = "hand27";
  EXPECT_EQ(RunStep(context(), step).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::pipeline::regrasp_test

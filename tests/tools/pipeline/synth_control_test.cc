#include "tools/pipeline/synth_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/store/artefact_file.h"
#include "tests/tools/pipeline/pipeline_fixture.h"

namespace handhold::pipeline::synth_control_test {
namespace {

using artefact::Verdict;
using geometry::Vec3;

class SynthControl : public ::testing::Test {
 protected:
  SynthControl() : library_(std::move(*store::Library::Create(folder_.path() + "/lab"))) {}
  StepContext context() { return {.library = *library_}; }
  artefact::Motion MotionOf(const Result<StepResult>& made) {
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return {};
    return store::Load<artefact::Motion>(library_->ArtefactPath(made->hash)).value();
  }
  static SynthControlStep Lift(const std::string& grasp) {
    SynthControlStep step{.source = grasp};
    step.gravity_W = artefact::Stage().gravity_W;
    step.mass_kg = 0.1, step.friction = 0.6;
    step.run.seconds = 3.0;
    return step;
  }

  store::TempDir folder_;
  std::unique_ptr<store::Library> library_;
};

TEST_F(SynthControl, AShippedGraspIsReachedGrippedAndLiftedAndKeptWithWhatItWasMadeFrom) {
  for (const char* name : {"hand57_cylinder", "hand27_cylinder", "hand57_pinch", "hand27_pinch"}) {
    const auto made = Lift(name).Run(context());
    const artefact::Motion motion = MotionOf(made);
    EXPECT_EQ(motion.verdict.kind, Verdict::Kind::kHeld) << name << motion.verdict.cause;
    EXPECT_GT(motion.summary.figures.at("lifted_m"), 0.08) << name;
    EXPECT_EQ(motion.summary.figures.at("gain_factor"), 10.0);
    std::vector<std::string> roles;
    for (const auto& input : motion.provenance.inputs) {
      roles.push_back(input.role);
      EXPECT_TRUE(library_->FindArtefact(motion.provenance)->has_value());
    }
    EXPECT_THAT(roles, ::testing::ElementsAre("grasp", "skeleton", "hand", "prop"));
    EXPECT_TRUE(LoadSkeletonArtefact(*library_, motion.stage.hands.front().skeleton.hash));
    EXPECT_TRUE(Lift(name).Run(context())->reused);
  }
}

TEST_F(SynthControl, WhatSomebodyPlayedIsMadeAgainToTheBit) {
  SynthControlStep step{.source = "hand27_cylinder", .story = PalmStory::kStill};
  step.run.seconds = 5.0;
  Eigen::VectorXd last;
  const auto played = step.Play(context(), [&](synthesis::GraspRun& run) {
    last = run.world().q(0);
    if (run.time_s() > 0.299 && run.keys().empty()) {
      EXPECT_TRUE(run.Press("open"));
    }
    if (run.time_s() > 0.799 && run.keys().size() == 1) {
      EXPECT_TRUE(run.Press("close"));
    }
    return run.time_s() < 1.1999;
  });
  ASSERT_TRUE(played);
  EXPECT_EQ(played->run.keys.size(), 2u);
  EXPECT_NEAR(played->run.seconds, 1.2, 1e-9);
  const artefact::Motion motion = MotionOf(played->Run(context()));
  EXPECT_EQ(motion.hands.front().q.col(motion.hands.front().q.cols() - 1), last);
}

TEST_F(SynthControl, LeftLargeAndOtherPropsAreTried) {
  SynthControlStep left = Lift("hand57_cylinder");
  left.hand.key = "hand57", left.hand.side = "left";
  const artefact::Motion mirrored = MotionOf(left.Run(context()));
  EXPECT_EQ(mirrored.hands.front().name, "L");
  EXPECT_EQ(mirrored.verdict.kind, Verdict::Kind::kHeld) << mirrored.verdict.cause;
  SynthControlStep bottle = Lift("hand27_cylinder");
  bottle.prop = "cylinder_50";
  const artefact::Motion other = MotionOf(bottle.Run(context()));
  EXPECT_NE(other.verdict.kind, Verdict::Kind::kNotJudged);
  // A stored motion's palm leads another hand.
  SynthControlStep led = Lift("hand27_cylinder");
  const auto first = led.Run(context());
  SynthControlStep follower = Lift("hand57_cylinder");
  follower.story = PalmStory::kTrack, follower.track = first->hash;
  const artefact::Motion second = MotionOf(follower.Run(context()));
  const artefact::Motion leader = MotionOf(first);
  EXPECT_LT((second.hands[0].q.col(120).head<3>() - leader.hands[0].q.col(120).head<3>()).norm(),
            1e-3);
}

TEST_F(SynthControl, WhatIsNotThereIsRefusedByName) {
  EXPECT_THAT(SynthControlStep{.source = "hand57_cylindr"}.Run(context()).error().message,
              ::testing::HasSubstr("hand57_cylinder"));
  SynthControlStep other{.source = "hand57_cylinder"};
  other.hand.key = "hand27";
  EXPECT_EQ(other.Run(context()).error().code, ErrorCode::kInvalid);
  SynthControlStep prop{.source = "hand57_cylinder", .prop = "botle"};
  EXPECT_EQ(prop.Run(context()).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace handhold::pipeline::synth_control_test

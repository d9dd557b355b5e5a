#include "tools/pipeline/synth_grip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/store/artefact_file.h"
#include "tests/tools/pipeline/pipeline_fixture.h"

namespace handhold::pipeline {
namespace {

using artefact::Verdict;

class SynthGrip : public ::testing::Test {
 protected:
  SynthGrip() : library_(std::move(*store::Library::Create(folder_.path() + "/lab"))) {}
  StepContext context() { return {.library = *library_}; }

  std::string Reference(double depth_m) {
    SynthReferenceStep step{.hand = {{}, "hand27"}, .prop = "box_3x5x7"};
    step.options.depth_m = depth_m;
    step.options.hold_s = 0.4;
    const auto made = step.Run(context());
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->hash : "";
  }
  artefact::Motion Motion(const std::string& hash) {
    const auto motion = store::Load<artefact::Motion>(library_->ArtefactPath(hash));
    EXPECT_TRUE(motion);
    return motion ? *motion : artefact::Motion{};
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

TEST_F(SynthGrip, TheBoxIsHeldAndTenTimesItsMassIsNot) {
  SynthGripStep step{.trajectory = Reference(0.004)};
  const auto light = step.Run(context());
  ASSERT_TRUE(light) << light.error().message;
  const artefact::Motion held = Motion(light->hash);
  EXPECT_EQ(held.verdict.kind, Verdict::Kind::kHeld) << held.verdict.cause;
  EXPECT_NEAR(held.summary.figures.at("lifted_m"), 0.1, 0.005);
  EXPECT_EQ(held.summary.figures.at("lcp_failures"), 0.0);
  EXPECT_GT(held.summary.figures.at("peak_force_N"), 0.5);
  for (const artefact::MotionObject& object : held.objects)
    EXPECT_TRUE(LoadPropArtefact(*library_, object.prop_hash)) << object.name;

  step.mass_kg = 0.12;
  const auto heavy = step.Run(context());
  ASSERT_TRUE(heavy) << heavy.error().message;
  EXPECT_NE(heavy->hash, light->hash);
  EXPECT_EQ(Motion(heavy->hash).verdict.kind, Verdict::Kind::kDropped);
  // Asked again: nothing is computed.
  EXPECT_TRUE(step.Run(context())->reused);
}

TEST_F(SynthGrip, RefusesWhatIsNoScript) {
  EXPECT_EQ((SynthGripStep{.trajectory = "0123456789ab"}).Run(context()).error().code,
            ErrorCode::kNotFound);
  SynthReferenceStep far{.hand = {{}, "hand27"}, .prop = "flat_plate"};
  const auto refused = far.Run(context());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::pipeline

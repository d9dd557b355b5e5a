#include "tools/pipeline/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synthesis/interaction/reference_step.h"
#include "tests/tools/pipeline/pipeline_fixture.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/synth_interaction.h"

namespace handhold::pipeline::evaluate_test {
namespace {

class Evaluate : public ::testing::Test {
 protected:
  Evaluate() : library_(std::move(*store::Library::Create(folder_.path() + "/lab"))) {}
  StepContext context() { return {.library = *library_}; }
  store::TempDir folder_;
  std::unique_ptr<store::Library> library_;
};

TEST_F(Evaluate, AShippedGraspIsMeasuredTestedAndLifted) {
  EvaluateStep step{.what = "hand57_cylinder"};
  step.quick = true;
  const auto all = step.Run(context());
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0].protocol, "static");
  EXPECT_GE((*all)[0].figures.at("contact_number"), 4);
  EXPECT_LT((*all)[0].figures.at("depth_m"), 5e-3);
  EXPECT_GT((*all)[0].figures.at("epsilon"), 0.0);
  EXPECT_EQ((*all)[1].protocol, "P1 quick");
  EXPECT_EQ((*all)[1].engine, "ode quick");
  EXPECT_EQ((*all)[1].outcome, "passed") << (*all)[1].cause;
  EXPECT_EQ((*all)[1].figures.at("held"), 6);
  EXPECT_EQ((*all)[2].protocol, "lift");
  EXPECT_EQ((*all)[2].outcome, "passed") << (*all)[2].cause;
  // Thirty times the mass is not held, and the cause is named.
  step.mass_kg = 3.0;
  step.lift = false;
  const auto heavy = step.Run(context());
  ASSERT_TRUE(heavy);
  EXPECT_EQ((*heavy)[1].outcome, "failed");
  EXPECT_FALSE((*heavy)[1].cause.empty());
}

TEST_F(Evaluate, AMotionHasItsVerdictAndFigures) {
  synthesis::SynthReferenceStep reference{.prop = "box_3x5x7"};
  reference.options.hold_s = 0.4;
  const auto scripted = RunStep(context(), reference);
  ASSERT_TRUE(scripted);
  const auto motion = SynthInteractionStep{.clip = scripted->hash}.Run(context());
  ASSERT_TRUE(motion) << motion.error().message;
  EvaluateStep step{.what = motion->hash};
  step.p1 = step.lift = false;
  const auto all = step.Run(context());
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ((*all)[0].protocol, "verdict");
  EXPECT_EQ((*all)[0].outcome, "held");
  EXPECT_GT((*all)[0].figures.at("peak_force_N"), 0.5);
  step.what = "no_such_thing";
  EXPECT_EQ(step.Run(context()).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace handhold::pipeline::evaluate_test

// Props from one script each, the short form: what must be lifted at 50 g is lifted by the pinch or
// the power grasp. The long form is props_study; its table: results/props.md.
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "tests/support/paths.h"
#include "tests/support/prop_lift.h"

namespace handhold::synthesis::props_test {
namespace {

const model::Skeleton& Hand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

bool Lifts(const model::Prop& prop, ScriptedGrip grip) {
  const auto lift = testing::ScriptLift(Hand(), prop, grip);
  if (!lift) return false;
  const auto motion = ReplayInteraction(Hand(), lift->script, lift->stage, testing::LiftOptions());
  if (!motion) return false;
  EXPECT_EQ(UnsolvedSteps(*motion), 0) << prop.name;
  VerdictOptions judge;
  judge.object = motion->objects.back().name;
  judge.hold = PinchHold(lift->program);
  return JudgeHold(Hand(), *motion, judge).value().kind == artefact::Verdict::Kind::kHeld;
}

model::Prop Shared(const char* name) {
  const auto path = std::filesystem::path(support::SharedDataDir()) / "props" / name /
                    (std::string(name) + ".stl");
  auto prop = model::PropFromMesh(path.string(), 1.0);
  EXPECT_TRUE(prop) << prop.error().message;
  return *prop;
}

TEST(Props, WhatAHandLiftsAtFiftyGrams) {
  for (const char* name : {"box_3x5x7", "light_bulb", "ball"}) {
    const model::Prop prop = testing::WithMass(*model::LoadLibraryProp(name), 0.05);
    EXPECT_TRUE(Lifts(prop, ScriptedGrip::kPinch)) << name;
  }
  for (const char* name : {"cubesmall", "cylindersmall"}) {
    const model::Prop prop = testing::WithMass(Shared(name), 0.05);
    EXPECT_TRUE(Lifts(prop, ScriptedGrip::kPinch)) << name;
    EXPECT_TRUE(Lifts(prop, ScriptedGrip::kPower)) << name;
  }
}

// The shared mesh lies along x; stood on its cap it is lifted (lying, its glass is gripped 5 mm
// beside the centre of mass, and the engine's slides too: results/props.md).
TEST(Props, TheSharedLightBulbIsLiftedFromItsCap) {
  model::Prop prop = Shared("lightbulb");
  prop.shapes.front().X_PS.R = geometry::Exp(geometry::Vec3(0, -0.5 * M_PI, 0));
  prop = testing::WithMass(prop, 0.05);
  EXPECT_TRUE(Lifts(prop, ScriptedGrip::kPinch) || Lifts(prop, ScriptedGrip::kPower));
}

// It stands on a cap of 12 mm before the five fingers come.
TEST(Props, ALightBulbStandsUntilItIsGripped) {
  const model::Prop prop = testing::WithMass(*model::LoadLibraryProp("light_bulb"), 0.05);
  EXPECT_TRUE(Lifts(prop, ScriptedGrip::kPower));
}

TEST(Props, WhatIsTooHeavyStays) {
  EXPECT_FALSE(Lifts(*model::LoadLibraryProp("hammer"), ScriptedGrip::kPinch));
}

}  // namespace
}  // namespace handhold::synthesis::props_test

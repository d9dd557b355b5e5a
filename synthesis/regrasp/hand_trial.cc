#include "synthesis/regrasp/hand_trial.h"

#include <algorithm>

namespace handhold::synthesis {

HandTrial::HandTrial(const model::Skeleton& hand, const model::Prop& prop,
                     const HandTrialOptions& options)
    : hand_(hand), prop_(prop), options_(options) {
  options_.protocol.mass_kg = options_.scene.mass_kg;
  options_.protocol.friction = options_.scene.friction;
}

Result<HandScene*> HandTrial::SceneOf(std::unique_ptr<HandScene>* slot, bool quick, bool table) {
  if (*slot == nullptr) {
    HandSceneOptions made = options_.scene;
    made.quick = quick;
    made.table = table;
    if (quick) made.friction *= options_.quick_friction;
    if (table) made.gravity_m_per_s2 = LiftOptions().gravity_m_per_s2;
    HANDHOLD_ASSIGN(*slot, HandScene::Create(hand_, prop_, made));
  }
  return slot->get();
}

artefact::GraspTest NotFormed(const HandScene& scene, GraspFault fault) {
  artefact::GraspTest test;
  test.engine = scene.engine();
  test.cause = std::string(GraspFaultName(fault)) + ": " + scene.cause();
  test.figures = {
      {"worst", kNotFormed}, {"mass_kg", scene.mass_kg()}, {"friction", scene.friction()}};
  return test;
}

Result<artefact::GraspTest> HandTrial::Quick(const artefact::Grasp& grasp) {
  HANDHOLD_ASSIGN(HandScene* const scene, SceneOf(&quick_, true, false));
  HANDHOLD_ASSIGN(const GraspFault fault, scene->Form(grasp));
  if (fault != GraspFault::kNone) return NotFormed(*scene, fault);
  P1Options brief = options_.protocol;
  brief.friction = scene->friction();
  brief.hold_s = options_.quick_hold_s;
  brief.acceleration_m_per_s2 *= options_.quick_acceleration;
  HANDHOLD_ASSIGN(const P1Result result, RunP1(brief, scene));
  artefact::GraspTest test = ToGraspTest(brief, result);
  // What did not get through all six is further from holding the fewer it held.
  if (!result.passed()) {
    test.figures["worst"] = std::min(result.worst + (6 - result.held()), 0.99 * kNotFormed);
  }
  return test;
}

Result<artefact::GraspTest> HandTrial::Exact(const artefact::Grasp& grasp) {
  HANDHOLD_ASSIGN(HandScene* const scene, SceneOf(&exact_, false, false));
  HANDHOLD_ASSIGN(const GraspFault fault, scene->Form(grasp));
  if (fault != GraspFault::kNone) return NotFormed(*scene, fault);
  HANDHOLD_ASSIGN(const P1Result result, RunP1(options_.protocol, scene));
  return ToGraspTest(options_.protocol, result);
}

Result<artefact::GraspTest> HandTrial::Lift(const artefact::Grasp& grasp, const LiftOptions& lift) {
  HANDHOLD_ASSIGN(HandScene* const scene, SceneOf(&lift_, false, true));
  HANDHOLD_ASSIGN(const GraspFault fault, scene->Form(grasp));
  if (fault != GraspFault::kNone) {
    artefact::GraspTest test = NotFormed(*scene, fault);
    test.protocol = "lift";
    return test;
  }
  HANDHOLD_ASSIGN(const LiftResult result, RunLift(lift, scene));
  return ToGraspTest(lift, result, scene->mass_kg(), scene->friction());
}

}  // namespace handhold::synthesis

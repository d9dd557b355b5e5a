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

namespace {

/// What a test's outcome hangs on besides its protocol: how the hand squeezes and how it was
/// formed.
artefact::GraspTest WithConditions(artefact::GraspTest test, const HandScene& scene,
                                   const artefact::Grasp& grasp) {
  const HandSceneOptions& o = scene.options();
  test.figures["step_s"] = o.step_s;
  test.figures["spring_stiffness_per_s2"] = o.stiffness_per_s2;
  test.figures["spring_damping_per_s"] = o.damping_per_s;
  test.figures["inertia_floor_kgm2"] = o.inertia_floor_kgm2;
  test.figures["formed_held_s"] = o.hold_s;
  test.figures["formed_settled_s"] = o.settle_s;
  test.figures["squeezed_by_torques"] = grasp.q_squeeze.size() == 0 ? 1.0 : 0.0;
  return test;
}

}  // namespace

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
  if (fault != GraspFault::kNone) return WithConditions(NotFormed(*scene, fault), *scene, grasp);
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
  return WithConditions(std::move(test), *scene, grasp);
}

Result<artefact::Grasp> HandTrial::Settled(const artefact::Grasp& grasp) {
  HANDHOLD_ASSIGN(HandScene* const scene, SceneOf(&exact_, false, false));
  HANDHOLD_ASSIGN(const GraspFault fault, scene->Form(grasp));
  return fault == GraspFault::kNone ? scene->Settled(grasp) : grasp;
}

Result<artefact::GraspTest> HandTrial::Exact(const artefact::Grasp& grasp) {
  HANDHOLD_ASSIGN(HandScene* const scene, SceneOf(&exact_, false, false));
  HANDHOLD_ASSIGN(const GraspFault fault, scene->Form(grasp));
  if (fault != GraspFault::kNone) return WithConditions(NotFormed(*scene, fault), *scene, grasp);
  HANDHOLD_ASSIGN(const P1Result result, RunP1(options_.protocol, scene));
  return WithConditions(ToGraspTest(options_.protocol, result), *scene, grasp);
}

Result<artefact::GraspTest> HandTrial::Lift(const artefact::Grasp& grasp, const LiftOptions& lift) {
  HANDHOLD_ASSIGN(HandScene* const scene, SceneOf(&lift_, false, true));
  HANDHOLD_ASSIGN(const GraspFault fault, scene->Form(grasp));
  if (fault != GraspFault::kNone) {
    artefact::GraspTest test = WithConditions(NotFormed(*scene, fault), *scene, grasp);
    test.protocol = "lift";
    return test;
  }
  HANDHOLD_ASSIGN(const LiftResult result, RunLift(lift, scene));
  return WithConditions(ToGraspTest(lift, result, scene->mass_kg(), scene->friction()), *scene,
                        grasp);
}

}  // namespace handhold::synthesis

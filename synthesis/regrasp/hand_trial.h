/// The judge's trials in ODE: the short one in the quick stepper, the protocol in the exact one.
#pragma once

#include <memory>

#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/evaluate/hand_scene.h"
#include "synthesis/evaluate/p1.h"
#include "synthesis/regrasp/judge.h"

namespace handhold::synthesis {

struct HandTrialOptions {
  HandSceneOptions scene;  ///< `quick` is the trial's own choice
  P1Options protocol;      ///< mass and friction are the scene's
  double quick_hold_s = 0.4;
  /// A margin (1: none): pushes of the short trial are so many times the protocol's.
  double quick_acceleration = 1.0;
  double quick_friction = 1.0;  ///< and friction so many times the protocol's
};

class HandTrial : public GraspTrial {
 public:
  HandTrial(const model::Skeleton& hand, const model::Prop& prop, const HandTrialOptions& options);
  Result<artefact::GraspTest> Quick(const artefact::Grasp& grasp) override;
  Result<artefact::Grasp> Settled(const artefact::Grasp& grasp) override;
  Result<artefact::GraspTest> Exact(const artefact::Grasp& grasp) override;
  /// Lifted from a table (p1.h), exact.
  Result<artefact::GraspTest> Lift(const artefact::Grasp& grasp, const LiftOptions& lift = {});

 private:
  Result<HandScene*> SceneOf(std::unique_ptr<HandScene>* slot, bool quick, bool table);
  model::Skeleton hand_;
  model::Prop prop_;
  HandTrialOptions options_;
  std::unique_ptr<HandScene> quick_, exact_, lift_;  ///< made when first asked for
};

/// A grasp that could not be formed, as a failed test: cause, "worst" 10.
artefact::GraspTest NotFormed(const HandScene& scene, GraspFault fault);

template <typename A>
void Visit(A& a, HandTrialOptions& o) {
  a.Field("scene", o.scene);
  a.Field("protocol", o.protocol);
  a.Field("quick_hold_s", o.quick_hold_s);
  a.Field("quick_acceleration", o.quick_acceleration);
  a.Field("quick_friction", o.quick_friction);
}

}  // namespace handhold::synthesis

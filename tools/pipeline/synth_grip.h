/// Steps "synth.reference" and "synth.grip": a scripted hand, and what becomes of a free object
/// that it grasps (synthesis/interaction/scripted_reference.h, synthesis/evaluate/verdict.h).
#pragma once

#include <optional>
#include <string>

#include "synthesis/evaluate/verdict.h"
#include "synthesis/interaction/replay.h"
#include "synthesis/interaction/scripted_reference.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// What a scripted trajectory was made for: the parameters of its provenance.
struct ScriptedPinch {
  std::string program = "pinch";
  geometry::RigidTransform X_WProp;
  double above_middle_m = 0.0;
  synthesis::PinchOptions options = {};
};
template <typename A>
void Visit(A& a, ScriptedPinch& p) {
  a.Field("program", p.program);
  a.Field("X_WProp", p.X_WProp);
  a.Field("above_middle_m", p.above_middle_m);
  a.Field("options", p.options);
}

/// The result is an artefact::InteractionTrajectory whose compliances are all planted. Inputs:
/// skeleton, prop.
struct SynthReferenceStep {
  HandChoice hand = {};
  std::string prop = {};  ///< as FindProp
  double metres_per_unit = kMeshMetresPerUnit;
  /// Empty: as its file has it, its lowest point at z = 0, 30 cm in front of the origin.
  std::optional<geometry::RigidTransform> X_WProp = {};
  /// Where it is pinched above its middle; empty: 0.35 of its height.
  std::optional<double> above_middle_m = {};
  synthesis::PinchOptions options = {};

  Result<StepResult> Run(const StepContext& context) const;
};

/// The result is an artefact::Motion with its verdict: the object free, on a fixed table that is
/// just below it at the start. Inputs: trajectory, skeleton, prop, table. Figures: peak_force_N
/// (sum over the hand's contacts), lcp_failures, lifted_m (at the hold's end), creep_m_per_s
/// (second half of the hold), table_top_m.
struct SynthGripStep {
  std::string trajectory = {};  ///< artefact of SynthReferenceStep
  std::string prop = {};        ///< empty: the one that the trajectory was scripted for
  double metres_per_unit = kMeshMetresPerUnit;
  std::optional<geometry::RigidTransform> X_WProp = {};  ///< empty: where it was scripted for
  std::optional<double> mass_kg = {};                    ///< inertia scales with it
  double friction = -1.0;                                ///< negative: the props' own
  double margin_m = 4e-3;
  synthesis::StepOptions step = {.root_compliance_m_per_N = 0.0};  ///< the free root has its own
  synthesis::VerdictOptions judge = {};                            ///< its hold is the trajectory's

  Result<StepResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

/// Steps "synth.reference", "import.reference" and "synth.grip": a scripted hand, and what becomes
/// of the objects of a scene that a hand grasps (synthesis/interaction, synthesis/evaluate/
/// verdict.h).
#pragma once

#include <optional>
#include <string>

#include "synthesis/evaluate/verdict.h"
#include "synthesis/interaction/gaiting_reference.h"
#include "synthesis/interaction/placement.h"
#include "synthesis/interaction/replay.h"
#include "synthesis/interaction/scripted_reference.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/scene_file.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// What a scripted trajectory was made for: the parameters of its provenance, "hold_ns" beside
/// them.
struct ScriptedProgram {
  std::string program = "pinch";  ///< pinch, tripod, power, gaiting
  geometry::RigidTransform X_WProp;
  double above_middle_m = 0.0;
  synthesis::PinchOptions options = {};  ///< of a grip
  double ball_radius_m = 0.0335;         ///< what gaiting is made on
  synthesis::GaitingOptions gaiting = {};
};
template <typename A>
void Visit(A& a, ScriptedProgram& p) {
  a.Field("program", p.program);
  a.Field("X_WProp", p.X_WProp);
  a.Field("above_middle_m", p.above_middle_m);
  a.Field("options", p.options);
  a.Field("ball_radius_m", p.ball_radius_m);
  a.Field("gaiting", p.gaiting);
}

/// The result is an artefact::InteractionTrajectory whose compliances are all planted. Inputs:
/// skeleton, prop.
struct SynthReferenceStep {
  HandChoice hand = {};
  std::string prop = {};  ///< as FindProp
  double metres_per_unit = kMeshMetresPerUnit;
  std::string program = "pinch";  ///< or tripod, power, gaiting
  /// Empty: as its file has it, its lowest point at z = 0, 30 cm in front of the origin.
  std::optional<geometry::RigidTransform> X_WProp = {};
  /// Where it is gripped above its middle; empty: 0.35 of its height. Gaiting: above the prop's
  /// origin; empty: there.
  std::optional<double> above_middle_m = {};
  synthesis::PinchOptions options = {};  ///< its grip is the program's
  double ball_radius_m = 0.0335;
  synthesis::GaitingOptions gaiting = {};

  Result<StepResult> Run(const StepContext& context) const;
};

/// The result is an artefact::Motion with its verdict. Inputs: trajectory, skeleton, props, table,
/// further trajectories, lender (what was borrowed stands in `chosen` and in the motion's issues).
/// Figures: peak_force_N (sum over the hands' contacts),
/// lcp_failures; of the judged object lifted_m (at the hold's end), creep_m_per_s (second half of
/// the hold), table_top_m; turned_rad.NAME of what is on a pivot; shift_m.NAME of what is free
/// besides: how far it moved against the judged one during the hold.
struct SynthGripStep {
  /// A scripted reference of ours ("pinch_box_3x5x7"), an artefact, or a clip with a fitted
  /// trajectory (then its newest).
  std::string trajectory = {};
  /// What it meets; empty: `prop`, free.
  std::optional<SceneFile> scene = {};
  std::string prop = {};  ///< empty: the one that the trajectory was scripted for
  double metres_per_unit = kMeshMetresPerUnit;
  std::optional<geometry::RigidTransform> X_WProp = {};  ///< empty: where it was scripted for
  std::optional<double> mass_kg = {};                    ///< inertia scales with it
  double prop_scale = 1.0;
  bool on_table = true;    ///< with `prop`: a fixed table just below it
  double friction = -1.0;  ///< negative: the props' own
  synthesis::GripOptions grip = {};
  bool place = false;  ///< the judged object is pushed to where the grip expects it first (8.3)
  synthesis::PlacementOptions placement = {};
  /// Another hand with the same joints; empty key: the trajectory's, scaled by `hand.scale`.
  HandChoice hand = {};
  /// Whose compliances are borrowed: a trajectory's artefact, a clip, or a query; empty: nobody's.
  std::string borrow = {};
  double margin_m = 4e-3;
  /// A free root has a compliance of its own; no joint goes beyond its limits.
  synthesis::StepOptions step = {.root_compliance_m_per_N = 0.0, .limits = true};
  synthesis::VerdictOptions judge = {};  ///< object and hold are the scene's or the script's

  Result<StepResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

/// Step "synth.grip": what becomes of the objects of a scene that hands grasp
/// (synthesis/interaction, synthesis/evaluate/verdict.h).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "synthesis/evaluate/verdict.h"
#include "synthesis/interaction/placement.h"
#include "synthesis/interaction/replay.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/scene_file.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// The result is an artefact::Motion with its verdict. Inputs: trajectory, skeleton, props, table,
/// further trajectories, lender (what was borrowed stands in `chosen` and in the motion's issues).
/// Figures: peak_force_N (sum over the hands' contacts),
/// lcp_failures; of the judged object lifted_m (at the hold's end), creep_m_per_s (second half of
/// the hold), table_top_m; turned_rad.NAME of what is on a pivot; shift_m.NAME of what is free
/// besides: how far it moved against the judged one during the hold; of a placed object
/// placed_m, placed_turn_rad: how far it was moved, and pushed_before_m, pushed_after_m: how far
/// the closing grip pushed it as it stood and as placed.
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
  /// By dof of the played hand, instead of the trajectory's one for all.
  std::map<std::string, double> time_constant_s = {};
  double margin_m = 4e-3;
  /// A free root has a compliance of its own; no joint goes beyond its limits.
  synthesis::StepOptions step = {.root_compliance_m_per_N = 0.0, .limits = true};
  synthesis::VerdictOptions judge = {};  ///< object and hold are the scene's or the script's

  Result<StepResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

/// Step "synth.interaction": hands, captured or scripted, meet things that they never touched (Kry
/// & Pai 2006, sections 6 to 8; synthesis/interaction/replay.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/stage.h"
#include "synthesis/evaluate/verdict.h"
#include "synthesis/interaction/placement.h"
#include "synthesis/interaction/replay.h"
#include "tools/pipeline/grip_script.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

struct SynthInteractionResult : StepResult {
  std::vector<std::string> assumed_dofs = {};         ///< empty: every compliance was fitted
  std::vector<AssumedValue> assumed = {};             ///< of those dofs, by task
  std::vector<artefact::MotionVariant> replays = {};  ///< halved and doubled; empty when nothing
                                                      ///< was assumed, in a dry run, or when
                                                      ///< switched off
};

/// The result is an artefact::Motion on its stage, with figures (interaction_findings.h) and, where
/// something free is held for a time, its verdict. Inputs: trajectory, skeleton, props, table,
/// fixed things, further trajectories with their skeletons, lender. Of a placed thing the figures
/// say placed_m, placed_turn_rad: how far it was moved, and pushed_before_m, pushed_after_m: how
/// far the closing grip pushed it as it stood and as placed.
///
/// Where the fit refused a joint, a value is assumed and marked; the replays with it halved and
/// doubled are motions of their own, and their differences stand in the motion's summary.
struct SynthInteractionStep {
  /// A scripted reference of ours ("pinch_box_3x5x7"), an artefact, or a clip with a fitted
  /// trajectory (then its newest). Of a clip `trajectory` may name another: an artefact.
  std::string clip = {};
  std::string trajectory = {};

  /// What it meets, and hands beside it; empty: `prop` alone.
  std::optional<artefact::Stage> scene = {};
  /// Prop by name, .json file, mesh (.stl, .obj, .ply) or artefact; empty: the one that the hand
  /// was captured on or scripted for.
  std::string prop = {};
  double metres_per_unit = kMeshMetresPerUnit;  ///< of a mesh file
  double prop_scale = 1.0;
  /// Where it stands. Empty: where the script has its prop, or the captured surface stood; a mesh
  /// is put under a captured hand: the top middle of its bounding box at the middle of the captured
  /// contacts, its Z along their mean normal.
  std::optional<geometry::RigidTransform> X_WProp = {};
  /// It is free and stands on a table, as what a scripted hand grasps always is; else it is fixed.
  bool on_table = false;
  std::optional<double> mass_kg = {};   ///< inertia scales with it; empty: its own
  std::optional<double> friction = {};  ///< of every surface; empty: each prop's own
  /// Of a fixed prop; empty: its own; of a mesh file, which does not say, the captured surface's.
  std::optional<double> surface_compliance_m_per_N = {};

  enum class Form {
    kBest,         ///< damped where every trajectory has a dynamic reference, else quasi-static
    kQuasiStatic,  ///< the paper's
    kDamped,
  };
  Form form = Form::kBest;
  /// For joints that the fit of the first hand refused; further hands get the paper's values.
  std::map<std::string, double> assume_compliance = {};  ///< by dof, rad/Nm
  bool assume_table1 = true;
  std::string borrow = {};  ///< AssumeWishes::borrow
  /// Another hand with the same joints plays; empty key: the trajectory's, scaled by `hand.scale`.
  HandChoice hand = {};
  bool replay_assumed = true;     ///< halved and doubled too
  double compliance_scale = 1.0;  ///< on every joint: for experiments
  /// By dof of the played hand, instead of the trajectory's one for all.
  std::map<std::string, double> time_constant_s = {};
  synthesis::GripOptions grip = {};
  bool place = false;  ///< the judged thing is pushed to where the grip expects it first (8.3)
  synthesis::PlacementOptions placement = {};

  std::optional<TimeRange> range = {};                    ///< clip time; empty: all
  double margin_m = synthesis::ReplayOptions{}.margin_m;  ///< shapes further apart are no contact
  /// Roots that are free have a compliance of their own; joints keep within their limits where
  /// something moves, whatever `limits` says.
  synthesis::StepOptions step = {};
  synthesis::VerdictOptions judge = {};  ///< object and hold are the stage's

  Result<SynthInteractionResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

/// Step "synth.interaction": the captured hand meets another surface (Kry & Pai 2006, sections 6
/// and 7; synthesis/interaction/replay.h).
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "synthesis/interaction/replay.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// What a replay's motion says in numbers, as they stand in its summary.
struct ReplayFigures {
  double peak_force_N = 0.0;
  double contact_share = 0.0;  ///< of the frames
  double slip_share = 0.0;     ///< of the contact rows: faster than 1 mm/s
  double equilibrium_residual_max_rad = 0.0;
  double lcp_residual_max = 0.0;
  int lcp_failures = 0;
  std::optional<double> nearest_approach_m;  ///< where nothing was touched, if it is known
};
ReplayFigures FiguresOf(const artefact::Motion& motion);

/// What a refused joint was given.
struct AssumedValue {
  std::string dof;
  std::string task;                    ///< empty where the estimator has no fit to refuse it
  double compliance_rad_per_Nm = 0.0;  ///< held to what the refused fit leaves open, unless named
  double asked_rad_per_Nm = 0.0;       ///< before that: the one named, or Table 1's
  /// 95 % interval that the refused fit leaves open.
  double lower_rad_per_Nm = 0.0, upper_rad_per_Nm = std::numeric_limits<double>::infinity();
};

struct SynthInteractionResult : StepResult {
  std::vector<std::string> assumed_dofs = {};         ///< empty: every compliance was fitted
  std::vector<AssumedValue> assumed = {};             ///< of those dofs, by task
  std::vector<artefact::MotionVariant> replays = {};  ///< halved and doubled; empty when nothing
                                                      ///< was assumed, in a dry run, or when
                                                      ///< switched off
};

/// The result is an artefact::Motion against one fixed surface. Where the fit refused a joint, a
/// value is assumed by name and marked; the replays with it halved and doubled are motions of their
/// own, and their differences stand in the motion's summary.
struct SynthInteractionStep {
  /// Whose newest trajectory, or itself the artefact of one; not read when `trajectory` is given.
  std::string clip = {};
  std::string trajectory = {};  ///< artefact of FitComplianceStep or AssumeComplianceStep

  /// Prop by name, .json file, mesh (.stl, .obj, .ply) or artefact; empty: the captured surface.
  std::string prop = {};
  double metres_per_unit = kMeshMetresPerUnit;  ///< of a mesh file
  /// Where it stands. Empty: a prop stands where the captured surface stood; a mesh is put under
  /// the hand: the top middle of its bounding box at the middle of the captured contacts, its Z
  /// along their mean normal.
  std::optional<geometry::RigidTransform> X_WProp = {};
  double friction = -1.0;  ///< negative: the prop's own
  /// Negative: the prop's own; of a mesh file, which does not say, the captured surface's.
  double surface_compliance_m_per_N = -1.0;

  enum class Form {
    kBest,         ///< damped where the trajectory has a dynamic reference, else quasi-static
    kQuasiStatic,  ///< the paper's
    kDamped,
  };
  Form form = Form::kBest;
  /// For refused joints: Table 1's exploring value where the paper has one, held to what the fit
  /// leaves open (fitting::HeldToBounds). Named ones win, and are taken as they are.
  bool assume_table1 = true;
  std::map<std::string, double> assume_compliance = {};  ///< by dof, rad/Nm
  /// Whose compliances the refused joints borrow before anything is assumed for them: a
  /// trajectory's artefact, a clip, or a query; empty: nobody's. Named ones win.
  std::string borrow = {};
  /// Another hand with the same joints plays; empty key: the captured one, scaled by `hand.scale`.
  HandChoice hand = {};
  bool replay_assumed = true;     ///< halved and doubled too
  double compliance_scale = 1.0;  ///< on every joint: for experiments

  std::optional<TimeRange> range = {};                    ///< clip time; empty: all
  double margin_m = synthesis::ReplayOptions{}.margin_m;  ///< shapes further apart are no contact
  synthesis::StepOptions step = {};

  Result<SynthInteractionResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

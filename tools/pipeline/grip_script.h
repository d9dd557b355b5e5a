/// A trajectory that is played, scripted or captured, with what it was made for, and what its
/// joints are given that it does not know. Internal to the pipeline's syntheses.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/interaction_trajectory.h"
#include "database/text/json.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

struct Script {
  FoundSkeleton skeleton;
  std::string hash = {};
  artefact::InteractionTrajectory trajectory = {};
  store::ArtefactInfo info = {};       ///< of the trajectory; of one that ships empty
  std::string prop_hash = {};          ///< that it was scripted for, or captured on; empty: none
  std::optional<FoundProp> prop = {};  ///< of one that ships: a dry run keeps none to load
  std::optional<geometry::RigidTransform> X_WProp = {};  ///< of a scripted one
  std::optional<TimeRange> hold = {};
  bool captured = false;
};

/// Whether a trajectory of this provenance was scripted and not captured.
bool IsScripted(const artefact::Provenance& provenance);

/// A reference of ours by name, an artefact, or a clip's newest trajectory.
Result<Script> FindScript(const StepContext& context, const std::string& key,
                          std::vector<std::string>* chosen);

/// What a script's provenance says besides its program: where its prop stands, and when it should
/// hang from the hand.
text::Json ScriptParameters(const text::Json& what, const geometry::RigidTransform& X_WProp,
                            const TimeRange& hold);

/// What a refused joint was given.
struct AssumedValue {
  std::string dof;
  std::string task;                    ///< empty where the estimator has no fit to refuse it
  double compliance_rad_per_Nm = 0.0;  ///< held to what the refused fit leaves open, unless named
  double asked_rad_per_Nm = 0.0;       ///< before that: the one named, or Table 1's
  /// 95 % interval that the refused fit leaves open.
  double lower_rad_per_Nm = 0.0, upper_rad_per_Nm = std::numeric_limits<double>::infinity();
};

/// What joints that the fit refused may be given.
struct AssumeWishes {
  std::map<std::string, double> named = {};  ///< by dof, rad/Nm, as they are
  bool table1 = true;  ///< the paper's where it has one, held to what the fit leaves open
  /// Whose compliances are borrowed before: a trajectory's artefact, a clip, or a query; empty:
  /// nobody's. Named ones win.
  std::string borrow = {};
};

/// What was assumed for a script, so that it can be assumed again otherwise.
struct Completed {
  std::string fitted;                        ///< the trajectory before anything was assumed
  std::map<std::string, double> given = {};  ///< by the user or a lender
  std::map<std::string, double> within_bounds = {};
  std::vector<AssumedValue> values = {};
  bool any() const { return !given.empty() || !within_bounds.empty(); }
};

/// Gives joints that the script does not know their values, told in `chosen`; a lender goes into
/// `inputs`. A captured theta_r hangs on its compliances by eq. 1: it is made again, and `script`
/// is the made one (but for a dry run, which keeps none). A scripted one only borrows.
/// kUnidentifiable names the joints that have no value.
Result<Completed> Complete(const StepContext& context, const AssumeWishes& wishes, Script* script,
                           std::vector<artefact::ProvenanceInput>* inputs,
                           std::vector<std::string>* chosen);
/// The trajectory with what was assumed times `factor`.
Result<StepResult> Assumed(const StepContext& context, const Completed& completed, double factor);

}  // namespace handhold::pipeline

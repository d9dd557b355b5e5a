/// Step "fit.compliance": how the joints give way, by both estimators side by side, and what the
/// hand meant to do
/// (fitting/compliance/{paper_estimator,dynamic_estimator,reference_trajectory}.h).
#pragma once

#include <map>
#include <string>

#include "fitting/compliance/dynamic_estimator.h"
#include "fitting/compliance/paper_estimator.h"
#include "fitting/compliance/reference_trajectory.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// Where issues of a result are that say what its take lacks.
inline constexpr const char* kOfTheTake = "the take";

/// The result is an artefact::InteractionTrajectory: the fits of both estimators with discards and
/// refusals, C per frame (NaN where refused: nothing is assumed here), theta_r by eq. 1 and, when
/// the dynamic estimator answered, by the dynamics.
///
/// Where the data determine nothing at all, every joint is refused with the estimator's reason and
/// theta_r is theta: that, too, is kept. A clip without any touch is kUnidentifiable.
struct FitComplianceStep {
  std::string clip = {};
  std::string contact = {};  ///< artefact; empty: the clip's newest contact track
  fitting::PaperEstimatorOptions paper = {};
  fitting::DynamicEstimatorOptions dynamic = {};
  fitting::ReferenceTrajectoryOptions reference = {};  ///< assumes nothing: AssumeComplianceStep
                                                       ///< does

  Result<StepResult> Run(const StepContext& context) const;
  /// What the take lacks (fitting/compliance/take_advice.h), to be told before Run; the result
  /// keeps it, too, as issues of kOfTheTake. Reads poses and touches, computes nothing. Fails as
  /// Run would.
  Result<Issues> Advise(const StepContext& context) const;
};

/// With what options a trajectory of this step or of AssumeComplianceStep was made, from its
/// provenance; which joints were assumed is the trajectory's own to say. kCorrupt (or the reader's
/// error) when the parameters do not tell.
Result<fitting::ReferenceTrajectoryOptions> ReferenceOptionsOf(
    const store::ArtefactInfo& trajectory);

/// Step "fit.assume": a trajectory whose refused joints are given a compliance by name. The same
/// fits, refusals included; `assumed` marks the joints, and theta_r is made again with the values.
struct AssumeComplianceStep {
  std::string trajectory = {};                           ///< artefact of FitComplianceStep
  std::map<std::string, double> assume_compliance = {};  ///< by dof, rad/Nm, used where refused
                                                         ///< only
  /// The same, held to what the refused fit leaves open (fitting::HeldToBounds).
  std::map<std::string, double> assume_within_bounds = {};
  double assumed_factor = 1.0;  ///< on the assumed values: 0.5 and 2 show what hangs on them

  Result<StepResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

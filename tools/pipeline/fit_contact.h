/// Step "fit.contact": where, when and how hard the hand touched
/// (fitting/compliance/contact_fit.h).
#pragma once

#include <optional>
#include <string>

#include "fitting/compliance/contact_fit.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// The result is an artefact::ContactTrack. Touches are found from the force; what they belong to
/// ("exploring", "scratching") is what the operator's events of the clip say.
struct FitContactStep {
  std::string clip = {};
  std::string pose = {};                        ///< artefact; empty: the clip's newest pose track
  std::string surface = {};                     ///< name or file of a prop; empty: the clip's own
  double metres_per_unit = kMeshMetresPerUnit;  ///< of a mesh file
  std::optional<geometry::RigidTransform> X_WSurface = {};  ///< empty: as the take says
  fitting::ContactFitOptions options = {};

  Result<StepResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

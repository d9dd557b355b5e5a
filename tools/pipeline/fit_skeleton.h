/// Step "fit.skeleton": the subject's hand from a range of motion
/// (fitting/skeleton/skeleton_fit.h).
#pragma once

#include <optional>
#include <string>

#include "fitting/skeleton/skeleton_fit.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// The result is a JsonArtefact of kind "skeleton": {"skeleton": ..., "summary": ...}; read it with
/// LoadSkeletonArtefact (inputs.h).
struct FitSkeletonStep {
  std::string clip = {};           ///< with the range of motion
  std::string template_hand = {};  ///< name, file or artefact; empty: the hand of ours that has the
                                   ///< clip's markers
  double template_scale = 1.0;
  HandVariant variant = {};  ///< left, in another marker set, by a marker map ... (inputs.h)
  /// What the fingertip touches, so that contact shows the end segment: name or file of a prop;
  /// empty: the clip's own; "none": markers only.
  std::string surface = {};
  double metres_per_unit = kMeshMetresPerUnit;              ///< of a mesh file
  std::optional<geometry::RigidTransform> X_WSurface = {};  ///< empty: as the take says
  std::string contact_clip = {};  ///< where it touches; empty: the same clip
  /// options.range empty: the clip's event of kind "take" with text "range_of_motion", else all.
  /// options.surface is set by the step.
  fitting::SkeletonFitOptions options = {};

  /// Fails as FitSkeleton, FindClip, FindTemplate, FindProp; kInvalid when a surface is given that
  /// stands nowhere.
  Result<StepResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

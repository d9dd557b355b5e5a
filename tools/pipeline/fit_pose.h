/// Step "fit.pose": joint angles of a clip, frame by frame (fitting/skeleton/pose_fit.h).
#pragma once

#include <string>

#include "fitting/skeleton/pose_fit.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// The result is an artefact::PoseTrack.
struct FitPoseStep {
  std::string clip = {};
  std::string skeleton = {};  ///< artefact, name or file; empty: the newest fitted to this clip,
                              ///< else to another of its subject
  HandVariant variant = {};   ///< of a named one: left, in another marker set ... (inputs.h)
  double scale = 1.0;         ///< of a named one
  fitting::PoseFitOptions options = {};  ///< its progress is the context's

  Result<StepResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

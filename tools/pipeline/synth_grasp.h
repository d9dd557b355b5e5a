/// What step "synth.grasp" (synthesis/grasp_search/grasp_step.h) asks of a library first.
#pragma once

#include <string>
#include <vector>

#include "synthesis/grasp_search/grasp_step.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// Where there is no grasp space and none is named, a scripted one is made; false in a dry run,
/// which ends there.
Result<bool> PrepareStep(const StepContext& context, synthesis::SynthGraspStep* step,
                         std::vector<std::string>* chosen);

}  // namespace handhold::pipeline

/// Finds the inputs of a step: by what was said, else by what its roles say of that. Hashes only:
/// what is in the library is not loaded, and what comes from a file is kept in it first.
#pragma once

#include <string>
#include <vector>

#include "tools/pipeline/registry.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// Fills every slot; sentences of what was chosen where nothing was said go to `chosen`.
Status ResolveInputs(const StepContext& context, StepInstance& instance,
                     std::vector<std::string>* chosen);

}  // namespace handhold::pipeline

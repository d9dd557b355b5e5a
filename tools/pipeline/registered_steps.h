/// The steps of each room, one line each. Internal to registry.cc; a file per room, so that none
/// takes long to compile.
#pragma once

#include "tools/pipeline/registry.h"

namespace handhold::pipeline {

void AddFits(Registry* steps);       ///< fit_steps.cc
void AddSyntheses(Registry* steps);  ///< synth_steps.cc

}  // namespace handhold::pipeline

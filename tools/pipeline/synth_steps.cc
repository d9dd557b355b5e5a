// The steps of synthesis, one line each.
#include "synthesis/interaction/reference_step.h"
#include "tools/pipeline/registered_steps.h"
#include "tools/pipeline/step_adapter.h"

namespace handhold::pipeline {

void AddSyntheses(Registry* steps) { steps->Add(EntryOf<synthesis::SynthReferenceStep>()); }

template std::unique_ptr<StepInstance> StepOf(synthesis::SynthReferenceStep);

}  // namespace handhold::pipeline

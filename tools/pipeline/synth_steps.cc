// The steps of synthesis, one line each.
#include "synthesis/grasp_search/grasp_step.h"
#include "synthesis/interaction/reference_step.h"
#include "tools/pipeline/registered_steps.h"
#include "tools/pipeline/regrasp.h"
#include "tools/pipeline/step_adapter.h"
#include "tools/pipeline/synth_grasp.h"

namespace handhold::pipeline {

void AddSyntheses(Registry* steps) {
  steps->Add(EntryOf<synthesis::SynthGraspStep>());
  steps->Add(EntryOf<synthesis::SynthReferenceStep>());
  steps->Add(EntryOf<RegraspStep>());
}

template std::unique_ptr<StepInstance> StepOf(synthesis::SynthGraspStep);
template std::unique_ptr<StepInstance> StepOf(synthesis::SynthReferenceStep);
template std::unique_ptr<StepInstance> StepOf(RegraspStep);

}  // namespace handhold::pipeline

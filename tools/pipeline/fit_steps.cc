// The steps of fitting, one line each.
#include "fitting/compliance/steps.h"
#include "fitting/skeleton/steps.h"
#include "tools/pipeline/fit_grasp_space.h"
#include "tools/pipeline/registered_steps.h"
#include "tools/pipeline/step_adapter.h"

namespace handhold::pipeline {

void AddFits(Registry* steps) {
  steps->Add(EntryOf<fitting::FitSkeletonStep>());
  steps->Add(EntryOf<fitting::FitPoseStep>());
  steps->Add(EntryOf<fitting::FitContactStep>());
  steps->Add(EntryOf<fitting::FitComplianceStep>());
  steps->Add(EntryOf<fitting::AssumeComplianceStep>());
  steps->Add(EntryOf<FitGraspSpaceStep>());
}

template std::unique_ptr<StepInstance> StepOf(fitting::FitSkeletonStep);
template std::unique_ptr<StepInstance> StepOf(fitting::FitPoseStep);
template std::unique_ptr<StepInstance> StepOf(fitting::FitContactStep);
template std::unique_ptr<StepInstance> StepOf(fitting::FitComplianceStep);
template std::unique_ptr<StepInstance> StepOf(fitting::AssumeComplianceStep);
template std::unique_ptr<StepInstance> StepOf(FitGraspSpaceStep);

}  // namespace handhold::pipeline

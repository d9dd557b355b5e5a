#include "tools/pipeline/synth_grasp.h"

#include <algorithm>

#include "database/base/names.h"
#include "database/model/grasp_taxonomy.h"
#include "database/store/artefact_finder.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/fit_grasp_space.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {

Result<bool> PrepareStep(const StepContext& context, synthesis::SynthGraspStep* step,
                         std::vector<std::string>* chosen) {
  if (!step->space.ask.key.empty()) return true;
  HANDHOLD_ASSIGN(
      const std::vector<store::ArtefactInfo> newest,
      store::FindArtefacts(context.library.catalogue(), {.kind = "grasp_space", .newest = 1}));
  if (!newest.empty()) return true;
  HANDHOLD_ASSIGN(const StepResult made, RunStep(context, FitGraspSpaceStep{.scripted = true}));
  chosen->push_back("grasp space " + ShortHash(made.hash) + " (scripted: none was fitted)");
  step->space = made.hash;
  if (!context.dry_run) return true;
  HANDHOLD_ASSIGN(const std::vector<std::string> asked, model::FeixTypes(step->types));
  const std::vector<std::string> known = synthesis::ScriptedTypes();
  const bool some = std::ranges::any_of(
      asked, [&](const std::string& type) { return std::ranges::count(known, type) > 0; });
  if (!asked.empty() && !some) {
    return Error{ErrorCode::kNotFound, "there is no script of '" + asked.front() + "'" +
                                           DidYouMean(asked.front(), known)};
  }
  return false;
}

}  // namespace handhold::pipeline

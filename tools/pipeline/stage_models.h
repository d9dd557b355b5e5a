/// Looks up what a stage names: models by hash where it is kept, props by what a person said.
#pragma once

#include <string>
#include <vector>

#include "database/artefact/motion.h"
#include "database/artefact/stage.h"
#include "database/store/library.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// Skeletons and props of a stage by their hashes, dressed as the stage says; what has no hash is
/// left as it is.
Status LoadModels(const store::Library& library, artefact::Stage* stage);

/// A motion as it is kept, with the models of its stage.
Result<artefact::Motion> LoadMotion(const store::Library& library, const std::string& hash);

/// The prop that the thing names (as FindProp), scaled, kept, and dressed as the thing says; one
/// that is dressed already is kept. What was taken where nothing was said is told in `chosen`.
Status FindStaged(const StepContext& context, std::vector<std::string>* chosen,
                  artefact::StageThing* thing);

}  // namespace handhold::pipeline

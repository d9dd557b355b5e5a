#include "tools/pipeline/stage_models.h"

#include <cstdio>
#include <utility>

#include "database/store/artefact_file.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {

Status LoadModels(const store::Library& library, artefact::Stage* stage) {
  for (artefact::StageHand& hand : stage->hands) {
    if (hand.skeleton.hash.empty()) continue;
    HANDHOLD_ASSIGN(FoundSkeleton found, LoadSkeletonArtefact(library, hand.skeleton.hash));
    hand.skeleton.value = std::make_shared<const model::Skeleton>(std::move(found.skeleton));
  }
  for (artefact::StageThing& thing : stage->things) {
    if (thing.prop.hash.empty()) continue;
    HANDHOLD_ASSIGN(FoundProp found, LoadPropArtefact(library, thing.prop.hash));
    HANDHOLD_TRY(Dress(std::move(found.prop), &thing));
  }
  return {};
}

Result<artefact::Motion> LoadMotion(const store::Library& library, const std::string& hash) {
  HANDHOLD_ASSIGN(artefact::Motion motion,
                  store::Load<artefact::Motion>(library.ArtefactPath(hash)));
  HANDHOLD_TRY(LoadModels(library, &motion.stage));
  return motion;
}

Status FindStaged(const StepContext& context, std::vector<std::string>* chosen,
                  artefact::StageThing* thing) {
  FoundProp found;
  if (thing->prop.there()) {
    HANDHOLD_ASSIGN(found, KeepProp(context, *thing->prop));
  } else {
    HANDHOLD_ASSIGN(found, FindProp(context, thing->prop.key, thing->metres_per_unit, chosen));
    if (thing->scale != 1.0) {
      HANDHOLD_ASSIGN(model::Prop scaled,
                      artefact::ScaledProp(std::move(found.prop), thing->scale));
      HANDHOLD_ASSIGN(found, KeepProp(context, scaled));
    }
  }
  const bool says_mass = thing->mass_kg.has_value() || found.prop.mass.mass_kg > 0.0;
  thing->prop.key = found.prop.name;
  thing->prop.hash = found.hash;
  HANDHOLD_TRY(Dress(std::move(found.prop), thing));
  if (says_mass || !thing->yields()) return {};
  char text[40];
  std::snprintf(text, sizeof text, "%g kg", artefact::kUnweighed_kg);
  chosen->push_back("mass of '" + thing->prop->name + "' " + text + " (it says none)");
  return {};
}

}  // namespace handhold::pipeline

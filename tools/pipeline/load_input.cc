#include "tools/pipeline/load_input.h"

#include "database/model/skeleton_json.h"
#include "database/text/json_view.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {

Result<std::shared_ptr<const recording::ClipSource>> LoadClip(const store::Library& library,
                                                              const step::Found& found) {
  HANDHOLD_ASSIGN(std::unique_ptr<store::ClipReader> reader, library.OpenClip(found.id));
  return std::shared_ptr<const recording::ClipSource>(std::move(reader));
}

Result<std::shared_ptr<const step::Hand>> LoadHand(const store::Library& library,
                                                   const step::Found& found) {
  HANDHOLD_ASSIGN(FoundSkeleton hand, LoadSkeletonArtefact(library, found.hash));
  return std::shared_ptr<const step::Hand>(
      new step::Hand{std::move(hand.skeleton), std::move(hand.summary)});
}

Result<std::shared_ptr<const model::Prop>> LoadProp(const store::Library& library,
                                                    const step::Found& found) {
  HANDHOLD_ASSIGN(FoundProp prop, LoadPropArtefact(library, found.hash));
  return std::shared_ptr<const model::Prop>(std::make_shared<model::Prop>(std::move(prop.prop)));
}

}  // namespace handhold::pipeline

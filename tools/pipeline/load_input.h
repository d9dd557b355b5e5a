/// The value of an input that was found, from the library.
#pragma once

#include <memory>
#include <string>

#include "database/artefact/kind.h"
#include "database/base/result.h"
#include "database/model/prop.h"
#include "database/recording/clip.h"
#include "database/step/given.h"
#include "database/store/artefact_file.h"
#include "database/store/library.h"

namespace handhold::pipeline {

inline constexpr const char* kClipKind = "clip";
/// A result that is several: which, and what was said of them.
inline constexpr const char* kOutputsKind = "outputs";

/// "clip", "skeleton", "prop", or the artefact's.
template <typename T>
const char* KindName() {
  if constexpr (std::is_same_v<T, recording::ClipSource>) {
    return kClipKind;
  } else if constexpr (std::is_same_v<T, step::Hand>) {
    return artefact::kSkeletonKind;
  } else if constexpr (std::is_same_v<T, model::Prop>) {
    return artefact::kPropKind;
  } else {
    return artefact::KindOf<T>::name;
  }
}

Result<std::shared_ptr<const recording::ClipSource>> LoadClip(const store::Library& library,
                                                              const step::Found& found);
Result<std::shared_ptr<const step::Hand>> LoadHand(const store::Library& library,
                                                   const step::Found& found);
Result<std::shared_ptr<const model::Prop>> LoadProp(const store::Library& library,
                                                    const step::Found& found);

template <typename T>
Result<std::shared_ptr<const T>> LoadInput(const store::Library& library,
                                           const step::Found& found) {
  if constexpr (std::is_same_v<T, recording::ClipSource>) {
    return LoadClip(library, found);
  } else if constexpr (std::is_same_v<T, step::Hand>) {
    return LoadHand(library, found);
  } else if constexpr (std::is_same_v<T, model::Prop>) {
    return LoadProp(library, found);
  } else {
    HANDHOLD_ASSIGN(T value, store::Load<T>(library.ArtefactPath(found.hash)));
    return std::shared_ptr<const T>(std::make_shared<T>(std::move(value)));
  }
}

}  // namespace handhold::pipeline

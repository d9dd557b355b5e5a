/// hand57 as the marks of its dynamics time it.
#pragma once

#include <utility>

#include "database/model/hand_library.h"
#include "database/model/skeleton.h"

namespace handhold::testing {

/// hand57 without its palm, which is fixed in the world: peers would carry it along, and we do not.
/// Markers, frames and sites are left out too.
inline model::Skeleton MovingHand57() {
  model::SkeletonDraft draft = model::LoadHand("hand57").value().draft();
  draft.bodies.erase(draft.bodies.begin());
  for (model::Body& body : draft.bodies) body.parent -= 1 - (body.parent == 0);
  draft.markers.clear();
  draft.marker_sets.clear();
  draft.frames.clear();
  draft.sites.clear();
  return model::Skeleton::Build(std::move(draft)).value();
}

}  // namespace handhold::testing

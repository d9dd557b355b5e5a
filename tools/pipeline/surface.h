/// The surface that a clip was recorded on: which prop, and where it stood. Internal to the
/// pipeline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {

struct PlacedSurface {
  std::string thing;  ///< of the take; else the prop's name
  FoundProp prop;
  geometry::RigidTransform X_WP;
};

/// `key` (a thing of the take, a prop of ours, or a file) and `X_WP` as the caller gave them; what
/// is empty is taken from the take's things where only one can be meant. `metres_per_unit` scales a
/// mesh file. kInvalid names the choices, or the option that would help.
Result<PlacedSurface> FindSurface(const StepContext& context, const std::string& key,
                                  double metres_per_unit,
                                  const std::optional<geometry::RigidTransform>& X_WP,
                                  const FoundClip& clip, std::vector<std::string>* chosen);

}  // namespace handhold::pipeline

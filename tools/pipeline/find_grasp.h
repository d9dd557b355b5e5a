/// How steps find a grasp by what a person would type, and take one out of a motion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/artefact/motion.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {

struct FoundGrasp {
  artefact::Grasp grasp;
  std::string hash;  ///< of its artefact (kind "grasp"), or of the motion it was taken from
  artefact::ProvenanceInput input(std::string role = "grasp") const {
    return {std::move(role), hash, grasp.name};
  }
};
/// By name of a grasp of ours ("hand57_cylinder"), by path of a grasp's .json, or by hash of one,
/// as it is written there. Ours and files are kept as artefacts first ("import.grasp"; its hand and
/// prop are inputs where they are known). kNotFound names near ones.
Result<FoundGrasp> FindGrasp(const StepContext& context, const std::string& key);

/// With the hand and the prop that it is of.
struct FoundExample : FoundGrasp {  ///< skeleton_hash and prop_hash filled
  FoundSkeleton skeleton;
  FoundProp prop;
};
/// As FindGrasp; also by hash of a motion in which one hand holds something (GraspOfMotion), or by
/// clip: its newest such motion, told in `chosen`.
Result<FoundExample> FindExample(const StepContext& context, const std::string& key,
                                 std::vector<std::string>* chosen);

/// The grasp that a motion shows: of its first hand on its first object that moves, at the frame at
/// which most of its bodies touch (of equals the one in the middle); open as in the last frame
/// before the first touch; squeezing as far again as from open to there (alpha 1). kInvalid: no
/// hand touches anything, or the touch begins with the motion.
Result<artefact::Grasp> GraspOfMotion(const artefact::Motion& motion,
                                      const model::Skeleton& skeleton);

}  // namespace handhold::pipeline

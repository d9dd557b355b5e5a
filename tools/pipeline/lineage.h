/// Where a result came from, down to the recordings, and what was made from it.
#pragma once

#include <string>
#include <vector>

#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// One thing on the way.
struct LineageNode {
  int depth = 0;      ///< 0: the thing asked about
  std::string role;   ///< that the parent gave it: "pose", "clip"; empty at depth 0
  std::string kind;   ///< of the artefact, "clip", or "file" for what lies outside the library
  std::string hash;   ///< of a clip: of its file
  std::string name;   ///< of a clip or file
  std::string step;   ///< that made it; empty for clips and files
  bool seen = false;  ///< listed above already: its own inputs are not listed again
};

/// The artefact and everything it was made from, depth first, inputs in their order.
Result<std::vector<LineageNode>> Lineage(const store::Library& library, const std::string& hash);
/// Everything that was made from an artefact or clip, directly or not, nearest first.
Result<std::vector<store::ArtefactInfo>> Descendants(const store::Library& library,
                                                     const std::string& hash);

}  // namespace handhold::pipeline

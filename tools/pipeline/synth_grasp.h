/// Step "synth.grasp": natural grasps for a prop, from a grasp space (synthesis/grasp_search).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "synthesis/grasp_search/grasp_search.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

struct SynthGraspResult {
  std::vector<StepResult> grasps;  ///< artefact::Grasp each, ranked; one place in dry runs
  std::vector<artefact::Grasp> values;
  std::map<std::string, int> refused;  ///< candidates by cause
  /// Types asked for of which there is no grasp, coarse names where there is none under them: why.
  std::map<std::string, std::string> without;
  std::vector<std::string> chosen;
};

/// Each result is an artefact::Grasp; inputs: space, skeleton, prop. kNotFound with the reason
/// where nothing is found; a dry run refuses what can be refused before the search.
struct SynthGraspStep {
  std::string space = {};  ///< artefact; empty: the newest one; none at all: a scripted one is made
  std::string prop = {};   ///< as FindProp
  double metres_per_unit = kMeshMetresPerUnit;
  std::vector<std::string> types = {};  ///< of any taxonomy; empty: any
  std::string region = {};  ///< a region of the prop, or "x,y,z,r" in metres of its frame
  std::vector<int> faces = {};
  int candidates = 8;
  bool paper = false;  ///< the paper's own search
  int seed = 1;

  Result<SynthGraspResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

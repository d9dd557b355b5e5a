/// A grasp space of a few scripted types, for tests: fitted as `fit grasp-space --scripted` does.
#pragma once

#include <string>
#include <vector>

#include "database/model/hand_library.h"
#include "fitting/grasp_space/grasp_space_fit.h"
#include "synthesis/grasp_search/grasp_search.h"
#include "synthesis/grasp_search/preshape.h"

namespace handhold::test_support {

inline synthesis::HandSurface Hand27() {
  return *synthesis::HandSurface::Build(*model::LoadHand("hand27"));
}

inline artefact::GraspSpace ScriptedSpace(const std::vector<std::string>& types, int per_type,
                                          int dims = 6) {
  const synthesis::Preshapes made =
      *synthesis::ScriptPreshapes(Hand27(), types, {.per_type = per_type});
  fitting::HandPoses poses;
  fitting::AddTemplates(made.dof_names, made.grasps, &poses).value();
  artefact::GraspSpace space = *fitting::FitGraspSpace(
      poses, {.dims = dims, .mixture = {.max_components = 3, .restarts = 1}});
  space.skeleton_name = "hand27";
  return space;
}

}  // namespace handhold::test_support

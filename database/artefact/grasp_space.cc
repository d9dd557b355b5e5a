#include "database/artefact/grasp_space.h"

#include <cstdio>

namespace handhold::artefact {

std::string GraspSpace::Brief() const {
  int poses = 0, models = 0, held = 0;
  for (const auto& [type, count] : poses_by_type) poses += count;
  for (const TypeModel& m : type_models) models += m.taxonomy == taxonomy && !m.mixture.empty();
  for (const GraspTemplate& t : templates) held += !t.primitive.empty();
  double said = 0.0;
  for (int k = 0; k < dimensions() && k < variance.size(); ++k) said += variance[k];
  char text[256];
  std::snprintf(
      text, sizeof text,
      "grasp space of hand '%s': %d %s poses, %d with the thing held, %d dimensions (%.0f %% "
      "of the variance), %zu Gaussians, models of %d types",
      skeleton_name.c_str(), poses, scripted ? "scripted" : "captured", held, dimensions(),
      variance.size() > 0 ? 100 * said / variance.sum() : 0.0, mixture.size(), models);
  return text;
}

}  // namespace handhold::artefact

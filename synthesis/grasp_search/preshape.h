/// Grasps of every type by script: a hand laid on spheres, cylinders, boxes and disks of random
/// size, closed on them. A grasp space can be made of them before anybody was captured; it says
/// "scripted" and is never mixed with captured ones.
///
/// Each of 26 types of the GRASP taxonomy (database/model/grasp_taxonomy.h) is a posture to begin
/// from, a primitive with a range of sizes and the contact sites that must touch it; a ContactFit
/// lays the hand there, a Closer closes it. What does not touch with all its sites, enters the
/// primitive or itself by more than 3 mm, or exceeds a limit is thrown away and tried again. Angles
/// and sizes are ours. Pinned by tests/synthesis/grasp_search/preshape_test.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "database/artefact/about.h"
#include "database/artefact/grasp_space.h"
#include "database/base/result.h"
#include "database/model/prop.h"
#include "synthesis/grasp_search/hand_surface.h"

namespace handhold::synthesis {

inline constexpr int kPreshapeVersion = 1;

struct PreshapeOptions {
  int per_type = 40;
  double noise_rad = 0.06;  ///< on every angle that a type begins from, one standard deviation
  int tries = 12;           ///< per grasp that is wanted
  std::uint64_t seed = 1;
};
template <typename A>
void Visit(A& a, PreshapeOptions& o) {
  int seed = static_cast<int>(o.seed);
  a.Field("per_type", o.per_type,
          artefact::About{.help = "of scripts: poses of each type",
                          .word = "per-type",
                          .value = "N",
                          .least = 2,
                          .most = 1000});
  a.Field("noise_rad", o.noise_rad);
  a.Field("tries", o.tries);
  a.Field("seed", seed);
  o.seed = static_cast<std::uint64_t>(seed);
}

struct PreshapeCount {
  std::string type;
  int made = 0, tried = 0;
};

struct Preshapes {
  std::vector<std::string> dof_names;           ///< n
  std::vector<artefact::GraspTemplate> grasps;  ///< type: Feix's name
  std::vector<PreshapeCount> counts;            ///< per type asked for
};

/// The types there is a script of, in Feix's order.
std::vector<std::string> ScriptedTypes();

/// `types`: Feix names; empty: all of them. kNotFound: one without a script, naming those that have
/// one. The same seed gives the same bits, whatever else is asked for beside a type. `progress` may
/// be null; false ends with kCancelled.
Result<Preshapes> ScriptPreshapes(const HandSurface& hand, const std::vector<std::string>& types,
                                  const PreshapeOptions& options = {},
                                  const std::function<bool(double)>& progress = nullptr);

/// The primitive of a template as a prop of its own, in its frame O; kInvalid where it has none.
Result<model::Prop> PrimitiveProp(const artefact::GraspTemplate& grasp);

}  // namespace handhold::synthesis

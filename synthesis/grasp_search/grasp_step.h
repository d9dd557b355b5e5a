/// Step "synth.grasp": natural grasps for a prop, from a grasp space (grasp_search.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/artefact/grasp_space.h"
#include "database/model/prop.h"
#include "database/step/about.h"
#include "database/step/given.h"
#include "database/step/work.h"
#include "synthesis/grasp_search/grasp_search.h"

namespace handhold::synthesis {

struct SynthGraspStep {
  static constexpr step::Title kStep{
      "synth.grasp", kGraspSearchVersion,
      "find natural grasps for a prop that nobody touched, ranked by how they hold"};
  step::Given<artefact::GraspSpace> space = {};
  step::Given<step::Hand> skeleton = {};
  step::Given<model::Prop> prop = {};
  std::vector<std::string> types = {};  ///< of any taxonomy; empty: any
  std::string region = {};  ///< a region of the prop, or "x,y,z,r" in metres of its frame
  std::vector<int> faces = {};
  int candidates = 8;
  enum class Method { kFit, kPaper } method = Method::kFit;
  int seed = 1;
  GraspSearchOptions search = {};  ///< its types, candidates, fits, starts, seed: the step's
  PaperSearchOptions paper = {};
};
template <typename A>
void Visit(A& a, SynthGraspStep& s) {
  using artefact::About;
  using step::Role;
  using step::Unsaid;
  a.Input("space", s.space,
          Role{.help = "grasp space; default: the newest, else a scripted one is made",
               .unsaid = Unsaid::kNewest});
  a.Input("skeleton", s.skeleton, Role{.unsaid = Unsaid::kOf, .of = "space"});
  a.Input("prop", s.prop,
          Role{.help = "a prop of ours, a .json prop, a .stl, .obj or .ply mesh, or an artefact"});
  a.Field("types", s.types,
          About{.help = "grasp types, by comma: names of Feix, Cutkosky or Schlesinger, the finest "
                        "first; 'schlesinger:palmar' says whose; default: any",
                .word = "type",
                .value = "TYPES"});
  a.Field("region", s.region,
          About{.help = "a region of the prop by name, or x,y,z,radius in metres of its frame"});
  a.Field("faces", s.faces,
          About{.help = "triangles of a mesh, from 0, by comma", .value = "NUMBERS", .least = 0});
  a.Field("candidates", s.candidates,
          About{.help = "grasps answered, of each type asked for",
                .value = "N",
                .least = 1,
                .most = 1000});
  a.Choice("method", s.method, {"fit", "paper"},
           About{.help = "fit: templates, contact fit, closing; paper: eq. 6 by dynamic hill "
                         "climbing"});
  a.Field(
      "seed", s.seed,
      About{
          .help = "the same seed gives the same bits", .value = "N", .least = 1, .most = 1000000});
  a.Field("search", s.search);
  a.Field("paper", s.paper);
}

struct FoundGrasps {
  std::vector<artefact::Grasp> grasps;  ///< ranked
  std::map<std::string, int> refused;   ///< candidates by cause
  /// Types asked for of which there is no grasp, coarse names where there is none under them: why.
  std::map<std::string, std::string> without;
};
template <typename A>
void Visit(A& a, FoundGrasps& f) {
  a.Output("grasp", f.grasps);
  a.Field("refused", f.refused);
  a.Field("without", f.without);
}

/// What can be refused before the search: types that the space has no template of, a place without
/// surface.
Status Check(const SynthGraspStep& s);
/// kNotFound with the reason where nothing is found.
Result<FoundGrasps> Compute(const SynthGraspStep& s, step::Work& work);

}  // namespace handhold::synthesis

#include "tools/pipeline/synth_grasp.h"

#include <algorithm>

#include "database/artefact/describe.h"
#include "database/store/artefact_file.h"
#include "synthesis/regrasp/proposer.h"
#include "tools/pipeline/fit_grasp_space.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {

Result<SynthGraspResult> SynthGraspStep::Run(const StepContext& context) const {
  SynthGraspResult result;
  HANDHOLD_ASSIGN(const FoundProp found, FindProp(context, prop, metres_per_unit, &result.chosen));
  synthesis::GraspSearchOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.candidates = candidates;
  // A few are no less well looked for than eight; a place refuses more of them.
  const int looked_for = std::max(candidates, 8);
  options.fits = (region.empty() && faces.empty() ? 2 : 4) * looked_for;
  options.starts = std::max(options.starts, 2 * options.fits);
  if (paper) options.paper = synthesis::PaperSearchOptions{};
  HANDHOLD_ASSIGN(options.types, FeixTypes(types));
  synthesis::GraspPlace place;
  if (!region.empty()) {
    HANDHOLD_ASSIGN(const model::GraspRegion where, synthesis::RegionNamed(found.prop, region));
    place.point_P = where.p_P;
    place.radius_m = where.radius_m;
    place.approach_P = where.approach_P;
  }
  for (const int face : faces) place.faces.push_back(static_cast<std::uint32_t>(face));
  HANDHOLD_ASSIGN(const synthesis::HeldObject object,
                  synthesis::HeldObject::Build(found.prop, place));

  std::string hash = space;
  bool newest = false;
  if (hash.empty()) {
    HANDHOLD_ASSIGN(const auto spaces, context.library.Artefacts("grasp_space"));
    if (!spaces.empty()) {
      hash = spaces.back().hash;
      newest = true;
    } else {
      HANDHOLD_ASSIGN(const StepResult made, FitGraspSpaceStep{.scripted = true}.Run(context));
      hash = made.hash;
      result.chosen.push_back("grasp space " + ShortHash(hash) + " (scripted: none was fitted)");
      if (context.dry_run) {
        result.grasps.push_back(made);
        return result;
      }
    }
  }
  HANDHOLD_ASSIGN(const store::ArtefactInfo info,
                  FindArtefact(context.library, hash, "grasp_space"));
  HANDHOLD_ASSIGN(const artefact::GraspSpace loaded,
                  store::Load<artefact::GraspSpace>(context.library.ArtefactPath(info.hash)));
  HANDHOLD_ASSIGN(const FoundSkeleton skeleton,
                  LoadSkeletonArtefact(context.library, loaded.skeleton_hash));
  HANDHOLD_ASSIGN(const synthesis::HandSurface hand,
                  synthesis::HandSurface::Build(skeleton.skeleton));
  if (newest) {
    result.chosen.push_back("grasp space " + ShortHash(hash) +
                            " (the newest: " + (loaded.scripted ? "scripted" : "captured") +
                            ", hand '" + loaded.skeleton_name + "')");
  }
  // A coarse name asks for every type under it that the space has.
  std::vector<std::string> has;
  std::string lacks;
  for (const std::string& asked : types) {
    HANDHOLD_ASSIGN(const std::vector<std::string> under, FeixTypes({asked}));
    bool any = false;
    for (const std::string& type : under) {
      if (std::ranges::none_of(loaded.templates, [&](const auto& t) { return t.type == type; }))
        continue;
      any = true;
      if (std::ranges::find(has, type) == has.end()) has.push_back(type);
    }
    if (!any) lacks += (lacks.empty() ? "'" : ", '") + asked + "'";
  }
  if (!has.empty()) {
    options.types = has;
    if (!lacks.empty()) result.chosen.push_back("the other types: the space has none of " + lacks);
  }
  artefact::Provenance provenance = ProvenanceOf("synth.grasp", synthesis::kGraspSearchVersion);
  provenance.inputs = {{"space", info.hash, ""}, skeleton.input(), found.input("prop")};
  text::Json parameters = text::Json::Object();
  text::Json type_list = text::Json::Array(), face_list = text::Json::Array();
  for (const std::string& type : options.types) type_list.Push(type);
  for (const int face : faces) face_list.Push(static_cast<int64_t>(face));
  parameters.Set("types", type_list);
  parameters.Set("region", region);
  parameters.Set("faces", face_list);
  parameters.Set("candidates", static_cast<int64_t>(candidates));
  parameters.Set("method", std::string(paper ? "paper" : "fit"));
  parameters.Set("seed", static_cast<int64_t>(seed));
  const auto with_rank = [&](size_t rank) -> Result<artefact::Provenance> {
    artefact::Provenance p = provenance;
    text::Json ranked = parameters;
    ranked.Set("rank", static_cast<int64_t>(rank));
    HANDHOLD_ASSIGN(p.parameters_json, Parameters(ranked));
    return p;
  };
  if (context.dry_run) {
    HANDHOLD_ASSIGN(artefact::Provenance first, with_rank(1));
    HANDHOLD_ASSIGN(const StepResult dry,
                    RunStep(context, std::move(first), {},
                            []() -> Result<artefact::Grasp> { return artefact::Grasp{}; }));
    result.grasps.push_back(dry);
    return result;
  }
  HANDHOLD_TRY(Report(context, 0.2, "searching"));
  HANDHOLD_ASSIGN(const synthesis::GraspSearcher searcher,
                  synthesis::GraspSearcher::Build(hand, loaded));
  HANDHOLD_ASSIGN(const synthesis::GraspSearchResult search,
                  searcher.Search(object, synthesis::CentreOf(found.prop, object), options));
  result.refused = search.refused;
  if (search.grasps.empty()) return Error{ErrorCode::kNotFound, search.reason};
  for (size_t i = 0; i < search.grasps.size(); ++i) {
    artefact::Grasp grasp =
        searcher.ToGrasp(search.grasps[i], found.prop.name + " " + search.grasps[i].type + " " +
                                               std::to_string(i + 1));
    grasp.skeleton_hash = skeleton.hash;
    grasp.prop = found.prop.name;
    grasp.prop_hash = found.hash;
    grasp.region = region;
    grasp.scores["rank"] = static_cast<double>(i + 1);
    HANDHOLD_ASSIGN(artefact::Provenance p, with_rank(i + 1));
    HANDHOLD_ASSIGN(StepResult one, RunStep(context, std::move(p), {},
                                            [&]() -> Result<artefact::Grasp> { return grasp; }));
    result.grasps.push_back(std::move(one));
    result.values.push_back(std::move(grasp));
  }
  return result;
}

}  // namespace handhold::pipeline

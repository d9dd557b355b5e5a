#include "tools/pipeline/synth_grasp.h"

#include <algorithm>

#include "database/artefact/describe.h"
#include "database/base/names.h"
#include "database/store/artefact_file.h"
#include "synthesis/grasp_search/preshape.h"
#include "synthesis/regrasp/proposer.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/fit_grasp_space.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {

namespace {

/// Of the types asked for, by name as asked, the Feix types that `known` has.
struct TypesAsked {
  std::map<std::string, std::vector<std::string>> under;
  std::vector<std::string> all;  ///< in the order asked

  /// kNotFound where there is none; one of several goes to `without`.
  static Result<TypesAsked> Of(const std::vector<std::string>& asked,
                               const std::vector<std::string>& known,
                               std::map<std::string, std::string>* without) {
    TypesAsked types;
    for (const std::string& name : asked) {
      HANDHOLD_ASSIGN(const std::vector<std::string> feix, FeixTypes({name}));
      std::vector<std::string>& under = types.under[name];
      for (const std::string& type : feix) {
        if (std::ranges::find(known, type) == known.end()) continue;
        under.push_back(type);
        if (std::ranges::find(types.all, type) == types.all.end()) types.all.push_back(type);
      }
      if (under.empty()) (*without)[name] = "the space has no template of it";
    }
    if (!asked.empty() && types.all.empty()) {
      return Error{ErrorCode::kNotFound,
                   "the grasp space has no template of '" + asked.front() + "'" +
                       (asked.size() > 1 ? " nor of the others asked for" : "") +
                       DidYouMean(asked.front(), known)};
    }
    return types;
  }

  /// What the search found nothing of: names under which there is no grasp, with the causes.
  void AddMissing(const synthesis::GraspSearchResult& search,
                  std::map<std::string, std::string>* without) const {
    for (const auto& [asked, feix] : under) {
      const auto is_under = [&types = feix](const std::string& type) {
        return std::ranges::find(types, type) != types.end();
      };
      if (std::ranges::any_of(search.grasps, [&](const auto& g) { return is_under(g.type); }))
        continue;
      for (const auto& [type, why] : search.without) {
        if (!is_under(type)) continue;
        std::string& said = (*without)[asked];
        said += (said.empty() ? "" : ", ") + (type == asked ? why : type + " " + why);
      }
    }
  }
};

/// What is searched: the prop, its surface within the place asked for. kNotFound: none there.
Result<synthesis::HeldObject> ObjectOf(const SynthGraspStep& step, const model::Prop& prop) {
  synthesis::GraspPlace place;
  if (!step.region.empty()) {
    HANDHOLD_ASSIGN(const model::GraspRegion where, synthesis::RegionNamed(prop, step.region));
    place.point_P = where.p_P;
    place.radius_m = where.radius_m;
    place.approach_P = where.approach_P;
  }
  for (const int face : step.faces) place.faces.push_back(static_cast<std::uint32_t>(face));
  HANDHOLD_ASSIGN(synthesis::HeldObject object, synthesis::HeldObject::Build(prop, place));
  if (object.has_place() && object.Sample(64, static_cast<std::uint64_t>(step.seed)).empty()) {
    return Error{ErrorCode::kNotFound,
                 "no surface of '" + prop.name + "' lies in the place asked for"};
  }
  return object;
}

}  // namespace

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
  HANDHOLD_ASSIGN(const synthesis::HeldObject object, ObjectOf(*this, found.prop));

  std::string hash = space;
  bool newest = false;
  if (hash.empty()) {
    HANDHOLD_ASSIGN(const auto spaces, context.library.Artefacts("grasp_space"));
    if (!spaces.empty()) {
      hash = spaces.back().hash;
      newest = true;
    } else {
      HANDHOLD_ASSIGN(const StepResult made, RunStep(context, FitGraspSpaceStep{.scripted = true}));
      hash = made.hash;
      result.chosen.push_back("grasp space " + ShortHash(hash) + " (scripted: none was fitted)");
      if (context.dry_run) {
        HANDHOLD_TRY(TypesAsked::Of(types, synthesis::ScriptedTypes(), &result.without));
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
  std::vector<std::string> known;
  for (const artefact::GraspTemplate& t : loaded.templates) known.push_back(t.type);
  HANDHOLD_ASSIGN(const TypesAsked asked, TypesAsked::Of(types, known, &result.without));
  options.types = asked.all;
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
  asked.AddMissing(search, &result.without);
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

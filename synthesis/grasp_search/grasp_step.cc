#include "synthesis/grasp_search/grasp_step.h"

#include <algorithm>

#include "database/base/names.h"
#include "database/model/grasp_taxonomy.h"
#include "synthesis/regrasp/proposer.h"

namespace handhold::synthesis {
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
      HANDHOLD_ASSIGN(const std::vector<std::string> feix, model::FeixTypes({name}));
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
  void AddMissing(const GraspSearchResult& search,
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
Result<HeldObject> ObjectOf(const SynthGraspStep& s) {
  GraspPlace place;
  if (!s.region.empty()) {
    HANDHOLD_ASSIGN(const model::GraspRegion where, RegionNamed(*s.prop, s.region));
    place.point_P = where.p_P;
    place.radius_m = where.radius_m;
    place.approach_P = where.approach_P;
  }
  for (const int face : s.faces) place.faces.push_back(static_cast<std::uint32_t>(face));
  HANDHOLD_ASSIGN(HeldObject object, HeldObject::Build(*s.prop, place));
  if (object.has_place() && object.Sample(64, static_cast<std::uint64_t>(s.seed)).empty()) {
    return Error{ErrorCode::kNotFound,
                 "no surface of '" + s.prop->name + "' lies in the place asked for"};
  }
  return object;
}

Result<TypesAsked> AskedOf(const SynthGraspStep& s, std::map<std::string, std::string>* without) {
  std::vector<std::string> known;
  for (const artefact::GraspTemplate& t : s.space->templates) known.push_back(t.type);
  return TypesAsked::Of(s.types, known, without);
}

}  // namespace

Status Check(const SynthGraspStep& s) {
  HANDHOLD_TRY(s.prop.Load());
  HANDHOLD_TRY(s.space.Load());
  HANDHOLD_TRY(ObjectOf(s));
  std::map<std::string, std::string> without;
  HANDHOLD_TRY(AskedOf(s, &without));
  return {};
}

Result<FoundGrasps> Compute(const SynthGraspStep& s, step::Work& work) {
  FoundGrasps found;
  HANDHOLD_ASSIGN(const HeldObject object, ObjectOf(s));
  HANDHOLD_ASSIGN(const TypesAsked asked, AskedOf(s, &found.without));
  GraspSearchOptions options = s.search;
  options.types = asked.all;
  options.seed = static_cast<std::uint64_t>(s.seed);
  options.candidates = s.candidates;
  // A few are no less well looked for than eight; a place refuses more of them.
  const int looked_for = std::max(s.candidates, 8);
  options.fits = (s.region.empty() && s.faces.empty() ? 2 : 4) * looked_for;
  options.starts = std::max(options.starts, 2 * options.fits);
  if (s.method == SynthGraspStep::Method::kPaper) options.paper = s.paper;
  options.go_on = [&](int done, int planned) {
    return work.GoOn(0.2 + 0.7 * done / std::max(planned, 1), "searching");
  };
  HANDHOLD_ASSIGN(const HandSurface hand, HandSurface::Build(s.skeleton->skeleton));
  HANDHOLD_ASSIGN(const GraspSearcher searcher, GraspSearcher::Build(hand, *s.space));
  HANDHOLD_ASSIGN(const GraspSearchResult search,
                  searcher.Search(object, CentreOf(*s.prop, object), options));
  if (search.stopped) return Error{ErrorCode::kCancelled, "the search was cancelled"};
  found.refused = search.refused;
  asked.AddMissing(search, &found.without);
  if (search.grasps.empty()) return Error{ErrorCode::kNotFound, search.reason};
  for (size_t i = 0; i < search.grasps.size(); ++i) {
    artefact::Grasp& grasp = found.grasps.emplace_back(
        searcher.ToGrasp(search.grasps[i],
                         s.prop->name + " " + search.grasps[i].type + " " + std::to_string(i + 1)));
    grasp.skeleton_hash = s.skeleton.hash;
    grasp.prop = s.prop->name;
    grasp.prop_hash = s.prop.hash;
    grasp.region = s.region;
    grasp.scores["rank"] = static_cast<double>(i + 1);
  }
  return found;
}

}  // namespace handhold::synthesis

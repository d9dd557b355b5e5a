#include "synthesis/grasp_search/search_proposer.h"

#include <algorithm>
#include <chrono>

#include "database/model/grasp_taxonomy.h"

namespace handhold::synthesis {
namespace {

std::map<std::string, std::string> TypesOf(const std::string& feix) {
  std::map<std::string, std::string> types = {{std::string(model::kFeix), feix}};
  if (const model::GraspTypeRow* row = model::FindFeix(feix)) {
    types[std::string(model::kCutkosky)] = row->cutkosky;
    types[std::string(model::kSchlesinger)] = row->schlesinger;
  }
  return types;
}

/// How far the hand reaches below the table's top; <= 0: not at all.
double BelowTable(const HandSurface& hand, const FoundGrasp& grasp,
                  const geometry::RigidTransform& X_PTable) {
  model::KinematicsData data(hand.skeleton());
  model::ComputePoses(hand.skeleton(), hand.Configuration(grasp.X_PH, grasp.shape), &data);
  double deepest = -1.0;
  for (const SkinSphere& s : hand.fine_spheres()) {
    const geometry::Vec3 p = data.X_WB[static_cast<size_t>(s.body)] * s.p_B;
    deepest = std::max(deepest, s.radius_m - X_PTable.R.col(2).dot(p - X_PTable.p));
  }
  return deepest;
}

}  // namespace

Result<ProposerReport> SearchProposer::Propose(const GraspRequest& request,
                                               const ProposerSink& sink) {
  HANDHOLD_TRY(CheckWishes(request.wishes));
  const GraspWishes& wishes = request.wishes;
  if (request.hand.dof_names() != searcher_.hand().skeleton().dof_names()) {
    return Error{ErrorCode::kInvalid, "the search was made for hand '" +
                                          searcher_.hand().skeleton().name() + "', not for '" +
                                          request.hand.name() + "'"};
  }
  ProposerReport report;
  GraspSearchOptions options = options_;
  options.types.clear();
  std::string has;
  for (const std::string& type : searcher_.types()) {
    has += (has.empty() ? "" : ", ") + type;
    if (TypeMatches(TypesOf(type), wishes.type)) options.types.push_back(type);
  }
  if (options.types.empty()) {
    report.no_match = "no template of type '" + wishes.type + "': the space has " + has;
    return report;
  }
  const int types = wishes.type.empty() ? 1 : static_cast<int>(options.types.size());
  if (wishes.type.empty()) options.types.clear();
  GraspPlace place;
  if (wishes.region) {
    place.point_P = wishes.region->p_P;
    place.radius_m = wishes.region->radius_m;
    place.approach_P = wishes.region->approach_P;
  }
  HANDHOLD_ASSIGN(const HeldObject object, HeldObject::Build(request.prop, place));
  options.fits = std::max(1, (wishes.poses + types - 1) / types);
  options.starts = std::max(options_.starts, 4 * options.fits);
  options.candidates = options.fits;
  options.seed = wishes.seed;
  options.part = wishes.part;
  options.parts = wishes.parts;
  report.done.planned = (wishes.poses - wishes.part + wishes.parts - 1) / wishes.parts;
  const auto begin = std::chrono::steady_clock::now();
  options.go_on = [&](int, int) {
    ++report.done.tried;
    const double past =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (wishes.seconds > 0 && past > wishes.seconds) return false;
    return !sink.progress || sink.progress(report.done);
  };
  HANDHOLD_ASSIGN(const GraspSearchResult found,
                  searcher_.Search(object, CentreOf(request.prop, object), options));
  report.refused = found.refused;
  report.stopped = found.stopped;
  for (const FoundGrasp& f : found.grasps) {
    if (wishes.X_PTable && BelowTable(searcher_.hand(), f, *wishes.X_PTable) > 1e-3) {
      ++report.refused["table"];
      continue;
    }
    // Of the candidate, so that it is the same in however many parts.
    const int number = static_cast<int>(f.scores.at("candidate"));
    artefact::Grasp grasp = searcher_.ToGrasp(
        f, request.prop.name + " search " + f.type + " " + std::to_string(number));
    grasp.skeleton_hash = request.hand_hash;
    grasp.prop = request.prop.name;
    grasp.prop_hash = request.prop_hash;
    if (wishes.region) grasp.region = wishes.region->name;
    ++report.done.proposed;
    if (sink.propose && !sink.propose(std::move(grasp))) {
      report.stopped = true;
      break;
    }
  }
  return report;
}

}  // namespace handhold::synthesis

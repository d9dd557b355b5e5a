#include "tools/pipeline/find_grasp.h"

#include <algorithm>
#include <set>

#include "database/artefact/describe.h"
#include "database/artefact/grasp_file.h"
#include "database/base/digest.h"
#include "database/base/names.h"
#include "database/store/artefact_file.h"
#include "synthesis/grasp_control/setpoints.h"
#include "tools/pipeline/lineage.h"
#include "tools/pipeline/stage_models.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::Grasp;
using artefact::Motion;

constexpr int kImportGraspVersion = 2;

/// With hand and prop of a grasp, by hash where it says one, else ours of that name.
Result<FoundExample> Complete(const StepContext& context, Grasp grasp, std::string hash) {
  std::vector<std::string> unsaid;
  HandChoice ours;
  ours.key = grasp.skeleton_hash.empty() ? grasp.skeleton_name : grasp.skeleton_hash;
  HANDHOLD_ASSIGN(FoundSkeleton skeleton, FindSkeleton(context, ours, &unsaid));
  const std::string prop_key = grasp.prop_hash.empty() ? grasp.prop : grasp.prop_hash;
  HANDHOLD_ASSIGN(FoundProp prop, FindProp(context, prop_key, kMeshMetresPerUnit, &unsaid));
  grasp.skeleton_hash = skeleton.hash;
  grasp.prop_hash = prop.hash;
  return FoundExample{{std::move(grasp), std::move(hash)}, std::move(skeleton), std::move(prop)};
}

Result<FoundExample> FromMotion(const StepContext& context, const store::ArtefactInfo& info) {
  HANDHOLD_ASSIGN(const Motion motion, LoadMotion(context.library, info.hash));
  if (motion.hands.empty() || !motion.stage.hands[0].skeleton.there())
    return Error{ErrorCode::kInvalid, "motion " + ShortHash(info.hash) + " has no hand"};
  Result<Grasp> grasp = GraspOfMotion(motion, *motion.stage.hands[0].skeleton);
  if (!grasp) return grasp.error().Within("motion " + ShortHash(info.hash));
  grasp->name = "motion_" + ShortHash(info.hash);
  return Complete(context, *std::move(grasp), info.hash);
}

}  // namespace

Result<Grasp> GraspOfMotion(const Motion& motion, const model::Skeleton& skeleton) {
  const auto invalid = [](const std::string& what) { return Error{ErrorCode::kInvalid, what}; };
  if (motion.hands.empty() || motion.hands.front().dof_names != skeleton.dof_names())
    return invalid("the motion's first hand is not '" + skeleton.name() + "'");
  const artefact::MotionHand& hand = motion.hands.front();
  const auto moves =
      std::find_if(motion.objects.begin(), motion.objects.end(),
                   [](const artefact::MotionObject& o) { return !o.stands_still(); });
  if (moves == motion.objects.end()) return invalid("nothing moves in the motion: it is no grasp");
  std::vector<std::set<int>> bodies(motion.times.size());
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
    if (touch.a.is_hand() && touch.a.name == hand.name && touch.b.name == moves->name &&
        row.f_onA_W.norm() > 0.0)
      bodies[static_cast<size_t>(row.frame)].insert(touch.a.body);
  }
  size_t most = 0, first = bodies.size();
  for (size_t k = 0; k < bodies.size(); ++k) {
    most = std::max(most, bodies[k].size());
    if (!bodies[k].empty()) first = std::min(first, k);
  }
  if (most == 0) return invalid("hand '" + hand.name + "' never touches '" + moves->name + "'");
  if (first == 0)
    return invalid("the hand touches from the first frame on: how it opens is not seen");
  std::vector<size_t> best;
  for (size_t k = 0; k < bodies.size(); ++k) {
    if (bodies[k].size() == most) best.push_back(k);
  }
  const size_t at = best[best.size() / 2];
  Grasp grasp;
  grasp.proposer = "motion";
  grasp.skeleton_name = skeleton.name();
  grasp.skeleton_hash = motion.stage.hands.front().skeleton.hash;
  grasp.dof_names = hand.dof_names;
  grasp.q = hand.q.col(static_cast<Eigen::Index>(at));
  grasp.q_open = hand.q.col(static_cast<Eigen::Index>(first - 1));
  grasp.q_squeeze = synthesis::SqueezeTarget(skeleton, grasp.q_open, grasp.q, 1.0);
  const geometry::RigidTransform X_PW = moves->pose(at).Inverse();
  grasp.X_PH = X_PW;  // the motion's W is the skeleton's world
  const artefact::StageThing& held =
      motion.stage.things[static_cast<size_t>(moves - motion.objects.begin())];
  grasp.prop = held.prop.there() ? held.prop->name : held.prop.key;
  grasp.prop_hash = held.prop.hash;
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
    if (static_cast<size_t>(row.frame) != at || !touch.a.is_hand() || touch.b.name != moves->name ||
        !row.p_W.allFinite() || !row.normal_W.allFinite())
      continue;
    grasp.contacts.push_back({.site = touch.a.site,
                              .body = touch.a.body,
                              .p_P = X_PW * row.p_W,
                              .normal_P = X_PW.R * row.normal_W,
                              .f_onHand_P = X_PW.R * row.f_onA_W});
  }
  return grasp;
}

Result<FoundGrasp> FindGrasp(const StepContext& context, const std::string& key) {
  HANDHOLD_ASSIGN(const std::vector<std::string> names, artefact::GraspNames());
  const bool ours = std::find(names.begin(), names.end(), key) != names.end();
  if (!ours && !key.ends_with(".json")) {
    const Result<store::ArtefactInfo> info = FindArtefact(context.library, key, "grasp");
    if (!info) {
      // A word that is no hash: near names help more.
      const Result<Grasp> named = artefact::LoadLibraryGrasp(key);
      return key.find_first_not_of("0123456789abcdef") != std::string::npos ? named.error()
                                                                            : info.error();
    }
    HANDHOLD_ASSIGN(Grasp grasp, store::Load<Grasp>(context.library.ArtefactPath(info->hash)));
    return FoundGrasp{std::move(grasp), info->hash};
  }
  FoundGrasp found;
  HANDHOLD_ASSIGN(found.grasp,
                  ours ? artefact::LoadLibraryGrasp(key) : artefact::LoadGraspFile(key));
  HANDHOLD_ASSIGN(const std::string bytes,
                  text::CanonicalJson(artefact::Writable(artefact::ToJson(found.grasp))));
  artefact::Provenance provenance = ProvenanceOf("import.grasp", kImportGraspVersion);
  provenance.inputs = {{"file", Sha256Of(bytes).ToHex(), found.grasp.name}};
  // A grasp of a hand or prop that nobody knows here is still one: its setpoints can be used.
  if (const auto whole = Complete(context, found.grasp, "")) {
    provenance.inputs.push_back(whole->skeleton.input());
    provenance.inputs.push_back(whole->prop.input("prop"));
  }
  provenance.parameters_json = "{}";
  const StepContext quiet{context.library, {}, context.tool, context.dry_run};
  HANDHOLD_ASSIGN(const StepResult made,
                  RunStep(quiet, provenance, {}, [&]() -> Result<Grasp> { return found.grasp; }));
  found.hash = made.hash;
  return found;
}

Result<FoundExample> FindExample(const StepContext& context, const std::string& key,
                                 std::vector<std::string>* chosen) {
  HANDHOLD_ASSIGN(const std::vector<std::string> names, artefact::GraspNames());
  const Result<store::ArtefactInfo> info = FindArtefact(context.library, key, "");
  if (key.ends_with(".json") || std::find(names.begin(), names.end(), key) != names.end() ||
      (info && info->kind == "grasp")) {
    HANDHOLD_ASSIGN(FoundGrasp found, FindGrasp(context, key));
    return Complete(context, std::move(found.grasp), std::move(found.hash));
  }
  if (info && info->kind == "motion") return FromMotion(context, *info);
  if (info) {
    return Error{ErrorCode::kInvalid,
                 "'" + key + "' is a " + info->kind + ": give a grasp, a motion or a clip"};
  }
  if (info.error().code != ErrorCode::kNotFound) return info.error();
  const auto clip = FindClip(context, key);
  if (!clip) {
    return Error{ErrorCode::kNotFound,
                 "no grasp '" + key +
                     "': neither one of ours, nor a .json file, an artefact or a clip" +
                     DidYouMean(key, names)};
  }
  HANDHOLD_ASSIGN(const std::vector<store::ArtefactInfo> made,
                  Descendants(context.library, clip->row.sha256));
  const store::ArtefactInfo* newest = nullptr;
  for (const store::ArtefactInfo& one : made) {
    if (one.kind == "motion" &&
        (newest == nullptr || one.provenance.made_utc > newest->provenance.made_utc))
      newest = &one;
  }
  if (newest == nullptr) {
    return Error{ErrorCode::kNotFound, "no motion was made from clip '" + clip->row.name +
                                           "' yet: nothing shows how it is held"};
  }
  chosen->push_back("motion " + ShortHash(newest->hash) + " (newest made from clip '" +
                    clip->row.name + "')");
  return FromMotion(context, *newest);
}

}  // namespace handhold::pipeline

#include "tools/pipeline/grip_script.h"

#include <algorithm>
#include <cstdio>

#include "database/artefact/describe.h"
#include "database/artefact/reference_file.h"
#include "database/base/names.h"
#include "database/store/artefact_file.h"
#include "database/store/query.h"
#include "database/text/json_view.h"
#include "fitting/compliance/reference_trajectory.h"
#include "fitting/compliance/steps.h"
#include "synthesis/interaction/retarget.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::InteractionTrajectory;
using artefact::ProvenanceInput;
using geometry::RigidTransform;
using text::Json;

/// Raised when reading a shipped reference gives something else.
constexpr int kImportReferenceVersion = 1;

/// A reference that ships, kept as an artefact.
Result<Script> Import(const StepContext& context, const std::string& name) {
  HANDHOLD_ASSIGN(const artefact::ReferenceFile file, artefact::LoadLibraryReference(name));
  std::vector<std::string> chosen;
  HandChoice hand;
  hand.key = file.hand;
  if (file.trajectory.hand == "L") hand.side = "left";
  HANDHOLD_ASSIGN(FoundSkeleton skeleton, FindSkeleton(context, hand, &chosen));
  Script script{.skeleton = std::move(skeleton)};
  HANDHOLD_ASSIGN(const FoundProp prop, FindProp(context, file.prop, 1.0, &chosen));
  artefact::Provenance provenance = ProvenanceOf("import.reference", kImportReferenceVersion);
  HANDHOLD_ASSIGN(const std::string bytes,
                  text::CanonicalJson(artefact::Writable(artefact::ToJson(file.trajectory))));
  provenance.inputs = {
      {"file", Sha256Of(bytes).ToHex(), name}, script.skeleton.input(), prop.input("prop")};
  HANDHOLD_ASSIGN(
      provenance.parameters_json,
      Parameters(ScriptParameters(Json::Object({{"name", name}}), file.X_WProp, file.hold)));
  script.trajectory = file.trajectory;
  script.trajectory.skeleton_hash = script.skeleton.hash;
  script.trajectory.provenance = provenance;
  HANDHOLD_ASSIGN(
      const StepResult kept,
      RunStep(StepContext{context.library, {}, context.tool, context.dry_run}, provenance, {},
              [&]() -> Result<InteractionTrajectory> { return script.trajectory; }));
  script.hash = kept.hash;
  script.prop_hash = prop.hash;
  script.prop = prop;
  script.X_WProp = file.X_WProp;
  if (file.hold.length() > Duration()) script.hold = file.hold;
  return script;
}

Result<Script> Load(const StepContext& context, const store::ArtefactInfo& info) {
  HANDHOLD_ASSIGN(const ProvenanceInput hand, RequireInput(info, "skeleton"));
  HANDHOLD_ASSIGN(FoundSkeleton skeleton, LoadSkeletonArtefact(context.library, hand.hash));
  Script script{.skeleton = std::move(skeleton), .hash = info.hash};
  HANDHOLD_ASSIGN(script.trajectory,
                  store::Load<InteractionTrajectory>(context.library.ArtefactPath(info.hash)));
  script.info = info;
  script.captured = !IsScripted(info.provenance);
  if (script.captured) {
    if (const ProvenanceInput* surface = FindInput(info.provenance, "surface"))
      script.prop_hash = surface->hash;
    return script;
  }
  HANDHOLD_ASSIGN(const ProvenanceInput prop, RequireInput(info, "prop"));
  script.prop_hash = prop.hash;
  const std::string source = "parameters of " + info.hash;
  HANDHOLD_ASSIGN(const Json json,
                  text::ParseJson(info.provenance.parameters_json, {.source = source}));
  const text::JsonView view(json, source);
  HANDHOLD_ASSIGN(const text::JsonView X, view.At("X_WProp"));
  RigidTransform X_WProp;
  HANDHOLD_TRY(artefact::describe::TakeJson(X, X_WProp));
  script.X_WProp = X_WProp;
  HANDHOLD_ASSIGN(const auto hold, view.Get<std::vector<int64_t>>("hold_ns"));
  if (hold.size() == 2 && hold[1] > hold[0])
    script.hold =
        TimeRange{Timestamp::FromNanoseconds(hold[0]), Timestamp::FromNanoseconds(hold[1])};
  return script;
}

/// Whose compliances are lent: an artefact, a clip, or the first clip of a query that has a
/// trajectory.
Result<store::ArtefactInfo> FindLender(const StepContext& context, const std::string& key,
                                       std::vector<std::string>* chosen) {
  auto info = FindArtefact(context.library, key, "interaction_trajectory");
  if (info || info.error().code != ErrorCode::kNotFound) return info;
  if (const auto clip = FindClip(context, key))
    return FindResult(context, "", "interaction_trajectory", *clip, "fit compliance", chosen);
  const auto query = store::Query::Parse(key, context.library);
  if (!query) {
    return Error{ErrorCode::kNotFound, "no lender '" + key +
                                           "': neither a trajectory's artefact, nor a clip, nor a "
                                           "query (" +
                                           query.error().message + ")"};
  }
  HANDHOLD_ASSIGN(const store::QueryResult rows, query->Run());
  for (const store::QueryRow& row : rows.rows) {
    const auto clip = FindClip(context, row.clip_id);
    if (!clip) continue;
    std::vector<std::string> said;
    const auto found =
        FindResult(context, "", "interaction_trajectory", *clip, "fit compliance", &said);
    if (!found) continue;
    chosen->push_back("compliances of clip '" + row.clip_name + "' (the query's first with some)");
    return found;
  }
  return Error{ErrorCode::kNotFound, "none of the " + std::to_string(rows.rows.size()) +
                                         " rows of '" + key +
                                         "' is of a clip with fitted compliances"};
}

std::string Said(const synthesis::BorrowedCompliance& lent, const std::string& lender) {
  char text[200];
  std::snprintf(text, sizeof text, "%s: compliance %.4g rad/Nm borrowed (%s%s%s, of %s)",
                lent.dof.c_str(), lent.compliance_rad_per_Nm, lent.estimator.c_str(),
                lent.task.empty() ? "" : ", ", lent.task.c_str(), ShortHash(lender).c_str());
  return text;
}

/// What a lender gives to joints that `borrower` does not know, rad/Nm by dof; each is told.
Result<std::map<std::string, double>> Borrow(const StepContext& context, const std::string& key,
                                             InteractionTrajectory* borrower,
                                             std::vector<ProvenanceInput>* inputs,
                                             std::vector<std::string>* chosen) {
  HANDHOLD_ASSIGN(const store::ArtefactInfo info, FindLender(context, key, chosen));
  HANDHOLD_ASSIGN(const auto lender,
                  store::Load<InteractionTrajectory>(context.library.ArtefactPath(info.hash)));
  HANDHOLD_ASSIGN(const auto lent, synthesis::BorrowCompliances(lender, borrower));
  inputs->push_back({"lender", info.hash, ""});
  std::map<std::string, double> borrowed;
  for (const synthesis::BorrowedCompliance& b : lent) {
    borrowed[b.dof] = b.compliance_rad_per_Nm;
    chosen->push_back(Said(b, info.hash));
  }
  return borrowed;
}

/// Of every joint that is given a value, by the tasks in which `estimator` refused it.
std::vector<AssumedValue> ValuesOf(const std::vector<artefact::ComplianceFit>& fits,
                                   const std::string& estimator, const Completed& assumed,
                                   const std::vector<std::string>& dofs) {
  std::vector<AssumedValue> values;
  for (const std::string& dof : dofs) {
    const auto given = assumed.given.find(dof);
    const bool named = given != assumed.given.end();
    const double asked = named ? given->second : assumed.within_bounds.at(dof);
    const size_t before = values.size();
    for (const artefact::ComplianceFit& fit : fits) {
      if (fit.estimator != estimator) continue;
      for (const artefact::JointCompliance& joint : fit.joints) {
        if (joint.compliance_rad_per_Nm || joint.dof != dof) continue;
        values.push_back({dof, fit.task, named ? asked : fitting::HeldToBounds(joint, asked), asked,
                          joint.lower_rad_per_Nm, joint.upper_rad_per_Nm});
      }
    }
    if (values.size() == before) values.push_back({dof, "", asked, asked});
  }
  return values;
}

std::string Said(const AssumedValue& value) {
  char text[240];
  std::snprintf(text, sizeof text, "%s%s%s: compliance %.4g rad/Nm assumed (refused by the fit",
                value.dof.c_str(), value.task.empty() ? "" : ", ", value.task.c_str(),
                value.compliance_rad_per_Nm);
  std::string line = text;
  if (value.compliance_rad_per_Nm != value.asked_rad_per_Nm) {
    std::snprintf(text, sizeof text, ", whose 95 %% interval excludes Table 1's %.4g",
                  value.asked_rad_per_Nm);
    line += text;
  } else if (value.asked_rad_per_Nm < value.lower_rad_per_Nm ||
             value.asked_rad_per_Nm > value.upper_rad_per_Nm) {
    std::snprintf(text, sizeof text,
                  ", whose 95 %% interval, %.4g to %.4g, excludes it: taken since it was named",
                  value.lower_rad_per_Nm, value.upper_rad_per_Nm);
    line += text;
  }
  return line + ")";
}

}  // namespace

bool IsScripted(const artefact::Provenance& provenance) {
  return provenance.step == "synth.reference" || provenance.step == "import.reference";
}

Json ScriptParameters(const Json& what, const RigidTransform& X_WProp, const TimeRange& hold) {
  Json json = what;
  json.Set("X_WProp", artefact::ToJson(X_WProp));
  json.Set("hold_ns", artefact::ToJson(hold));
  return json;
}

Result<Script> FindScript(const StepContext& context, const std::string& key,
                          std::vector<std::string>* chosen) {
  HANDHOLD_ASSIGN(const std::vector<std::string> names, artefact::ReferenceNames());
  if (std::find(names.begin(), names.end(), key) != names.end()) return Import(context, key);
  const auto info = FindArtefact(context.library, key, "interaction_trajectory");
  if (info) return Load(context, *info);
  if (info.error().code != ErrorCode::kNotFound) return info.error();
  const auto clip = FindClip(context, key);
  if (!clip) {
    if (clip.error().code != ErrorCode::kNotFound) return clip.error();
    return Error{ErrorCode::kNotFound, "no trajectory '" + key +
                                           "': neither a clip, nor an artefact, nor a scripted "
                                           "reference of ours" +
                                           DidYouMean(key, names)};
  }
  HANDHOLD_ASSIGN(
      const store::ArtefactInfo fitted,
      FindResult(context, "", "interaction_trajectory", *clip, "fit compliance", chosen));
  return Load(context, fitted);
}

Result<Completed> Complete(const StepContext& context, const AssumeWishes& wishes, Script* script,
                           std::vector<ProvenanceInput>* inputs, std::vector<std::string>* chosen) {
  const model::Skeleton& hand = script->skeleton.skeleton;
  std::map<std::string, double> named = wishes.named;
  for (const auto& [dof, value] : named) {
    if (hand.FindDof(dof) >= 0) continue;
    return Error{ErrorCode::kInvalid,
                 "--assume-compliance: no joint '" + dof + "'" + DidYouMean(dof, hand.dof_names())};
  }
  if (!wishes.borrow.empty()) {
    InteractionTrajectory lent = script->trajectory;
    HANDHOLD_ASSIGN(const auto borrowed, Borrow(context, wishes.borrow, &lent, inputs, chosen));
    named.insert(borrowed.begin(), borrowed.end());
    if (!script->captured) script->trajectory = std::move(lent);
  }
  Completed completed{.fitted = script->hash};
  if (!script->captured) return completed;
  const InteractionTrajectory& fitted = script->trajectory;
  for (const auto& [dof, value] : wishes.named) {
    if (fitted.compliance_rad_per_Nm.row(hand.FindDof(dof)).allFinite())
      chosen->push_back(dof + ": the fit answered it, what was to be assumed is not used");
  }
  std::map<std::string, double> table1;
  if (wishes.table1) table1 = fitting::Table1Exploring(hand);
  std::vector<std::string> dofs;
  std::string missing;
  for (int d = 0; d < hand.nv(); ++d) {
    if (fitted.compliance_rad_per_Nm.row(d).allFinite()) continue;
    const std::string& dof = hand.dof_names()[static_cast<size_t>(d)];
    dofs.push_back(dof);
    if (const auto given = named.find(dof); given != named.end()) {
      completed.given.insert(*given);
    } else if (const auto general = table1.find(dof); general != table1.end()) {
      completed.within_bounds.insert(*general);
    } else {
      missing += (missing.empty() ? "" : ", ") + dof;
    }
  }
  if (!missing.empty()) {
    return Error{ErrorCode::kUnidentifiable, "the fit refused a compliance for " + missing +
                                                 ": assume one by name, --assume-compliance " +
                                                 missing.substr(0, missing.find(',')) +
                                                 "=0.7 (rad/Nm), and the result will say so"};
  }
  if (!completed.any()) return completed;
  completed.values = ValuesOf(fitted.fits, fitted.made_with.estimator, completed, dofs);
  for (const AssumedValue& value : completed.values) chosen->push_back(Said(value));
  HANDHOLD_ASSIGN(const StepResult made, Assumed(context, completed, 1.0));
  script->hash = made.hash;
  if (context.dry_run && !made.reused) return completed;
  HANDHOLD_ASSIGN(script->trajectory,
                  store::Load<InteractionTrajectory>(context.library.ArtefactPath(script->hash)));
  return completed;
}

Result<StepResult> Assumed(const StepContext& context, const Completed& completed, double factor) {
  return RunStep(context,
                 fitting::AssumeComplianceStep{.trajectory = completed.fitted,
                                               .assume_compliance = completed.given,
                                               .assume_within_bounds = completed.within_bounds,
                                               .assumed_factor = factor});
}

}  // namespace handhold::pipeline

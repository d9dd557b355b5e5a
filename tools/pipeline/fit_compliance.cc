#include "tools/pipeline/fit_compliance.h"

#include <algorithm>

#include "database/text/json_view.h"
#include "fitting/compliance/take_advice.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::ComplianceFit;
using artefact::InteractionTrajectory;
using artefact::ProvenanceInput;
using text::Json;

/// What both steps read.
struct Tracks {
  FoundSkeleton skeleton;
  artefact::PoseTrack pose;
  artefact::ContactTrack contact;
};

Result<Tracks> LoadTracks(const StepContext& context, const std::string& skeleton,
                          const std::string& pose, const std::string& contact) {
  HANDHOLD_ASSIGN(FoundSkeleton hand, LoadSkeletonArtefact(context.library, skeleton));
  HANDHOLD_ASSIGN(artefact::PoseTrack poses,
                  store::Load<artefact::PoseTrack>(context.library.ArtefactPath(pose)));
  HANDHOLD_ASSIGN(artefact::ContactTrack contacts,
                  store::Load<artefact::ContactTrack>(context.library.ArtefactPath(contact)));
  return Tracks{std::move(hand), std::move(poses), std::move(contacts)};
}

/// What the fit of the hand found of sensor and surface, and what it warned of; of an imported hand
/// nothing is known.
struct HandFindings {
  double touch_axis_rms_m = 0.0;
  Issues issues;
};

/// What an earlier step warned of stays true of what is fitted to it. A pose track may have a
/// warning for each of many stretches: the first ones stand for all.
Issues Carried(const std::string& step, const Issues& found) {
  constexpr size_t kMost = 5;
  Issues carried;
  size_t more = 0;
  for (const Issue& issue : found) {
    if (issue.severity < Severity::kWarning) continue;
    if (carried.size() < kMost)
      carried.push_back({step + ", " + issue.where, Severity::kWarning, issue.what});
    else
      ++more;
  }
  if (more > 0) {
    carried.push_back(
        {step, Severity::kWarning, "and " + std::to_string(more) + " more, kept with its result"});
  }
  return carried;
}

Result<HandFindings> FindingsOf(const StepContext& context, const std::string& skeleton) {
  HandFindings findings;
  const std::string path = context.library.ArtefactPath(skeleton);
  HANDHOLD_ASSIGN(const store::JsonArtefact kept, store::LoadJsonArtefact(path));
  HANDHOLD_ASSIGN(const Json root, text::ParseJson(kept.json, {.source = path}));
  const Json* found = root.Find("summary");
  if (found == nullptr || found->Find("contact_axis_rms_m") == nullptr) return findings;
  const text::JsonView summary(*found, path);
  HANDHOLD_ASSIGN(const double axis_rms_m, summary.Get<double>("contact_axis_rms_m"));
  HANDHOLD_ASSIGN(const double marker_sd_m, summary.Get<double>("marker_sd_m"));
  findings.touch_axis_rms_m = fitting::UnexplainedAxis_m(axis_rms_m, marker_sd_m);
  HANDHOLD_ASSIGN(const text::JsonView issues, summary.At("issues"));
  Issues said;
  HANDHOLD_TRY(artefact::describe::TakeJson(issues, said));
  findings.issues = Carried("fit skeleton", said);
  return findings;
}

/// The dynamic estimator's answer when the data determine nothing: every joint refused, per task.
std::vector<ComplianceFit> RefuseAll(const Tracks& tracks, const std::string& reason) {
  std::vector<ComplianceFit> fits;
  for (const artefact::Touch& touch : tracks.contact.touches) {
    const bool there = std::any_of(fits.begin(), fits.end(),
                                   [&](const ComplianceFit& f) { return f.task == touch.task; });
    if (there) continue;
    ComplianceFit& fit = fits.emplace_back();
    fit.estimator = "dynamic";
    fit.task = touch.task;
    for (const std::string& dof : tracks.skeleton.skeleton.dof_names()) {
      artefact::JointCompliance& joint = fit.joints.emplace_back();
      joint.dof = dof;
      joint.refusal = reason;
    }
  }
  return fits;
}

Result<InteractionTrajectory> Fit(const StepContext& context, const FitComplianceStep& step,
                                  const recording::ClipSource& clip, const Tracks& tracks,
                                  const std::string& clip_name, const HandFindings& findings) {
  if (tracks.contact.touches.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "clip '" + clip_name +
                     "' has no touch: compliance shows only where a hand meets something"};
  }
  const model::Skeleton& hand = tracks.skeleton.skeleton;
  HANDHOLD_TRY(Report(context, 0.1, "fit.compliance: dynamic estimator"));
  artefact::ComplianceSummary summary;
  std::vector<ComplianceFit> fits;
  fitting::DynamicEstimatorOptions options = step.dynamic;
  options.touch_axis_rms_m = findings.touch_axis_rms_m;
  options.keep_going = [&] {
    return Report(context, 0.1, "fit.compliance: dynamic estimator").has_value();
  };
  Result<fitting::DynamicCompliance> dynamic =
      fitting::FitDynamicCompliance(clip, hand, tracks.pose, tracks.contact, options);
  if (dynamic) {
    fits = dynamic->fits;
    summary.dynamic = dynamic->summary;
    summary.issues = dynamic->summary.issues;
  } else if (dynamic.error().code == ErrorCode::kUnidentifiable) {
    fits = RefuseAll(tracks, dynamic.error().message);
    summary.dynamic_refusal = dynamic.error().message;
  } else {
    return dynamic.error();
  }
  HANDHOLD_TRY(Report(context, 0.8, "fit.compliance: the paper's estimator"));
  HANDHOLD_ASSIGN(const std::vector<ComplianceFit> paper,
                  fitting::FitPaperCompliance(hand, tracks.pose, tracks.contact, step.paper));
  fits.insert(fits.end(), paper.begin(), paper.end());
  HANDHOLD_TRY(Report(context, 0.9, "fit.compliance: reference trajectory"));
  HANDHOLD_ASSIGN(
      fitting::ReferenceTrajectoryFit reference,
      fitting::MakeInteractionTrajectory(hand, tracks.pose, tracks.contact, fits, step.reference));
  summary.reference = reference.summary;
  for (Issue lacking :
       fitting::AdviseOnTake(clip, hand, tracks.pose, tracks.contact, step.dynamic)) {
    lacking.where = kOfTheTake;
    summary.issues.push_back(std::move(lacking));
  }
  for (const Issues& earlier : {findings.issues, Carried("fit pose", tracks.pose.summary.issues),
                                Carried("fit contact", tracks.contact.summary.issues)})
    summary.issues.insert(summary.issues.end(), earlier.begin(), earlier.end());
  summary.issues.insert(summary.issues.end(), reference.summary.issues.begin(),
                        reference.summary.issues.end());
  reference.trajectory.summary = std::move(summary);
  return std::move(reference.trajectory);
}

}  // namespace

Result<fitting::ReferenceTrajectoryOptions> ReferenceOptionsOf(
    const store::ArtefactInfo& trajectory) {
  const std::string source = "parameters of " + trajectory.hash;
  HANDHOLD_ASSIGN(const Json json,
                  text::ParseJson(trajectory.provenance.parameters_json, {.source = source}));
  HANDHOLD_ASSIGN(const text::JsonView view, text::JsonView(json, source).At("reference"));
  return artefact::FromJson<fitting::ReferenceTrajectoryOptions>(view);
}

Result<Issues> FitComplianceStep::Advise(const StepContext& context) const {
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const FoundClip found, FindClip(context, clip));
  HANDHOLD_ASSIGN(const store::ArtefactInfo touched,
                  FindResult(context, contact, "contact_track", found, "fit contact", &chosen));
  HANDHOLD_ASSIGN(const ProvenanceInput hand, RequireInput(touched, "skeleton"));
  HANDHOLD_ASSIGN(const ProvenanceInput pose, RequireInput(touched, "pose"));
  HANDHOLD_ASSIGN(const auto reader, context.library.OpenClip(found.row.id));
  HANDHOLD_ASSIGN(const Tracks tracks, LoadTracks(context, hand.hash, pose.hash, touched.hash));
  return fitting::AdviseOnTake(*reader, tracks.skeleton.skeleton, tracks.pose, tracks.contact,
                               dynamic);
}

Result<StepResult> FitComplianceStep::Run(const StepContext& context) const {
  if (!reference.assume_compliance.empty() || !reference.assume_within_bounds.empty()) {
    return Error{ErrorCode::kInvalid,
                 "a fit assumes nothing: give assumed compliances to 'synth interaction'"};
  }
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const FoundClip found, FindClip(context, clip));
  HANDHOLD_ASSIGN(const store::ArtefactInfo touched,
                  FindResult(context, contact, "contact_track", found, "fit contact", &chosen));
  HANDHOLD_TRY(RequireSameClip(touched, found));
  HANDHOLD_ASSIGN(const ProvenanceInput hand, RequireInput(touched, "skeleton"));
  HANDHOLD_ASSIGN(const ProvenanceInput pose, RequireInput(touched, "pose"));
  HANDHOLD_ASSIGN(const ProvenanceInput surface, RequireInput(touched, "surface"));
  artefact::Provenance provenance =
      ProvenanceOf("fit.compliance", fitting::kReferenceTrajectoryVersion);
  provenance.inputs = {found.input(), hand, pose, {"contact", touched.hash, ""}, surface};
  HANDHOLD_ASSIGN(provenance.parameters_json,
                  Parameters(Json::Object({{"paper_version", fitting::kPaperEstimatorVersion},
                                           {"paper", artefact::ToJson(paper)},
                                           {"dynamic_version", fitting::kDynamicEstimatorVersion},
                                           {"dynamic", artefact::ToJson(dynamic)},
                                           {"reference", artefact::ToJson(reference)}})));
  return RunStep(context, std::move(provenance), std::move(chosen),
                 [&]() -> Result<InteractionTrajectory> {
                   HANDHOLD_ASSIGN(const auto reader, context.library.OpenClip(found.row.id));
                   HANDHOLD_ASSIGN(const Tracks tracks,
                                   LoadTracks(context, hand.hash, pose.hash, touched.hash));
                   HANDHOLD_ASSIGN(const HandFindings findings, FindingsOf(context, hand.hash));
                   return Fit(context, *this, *reader, tracks, found.row.name, findings);
                 });
}

Result<StepResult> AssumeComplianceStep::Run(const StepContext& context) const {
  HANDHOLD_ASSIGN(const store::ArtefactInfo fitted,
                  FindArtefact(context.library, trajectory, "interaction_trajectory"));
  HANDHOLD_ASSIGN(fitting::ReferenceTrajectoryOptions options, ReferenceOptionsOf(fitted));
  options.assume_compliance = assume_compliance;
  options.assume_within_bounds = assume_within_bounds;
  options.assumed_factor = assumed_factor;
  HANDHOLD_ASSIGN(const ProvenanceInput hand, RequireInput(fitted, "skeleton"));
  HANDHOLD_ASSIGN(const ProvenanceInput pose, RequireInput(fitted, "pose"));
  HANDHOLD_ASSIGN(const ProvenanceInput contact, RequireInput(fitted, "contact"));
  HANDHOLD_ASSIGN(const ProvenanceInput surface, RequireInput(fitted, "surface"));
  artefact::Provenance provenance =
      ProvenanceOf("fit.assume", fitting::kReferenceTrajectoryVersion);
  provenance.inputs = {{"trajectory", fitted.hash, ""}, hand, pose, contact, surface};
  HANDHOLD_ASSIGN(provenance.parameters_json,
                  Parameters(Json::Object({{"reference", artefact::ToJson(options)}})));
  return RunStep(context, std::move(provenance), {}, [&]() -> Result<InteractionTrajectory> {
    HANDHOLD_ASSIGN(
        const InteractionTrajectory before,
        store::Load<artefact::InteractionTrajectory>(context.library.ArtefactPath(fitted.hash)));
    HANDHOLD_ASSIGN(const Tracks tracks, LoadTracks(context, hand.hash, pose.hash, contact.hash));
    HANDHOLD_ASSIGN(fitting::ReferenceTrajectoryFit made,
                    fitting::MakeInteractionTrajectory(tracks.skeleton.skeleton, tracks.pose,
                                                       tracks.contact, before.fits, options));
    made.trajectory.summary.reference = made.summary;
    made.trajectory.summary.issues = made.summary.issues;
    return std::move(made.trajectory);
  });
}

}  // namespace handhold::pipeline

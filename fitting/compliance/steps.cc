#include "fitting/compliance/steps.h"

#include <algorithm>

#include "database/artefact/describe.h"
#include "database/recording/meant_prop.h"
#include "database/text/json_view.h"
#include "fitting/compliance/take_advice.h"
#include "fitting/signal/find_site.h"
#include "fitting/signal/find_stream.h"
#include "fitting/skeleton/skeleton_fit.h"

namespace handhold::fitting {
namespace {

using artefact::ComplianceFit;
using artefact::InteractionTrajectory;

/// What the fit of the hand found of sensor and surface, and what it warned of; of a hand that was
/// not fitted nothing is known.
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

Result<HandFindings> FindingsOf(const step::Given<step::Hand>& hand) {
  HandFindings findings;
  if (!hand->summary.is_object()) return findings;
  const text::JsonView view(hand->summary, "summary of skeleton " + hand.hash);
  HANDHOLD_ASSIGN(const auto said, artefact::FromJson<SkeletonFitSummary>(view));
  findings.touch_axis_rms_m = UnexplainedAxis_m(said.contact_axis_rms_m, said.marker_sd_m);
  findings.issues = Carried("fit skeleton", said.issues);
  return findings;
}

/// The dynamic estimator's answer when the data determine nothing: every joint refused, per task.
std::vector<ComplianceFit> RefuseAll(const FitComplianceStep& s, const std::string& reason) {
  std::vector<ComplianceFit> fits;
  for (const artefact::Touch& touch : s.contact->touches) {
    const bool there = std::any_of(fits.begin(), fits.end(),
                                   [&](const ComplianceFit& f) { return f.task == touch.task; });
    if (there) continue;
    ComplianceFit& fit = fits.emplace_back();
    fit.estimator = "dynamic";
    fit.task = touch.task;
    for (const std::string& dof : s.skeleton->skeleton.dof_names()) {
      artefact::JointCompliance& joint = fit.joints.emplace_back();
      joint.dof = dof;
      joint.refusal = reason;
    }
  }
  return fits;
}

void Append(const Issues& more, Issues* issues) {
  issues->insert(issues->end(), more.begin(), more.end());
}

/// The dynamic estimator's fits, or its refusal of all.
Result<std::vector<ComplianceFit>> FitDynamic(const FitComplianceStep& s,
                                              const HandFindings& findings, step::Work& work,
                                              artefact::ComplianceSummary* summary) {
  constexpr double kBegin = 0.1;
  HANDHOLD_TRY(work.Report(kBegin, "fit.compliance: dynamic estimator"));
  DynamicEstimatorOptions options = s.dynamic;
  options.touch_axis_rms_m = findings.touch_axis_rms_m;
  options.keep_going = [&] { return work.GoOn(kBegin, "fit.compliance: dynamic estimator"); };
  Result<DynamicCompliance> dynamic =
      FitDynamicCompliance(*s.clip, s.skeleton->skeleton, *s.pose, *s.contact, options);
  if (dynamic) {
    summary->dynamic = dynamic->summary;
    summary->issues = dynamic->summary.issues;
    return dynamic->fits;
  }
  if (dynamic.error().code != ErrorCode::kUnidentifiable) return dynamic.error();
  summary->dynamic_refusal = dynamic.error().message;
  return RefuseAll(s, dynamic.error().message);
}

}  // namespace

Status Complete(FitContactStep& s, step::Work& work) {
  if (s.options.force_sensor.empty()) {
    HANDHOLD_TRY(s.clip.Load());
    const auto sensor = FindForceSensor(*s.clip, "");
    if (!sensor) return sensor.error().Within("clip '" + s.clip.name + "'");
    s.options.force_sensor = (*sensor)->name;
    work.Note("force sensor '" + (*sensor)->name + "' (the clip's only one)");
  }
  if (s.options.site.empty()) {
    HANDHOLD_TRY(s.skeleton.Load());
    HANDHOLD_ASSIGN(const model::ContactSite* site, FindSite(s.skeleton->skeleton, ""));
    s.options.site = site->name;
    work.Note("contact site '" + site->name + "' (the hand's only one)");
  }
  if (s.X_WSurface && !s.thing.empty()) return {};
  HANDHOLD_TRY(s.clip.Load());
  HANDHOLD_ASSIGN(
      const recording::StandingProp stands,
      recording::WhereItStood(s.clip->info(), s.surface.ask.key, s.surface.name, s.X_WSurface));
  s.X_WSurface = stands.X_WP;
  s.thing = stands.thing;
  if (!stands.chosen.empty()) work.Note(stands.chosen);
  return {};
}

Status Check(const FitContactStep& s) {
  HANDHOLD_TRY(s.clip.Load());
  HANDHOLD_TRY(s.skeleton.Load());
  const auto sensor = FindForceSensor(*s.clip, s.options.force_sensor);
  if (!sensor) return sensor.error().Within("clip '" + s.clip.name + "'");
  HANDHOLD_TRY(FindSite(s.skeleton->skeleton, s.options.site));
  return {};
}

Result<artefact::ContactTrack> Compute(const FitContactStep& s, step::Work&) {
  HANDHOLD_ASSIGN(ContactFit fit, FitContact(*s.clip, s.skeleton->skeleton, *s.pose, *s.surface,
                                             *s.X_WSurface, s.options));
  artefact::TouchedThing& touched = fit.track.things.front();
  touched.prop_hash = s.surface.hash;
  for (artefact::Touch& touch : fit.track.touches)
    if (touch.b.name == touched.name) touch.b.name = s.thing;
  touched.name = s.thing;
  return std::move(fit.track);
}

Status Check(const FitComplianceStep& s) {
  if (s.reference.assume_compliance.empty() && s.reference.assume_within_bounds.empty()) return {};
  return Error{ErrorCode::kInvalid,
               "a fit assumes nothing: step fit.assume takes assumed compliances"};
}

Result<InteractionTrajectory> Compute(const FitComplianceStep& s, step::Work& work) {
  if (s.contact->touches.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "clip '" + s.clip.name +
                     "' has no touch: compliance shows only where a hand meets something"};
  }
  const model::Skeleton& hand = s.skeleton->skeleton;
  Issues lacking = AdviseOnTake(*s.clip, hand, *s.pose, *s.contact, s.dynamic);
  for (Issue& issue : lacking) {
    work.Tell("the take: " + issue.what);
    issue.where = kOfTheTake;
  }
  HANDHOLD_ASSIGN(const HandFindings findings, FindingsOf(s.skeleton));
  artefact::ComplianceSummary summary;
  HANDHOLD_ASSIGN(std::vector<ComplianceFit> fits, FitDynamic(s, findings, work, &summary));
  HANDHOLD_TRY(work.Report(0.8, "fit.compliance: the paper's estimator"));
  HANDHOLD_ASSIGN(const std::vector<ComplianceFit> paper,
                  FitPaperCompliance(hand, *s.pose, *s.contact, s.paper));
  fits.insert(fits.end(), paper.begin(), paper.end());
  HANDHOLD_TRY(work.Report(0.9, "fit.compliance: reference trajectory"));
  HANDHOLD_ASSIGN(ReferenceTrajectoryFit reference,
                  MakeInteractionTrajectory(hand, *s.pose, *s.contact, fits, s.reference));
  summary.reference = reference.summary;
  Append(lacking, &summary.issues);
  Append(findings.issues, &summary.issues);
  Append(Carried("fit pose", s.pose->summary.issues), &summary.issues);
  Append(Carried("fit contact", s.contact->summary.issues), &summary.issues);
  Append(reference.summary.issues, &summary.issues);
  reference.trajectory.summary = std::move(summary);
  work.Tell(
      "values are of joints that give way each for itself; their intervals hold for elastic "
      "couplings of neighbours up to 20 %, too, that the touches do not exclude");
  return std::move(reference.trajectory);
}

Result<InteractionTrajectory> Compute(const AssumeComplianceStep& s, step::Work&) {
  ReferenceTrajectoryOptions options = s.trajectory->made_with;
  options.assume_compliance = s.assume_compliance;
  options.assume_within_bounds = s.assume_within_bounds;
  options.assumed_factor = s.assumed_factor;
  HANDHOLD_ASSIGN(ReferenceTrajectoryFit made,
                  MakeInteractionTrajectory(s.skeleton->skeleton, *s.pose, *s.contact,
                                            s.trajectory->fits, options));
  made.trajectory.summary.reference = made.summary;
  made.trajectory.summary.issues = made.summary.issues;
  return std::move(made.trajectory);
}

}  // namespace handhold::fitting

// Criterion 9: replays against the engine's own runs on the same surface.
// The comparison itself is synthesis/evaluate/motion_score.h.
#include <algorithm>
#include <cmath>

#include "database/model/hand_library.h"
#include "database/model/site.h"
#include "tests/support/chain_criteria.h"
#include "tools/report/truth_reference.h"

namespace handhold::chain {
namespace {

/// The planted interaction trajectory of a stroke: the true reference and the planted impedance.
artefact::InteractionTrajectory Planted(const lab::Truth& truth, const lab::TruthStroke& stroke) {
  const lab::TruthSeries& reference = truth.FindRun("reference")->session;
  const lab::PlantedImpedance& impedance = *truth.FindImpedance(stroke.task);
  const double rate = reference.rate_hz;
  const auto first = static_cast<int64_t>(std::ceil((stroke.begin_s - reference.begin_s) * rate));
  const auto last = std::min<int64_t>(
      reference.rows() - 1, static_cast<int64_t>((stroke.end_s - reference.begin_s) * rate));
  const Eigen::Index frames = last - first + 1;
  artefact::InteractionTrajectory t;
  t.dof_names = truth.skeleton->dof_names();
  t.q = t.q_reference = t.q_reference_dynamic =
      reference.theta.middleRows(first, frames).transpose();
  t.compliance_rad_per_Nm = impedance.compliance_rad_per_Nm.replicate(1, frames);
  t.time_constant_s = Eigen::VectorXd::Constant(frames, impedance.time_constant_s.mean());
  for (int64_t i = first; i <= last; ++i)
    t.times.push_back(Timestamp::FromSeconds(reference.time_s(i)));
  return t;
}

ReplaySample Compare(const model::Skeleton& hand, const lab::TruthRun& run, int stroke,
                     const artefact::Motion& motion) {
  const std::string tip = hand.frames()[static_cast<size_t>(model::OnlyTip(hand))].name;
  const synthesis::MotionScore score = report::ScoreStroke(hand, tip, run, stroke, motion).value();
  ReplaySample e;
  e.peak_N = report::PeakOf(run.ContactsOf(stroke));
  e.lcp_failures = synthesis::UnsolvedSteps(motion);
  e.equilibrium_residual_rad = synthesis::LargestResidual_rad(motion);
  e.early_whole = score.force_early, e.late_whole = score.force_late;
  e.early_in_plane = score.plane_early, e.late_in_plane = score.plane_late;
  e.tip_m = score.point_m;
  e.frames = score.both_touch();
  e.slip_agrees = score.slip_agrees();
  e.stick_frames = score.stick_stick + score.stick_slip;
  e.stick_found = score.stick_stick;
  return e;
}

/// `trajectory`: of one stroke, or of the whole session with the stroke as range.
void ReplayStroke(const lab::Truth& truth, const model::Skeleton& hand,
                  const artefact::InteractionTrajectory& trajectory, const lab::TruthStroke& stroke,
                  const ReplayPlan& plan, const std::string& inputs, Evidence* out) {
  const lab::TruthRun& run = *truth.FindRun(plan.run);
  const bool bump = run.surface == "bumped_plate";
  auto prop = model::LoadLibraryProp(bump ? "bumped_plate" : "flat_plate");
  if (!prop) return;
  prop->friction = plan.friction.value_or(run.friction);
  artefact::Stage stage;
  stage.Add(artefact::Placed(
      *prop, bump ? truth.X_WBumped[static_cast<size_t>(stroke.index)] : truth.X_WPlate));
  synthesis::ReplayOptions options;
  options.form = plan.damped ? synthesis::ReplayForm::kDamped : synthesis::ReplayForm::kQuasiStatic;
  options.range = {Timestamp::FromSeconds(stroke.begin_s), Timestamp::FromSeconds(stroke.end_s)};
  options.compliance_scale = plan.compliance_scale;
  const auto motion = synthesis::ReplayInteraction(hand, trajectory, stage, options);
  ReplaySample sample;
  if (motion) {
    sample = Compare(hand, run, stroke.index, *motion);
  } else {
    std::printf("replay of stroke %d on %s: %s\n", stroke.index, plan.run.c_str(),
                motion.error().message.c_str());
    sample.late_in_plane = sample.late_whole = sample.tip_m = 1e9;  // judged, and not met
  }
  sample.inputs = inputs, sample.damped = plan.damped, sample.run = plan.run;
  sample.jam = report::PeakOf(run.ContactsOf(stroke.index)) >
               criteria::kJam * report::PeakOf(truth.FindRun("captured")->ContactsOf(stroke.index));
  out->replays.push_back(std::move(sample));
}

template <typename Fn>
void ForEachStroke(const lab::Truth& truth, const std::string& name, const Fn& fn) {
  const lab::TruthRun* run = truth.FindRun(name);
  if (run == nullptr) return;
  for (const lab::TruthStroke& stroke : truth.strokes) {
    if (stroke.task == "free" || run->ContactsOf(stroke.index).empty() ||
        truth.FindRun("captured")->ContactsOf(stroke.index).empty())
      continue;
    fn(stroke);
  }
}

}  // namespace

Evidence GatherPlantedReplay(const lab::Truth& truth, const ReplayPlan& plan) {
  Evidence out;
  ForEachStroke(truth, plan.run, [&](const lab::TruthStroke& stroke) {
    ReplayStroke(truth, *truth.skeleton, Planted(truth, stroke), stroke, plan, "planted", &out);
  });
  return out;
}

Evidence GatherFittedReplay(const lab::Truth& truth, const ChainResults& results,
                            const ReplayPlan& plan) {
  Evidence out;
  if (!results.skeleton || results.assumed.times.empty()) return out;
  ForEachStroke(truth, plan.run, [&](const lab::TruthStroke& stroke) {
    ReplayStroke(truth, *results.skeleton, results.assumed, stroke, plan, "fitted", &out);
  });
  return out;
}

}  // namespace handhold::chain

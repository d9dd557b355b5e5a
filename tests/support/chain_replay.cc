// Criterion 9: replays against the engine's own runs on the same surface.
//
// Forces are compared whole, and in the plane of the finger's flexion: across it the finger is
// nearly rigid (its axes lie 2-5 degrees off parallel), and only the surface's own compliance
// decides.
#include <algorithm>
#include <cmath>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "tests/support/chain_criteria.h"
#include "tools/report/criteria.h"

namespace handhold::chain {
namespace {

using geometry::Vec3;

using criteria::kEarly_s;
using criteria::kSlip_m_per_s;

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

int TipFrame(const model::Skeleton& hand) {
  for (size_t f = 0; f < hand.frames().size(); ++f) {
    if (hand.frames()[f].name.ends_with("tip")) return static_cast<int>(f);
  }
  return -1;
}

double Peak(const std::vector<lab::TruthContact>& contacts) {
  double peak = 0;
  for (const lab::TruthContact& c : contacts) peak = std::max(peak, c.peak_normal_force_N);
  return peak;
}

ReplaySample Compare(const model::Skeleton& hand, const lab::TruthRun& run, int stroke,
                     const artefact::Motion& motion) {
  const lab::TruthSeries& series = run.strokes[static_cast<size_t>(stroke)];
  const auto contacts = run.ContactsOf(stroke);
  const double onset = contacts.front().onset_s, release = contacts.back().release_s;
  std::vector<Vec3> force(motion.times.size(), Vec3::Zero());
  // Of the fastest contact; negative: none.
  Eigen::VectorXd slip =
      Eigen::VectorXd::Constant(static_cast<Eigen::Index>(motion.times.size()), -1.0);
  for (const artefact::ContactRow& c : motion.rows) {
    force[static_cast<size_t>(c.frame)] += c.f_onA_W;
    slip[c.frame] = std::max(slip[c.frame], c.slip_m_per_s);
  }
  model::KinematicsData data(hand);
  const int tip = TipFrame(hand);
  ReplaySample e;
  e.peak_N = Peak(contacts);
  e.lcp_failures = synthesis::UnsolvedSteps(motion);
  e.equilibrium_residual_rad = synthesis::LargestResidual_rad(motion);
  double late = 0, early = 0, touching = 0;
  for (size_t k = 0; k < motion.times.size(); ++k) {
    const double t = motion.times[k].seconds();
    if (t < onset || t > release || t < series.begin_s || t > series.end_s() - 0.002) continue;
    const Vec3 df = force[k] - Vec3(lab::Interpolate(series, series.f_onHand_W, t));
    const bool first = t < onset + kEarly_s;
    (first ? e.early_whole : e.late_whole) += df.squaredNorm();
    (first ? e.early_in_plane : e.late_in_plane) += df.squaredNorm() - df.y() * df.y();
    (first ? early : late) += 1;
    model::ComputePoses<double>(hand, motion.hands.front().q.col(static_cast<Eigen::Index>(k)),
                                &data);
    const Vec3 p_tip = model::FramePose<double>(hand, data, tip).p;
    e.tip_m += (p_tip - Vec3(lab::Interpolate(series, series.p_W_tip, t))).squaredNorm();
    touching += 1;
    const double true_slip = lab::Interpolate(series, series.slip_m_per_s, t)[0];
    if (first || !std::isfinite(true_slip) || slip[static_cast<Eigen::Index>(k)] < 0) continue;
    const bool slides = true_slip > kSlip_m_per_s,
               found = slip[static_cast<Eigen::Index>(k)] > kSlip_m_per_s;
    ++e.frames;
    e.slip_agrees += slides == found;
    e.stick_frames += !slides;
    e.stick_found += !slides && !found;
  }
  for (double* share : {&e.late_whole, &e.late_in_plane})
    *share = std::sqrt(*share / std::max(1.0, late)) / e.peak_N;
  for (double* share : {&e.early_whole, &e.early_in_plane})
    *share = std::sqrt(*share / std::max(1.0, early)) / e.peak_N;
  e.tip_m = std::sqrt(e.tip_m / std::max(1.0, touching));
  return e;
}

/// `trajectory`: of one stroke, or of the whole session with the stroke as range.
void ReplayStroke(const lab::Truth& truth, const model::Skeleton& hand,
                  const artefact::InteractionTrajectory& trajectory, const lab::TruthStroke& stroke,
                  const ReplayPlan& plan, const std::string& inputs, Evidence* out) {
  const lab::TruthRun& run = *truth.FindRun(plan.run);
  const bool bump = run.surface == "bumped_plate";
  const auto prop = model::LoadLibraryProp(bump ? "bumped_plate" : "flat_plate");
  if (!prop) return;
  synthesis::ReplayScene scene;
  scene.fixed.push_back(
      {*prop, bump ? truth.X_WBumped[static_cast<size_t>(stroke.index)] : truth.X_WPlate});
  synthesis::ReplayOptions options;
  options.form = plan.damped ? synthesis::ReplayForm::kDamped : synthesis::ReplayForm::kQuasiStatic;
  options.range = {Timestamp::FromSeconds(stroke.begin_s), Timestamp::FromSeconds(stroke.end_s)};
  options.friction = plan.friction.value_or(run.friction);
  options.compliance_scale = plan.compliance_scale;
  const auto motion = synthesis::ReplayInteraction(hand, trajectory, scene, options);
  ReplaySample sample;
  if (motion) {
    sample = Compare(hand, run, stroke.index, *motion);
  } else {
    std::printf("replay of stroke %d on %s: %s\n", stroke.index, plan.run.c_str(),
                motion.error().message.c_str());
    sample.late_in_plane = sample.late_whole = sample.tip_m = 1e9;  // judged, and not met
  }
  sample.inputs = inputs, sample.damped = plan.damped, sample.run = plan.run;
  sample.jam = Peak(run.ContactsOf(stroke.index)) >
               criteria::kJam * Peak(truth.FindRun("captured")->ContactsOf(stroke.index));
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

#include "tests/support/chain_criteria.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "database/model/kinematics.h"
#include "database/store/query.h"
#include "fitting/compliance/reference_trajectory.h"
#include "fitting/compliance/steps.h"
#include "fitting/skeleton/steps.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/inputs.h"
#include "tools/report/criteria.h"

namespace handhold::chain {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double AcrossAxis(const model::Skeleton& s, int body, const geometry::Vec3& p_B) {
  const geometry::Vec3 axis = s.body(body).joint.axes[0];
  return (p_B - axis * axis.dot(p_B)).norm();
}

void GatherLengths(const model::Skeleton& truth, const model::Skeleton& fit, Evidence* out) {
  for (int b = 2; b < std::min(truth.body_count(), fit.body_count()); ++b) {
    if (truth.body(b - 1).joint.type != model::JointType::kHinge) continue;
    const double a = AcrossAxis(fit, b - 1, fit.body(b).joint.X_PJp.p),
                 t = AcrossAxis(truth, b - 1, truth.body(b).joint.X_PJp.p);
    out->length_error_m.emplace_back("to " + truth.body(b).joint.name, a - t);
  }
  const int at = truth.FindFrame("index.tip"), mine = fit.FindFrame("index.tip");
  if (at < 0 || mine < 0) return;
  const auto& tip = truth.frames()[static_cast<size_t>(at)];
  const auto& fitted = fit.frames()[static_cast<size_t>(mine)];
  out->length_error_m.emplace_back("to fingertip", AcrossAxis(fit, fitted.body, fitted.X_BF.p) -
                                                       AcrossAxis(truth, tip.body, tip.X_BF.p));
}

void GatherAngles(const lab::TruthSeries& truth, const artefact::PoseTrack& pose, Evidence* out) {
  const auto nv = truth.theta.cols();
  std::vector<double> rms;
  for (Eigen::Index j = 0; j < nv; ++j) {
    double sum = 0, sum2 = 0, n = 0;
    for (int k = 0; k < pose.frame_count(); ++k) {
      const double t = pose.times[static_cast<size_t>(k)].seconds();
      if (t < truth.begin_s || t >= truth.end_s()) continue;
      const double e = pose.q(j, k) - lab::Interpolate(truth, truth.theta.col(j), t)[0];
      sum += e, sum2 += e * e, n += 1;
    }
    rms.push_back(n > 0 ? std::sqrt(std::max(0.0, sum2 / n - sum / n * sum / n)) : kNone);
  }
  out->angle_rms_rad.push_back(std::move(rms));
}

/// The stroke's series that holds `t`, with contact columns; null: none.
const lab::TruthSeries* StrokeAt(const lab::TruthRun& run, double t) {
  for (const lab::TruthSeries& s : run.strokes) {
    if (s.rows() >= 2 && s.has_contact_columns() && t >= s.begin_s && t <= s.end_s() - 1e-3)
      return &s;
  }
  return nullptr;
}

void GatherTouches(const lab::TruthRun& run, const artefact::ContactTrack& contact, Evidence* out) {
  for (const artefact::Touch& touch : contact.touches) {
    double nearest = 1e9;
    for (const lab::TruthContact& c : run.contacts)
      nearest = std::min(nearest, std::abs(touch.onset.seconds() - c.onset_s));
    if (nearest > 0.05) {
      ++out->false_touches;
    } else {
      out->onset_error_s.push_back(nearest);
    }
  }
  for (const lab::TruthContact& c : run.contacts) {
    if (c.peak_normal_force_N < criteria::kCountedForce_N) continue;
    ++out->touches_planted;
    out->touches_found +=
        std::any_of(contact.touches.begin(), contact.touches.end(), [&](const artefact::Touch& p) {
          return p.onset.seconds() < c.release_s && p.release.seconds() > c.onset_s;
        });
  }
}

void GatherTorques(const lab::Truth& truth, const lab::TruthRun& run,
                   const artefact::ContactTrack& contact, Evidence* out) {
  const model::Skeleton& hand = *truth.skeleton;
  const artefact::ContactFrames laid_out = artefact::LaidOut(contact).value();
  model::KinematicsData data(hand);
  Eigen::VectorXd error2 = Eigen::VectorXd::Zero(hand.nv()), peak = error2;
  double n = 0;
  for (size_t k = 0; k < contact.times.size(); ++k) {
    const double t = contact.times[k].seconds();
    const lab::TruthSeries* s = StrokeAt(run, t);
    if (s == nullptr) continue;
    const Eigen::Vector3d f = lab::Interpolate(*s, s->f_onHand_W, t),
                          c = lab::Interpolate(*s, s->p_W_contact, t);
    if (!c.allFinite()) continue;
    model::ComputeJacobian(hand, lab::Interpolate(*s, s->theta, t), &data);
    Eigen::VectorXd tau = Eigen::VectorXd::Zero(hand.nv());
    model::AddForceTorques(hand, data, hand.body_count() - 1, c, f, tau);
    const auto i = static_cast<Eigen::Index>(k);
    error2 += (contact.tau_Nm.col(i) - tau).cwiseAbs2();  // 0 where no touch was found
    peak = peak.cwiseMax(tau.cwiseAbs());
    n += 1;
    const Eigen::Vector3d w = laid_out.p_WC.col(i);
    if (laid_out.touch[k] >= 0 && w.allFinite() && f.z() > criteria::kCountedForce_N)
      out->point_error_m.push_back((w - c).norm());
  }
  std::vector<double> share;
  for (Eigen::Index j = 0; j < error2.size(); ++j)
    share.push_back(n > 0 ? std::sqrt(error2[j] / n) / peak[j] : kNone);
  out->torque_rms_share.push_back(std::move(share));
}

void GatherCompliance(const lab::Truth& truth, const std::vector<artefact::ComplianceFit>& fits,
                      Evidence* out) {
  for (const artefact::ComplianceFit& fit : fits) {
    const lab::PlantedImpedance* planted = truth.FindImpedance(fit.task);
    if (fit.estimator != "dynamic" || planted == nullptr) continue;
    if (fit.time_shift_s) out->shifts.push_back({*fit.time_shift_s, fit.time_shift_sd_s});
    for (size_t j = 0; j < fit.joints.size(); ++j) {
      const artefact::JointCompliance& joint = fit.joints[j];
      ComplianceSample& s = out->compliance.emplace_back();
      s.seed = truth.seed, s.task = fit.task, s.dof = joint.dof, s.joint = static_cast<int>(j);
      s.planted = planted->compliance_rad_per_Nm[static_cast<Eigen::Index>(j)];
      s.fitted = joint.compliance_rad_per_Nm;
      s.lower = joint.lower_rad_per_Nm, s.upper = joint.upper_rad_per_Nm;
      for (const artefact::ComplianceFit& other : fits) {
        if (other.estimator == "paper" && other.task == fit.task)
          s.paper = other.joints[j].compliance_rad_per_Nm;
      }
    }
  }
}

/// RMS over wrist and MP after the first 50 ms of contact, per stroke. Joint zeros are a gauge:
/// taken from the 40 ms before each onset.
std::vector<double> ReferenceErrors(const lab::Truth& truth, const ChainResults& r,
                                    const Eigen::MatrixXd& reference) {
  std::vector<double> strokes;
  if (reference.cols() == 0) return strokes;
  const lab::TruthSeries &free = truth.FindRun("reference")->session,
                         &captured = truth.FindRun("captured")->session;
  const std::vector<int> touch_of_frame = artefact::TouchOfFrame(r.contact).value();
  for (size_t p = 0; p < r.contact.touches.size(); ++p) {
    double sum = 0, n = 0, before = 0;
    Eigen::Vector2d zero = Eigen::Vector2d::Zero();
    const Timestamp onset = r.contact.touches[p].onset;
    const auto first = std::lower_bound(r.contact.times.begin(), r.contact.times.end(),
                                        onset - Duration::Milliseconds(40));
    for (auto it = first; it != r.contact.times.end(); ++it) {
      if (*it > r.contact.touches[p].release) break;
      const auto k = static_cast<size_t>(it - r.contact.times.begin());
      const auto i = static_cast<Eigen::Index>(k);
      const double t = it->seconds();
      if (*it < onset) {
        zero += r.pose.q.col(i).head<2>() - lab::Interpolate(captured, captured.theta, t).head<2>();
        before += 1;
        continue;
      }
      if (touch_of_frame[k] != static_cast<int>(p) || *it < onset + Duration::Milliseconds(50))
        continue;
      const Eigen::Vector2d e = reference.col(i).head<2>() - zero / std::max(1.0, before) -
                                lab::Interpolate(free, free.theta, t).head<2>();
      sum += e.squaredNorm();
      n += 2;
    }
    if (n > 0) strokes.push_back(std::sqrt(sum / n));
  }
  return strokes;
}

void GatherReferences(const lab::Truth& truth, const ChainResults& r, Evidence* out) {
  const artefact::InteractionTrajectory& t = r.trajectory;
  out->reference_eq1 = ReferenceErrors(truth, r, t.q_reference);
  out->reference_dynamic = ReferenceErrors(truth, r, t.q_reference_dynamic);
  out->reference_none = ReferenceErrors(truth, r, t.q);
  for (const double factor : {0.5, 2.0}) {
    fitting::ReferenceTrajectoryOptions options;
    options.compliance_factor = factor;
    const auto wrong =
        fitting::MakeInteractionTrajectory(*r.skeleton, r.pose, r.contact, t.fits, options);
    if (!wrong) continue;
    (factor < 1 ? out->reference_half : out->reference_double) =
        ReferenceErrors(truth, r, wrong->trajectory.q_reference);
  }
}

/// Where the planted normal force sets a contact_on, as schemas/README.md defines it: at 0.5 N, and
/// again after it fell below 0.25 N for more than the 20 ms of a bounce.
std::vector<double> ContactOns(const lab::TruthSeries& s) {
  constexpr double kBounce_s = 0.020;
  std::vector<double> on_s;
  bool on = false;
  double off_s = -1.0;
  for (int64_t i = 0; i < s.rows(); ++i) {
    const double force_N = s.f_onHand_W(i, 2), t = s.time_s(i);
    const bool now_on = force_N >= (on ? 0.25 : 0.5);
    if (now_on && !on && (on_s.empty() || t - off_s > kBounce_s)) on_s.push_back(t);
    if (on && !now_on) off_s = t;
    on = now_on;
  }
  return on_s;
}

template <typename T>
void Append(const std::vector<T>& from, std::vector<T>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

ChainRun RunChain(const pipeline::StepContext& context, const ChainOptions& o) {
  ChainRun run;
  const auto take = [&run](const Result<pipeline::StepResult>& step, std::string* hash) {
    if (step) *hash = step->hash;
    if (!step) run.error = step.error();
    return step.has_value();
  };
  run.made.skeleton = o.skeleton;
  if (o.skeleton.empty()) {
    fitting::FitSkeletonStep skeleton;
    skeleton.clip = o.clip, skeleton.contact_clip = o.contact_clip;
    skeleton.template_hand = step::Ask{.key = o.template_hand, .scale = o.template_scale};
    if (!take(pipeline::RunStep(context, skeleton), &run.made.skeleton)) return run;
  }
  fitting::FitPoseStep pose;
  pose.clip = o.clip, pose.skeleton = run.made.skeleton;
  if (o.fast_pose) pose.options.method = fitting::PoseMethod::kFast;
  if (!take(pipeline::RunStep(context, pose), &run.made.pose)) return run;
  if (o.until == ChainOptions::Until::kPose) return run;
  fitting::FitContactStep contact;
  contact.clip = o.clip, contact.pose = run.made.pose;
  if (!take(pipeline::RunStep(context, contact), &run.made.contact)) return run;
  if (o.until == ChainOptions::Until::kContact) return run;
  fitting::FitComplianceStep compliance;
  compliance.clip = o.clip, compliance.contact = run.made.contact;
  compliance.reference.compliance_factor = o.compliance_factor;
  if (!take(pipeline::RunStep(context, compliance), &run.made.trajectory)) return run;
  const auto hand = pipeline::LoadSkeletonArtefact(context.library, run.made.skeleton);
  if (!hand) {
    run.error = hand.error();
    return run;
  }
  const fitting::AssumeComplianceStep assume{
      .trajectory = run.made.trajectory,
      .assume_within_bounds = fitting::Table1Exploring(hand->skeleton)};
  take(pipeline::RunStep(context, assume), &run.made.assumed);
  return run;
}

Result<ChainResults> LoadChain(const store::Library& library, const ChainArtefacts& made) {
  ChainResults r;
  if (!made.skeleton.empty()) {
    HANDHOLD_ASSIGN(auto hand, pipeline::LoadSkeletonArtefact(library, made.skeleton));
    r.skeleton = std::move(hand.skeleton);
  }
  if (!made.pose.empty()) {
    HANDHOLD_ASSIGN(r.pose, store::Load<artefact::PoseTrack>(library.ArtefactPath(made.pose)));
  }
  if (!made.contact.empty()) {
    HANDHOLD_ASSIGN(r.contact,
                    store::Load<artefact::ContactTrack>(library.ArtefactPath(made.contact)));
  }
  if (!made.trajectory.empty()) {
    HANDHOLD_ASSIGN(r.trajectory, store::Load<artefact::InteractionTrajectory>(
                                      library.ArtefactPath(made.trajectory)));
  }
  if (!made.assumed.empty()) {
    HANDHOLD_ASSIGN(r.assumed, store::Load<artefact::InteractionTrajectory>(
                                   library.ArtefactPath(made.assumed)));
  }
  return r;
}

void Evidence::Add(const Evidence& o) {
  over_the_wire |= o.over_the_wire, gaps_injected += o.gaps_injected;
  Append(o.gap_differences, &gap_differences);
  Append(o.alignment_p99_s, &alignment_p99_s);
  query_strokes += o.query_strokes, query_wrong += o.query_wrong;
  query_set_aside += o.query_set_aside;
  Append(o.length_error_m, &length_error_m);
  Append(o.angle_rms_rad, &angle_rms_rad);
  Append(o.onset_error_s, &onset_error_s);
  Append(o.point_error_m, &point_error_m);
  Append(o.torque_rms_share, &torque_rms_share);
  touches_planted += o.touches_planted, touches_found += o.touches_found;
  false_touches += o.false_touches;
  Append(o.compliance, &compliance);
  Append(o.shifts, &shifts);
  Append(o.reference_eq1, &reference_eq1);
  Append(o.reference_dynamic, &reference_dynamic);
  Append(o.reference_none, &reference_none);
  Append(o.reference_half, &reference_half);
  Append(o.reference_double, &reference_double);
  Append(o.replays, &replays);
}

Result<Evidence> GatherQueries(const lab::Truth& truth, const store::Library& library,
                               const std::string& clip) {
  Evidence out;
  const lab::TruthRun& run = *truth.FindRun("captured");
  std::map<int64_t, double> peak;  // of the normal force within 0.2 s of a contact_on
  std::vector<double> peaks;
  for (const lab::TruthStroke& stroke : truth.strokes) {
    const auto contacts = run.ContactsOf(stroke.index);
    if (contacts.empty()) continue;
    const lab::TruthSeries& s = run.strokes[static_cast<size_t>(stroke.index)];
    double& most = peak[stroke.index + 1];
    for (const double on_s : ContactOns(s)) {
      for (int64_t i = 0; i < s.rows(); ++i) {
        if (std::abs(s.time_s(i) - on_s) <= criteria::kQueryWithin_s)
          most = std::max(most, s.f_onHand_W(i, 2));
      }
    }
    peaks.push_back(most);
  }
  std::sort(peaks.begin(), peaks.end());
  if (peaks.size() < 4) return out;
  for (const double share : {0.25, 0.5, 0.75}) {
    const double X = peaks[static_cast<size_t>(share * static_cast<double>(peaks.size() - 1))];
    char text[160];
    std::snprintf(text, sizeof text, "peak(normal_force) > %.6f N within 0.2 s of contact_on", X);
    HANDHOLD_ASSIGN(const store::Query query, store::Query::Parse(text, library));
    HANDHOLD_ASSIGN(const store::QueryResult found, query.Run());
    std::set<int64_t> strokes;
    for (const store::QueryRow& row : found.rows) {
      if (row.clip_name != clip) continue;
      strokes.insert(row.stroke);
      out.query_wrong += !peak.contains(row.stroke);
    }
    for (const auto& [number, planted] : peak) {
      ++out.query_strokes;
      if (std::abs(planted - X) <= criteria::kQuerySetAside_N) {
        ++out.query_set_aside;
      } else if ((planted > X) != strokes.contains(number)) {
        ++out.query_wrong;
        std::printf("  stroke %lld: planted peak %.3f N, asked for > %.3f N, %s\n",
                    static_cast<long long>(number), planted, X,
                    strokes.contains(number) ? "answered" : "not answered");
      }
    }
  }
  return out;
}

Evidence GatherFits(const lab::Truth& truth, const ChainResults& r) {
  Evidence out;
  const lab::TruthRun& captured = *truth.FindRun("captured");
  if (r.skeleton) GatherLengths(*truth.skeleton, *r.skeleton, &out);
  if (r.pose.frame_count() > 0) GatherAngles(captured.session, r.pose, &out);
  if (!r.contact.times.empty()) {
    GatherTouches(captured, r.contact, &out);
    GatherTorques(truth, captured, r.contact, &out);
  }
  GatherCompliance(truth, r.trajectory.fits, &out);
  if (r.skeleton && !r.trajectory.times.empty()) GatherReferences(truth, r, &out);
  return out;
}

void DoubleCompliance(artefact::InteractionTrajectory* trajectory) {
  for (artefact::ComplianceFit& fit : trajectory->fits) {
    for (artefact::JointCompliance& joint : fit.joints) {
      if (joint.compliance_rad_per_Nm) *joint.compliance_rad_per_Nm *= 2;
      joint.lower_rad_per_Nm *= 2, joint.upper_rad_per_Nm *= 2;
    }
  }
}

}  // namespace handhold::chain

#include "tools/report/measure.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "database/model/kinematics.h"
#include "database/model/site.h"
#include "tools/lab/session_begin.h"
#include "tools/report/criteria.h"
#include "tools/report/truth_reference.h"

namespace handhold::report {
namespace {

using criteria::kCountedForce_N;
using geometry::Vec3;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double AcrossAxis(const model::Skeleton& skeleton, int body, const Vec3& p_B) {
  const model::Joint& joint = skeleton.body(body).joint;
  const Vec3 from = p_B - joint.X_BJc.p;
  if (joint.type != model::JointType::kHinge) return from.norm();
  const Vec3 axis = joint.X_BJc.R * joint.axes[0];
  return (from - axis * axis.dot(from)).norm();
}

std::string LastName(const std::string& name) {
  return name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
}

const lab::TruthSeries* StrokeAt(const lab::TruthRun& run, double t) {
  for (const lab::TruthSeries& s : run.strokes) {
    if (s.rows() >= 2 && s.has_contact_columns() && t >= s.begin_s && t <= s.time_s(s.rows() - 1))
      return &s;
  }
  return nullptr;
}

bool Covers(const lab::TruthSeries& series, double t) {
  return series.rows() >= 2 && t >= series.begin_s && t <= series.time_s(series.rows() - 1);
}

}  // namespace

Result<double> SessionStart(const recording::ClipSource& clip) {
  const auto& properties = clip.info().properties;
  if (const auto begin = properties.find(lab::kSessionBeginProperty); begin != properties.end()) {
    int64_t host_ns = 0;
    const char* end = begin->second.data() + begin->second.size();
    const auto read = std::from_chars(begin->second.data(), end, host_ns);
    if (read.ec != std::errc() || read.ptr != end) {
      return Error{ErrorCode::kCorrupt, "the clip's property " + begin->first +
                                            " is no number: \"" + begin->second + "\""};
    }
    return Duration::Nanoseconds(host_ns - clip.info().host_start_ns).seconds();
  }
  const recording::StreamInfo* markers = clip.FirstOfKind(recording::StreamKind::kMarkers);
  if (markers == nullptr)
    return Error{ErrorCode::kNotFound, "the clip has no marker stream to place the truth by"};
  const TimeRange extent = clip.Extent(markers->id);
  HANDHOLD_ASSIGN(const recording::SampleWindow first,
                  clip.Read(markers->id, {extent.begin, extent.begin + Duration::Seconds(1)}, {0}));
  HANDHOLD_ASSIGN(const recording::SampleWindow last,
                  clip.Read(markers->id, {extent.end - Duration::Seconds(1), extent.end}, {0}));
  if (first.count() == 0 || last.count() == 0) {
    return Error{ErrorCode::kNotFound,
                 "the clip's marker stream is empty: the truth cannot be placed"};
  }
  const int64_t c0 = first.counters.front(), c1 = last.counters.back();
  const double t0 = first.times.front().seconds(), t1 = last.times.back().seconds();
  const double period =
      c1 > c0 ? (t1 - t0) / static_cast<double>(c1 - c0) : 1.0 / markers->rate.hz();
  return t0 - period * static_cast<double>(c0);
}

Result<MarkerDistance> MarkersFromTruth(const recording::ClipSource& clip, const lab::Truth& truth,
                                        double start_s) {
  constexpr int kFrames = 400;
  const Error none{ErrorCode::kNotFound, "the clip has no marker of the truth's hand"};
  const recording::StreamInfo* stream = clip.FirstOfKind(recording::StreamKind::kMarkers);
  const lab::TruthRun* run = truth.FindRun("captured");
  if (stream == nullptr || run == nullptr) return none;
  const std::vector<std::string> names = stream->ItemNames();
  std::vector<std::pair<size_t, int>> pairs;  // marker of the truth's hand, its first channel
  for (size_t m = 0; m < truth.skeleton->markers().size(); ++m) {
    const auto at = std::find(names.begin(), names.end(), truth.skeleton->markers()[m].name);
    if (at != names.end())
      pairs.emplace_back(m, static_cast<int>(at - names.begin()) * stream->channels_per_item());
  }
  const TimeRange extent = clip.Extent(stream->id);
  const double step_s = (run->session.end_s() - run->session.begin_s) / kFrames;
  model::KinematicsData data(*truth.skeleton);
  std::vector<Vec3> planted;
  std::vector<double> off_m;
  for (int k = 0; k < kFrames; ++k) {
    const Timestamp at =
        Timestamp::FromSeconds(start_s + run->session.begin_s + step_s * (k + 0.5));
    const TimeRange window{std::max(at, extent.begin),
                           std::min(at + Duration::Milliseconds(20), extent.end)};
    if (window.begin >= window.end) continue;
    HANDHOLD_ASSIGN(const recording::SampleWindow seen, clip.Read(stream->id, window));
    if (seen.count() == 0) continue;
    const double t = seen.times.front().seconds() - start_s;
    if (!Covers(run->session, t)) continue;
    model::ComputePoses<double>(*truth.skeleton,
                                lab::Interpolate(run->session, run->session.theta, t), &data);
    model::MarkerPositions<double>(*truth.skeleton, data, &planted);
    for (const auto& [m, channel] : pairs) {
      const Vec3 p(seen.value(channel, 0), seen.value(channel + 1, 0), seen.value(channel + 2, 0));
      if (p.allFinite()) off_m.push_back((p - planted[m]).norm());
    }
  }
  if (off_m.empty()) return none;
  return MarkerDistance{Quantile(off_m, 0.5), Quantile(off_m, 0.99)};
}

std::vector<LengthScore> CompareLengths(const model::Skeleton& fitted,
                                        const model::Skeleton* planted) {
  std::vector<LengthScore> lengths;
  for (int b = 1; b < fitted.body_count(); ++b) {
    const int parent = fitted.body(b).parent;
    if (parent == 0 || fitted.body(parent).joint.type == model::JointType::kFixed) continue;
    const double planted_m =
        planted ? AcrossAxis(*planted, parent, planted->body(b).joint.X_PJp.p) : kNaN;
    lengths.push_back(
        {LastName(fitted.body(parent).joint.name) + "-" + LastName(fitted.body(b).joint.name),
         AcrossAxis(fitted, parent, fitted.body(b).joint.X_PJp.p), planted_m});
  }
  const int tip = model::OnlyTip(fitted);
  if (tip < 0) return lengths;
  const model::NamedFrame& frame = fitted.frames()[static_cast<size_t>(tip)];
  const double planted_m =
      planted ? AcrossAxis(*planted, frame.body, planted->frames()[static_cast<size_t>(tip)].X_BF.p)
              : kNaN;
  lengths.push_back({LastName(fitted.body(frame.body).joint.name) + "-tip",
                     AcrossAxis(fitted, frame.body, frame.X_BF.p), planted_m});
  return lengths;
}

std::map<int64_t, double> HardnessOfStrokes(const lab::Truth& truth) {
  std::map<int64_t, double> hardness;
  const lab::TruthRun* run = truth.FindRun("captured");
  if (run == nullptr) return hardness;
  for (const lab::TruthStroke& stroke : truth.strokes) {
    const lab::TruthSeries& s = run->strokes[static_cast<size_t>(stroke.index)];
    if (!s.has_contact_columns() || run->ContactsOf(stroke.index).empty()) continue;
    std::vector<double> touched_s;  // every contact_on
    bool touching = false;
    double left_s = -1e9, most = 0;
    for (int64_t i = 0; i < s.rows(); ++i) {
      const double f = s.f_onHand_W(i, 2);
      if (touching ? f >= 0.25 : f < 0.5) continue;
      touching = !touching;
      if (!touching) left_s = s.time_s(i);
      if (touching && s.time_s(i) - left_s > 0.020) touched_s.push_back(s.time_s(i));
    }
    for (int64_t i = 0; i < s.rows(); ++i) {
      const bool near = std::any_of(touched_s.begin(), touched_s.end(), [&](double t) {
        return std::abs(s.time_s(i) - t) <= criteria::kQueryWithin_s;
      });
      if (near) most = std::max(most, s.f_onHand_W(i, 2));
    }
    hardness[stroke.index + 1] = most;
  }
  return hardness;
}

Eigen::VectorXd AngleErrors(const artefact::PoseTrack& pose, const lab::Truth& truth,
                            double start_s) {
  const lab::TruthSeries& session = truth.FindRun("captured")->session;
  const Eigen::Index n = session.theta.cols();
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(n), square = sum;
  double count = 0;
  for (int k = 0; k < pose.frame_count(); ++k) {
    const double t = pose.times[static_cast<size_t>(k)].seconds() - start_s;
    if (!Covers(session, t)) continue;
    const Eigen::VectorXd e = pose.q.col(k).head(n) - lab::Interpolate(session, session.theta, t);
    sum += e, square += e.cwiseAbs2(), count += 1;
  }
  if (count == 0) return Eigen::VectorXd::Constant(n, kNaN);
  return (square / count - (sum / count).cwiseAbs2()).cwiseMax(0.0).cwiseSqrt();
}

ContactScore CompareContact(const artefact::ContactTrack& contact, const lab::Truth& truth,
                            double start_s) {
  ContactScore score;
  const lab::TruthRun& run = *truth.FindRun("captured");
  const double first = contact.times.empty() ? 0 : contact.times.front().seconds() - start_s;
  const double last = contact.times.empty() ? -1 : contact.times.back().seconds() - start_s;
  for (const artefact::Touch& touch : contact.touches) {
    const double onset = touch.onset.seconds() - start_s,
                 release = touch.release.seconds() - start_s;
    const lab::TruthContact* nearest = nullptr;
    for (const lab::TruthContact& c : run.contacts) {
      if (onset >= c.release_s || release <= c.onset_s) continue;
      if (!nearest || std::abs(onset - c.onset_s) < std::abs(onset - nearest->onset_s))
        nearest = &c;
    }
    if (nearest == nullptr) {
      ++score.invented;
    } else {
      score.onset_errors_s.push_back(onset - nearest->onset_s);
    }
  }
  for (const lab::TruthContact& c : run.contacts) {
    if (c.peak_normal_force_N < kCountedForce_N || c.onset_s < first || c.release_s > last)
      continue;
    ++score.planted;
    score.missed +=
        std::none_of(contact.touches.begin(), contact.touches.end(), [&](const auto& p) {
          return p.onset.seconds() - start_s < c.release_s &&
                 p.release.seconds() - start_s > c.onset_s;
        });
  }
  const model::Skeleton& hand = *truth.skeleton;
  const int tip = model::OnlyTip(hand);
  const int body = tip < 0 ? hand.body_count() - 1 : hand.frames()[static_cast<size_t>(tip)].body;
  model::KinematicsData data(hand);
  Eigen::VectorXd square = Eigen::VectorXd::Zero(hand.nv()), peak = square;
  double count = 0;
  for (const artefact::ContactRow& row : contact.rows) {
    const double t = contact.times[static_cast<size_t>(row.frame)].seconds() - start_s;
    const lab::TruthSeries* s = StrokeAt(run, t);
    if (s == nullptr) continue;
    const Vec3 f = lab::Interpolate(*s, s->f_onHand_W, t),
               p = lab::Interpolate(*s, s->p_W_contact, t);
    if (!p.allFinite()) continue;
    model::ComputeJacobian<double>(hand, lab::Interpolate(*s, s->theta, t), &data);
    Eigen::VectorXd tau = Eigen::VectorXd::Zero(hand.nv());
    model::AddForceTorques<double>(hand, data, body, p, f, tau);
    square += (contact.tau_Nm.col(row.frame) - tau).cwiseAbs2();
    peak = peak.cwiseMax(tau.cwiseAbs());
    count += 1;
    const Vec3 found = row.p_W;
    const Vec3 normal = lab::Interpolate(*s, s->normal_W, t);
    if (found.allFinite() && f.dot(normal) > kCountedForce_N)
      score.point_errors_m.push_back((found - p).norm());
  }
  score.torque_rms_of_peak =
      (square / std::max(1.0, count)).cwiseSqrt().cwiseQuotient(peak.cwiseMax(1e-12));
  if (count == 0) score.torque_rms_of_peak.setConstant(kNaN);
  return score;
}

std::vector<double> ReferenceErrors(const artefact::PoseTrack& pose,
                                    const artefact::ContactTrack& contact,
                                    const Eigen::MatrixXd& reference, const lab::Truth& truth,
                                    double start_s, int dofs) {
  const lab::TruthSeries& free = truth.FindRun("reference")->session;
  const lab::TruthSeries& captured = truth.FindRun("captured")->session;
  std::vector<double> strokes;
  const Result<std::vector<int>> touch_of_frame = artefact::TouchOfFrame(contact);
  if (!touch_of_frame) return strokes;
  for (size_t p = 0; p < contact.touches.size(); ++p) {
    const Timestamp onset = contact.touches[p].onset;
    Eigen::VectorXd zero = Eigen::VectorXd::Zero(dofs);
    double before = 0, sum = 0, count = 0;
    for (size_t k = 0; k < contact.times.size(); ++k) {
      const Timestamp time = contact.times[k];
      const double t = time.seconds() - start_s;
      const auto i = static_cast<Eigen::Index>(k);
      if (!Covers(free, t)) continue;
      if (time > onset - Duration::Milliseconds(40) && time < onset) {
        zero += pose.q.col(i).head(dofs) - lab::Interpolate(captured, captured.theta, t).head(dofs);
        before += 1;
      }
      if ((*touch_of_frame)[k] != static_cast<int>(p) ||
          time < onset + Duration::FromSeconds(criteria::kEarly_s))
        continue;
      const Eigen::VectorXd e = reference.col(i).head(dofs) - zero / std::max(1.0, before) -
                                lab::Interpolate(free, free.theta, t).head(dofs);
      sum += e.squaredNorm(), count += dofs;
    }
    if (count > 0) strokes.push_back(std::sqrt(sum / count));
  }
  return strokes;
}

double ReplayScore::slip_agreement() const {
  return contact_samples > 0
             ? static_cast<double>(slip_agrees) / static_cast<double>(contact_samples)
             : kNaN;
}
double ReplayScore::stick_recall() const {
  return stuck > 0 ? static_cast<double>(stuck_found) / static_cast<double>(stuck) : kNaN;
}

artefact::InteractionTrajectory PlantedTrajectory(const lab::Truth& truth,
                                                  const lab::TruthStroke& stroke) {
  const lab::TruthSeries& reference = truth.FindRun("reference")->session;
  const lab::PlantedImpedance& impedance = *truth.FindImpedance(stroke.task);
  artefact::InteractionTrajectory t;
  t.dof_names = truth.skeleton->dof_names();
  const double rate = reference.rate_hz;
  const auto first =
      static_cast<Eigen::Index>(std::ceil((stroke.begin_s - reference.begin_s) * rate));
  const auto last = std::min<Eigen::Index>(
      reference.rows() - 1, static_cast<Eigen::Index>((stroke.end_s - reference.begin_s) * rate));
  const Eigen::Index frames = last - first + 1;
  t.q = t.q_reference = t.q_reference_dynamic =
      reference.theta.middleRows(first, frames).transpose();
  t.compliance_rad_per_Nm = impedance.compliance_rad_per_Nm.replicate(1, frames);
  t.time_constant_s = Eigen::VectorXd::Constant(frames, impedance.time_constant_s.mean());
  t.assumed.assign(static_cast<size_t>(truth.skeleton->nv()), 0);
  for (Eigen::Index i = first; i <= last; ++i)
    t.times.push_back(Timestamp::FromSeconds(reference.time_s(i)));
  return t;
}

Result<artefact::Stage> StageOf(const lab::Truth& truth, const lab::TruthRun& run, int stroke,
                                double friction) {
  const bool bumped = run.surface == "bumped_plate";
  HANDHOLD_ASSIGN(model::Prop prop, model::LoadLibraryProp(bumped ? "bumped_plate" : "flat_plate"));
  prop.surface_compliance_m_per_N = 1.0 / truth.surface_stiffness_N_per_m;
  prop.friction = friction < 0 ? run.friction : friction;
  artefact::Stage stage;
  stage.Add(artefact::Placed(
      prop, bumped ? truth.X_WBumped[static_cast<size_t>(stroke)] : truth.X_WPlate));
  return stage;
}

namespace {

// Traces of one stroke beside the engine's record, at the motion's steps that the record covers.
ReplayExample TracesOf(const model::Skeleton& hand, int tip, const lab::TruthSeries& series,
                       const artefact::Motion& motion, double start_s) {
  ReplayExample e;
  const synthesis::MotionScoreOptions defaults;
  const synthesis::FrameContacts found =
      synthesis::ContactsByFrame(motion, motion.hands.front().name, defaults.loaded_N);
  const synthesis::MotionReference reference = ReferenceOf(series);
  model::KinematicsData data(hand);
  const Eigen::MatrixXd& q = motion.hands.front().q;
  for (size_t k = 0; k < motion.times.size(); ++k) {
    const double t = motion.times[k].seconds() - start_s;
    const std::optional<synthesis::ReferenceSample> engine = reference(t);
    if (!engine) continue;
    model::ComputePoses<double>(hand, q.col(static_cast<Eigen::Index>(k)), &data);
    const Vec3& f = found.f_onHand_W[k];
    // On the bump the plate's normal is still the axis that is plotted.
    e.time_s.push_back(t);
    e.engine_normal_N.push_back(engine->f_onHand_W.z()), e.replay_normal_N.push_back(f.z());
    e.engine_tangent_N.push_back(engine->f_onHand_W.x()), e.replay_tangent_N.push_back(f.x());
    e.f_onHand_W.push_back(f), e.p_WC.push_back(found.p_W[k]);
    const Eigen::Index n = e.q.cols();
    e.q.conservativeResize(q.rows(), n + 1);
    e.engine_tip_W.conservativeResize(3, n + 1), e.replay_tip_W.conservativeResize(3, n + 1);
    e.q.col(n) = q.col(static_cast<Eigen::Index>(k)), e.engine_tip_W.col(n) = engine->p_W;
    e.replay_tip_W.col(n) = model::FramePose<double>(hand, data, tip).p;
  }
  return e;
}

}  // namespace

Result<ReplayScore> ScoreReplay(const lab::Truth& truth, const model::Skeleton& hand,
                                const TrajectoryOf& trajectory_of, double start_s,
                                const ReplayCase& replay_case, int example_stroke) {
  const lab::TruthRun* run = truth.FindRun(replay_case.run);
  const lab::TruthRun* flat = truth.FindRun("captured");
  if (run == nullptr)
    return Error{ErrorCode::kNotFound, "the truth holds no run '" + replay_case.run + "'"};
  if (model::OnlyTip(hand) < 0)
    return Error{ErrorCode::kInvalid, "the hand has no frame whose name ends in 'tip'"};
  ReplayScore score;
  int done = 0;
  for (const lab::TruthStroke& stroke : truth.strokes) {
    const auto contacts = run->ContactsOf(stroke.index);
    const lab::TruthSeries& series = run->strokes[static_cast<size_t>(stroke.index)];
    if (stroke.task == "free" || contacts.empty() || series.rows() < 2 ||
        !series.has_contact_columns())
      continue;
    if (replay_case.max_strokes > 0 && done >= replay_case.max_strokes &&
        stroke.index != example_stroke)
      continue;
    const artefact::InteractionTrajectory trajectory = trajectory_of(stroke);
    if (trajectory.times.empty()) continue;  // a stroke outside this clip
    if (replay_case.keep_going && !replay_case.keep_going())
      return Error{ErrorCode::kCancelled, "replaying was cancelled"};
    HANDHOLD_ASSIGN(const artefact::Stage stage,
                    StageOf(truth, *run, stroke.index, replay_case.friction));
    synthesis::ReplayOptions options;
    options.form = replay_case.form;
    options.compliance_scale = replay_case.compliance_scale;
    HANDHOLD_ASSIGN(const artefact::Motion motion,
                    synthesis::ReplayInteraction(hand, trajectory, stage, options));
    ++done;
    score.lcp_failures += synthesis::UnsolvedSteps(motion);
    score.equilibrium_rad = std::max(score.equilibrium_rad, synthesis::LargestResidual_rad(motion));
    static_assert(criteria::kJam == synthesis::kJamForce, "a verb and the page mean the same");
    if (PeakOf(contacts) > criteria::kJam * PeakOf(flat->ContactsOf(stroke.index))) {
      score.jams.push_back(stroke.index);
      continue;
    }
    const int tip = model::OnlyTip(hand);
    HANDHOLD_ASSIGN(const synthesis::MotionScore stroke_score,
                    ScoreStroke(hand, hand.frames()[static_cast<size_t>(tip)].name, *run,
                                stroke.index, motion, start_s));
    score.force_late.push_back(stroke_score.force_late);
    score.force_early.push_back(stroke_score.force_early);
    score.tip_m.push_back(stroke_score.point_m);
    score.contact_samples += stroke_score.both_touch();
    score.slip_agrees += stroke_score.slip_agrees();
    score.stuck += stroke_score.stick_stick + stroke_score.stick_slip;
    score.stuck_found += stroke_score.stick_stick;
    if (stroke.index != example_stroke) continue;
    score.example = TracesOf(hand, tip, series, motion, start_s);
    score.example.stroke = stroke.index, score.example.stage = stage;
  }
  return score;
}

}  // namespace handhold::report

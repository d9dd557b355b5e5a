#include "tests/support/subject_measures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "database/base/check.h"
#include "database/base/units.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/model/site.h"
#include "tools/report/truth_reference.h"

namespace handhold::testing {
namespace {

using geometry::Vec3;

double AcrossAxis(const model::Skeleton& s, int body, const Vec3& p_B) {
  const Vec3 axis = s.body(body).joint.axes[0];
  return (p_B - axis * axis.dot(p_B)).norm();
}

}  // namespace

model::Skeleton Scaled(const model::Skeleton& hand, double factor) {
  model::SkeletonDraft draft = hand.draft();
  for (model::Body& b : draft.bodies) {
    b.joint.X_PJp.p *= factor;
    b.joint.X_BJc.p *= factor;
    b.mass.p_BCom *= factor;
    b.mass.I_BCom_B *= factor * factor;
    for (model::BodyShape& s : b.shapes) s.X_BS.p *= factor;
  }
  for (auto& m : draft.markers) m.p_BM *= factor;
  for (auto& f : draft.frames) f.X_BF.p *= factor;
  return *model::Skeleton::Build(draft);
}

PoseErrors MeasurePose(const lab::Truth& truth, const model::Skeleton& fitted,
                       const artefact::PoseTrack& pose) {
  const model::Skeleton& hand = *truth.skeleton;
  PoseErrors errors;
  for (int b = 3; b < hand.body_count(); ++b) {
    errors.length_m.push_back(AcrossAxis(fitted, b - 1, fitted.body(b).joint.X_PJp.p) -
                              AcrossAxis(hand, b - 1, hand.body(b).joint.X_PJp.p));
  }
  const Eigen::MatrixXd& theta = truth.FindRun("captured")->session.theta;
  errors.angle_rms_deg.setZero(theta.cols());
  for (Eigen::Index j = 0; j < theta.cols(); ++j) {
    double sum = 0, sum2 = 0, n = 0;
    for (int k = 0; k < pose.frame_count(); ++k) {
      const auto row = static_cast<Eigen::Index>(
          std::lround(pose.times[static_cast<size_t>(k)].seconds() * 500));
      if (row < 0 || row >= theta.rows()) continue;
      const double e = RadiansToDegrees(pose.q(j, k) - theta(row, j));
      sum += e, sum2 += e * e, n += 1;
    }
    errors.angle_rms_deg[j] = std::sqrt(std::max(0.0, sum2 / n - sum / n * sum / n));
  }
  return errors;
}

/// An onset nearer than this to a planted one is of the same touch.
constexpr double kSameTouch_s = 0.020;

ContactErrors MeasureContact(const lab::Truth& truth, const artefact::ContactTrack& contact) {
  const lab::TruthRun& run = *truth.FindRun("captured");
  const model::Skeleton& hand = *truth.skeleton;
  ContactErrors errors;
  errors.planted = static_cast<int>(run.contacts.size());
  errors.touches = static_cast<int>(contact.touches.size());
  std::vector<double> onset, point;
  for (const artefact::Touch& touch : contact.touches) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const lab::TruthContact& c : run.contacts)
      nearest = std::min(nearest, std::abs(touch.onset.seconds() - c.onset_s));
    onset.push_back(nearest);
    errors.false_touches += nearest >= kSameTouch_s;
  }
  for (const lab::TruthContact& c : run.contacts) {
    errors.matched +=
        std::any_of(contact.touches.begin(), contact.touches.end(), [&](const artefact::Touch& p) {
          return std::abs(p.onset.seconds() - c.onset_s) < kSameTouch_s;
        });
  }
  const artefact::ContactFrames laid_out = artefact::LaidOut(contact).value();
  Eigen::VectorXd error2 = Eigen::VectorXd::Zero(hand.nv()), peak = error2;
  double n = 0;
  model::KinematicsData data(hand);
  for (size_t k = 0; k < contact.times.size(); ++k) {
    if (laid_out.touch[k] < 0) continue;
    const double t = contact.times[k].seconds();
    for (const lab::TruthSeries& s : run.strokes) {
      if (s.rows() < 2 || t < s.begin_s || t > s.end_s() - 1e-3 || !s.has_contact_columns())
        continue;
      const Vec3 f = lab::Interpolate(s, s.f_onHand_W, t),
                 c = lab::Interpolate(s, s.p_W_contact, t);
      if (!c.allFinite()) continue;
      model::ComputeJacobian<double>(hand, lab::Interpolate(s, s.theta, t), &data);
      Eigen::VectorXd tau = Eigen::VectorXd::Zero(hand.nv());
      model::AddForceTorques<double>(hand, data, hand.body_count() - 1, c, f, tau);
      error2 += (contact.tau_Nm.col(static_cast<Eigen::Index>(k)) - tau).cwiseAbs2();
      peak = peak.cwiseMax(tau.cwiseAbs());
      n += 1;
      const Vec3 fitted = laid_out.p_WC.col(static_cast<Eigen::Index>(k));
      if (fitted.allFinite() && f.z() > 0.3) point.push_back((fitted - c).norm());
    }
  }
  errors.onset_p90_s = Quantile(onset, 0.9);
  errors.point_p95_m = Quantile(point, 0.95);
  errors.torque_share = (error2 / std::max(1.0, n)).cwiseSqrt().cwiseQuotient(peak);
  return errors;
}

std::vector<ComplianceAnswer> MeasureCompliance(const lab::Truth& truth,
                                                const std::vector<artefact::ComplianceFit>& fits) {
  std::vector<ComplianceAnswer> answers;
  for (const artefact::ComplianceFit& fit : fits) {
    const lab::PlantedImpedance* planted = truth.FindImpedance(fit.task);
    CHECK(planted != nullptr);
    for (size_t j = 0; j < fit.joints.size(); ++j) {
      const artefact::JointCompliance& joint = fit.joints[j];
      ComplianceAnswer answer;
      answer.task = fit.task, answer.dof = joint.dof, answer.refusal = joint.refusal;
      answer.joint = static_cast<int>(j);
      answer.planted = planted->compliance_rad_per_Nm[static_cast<Eigen::Index>(j)];
      answer.sd_log = joint.sd_log;
      answer.accepted = joint.compliance_rad_per_Nm.has_value();
      if (answer.accepted) answer.error = *joint.compliance_rad_per_Nm / answer.planted - 1;
      answer.lower_rad_per_Nm = joint.lower_rad_per_Nm;
      answer.upper_rad_per_Nm = joint.upper_rad_per_Nm;
      answer.bounded = std::isfinite(joint.upper_rad_per_Nm);
      answer.covered =
          joint.lower_rad_per_Nm <= answer.planted && answer.planted <= joint.upper_rad_per_Nm;
      answers.push_back(answer);
    }
  }
  return answers;
}

double ReferenceError_deg(const lab::Truth& truth, const artefact::PoseTrack& pose,
                          const artefact::ContactTrack& contact, const Eigen::MatrixXd& reference) {
  const Eigen::MatrixXd& meant = truth.FindRun("reference")->session.theta;
  const Eigen::MatrixXd& captured = truth.FindRun("captured")->session.theta;
  std::vector<double> strokes;
  const artefact::ContactFrames laid_out = artefact::LaidOut(contact).value();
  for (size_t p = 0; p < contact.touches.size(); ++p) {
    double sum = 0, n = 0, before = 0;
    Eigen::Vector2d zero = Eigen::Vector2d::Zero();
    const Timestamp onset = contact.touches[p].onset;
    for (size_t k = 0; k < contact.times.size(); ++k) {
      const Timestamp t = contact.times[k];
      const auto row = static_cast<Eigen::Index>(std::lround(t.seconds() * 500)),
                 i = static_cast<Eigen::Index>(k);
      if (row < 0 || row >= meant.rows()) continue;
      if (t > onset - Duration::Milliseconds(40) && t < onset) {
        for (int j = 0; j < 2; ++j) zero[j] += pose.q(j, i) - captured(row, j);
        before += 1;
      }
      if (laid_out.touch[k] != static_cast<int>(p) ||
          t < onset + Duration::FromSeconds(criteria::kEarly_s))
        continue;
      for (int j = 0; j < 2; ++j)
        sum += std::pow(reference(j, i) - zero[j] / std::max(1.0, before) - meant(row, j), 2);
      n += 2;
    }
    if (n > 0) strokes.push_back(RadiansToDegrees(std::sqrt(sum / n)));
  }
  return Quantile(strokes, 0.5);
}

double RunReplay::Median(double StrokeReplay::*what) const {
  std::vector<double> values;
  for (const StrokeReplay& s : strokes) values.push_back(s.*what);
  return Quantile(values, 0.5);
}
double RunReplay::P90(double StrokeReplay::*what) const {
  std::vector<double> values;
  for (const StrokeReplay& s : strokes) values.push_back(s.*what);
  return Quantile(values, 0.9);
}
double RunReplay::SlipAgreement() const {
  double same = 0, all = 0;
  for (const StrokeReplay& s : strokes) {
    same += s.slip_slip + s.stick_stick;
    all += s.slip_slip + s.stick_stick + s.slip_stick + s.stick_slip;
  }
  return same / all;
}
double RunReplay::StickRecall() const {
  double found = 0, all = 0;
  for (const StrokeReplay& s : strokes) found += s.stick_stick, all += s.stick_stick + s.stick_slip;
  return found / all;
}

model::Prop PlateOf(const lab::Truth& truth) {
  model::Prop plate = model::LoadLibraryProp("flat_plate").value();
  plate.surface_compliance_m_per_N = 1.0 / truth.surface_stiffness_N_per_m;
  return plate;
}

artefact::Stage StageOf(const lab::Truth& truth, const lab::TruthRun& run, int stroke,
                        double friction) {
  const bool bumped = run.surface == "bumped_plate";
  model::Prop prop = bumped ? model::LoadLibraryProp("bumped_plate").value() : PlateOf(truth);
  prop.surface_compliance_m_per_N = 1.0 / truth.surface_stiffness_N_per_m;
  prop.friction = friction < 0 ? run.friction : friction;
  artefact::Stage stage;
  stage.Add(artefact::Placed(
      prop, bumped ? truth.X_WBumped[static_cast<size_t>(stroke)] : truth.X_WPlate));
  return stage;
}

artefact::InteractionTrajectory PlantedTrajectory(const lab::Truth& truth,
                                                  const lab::TruthStroke& stroke) {
  const lab::TruthSeries& reference = truth.FindRun("reference")->session;
  const lab::PlantedImpedance& impedance = *truth.FindImpedance(stroke.task);
  artefact::InteractionTrajectory t;
  t.dof_names = truth.skeleton->dof_names();
  const auto first =
      static_cast<int64_t>(std::ceil((stroke.begin_s - reference.begin_s) * reference.rate_hz));
  const auto last = std::min<int64_t>(
      reference.rows() - 1,
      static_cast<int64_t>((stroke.end_s - reference.begin_s) * reference.rate_hz));
  const Eigen::Index frames = last - first + 1;
  t.q_reference = reference.theta.middleRows(first, frames).transpose();
  t.q_reference_dynamic = t.q_reference;
  t.q = t.q_reference;
  t.compliance_rad_per_Nm = impedance.compliance_rad_per_Nm.replicate(1, frames);
  t.time_constant_s = Eigen::VectorXd::Constant(frames, impedance.time_constant_s.mean());
  for (int64_t i = first; i <= last; ++i)
    t.times.push_back(Timestamp::FromSeconds(reference.time_s(i)));
  return t;
}

StrokeReplay CompareReplay(const lab::Truth& truth, const lab::TruthRun& run,
                           const lab::TruthStroke& stroke, const model::Skeleton& hand,
                           const artefact::Motion& motion) {
  const std::string tip = hand.frames()[static_cast<size_t>(model::OnlyTip(hand))].name;
  const synthesis::MotionScore score =
      report::ScoreStroke(hand, tip, run, stroke.index, motion).value();
  StrokeReplay error;
  error.peak_N = report::PeakOf(run.ContactsOf(stroke.index));
  error.jam = error.peak_N >
              criteria::kJam * report::PeakOf(truth.FindRun("captured")->ContactsOf(stroke.index));
  error.force_late = score.force_late, error.plane_late = score.plane_late;
  error.force_early = score.force_early;
  error.tip_m = score.point_m;
  error.slip_slip = score.slip_slip, error.slip_stick = score.slip_stick;
  error.stick_slip = score.stick_slip, error.stick_stick = score.stick_stick;
  return error;
}

namespace {

template <typename Replay>
RunReplay ReplayStrokes(const lab::Truth& truth, const std::string& name,
                        const model::Skeleton& hand, Replay replay) {
  const lab::TruthRun& run = *truth.FindRun(name);
  const lab::TruthRun& flat = *truth.FindRun("captured");
  RunReplay result;
  for (const lab::TruthStroke& stroke : truth.strokes) {
    if (stroke.task == "free" || run.ContactsOf(stroke.index).empty() ||
        flat.ContactsOf(stroke.index).empty())
      continue;
    const Result<artefact::Motion> motion = replay(run, stroke);
    if (!motion) {
      std::printf("%s stroke %d: %s\n", name.c_str(), stroke.index, motion.error().message.c_str());
      ++result.lcp_failures;
      continue;
    }
    result.lcp_failures += synthesis::UnsolvedSteps(*motion);
    const StrokeReplay e = CompareReplay(truth, run, stroke, hand, *motion);
    if (e.jam) {
      ++result.jams;
    } else {
      result.strokes.push_back(e);
    }
  }
  return result;
}

}  // namespace

RunReplay ReplayPlanted(const lab::Truth& truth, const std::string& name,
                        synthesis::ReplayForm form, double compliance_scale, double friction) {
  return ReplayStrokes(
      truth, name, *truth.skeleton, [&](const lab::TruthRun& run, const lab::TruthStroke& stroke) {
        synthesis::ReplayOptions options;
        options.form = form;
        options.compliance_scale = compliance_scale;
        return synthesis::ReplayInteraction(*truth.skeleton, PlantedTrajectory(truth, stroke),
                                            StageOf(truth, run, stroke.index, friction), options);
      });
}

RunReplay ReplayFitted(const lab::Truth& truth, const std::string& name,
                       const model::Skeleton& hand,
                       const artefact::InteractionTrajectory& trajectory,
                       synthesis::ReplayForm form, double compliance_scale) {
  return ReplayStrokes(truth, name, hand,
                       [&](const lab::TruthRun& run, const lab::TruthStroke& stroke) {
                         synthesis::ReplayOptions options;
                         options.form = form;
                         options.compliance_scale = compliance_scale;
                         options.range = {Timestamp::FromSeconds(stroke.begin_s),
                                          Timestamp::FromSeconds(stroke.end_s)};
                         return synthesis::ReplayInteraction(
                             hand, trajectory, StageOf(truth, run, stroke.index), options);
                       });
}

std::string Describe(const std::string& name, const RunReplay& r) {
  char text[400];
  std::snprintf(
      text, sizeof text,
      "%-34s %3zu strokes, %d jams; force late %.1f / %.1f %% (in the plane %.1f / %.1f), early "
      "%.1f %%; tip %.2f / %.2f mm; slip/stick agree %.1f %%, recall of stick %.2f",
      name.c_str(), r.strokes.size(), r.jams, 100 * r.Median(&StrokeReplay::force_late),
      100 * r.P90(&StrokeReplay::force_late), 100 * r.Median(&StrokeReplay::plane_late),
      100 * r.P90(&StrokeReplay::plane_late), 100 * r.Median(&StrokeReplay::force_early),
      1e3 * r.Median(&StrokeReplay::tip_m), 1e3 * r.P90(&StrokeReplay::tip_m),
      100 * r.SlipAgreement(), r.StickRecall());
  return text;
}

}  // namespace handhold::testing

#include "fitting/compliance/reference_trajectory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "fitting/compliance/deviation.h"
#include "fitting/compliance/joint_pairs.h"
#include "fitting/compliance/palm_mass.h"
#include "fitting/compliance/smooth_pose.h"
#include "fitting/signal/missing.h"
#include "fitting/signal/polynomial.h"

namespace handhold::fitting {
namespace {

using artefact::ComplianceFit;
using artefact::InteractionTrajectory;

const Duration kTaper = Duration::Milliseconds(6);  ///< torque fades in and out over this: noise at
                                                    ///< a touch's ends is no step of theta_r
constexpr int kSubsteps = 4;

class TrajectoryMaker {
 public:
  TrajectoryMaker(const model::Skeleton& skeleton, const artefact::PoseTrack& pose,
                  const artefact::ContactTrack& contact, const ReferenceTrajectoryOptions& options)
      : skeleton_(skeleton),
        pose_(pose),
        contact_(contact),
        options_(options),
        frames_(pose.q.cols()),
        nv_(skeleton.nv()) {}

  Result<ReferenceTrajectoryFit> Make(const std::vector<ComplianceFit>& fits) {
    InteractionTrajectory& t = out_.trajectory;
    t.dof_names = skeleton_.dof_names();
    t.hand = pose_.hand;
    t.skeleton_hash = pose_.skeleton_hash;
    t.times = pose_.times;
    t.q = pose_.q;
    t.fits = fits;
    t.assumed.assign(static_cast<size_t>(nv_), 0);
    HANDHOLD_ASSIGN(touch_of_frame_, artefact::TouchOfFrame(contact_));
    HANDHOLD_TRY(ChooseCompliance(fits));
    SpreadOverFrames();
    Equation1();
    if (dynamic_) Dynamic();
    HANDHOLD_TRY(Smooth(&t.q_reference));
    if (dynamic_) HANDHOLD_TRY(Smooth(&t.q_reference_dynamic));
    Check();
    return std::move(out_);
  }

 private:
  const ComplianceFit* Find(const std::vector<ComplianceFit>& fits, const std::string& task) const {
    for (const ComplianceFit& f : fits) {
      if (f.estimator == options_.estimator && f.task == task) return &f;
    }
    return nullptr;
  }

  /// C, T and inertia scale of every touch; refusals and assumptions noted.
  Status ChooseCompliance(const std::vector<ComplianceFit>& fits) {
    out_.trajectory.made_with = options_;
    HANDHOLD_TRY(CheckAssumed(options_.assume_compliance));
    HANDHOLD_TRY(CheckAssumed(options_.assume_within_bounds));
    dynamic_ = !contact_.touches.empty();
    for (const artefact::Touch& touch : contact_.touches) {
      const ComplianceFit* fit = Find(fits, touch.task);
      if (fit == nullptr) {
        return Error{ErrorCode::kInvalid, "no fit of estimator '" + options_.estimator +
                                              "' for task '" + touch.task + "'"};
      }
      Eigen::VectorXd c(nv_);
      for (int j = 0; j < nv_; ++j) {
        const std::string& dof = skeleton_.dof_names()[static_cast<size_t>(j)];
        const artefact::JointCompliance& joint = fit->joints[static_cast<size_t>(j)];
        c[j] = kMissing;
        if (joint.compliance_rad_per_Nm) {
          c[j] = *joint.compliance_rad_per_Nm * options_.compliance_factor;
        } else {
          AddOnce(dof, &out_.summary.refused);
          if (const auto assumed = Assumed(dof, joint)) {
            c[j] = *assumed * options_.compliance_factor * options_.assumed_factor;
            out_.trajectory.assumed[static_cast<size_t>(j)] = 1;
            AddOnce(dof, &out_.summary.assumed);
          }
        }
      }
      touch_compliance_.push_back(c);
      touch_time_constant_.push_back(fit->time_constant_s.value_or(0.0));
      touch_inertia_.push_back(fit->inertia_scale.value_or(1.0));
      touch_palm_.push_back(fit->palm_inertia_scale.value_or(1.0));
      touch_shift_.push_back(fit->time_shift_s.value_or(0.0));
      dynamic_ = dynamic_ && fit->time_constant_s.has_value();
    }
    return {};
  }

  Status CheckAssumed(const std::map<std::string, double>& values) const {
    for (const auto& [dof, value] : values) {
      if (skeleton_.FindDof(dof) < 0) {
        std::string names;
        for (const std::string& n : skeleton_.dof_names()) names += " " + n;
        return Error{ErrorCode::kInvalid,
                     "assumed compliance: no dof '" + dof + "'; there are:" + names};
      }
      if (!(value >= 0) || !std::isfinite(value)) {
        return Error{ErrorCode::kInvalid, "assumed compliance of '" + dof +
                                              "' must be a finite number of rad/Nm, not negative"};
      }
    }
    return {};
  }

  std::optional<double> Assumed(const std::string& dof,
                                const artefact::JointCompliance& refused) const {
    const auto given = options_.assume_compliance.find(dof);
    if (given != options_.assume_compliance.end()) return given->second;
    const auto general = options_.assume_within_bounds.find(dof);
    if (general == options_.assume_within_bounds.end()) return std::nullopt;
    return HeldToBounds(refused, general->second);
  }

  static void AddOnce(const std::string& name, std::vector<std::string>* list) {
    if (std::find(list->begin(), list->end(), name) == list->end()) list->push_back(name);
  }

  /// The nearest touch in time of every frame.
  void SpreadOverFrames() {
    InteractionTrajectory& t = out_.trajectory;
    t.compliance_rad_per_Nm.setConstant(nv_, frames_, kMissing);
    t.time_constant_s.setZero(frames_);
    nearest_.assign(static_cast<size_t>(frames_), -1);
    if (contact_.touches.empty()) return;
    size_t p = 0;
    for (Eigen::Index k = 0; k < frames_; ++k) {
      const Timestamp at = pose_.times[static_cast<size_t>(k)];
      auto distance = [&](size_t i) {
        const artefact::Touch& touch = contact_.touches[i];
        return at < touch.onset     ? touch.onset - at
               : at > touch.release ? at - touch.release
                                    : Duration();
      };
      while (p + 1 < contact_.touches.size() && distance(p + 1) <= distance(p)) ++p;
      nearest_[static_cast<size_t>(k)] = static_cast<int>(p);
      t.compliance_rad_per_Nm.col(k) = touch_compliance_[p];
      t.time_constant_s[k] = dynamic_ ? touch_time_constant_[p] : 0.0;
    }
  }

  /// tau of a frame, faded at its touch's ends; 0 where C is unknown, so that theta_r stays theta
  /// there.
  Eigen::VectorXd Torque(Eigen::Index k) const {
    const int p = touch_of_frame_[static_cast<size_t>(k)];
    if (p < 0) return Eigen::VectorXd::Zero(nv_);
    const artefact::Touch& touch = contact_.touches[static_cast<size_t>(p)];
    const Timestamp at = pose_.times[static_cast<size_t>(k)];
    const double in = (at - touch.onset).seconds() / kTaper.seconds(),
                 out = (touch.release - at).seconds() / kTaper.seconds();
    return std::clamp(std::min(in, out), 0.0, 1.0) * contact_.tau_Nm.col(k);
  }

  Eigen::VectorXd Known(const Eigen::VectorXd& c) const { return c.array().isNaN().select(0.0, c); }

  void Equation1() {
    InteractionTrajectory& t = out_.trajectory;
    t.q_reference = pose_.q;
    for (Eigen::Index k = 0; k < frames_; ++k) {
      if (touch_of_frame_[static_cast<size_t>(k)] < 0) continue;
      const Eigen::VectorXd bend = Known(t.compliance_rad_per_Nm.col(k)).cwiseProduct(Torque(k));
      t.q_reference.col(k) = skeleton_.Integrate(pose_.q.col(k), -bend);
    }
  }

  void Dynamic() {
    InteractionTrajectory& t = out_.trajectory;
    t.q_reference_dynamic = pose_.q;
    const std::vector<int> bodies = TouchingBodies(contact_);
    PalmMass masses(skeleton_, bodies);
    const int root = FreeRoot(skeleton_, bodies);
    DeviationStepper stepper(nv_);
    Duration since = options_.settle;  // since the last frame in contact
    double step_s = 0.0;
    for (Eigen::Index k = 1; k < frames_; ++k) {
      const double frame_s =
          (pose_.times[static_cast<size_t>(k)] - pose_.times[static_cast<size_t>(k - 1)]).seconds();
      since = touch_of_frame_[static_cast<size_t>(k)] >= 0 ? Duration()
                                                           : since + Duration::FromSeconds(frame_s);
      // A gap of frames, or rest again: the deviation starts anew from 0.
      if (since >= options_.settle || frame_s > 0.05) {
        stepper.Reset();
        step_s = 0.0;
        continue;
      }
      if (step_s == 0.0)
        step_s = frame_s / kSubsteps;  // equal steps within a run; a clock's few ppm do not matter
      const auto p = static_cast<size_t>(nearest_[static_cast<size_t>(k)]);
      const DeviationParameters parameters{Known(touch_compliance_[p]),
                                           Eigen::VectorXd::Constant(nv_, touch_time_constant_[p]),
                                           touch_inertia_[p]};
      Eigen::MatrixXd mass = masses.All(pose_.q.col(k));
      if (touch_palm_[p] != 1.0) mass += (touch_palm_[p] - 1.0) * masses.Palm(pose_.q.col(k));
      const int count = std::max(1, static_cast<int>(std::lround(frame_s / step_s)));
      for (int s = 1; s <= count; ++s) {
        Eigen::VectorXd tau =
            ShiftedTorque(k, static_cast<double>(s) / count, frame_s, touch_shift_[p]);
        stepper.Step(root < 0 ? mass : Floating(root, mass, &tau), tau, step_s, parameters);
      }
      t.q_reference_dynamic.col(k) = skeleton_.Integrate(pose_.q.col(k), -stepper.deviation());
    }
  }

  /// The mass matrix where a free root at coordinate `root` follows the others (LetFloat), its own
  /// rows those of a held body; `tau` loses what the root takes.
  static Eigen::MatrixXd Floating(int root, const Eigen::MatrixXd& mass, Eigen::VectorXd* tau) {
    std::vector<int> order;
    for (int j = 0; j < mass.rows(); ++j) {
      if (j < root || j >= root + 6) order.push_back(j);
    }
    const auto held = static_cast<Eigen::Index>(order.size());
    for (int k = 0; k < 6; ++k) order.push_back(root + k);
    Eigen::MatrixXd reduced = mass(order, order), torque = (*tau)(order);
    LetFloat(6, &reduced, &torque);
    order.resize(static_cast<size_t>(held));
    Eigen::MatrixXd all = Eigen::MatrixXd::Identity(mass.rows(), mass.rows());
    all(order, order) = reduced;
    tau->setZero();
    (*tau)(order) = torque.col(0);
    return all;
  }

  /// Markers' noise in theta is no intention, and a replay on another surface would chatter with
  /// it. Where a joint is refused theta_r stays theta.
  Status Smooth(Eigen::MatrixXd* q) const {
    if (options_.cutoff_Hz <= 0 || frames_ < 3) return {};
    std::vector<int64_t> steps;
    for (size_t k = 1; k < pose_.times.size(); ++k)
      steps.push_back((pose_.times[k] - pose_.times[k - 1]).ns());
    std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2),
                     steps.end());
    const double rate_Hz = 1e9 / static_cast<double>(steps[steps.size() / 2]);
    artefact::PoseTrack track;
    track.times = pose_.times;
    track.q = *q;
    HANDHOLD_ASSIGN(const SmoothPoses smooth,
                    SmoothPoseTrack(skeleton_, track, std::min(options_.cutoff_Hz, 0.4 * rate_Hz)));
    for (Eigen::Index k = 0; k < frames_; ++k) {
      Eigen::VectorXd change = skeleton_.Difference(q->col(k), smooth.q.col(k));
      for (int j = 0; j < nv_; ++j) {
        if (std::isnan(out_.trajectory.compliance_rad_per_Nm(j, k))) change[j] = 0.0;
      }
      q->col(k) = skeleton_.Integrate(q->col(k), change);
    }
    return {};
  }

  /// Torque at the instant a share `u` of the way from frame k - 1 to k, the force's fitted
  /// lateness taken out.
  Eigen::VectorXd ShiftedTorque(Eigen::Index k, double u, double frame_s, double shift_s) const {
    const double at = static_cast<double>(k - 1) + u + shift_s / frame_s;
    const auto i =
        std::clamp<Eigen::Index>(static_cast<Eigen::Index>(std::floor(at)), 0, frames_ - 2);
    const double v = std::clamp(at - static_cast<double>(i), 0.0, 1.0);
    return (1 - v) * Torque(i) + v * Torque(i + 1);
  }

  void Check() {
    InteractionTrajectory& t = out_.trajectory;
    const auto touches = static_cast<Eigen::Index>(contact_.touches.size());
    t.extrapolation_rms_rad.setConstant(touches, nv_, kMissing);
    std::vector<double> all;
    for (Eigen::Index p = 0; p < touches; ++p) {
      const artefact::Touch& touch = contact_.touches[static_cast<size_t>(p)];
      const auto begin = Index(touch.onset - options_.extrapolation_from),
                 at_onset = Index(touch.onset);
      const auto end = Index(touch.onset + options_.extrapolation), release = Index(touch.release);
      Jump(at_onset, &out_.summary.onset_jump_rad);
      Jump(release, &out_.summary.release_jump_rad);
      if (at_onset - begin < 5 || end - at_onset < 3) continue;
      const Eigen::VectorXd origin = pose_.q.col(at_onset);
      for (int j = 0; j < nv_; ++j) {
        std::vector<double> time, angle;
        for (auto k = begin; k < at_onset; ++k) {
          time.push_back((pose_.times[static_cast<size_t>(k)] - touch.onset).seconds());
          angle.push_back(skeleton_.Difference(origin, pose_.q.col(k))[j]);
        }
        auto line = FitPolynomial(time, angle, 2, 0.0);
        if (!line) continue;
        double sum = 0;
        for (auto k = at_onset; k < end; ++k) {
          const double at = (pose_.times[static_cast<size_t>(k)] - touch.onset).seconds();
          sum +=
              std::pow(skeleton_.Difference(origin, t.q_reference.col(k))[j] - line->Value(at), 2);
        }
        t.extrapolation_rms_rad(p, j) = std::sqrt(sum / static_cast<double>(end - at_onset));
        all.push_back(t.extrapolation_rms_rad(p, j));
      }
    }
    if (!all.empty()) {
      std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                       all.end());
      out_.summary.extrapolation_median_rad = all[all.size() / 2];
    }
  }

  /// Largest step of theta_r over one frame at `k`, beyond theta's own.
  void Jump(Eigen::Index k, double* largest) const {
    if (k < 1 || k >= frames_) return;
    const Eigen::VectorXd own = skeleton_.Difference(pose_.q.col(k - 1), pose_.q.col(k));
    const Eigen::VectorXd reference = skeleton_.Difference(out_.trajectory.q_reference.col(k - 1),
                                                           out_.trajectory.q_reference.col(k));
    *largest = std::max(*largest, (reference - own).cwiseAbs().maxCoeff());
  }

  Eigen::Index Index(Timestamp t) const {
    return std::lower_bound(pose_.times.begin(), pose_.times.end(), t) - pose_.times.begin();
  }

  const model::Skeleton& skeleton_;
  const artefact::PoseTrack& pose_;
  const artefact::ContactTrack& contact_;
  const ReferenceTrajectoryOptions& options_;
  Eigen::Index frames_;
  int nv_;
  bool dynamic_ = false;
  std::vector<int> touch_of_frame_;  ///< -1: free
  std::vector<Eigen::VectorXd> touch_compliance_;
  std::vector<double> touch_time_constant_, touch_inertia_, touch_palm_, touch_shift_;
  std::vector<int> nearest_;
  ReferenceTrajectoryFit out_;
};

}  // namespace

Result<ReferenceTrajectoryFit> MakeInteractionTrajectory(
    const model::Skeleton& skeleton, const artefact::PoseTrack& pose,
    const artefact::ContactTrack& contact, const std::vector<artefact::ComplianceFit>& fits,
    const ReferenceTrajectoryOptions& options) {
  if (pose.times != contact.times || pose.q.rows() != skeleton.nq() ||
      contact.tau_Nm.rows() != skeleton.nv() || pose.times.size() < 2) {
    return Error{
        ErrorCode::kInvalid,
        "reference trajectory: pose and contact tracks must share their times and skeleton"};
  }
  for (const artefact::ComplianceFit& fit : fits) {
    if (static_cast<int>(fit.joints.size()) != skeleton.nv()) {
      return Error{ErrorCode::kInvalid,
                   "reference trajectory: a compliance fit belongs to another skeleton"};
    }
  }
  return TrajectoryMaker(skeleton, pose, contact, options).Make(fits);
}

double HeldToBounds(const artefact::JointCompliance& refused, double value) {
  return std::max(refused.lower_rad_per_Nm, std::min(value, refused.upper_rad_per_Nm));
}

std::map<std::string, double> Table1Exploring(const model::Skeleton& skeleton) {
  const struct {
    const char* joint;
    double compliance_rad_per_Nm;
  } table[] = {
      {"wrist", 0.3488}, {"mcp", 0.9882}, {"mp", 0.9882}, {"pip", 0.6715}, {"dip", 2.0052}};
  std::map<std::string, double> values;
  for (const std::string& dof : skeleton.dof_names()) {
    const size_t dot = dof.rfind('.');
    if (dot == std::string::npos || dof.substr(dot + 1) != "flex") continue;
    const std::string joint = dof.substr(0, dot);
    const std::string last =
        joint.substr(joint.rfind('.') == std::string::npos ? 0 : joint.rfind('.') + 1);
    for (const auto& row : table) {
      if (last == row.joint) values[dof] = row.compliance_rad_per_Nm;
    }
  }
  return values;
}

}  // namespace handhold::fitting

#include "fitting/compliance/dynamic_estimator.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include <Eigen/Cholesky>

#include "database/model/kinematics.h"
#include "fitting/compliance/joint_pairs.h"
#include "fitting/compliance/model_doubts.h"
#include "fitting/compliance/palm_mass.h"
#include "fitting/compliance/pooled_fit.h"
#include "fitting/compliance/smooth_pose.h"
#include "fitting/signal/missing.h"
#include "fitting/signal/touch.h"

namespace handhold::fitting {
namespace {

const double kLogRigid = std::log(1e-6);
/// An interval of half its value is told what would halve it.
constexpr double kWideInterval = 0.5;

std::string Format(const char* format, double a, double b = 0.0) {
  char text[200];
  std::snprintf(text, sizeof text, format, a, b);
  return text;
}

/// What a normal variable exceeds with this chance, in sd.
double NormalQuantile(double chance) {
  double low = 0.0, high = 40.0;
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(middle / std::sqrt(2.0)) > chance ? low : high) = middle;
  }
  return low;
}

/// What chi-square of `dof` exceeds with this chance (Wilson & Hilferty).
double ChiSquareQuantile(int dof, double chance) {
  const double s = 2.0 / (9.0 * dof);
  return dof * std::pow(1.0 - s + NormalQuantile(chance) * std::sqrt(s), 3);
}

/// By name.
using SensorSignals = std::map<std::string, ForceSignal>;

/// Turns touches into events of plain numbers.
class EventMaker {
 public:
  EventMaker(const model::Skeleton& skeleton, const artefact::PoseTrack& pose,
             const artefact::ContactTrack& contact, const SensorSignals& forces,
             const SmoothPoses& smooth, const DynamicEstimatorOptions& options,
             std::vector<int> dofs)
      : skeleton_(skeleton),
        pose_(pose),
        contact_(contact),
        forces_(forces),
        smooth_(smooth),
        options_(options),
        dofs_(std::move(dofs)),
        kinematics_(skeleton),
        mass_(skeleton, TouchingBodies(contact)),
        coordinates_(dofs_) {
    const int root = FreeRoot(skeleton, TouchingBodies(contact));
    for (int k = 0; root >= 0 && k < 6; ++k) coordinates_.push_back(root + k);
  }

  /// Fails with kUnidentifiable and the reason when the event cannot be used.
  Result<ComplianceEvent> Make(int p) {
    const artefact::Touch& touch = contact_.touches[static_cast<size_t>(p)];
    const auto first = Index(touch.onset - options_.before),
               last = Index(touch.onset + options_.after);
    ComplianceEvent event;
    event.touch = p;
    for (size_t other = 0; other < contact_.touches.size(); ++other) {
      const Timestamp release = contact_.touches[other].release;
      if (static_cast<int>(other) != p && release > touch.onset - options_.before &&
          release <= touch.onset) {
        return Refused("another contact ends within the window before the onset");
      }
    }
    std::vector<Eigen::Index> frames;
    for (auto k = first; k < last; ++k) {
      if (pose_.information.count(static_cast<int>(k)) > 0) frames.push_back(k);
    }
    const double expected = (options_.before + options_.after).seconds() * FrameRate();
    const auto at_onset = Index(touch.onset);
    if (static_cast<double>(frames.size()) < 0.8 * expected || at_onset >= pose_.q.cols()) {
      return Refused(
          Format("only %.0f of %.0f frames with a whole information matrix around the onset",
                 static_cast<double>(frames.size()), expected));
    }
    FillAngles(touch.onset, frames, at_onset, &event);
    HANDHOLD_TRY(FillTorque(touch, &event));
    const Eigen::VectorXd q = smooth_.q.col(at_onset);
    event.floating = static_cast<int>(coordinates_.size() - dofs_.size());
    event.mass = mass_.All(q)(coordinates_, coordinates_);
    if (mass_.apart()) event.palm_mass = mass_.Palm(q)(coordinates_, coordinates_);
    return event;
  }

 private:
  static Error Refused(std::string why) { return {ErrorCode::kUnidentifiable, std::move(why)}; }

  Eigen::Index Index(Timestamp t) const {
    return std::lower_bound(pose_.times.begin(), pose_.times.end(), t) - pose_.times.begin();
  }

  double FrameRate() const {
    std::vector<int64_t> steps;
    for (size_t k = 1; k < pose_.times.size(); ++k)
      steps.push_back((pose_.times[k] - pose_.times[k - 1]).ns());
    std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2),
                     steps.end());
    return 1e9 / static_cast<double>(steps[steps.size() / 2]);
  }

  void FillAngles(Timestamp onset, const std::vector<Eigen::Index>& frames, Eigen::Index at_onset,
                  ComplianceEvent* event) {
    const auto count = static_cast<Eigen::Index>(frames.size());
    event->frame_s.resize(count);
    event->theta_rad.resize(static_cast<Eigen::Index>(dofs_.size()), count);
    std::vector<int> rest;
    for (int j = 0; j < skeleton_.nv(); ++j) {
      if (std::find(dofs_.begin(), dofs_.end(), j) == dofs_.end()) rest.push_back(j);
    }
    for (Eigen::Index i = 0; i < count; ++i) {
      const Eigen::Index k = frames[static_cast<size_t>(i)];
      event->frame_s[i] = (pose_.times[static_cast<size_t>(k)] - onset).seconds();
      event->theta_rad.col(i) = skeleton_.Difference(pose_.q.col(at_onset), pose_.q.col(k))(dofs_);
      const Eigen::MatrixXd& w = pose_.information.at(static_cast<int>(k));
      Eigen::MatrixXd own = w(dofs_, dofs_);
      if (!rest.empty()) {  // what the other coordinates leave open is not known of these
        Eigen::MatrixXd other = w(rest, rest);
        other.diagonal().array() += 1e-9 * (1.0 + other.diagonal().maxCoeff());
        own -= w(dofs_, rest) * other.ldlt().solve(Eigen::MatrixXd(w(rest, dofs_)));
      }
      event->information.push_back(own);
    }
  }

  Status FillTorque(const artefact::Touch& touch, ComplianceEvent* event) {
    event->tau_step_s = options_.step_s;
    event->tau_begin_s = -options_.force_before.seconds();
    const double end = options_.after.seconds() + options_.time_shift_search_s + 0.012;
    const int steps = static_cast<int>(std::ceil((end - event->tau_begin_s) / options_.step_s)) + 1;
    std::vector<Timestamp> query;
    for (int k = 0; k < steps; ++k)
      query.push_back(touch.onset +
                      Duration::FromSeconds(event->tau_begin_s + k * options_.step_s));
    HANDHOLD_ASSIGN(const WrenchWindow wrench,
                    forces_.at(touch.sensor).ReadAt(query, options_.cutoff_Hz));
    event->tau_Nm.setZero(static_cast<Eigen::Index>(coordinates_.size()), steps);
    int missing = 0;
    Eigen::Index held = -1;
    Eigen::Matrix<double, 6, Eigen::Dynamic> before, after;
    for (int k = 0; k < steps; ++k) {
      if (!wrench.f_onHand_W.col(k).allFinite()) {
        ++missing;
        continue;
      }
      const Eigen::Index next =
          std::clamp<Eigen::Index>(Index(query[static_cast<size_t>(k)]), 1, pose_.q.cols() - 1);
      if (next != held) {
        before = Twists(next - 1, touch.a.body);
        after = Twists(next, touch.a.body);
        held = next;
      }
      const double span =
          (pose_.times[static_cast<size_t>(next)] - pose_.times[static_cast<size_t>(next - 1)])
              .seconds();
      const double u = std::clamp(
          (query[static_cast<size_t>(k)] - pose_.times[static_cast<size_t>(next - 1)]).seconds() /
              span,
          0.0, 1.0);
      Eigen::Matrix<double, 6, 1> w;
      w << wrench.m_onHand_W.col(k), wrench.f_onHand_W.col(k);
      event->tau_Nm.col(k) = ((1 - u) * before + u * after).transpose() * w;
    }
    if (missing > steps / 50) return Refused("force samples are missing after the onset");
    return {};
  }

  /// World twists that an event's coordinates give `body` at a frame: J of eq. 4.
  Eigen::Matrix<double, 6, Eigen::Dynamic> Twists(Eigen::Index frame, int body) {
    model::ComputeJacobian(skeleton_, smooth_.q.col(frame), &kinematics_);
    Eigen::Matrix<double, 6, Eigen::Dynamic> twists = kinematics_.J_W(Eigen::all, coordinates_);
    for (size_t i = 0; i < coordinates_.size(); ++i) {
      if (!skeleton_.DofMovesBody(coordinates_[i], body))
        twists.col(static_cast<Eigen::Index>(i)).setZero();
    }
    return twists;
  }

  const model::Skeleton& skeleton_;
  const artefact::PoseTrack& pose_;
  const artefact::ContactTrack& contact_;
  const SensorSignals& forces_;
  const SmoothPoses& smooth_;
  const DynamicEstimatorOptions& options_;
  std::vector<int> dofs_;
  model::KinematicsData kinematics_;
  PalmMass mass_;
  std::vector<int> coordinates_;  ///< dofs_, then a free root's
};

/// Fits one task's events and applies the refusal rule.
class TaskFitter {
 public:
  TaskFitter(const model::Skeleton& skeleton, const DynamicEstimatorOptions& options,
             const PooledOptions& pooled, std::vector<int> dofs, int root, const Findings& found)
      : skeleton_(skeleton),
        options_(options),
        pooled_(pooled),
        dofs_(std::move(dofs)),
        pairs_(NeighbourPairs(skeleton, dofs_)),
        from_tip_(PlacesFromTip(skeleton, dofs_)),
        root_(root),
        found_(found) {}

  void Fit(std::vector<ComplianceEvent> events, artefact::ComplianceFit* fit,
           artefact::DynamicSummary* summary) {
    const size_t given = events.size();
    mass_apart_ = Joints() + events.front().floating > 1 && events.front().palm_mass.size() > 0;
    std::optional<PooledFit> pool;
    PooledResult best;
    for (int round = 0; round < 4; ++round) {
      pool.emplace(events, pooled_);
      best =
          pool->Solve(round == 0 ? pool->FindStart(options_.time_shift_search_s) : best.parameters);
      if (!DropBadEvents(best, &events, fit) || events.empty()) break;
    }
    summary->used += static_cast<int>(events.size());
    fit->events_used = static_cast<int>(events.size());
    if (events.empty()) {
      RefuseAll("no event is explained by the model (chi-square per degree of freedom above " +
                    Format("%.1f", options_.refusal.max_event_chi2_per_dof) + " in all " +
                    std::to_string(given) + ")",
                fit);
      return;
    }
    Describe(best, fit);
    PooledParameters own_start = best.parameters;
    own_start.log_time_constant =
        Eigen::VectorXd::Constant(Joints(), best.parameters.log_time_constant[0]);
    const PooledResult own = pool->Solve(own_start);
    found_.shift_s = best.parameters.shift_s;
    found_.chi2_per_dof = best.chi2_per_dof;
    doubt_ = SharedDoubt(options_.doubts, found_);
    couplings_ = TestCouplings(*pool, best, pairs_);
    rises_.clear();
    for (int i = 0; i < Joints(); ++i) rises_.push_back(Rise(*pool, best, i, kLogRigid));
    for (int i = 0; i < Joints(); ++i)
      fit->joints[static_cast<size_t>(dofs_[static_cast<size_t>(i)])] = Judge(*pool, best, own, i);
    Describe(couplings_, summary);
    Eigen::VectorXd own_log(Joints()), own_sd(Joints());
    for (int i = 0; i < Joints(); ++i)
      own_log[i] = own.parameters.log_compliance[i], own_sd[i] = own.sd_log(i);
    summary->log_compliance_own_T.push_back(own_log);
    summary->sd_own_T.push_back(own_sd);
    if (!best.converged) summary->notes.push_back(fit->task + ": the pooled fit did not converge");
    if (best.chi2_per_dof > options_.refusal.max_fit_chi2_per_dof) {
      RefuseAll(Format("the model does not explain the events: chi-square per degree of freedom "
                       "%.2f above %.2f (reflex, segment lengths, clock?)",
                       best.chi2_per_dof, options_.refusal.max_fit_chi2_per_dof),
                fit);
    }
    const double gain = (best.chi2 - own.chi2) / std::max(1.0, best.chi2_per_dof);
    summary->chi2_gain_own_T.push_back(gain);
    const double chance =
        ChiSquareQuantile(std::max(1, Joints() - 1), options_.refusal.shared_time_constant_chance);
    if (Joints() > 1 && gain > chance) {
      // A strong coupling bends everything else: then it is the cause, not what it imitates.
      std::string coupled;
      for (int i = 0; i < Joints() && coupled.empty(); ++i) {
        if (const CouplingFinding* pair = CoupledTo(i)) {
          coupled = "coupled: " + NamesOf(pair->pair) +
                    Format(" share %.2f of a torque (gain %.0f); ", pair->share, pair->chi2_gain);
        }
      }
      RefuseAll(coupled +
                    Format("one time constant per joint explains the events better by a "
                           "chi-square of %.0f, more than %.1f: joints differ in damping, the "
                           "fingers' masses are others than the skeleton's, or skin slips",
                           gain, chance) +
                    (root_ >= 0 ? "; or something holds the palm by more than its mass" : ""),
                fit);
    }
    const double palm_sd = std::abs(best.parameters.log_palm) / pooled_.palm_sd_log;
    if (mass_apart_ && !(palm_sd <= options_.refusal.max_palm_sd)) {
      RefuseAll(Format("the palm would be %.2g times as heavy, against the fingers, as the "
                       "skeleton's: its masses are another hand's, or the force's unit is wrong",
                       std::exp(best.parameters.log_palm)),
                fit);
    }
    KeepCovariance(best, fit);
    AdviseOnStrokes(best, *fit, events, summary);
    if (options_.single_events) Singles(*pool, best, fit, events);
  }

  void RefuseAll(const std::string& why, artefact::ComplianceFit* fit) const {
    fit->joints.resize(static_cast<size_t>(skeleton_.nv()));
    for (int j = 0; j < skeleton_.nv(); ++j) {
      artefact::JointCompliance& joint = fit->joints[static_cast<size_t>(j)];
      joint.dof = skeleton_.dof_names()[static_cast<size_t>(j)];
      joint.compliance_rad_per_Nm.reset();
      joint.refusal = why;
      Unbound(&joint);
    }
  }

 private:
  int Joints() const { return static_cast<int>(dofs_.size()); }
  double Pairs() const { return std::max(1.0, static_cast<double>(pairs_.size())); }

  /// Nothing is known of it: the model does not hold, or no torque reaches it.
  static void Unbound(artefact::JointCompliance* joint) {
    joint->lower_rad_per_Nm = 0.0;
    joint->upper_rad_per_Nm = std::numeric_limits<double>::infinity();
  }

  double Floor(int i) const {
    const std::vector<double>& floors = options_.refusal.floor_from_tip;
    if (floors.empty()) return 0.0;
    return floors[std::min(static_cast<size_t>(from_tip_[static_cast<size_t>(i)]),
                           floors.size() - 1)];
  }

  bool DropBadEvents(const PooledResult& result, std::vector<ComplianceEvent>* events,
                     artefact::ComplianceFit* fit) const {
    std::vector<ComplianceEvent> kept;
    for (size_t e = 0; e < events->size(); ++e) {
      const double chi2 = result.event_chi2_per_dof[static_cast<Eigen::Index>(e)];
      if (chi2 <= options_.refusal.max_event_chi2_per_dof) {
        kept.push_back((*events)[e]);
      } else {
        fit->discarded.push_back({(*events)[e].touch, "", kMissing,
                                  Format("chi-square per degree of freedom %.2f above %.2f", chi2,
                                         options_.refusal.max_event_chi2_per_dof)});
      }
    }
    const bool dropped = kept.size() < events->size();
    *events = std::move(kept);
    return dropped;
  }

  void Describe(const PooledResult& best, artefact::ComplianceFit* fit) const {
    fit->joints.resize(static_cast<size_t>(skeleton_.nv()));
    for (int j = 0; j < skeleton_.nv(); ++j) {
      fit->joints[static_cast<size_t>(j)].dof = skeleton_.dof_names()[static_cast<size_t>(j)];
      const bool of_root = root_ >= 0 && j >= root_ && j < root_ + 6;
      fit->joints[static_cast<size_t>(j)].refusal =
          of_root ? "of a free root: nothing that is known holds it"
                  : "does not move a touching body: no torque reaches it";
      Unbound(&fit->joints[static_cast<size_t>(j)]);
    }
    const auto last = best.covariance.rows() - 1;
    fit->time_constant_s = std::exp(best.parameters.log_time_constant[0]);
    fit->inertia_scale = std::exp(best.parameters.log_inertia);
    if (mass_apart_) fit->palm_inertia_scale = std::exp(best.parameters.log_palm);
    fit->time_shift_s = best.parameters.shift_s;
    fit->time_shift_sd_s = 1e-3 * std::sqrt(best.covariance(last, last));
    fit->chi2_per_dof = best.chi2_per_dof;
  }

  /// Scaled rise of chi-square when joint i is held at `log_c` and everything else is fitted again.
  double Rise(const PooledFit& pool, const PooledResult& best, int i, double log_c) const {
    PooledParameters held = best.parameters;
    held.log_compliance[i] = log_c;
    return (pool.Solve(held, i).chi2 - best.chi2) / best.chi2_inflation[i];
  }

  /// Of a joint that is not told from 0: by its profile and, in quadrature, by a `doubt` that no
  /// event shows.
  double UpperBound(const PooledFit& pool, const PooledResult& best, int i, double doubt) const {
    const double from = std::max(best.parameters.log_compliance[i], std::log(1e-4));
    double low = from, high = low + 0.5;
    while (high < std::log(100.0) && Rise(pool, best, i, high) < options_.refusal.rigid_chi2)
      low = high, high += 1.0;
    if (high >= std::log(100.0)) return std::numeric_limits<double>::infinity();
    for (int k = 0; k < 5; ++k) {
      const double middle = 0.5 * (low + high);
      (Rise(pool, best, i, middle) < options_.refusal.rigid_chi2 ? low : high) = middle;
    }
    return std::exp(from + std::hypot(high - from, doubt));
  }

  /// What log C of joint i may be off by that no event shows: the model's floor, what other
  /// findings cast on it, and what a rigid joint leaves to the others.
  double Doubt(int i) const {
    bool beside_rigid = false;
    for (int other = 0; other < Joints(); ++other)
      beside_rigid = beside_rigid || (other != i && rises_[static_cast<size_t>(other)] <
                                                        options_.refusal.rigid_chi2);
    return std::hypot(Floor(i), doubt_, beside_rigid ? options_.doubts.sd_beside_rigid : 0.0);
  }

  /// Of each answered joint that is known to a quarter only and worse: how many more strokes halve
  /// its interval, of those that show it best; or that none do.
  void AdviseOnStrokes(const PooledResult& best, const artefact::ComplianceFit& fit,
                       const std::vector<ComplianceEvent>& events,
                       artefact::DynamicSummary* summary) const {
    for (int i = 0; i < Joints(); ++i) {
      const auto& joint = fit.joints[static_cast<size_t>(dofs_[static_cast<size_t>(i)])];
      if (!joint.compliance_rad_per_Nm || joint.upper_rad_per_Nm - joint.lower_rad_per_Nm <
                                              kWideInterval * *joint.compliance_rad_per_Nm)
        continue;
      // What strokes show grows with the square of the torque about the joint.
      std::vector<double> shown;
      double all = 0;
      for (const ComplianceEvent& event : events) {
        shown.push_back(event.tau_Nm.row(i).squaredNorm());
        all += shown.back();
      }
      const size_t quarter = std::max<size_t>(1, shown.size() / 4);
      std::partial_sort(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(quarter),
                        shown.end(), std::greater<>());
      double best_quarter = 0;
      for (size_t k = 0; k < quarter; ++k) best_quarter += shown[k] / static_cast<double>(quarter);
      const double by_events2 = std::pow(best.sd_log(i), 2),
                   wanted2 = std::pow(0.5 * joint.sd_log, 2) - std::pow(Doubt(i), 2);
      std::string what = NameOf(i) + Format(": known to +-%.0f %%; ", 196 * joint.sd_log);
      if (wanted2 <= 0 || best_quarter <= 0) {
        what += "what is left is the model's own doubt, which more strokes of these do not lessen";
      } else {
        const double more = (by_events2 / wanted2 - 1) * all / best_quarter;
        what += Format(
            "%.0f more strokes like the quarter of these with the most torque about it "
            "(pressing far from that joint, across its bone) halve that",
            std::ceil(std::max(1.0, more)));
      }
      summary->issues.push_back({"dynamic, " + fit.task, Severity::kNote, what});
    }
  }

  /// Of chi-square, from which on a pair is shown to be coupled.
  double ShownGain() const {
    return ChiSquareQuantile(1, options_.refusal.coupling_chance / Pairs());
  }

  /// A pair of joints, one of them i, that events show to be coupled; null: none.
  const CouplingFinding* CoupledTo(int i) const {
    for (const CouplingFinding& f : couplings_) {
      if (f.pair.Has(i) && f.chi2_gain > ShownGain()) return &f;
    }
    return nullptr;
  }

  /// A shown pair next to joint i, where a coupling of i to it, hidden by it, would move i's answer
  /// far; null: none. Two couplings at a time are not fitted.
  const CouplingFinding* BesideCoupled(int i) const {
    for (const CouplingFinding& f : couplings_) {
      if (!f.pair.Has(i)) continue;
      const double moved = kBesideShown * std::abs(f.log_per_share[i]);
      if (moved < options_.refusal.most_beside_coupled) continue;
      for (const int neighbour : {f.pair.first, f.pair.second}) {
        if (neighbour == i) continue;
        if (const CouplingFinding* shown = CoupledTo(neighbour)) return shown;
      }
    }
    return nullptr;
  }

  const std::string& NameOf(int i) const {
    return skeleton_.dof_names()[static_cast<size_t>(dofs_[static_cast<size_t>(i)])];
  }

  std::string NamesOf(const JointPair& pair) const {
    return NameOf(pair.first) + " and " + NameOf(pair.second);
  }

  artefact::JointCompliance Judge(const PooledFit& pool, const PooledResult& best,
                                  const PooledResult& own, int i) const {
    artefact::JointCompliance joint;
    joint.dof = NameOf(i);
    const double log_c = best.parameters.log_compliance[i];
    joint.sd_log = std::hypot(best.sd_log(i), Doubt(i));
    joint.lower_rad_per_Nm = std::exp(log_c - 1.96 * joint.sd_log);
    joint.upper_rad_per_Nm = std::exp(log_c + 1.96 * joint.sd_log);
    const double rise = rises_[static_cast<size_t>(i)];
    const double apart =
        std::abs(own.parameters.log_compliance[i] - log_c) / std::hypot(own.sd_log(i), Floor(i));
    const double may_differ =
        NormalQuantile(0.5 * options_.refusal.shared_time_constant_chance / Joints());
    const CouplingFinding* coupled = CoupledTo(i);
    if (rise < -1.0) {
      Unbound(&joint);
      joint.refusal = Format(
          "the pooled fit had not found its best: a rigid joint explains the events better by a "
          "chi-square of %.1f",
          -rise);
    } else if (rise < options_.refusal.rigid_chi2) {
      joint.lower_rad_per_Nm = 0.0;
      joint.upper_rad_per_Nm = UpperBound(pool, best, i, 1.96 * Doubt(i));
      joint.refusal =
          Format("not told from 0: a rigid joint costs a chi-square of %.1f, less than %.2f",
                 std::max(0.0, rise), options_.refusal.rigid_chi2);
    } else if (coupled != nullptr) {
      joint.refusal = "coupled: " + NamesOf(coupled->pair) +
                      Format(
                          " giving way together (share %+.2f) explain the events better by a "
                          "chi-square of %.0f than each for itself",
                          coupled->share, coupled->chi2_gain);
    } else if (const CouplingFinding* beside = BesideCoupled(i)) {
      joint.refusal = "beside joints that are coupled: " + NamesOf(beside->pair) +
                      " give way together, and what this joint would share with them moves it by "
                      "more than its interval";
    } else if (!(joint.sd_log < options_.refusal.max_sd_log)) {
      joint.refusal = Imprecise(best, joint.sd_log, i);
    } else if (apart > may_differ) {
      joint.refusal = Format(
          "one time constant for all joints and one per joint differ by %.1f sd, more than %.1f: "
          "the shared one is wrong, or the fingers' masses are",
          apart, may_differ);
    } else {
      joint.compliance_rad_per_Nm = std::exp(log_c);
    }
    // Of a refused joint, too: synthesis holds what it assumes to them. Not of one that may be
    // rigid: what moves log C without bound there moves C by nothing.
    if (rise >= options_.refusal.rigid_chi2) {
      const CouplingReach reach =
          ReachOf(couplings_, i, options_.refusal.coupling_considered,
                  NormalQuantile(0.5 * options_.refusal.coupling_chance / Pairs()), ShownGain());
      joint.lower_rad_per_Nm *= std::exp(reach.below);
      joint.upper_rad_per_Nm *= std::exp(reach.above);
    }
    if (apart > may_differ || coupled != nullptr) Unbound(&joint);
    return joint;
  }

  /// What makes joint i too imprecise: its events, or a doubt that OddNuisances and the skeleton's
  /// fit tell of.
  std::string Imprecise(const PooledResult& best, double sd_log, int i) const {
    const bool by_events = !(std::hypot(best.sd_log(i), Floor(i)) < options_.refusal.max_sd_log);
    return Format("sd(log C) is %.3f, not below %.2f: ", sd_log, options_.refusal.max_sd_log) +
           (by_events ? "its torque and motion follow those of other joints in these events"
                      : "the warnings of this fit (chi-square, time shift, sensor or surface, a "
                        "joint not told from 0) leave it open by more");
  }

  void Describe(const std::vector<CouplingFinding>& couplings,
                artefact::DynamicSummary* summary) const {
    const auto count = static_cast<Eigen::Index>(couplings.size());
    Eigen::VectorXd share(count), sd(count), gain(count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const CouplingFinding& f = couplings[static_cast<size_t>(k)];
      share[k] = f.share, sd[k] = f.sd, gain[k] = f.chi2_gain;
    }
    summary->coupling.push_back(share);
    summary->coupling_sd.push_back(sd);
    summary->chi2_gain_coupling.push_back(gain);
  }

  void KeepCovariance(const PooledResult& best, artefact::ComplianceFit* fit) const {
    std::vector<int> accepted;
    for (int i = 0; i < Joints(); ++i) {
      if (fit->joints[static_cast<size_t>(dofs_[static_cast<size_t>(i)])].compliance_rad_per_Nm)
        accepted.push_back(i);
    }
    fit->covariance_log = best.covariance(accepted, accepted);
    for (size_t a = 0; a < accepted.size(); ++a) {
      fit->covariance_log(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(a)) +=
          std::pow(Doubt(accepted[a]), 2);
    }
  }

  void Singles(const PooledFit& pool, const PooledResult& best, artefact::ComplianceFit* fit,
               const std::vector<ComplianceEvent>& events) const {
    for (size_t e = 0; e < events.size(); ++e) {
      const PooledResult single = pool.SolveEvent(static_cast<int>(e), best.parameters);
      artefact::ComplianceFit::Event event;
      event.touch = events[e].touch;
      event.compliance_rad_per_Nm = Eigen::VectorXd::Constant(skeleton_.nv(), kMissing);
      event.chi2_per_dof = single.event_chi2_per_dof[0];
      for (int i = 0; i < Joints(); ++i) {
        // The end joint is never answered from one event: nothing in one posture tells it from its
        // neighbour.
        if (from_tip_[static_cast<size_t>(i)] == 0 ||
            std::hypot(single.sd_log(i), Floor(i)) >= options_.refusal.max_sd_log)
          continue;
        event.compliance_rad_per_Nm[dofs_[static_cast<size_t>(i)]] =
            std::exp(single.parameters.log_compliance[i]);
      }
      fit->events.push_back(std::move(event));
    }
  }

  const model::Skeleton& skeleton_;
  const DynamicEstimatorOptions& options_;
  const PooledOptions& pooled_;
  std::vector<int> dofs_;
  std::vector<JointPair> pairs_;
  std::vector<int> from_tip_;  ///< PlacesFromTip
  int root_;                   ///< FreeRoot
  Findings found_;             ///< before the fit, then of the one under way
  bool mass_apart_ = false;
  double doubt_ = 0.0;  ///< of the fit under way (SharedDoubt), all joints alike
  std::vector<CouplingFinding> couplings_;
  std::vector<double> rises_;  ///< of chi-square, per joint, were it rigid
};

Result<ReferencePrior> PriorFor(const recording::ClipSource& clip, const model::Skeleton& skeleton,
                                const artefact::PoseTrack& pose,
                                const artefact::ContactTrack& contact,
                                const DynamicEstimatorOptions& options) {
  if (!options.reference_prior.empty()) {
    const Eigen::MatrixXd& tie = options.reference_prior.correlation;
    if (options.reference_prior.variance.rows() != skeleton.nv() ||
        options.reference_prior.variance.cols() != options.prior_degree + 1 ||
        (tie.size() > 0 && (tie.rows() != skeleton.nv() || tie.cols() != skeleton.nv()))) {
      return Error{ErrorCode::kInvalid,
                   "the reference prior was learned for another skeleton or degree"};
    }
    return options.reference_prior;
  }
  return ReferencePriorOfTake(clip, skeleton, pose, contact, options.before + options.after,
                              options.prior_degree);
}

}  // namespace

Issues OddNuisances(const artefact::ComplianceFit& fit, const DynamicEstimatorOptions& options) {
  Issues issues;
  if (fit.events_used == 0) return issues;
  const std::string where = "dynamic, " + fit.task;
  char text[400];
  if (fit.chi2_per_dof >= options.doubts.chi2_from && fit.chi2_per_dof < options.doubts.chi2_told) {
    std::snprintf(
        text, sizeof text,
        "chi-square per degree of freedom %.2f, below %.1f: a forearm that gives way behind "
        "the wrist shows so, and makes a light wrist too compliant; rest the forearm on "
        "something firm, or mark it. Intervals are wider for it",
        fit.chi2_per_dof, options.doubts.chi2_told);
    issues.push_back({where, Severity::kNote, text});
  }
  if (fit.chi2_per_dof < options.doubts.chi2_from) {
    std::snprintf(text, sizeof text,
                  "chi-square per degree of freedom %.2f, far below 1: the pose track claims %.1f "
                  "times the noise that the events show. What the skeleton misses counts as noise: "
                  "does a part give way that it holds fixed (a forearm, the base), is it another "
                  "hand's, were the markers smoothed before they were recorded? Intervals are "
                  "wider for it",
                  fit.chi2_per_dof, 1.0 / std::sqrt(std::max(1e-6, fit.chi2_per_dof)));
    issues.push_back({where, Severity::kWarning, text});
  }
  if (fit.inertia_scale) {
    const double off = std::log(*fit.inertia_scale) / options.inertia_sd_log;
    if (!(std::abs(off) <= kTellPriorSd)) {
      std::snprintf(text, sizeof text,
                    "the inertia scale ended at %.3g, %.1f prior standard deviations from 1: the "
                    "skeleton's masses may be another hand's, the force's unit or calibration "
                    "wrong, or markers or force filtered; compliances follow it",
                    *fit.inertia_scale, std::abs(off));
      issues.push_back({where, Severity::kWarning, text});
    }
  }
  if (fit.palm_inertia_scale &&
      !(std::abs(std::log(*fit.palm_inertia_scale)) <= std::log(kTellPalmScale))) {
    std::snprintf(text, sizeof text,
                  "the palm ended %.2f times as heavy, against the fingers, as the skeleton's: its "
                  "masses are another hand's, or a forearm stands behind a free palm",
                  *fit.palm_inertia_scale);
    issues.push_back({where, Severity::kWarning, text});
  }
  if (fit.time_shift_s) {
    const double off = *fit.time_shift_s / options.time_shift_sd_s;
    if (std::abs(off) <= kTellPriorSd &&
        std::abs(*fit.time_shift_s) > options.doubts.shift_from_s) {
      std::snprintf(
          text, sizeof text,
          "the force ended %.1f ms %s than the markers: late clocks, or a causal filter "
          "on one of the two, which takes more than time away; intervals are wider for it",
          1e3 * std::abs(*fit.time_shift_s), *fit.time_shift_s > 0 ? "later" : "earlier");
      issues.push_back({where, Severity::kWarning, text});
    }
    if (!(std::abs(off) <= kTellPriorSd)) {
      std::snprintf(text, sizeof text,
                    "the force ended %.1f ms %s than the markers, %.1f prior standard deviations "
                    "from 0: clocks that were not synchronised, a delay that nobody took out, or a "
                    "filter on one of the two",
                    1e3 * std::abs(*fit.time_shift_s), *fit.time_shift_s > 0 ? "later" : "earlier",
                    std::abs(off));
      issues.push_back({where, Severity::kWarning, text});
    }
  }
  return issues;
}

double TouchAxis_m(const DynamicEstimatorOptions& options,
                   const artefact::ContactSummary& contact) {
  const double own_m = std::hypot(contact.axis_shift_m, contact.axis_left_rms_m);
  const double plain_m = options.doubts.contact_axis_plain_m;
  const double beyond_m = own_m > plain_m ? std::sqrt(own_m * own_m - plain_m * plain_m) : 0.0;
  return std::max(options.touch_axis_rms_m, beyond_m);  // of NaN: no contact has a point
}

Issues OddTouching(double axis_m, const DynamicEstimatorOptions& options) {
  if (!(axis_m > options.doubts.axis_told_m)) return {};
  char text[320];
  std::snprintf(
      text, sizeof text,
      "the touched point stays %.2f mm off the wrench's axis, plain takes leave 0.1 to 0.27: a "
      "sensor "
      "or surface that stands some mm off, crosstalk, or another hand's lengths; intervals are "
      "wider for it",
      1e3 * axis_m);
  return {{"dynamic", Severity::kWarning, text}};
}

Result<DynamicCompliance> FitDynamicCompliance(const recording::ClipSource& clip,
                                               const model::Skeleton& skeleton,
                                               const artefact::PoseTrack& pose,
                                               const artefact::ContactTrack& contact,
                                               const DynamicEstimatorOptions& options) {
  if (pose.times != contact.times || pose.q.rows() != skeleton.nq() || pose.times.size() < 2) {
    return Error{ErrorCode::kInvalid,
                 "compliance: pose and contact tracks must share their times and skeleton"};
  }
  if (!(options.step_s > 0) || options.prior_degree <= options.free_degree ||
      options.free_degree < 0) {
    return Error{ErrorCode::kInvalid,
                 "compliance: step_s must be positive and prior_degree above free_degree"};
  }
  DynamicCompliance out;
  const double axis_m = TouchAxis_m(options, contact.summary);
  out.summary.issues = OddTouching(axis_m, options);
  out.summary.events = static_cast<int>(contact.touches.size());
  if (contact.touches.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "compliance: the take holds no contact; nothing says how the hand gives way"};
  }
  // The sensors that the touches were measured with, never another of the clip.
  SensorSignals forces;
  for (const artefact::Touch& touch : contact.touches) {
    if (forces.count(touch.sensor) > 0) continue;
    HANDHOLD_ASSIGN(ForceSignal force, ForceSignal::Open(clip, touch.sensor));
    forces.emplace(touch.sensor, std::move(force));
  }
  HANDHOLD_ASSIGN(const SmoothPoses smooth,
                  SmoothPoseTrack(skeleton, pose, options.pose_cutoff_Hz));
  HANDHOLD_ASSIGN(const ReferencePrior prior, PriorFor(clip, skeleton, pose, contact, options));
  out.summary.notes.push_back("reference prior from " + prior.source);
  out.summary.notes.push_back(
      Format("joints are taken to give way each for itself: intervals hold for couplings of "
             "neighbours up to %.0f %% that the events do not exclude, values for none",
             100 * options.refusal.coupling_considered));

  const std::vector<int> dofs = FittedDofs(skeleton, TouchingBodies(contact));
  PooledOptions pooled;
  pooled.free_degree = options.free_degree;
  pooled.prior_variance = options.prior_variance_factor * prior.variance(dofs, Eigen::all);
  if (prior.correlation.size() > 0) pooled.prior_correlation = prior.correlation(dofs, dofs);
  pooled.window_begin_s = -options.before.seconds();
  pooled.window_end_s = options.after.seconds();
  pooled.inertia_sd_log = options.inertia_sd_log;
  const int root = FreeRoot(skeleton, TouchingBodies(contact));
  pooled.palm_sd_log = root < 0 ? options.palm_sd_log : options.free_palm_sd_log;
  pooled.shift_sd_s = options.time_shift_sd_s;
  bool cancelled = false;  // remembered: who cancels is asked no more
  if (options.keep_going) {
    pooled.keep_going = [&] {
      cancelled = cancelled || !options.keep_going();
      return !cancelled;
    };
  }
  EventMaker maker(skeleton, pose, contact, forces, smooth, options, dofs);
  std::vector<std::vector<ComplianceEvent>> events;
  for (size_t p = 0; p < contact.touches.size(); ++p) {
    const std::string& task = contact.touches[p].task;
    size_t which = 0;
    while (which < out.fits.size() && out.fits[which].task != task) ++which;
    if (which == out.fits.size()) {
      out.fits.push_back({});
      out.fits.back().estimator = "dynamic";
      out.fits.back().task = task;
      events.emplace_back();
    }
    auto event = maker.Make(static_cast<int>(p));
    if (event) {
      events[which].push_back(*std::move(event));
    } else if (event.error().code == ErrorCode::kUnidentifiable) {
      out.fits[which].discarded.push_back(
          {static_cast<int>(p), "", kMissing, event.error().message});
    } else {
      return event.error();
    }
  }
  TaskFitter fitter(skeleton, options, pooled, dofs, root,
                    {.axis_rms_m = axis_m, .air_strokes = prior.strokes_in_the_air});
  for (size_t f = 0; f < out.fits.size(); ++f) {
    if (events[f].empty()) {
      fitter.RefuseAll("no usable event: " + (out.fits[f].discarded.empty()
                                                  ? std::string()
                                                  : out.fits[f].discarded.front().reason),
                       &out.fits[f]);
    } else {
      fitter.Fit(std::move(events[f]), &out.fits[f], &out.summary);
    }
    if (cancelled) return Error{ErrorCode::kCancelled, "compliance fit cancelled"};
    const Issues odd = OddNuisances(out.fits[f], options);
    out.summary.issues.insert(out.summary.issues.end(), odd.begin(), odd.end());
  }
  return out;
}

}  // namespace handhold::fitting

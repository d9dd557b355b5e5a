/// The interaction trajectory of Kry & Pai 2006: reference angles and joint compliances, with what
/// could not be known.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/about.h"
#include "database/artefact/provenance.h"
#include "database/base/issue.h"
#include "database/base/time.h"

namespace handhold::artefact {

/// One joint's compliance for one task. A refused joint has no value: whoever needs a number
/// assumes one by name.
struct JointCompliance {
  std::string dof;                              ///< "mp.flex"
  std::optional<double> compliance_rad_per_Nm;  ///< empty: refused
  double sd_log = 0.0;  ///< standard deviation of log C (all terms of the refusal rule in
                        ///< quadrature)
  /// 95 % interval; of an answered joint it holds for couplings with its neighbours too, as far as
  /// the estimator considers them, and may be wider than 1.96 sd. It stands when the joint is
  /// refused for being imprecise, too (lower 0: not told from 0); [0, infinity] where the model
  /// does not hold or nothing reaches the joint.
  double lower_rad_per_Nm = 0.0, upper_rad_per_Nm = std::numeric_limits<double>::infinity();
  std::string refusal;  ///< why there is no value, naming the direction that is missing
};

/// One estimator's answer for one task (one kind of contact phase), pooled over its events.
struct ComplianceFit {
  std::string estimator;  ///< "paper" (section 3.3) or "dynamic" (E4)
  std::string task;
  std::vector<JointCompliance> joints;    ///< one per dof, in the skeleton's order
  Eigen::MatrixXd covariance_log;         ///< of log C over the accepted joints, in their order
  std::optional<double> time_constant_s;  ///< T = damping x compliance, shared by the joints (E4)
  std::optional<double> inertia_scale;    ///< fitted factor on the skeleton's masses (E4)
  /// The palm's, on top of that: what only the first joint carries (E4).
  std::optional<double> palm_inertia_scale;
  std::optional<double> time_shift_s;  ///< fitted force-to-marker shift, + = force late (E4)
  double time_shift_sd_s = 0.0;
  double chi2_per_dof = 0.0;
  int events_used = 0;
  struct Discarded {
    int touch = 0;                  ///< index into ContactTrack::touches
    std::string dof;                ///< empty: the whole event
    double value_rad_per_Nm = 0.0;  ///< what was estimated, when it was
    std::string reason;             ///< "negative (Fig. 8)", "torque slope not told from 0", ...
  };
  std::vector<Discarded> discarded;
  struct Event {
    int touch = 0;                          ///< index into ContactTrack::touches
    Eigen::VectorXd compliance_rad_per_Nm;  ///< per dof; NaN: none
    double chi2_per_dof = 0.0;
  };
  std::vector<Event> events;  ///< single-event answers, for display
};

/// What the dynamic estimator says about itself.
struct DynamicSummary {
  int events = 0, used = 0;
  std::vector<std::string> notes;  ///< what was decided on the way: prior's source, shift grid, ...
  /// Per task in order of the fits: log C with one T per joint, its sd, and the chi-square gained.
  std::vector<Eigen::VectorXd> log_compliance_own_T, sd_own_T;
  std::vector<double> chi2_gain_own_T;
  /// Per task, over pairs of neighbours: the elastic coupling that the events would like, its sd,
  /// and the chi-square gained.
  std::vector<Eigen::VectorXd> coupling, coupling_sd, chi2_gain_coupling;
  Issues issues;  ///< odd nuisances of every fit
  std::string Brief() const;
};

/// What the reference trajectory says about itself.
struct ReferenceSummary {
  double onset_jump_rad = 0.0, release_jump_rad = 0.0;  ///< largest step of theta_r between frames
                                                        ///< there, less theta's own
  double extrapolation_median_rad = 0.0;
  std::vector<std::string> refused;  ///< dofs without a value in at least one task
  std::vector<std::string> assumed;
  Issues issues;
  std::string Brief() const;
};

/// What the fit of compliances says about itself.
struct ComplianceSummary {
  std::optional<DynamicSummary> dynamic;  ///< empty: refused, or made by assumption
  std::string dynamic_refusal;            ///< why it answered nothing
  ReferenceSummary reference;
  Issues issues;  ///< of all of them
  std::string Brief() const;
};

/// How the reference of a trajectory is made (fitting/compliance/reference_trajectory.h).
struct ReferenceOptions {
  std::string estimator = "dynamic";  ///< whose compliances are used: "dynamic" or "paper"
  /// Compliances taken for refused joints, by dof name, rad/Nm: marked `assumed` in the result. A
  /// refused joint without one keeps NaN compliance, and its theta_r is theta.
  std::map<std::string, double> assume_compliance;
  /// The same for dofs that are not named there, with some other hand's values
  /// (fitting::Table1Exploring): each is held to what the refused fit leaves open for this hand and
  /// task (fitting::HeldToBounds).
  std::map<std::string, double> assume_within_bounds;
  double compliance_factor = 1.0;  ///< on every compliance: 0.5 and 2 for sensitivity
  double assumed_factor = 1.0;     ///< on assumed ones only
  Duration extrapolation = Duration::Milliseconds(50);  ///< Fig. 3's check: this long after the
                                                        ///< onset ...
  Duration extrapolation_from = Duration::Milliseconds(60);  ///< ... against a quadratic through
                                                             ///< this long before it
  Duration settle = Duration::Milliseconds(150);  ///< the dynamic deviation is followed this long
                                                  ///< after a release
  /// Zero-phase low-pass of both references, once theta and torque have been put together; 0: none.
  /// No hand means more than this; the markers' noise does.
  double cutoff_Hz = 50.0;
};

/// theta_r(t) and C(t): what synthesis plays.
struct InteractionTrajectory {
  Provenance provenance;
  ComplianceSummary summary;
  ReferenceOptions made_with;  ///< of a scripted one: nothing hangs on it
  std::string hand;            ///< "R"; empty: the only one of the take
  std::string skeleton_hash;
  std::vector<std::string> dof_names;
  std::vector<Timestamp> times;
  Eigen::MatrixXd q;                    ///< captured configuration, nq x frames
  Eigen::MatrixXd q_reference;          ///< theta_r by eq. 1, nq x frames: for quasi-static replay
  Eigen::MatrixXd q_reference_dynamic;  ///< theta_r by E4's dynamics: for the damped replay; empty
                                        ///< when E4 gave none
  Eigen::MatrixXd compliance_rad_per_Nm;  ///< nv x frames; NaN where refused and nothing was
                                          ///< assumed
  Eigen::VectorXd time_constant_s;        ///< per frame; 0: quasi-static
  std::vector<char> assumed;        ///< nv: 1 where the compliance was assumed by name, not fitted
  std::vector<ComplianceFit> fits;  ///< everything known, refusals included
  /// Angle between theta_r and the extrapolated pre-contact trajectory, RMS rad over the first 50
  /// ms, per touch and dof (Fig. 3's check).
  Eigen::MatrixXd extrapolation_rms_rad;
};

template <typename A>
void Visit(A& a, JointCompliance& j) {
  a.Field("dof", j.dof);
  a.Field("compliance_rad_per_Nm", j.compliance_rad_per_Nm);
  a.Field("sd_log", j.sd_log);
  a.Field("lower_rad_per_Nm", j.lower_rad_per_Nm);
  a.Field("upper_rad_per_Nm", j.upper_rad_per_Nm);
  a.Field("refusal", j.refusal);
}
template <typename A>
void Visit(A& a, ComplianceFit::Discarded& d) {
  a.Field("touch", d.touch);
  a.Field("dof", d.dof);
  a.Field("value_rad_per_Nm", d.value_rad_per_Nm);
  a.Field("reason", d.reason);
}
template <typename A>
void Visit(A& a, ComplianceFit::Event& e) {
  a.Field("touch", e.touch);
  a.Field("compliance_rad_per_Nm", e.compliance_rad_per_Nm);
  a.Field("chi2_per_dof", e.chi2_per_dof);
}
template <typename A>
void Visit(A& a, ComplianceFit& f) {
  a.Field("estimator", f.estimator);
  a.Field("task", f.task);
  a.Field("joints", f.joints);
  a.Field("covariance_log", f.covariance_log);
  a.Field("time_constant_s", f.time_constant_s);
  a.Field("inertia_scale", f.inertia_scale);
  a.Field("palm_inertia_scale", f.palm_inertia_scale);
  a.Field("time_shift_s", f.time_shift_s);
  a.Field("time_shift_sd_s", f.time_shift_sd_s);
  a.Field("chi2_per_dof", f.chi2_per_dof);
  a.Field("events_used", f.events_used);
  a.Field("discarded", f.discarded);
  a.Field("events", f.events);
}
template <typename A>
void Visit(A& a, DynamicSummary& s) {
  a.Field("events", s.events);
  a.Field("used", s.used);
  a.Field("notes", s.notes);
  a.Field("log_compliance_own_T", s.log_compliance_own_T);
  a.Field("sd_own_T", s.sd_own_T);
  a.Field("chi2_gain_own_T", s.chi2_gain_own_T);
  a.Field("coupling", s.coupling);
  a.Field("coupling_sd", s.coupling_sd);
  a.Field("chi2_gain_coupling", s.chi2_gain_coupling);
  a.Field("issues", s.issues);
}
template <typename A>
void Visit(A& a, ReferenceSummary& s) {
  a.Field("onset_jump_rad", s.onset_jump_rad);
  a.Field("release_jump_rad", s.release_jump_rad);
  a.Field("extrapolation_median_rad", s.extrapolation_median_rad);
  a.Field("refused", s.refused);
  a.Field("assumed", s.assumed);
  a.Field("issues", s.issues);
}
template <typename A>
void Visit(A& a, ComplianceSummary& s) {
  a.Field("dynamic", s.dynamic);
  a.Field("dynamic_refusal", s.dynamic_refusal);
  a.Field("reference", s.reference);
  a.Field("issues", s.issues);
}
template <typename A>
void Visit(A& a, ReferenceOptions& o) {
  a.Field("estimator", o.estimator,
          About{.help = "whose compliances the reference trajectory is made with",
                .value = "NAME",
                .choices = "dynamic paper"});
  a.Field("assume_compliance_rad_per_Nm", o.assume_compliance);
  a.Field("assume_within_bounds_rad_per_Nm", o.assume_within_bounds);
  a.Field("compliance_factor", o.compliance_factor);
  a.Field("assumed_factor", o.assumed_factor);
  a.Field("extrapolation_ns", o.extrapolation);
  a.Field("extrapolation_from_ns", o.extrapolation_from);
  a.Field("settle_ns", o.settle);
  a.Field("cutoff_Hz", o.cutoff_Hz);
}
template <typename A>
void Visit(A& a, InteractionTrajectory& t) {
  a.Skip(t.provenance);
  a.Field("summary", t.summary);
  a.Field("made_with", t.made_with);
  a.Field("hand", t.hand);
  a.Field("skeleton_hash", t.skeleton_hash);
  a.Field("dof_names", t.dof_names);
  a.Field("times", t.times);
  a.Field("q", t.q);
  a.Field("q_reference", t.q_reference);
  a.Field("q_reference_dynamic", t.q_reference_dynamic);
  a.Field("compliance_rad_per_Nm", t.compliance_rad_per_Nm);
  a.Field("time_constant_s", t.time_constant_s);
  a.Field("assumed", t.assumed);
  a.Field("fits", t.fits);
  a.Field("extrapolation_rms_rad", t.extrapolation_rms_rad);
}

}  // namespace handhold::artefact

/// The interaction trajectory of Kry & Pai 2006: reference angles and joint compliances, with what
/// could not be known.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/base/time.h"

namespace handhold::artefact {

/// One joint's compliance for one task. A refused joint has no value: whoever needs a number
/// assumes one by name.
struct JointCompliance {
  std::string dof;                              ///< "mp.flex"
  std::optional<double> compliance_rad_per_Nm;  ///< empty: refused
  double sd_log = 0.0;  ///< standard deviation of log C (all terms of the refusal rule in
                        ///< quadrature)
  /// 95 % interval. It stands when the joint is refused for being imprecise, too (lower 0: not told
  /// from 0); [0, infinity] where the model does not hold or nothing reaches the joint.
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
  std::optional<double> time_shift_s;     ///< fitted force-to-marker shift, + = force late (E4)
  double time_shift_sd_s = 0.0;
  double chi2_per_dof = 0.0;
  int events_used = 0;
  struct Discarded {
    int phase = 0;                  ///< index into ContactTrack::phases
    std::string dof;                ///< empty: the whole event
    double value_rad_per_Nm = 0.0;  ///< what was estimated, when it was
    std::string reason;             ///< "negative (Fig. 8)", "torque slope not told from 0", ...
  };
  std::vector<Discarded> discarded;
  struct Event {
    int phase = 0;
    Eigen::VectorXd compliance_rad_per_Nm;  ///< per dof; NaN: none
    double chi2_per_dof = 0.0;
  };
  std::vector<Event> events;  ///< single-event answers, for display
};

/// theta_r(t) and C(t): what synthesis plays.
struct InteractionTrajectory {
  Provenance provenance;
  /// What the fit said about itself (canonical JSON: brief, issues, figures), kept with its result.
  std::string summary_json = "{}";
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
  /// ms, per phase and dof (Fig. 3's check).
  Eigen::MatrixXd extrapolation_rms_rad;
};

}  // namespace handhold::artefact

/// The mathematics of the dynamic estimator on plain numbers: events in, log compliances with their
/// uncertainty out.
///
/// Knows neither clips nor skeletons, so that it can be tried on any simulated chain. Per event the
/// whitened residual
///   L^T (theta(t) - d(t + shift; C, T, M)) - L^T Phi(t) c,   L L^T = information of theta,
/// with the prior rows c_k / sd_k for the higher Legendre degrees, is freed of c by projection (a
/// fixed QR per event); what is left is nonlinear in the few common parameters only and goes to
/// Levenberg and Marquardt. Tests: tests/fitting/compliance/pooled_fit_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "fitting/compliance/joint_pairs.h"

namespace handhold::fitting {

/// One contact event. Times are relative to its onset, seconds.
struct ComplianceEvent {
  int touch = 0;  ///< index into ContactTrack::touches, handed through
  double tau_begin_s = 0.0, tau_step_s = 5e-4;
  /// (n + floating) x steps; reaches past the last frame by the largest shift.
  Eigen::MatrixXd tau_Nm;
  Eigen::MatrixXd mass;  ///< (n + floating) square, at the contact posture
  /// The part of `mass` that is the palm's: its scale is then fitted beside that of all. Empty in
  /// all events or in none.
  Eigen::MatrixXd palm_mass = {};
  /// The last so many coordinates of tau_Nm, mass and palm_mass are a palm's that nothing holds: it
  /// gives way by its mass alone, and its motion is no part of theta.
  int floating = 0;
  Eigen::VectorXd frame_s;
  Eigen::MatrixXd theta_rad;                 ///< n x frames, any constant offset
  std::vector<Eigen::MatrixXd> information;  ///< n x n per frame, rad^-2
};

/// Common parameters in the order [log C (n), log T (1 or n), log inertia scale, log palm scale
/// (where events tell its mass), coupling (where a pair is coupled), shift in units of 1 ms].
struct PooledParameters {
  Eigen::VectorXd log_compliance;
  Eigen::VectorXd log_time_constant;  ///< 1: shared, n: one per joint
  double log_inertia = 0.0;
  double log_palm = 0.0;  ///< of the palm's part, on top of log_inertia
  JointPair coupled;      ///< two joints that share an elastic coupling (deviation.h), or none
  double coupling = 0.0;  ///< its share
  double shift_s = 0.0;   ///< + = the force's times are late
};

struct PooledOptions {
  int free_degree = 2;
  Eigen::MatrixXd prior_variance;  ///< n x (degree + 1), rad^2; columns up to free_degree are not
                                   ///< used
  Eigen::MatrixXd prior_correlation;  ///< n x n, of the joints within each degree; empty: none
  double window_begin_s = -0.1, window_end_s = 0.07;  ///< what the polynomials span
  double inertia_sd_log = 0.3;
  double palm_sd_log = 0.5;
  double coupling_sd = 0.5;
  double shift_sd_s = 0.002;
  /// Weak priors that keep a cold or undetermined start finite: on log C about `typical`, on log T
  /// about log 15 ms.
  double typical_compliance = 0.6, compliance_sd_log = 5.0, time_constant_sd_log = 1.0;
  int max_iterations = 60;
  /// Asked at every iteration; once false every solve ends where it stands, not converged, and the
  /// caller throws its answer away. Empty: always true.
  std::function<bool()> keep_going = {};
};

struct PooledResult {
  bool converged = false;
  PooledParameters parameters;
  Eigen::MatrixXd covariance;  ///< of all parameters as ordered above; larger of scaled formal and
                               ///< event-clustered, per diagonal
  Eigen::MatrixXd formal;      ///< inverse of the normal matrix, not scaled
  Eigen::VectorXd chi2_inflation;  ///< covariance over formal, per parameter: divides a rise of
                                   ///< chi2 before it is judged
  double chi2 = 0.0;  ///< data, polynomial prior, priors of T, inertia and shift; not the weak one
                      ///< of log C: it must not weigh in a profile
  double chi2_per_dof = 0.0;  ///< of the data alone
  Eigen::VectorXd event_chi2_per_dof;
  double sd_log(int joint) const;
};

class PooledFit {
 public:
  /// Events must agree in n. Events with fewer than free_degree + 3 usable frames are a bug of the
  /// caller (CHECK).
  PooledFit(std::vector<ComplianceEvent> events, const PooledOptions& options);
  ~PooledFit();
  PooledFit(PooledFit&&) noexcept;

  int event_count() const;
  int joint_count() const;
  /// From `start`; `fixed_joint` >= 0 holds that joint's log C at its start (profiles).
  PooledResult Solve(const PooledParameters& start, int fixed_joint = -1) const;
  /// Each event alone (index), priors as given.
  PooledResult SolveEvent(int event, const PooledParameters& start) const;
  /// Start from the precision-weighted single-event fits, over a grid of shifts up to `search_s`.
  PooledParameters FindStart(double search_s) const;
  /// The start of a cold fit: typical values, `time_constants` of them.
  PooledParameters Cold(int time_constants = 1) const;
  /// chi2 as in PooledResult at given parameters.
  double Chi2(const PooledParameters& parameters) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace handhold::fitting

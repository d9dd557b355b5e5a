/// How far contact bends a compliant joint chain away from what it would have done: the model under
/// the dynamic estimator.
///
/// Subtracting the contact-free motion from the motion in contact leaves, to first order about the
/// contact posture,
///
///   M d'' + (T/C) d' + d/C = tau,      d = theta - theta_r,
///
/// M the mass matrix, C = diag(compliance) unless neighbours are coupled, T the time constant
/// (damping x compliance), tau = J^T f. As M -> 0 and T -> 0 this is eq. 1 of Kry & Pai 2006, d = C
/// tau. Integrated implicitly (BDF2, second order): B/I of an end link is about 3e4 per second,
/// which an explicit step does not survive. To stay finite at a rigid joint (C = 0), the state is
/// the elastic torque e = d/C, see deviation.cc. Pinned against closed forms and an explicit
/// integration at 1 us: tests/fitting/compliance/deviation_test.cc.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace handhold::fitting {

/// An elastic coupling of joints i and j: C(i, j) = share sqrt(C(i, i) C(j, j)), so that a positive
/// share lets torque on one joint bend the other the same way.
struct ElasticCoupling {
  int i = 0, j = 1;
  double share = 0.0;
};

struct DeviationParameters {
  Eigen::VectorXd compliance_rad_per_Nm;  ///< n, >= 0
  Eigen::VectorXd time_constant_s;        ///< n, >= 0
  double inertia_scale = 1.0;             ///< on the mass matrix
  /// Empty: joints give way each for itself. C must stay positive definite.
  std::vector<ElasticCoupling> coupling = {};
};

/// C of the parameters, n x n.
Eigen::MatrixXd ComplianceMatrix(const DeviationParameters& parameters);

/// d at the times of the columns of `tau` (n x steps, Nm, evenly `step_s` apart), from rest before
/// the first. `mass` n x n, symmetric.
Eigen::MatrixXd SimulateDeviation(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& tau_Nm,
                                  double step_s, const DeviationParameters& parameters);

/// The same step by step, for a mass matrix that changes on the way (a long contact). Steps must be
/// equally long until Reset.
class DeviationStepper {
 public:
  explicit DeviationStepper(int n);
  void Reset();
  /// Advances by `step_s`; `tau_Nm` and `mass` at the step's end. Returns d there.
  const Eigen::VectorXd& Step(const Eigen::MatrixXd& mass, const Eigen::VectorXd& tau_Nm,
                              double step_s, const DeviationParameters& parameters);
  const Eigen::VectorXd& deviation() const { return d_; }

 private:
  Eigen::VectorXd e_, e_before_, rate_, rate_before_, d_;
};

}  // namespace handhold::fitting

#include "fitting/compliance/deviation.h"

#include <Eigen/LU>

#include "database/base/check.h"

// BDF2 in the elastic torque e = d/C. With E = 4 e_k - e_{k-1}, R = 4 r_k - r_{k-1} and step h,
//   r_{k+1} = C (3 e_{k+1} - E) / (2h)
//   M (3 r_{k+1} - R) / (2h) + T (3 e_{k+1} - E) / (2h) + e_{k+1} = tau_{k+1}
// and so, times 4 h^2,
//   (9 M C + 6 h T + 4 h^2) e_{k+1} = 4 h^2 tau_{k+1} + (3 M C + 2 h T) E + 2 h M R.
// With C a matrix where neighbours are coupled. The matrix is regular for any C >= 0; where C = 0,
// e is the torque behind a first-order lag T and d = C e stays 0.
namespace handhold::fitting {
namespace {

struct StepMatrices {
  Eigen::MatrixXd from_tau, from_e, from_rate;

  StepMatrices(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& compliance, double h,
               const DeviationParameters& p) {
    const Eigen::MatrixXd m = mass * p.inertia_scale;
    const Eigen::MatrixXd mc = m * compliance;
    const Eigen::VectorXd diagonal = 6 * h * p.time_constant_s.array() + 4 * h * h;
    Eigen::MatrixXd a = 9 * mc;
    a.diagonal() += diagonal;
    const Eigen::MatrixXd inverse = a.partialPivLu().inverse();
    from_tau = 4 * h * h * inverse;
    Eigen::MatrixXd e = 3 * mc;
    e.diagonal() += 2 * h * p.time_constant_s;
    from_e = inverse * e;
    from_rate = 2 * h * inverse * m;
  }
};

}  // namespace

Eigen::MatrixXd ComplianceMatrix(const DeviationParameters& parameters) {
  const Eigen::VectorXd root = parameters.compliance_rad_per_Nm.cwiseSqrt();
  Eigen::MatrixXd c = parameters.compliance_rad_per_Nm.asDiagonal();
  for (const ElasticCoupling& k : parameters.coupling)
    c(k.i, k.j) = c(k.j, k.i) = k.share * root[k.i] * root[k.j];
  return c;
}

Eigen::MatrixXd SimulateDeviation(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& tau_Nm,
                                  double step_s, const DeviationParameters& parameters) {
  const Eigen::Index n = tau_Nm.rows();
  CHECK_EQ(mass.rows(), n);
  CHECK_EQ(parameters.compliance_rad_per_Nm.size(), n);
  CHECK_EQ(parameters.time_constant_s.size(), n);
  for (const ElasticCoupling& k : parameters.coupling)
    CHECK(k.i >= 0 && k.j >= 0 && k.i != k.j && k.i < n && k.j < n);
  CHECK_GT(step_s, 0);
  const Eigen::MatrixXd compliance = ComplianceMatrix(parameters);
  const StepMatrices step(mass, compliance, step_s, parameters);
  Eigen::MatrixXd d(n, tau_Nm.cols());
  Eigen::VectorXd e = Eigen::VectorXd::Zero(n), e_before = e, rate = e, rate_before = e, history(n),
                  rates(n), next(n);
  for (Eigen::Index k = 0; k < tau_Nm.cols(); ++k) {
    history = 4 * e - e_before;
    rates = 4 * rate - rate_before;
    next.noalias() = step.from_tau * tau_Nm.col(k);
    next.noalias() += step.from_e * history;
    next.noalias() += step.from_rate * rates;
    rate_before = rate;
    rate.noalias() = compliance * (3 * next - history) / (2 * step_s);
    e_before = e;
    e = next;
    d.col(k).noalias() = compliance * e;
  }
  return d;
}

DeviationStepper::DeviationStepper(int n) { d_.setZero(n), Reset(); }

void DeviationStepper::Reset() {
  e_ = e_before_ = rate_ = rate_before_ = d_ = Eigen::VectorXd::Zero(d_.size());
}

const Eigen::VectorXd& DeviationStepper::Step(const Eigen::MatrixXd& mass,
                                              const Eigen::VectorXd& tau_Nm, double step_s,
                                              const DeviationParameters& parameters) {
  const Eigen::MatrixXd compliance = ComplianceMatrix(parameters);
  const StepMatrices step(mass, compliance, step_s, parameters);
  const Eigen::VectorXd history = 4 * e_ - e_before_;
  const Eigen::VectorXd rates = 4 * rate_ - rate_before_;
  const Eigen::VectorXd next =
      step.from_tau * tau_Nm + step.from_e * history + step.from_rate * rates;
  rate_before_ = rate_;
  rate_ = compliance * (3 * next - history) / (2 * step_s);
  e_before_ = e_;
  e_ = next;
  d_ = compliance * e_;
  return d_;
}

}  // namespace handhold::fitting

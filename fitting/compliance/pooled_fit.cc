#include "fitting/compliance/pooled_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include "database/base/check.h"
#include "fitting/compliance/deviation.h"
#include "fitting/compliance/palm_mass.h"
#include "fitting/signal/polynomial.h"

namespace handhold::fitting {
namespace {

constexpr double kShiftUnit_s = 1e-3;
constexpr double kTypicalTimeConstant_s = 0.015;
constexpr double kMostCoupling = 0.9;  // keeps C positive definite
const double kLowestLogCompliance = std::log(1e-6), kHighestLogCompliance = std::log(1e3);

Eigen::MatrixXd SymmetricRoot(const Eigen::MatrixXd& w) {
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(w);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal() *
         eigen.eigenvectors().transpose();
}

Eigen::MatrixXd InverseRoot(const Eigen::MatrixXd& w) {
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(w);
  return eigen.eigenvectors() *
         eigen.eigenvalues().cwiseMax(1e-6).cwiseSqrt().cwiseInverse().asDiagonal() *
         eigen.eigenvectors().transpose();
}

/// One event with everything that does not depend on the common parameters done once.
struct Prepared {
  ComplianceEvent event;
  std::vector<Eigen::MatrixXd> root;  ///< of the information, per frame
  Eigen::VectorXd whitened_theta;
  Eigen::MatrixXd q;  ///< thin Q of [whitened basis; prior rows]
  Eigen::Index data_rows = 0, rows = 0;
  double dof = 0.0;  ///< of the data: rows less the trace of the hat matrix
};

Prepared Prepare(ComplianceEvent event, const PooledOptions& options) {
  Prepared p;
  const Eigen::Index n = event.theta_rad.rows(), frames = event.frame_s.size();
  const int degree = static_cast<int>(options.prior_variance.cols()) - 1;
  const Eigen::Index terms = degree + 1;
  const Eigen::Index prior_rows = n * (degree - options.free_degree);
  p.data_rows = n * frames;
  p.rows = p.data_rows + prior_rows;
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(p.rows, n * terms);
  p.whitened_theta.setZero(p.rows);
  const Eigen::VectorXd level = event.theta_rad.rowwise().mean();
  for (Eigen::Index k = 0; k < frames; ++k) {
    const double x = 2 * (event.frame_s[k] - options.window_begin_s) /
                         (options.window_end_s - options.window_begin_s) -
                     1;
    const Eigen::VectorXd legendre = LegendreBasis(x, degree);
    p.root.push_back(SymmetricRoot(event.information[static_cast<size_t>(k)]));
    for (Eigen::Index j = 0; j < n; ++j) {
      basis.block(k * n, j * terms, n, terms) = p.root.back().col(j) * legendre.transpose();
    }
    p.whitened_theta.segment(k * n, n) = p.root.back() * (event.theta_rad.col(k) - level);
  }
  Eigen::Index row = p.data_rows;
  // Per degree, rows of R^-1/2 D^-1/2: together the inverse of the coefficients' covariance.
  const Eigen::MatrixXd tie = options.prior_correlation.size() == 0
                                  ? Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n))
                                  : InverseRoot(options.prior_correlation);
  for (int k = options.free_degree + 1; k <= degree; ++k, row += n) {
    for (Eigen::Index j = 0; j < n; ++j) {
      basis.block(row, j * terms + k, n, 1) =
          tie.col(j) / std::sqrt(std::max(options.prior_variance(j, k), 1e-16));
    }
  }
  // Column pivoting orders directions by size; those that frames leave open (a joint unseen) are
  // dropped.
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(basis);
  qr.setThreshold(1e-9);
  p.q = qr.householderQ() * Eigen::MatrixXd::Identity(p.rows, qr.rank());
  p.dof = static_cast<double>(p.data_rows) - p.q.topRows(p.data_rows).squaredNorm();
  p.event = std::move(event);
  return p;
}

/// Eliminates the polynomials' coefficients.
void Project(const Prepared& p, Eigen::VectorXd* r) {
  const Eigen::VectorXd along = p.q.transpose() * *r;
  r->noalias() -= p.q * along;
}

}  // namespace

double PooledResult::sd_log(int joint) const {
  return std::sqrt(std::max(0.0, covariance(joint, joint)));
}

struct PooledFit::Impl {
  PooledOptions options;
  std::vector<Prepared> events;
  Eigen::Index n = 0;

  bool has_palm = false;

  /// Which parameters a solve has: where each lies in the vector.
  struct Shape {
    Eigen::Index n = 0, time_constants = 1, palm = -1, coupling = -1;
    JointPair coupled;
    Eigen::Index inertia() const { return n + time_constants; }
    Eigen::Index shift() const { return size - 1; }
    Eigen::Index size = 0;
  };
  Shape ShapeOf(const PooledParameters& p) const {
    Shape s;
    s.n = n, s.time_constants = p.log_time_constant.size(), s.coupled = p.coupled;
    s.size = s.inertia() + 1;
    if (has_palm) s.palm = s.size++;
    if (p.coupled.first >= 0) s.coupling = s.size++;
    ++s.size;
    return s;
  }

  Eigen::VectorXd Pack(const PooledParameters& p) const {
    const Shape s = ShapeOf(p);
    Eigen::VectorXd x(s.size);
    x.head(n) = p.log_compliance;
    x.segment(n, s.time_constants) = p.log_time_constant;
    x[s.inertia()] = p.log_inertia;
    if (s.palm >= 0) x[s.palm] = p.log_palm;
    if (s.coupling >= 0) x[s.coupling] = p.coupling;
    x[s.shift()] = p.shift_s / kShiftUnit_s;
    return x;
  }
  PooledParameters Unpack(const Eigen::VectorXd& x, const Shape& s) const {
    PooledParameters p;
    p.log_compliance = x.head(n);
    p.log_time_constant = x.segment(n, s.time_constants);
    p.log_inertia = x[s.inertia()];
    if (s.palm >= 0) p.log_palm = x[s.palm];
    p.coupled = s.coupled;
    if (s.coupling >= 0) p.coupling = x[s.coupling];
    p.shift_s = x[s.shift()] * kShiftUnit_s;
    return p;
  }

  /// Projected whitened residual: data rows, then prior rows.
  Eigen::VectorXd Residual(const Prepared& p, const Eigen::VectorXd& x, const Shape& s) const {
    const PooledParameters value = Unpack(x, s);
    DeviationParameters deviation;
    deviation.compliance_rad_per_Nm = value.log_compliance.array().exp();
    deviation.time_constant_s =
        value.log_time_constant.size() == 1
            ? Eigen::VectorXd::Constant(n, std::exp(value.log_time_constant[0]))
            : Eigen::VectorXd(value.log_time_constant.array().exp());
    deviation.inertia_scale = std::exp(value.log_inertia);
    if (s.coupling >= 0) deviation.coupling = {{s.coupled.first, s.coupled.second, value.coupling}};
    Eigen::MatrixXd mass = p.event.mass, tau = p.event.tau_Nm;
    if (s.palm >= 0) mass += std::expm1(value.log_palm) * p.event.palm_mass;
    if (p.event.floating > 0) LetFloat(p.event.floating, &mass, &tau);
    const Eigen::MatrixXd d = SimulateDeviation(mass, tau, p.event.tau_step_s, deviation);
    Eigen::VectorXd r = p.whitened_theta;
    for (Eigen::Index k = 0; k < p.event.frame_s.size(); ++k) {
      const double at =
          (p.event.frame_s[k] + value.shift_s - p.event.tau_begin_s) / p.event.tau_step_s;
      const auto i = static_cast<Eigen::Index>(std::floor(at));
      if (at <= 0) continue;
      const Eigen::Index last = d.cols() - 1;
      const double u = at - static_cast<double>(i);
      r.segment(k * n, n) -= p.root[static_cast<size_t>(k)] *
                             (i >= last ? Eigen::VectorXd(d.col(last))
                                        : Eigen::VectorXd((1 - u) * d.col(i) + u * d.col(i + 1)));
    }
    Project(p, &r);
    return r;
  }

  Eigen::VectorXd PriorMean(const Shape& s) const {
    Eigen::VectorXd m = Eigen::VectorXd::Zero(s.size);
    m.head(n).setConstant(std::log(options.typical_compliance));
    m.segment(n, s.time_constants).setConstant(std::log(kTypicalTimeConstant_s));
    return m;
  }
  Eigen::VectorXd PriorPrecision(const Shape& s, double compliance_sd_log) const {
    Eigen::VectorXd w(s.size);
    w.head(n).setConstant(1 / (compliance_sd_log * compliance_sd_log));
    w.segment(n, s.time_constants)
        .setConstant(1 / (options.time_constant_sd_log * options.time_constant_sd_log));
    w[s.inertia()] = 1 / (options.inertia_sd_log * options.inertia_sd_log);
    if (s.palm >= 0) w[s.palm] = 1 / (options.palm_sd_log * options.palm_sd_log);
    if (s.coupling >= 0) w[s.coupling] = 1 / (options.coupling_sd * options.coupling_sd);
    w[s.shift()] = std::pow(kShiftUnit_s / options.shift_sd_s, 2);
    return w;
  }

  struct Normal {
    Eigen::MatrixXd h;
    Eigen::VectorXd g;
    double chi2 = 0.0;
    std::vector<Eigen::VectorXd> event_gradient;
    std::vector<double> event_chi2;  ///< data rows only
  };

  double Chi2(const std::vector<int>& used, const Eigen::VectorXd& x, const Shape& s,
              double compliance_sd_log) const {
    double chi2 = (x - PriorMean(s)).cwiseAbs2().dot(PriorPrecision(s, compliance_sd_log));
    for (const int e : used) chi2 += Residual(events[static_cast<size_t>(e)], x, s).squaredNorm();
    return chi2;
  }

  Normal Linearise(const std::vector<int>& used, const Eigen::VectorXd& x, const Shape& s,
                   double compliance_sd_log) const {
    const Eigen::Index m = x.size();
    const Eigen::VectorXd w = PriorPrecision(s, compliance_sd_log);
    const Eigen::VectorXd off = x - PriorMean(s);
    Normal normal;
    normal.h = w.asDiagonal();
    normal.g = w.cwiseProduct(off);
    normal.chi2 = off.cwiseAbs2().dot(w);
    for (const int e : used) {
      const Prepared& p = events[static_cast<size_t>(e)];
      const Eigen::VectorXd r = Residual(p, x, s);
      Eigen::MatrixXd jacobian(p.rows, m);
      for (Eigen::Index i = 0; i < m; ++i) {
        const double step = i == m - 1 ? 0.5 : 1e-3;  // the shift by one integration step, so that
                                                      // straight pieces do not show
        Eigen::VectorXd up = x, down = x;
        up[i] += step;
        down[i] -= step;
        jacobian.col(i) = (Residual(p, up, s) - Residual(p, down, s)) / (2 * step);
      }
      normal.h.noalias() += jacobian.transpose() * jacobian;
      normal.event_gradient.push_back(jacobian.transpose() * r);
      normal.g += normal.event_gradient.back();
      normal.chi2 += r.squaredNorm();
      normal.event_chi2.push_back(r.head(p.data_rows).squaredNorm());
    }
    return normal;
  }

  PooledResult Solve(const std::vector<int>& used, const PooledParameters& start, int fixed_joint,
                     double compliance_sd_log, int max_iterations) const {
    const Shape s = ShapeOf(start);
    Eigen::VectorXd x = Pack(start);
    PooledResult result;
    double damping = 1e-3;
    Normal normal = Linearise(used, x, s, compliance_sd_log);
    for (int iteration = 0; iteration < max_iterations && !result.converged; ++iteration) {
      if (options.keep_going && !options.keep_going()) break;
      bool improved = false;
      for (int attempt = 0; attempt < 12 && !improved && !result.converged; ++attempt) {
        Eigen::MatrixXd h = normal.h;
        Eigen::VectorXd g = normal.g;
        h.diagonal() += damping * normal.h.diagonal();
        if (fixed_joint >= 0) {
          h.row(fixed_joint).setZero();
          h.col(fixed_joint).setZero();
          h(fixed_joint, fixed_joint) = 1.0;
          g[fixed_joint] = 0.0;
        }
        Eigen::VectorXd step = -h.ldlt().solve(g);
        step = step.cwiseMax(-1.0).cwiseMin(1.0);  // factors of e at most; 1 ms of shift
        Eigen::VectorXd next = x + step;
        next.head(n) = next.head(n).cwiseMax(kLowestLogCompliance).cwiseMin(kHighestLogCompliance);
        next[s.shift()] = std::clamp(next[s.shift()], -20.0, 20.0);
        if (s.coupling >= 0)
          next[s.coupling] = std::clamp(next[s.coupling], -kMostCoupling, kMostCoupling);
        const double chi2 = Chi2(used, next, s, compliance_sd_log);
        if (chi2 <= normal.chi2 + 1e-9) {
          result.converged = normal.chi2 - chi2 < 1e-4 && step.cwiseAbs().maxCoeff() < 3e-2;
          improved = true;
          x = next;
          damping = std::max(damping * 0.2, 1e-9);
        } else {
          damping *= 6;
          result.converged = step.cwiseAbs().maxCoeff() < 1e-5;
        }
      }
      if (!improved) break;
      normal = Linearise(used, x, s, compliance_sd_log);
    }
    Finish(used, normal, x, s, &result);
    return result;
  }

  void Finish(const std::vector<int>& used, const Normal& normal, const Eigen::VectorXd& x,
              const Shape& s, PooledResult* result) const {
    const Eigen::Index m = x.size();
    result->parameters = Unpack(x, s);
    const Eigen::VectorXd off = (x - PriorMean(s)).head(n) / options.compliance_sd_log;
    result->chi2 = normal.chi2 - off.squaredNorm();
    double chi2 = 0, dof = 0;
    result->event_chi2_per_dof.resize(static_cast<Eigen::Index>(used.size()));
    for (size_t i = 0; i < used.size(); ++i) {
      const double event_dof = std::max(1.0, events[static_cast<size_t>(used[i])].dof);
      result->event_chi2_per_dof[static_cast<Eigen::Index>(i)] = normal.event_chi2[i] / event_dof;
      chi2 += normal.event_chi2[i];
      dof += event_dof;
    }
    result->chi2_per_dof = chi2 / std::max(1.0, dof - static_cast<double>(m));
    result->formal = normal.h.ldlt().solve(Eigen::MatrixXd::Identity(m, m));
    const Eigen::MatrixXd scaled = result->formal * std::max(1.0, result->chi2_per_dof);
    result->covariance = scaled;
    const auto count = static_cast<double>(used.size());
    if (used.size() > 2) {
      Eigen::MatrixXd meat = Eigen::MatrixXd::Zero(m, m);
      for (const Eigen::VectorXd& g : normal.event_gradient) meat += g * g.transpose();
      const Eigen::MatrixXd sandwich =
          result->formal * meat * result->formal * (count / (count - 1));
      // Keep the correlations of the formal one; widen where events scatter more than it says.
      const Eigen::VectorXd widen =
          (sandwich.diagonal().array() / scaled.diagonal().array()).max(1.0).sqrt();
      result->covariance = widen.asDiagonal() * scaled * widen.asDiagonal();
    }
    result->chi2_inflation =
        result->covariance.diagonal().array() / result->formal.diagonal().array();
  }
};

PooledFit::PooledFit(std::vector<ComplianceEvent> events, const PooledOptions& options)
    : impl_(std::make_unique<Impl>()) {
  CHECK(!events.empty());
  impl_->options = options;
  impl_->n = events.front().theta_rad.rows();
  CHECK_EQ(options.prior_variance.rows(), impl_->n);
  CHECK_GE(options.prior_variance.cols(), options.free_degree + 1);
  impl_->has_palm = impl_->n + events.front().floating > 1 && events.front().palm_mass.size() > 0;
  for (ComplianceEvent& e : events) {
    CHECK_EQ(e.theta_rad.rows(), impl_->n);
    CHECK_EQ(e.theta_rad.cols(), e.frame_s.size());
    CHECK_GE(e.frame_s.size(), options.free_degree + 3);
    CHECK_GE(e.floating, 0);
    CHECK_EQ(e.mass.rows(), impl_->n + e.floating);
    CHECK_EQ(e.tau_Nm.rows(), e.mass.rows());
    CHECK(!impl_->has_palm || e.palm_mass.rows() == e.mass.rows());
    CHECK(e.theta_rad.allFinite());
    CHECK(e.tau_Nm.allFinite());
    impl_->events.push_back(Prepare(std::move(e), options));
  }
}
PooledFit::~PooledFit() = default;
PooledFit::PooledFit(PooledFit&&) noexcept = default;

int PooledFit::event_count() const { return static_cast<int>(impl_->events.size()); }
int PooledFit::joint_count() const { return static_cast<int>(impl_->n); }

PooledResult PooledFit::Solve(const PooledParameters& start, int fixed_joint) const {
  std::vector<int> all(impl_->events.size());
  std::iota(all.begin(), all.end(), 0);
  return impl_->Solve(all, start, fixed_joint, impl_->options.compliance_sd_log,
                      impl_->options.max_iterations);
}

PooledResult PooledFit::SolveEvent(int event, const PooledParameters& start) const {
  return impl_->Solve({event}, start, -1, impl_->options.compliance_sd_log,
                      impl_->options.max_iterations);
}

PooledParameters PooledFit::Cold(int time_constants) const {
  PooledParameters p;
  p.log_compliance.setConstant(impl_->n, std::log(impl_->options.typical_compliance));
  p.log_time_constant.setConstant(time_constants, std::log(kTypicalTimeConstant_s));
  return p;
}

PooledParameters PooledFit::FindStart(double search_s) const {
  // Where a single event says little about a joint, a prior of a factor e about the typical value
  // keeps it from running away.
  const double single_sd_log = 1.0;
  const Impl::Shape s = impl_->ShapeOf(Cold());
  const Eigen::Index m = s.size;
  std::vector<int> all(impl_->events.size());
  std::iota(all.begin(), all.end(), 0);
  PooledParameters best = Cold();
  double best_chi2 = std::numeric_limits<double>::infinity();
  const int reach = static_cast<int>(std::floor(search_s / 0.003 + 1e-9));
  for (int k = -reach; k <= reach; ++k) {
    PooledParameters start = Cold();
    start.shift_s = 0.003 * k;
    const PooledResult result = impl_->Solve(all, start, -1, single_sd_log, 4);
    if (result.chi2 < best_chi2) best_chi2 = result.chi2, best = result.parameters;
  }
  Eigen::MatrixXd precision = Eigen::MatrixXd::Zero(m, m);
  Eigen::VectorXd weighted = Eigen::VectorXd::Zero(m);
  for (const int e : all) {
    const PooledResult single = impl_->Solve({e}, best, -1, single_sd_log, 8);
    const Eigen::MatrixXd h = single.formal.inverse() / std::max(1.0, single.chi2_per_dof);
    precision += h;
    weighted += h * impl_->Pack(single.parameters);
  }
  const PooledParameters pooled = impl_->Unpack(precision.ldlt().solve(weighted), s);
  const double loose = impl_->options.compliance_sd_log;
  return impl_->Chi2(all, impl_->Pack(pooled), s, loose) <
                 impl_->Chi2(all, impl_->Pack(best), s, loose)
             ? pooled
             : best;
}

double PooledFit::Chi2(const PooledParameters& parameters) const {
  std::vector<int> all(impl_->events.size());
  std::iota(all.begin(), all.end(), 0);
  const double typical = std::log(impl_->options.typical_compliance);
  const double prior = (parameters.log_compliance.array() - typical).square().sum() /
                       std::pow(impl_->options.compliance_sd_log, 2);
  return impl_->Chi2(all, impl_->Pack(parameters), impl_->ShapeOf(parameters),
                     impl_->options.compliance_sd_log) -
         prior;
}

}  // namespace handhold::fitting

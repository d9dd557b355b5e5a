#include "fitting/skeleton/pose_solver.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "fitting/residual/limit_residual.h"
#include "fitting/residual/marker_residual.h"
#include "fitting/residual/prior_residual.h"
#include "fitting/skeleton/joint_range.h"
#include "fitting/skeleton/tangent_problem.h"
#include "fitting/skeleton/tree_cholesky.h"

namespace handhold::fitting {
namespace {

using model::JointType;

Eigen::VectorXd PriorSd(const model::Skeleton& skeleton, const NarrowRanges& ranges,
                        const PoseSolverOptions& options) {
  Eigen::VectorXd sd = Eigen::VectorXd::Constant(skeleton.nv(), options.prior_sd_rad);
  for (int b = 1; b < skeleton.body_count(); ++b) {
    if (skeleton.body(b).joint.type == JointType::kFree)
      sd.segment<3>(skeleton.v_index(b) + 3).setConstant(options.prior_sd_m);
  }
  for (int i = 0; i < skeleton.nv(); ++i) {
    if (ranges.narrow(i)) sd[i] = 1 / ranges.weight()[i];
  }
  return sd;
}

void NormaliseQuaternions(const model::Skeleton& skeleton, Eigen::VectorXd* q) {
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const JointType type = skeleton.body(b).joint.type;
    const int at = skeleton.q_index(b) + (type == JointType::kFree ? 3 : 0);
    if (type == JointType::kBall || type == JointType::kFree) q->segment<4>(at).normalize();
  }
}

}  // namespace

struct PoseSolver::Impl {
  const model::Skeleton& skeleton;
  PoseSolverOptions options;
  NarrowRanges ranges;
  MarkerResidual markers;
  LimitResidual limits;
  PriorResidual prior;
  TangentProblem problem;
  PoseSolution solution;
  Eigen::MatrixXd H, damped;
  Eigen::VectorXd g, rows, step;
  RowMajorMatrix J;
  TreeCholesky tree;
  Eigen::LLT<Eigen::MatrixXd> llt;

  Impl(const model::Skeleton& s, const PoseSolverOptions& o)
      : skeleton(s),
        options(o),
        ranges(s),
        markers(s, o.marker_sd_m),
        limits(s, o.limit_sd_rad),
        prior(s, PriorSd(s, ranges, o)),
        problem(s, markers, limits, prior, o.max_iterations),
        H(s.nv(), s.nv()),
        damped(s.nv(), s.nv()),
        g(s.nv()),
        rows(s.nv()),
        step(s.nv()),
        J(RowMajorMatrix::Zero(s.nv(), s.nv())),
        tree(s),
        llt(s.nv()) {
    solution.q = s.ZeroConfiguration();
    solution.information = Eigen::MatrixXd::Zero(s.nv(), s.nv());
    solution.determined = Eigen::VectorXi::Zero(s.nv());
    solution.held_by_range = Eigen::VectorXi::Zero(s.nv());
    solution.at_limit = Eigen::VectorXi::Zero(s.nv());
  }

  double SquaredNorm(const Eigen::VectorXd& q) {
    double sum = markers.SquaredNorm(q);
    limits.EvaluateTangent(q, rows, nullptr);
    sum += rows.squaredNorm();
    prior.EvaluateTangent(q, rows, nullptr);
    return sum + rows.squaredNorm();
  }

  /// H (lower triangle) and g of all residuals at q.
  double Normal(const Eigen::VectorXd& q) {
    H.setZero();
    g.setZero();
    double sum = markers.AddNormal(q, &H, &g);
    for (const PoseResidual* residual :
         {static_cast<const PoseResidual*>(&limits), static_cast<const PoseResidual*>(&prior)}) {
      ClearBlocks();
      residual->EvaluateTangent(q, rows, &J);
      AddBlocks();
      sum += rows.squaredNorm();
    }
    return sum;
  }

  void ClearBlocks() {
    for (int b = 1; b < skeleton.body_count(); ++b) {
      const int iv = skeleton.v_index(b), n = skeleton.body(b).joint.nv();
      for (int i = 0; i < n; ++i) J.row(iv + i).segment(iv, n).setZero();
    }
  }

  /// J of limits and pull is block diagonal: joints do not mix.
  void AddBlocks() {
    for (int b = 1; b < skeleton.body_count(); ++b) {
      const int iv = skeleton.v_index(b), n = skeleton.body(b).joint.nv();
      if (n == 1) {
        H(iv, iv) += J(iv, iv) * J(iv, iv);
        g[iv] += J(iv, iv) * rows[iv];
      } else if (n == 3) {
        const geometry::Mat3 block = J.block<3, 3>(iv, iv);
        H.block<3, 3>(iv, iv) += (block.transpose() * block).eval();
        g.segment<3>(iv) += block.transpose() * rows.segment<3>(iv);
      } else if (n > 0) {
        const auto block = J.block(iv, iv, n, n);
        H.block(iv, iv, n, n) += (block.transpose() * block).eval();
        g.segment(iv, n) += block.transpose() * rows.segment(iv, n);
      }
    }
  }

  /// Gauss-Newton; a step that does not lower the cost is taken back and damped.
  void SolveFast(const Eigen::VectorXd& q_start) {
    Eigen::VectorXd q = q_start;
    double damping = 0.0;
    double cost = Normal(q);
    solution.converged = false;
    int iteration = 0;
    for (; iteration < options.max_iterations && !solution.converged; ++iteration) {
      if (!tree.Factor(H, damping)) break;
      tree.Solve(g, &step);
      step = -step;
      const double size = step.cwiseAbs().maxCoeff();
      if (!std::isfinite(size)) break;
      Eigen::VectorXd next = skeleton.Integrate(q, step);
      // Quadratic convergence: after a step this small the next one lies below any tolerance of
      // interest. At the minimum rounding decides between two equal costs: a step below tolerance
      // ends it either way.
      const bool last = damping == 0 && size < 1e-7;
      const double next_cost = last ? SquaredNorm(next) : Normal(next);
      solution.converged = size < options.step_tolerance;
      if (next_cost <= cost * (1 + 1e-12) || solution.converged) {
        solution.converged = solution.converged || last;
        q.swap(next);
        damping = damping < 1e-6 ? 0.0 : damping * 0.1;
        cost = next_cost;
      } else {
        damping = std::max(10 * damping, 1e-4);
        if (damping > 1e12) break;
        if (!last) Normal(q);
      }
    }
    NormaliseQuaternions(skeleton, &q);
    solution.q = q;
    solution.iterations = iteration;
    solution.cost = 0.5 * cost;
  }

  void SolveCeres(const Eigen::VectorXd& q_start) {
    const ceres::Solver::Summary summary = problem.Solve(q_start, &solution.q);
    NormaliseQuaternions(skeleton, &solution.q);
    solution.converged = summary.termination_type == ceres::CONVERGENCE;
    solution.iterations = static_cast<int>(summary.iterations.size());
    solution.cost = summary.final_cost;
  }

  void Solve(const Eigen::Matrix3Xd& p_WM, const Eigen::VectorXd& q_start, PoseMethod method) {
    markers.SetMeasured(p_WM);
    prior.SetCentre(ranges.Middle(skeleton, q_start));
    if (method == PoseMethod::kFast) {
      SolveFast(q_start);
    } else {
      SolveCeres(q_start);
    }
  }

  void Describe() {
    markers.Residuals(solution.q, &solution.residual_m);
    limits.EvaluateTangent(solution.q, rows, nullptr);
    for (Eigen::Index i = 0; i < rows.size(); ++i) solution.at_limit[i] = rows[i] != 0.0;
    Eigen::MatrixXd& information = solution.information;
    information.setZero();
    g.setZero();
    markers.AddNormal(solution.q, &information, &g);
    information.triangularView<Eigen::StrictlyUpper>() = information.transpose();
    damped = information;
    damped.diagonal() += prior.weight().cwiseAbs2();
    llt.compute(damped);
    const Eigen::MatrixXd covariance =
        llt.solve(Eigen::MatrixXd::Identity(damped.rows(), damped.cols()));
    for (Eigen::Index i = 0; i < rows.size(); ++i) {
      solution.determined[i] = covariance(i, i) * prior.weight()[i] * prior.weight()[i] < 0.25;
      solution.held_by_range[i] = solution.determined[i] == 0 && ranges.narrow(static_cast<int>(i));
    }
    if (solution.at_limit.any()) {
      // Covariance + d d^T, d the way to the markers' own pose (Sherman and Morrison).
      const Eigen::VectorXd d = -(covariance * g), Id = information * d;
      information -= Id * Id.transpose() / (1.0 + d.dot(Id));
    }
  }
};

double MarkerRms_m(const PoseSolution& solution) {
  double squares = 0, count = 0;
  for (Eigen::Index m = 0; m < solution.residual_m.cols(); ++m) {
    if (!solution.residual_m.col(m).allFinite()) continue;
    squares += solution.residual_m.col(m).squaredNorm();
    count += 1;
  }
  return count > 0 ? std::sqrt(squares / count) : 0.0;
}

PoseSolver::PoseSolver(const model::Skeleton& skeleton, const PoseSolverOptions& options)
    : impl_(std::make_unique<Impl>(skeleton, options)) {}
PoseSolver::~PoseSolver() = default;
PoseSolver::PoseSolver(PoseSolver&&) noexcept = default;

const PoseSolution& PoseSolver::Solve(const Eigen::Matrix3Xd& p_WM, const Eigen::VectorXd& q_start,
                                      PoseMethod method) {
  impl_->Solve(p_WM, q_start, method);
  impl_->Describe();
  return impl_->solution;
}

const PoseSolution& PoseSolver::SolvePoseOnly(const Eigen::Matrix3Xd& p_WM,
                                              const Eigen::VectorXd& q_start, PoseMethod method) {
  impl_->Solve(p_WM, q_start, method);
  return impl_->solution;
}

}  // namespace handhold::fitting

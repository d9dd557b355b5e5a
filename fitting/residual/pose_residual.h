/// What every residual of a pose shares: derivatives along velocities, lifted to Ceres where Ceres
/// asks for coordinates.
///
/// A pose lives on a manifold: nq coordinates (quaternions have four), nv directions. Residuals
/// here state their Jacobian J_v along the directions (q (+) v of model::Skeleton). For Ceres,
/// which wants it along the coordinates, J_q = J_v * MinusJacobian(q), so that J_q *
/// PlusJacobian(q) = J_v. Pinned by tests/fitting/residual/*_test.cc through
/// tests/support/gradient.h.
#pragma once

#include <Eigen/Core>

#include "database/model/skeleton.h"
#include "fitting/residual/ceres.h"

namespace handhold::fitting {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// d (q (+) v) / dv at v = 0, nq x nv, and its left inverse d ((q + dq) (-) q) / dq, nv x nq.
RowMajorMatrix PlusJacobian(const model::Skeleton& skeleton, const Eigen::VectorXd& q);
RowMajorMatrix MinusJacobian(const model::Skeleton& skeleton, const Eigen::VectorXd& q);

/// The skeleton's coordinates for Ceres. `skeleton` must outlive it.
class SkeletonManifold final : public ceres::Manifold {
 public:
  explicit SkeletonManifold(const model::Skeleton& skeleton) : skeleton_(skeleton) {}
  // Ceres calls these from the thread that solves; none allocates but through the skeleton.
  int AmbientSize() const override { return skeleton_.nq(); }
  int TangentSize() const override { return skeleton_.nv(); }
  bool Plus(const double* x, const double* delta, double* x_plus_delta) const override;
  bool PlusJacobian(const double* x, double* jacobian) const override;
  bool Minus(const double* y, const double* x, double* y_minus_x) const override;
  bool MinusJacobian(const double* x, double* jacobian) const override;

 private:
  const model::Skeleton& skeleton_;
};

/// One parameter block (q), `rows` residuals.
class PoseResidual : public ceres::CostFunction {
 public:
  PoseResidual(const model::Skeleton& skeleton, int rows);
  /// Residuals at q, and, when `J_v` is not null, their rows x nv Jacobian (zeroed before the
  /// call).
  virtual bool EvaluateTangent(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> r,
                               RowMajorMatrix* J_v) const = 0;
  bool Evaluate(double const* const* parameters, double* residuals, double** jacobians) const final;

 protected:
  const model::Skeleton& skeleton() const { return skeleton_; }

 private:
  const model::Skeleton& skeleton_;
  bool euclidean_;  ///< nq = nv: coordinates are the directions
  mutable Eigen::VectorXd q_, r_;
  mutable RowMajorMatrix J_v_;
};

}  // namespace handhold::fitting

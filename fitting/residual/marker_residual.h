/// Distance between where markers are and where the pose puts them.
///
///   r_m = (p_WM(q) - z_m) / sd,       p_WM = X_WB(q) p_BM
///   dr_m/dv_j = (v_j + omega_j x p_WM) / sd   for every dof j that moves the marker's body, else
///   0,
///
/// with (omega_j, v_j) the world twist of dof j (Kry & Pai eq. 4: Gamma(r) J S). Three rows per
/// marker of the skeleton; a marker not measured in this frame (NaN) gives zero rows, so that the
/// shape never changes. Test: tests/fitting/residual/marker_residual_test.cc.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "database/model/kinematics.h"
#include "fitting/residual/pose_residual.h"

namespace handhold::fitting {

class MarkerResidual final : public PoseResidual {
 public:
  MarkerResidual(const model::Skeleton& skeleton, double marker_sd_m);

  /// Measured positions, world, m: one column per skeleton marker.
  void SetMeasured(const Eigen::Matrix3Xd& z_WM);
  bool EvaluateTangent(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> r,
                       RowMajorMatrix* J_v) const override;

  /// Adds J^T J and J^T r to `H` (lower triangle only) and `g`; returns r^T r. The same rows as
  /// EvaluateTangent, by the dofs that move each marker only: the fast path.
  double AddNormal(const Eigen::VectorXd& q, Eigen::MatrixXd* H, Eigen::VectorXd* g) const;
  double SquaredNorm(const Eigen::VectorXd& q) const;
  /// modelled - measured, m; NaN where not measured.
  void Residuals(const Eigen::VectorXd& q, Eigen::Matrix3Xd* r_m) const;

 private:
  double weight_;
  Eigen::Matrix3Xd z_WM_;
  std::vector<std::vector<int>> dofs_;  ///< per marker: that move it
  mutable model::KinematicsData data_;
  mutable Eigen::Matrix3Xd columns_;
};

}  // namespace handhold::fitting

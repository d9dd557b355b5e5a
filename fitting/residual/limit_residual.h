/// Joint limits as one-sided residuals: nothing inside, a slope of 1/sd outside.
///
/// Hinge and universal, per axis:  r = max(0, q - upper) / sd - max(0, lower - q) / sd  (one row
/// per dof; at most one term is not 0). Ball: the rotation is split into swing times twist about x.
/// Row 0 is as above for the twist angle. Row 1 is the swing's way outside its cone:
///   e = sqrt(((a_y - m_y) / h_y)^2 + ((a_z - m_z) / h_z)^2),   r = max(0, e - 1) min(h_y, h_z) /
///   sd,
/// a the swing's rotation vector, m and h the middle and half-width of its limits; row 2 is 0.
/// Infinite limits never act. A free joint has none. A limit bends a pose, it does not cut it: the
/// marker's evidence can be seen against it (PoseTrack::at_limit). Test:
/// tests/fitting/residual/limit_residual_test.cc.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "fitting/residual/pose_residual.h"

namespace handhold::fitting {

class LimitResidual final : public PoseResidual {
 public:
  /// nv rows, row i about velocity i (ball: twist, swing, 0).
  LimitResidual(const model::Skeleton& skeleton, double limit_sd_rad);
  bool EvaluateTangent(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> r,
                       RowMajorMatrix* J_v) const override;

 private:
  double weight_;
};

}  // namespace handhold::fitting

/// A weak pull of a pose towards another: decides what the markers leave open, and nothing else.
///
///   r_i = (q (-) q_0)_i / sd_i,      dr/dv: 1/sd_i for angles; J_r^{-1}(w)/sd for rotation vectors
///   w of balls; R_0^T R / sd for positions.
///
/// Test: tests/fitting/residual/prior_residual_test.cc.
#pragma once

#include <Eigen/Core>

#include "fitting/residual/pose_residual.h"

namespace handhold::fitting {

class PriorResidual final : public PoseResidual {
 public:
  /// `sd`: one per velocity, rad or m.
  PriorResidual(const model::Skeleton& skeleton, const Eigen::VectorXd& sd);
  void SetCentre(const Eigen::VectorXd& q_0) { q_0_ = q_0; }
  const Eigen::VectorXd& weight() const { return weight_; }
  bool EvaluateTangent(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> r,
                       RowMajorMatrix* J_v) const override;

 private:
  Eigen::VectorXd weight_, q_0_;
};

}  // namespace handhold::fitting

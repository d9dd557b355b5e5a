/// The rigid transform that best takes one set of points onto another: marker clusters,
/// calibration, registration.
///
/// Weighted least squares without scale or reflection (Kabsch 1976; Umeyama 1991 for the sign),
/// through a singular value decomposition. Data that leave a rotation open are refused, not
/// answered. Pinned by tests/database/geometry/fit_test.cc.
#pragma once

#include <span>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/transform.h"

namespace handhold::geometry {

struct RigidFitOptions {
  /// Points whose width across their best line (weighted standard deviation, metres) is below this
  /// fraction of their length along it count as collinear: the rotation about the line is then set
  /// by noise alone.
  double min_width_ratio = 1e-6;
};

struct RigidFit {
  RigidTransform X_AB;             ///< p_A ~ X_AB * p_B
  double rms_m = 0;                ///< weighted root mean square of the residual lengths
  double max_m = 0;                ///< largest residual among points of positive weight
  std::vector<double> residual_m;  ///< per point, |p_A - X_AB p_B|, also for points of weight 0
  Vec3 spread_m = Vec3::Zero();    ///< standard deviations of p_B along its principal axes, largest
                                 ///< first: about sigma / (sqrt(n) * spread) rad of rotation error
                                 ///< per axis for noise sigma
};

/// X_AB minimising sum_i w_i |p_A_i - X_AB p_B_i|^2.
///
/// `weights` is empty (all 1) or one value >= 0 per point. kInvalid: sizes differ, a value that is
/// not finite, a negative weight. kUnidentifiable, naming the axis about which rotation is open
/// where there is one: fewer than three points of positive weight, points of either set on one line
/// or at one place, or two rotations that fit equally well.
Result<RigidFit> FitRigid(std::span<const Vec3> p_A, std::span<const Vec3> p_B,
                          std::span<const double> weights = {},
                          const RigidFitOptions& options = {});

}  // namespace handhold::geometry

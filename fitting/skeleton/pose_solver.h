/// One frame's pose from its markers, by either of two solvers on the same residuals.
///
/// kCeres is the reference: ceres::Solve on TangentProblem. kFast is Gauss-Newton with Levenberg's
/// damping on the same residual rows, summed into the normal equations marker by marker and
/// eliminated along the tree (TreeCholesky). Both end at the same minimum: they agree to 1e-6 rad
/// (tests/fitting/skeleton/pose_solver_test.cc); speed: tests/bench/pose_bench.cc.
#pragma once

#include <memory>

#include <Eigen/Core>

#include "database/model/skeleton.h"

namespace handhold::fitting {

enum class PoseMethod { kCeres, kFast };

struct PoseSolverOptions {
  double marker_sd_m = 1e-4;   ///< one axis
  double limit_sd_rad = 0.01;  ///< excess over a joint limit that costs as much as one marker
                               ///< standard deviation
  double prior_sd_rad = 0.5;   ///< pull towards the starting pose, angles; of a coordinate whose
                               ///< range is narrow (joint_range.h) towards its middle instead, with
                               ///< the range's own sd
  double prior_sd_m = 0.2;     ///< and positions of free joints
  int max_iterations = 60;
  double step_tolerance = 1e-10;  ///< ends when the largest step (rad or m) is below this
};

/// What a solve answers. Valid until the next.
struct PoseSolution {
  bool converged = false;
  int iterations = 0;
  double cost = 0.0;  ///< half the sum of squares, all residuals
  Eigen::VectorXd q;
  Eigen::Matrix3Xd residual_m;  ///< modelled - measured, per marker; NaN: not measured
  Eigen::VectorXi at_limit;     ///< per velocity: 1 where a limit residual is active
  /// J^T J / marker_sd^2 of the markers alone, nv x nv (no limits, no ranges, no pull): the
  /// information of the pose. Where a limit is active, less by how far it holds the pose from
  /// where the markers alone have it, in every coordinate that moves.
  Eigen::MatrixXd information;
  /// Per velocity: 1 where the markers determine it: with the pull its variance is below a quarter
  /// of the pull's own.
  Eigen::VectorXi determined;
  /// Per velocity: 1 where they do not, but the range is so narrow that it does (joint_range.h).
  Eigen::VectorXi held_by_range;
};

/// Root mean square of the distances in `residual_m`, over the markers that are measured; 0 of
/// none.
double MarkerRms_m(const PoseSolution& solution);

/// Scratch for one skeleton, one thread. Nothing large is allocated per solve.
class PoseSolver {
 public:
  PoseSolver(const model::Skeleton& skeleton, const PoseSolverOptions& options);
  ~PoseSolver();
  PoseSolver(PoseSolver&&) noexcept;

  /// `p_WM`: one column per skeleton marker, world, m; a column with a NaN is missing. Starts from,
  /// and pulls towards, `q_start`.
  const PoseSolution& Solve(const Eigen::Matrix3Xd& p_WM, const Eigen::VectorXd& q_start,
                            PoseMethod method);
  /// The same for speed: converged, iterations, cost and q alone; all other fields are then stale.
  const PoseSolution& SolvePoseOnly(const Eigen::Matrix3Xd& p_WM, const Eigen::VectorXd& q_start,
                                    PoseMethod method);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

template <typename A>
void Visit(A& a, PoseSolverOptions& o) {
  a.Field("marker_sd_m", o.marker_sd_m);
  a.Field("limit_sd_rad", o.limit_sd_rad);
  a.Field("prior_sd_rad", o.prior_sd_rad);
  a.Field("prior_sd_m", o.prior_sd_m);
  a.Field("max_iterations", o.max_iterations);
  a.Field("step_tolerance", o.step_tolerance);
}

}  // namespace handhold::fitting

/// A pose's residuals as a Ceres problem in the directions of the starting pose, cut along the
/// tree.
///
/// The unknown is x with q = q_start (+) x, so that no manifold is needed: J_x = J_v(q) Jr(x), Jr
/// the right Jacobian of each quaternion's exponential. The parameter blocks are the trunk (joints
/// that several branches share; may be missing) and one per branch, the residual blocks one per
/// branch and one for the trunk: fingers then meet in the normal equations only through the trunk,
/// which is what makes ceres::Solve fast on a whole hand. Kinematics are computed once per point,
/// for all blocks. Pinned by tests/fitting/skeleton/pose_solver_test.cc.
#pragma once

#include <memory>
#include <vector>

#include <Eigen/Core>

#include "database/model/skeleton.h"
#include "fitting/residual/pose_residual.h"

namespace handhold::fitting {

/// Bodies with joints that move, gathered in blocks; each lists its velocities in ascending order.
struct TreeBlocks {
  std::vector<int> trunk;                  ///< velocities
  std::vector<std::vector<int>> branches;  ///< velocities
  /// Per body: -1 the trunk (or what never moves), else the branch that moves it.
  std::vector<int> branch_of_body;
};
TreeBlocks CutAlongTree(const model::Skeleton& skeleton);

class TangentProblem final : public ceres::EvaluationCallback {
 public:
  /// `markers` has 3 rows per marker of the skeleton, `limits` and `prior` a row per velocity. All
  /// must outlive this.
  TangentProblem(const model::Skeleton& skeleton, const PoseResidual& markers,
                 const PoseResidual& limits, const PoseResidual& prior, int max_iterations);
  ~TangentProblem() override;

  /// Minimises from q_start; q is where it ended.
  ceres::Solver::Summary Solve(const Eigen::VectorXd& q_start, Eigen::VectorXd* q);

  void PrepareForEvaluation(bool evaluate_jacobians, bool new_evaluation_point) final;

 private:
  class Part;
  struct Rows {
    const PoseResidual* residual = nullptr;
    Eigen::VectorXd r;
    RowMajorMatrix J;
  };
  void TurnToStart();

  const model::Skeleton& skeleton_;
  TreeBlocks blocks_;
  Rows rows_[3];
  std::vector<Eigen::VectorXd> x_;  ///< the parameter blocks: trunk (if any), then branches
  std::vector<const std::vector<int>*> dofs_;  ///< of each
  std::vector<std::unique_ptr<Part>> parts_;
  std::unique_ptr<ceres::Problem> problem_;
  ceres::Solver::Options options_;
  Eigen::VectorXd q_start_, v_, q_;
};

}  // namespace handhold::fitting

/// Solves H x = b for normal equations of a tree: H couples two velocities only where one lies on
/// the way from the other to the world (or both belong to one joint).
///
/// H = L^T L by elimination from the leaves, which fills nothing in: 3,000 multiplications for
/// hand57 where a dense factor takes 60,000. Method: Featherstone, Rigid Body Dynamics Algorithms,
/// 2008, 6.5 (LTL). Pinned by tests/fitting/skeleton/tree_cholesky_test.cc.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "database/model/skeleton.h"

namespace handhold::fitting {

class TreeCholesky {
 public:
  explicit TreeCholesky(const model::Skeleton& skeleton);

  /// Factors H with its diagonal times (1 + damping); only entries (i, j <= i) of the tree's
  /// pattern are read. False when it is not positive definite (or not finite).
  bool Factor(const Eigen::MatrixXd& H, double damping);
  /// After a Factor that succeeded.
  void Solve(const Eigen::VectorXd& b, Eigen::VectorXd* x) const;

 private:
  std::vector<int> before_;  ///< per velocity: the next towards the world, -1 at the root
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> L_;
};

}  // namespace handhold::fitting

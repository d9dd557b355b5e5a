/// The linear complementarity problem and its solution by Lemke's method with lexicographic ties.
///
///   find z >= 0 with w = M z + q >= 0 and z . w = 0
///
/// Solved on scaled rows and columns: with g the mean of the positive diagonal entries, rows with
/// M_ii > 0 are divided by g and columns with M_ii <= 0 are multiplied by g. This takes the contact
/// problem of Kry & Pai 7.1.3 to entries of order one and keeps its structure (D^T G D / g, -E^T,
/// F), hence its copositivity. Re-entrant; allocates when the workspace grows. Pinned by exhaustive
/// enumeration: tests/synthesis/contact/lcp_test.cc.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "synthesis/contact/grown.h"

namespace handhold::synthesis {

struct LcpOptions {
  int max_pivots = 0;  ///< 0: 50 + 10 n
  /// Ratios closer than this, relative to the larger of them and of the problem's scale, are ties.
  /// Cone rows have q = 0, so ties are the rule; at 1e-14 contact problems end in false
  /// rays.
  double tie_tolerance = 1e-11;
};

enum class LcpOutcome {
  kSolved,
  kRay,  ///< Lemke's secondary ray: for copositive-plus problems, proof that there is no solution
  kPivotLimit,
  kNumerical,  ///< ended in a basis whose residual is beyond 1e-6, or the input is not finite
};
const char* LcpOutcomeName(LcpOutcome outcome);

struct LcpSummary {
  LcpOutcome outcome = LcpOutcome::kNumerical;
  int pivots = 0;
  double residual = 0.0;  ///< LcpResidual of the answer
};

/// max over i of |min(z_i, w_i)| on the scaled problem: 0 exactly at a solution, and then alone.
double LcpResidual(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, const Eigen::VectorXd& z);

/// Reused between calls: once it has grown to the largest problem nothing is allocated. Not
/// thread-safe.
struct LcpWorkspace {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  GrownVector z;  ///< the answer
  Grown<RowMajor> tableau;
  std::vector<int> basic, nonbasic, place;
  GrownVector entering, row_scale, column_scale;
  // Of the last elimination.
  std::vector<int> support;
  Grown<RowMajor> A;
  GrownVector b, candidate;
};

/// Solves the problem as posed; z is sized to q. On any outcome but kSolved z holds the last
/// non-negative part, for inspection only.
LcpSummary SolveLcp(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, const LcpOptions& options,
                    LcpWorkspace* workspace, Eigen::VectorXd* z);
/// The same with the answer in workspace->z.
LcpSummary SolveLcp(const Eigen::Ref<const Eigen::MatrixXd>& M,
                    const Eigen::Ref<const Eigen::VectorXd>& q, const LcpOptions& options,
                    LcpWorkspace* workspace);

template <typename A>
void Visit(A& a, LcpOptions& o) {
  a.Field("max_pivots", o.max_pivots);
  a.Field("tie_tolerance", o.tie_tolerance);
}

}  // namespace handhold::synthesis

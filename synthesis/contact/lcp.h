/// The linear complementarity problem and its solution by Lemke's method with lexicographic ties.
///
///   find z >= 0 with w = M z + q >= 0 and z . w = 0
///
/// Allocates only in LcpWorkspace's growth. Re-entrant. Pinned by exhaustive enumeration,
/// tests/synthesis/contact/lcp_test.cc.
#pragma once

#include <Eigen/Core>

namespace handhold::synthesis {

struct LcpOptions {
  int max_pivots = 0;            ///< 0: 50 + 10 n
  double tie_tolerance = 1e-11;  ///< relative: ratios this close are ties
                                 ///< (compliance-from-contact.md: 1e-14 ends in false rays)
};

enum class LcpOutcome { kSolved, kRay, kPivotLimit, kNumerical };

struct LcpSummary {
  LcpOutcome outcome = LcpOutcome::kNumerical;
  int pivots = 0;
  /// max over i of |min(z_i, w_i)| on the rows scaled to unit mean diagonal: the figure that says
  /// "solved".
  double residual = 0.0;
};

/// Reused between calls, so that a step of a simulation does not allocate. Not thread-safe.
struct LcpWorkspace {
  Eigen::MatrixXd tableau;
  Eigen::VectorXi basis;
};

/// Solves as posed; z is sized to q. On any outcome but kSolved, z holds the last non-negative
/// part, for inspection only.
LcpSummary SolveLcp(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, const LcpOptions& options,
                    LcpWorkspace* workspace, Eigen::VectorXd* z);

}  // namespace handhold::synthesis

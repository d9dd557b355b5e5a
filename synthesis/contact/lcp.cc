#include "synthesis/contact/lcp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/base/check.h"

namespace handhold::synthesis {
namespace {

// Variables: w_i is i, z_i is n + i, the artificial z0 is 2n. The condensed tableau holds, for each
// basic variable, its value (column 0) and minus its rates in the n + 1 non-basic ones: basic =
// T(:,0) - T(:,1..) * nonbasic. Columns of basic variables are unit vectors and are not stored; the
// lexicographic order needs only those of w, stored or unit.
class Lemke {
 public:
  Lemke(int n, const LcpOptions& options, LcpWorkspace* ws) : n_(n), options_(options), ws_(*ws) {}

  LcpOutcome Run(int* pivots) {
    const int limit = options_.max_pivots > 0 ? options_.max_pivots : 50 + 10 * n_;
    // z0 enters: the lexicographically most negative row leaves, which makes every row
    // lexicographically positive.
    int row = MostNegativeRow();
    int entering_column = ColumnOf(2 * n_);
    for (*pivots = 1; *pivots <= limit; ++*pivots) {
      const int leaving = ws_.basic[static_cast<size_t>(row)];
      Pivot(row, entering_column);
      if (leaving == 2 * n_) return LcpOutcome::kSolved;
      const int complement = leaving < n_ ? leaving + n_ : leaving - n_;
      entering_column = ColumnOf(complement);
      row = LeavingRow(entering_column);
      if (row < 0) return LcpOutcome::kRay;
    }
    return LcpOutcome::kPivotLimit;
  }

 private:
  int ColumnOf(int variable) const { return -1 - ws_.place[static_cast<size_t>(variable)]; }

  // Entry of row i in the column of w_j: the lexicographic tail of that row.
  double Tail(int i, int j) const {
    const int place = ws_.place[static_cast<size_t>(j)];
    if (place >= 0) return place == i ? 1.0 : 0.0;
    return ws_.tableau(i, -1 - place);
  }

  int MostNegativeRow() const {
    int best = 0;
    for (int i = 1; i < n_; ++i) {
      // Tails are unit rows at the start: among equal q, the later row is lexicographically
      // smaller.
      if (ws_.tableau(i, 0) <= ws_.tableau(best, 0)) best = i;
    }
    return best;
  }

  int LeavingRow(int column) const {
    const auto d = ws_.tableau.col(column);
    const double smallest_pivot = 1e-12 * std::max(1.0, d.cwiseAbs().maxCoeff());
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < n_; ++i) {
      if (d[i] > smallest_pivot) least = std::min(least, ws_.tableau(i, 0) / d[i]);
    }
    if (!std::isfinite(least)) return -1;
    const double tie = options_.tie_tolerance * std::max(1.0, std::abs(least));
    int best = -1;
    for (int i = 0; i < n_; ++i) {
      if (!(d[i] > smallest_pivot) || ws_.tableau(i, 0) / d[i] > least + tie) continue;
      // z0 leaves as soon as it may: that ends the method with a solution.
      if (ws_.basic[static_cast<size_t>(i)] == 2 * n_) return i;
      if (best < 0 || LexicographicallyLess(i, d[i], best, d[best])) best = i;
    }
    return best;
  }

  bool LexicographicallyLess(int a, double da, int b, double db) const {
    for (int j = 0; j < n_; ++j) {
      const double ta = Tail(a, j) / da, tb = Tail(b, j) / db;
      const double tie = options_.tie_tolerance * std::max({1.0, std::abs(ta), std::abs(tb)});
      if (ta < tb - tie) return true;
      if (ta > tb + tie) return false;
    }
    return a < b;
  }

  // Exchanges the basic variable of `row` with the non-basic one of `column`.
  void Pivot(int row, int column) {
    auto& t = ws_.tableau;
    const double inverse = 1.0 / t(row, column);
    ws_.entering = t.col(column);
    t.col(column).setZero();
    t(row, column) = 1.0;
    t.row(row) *= inverse;
    for (int i = 0; i < n_; ++i) {
      if (i == row || ws_.entering[i] == 0.0) continue;
      t.row(i).noalias() -= ws_.entering[i] * t.row(row);
    }
    const int leaving = ws_.basic[static_cast<size_t>(row)];
    const int entering = ws_.nonbasic[static_cast<size_t>(column)];
    ws_.basic[static_cast<size_t>(row)] = entering;
    ws_.nonbasic[static_cast<size_t>(column)] = leaving;
    ws_.place[static_cast<size_t>(entering)] = row;
    ws_.place[static_cast<size_t>(leaving)] = -1 - column;
  }

  int n_;
  LcpOptions options_;
  LcpWorkspace& ws_;
};

using MatrixIn = Eigen::Ref<const Eigen::MatrixXd>;
using VectorIn = Eigen::Ref<const Eigen::VectorXd>;

template <typename Vector>  // VectorXd or GrownVector, sized to M
void ComputeScale(const MatrixIn& M, Vector* row, Vector* column) {
  const Eigen::Index n = M.rows();
  double sum = 0.0;
  int positive = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (M(i, i) > 0) {
      sum += M(i, i);
      ++positive;
    }
  }
  const double g = positive > 0 ? sum / positive : 1.0;
  for (Eigen::Index i = 0; i < n; ++i) {
    (*row)[i] = M(i, i) > 0 ? 1.0 / g : 1.0;
    (*column)[i] = M(i, i) > 0 ? 1.0 : g;
  }
}

double ScaledResidual(const MatrixIn& M, const VectorIn& q, const VectorIn& z, const VectorIn& row,
                      const VectorIn& column) {
  double worst = 0.0;
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    const double w = row[i] * (M.row(i).dot(z) + q[i]);
    worst = std::max(worst, std::abs(std::min(z[i] / column[i], w)));
  }
  return worst;
}

// b <- A^-1 b by elimination with partial pivoting; A is used up. False: singular.
template <typename Matrix, typename Vector>
bool Eliminate(Matrix* A, Vector* b) {
  const Eigen::Index n = A->rows();
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index pivot = 0;
    A->col(k).tail(n - k).cwiseAbs().maxCoeff(&pivot);
    pivot += k;
    if (!(std::abs((*A)(pivot, k)) > 0.0)) return false;
    if (pivot != k) {
      A->row(k).tail(n - k).swap(A->row(pivot).tail(n - k));
      std::swap((*b)[k], (*b)[pivot]);
    }
    for (Eigen::Index i = k + 1; i < n; ++i) {
      const double share = (*A)(i, k) / (*A)(k, k);
      if (share == 0.0) continue;
      A->row(i).tail(n - k - 1) -= share * A->row(k).tail(n - k - 1);
      (*b)[i] -= share * (*b)[k];
    }
  }
  for (Eigen::Index k = n - 1; k >= 0; --k) {
    (*b)[k] = ((*b)[k] - A->row(k).tail(n - k - 1).dot(b->tail(n - k - 1))) / (*A)(k, k);
  }
  return true;
}

// The answer again from its basis, by elimination with pivoting: removes what the tableau's pivots
// accumulated.
void Refine(const MatrixIn& M, const VectorIn& q, LcpWorkspace* workspace, double residual,
            double* refined_residual) {
  LcpWorkspace& ws = *workspace;
  const int n = static_cast<int>(q.size());
  std::vector<int>& support = ws.support;
  support.clear();
  for (int i = 0; i < n; ++i) {
    if (ws.place[static_cast<size_t>(n + i)] >= 0) support.push_back(i);
  }
  *refined_residual = residual;
  if (support.empty()) return;
  const auto k = static_cast<Eigen::Index>(support.size());
  ws.A.Resize(k, k);
  ws.b.Resize(k);
  for (Eigen::Index i = 0; i < k; ++i) {
    const int si = support[static_cast<size_t>(i)];
    ws.b[i] = -ws.row_scale[si] * q[si];
    for (Eigen::Index j = 0; j < k; ++j) {
      const int sj = support[static_cast<size_t>(j)];
      ws.A(i, j) = ws.row_scale[si] * M(si, sj) * ws.column_scale[sj];
    }
  }
  if (!Eliminate(&ws.A, &ws.b) || !ws.b.allFinite()) return;
  ws.candidate.SetZero(n);
  for (Eigen::Index i = 0; i < k; ++i) {
    const int si = support[static_cast<size_t>(i)];
    ws.candidate[si] = std::max(0.0, ws.b[i] * ws.column_scale[si]);
  }
  const double candidate_residual =
      ScaledResidual(M, q, ws.candidate, ws.row_scale, ws.column_scale);
  if (candidate_residual < residual) {
    ws.z = ws.candidate;
    *refined_residual = candidate_residual;
  }
}

}  // namespace

const char* LcpOutcomeName(LcpOutcome outcome) {
  switch (outcome) {
    case LcpOutcome::kSolved:
      return "solved";
    case LcpOutcome::kRay:
      return "ray";
    case LcpOutcome::kPivotLimit:
      return "pivot limit";
    case LcpOutcome::kNumerical:
      return "numerical";
  }
  return "unknown";
}

double LcpResidual(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, const Eigen::VectorXd& z) {
  Eigen::VectorXd row(q.size()), column(q.size());
  ComputeScale(M, &row, &column);
  return ScaledResidual(M, q, z, row, column);
}

LcpSummary SolveLcp(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, const LcpOptions& options,
                    LcpWorkspace* workspace, Eigen::VectorXd* z) {
  const LcpSummary summary = SolveLcp(MatrixIn(M), VectorIn(q), options, workspace);
  *z = workspace->z;
  return summary;
}

LcpSummary SolveLcp(const MatrixIn& M, const VectorIn& q, const LcpOptions& options,
                    LcpWorkspace* workspace) {
  const int n = static_cast<int>(q.size());
  CHECK_EQ(M.rows(), q.size());
  CHECK_EQ(M.cols(), q.size());
  LcpWorkspace& ws = *workspace;
  ws.z.SetZero(n);
  LcpSummary summary;
  if (!M.allFinite() || !q.allFinite()) return summary;
  ws.row_scale.Resize(n);
  ws.column_scale.Resize(n);
  ws.entering.Resize(n);
  ComputeScale(M, &ws.row_scale, &ws.column_scale);
  if (n == 0 || q.minCoeff() >= 0.0) {
    summary.outcome = LcpOutcome::kSolved;
    return summary;
  }
  // q is brought to a largest negative entry of -1: z scales with q, and tolerances then mean the
  // same everywhere.
  const double q_scale = 1.0 / -(ws.row_scale.cwiseProduct(q)).minCoeff();
  ws.tableau.Resize(n, n + 2);
  ws.basic.resize(static_cast<size_t>(n));
  ws.nonbasic.assign(static_cast<size_t>(n) + 2, -1);
  ws.place.assign(2 * static_cast<size_t>(n) + 1, 0);
  ws.tableau.col(0) = q_scale * ws.row_scale.cwiseProduct(q);
  ws.tableau.middleCols(1, n) = -(ws.row_scale.asDiagonal() * M * ws.column_scale.asDiagonal());
  ws.tableau.col(n + 1).setConstant(-1.0);
  for (int i = 0; i < n; ++i) {
    ws.basic[static_cast<size_t>(i)] = i;
    ws.place[static_cast<size_t>(i)] = i;
    ws.nonbasic[static_cast<size_t>(i) + 1] = n + i;
    ws.place[static_cast<size_t>(n + i)] = -1 - (i + 1);
  }
  ws.nonbasic[static_cast<size_t>(n) + 1] = 2 * n;
  ws.place[2 * static_cast<size_t>(n)] = -1 - (n + 1);

  summary.outcome = Lemke(n, options, workspace).Run(&summary.pivots);
  for (int i = 0; i < n; ++i) {
    const int place = ws.place[static_cast<size_t>(n + i)];
    if (place >= 0) ws.z[i] = std::max(0.0, ws.tableau(place, 0) / q_scale * ws.column_scale[i]);
  }
  summary.residual = ScaledResidual(M, q, ws.z, ws.row_scale, ws.column_scale);
  if (summary.outcome != LcpOutcome::kSolved) return summary;
  if (summary.residual > 1e-13 / q_scale)
    Refine(M, q, workspace, summary.residual, &summary.residual);
  if (!(summary.residual <= 1e-6 * std::max(1.0, 1.0 / q_scale)))
    summary.outcome = LcpOutcome::kNumerical;
  return summary;
}

}  // namespace handhold::synthesis

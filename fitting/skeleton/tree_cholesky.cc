#include "fitting/skeleton/tree_cholesky.h"

#include <cmath>

namespace handhold::fitting {

TreeCholesky::TreeCholesky(const model::Skeleton& s) : L_(s.nv(), s.nv()) {
  L_.setZero();
  for (int b = 1; b < s.body_count(); ++b) {
    int above = s.body(b).parent;
    while (above > 0 && s.body(above).joint.nv() == 0) above = s.body(above).parent;
    int last = above > 0 ? s.v_index(above) + s.body(above).joint.nv() - 1 : -1;
    for (int k = 0; k < s.body(b).joint.nv(); ++k) {
      before_.push_back(last);
      last = s.v_index(b) + k;
    }
  }
}

bool TreeCholesky::Factor(const Eigen::MatrixXd& H, double damping) {
  const int n = static_cast<int>(before_.size());
  for (int i = 0; i < n; ++i) {
    L_(i, i) = H(i, i) * (1.0 + damping);
    for (int j = before_[static_cast<size_t>(i)]; j >= 0; j = before_[static_cast<size_t>(j)])
      L_(i, j) = H(i, j);
  }
  for (int k = n - 1; k >= 0; --k) {
    if (!(L_(k, k) > 0.0) || !std::isfinite(L_(k, k))) return false;
    double* const row = L_.row(k).data();
    row[k] = std::sqrt(row[k]);
    const double inverse = 1.0 / row[k];
    const int first = before_[static_cast<size_t>(k)];
    for (int i = first; i >= 0; i = before_[static_cast<size_t>(i)]) row[i] *= inverse;
    for (int i = first; i >= 0; i = before_[static_cast<size_t>(i)]) {
      double* const to = L_.row(i).data();
      for (int j = i; j >= 0; j = before_[static_cast<size_t>(j)]) to[j] -= row[i] * row[j];
    }
  }
  return true;
}

void TreeCholesky::Solve(const Eigen::VectorXd& b, Eigen::VectorXd* x) const {
  const int n = static_cast<int>(before_.size());
  *x = b;
  double* const y = x->data();
  for (int i = n - 1; i >= 0; --i) {
    const double* const row = L_.row(i).data();
    y[i] /= row[i];
    for (int j = before_[static_cast<size_t>(i)]; j >= 0; j = before_[static_cast<size_t>(j)])
      y[j] -= row[j] * y[i];
  }
  for (int i = 0; i < n; ++i) {
    const double* const row = L_.row(i).data();
    double sum = y[i];
    for (int j = before_[static_cast<size_t>(i)]; j >= 0; j = before_[static_cast<size_t>(j)])
      sum -= row[j] * y[j];
    y[i] = sum / row[i];
  }
}

}  // namespace handhold::fitting

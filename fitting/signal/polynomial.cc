#include "fitting/signal/polynomial.h"

#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "database/base/check.h"

namespace handhold::fitting {

double Polynomial::Value(double t) const {
  double v = 0.0;
  for (Eigen::Index k = coefficient.size(); k-- > 0;) v = v * (t - origin) + coefficient[k];
  return v;
}

double Polynomial::Slope(double t) const {
  double v = 0.0;
  for (Eigen::Index k = coefficient.size(); k-- > 1;)
    v = v * (t - origin) + static_cast<double>(k) * coefficient[k];
  return v;
}

double Polynomial::ValueSd(double t) const {
  Eigen::VectorXd powers(coefficient.size());
  double p = 1.0;
  for (Eigen::Index k = 0; k < powers.size(); ++k, p *= t - origin) powers[k] = p;
  return std::sqrt(powers.dot(covariance * powers));
}

double Polynomial::SlopeSd() const {
  return coefficient.size() > 1 ? std::sqrt(covariance(1, 1)) : 0.0;
}

Result<Polynomial> FitPolynomial(std::span<const double> t, std::span<const double> y, int degree,
                                 double origin, double noise_sd) {
  CHECK_EQ(t.size(), y.size());
  CHECK_GE(degree, 0);
  std::vector<size_t> kept;
  double scale = 0.0;  // powers of (t - origin) / scale keep the normal equations well conditioned
  for (size_t i = 0; i < t.size(); ++i) {
    if (!std::isfinite(t[i]) || !std::isfinite(y[i])) continue;
    kept.push_back(i);
    scale = std::max(scale, std::abs(t[i] - origin));
  }
  if (scale == 0.0) scale = 1.0;
  const auto n = static_cast<Eigen::Index>(kept.size());
  const Eigen::Index m = degree + 1;
  Eigen::MatrixXd a(n, m);
  Eigen::VectorXd b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double x = (t[kept[static_cast<size_t>(i)]] - origin) / scale;
    double p = 1.0;
    for (Eigen::Index k = 0; k < m; ++k, p *= x) a(i, k) = p;
    b[i] = y[kept[static_cast<size_t>(i)]];
  }
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(n >= m ? a : Eigen::MatrixXd::Zero(m, m));
  qr.setThreshold(1e-10);
  if (n < m || qr.rank() < m) {
    return Error{ErrorCode::kUnidentifiable, "a polynomial of degree " + std::to_string(degree) +
                                                 " needs " + std::to_string(degree + 1) +
                                                 " distinct times with a value; there are " +
                                                 std::to_string(n) + " samples"};
  }
  Polynomial fit;
  fit.origin = origin;
  fit.used = static_cast<int>(n);
  fit.coefficient = qr.solve(b);
  const double rss = (a * fit.coefficient - b).squaredNorm();
  fit.noise_sd =
      noise_sd > 0 ? noise_sd : (n > m ? std::sqrt(rss / static_cast<double>(n - m)) : 0.0);
  fit.covariance = (a.transpose() * a).ldlt().solve(Eigen::MatrixXd::Identity(m, m)) *
                   (fit.noise_sd * fit.noise_sd);
  double s = 1.0;
  for (Eigen::Index k = 0; k < m; ++k, s /= scale) {
    fit.coefficient[k] *= s;
    fit.covariance.row(k) *= s;
    fit.covariance.col(k) *= s;
  }
  return fit;
}

Eigen::VectorXd LegendreBasis(double x, int degree) {
  Eigen::VectorXd p(degree + 1);
  p[0] = 1.0;
  if (degree > 0) p[1] = x;
  for (int k = 1; k < degree; ++k) p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
  return p;
}

}  // namespace handhold::fitting

/// A planted low-rank mixture of Gaussians, drawn and judged by code of its own: Gram-Schmidt,
/// <random>, and eq. 4 written out with inverse and determinant.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include <Eigen/Dense>

namespace handhold::test_support {

struct PlantedMixture {
  Eigen::VectorXd offset;      // n
  Eigen::MatrixXd directions;  // n x d, orthonormal
  std::vector<double> weights;
  std::vector<Eigen::VectorXd> means;        // d
  std::vector<Eigen::MatrixXd> covariances;  // d x d

  // Eq. 3 with eq. 4's factor (2 pi)^(d/2).
  double Density(const Eigen::VectorXd& a) const {
    double p = 0;
    for (size_t k = 0; k < weights.size(); ++k) {
      const Eigen::VectorXd off = a - means[k];
      const double m2 = off.dot(covariances[k].inverse() * off);
      p += weights[k] * std::exp(-0.5 * m2) /
           (std::pow(2 * M_PI, 0.5 * static_cast<double>(a.size())) *
            std::sqrt(covariances[k].determinant()));
    }
    return p;
  }
};

inline PlantedMixture Plant(int n, int d, int components, unsigned seed, double apart = 1.0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  PlantedMixture m;
  m.offset = Eigen::VectorXd::NullaryExpr(n, [&] { return 0.3 * normal(random); });
  m.directions.resize(n, d);
  for (int k = 0; k < d; ++k) {
    Eigen::VectorXd v = Eigen::VectorXd::NullaryExpr(n, [&] { return normal(random); });
    for (int j = 0; j < k; ++j) v -= m.directions.col(j) * m.directions.col(j).dot(v);
    m.directions.col(k) = v / v.norm();
  }
  for (int k = 0; k < components; ++k) {
    m.weights.push_back((k + 1.0) / (0.5 * components * (components + 1)));
    m.means.push_back(Eigen::VectorXd::NullaryExpr(d, [&] { return apart * normal(random); }));
    const Eigen::MatrixXd r =
        Eigen::MatrixXd::NullaryExpr(d, d, [&] { return 0.05 * normal(random); });
    m.covariances.push_back(r * r.transpose() + 0.004 * Eigen::MatrixXd::Identity(d, d));
  }
  return m;
}

// Coordinates, d x count, component by component in proportion to the weights.
inline Eigen::MatrixXd Draw(const PlantedMixture& m, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::discrete_distribution<int> which(m.weights.begin(), m.weights.end());
  const auto d = m.directions.cols();
  Eigen::MatrixXd points(d, count);
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<size_t>(which(random));
    const Eigen::VectorXd z = Eigen::VectorXd::NullaryExpr(d, [&] { return normal(random); });
    // The symmetric square root, not Cholesky's.
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> root(m.covariances[k]);
    points.col(i) = m.means[k] + root.operatorSqrt() * z;
  }
  return points;
}

}  // namespace handhold::test_support

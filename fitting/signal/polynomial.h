/// Low-degree polynomials fitted to noisy samples, with what the noise leaves uncertain; and the
/// Legendre basis.
///
/// Pinned by tests/fitting/signal/polynomial_test.cc.
#pragma once

#include <span>

#include <Eigen/Core>

#include "database/base/result.h"

namespace handhold::fitting {

/// p(t) = sum_k coefficient[k] (t - origin)^k.
struct Polynomial {
  double origin = 0.0;  ///< usually the instant one asks about: then coefficient[1] is the slope
                        ///< there
  Eigen::VectorXd coefficient;  ///< ascending powers
  Eigen::MatrixXd covariance;   ///< of the coefficients: noise_sd^2 (A^T A)^-1
  double noise_sd = 0.0;  ///< root of residual squares over degrees of freedom; 0 when there is
                          ///< none to estimate from
  int used = 0;           ///< samples that were finite

  double Value(double t) const;
  /// First derivative.
  double Slope(double t) const;
  /// Standard deviation of Value(t) from noise_sd.
  double ValueSd(double t) const;
  /// Standard deviation of the slope at `origin`.
  double SlopeSd() const;
};

/// Least squares through the finite samples (t[i], y[i]). Fails with kUnidentifiable when fewer
/// than degree + 1 distinct times carry a value. `noise_sd` > 0 is taken as known; else it is
/// estimated from the residual (needs degree + 2 samples, else 0).
Result<Polynomial> FitPolynomial(std::span<const double> t, std::span<const double> y, int degree,
                                 double origin, double noise_sd = 0.0);

/// P_0(x) ... P_degree(x), for x in [-1, 1] (Bonnet's recursion; any x is allowed).
Eigen::VectorXd LegendreBasis(double x, int degree);

}  // namespace handhold::fitting

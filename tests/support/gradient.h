/// The one gradient harness: every residual's Jacobian against numerical differentiation by
/// Ridders' method, along the manifold.
///
/// Our own and not ceres::GradientChecker: its results hold Eigen matrices that libceres allocates
/// and the test would free, and under ASan Eigen's allocator differs between the two.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "fitting/residual/pose_residual.h"

namespace handhold::test_support {

/// d/dt of `f` at t = 0 by Ridders' extrapolation of central differences, per component.
template <typename F>
Eigen::VectorXd RiddersDerivative(const F& f, double step) {
  constexpr int kLevels = 10;
  constexpr double kShrink = 1.4;
  std::vector<std::vector<Eigen::VectorXd>> table(kLevels);
  Eigen::VectorXd best, best_error;
  for (int i = 0; i < kLevels; ++i, step /= kShrink) {
    table[i].push_back((f(step) - f(-step)) / (2.0 * step));
    if (i == 0) {
      best = table[0][0];
      best_error = Eigen::VectorXd::Constant(best.size(), INFINITY);
    }
    double factor = kShrink * kShrink;
    for (int j = 1; j <= i; ++j, factor *= kShrink * kShrink) {
      table[i].push_back((factor * table[i][j - 1] - table[i - 1][j - 1]) / (factor - 1.0));
      const Eigen::VectorXd error = (table[i][j] - table[i][j - 1])
                                        .cwiseAbs()
                                        .cwiseMax((table[i][j] - table[i - 1][j - 1]).cwiseAbs());
      for (Eigen::Index k = 0; k < best.size(); ++k) {
        if (error[k] >= best_error[k]) continue;
        best_error[k] = error[k];
        best[k] = table[i][j][k];
      }
    }
  }
  return best;
}

/// Parameters given as blocks; `manifolds` may hold nulls (flat space). Error along tangent
/// directions at most `tolerance`, relative to the larger of the two derivatives and 1.
inline ::testing::AssertionResult GradientIsRight(const ceres::CostFunction& cost,
                                                  std::vector<const ceres::Manifold*> manifolds,
                                                  const std::vector<Eigen::VectorXd>& blocks,
                                                  double tolerance = 1e-6,
                                                  double relative_step = 1e-3) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int rows = cost.num_residuals();
  std::vector<const double*> pointers;
  std::vector<RowMajor> jacobians;
  for (const Eigen::VectorXd& b : blocks) {
    pointers.push_back(b.data());
    jacobians.emplace_back(rows, b.size());
  }
  std::vector<double*> jacobian_pointers;
  for (RowMajor& j : jacobians) jacobian_pointers.push_back(j.data());
  Eigen::VectorXd residuals(rows);
  if (!cost.Evaluate(pointers.data(), residuals.data(), jacobian_pointers.data())) {
    return ::testing::AssertionFailure() << "the cost function does not evaluate";
  }
  double worst = 0.0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const ceres::Manifold* manifold = manifolds.empty() ? nullptr : manifolds[b];
    const int tangent = manifold ? manifold->TangentSize() : static_cast<int>(blocks[b].size());
    RowMajor along = jacobians[b];
    if (manifold) {
      RowMajor plus(blocks[b].size(), tangent);
      manifold->PlusJacobian(blocks[b].data(), plus.data());
      along = jacobians[b] * plus;
    }
    for (int d = 0; d < tangent; ++d) {
      const auto moved = [&](double t) {
        Eigen::VectorXd x = blocks[b];
        Eigen::VectorXd delta = Eigen::VectorXd::Zero(tangent);
        delta[d] = t;
        if (manifold) {
          manifold->Plus(blocks[b].data(), delta.data(), x.data());
        } else {
          x += delta;
        }
        std::vector<const double*> at = pointers;
        at[b] = x.data();
        Eigen::VectorXd r(rows);
        cost.Evaluate(at.data(), r.data(), nullptr);
        return r;
      };
      const double scale = manifold ? 1.0 : std::max(1.0, std::abs(blocks[b][d]));
      const Eigen::VectorXd numeric = RiddersDerivative(moved, relative_step * scale);
      for (int k = 0; k < rows; ++k) {
        const double size = std::max({1.0, std::abs(numeric[k]), std::abs(along(k, d))});
        const double error = std::abs(numeric[k] - along(k, d)) / size;
        if (!(error <= tolerance)) {
          return ::testing::AssertionFailure()
                 << "residual " << k << ", block " << b << ", direction " << d << ": Jacobian "
                 << along(k, d) << ", numerically " << numeric[k];
        }
        worst = std::max(worst, error);
      }
    }
  }
  return ::testing::AssertionSuccess() << "worst relative error " << worst;
}

}  // namespace handhold::test_support

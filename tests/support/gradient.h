/// The one gradient harness: every residual's Jacobian against Ridders' numerical differentiation,
/// along the manifold.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fitting/residual/pose_residual.h"

#pragma push_macro("CHECK")
#undef CHECK
#include <ceres/gradient_checker.h>
#pragma pop_macro("CHECK")

namespace handhold::test_support {

/// Parameters given as blocks; `manifolds` may hold nulls (flat space). Relative error along
/// tangent directions at most `tolerance`.
inline ::testing::AssertionResult GradientIsRight(const ceres::CostFunction& cost,
                                                  std::vector<const ceres::Manifold*> manifolds,
                                                  const std::vector<Eigen::VectorXd>& blocks,
                                                  double tolerance = 1e-6,
                                                  double relative_step = 1e-3) {
  ceres::NumericDiffOptions options;
  options.ridders_relative_initial_step_size = relative_step;
  ceres::GradientChecker checker(&cost, &manifolds, options);
  std::vector<const double*> pointers;
  for (const Eigen::VectorXd& b : blocks) pointers.push_back(b.data());
  ceres::GradientChecker::ProbeResults results;
  if (checker.Probe(pointers.data(), tolerance, &results)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "worst relative error " << results.maximum_relative_error << "\n"
         << results.error_log;
}

}  // namespace handhold::test_support

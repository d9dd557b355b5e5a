/// A mixture of Gaussians by expectation and maximisation, and how many of them the data want.
///
/// Full covariances with a ridge, k-means++ beginnings, several restarts, everything from a seed:
/// the same bits every time. Pinned by tests/fitting/grasp_space/gaussian_mixture_test.cc on
/// planted mixtures of a generator that shares no code.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/grasp_space.h"
#include "database/base/result.h"

namespace handhold::fitting {

struct MixtureOptions {
  int max_components = 15;
  /// No component may stand on fewer points than this times the dimension: K <= N / (that d).
  double points_per_dimension = 5.0;
  int restarts = 5;
  int iterations = 200;
  double tolerance = 1e-7;  ///< of the mean log likelihood, that ends an EM
  double ridge = 1e-5;      ///< added to the diagonal of every covariance (rad^2 for hand shapes)
  std::uint64_t seed = 1;
};

struct MixtureFit {
  std::vector<artefact::MixtureComponent> components;
  double log_likelihood = 0.0;  ///< of all points, natural logarithm
  double bic = 0.0;
};

/// Free numbers of K Gaussians in d dimensions: K - 1 weights, K d means, K d (d + 1) / 2
/// covariances.
int MixtureParameters(int components, int dimensions);
/// Schwarz 1978: parameters * log N - 2 log likelihood; less is better.
double Bic(double log_likelihood, int components, int dimensions, Eigen::Index points);
/// Sum over the columns of log p (eqs. 3-4 of Ben Amor 2008, with (2 pi)^(d/2)).
double LogLikelihood(const std::vector<artefact::MixtureComponent>& components,
                     const Eigen::MatrixXd& points);

/// EM with so many components on the columns of `points` (d x N). kUnidentifiable: fewer than
/// points_per_dimension * d points for each component, saying how many are missing.
Result<MixtureFit> FitMixture(const Eigen::MatrixXd& points, int components,
                              const MixtureOptions& options = {});

struct MixtureChoice {
  MixtureFit best;
  std::vector<artefact::BicEntry> bic;  ///< per number of components tried
};
/// The number of components of least BIC, of 1 .. what options and points allow.
Result<MixtureChoice> ChooseMixture(const Eigen::MatrixXd& points,
                                    const MixtureOptions& options = {},
                                    const std::function<bool(double)>& progress = nullptr);

}  // namespace handhold::fitting

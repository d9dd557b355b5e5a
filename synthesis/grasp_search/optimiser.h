/// Minimises any function over a box with so many evaluations: dynamic hill climbing, simulated
/// annealing, a genetic algorithm and CMA-ES, as Ben Amor 2008 compares the first three (Fig. 5).
///
/// No derivatives, no threads; the same seed gives the same bits. Settings of annealing and the
/// genetic algorithm are ours (the paper names none). Pinned by
/// tests/synthesis/grasp_search/optimiser_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <Eigen/Core>

namespace handhold::synthesis {

enum class OptimiserKind {
  kDynamicHillClimbing,  ///< Yuret, de la Maza 1993: steps that grow and shrink; restarts far away
  kAnnealing,            ///< geometric cooling, Gaussian steps that shrink along
  kGenetic,              ///< tournaments of two, blended crossing, Gaussian mutation, one survivor
  kCmaEs,                ///< Hansen 2016, with restarts
};
std::string_view OptimiserName(OptimiserKind kind);  ///< "dhc", "sa", "ga", "cma-es"

struct OptimiserOptions {
  int evaluations = 600;
  std::uint64_t seed = 1;
};

struct OptimiserResult {
  Eigen::VectorXd x;
  double value = 0.0;
  int evaluations = 0;  ///< made: exactly as many as allowed
};

/// `starts`: points to begin from, the first first (paired comparisons give all the same); others
/// are drawn from the box. At least one evaluation. Points outside the box are never asked.
OptimiserResult Minimise(OptimiserKind kind,
                         const std::function<double(const Eigen::VectorXd&)>& function,
                         const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
                         const std::vector<Eigen::VectorXd>& starts,
                         const OptimiserOptions& options = {});

}  // namespace handhold::synthesis

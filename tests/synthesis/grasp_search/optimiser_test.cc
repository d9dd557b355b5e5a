#include "synthesis/grasp_search/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>

namespace handhold::synthesis::optimiser_test {
namespace {

constexpr OptimiserKind kAll[] = {OptimiserKind::kDynamicHillClimbing, OptimiserKind::kAnnealing,
                                  OptimiserKind::kGenetic, OptimiserKind::kCmaEs};

class Optimiser : public ::testing::TestWithParam<OptimiserKind> {};

TEST_P(Optimiser, FindsTheBottomOfABowlInABox) {
  const Eigen::Vector4d lower(-2, -1, 0, 5), upper(3, 4, 1, 9), bottom(0.7, -0.4, 0.9, 6.5);
  int asked = 0;
  const auto bowl = [&](const Eigen::VectorXd& x) {
    ++asked;
    EXPECT_TRUE(((x - lower).array() >= -1e-12).all() && ((upper - x).array() >= -1e-12).all());
    return (x - bottom).cwiseQuotient(upper - lower).squaredNorm();
  };
  const OptimiserResult found = Minimise(GetParam(), bowl, lower, upper, {}, {.evaluations = 1500});
  EXPECT_EQ(asked, 1500);
  EXPECT_EQ(found.evaluations, 1500);
  EXPECT_EQ(found.value, bowl(found.x));
  EXPECT_LT(std::sqrt(found.value), 0.05);
}

// Two basins, the deeper one narrow and far from the start: 12 of 20 seeds at least leave the first
// (asked of those that restart or breed; annealing and CMA-ES may end where they began).
TEST_P(Optimiser, LeavesAShallowBasin) {
  if (GetParam() == OptimiserKind::kAnnealing || GetParam() == OptimiserKind::kCmaEs)
    GTEST_SKIP() << "it neither restarts nor breeds";
  const Eigen::Vector2d lower(0, 0), upper(1, 1);
  const auto basins = [](const Eigen::VectorXd& x) {
    return std::min(0.3 + (x - Eigen::Vector2d(0.2, 0.2)).squaredNorm(),
                    6.0 * (x - Eigen::Vector2d(0.8, 0.7)).squaredNorm());
  };
  int left = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    left += Minimise(GetParam(), basins, lower, upper, {Eigen::Vector2d(0.25, 0.2)},
                     {.evaluations = 600, .seed = seed})
                .value < 0.05;
  }
  EXPECT_GE(left, 12);
}

TEST_P(Optimiser, TheSameSeedGivesTheSameBitsAndStartsAreAskedFirst) {
  std::vector<Eigen::VectorXd> asked;
  const auto f = [&](const Eigen::VectorXd& x) {
    asked.push_back(x);
    return std::sin(9 * x[0]) + x[1] * x[1];
  };
  const Eigen::Vector2d lower(-1, -1), upper(1, 1), start(0.25, -0.5);
  const auto a = Minimise(GetParam(), f, lower, upper, {start}, {.evaluations = 200, .seed = 4});
  EXPECT_LT((asked.front() - start).norm(), 1e-15);
  const auto b = Minimise(GetParam(), f, lower, upper, {start}, {.evaluations = 200, .seed = 4});
  EXPECT_EQ(a.x, b.x);
  for (size_t i = 0; i < 200; ++i) ASSERT_EQ(asked[i], asked[i + 200]);
  EXPECT_EQ(Minimise(GetParam(), f, lower, upper, {}, {.evaluations = 1}).evaluations, 1);
}

INSTANTIATE_TEST_SUITE_P(All, Optimiser, ::testing::ValuesIn(kAll), [](const auto& one) {
  return one.param == OptimiserKind::kCmaEs ? std::string("cmaes")
                                            : std::string(OptimiserName(one.param));
});

}  // namespace
}  // namespace handhold::synthesis::optimiser_test

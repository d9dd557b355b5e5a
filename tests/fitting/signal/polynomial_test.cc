#include "fitting/signal/polynomial.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace handhold::fitting::polynomial_test {
namespace {

TEST(PolynomialTest, RecoversAQuadraticExactlyAboutItsOrigin) {
  std::vector<double> t, y;
  for (int i = 0; i < 9; ++i) {
    t.push_back(100.0 + 1e-3 * i);
    y.push_back(2 - 3 * (t.back() - 100.004) + 50 * std::pow(t.back() - 100.004, 2));
  }
  y[3] = std::nan("");
  auto p = FitPolynomial(t, y, 2, 100.004);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->coefficient[0], 2, 1e-9);
  EXPECT_NEAR(p->coefficient[1], -3, 1e-6);
  EXPECT_NEAR(p->coefficient[2], 50, 1e-3);
  EXPECT_NEAR(p->Slope(100.008), -3 + 2 * 50 * 0.004, 1e-6);
  EXPECT_EQ(p->used, 8);
}

TEST(PolynomialTest, SlopeScatterMatchesItsStandardDeviation) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 1e-3);
  double sum2 = 0, claimed = 0;
  const int trials = 2000;
  for (int k = 0; k < trials; ++k) {
    std::vector<double> t, y;
    for (int i = 0; i < 15; ++i) {
      t.push_back(2e-3 * i);
      y.push_back(0.5 * t.back() + noise(random));
    }
    auto p = FitPolynomial(t, y, 1, 0.0);
    sum2 += std::pow(p->coefficient[1] - 0.5, 2) / trials;
    claimed += p->SlopeSd() * p->SlopeSd() / trials;
  }
  EXPECT_NEAR(sum2 / claimed, 1.0, 0.1);
}

TEST(PolynomialTest, TooFewDistinctTimesAreUnidentifiable) {
  const std::vector<double> t{1, 1, 1, 2}, y{0, 1, 2, 3};
  auto p = FitPolynomial(t, y, 2, 0);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code, ErrorCode::kUnidentifiable);
  EXPECT_TRUE(FitPolynomial(t, y, 1, 0));
  EXPECT_FALSE(FitPolynomial({}, {}, 0, 0));
}

TEST(LegendreTest, AreOrthogonalWithTheKnownNorm) {
  // Gauss-Legendre exactness replaced by a fine midpoint rule.
  const int n = 20000;
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(10, 10);
  for (int i = 0; i < n; ++i) {
    const Eigen::VectorXd p = LegendreBasis(-1 + (2 * i + 1.0) / n, 9);
    gram += p * p.transpose() * (2.0 / n);
  }
  for (int a = 0; a < 10; ++a) {
    for (int b = 0; b < 10; ++b)
      EXPECT_NEAR(gram(a, b), a == b ? 2.0 / (2 * a + 1) : 0.0, 1e-6) << a << b;
  }
  EXPECT_DOUBLE_EQ(LegendreBasis(1.0, 9)[9], 1.0);
}

}  // namespace
}  // namespace handhold::fitting::polynomial_test

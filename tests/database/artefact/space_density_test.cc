#include "database/artefact/space_density.h"

#include <gtest/gtest.h>

namespace handhold::artefact::space_density_test {
namespace {

GraspSpace TwoGaussians() {
  GraspSpace space;
  space.mean = Eigen::Vector3d(0.1, 0.2, 0.3);
  space.basis = Eigen::MatrixXd::Zero(3, 2);
  space.basis(0, 0) = 1.0;
  space.basis(2, 1) = 1.0;
  Eigen::Matrix2d c;
  c << 0.5, 0.2, 0.2, 0.4;
  space.mixture = {{0.3, Eigen::Vector2d(1, 0), c},
                   {0.7, Eigen::Vector2d(-1, 0.5), 0.25 * Eigen::Matrix2d::Identity()}};
  return space;
}

TEST(SpaceDensity, ExpandAndProjectAreEq2AndItsInverse) {
  const SpaceDensity density = *SpaceDensity::Build(TwoGaussians());
  const Eigen::VectorXd shape = density.Expand(Eigen::Vector2d(0.5, -0.25));
  EXPECT_LT((shape - Eigen::Vector3d(0.6, 0.2, 0.05)).norm(), 1e-15);
  EXPECT_LT((density.Project(shape) - Eigen::Vector2d(0.5, -0.25)).norm(), 1e-15);
}

TEST(SpaceDensity, LikelihoodIsEqs3And4WrittenOut) {
  const GraspSpace space = TwoGaussians();
  const SpaceDensity density = *SpaceDensity::Build(space);
  const Eigen::Vector2d a(0.3, -0.2);
  double p = 0;
  for (const MixtureComponent& c : space.mixture) {
    const Eigen::Vector2d off = a - c.mean;
    const double det =
        c.covariance(0, 0) * c.covariance(1, 1) - c.covariance(0, 1) * c.covariance(1, 0);
    const double m2 =
        (c.covariance(1, 1) * off[0] * off[0] - 2 * c.covariance(0, 1) * off[0] * off[1] +
         c.covariance(0, 0) * off[1] * off[1]) /
        det;
    p += c.weight * std::exp(-0.5 * m2) / (2 * M_PI * std::sqrt(det));  // (2 pi)^(2/2)
  }
  EXPECT_NEAR(density.LogLikelihood(a), std::log(p), 1e-13);
  // Far away: no underflow.
  EXPECT_TRUE(std::isfinite(density.LogLikelihood(Eigen::Vector2d(100, 100))));
  EXPECT_EQ(density.Nearest(Eigen::Vector2d(1, 0)), 0);
  EXPECT_EQ(density.Nearest(Eigen::Vector2d(-1, 0.5)), 1);
}

TEST(SpaceDensity, GradientIsThatOfTheLikelihood) {
  const SpaceDensity density = *SpaceDensity::Build(TwoGaussians());
  const Eigen::Vector2d a(0.1, 0.4);
  const Eigen::VectorXd g = density.LogLikelihoodGradient(a);
  for (int k = 0; k < 2; ++k) {
    Eigen::Vector2d up = a, down = a;
    up[k] += 1e-6;
    down[k] -= 1e-6;
    EXPECT_NEAR(g[k], (density.LogLikelihood(up) - density.LogLikelihood(down)) / 2e-6, 1e-7);
  }
}

TEST(SpaceDensity, RefusesWhatContradictsItself) {
  GraspSpace weights = TwoGaussians();
  weights.mixture[0].weight = 0.4;
  EXPECT_EQ(SpaceDensity::Build(weights).error().code, ErrorCode::kCorrupt);
  GraspSpace flat = TwoGaussians();
  flat.mixture[0].covariance(0, 0) = -1;
  EXPECT_EQ(SpaceDensity::Build(flat).error().code, ErrorCode::kCorrupt);
  GraspSpace sizes = TwoGaussians();
  sizes.basis.conservativeResize(3, 1);
  EXPECT_EQ(SpaceDensity::Build(sizes).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace handhold::artefact::space_density_test

#include "fitting/grasp_space/gaussian_mixture.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fitting/grasp_space/planted_mixture.h"

namespace handhold::fitting::gaussian_mixture_test {
namespace {

using test_support::Draw;
using test_support::Plant;
using test_support::PlantedMixture;

TEST(GaussianMixture, OneGaussianIsItsMomentsAndItsLikelihoodIsEq4) {
  const Eigen::MatrixXd x = Draw(Plant(5, 3, 1, 3), 400, 4);
  const MixtureFit fit = *FitMixture(x, 1, {.ridge = 0.0});
  const Eigen::VectorXd mean = x.rowwise().sum() / 400.0;
  Eigen::MatrixXd c = Eigen::MatrixXd::Zero(3, 3);
  for (int i = 0; i < 400; ++i) c += (x.col(i) - mean) * (x.col(i) - mean).transpose() / 400.0;
  EXPECT_LT((fit.components[0].mean - mean).norm(), 1e-12);
  EXPECT_LT((fit.components[0].covariance - c).norm(), 1e-12);
  PlantedMixture own{{}, {}, {1.0}, {mean}, {c}};
  double log_likelihood = 0;
  for (int i = 0; i < 400; ++i) log_likelihood += std::log(own.Density(x.col(i)));
  EXPECT_NEAR(fit.log_likelihood, log_likelihood, 1e-8);
  // Schwarz: 3 means + 6 covariances.
  EXPECT_NEAR(fit.bic, 9 * std::log(400.0) - 2 * log_likelihood, 1e-7);
}

// The printed sqrt(2 pi^d) of eq. 4 would give 2^((d-1)/2) too much: a density sums to 1.
TEST(GaussianMixture, TheDensitySumsToOneInEveryDimension) {
  for (const int d : {1, 2, 3}) {
    artefact::MixtureComponent c{1.0, Eigen::VectorXd::Zero(d), Eigen::MatrixXd::Identity(d, d)};
    const double h = 0.25;
    const int side = 49;
    int cells = 1;
    for (int k = 0; k < d; ++k) cells *= side;
    double sum = 0;
    for (int i = 0; i < cells; ++i) {
      Eigen::MatrixXd x(d, 1);
      for (int k = 0, rest = i; k < d; ++k, rest /= side) x(k, 0) = (rest % side - 24) * h;
      sum += std::exp(LogLikelihood({c}, x)) * std::pow(h, d);
    }
    EXPECT_NEAR(sum, 1.0, 1e-6) << d;
  }
}

TEST(GaussianMixture, BicFindsThePlantedNumberAndEmThePlantedGaussians) {
  for (const auto& [d, k] : {std::pair{2, 3}, {3, 4}}) {
    const PlantedMixture planted = Plant(d, d, k, 11);
    const Eigen::MatrixXd x = Draw(planted, 1500, 5);
    const MixtureChoice choice =
        *ChooseMixture(x, {.max_components = 5, .restarts = 3, .ridge = 1e-9});
    ASSERT_EQ(static_cast<int>(choice.best.components.size()), k) << d;
    ASSERT_EQ(choice.bic.size(), 5u);
    double truth = 0;
    for (int i = 0; i < 1500; ++i) truth += std::log(planted.Density(x.col(i)));
    // Fitted is likelier than planted, by half the number of free parameters in the mean (Wilks).
    EXPECT_GT(choice.best.log_likelihood, truth);
    EXPECT_LT(choice.best.log_likelihood - truth, 1.5 * MixtureParameters(k, d));
    for (size_t i = 0; i < planted.means.size(); ++i) {
      double nearest = 1e9;
      const artefact::MixtureComponent* of = nullptr;
      for (const auto& c : choice.best.components) {
        if ((c.mean - planted.means[i]).norm() < nearest) {
          nearest = (c.mean - planted.means[i]).norm();
          of = &c;
        }
      }
      EXPECT_LT(nearest, 0.06);
      EXPECT_NEAR(of->weight, planted.weights[i], 0.05);
      EXPECT_LT((of->covariance - planted.covariances[i]).norm(),
                0.4 * planted.covariances[i].norm());
    }
  }
}

TEST(GaussianMixture, TheSameSeedGivesTheSameBits) {
  const Eigen::MatrixXd x = Draw(Plant(2, 2, 3, 1), 300, 2);
  const MixtureFit a = *FitMixture(x, 3), b = *FitMixture(x, 3);
  EXPECT_EQ(a.log_likelihood, b.log_likelihood);
  for (size_t k = 0; k < 3; ++k) EXPECT_EQ(a.components[k].mean, b.components[k].mean);
}

TEST(GaussianMixture, RefusesWhatThePointsDoNotDetermine) {
  const Eigen::MatrixXd x = Draw(Plant(3, 3, 1, 1), 29, 2);
  EXPECT_TRUE(FitMixture(x, 1).has_value());
  const auto two = FitMixture(x, 2);  // 2 * 5 * 3 = 30 needed
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, ErrorCode::kUnidentifiable);
  EXPECT_NE(two.error().message.find("1 are missing"), std::string::npos);
  EXPECT_EQ(ChooseMixture(x)->bic.size(), 1u);
}

TEST(GaussianMixture, ParametersAreCounted) {
  EXPECT_EQ(MixtureParameters(1, 2), 5);
  EXPECT_EQ(MixtureParameters(3, 2), 17);
  EXPECT_EQ(MixtureParameters(2, 8), 1 + 16 + 72);
}

}  // namespace
}  // namespace handhold::fitting::gaussian_mixture_test

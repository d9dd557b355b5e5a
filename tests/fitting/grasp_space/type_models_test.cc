#include "fitting/grasp_space/type_models.h"

#include <gtest/gtest.h>

#include <random>

#include "fitting/grasp_space/grasp_space_fit.h"

namespace handhold::fitting::type_models_test {
namespace {

using artefact::TypeModel;

struct Planted {
  Planted() {
    space.mean = Eigen::VectorXd::Zero(5);
    space.basis = Eigen::MatrixXd::Identity(5, 3);
  }
  Eigen::VectorXd Draw(const Eigen::Vector3d& at) {
    Eigen::VectorXd v = Eigen::VectorXd::NullaryExpr(5, [&] { return normal(random); });
    v.head<3>() += at;
    return v;
  }
  void Add(const std::string& type, const Eigen::Vector3d& at, int count) {
    for (int i = 0; i < count; ++i) {
      points.conservativeResize(3, points.cols() + 1);
      points.rightCols(1) = Draw(at).head<3>();
      types.push_back(type);
    }
  }
  void Fit(int least) { space.type_models = FitTypeModels(points, types, least); }
  const TypeModel& Find(const std::string& taxonomy, const std::string& type) const {
    for (const TypeModel& m : space.type_models)
      if (m.taxonomy == taxonomy && m.type == type) return m;
    static const TypeModel none;
    return none;
  }
  std::mt19937 random{2};
  std::normal_distribution<double> normal{0, 0.1};
  artefact::GraspSpace space;
  Eigen::MatrixXd points = Eigen::MatrixXd(3, 0);
  std::vector<std::string> types;
};

// Three types with planted means; 60 shapes each, 30 more held out.
TEST(TypeModels, TellsPlantedTypesApartAndPutsThemUnderCoarserNames) {
  Planted p;
  const std::pair<const char*, Eigen::Vector3d> types[] = {
      {"tripod", {0, 0, 0}}, {"palmar-pinch", {0.4, 0, 0}}, {"large-diameter", {0, 0.5, 0.3}}};
  for (const auto& [type, at] : types) p.Add(type, at, 60);
  p.Add("", {0.2, 0.2, 0.2}, 20);  // not labelled: of no type
  p.Fit(3);
  const TypeModels models = *TypeModels::Build(p.space);
  const TypeModels coarse = *TypeModels::Build(p.space, "schlesinger");
  EXPECT_EQ(models.types().size(), 3u);
  EXPECT_EQ(coarse.types().size(), 2u);  // palmar, cylindrical
  int right = 0, right_coarse = 0;
  for (const auto& [type, at] : types) {
    for (int i = 0; i < 30; ++i) {
      const Eigen::VectorXd shape = p.Draw(at);
      const auto guess = models.Guess(shape);
      double sum = 0;
      for (const TypeGuess& g : guess) sum += g.probability;
      EXPECT_NEAR(sum, 1.0, 1e-12);
      EXPECT_GE(guess[0].probability, guess[1].probability);
      right += guess[0].type == type;
      right_coarse += coarse.Guess(shape)[0].type ==
                      (std::string(type) == "large-diameter" ? "cylindrical" : "palmar");
    }
  }
  EXPECT_GE(right, 84);  // tripod and pinch lie 4 sd apart: 2.3 % each way
  EXPECT_GE(right_coarse, 88);
}

// The stored mean, covariance and weights, written out.
TEST(TypeModels, AModelIsTheGaussianOfItsPosesShrunkTowardsTheCommonOne) {
  Planted p;
  p.Add("tripod", {0, 0, 0}, 40);
  p.Add("palmar-pinch", {1, 0, 0}, 10);
  p.Fit(3);
  const auto moments = [&](int begin, int n) {
    Eigen::Vector3d mean = Eigen::Vector3d::Zero();
    for (int i = begin; i < begin + n; ++i) mean += p.points.col(i) / n;
    Eigen::Matrix3d c = Eigen::Matrix3d::Zero();
    for (int i = begin; i < begin + n; ++i)
      c += (p.points.col(i) - mean) * (p.points.col(i) - mean).transpose() / (n - 1);
    return std::pair(mean, c);
  };
  const auto [m0, c0] = moments(0, 40);
  const auto [m1, c1] = moments(40, 10);
  const Eigen::Matrix3d common = 0.5 * (c0 + c1) + 1e-4 * Eigen::Matrix3d::Identity();
  const TypeModel& pinch = p.Find("feix", "palmar-pinch");
  ASSERT_EQ(pinch.mixture.size(), 1u);
  EXPECT_EQ(pinch.poses, 10);
  EXPECT_LT((pinch.mixture[0].mean - m1).norm(), 1e-12);
  EXPECT_LT((pinch.mixture[0].covariance - (10 * c1 + 6 * common) / 16).norm(), 1e-12);
  // Schlesinger's palmar has both: a Gaussian each, by poses.
  const TypeModel& palmar = p.Find("schlesinger", "palmar");
  ASSERT_EQ(palmar.mixture.size(), 2u);
  EXPECT_EQ(palmar.poses, 50);
  EXPECT_NEAR(palmar.mixture[0].weight + palmar.mixture[1].weight, 1.0, 1e-15);
  EXPECT_NEAR(std::min(palmar.mixture[0].weight, palmar.mixture[1].weight), 0.2, 1e-15);
}

// Too few of a type are refused and counted; under a coarser name they count together.
TEST(TypeModels, TooFewPosesOfATypeAreRefused) {
  Planted p;
  p.Add("tripod", {0, 0, 0}, 5);
  p.Add("palmar-pinch", {0, 0, 0}, 4);
  p.Add("lateral", {0, 0, 1}, 7);
  p.Fit(8);
  EXPECT_TRUE(p.Find("feix", "tripod").mixture.empty());
  EXPECT_EQ(p.Find("feix", "tripod").poses, 5);
  EXPECT_NE(p.Find("feix", "tripod").refusal.find("3 are missing"), std::string::npos);
  EXPECT_EQ(p.Find("schlesinger", "palmar").mixture.size(), 1u);  // 9 together
  EXPECT_TRUE(p.Find("schlesinger", "palmar").refusal.empty());
  EXPECT_TRUE(p.Find("schlesinger", "lateral").mixture.empty());
  const auto fine = TypeModels::Build(p.space);
  ASSERT_FALSE(fine);
  EXPECT_EQ(fine.error().code, ErrorCode::kUnidentifiable);
  EXPECT_NE(fine.error().message.find("'lateral' has 7"), std::string::npos);
  EXPECT_EQ(TypeModels::Build(p.space, "schlesinger")->types(), std::vector<std::string>{"palmar"});
  EXPECT_EQ(TypeModels::Build(p.space, "napier").error().code, ErrorCode::kInvalid);
}

// A fitted space has them: as many poses as dimensions, or as many as are asked for.
TEST(TypeModels, AFittedSpaceCarriesThem) {
  Planted p;
  p.Add("tripod", {0, 0, 0}, 40);
  p.Add("lateral", {0, 0.6, 0}, 6);
  HandPoses poses;
  poses.dof_names = {"a", "b", "c"};
  poses.shapes_v = p.points;
  poses.types = p.types;
  const auto models = [&](int per_type) {
    GraspSpaceOptions options{.dims = 3, .poses_per_type = per_type};
    options.mixture = {.max_components = 1, .restarts = 1};
    p.space = *FitGraspSpace(poses, options);
    return TypeModels::Build(p.space)->types().size();
  };
  EXPECT_EQ(models(0), 2u);
  EXPECT_EQ(p.Find("schlesinger", "lateral").poses, 6);
  EXPECT_EQ(models(7), 1u);
  EXPECT_FALSE(p.Find("feix", "lateral").refusal.empty());
}

TEST(TypeModels, RefusesASpaceWithoutTypes) {
  Planted p;
  p.Add("", {0, 0, 0}, 50);
  p.Fit(3);
  EXPECT_TRUE(p.space.type_models.empty());
  EXPECT_EQ(TypeModels::Build(p.space).error().code, ErrorCode::kUnidentifiable);
}

}  // namespace
}  // namespace handhold::fitting::type_models_test

#include "fitting/grasp_space/type_models.h"

#include <gtest/gtest.h>

#include <random>

namespace handhold::fitting {
namespace {

artefact::GraspTemplate TemplateOf(const std::string& type, const Eigen::VectorXd& shape) {
  artefact::GraspTemplate t;
  t.type = type;
  t.pose_v = shape;
  return t;
}

// Three types with planted means; 60 shapes each, 30 more held out.
TEST(TypeModels, TellsPlantedTypesApartAndPutsThemUnderCoarserNames) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal(0, 0.1);
  artefact::GraspSpace space;
  space.mean = Eigen::VectorXd::Zero(5);
  space.basis = Eigen::MatrixXd::Identity(5, 3);
  const std::pair<const char*, Eigen::Vector3d> types[] = {
      {"tripod", {0, 0, 0}}, {"palmar-pinch", {0.4, 0, 0}}, {"large-diameter", {0, 0.5, 0.3}}};
  const auto draw = [&](const Eigen::Vector3d& at) {
    Eigen::VectorXd v = Eigen::VectorXd::NullaryExpr(5, [&] { return normal(random); });
    v.head<3>() += at;
    return v;
  };
  for (const auto& [type, at] : types) {
    for (int i = 0; i < 60; ++i) space.templates.push_back(TemplateOf(type, draw(at)));
  }
  const TypeModels models = *TypeModels::Build(space);
  const TypeModels coarse = *TypeModels::Build(space, "schlesinger");
  EXPECT_EQ(models.types().size(), 3u);
  EXPECT_EQ(coarse.types().size(), 2u);  // palmar, cylindrical
  int right = 0, right_coarse = 0;
  for (const auto& [type, at] : types) {
    for (int i = 0; i < 30; ++i) {
      const Eigen::VectorXd shape = draw(at);
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

TEST(TypeModels, RefusesASpaceWithoutTypes) {
  artefact::GraspSpace space;
  space.mean = Eigen::VectorXd::Zero(2);
  space.basis = Eigen::MatrixXd::Identity(2, 1);
  space.templates.push_back(TemplateOf("tripod", Eigen::VectorXd::Zero(2)));
  EXPECT_EQ(TypeModels::Build(space).error().code, ErrorCode::kUnidentifiable);
  EXPECT_EQ(TypeModels::Build(space, "napier").error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::fitting

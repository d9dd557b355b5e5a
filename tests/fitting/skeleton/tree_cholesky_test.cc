#include "fitting/skeleton/tree_cholesky.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>

#include "database/model/hand_library.h"
#include "fitting/skeleton/tangent_problem.h"
#include "tests/support/random_skeleton.h"

namespace handhold::fitting::tree_cholesky_test {
namespace {

/// J^T J of rows that each see one body, plus a diagonal: the pattern of a pose's normal equations.
Eigen::MatrixXd NormalOf(const model::Skeleton& s, std::mt19937* random) {
  std::normal_distribution<double> normal;
  Eigen::MatrixXd H = Eigen::MatrixXd::Identity(s.nv(), s.nv());
  for (int b = 1; b < s.body_count(); ++b) {
    for (int row = 0; row < 4; ++row) {
      Eigen::VectorXd J = Eigen::VectorXd::Zero(s.nv());
      for (int d = 0; d < s.nv(); ++d) {
        if (s.DofMovesBody(d, b)) J[d] = normal(*random);
      }
      H += J * J.transpose();
    }
  }
  return H;
}

TEST(TreeCholeskyTest, SolvesAsADenseFactorDoes) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<model::Skeleton> skeletons{model::LoadHand("hand57").value(),
                                         model::LoadHand("finger4").value()};
  for (int n = 3; n < 20; ++n) skeletons.push_back(testing::RandomSkeleton(random, n));
  for (const model::Skeleton& s : skeletons) {
    const Eigen::MatrixXd H = NormalOf(s, &random);
    Eigen::VectorXd b(s.nv()), x;
    for (double& v : b) v = normal(random);
    TreeCholesky tree(s);
    for (const double damping : {0.0, 0.3}) {
      Eigen::MatrixXd damped = H;
      damped.diagonal() *= 1 + damping;
      // The upper triangle is not read.
      Eigen::MatrixXd lower = H;
      lower.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));
      ASSERT_TRUE(tree.Factor(lower, damping));
      tree.Solve(b, &x);
      EXPECT_LT((x - damped.llt().solve(b)).norm(), 1e-10 * x.norm()) << s.nv();
    }
  }
}

TEST(TreeCholeskyTest, WhatIsNotPositiveIsRefused) {
  const model::Skeleton s = model::LoadHand("finger4").value();
  TreeCholesky tree(s);
  Eigen::MatrixXd H = Eigen::MatrixXd::Identity(4, 4);
  H(2, 2) = -1;
  EXPECT_FALSE(tree.Factor(H, 0));
  H(2, 2) = std::nan("");
  EXPECT_FALSE(tree.Factor(H, 0));
}

TEST(CutAlongTreeTest, FingersAreBranchesAndWhatTheyShareIsTheTrunk) {
  const model::Skeleton hand = model::LoadHand("hand57").value();
  const TreeBlocks fixed = CutAlongTree(hand);
  EXPECT_TRUE(fixed.trunk.empty());
  ASSERT_EQ(fixed.branches.size(), 5u);
  EXPECT_EQ(fixed.branches[0].size(), 9u);
  EXPECT_EQ(fixed.branches[4].size(), 12u);

  model::SkeletonDraft draft = hand.draft();
  draft.bodies[0].joint.type = model::JointType::kFree;
  draft.bodies[0].joint.dof_names.clear();
  const model::Skeleton moving = model::Skeleton::Build(draft).value();
  const TreeBlocks blocks = CutAlongTree(moving);
  EXPECT_EQ(blocks.trunk, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(blocks.branches.size(), 5u);
  for (int b = 1; b < moving.body_count(); ++b) {
    const int branch = blocks.branch_of_body[static_cast<size_t>(b)];
    EXPECT_EQ(branch < 0, moving.body(b).name == "palm") << moving.body(b).name;
  }
  const TreeBlocks chain = CutAlongTree(model::LoadHand("finger4").value());
  EXPECT_TRUE(chain.trunk.empty());
  EXPECT_EQ(chain.branches, (std::vector<std::vector<int>>{{0, 1, 2, 3}}));
}

}  // namespace
}  // namespace handhold::fitting::tree_cholesky_test

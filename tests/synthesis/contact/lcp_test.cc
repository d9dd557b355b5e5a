#include "synthesis/contact/lcp.h"

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/LU>

namespace handhold::synthesis::lcp_test {
namespace {

// Oracle: every choice of z-or-w per index, solved by elimination. 2^n systems; for n <= 12.
std::vector<Eigen::VectorXd> AllSolutions(const Eigen::MatrixXd& M, const Eigen::VectorXd& q) {
  const int n = static_cast<int>(q.size());
  std::vector<Eigen::VectorXd> found;
  for (int mask = 0; mask < 1 << n; ++mask) {
    Eigen::MatrixXd B = Eigen::MatrixXd::Identity(n, n);  // w - M z = q
    for (int i = 0; i < n; ++i) {
      if (mask >> i & 1) B.col(i) = -M.col(i);
    }
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(B);
    if (lu.rank() < n) continue;
    const Eigen::VectorXd x = lu.solve(q);
    if (x.minCoeff() < -1e-10) continue;
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n);
    for (int i = 0; i < n; ++i) {
      if (mask >> i & 1) z[i] = x[i];
    }
    found.push_back(z);
  }
  return found;
}

double Nearest(const std::vector<Eigen::VectorXd>& solutions, const Eigen::VectorXd& z) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& s : solutions) best = std::min(best, (s - z).lpNorm<Eigen::Infinity>());
  return best;
}

// A compliant frictional contact problem of Kry & Pai 7.1.3 with `contacts` contacts and 4 tangents
// each, random effective compliance G (positive definite) of metres per newton.
void ContactProblem(int contacts, std::mt19937* rng, Eigen::MatrixXd* M, Eigen::VectorXd* q,
                    int sides = 4) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const int dim = 3 * contacts, per = sides + 1, n = contacts * (per + 1);
  Eigen::MatrixXd A(dim, dim + 2);
  for (Eigen::Index i = 0; i < A.size(); ++i) A.data()[i] = normal(*rng);
  const Eigen::MatrixXd G =
      1e-3 * (A * A.transpose() / dim + 1e-3 * Eigen::MatrixXd::Identity(dim, dim));
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(dim, contacts * per);
  for (int c = 0; c < contacts; ++c) {
    D(3 * c + 2, c * per) = 1.0;
    for (int t = 0; t < sides; ++t) {
      // Paired: 2j - 1 and 2j are opposite.
      const double angle = (t / 2) * 2 * M_PI / sides + (t % 2) * M_PI;
      D(3 * c, c * per + 1 + t) = std::cos(angle);
      D(3 * c + 1, c * per + 1 + t) = std::sin(angle);
    }
  }
  *M = Eigen::MatrixXd::Zero(n, n);
  M->topLeftCorner(contacts * per, contacts * per) = D.transpose() * G * D;
  Eigen::VectorXd du(dim);
  for (int i = 0; i < dim; ++i) du[i] = 1e-4 * normal(*rng);
  *q = Eigen::VectorXd::Zero(n);
  q->head(contacts * per) = D.transpose() * du;
  for (int c = 0; c < contacts; ++c) {
    (*q)[c * per] -= 5e-5;
    (*M)(contacts* per + c, c * per) = 0.3 + 0.7 * uniform(*rng);
    for (int t = 0; t < sides; ++t) {
      (*M)(contacts* per + c, c * per + 1 + t) = -1.0;
      (*M)(c* per + 1 + t, contacts * per + c) = 1.0;
    }
  }
}

TEST(LcpTest, SolvesPositiveDefiniteProblemsToTheirOneSolution) {
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  LcpWorkspace ws;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 1 + trial % 8;
    Eigen::MatrixXd A(n, n);
    for (Eigen::Index i = 0; i < A.size(); ++i) A.data()[i] = normal(rng);
    const Eigen::MatrixXd M = A * A.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
    Eigen::VectorXd q(n), z;
    for (int i = 0; i < n; ++i) q[i] = normal(rng);
    const LcpSummary s = SolveLcp(M, q, {}, &ws, &z);
    ASSERT_EQ(s.outcome, LcpOutcome::kSolved);
    EXPECT_LE(s.residual, 1e-12);
    EXPECT_LE(Nearest(AllSolutions(M, q), z), 1e-9 * std::max(1.0, z.norm())) << trial;
  }
}

TEST(LcpTest, ContactProblemsOfTwoContactsAreAmongTheEnumeratedSolutions) {
  std::mt19937 rng(2);
  LcpWorkspace ws;
  for (int trial = 0; trial < 60; ++trial) {
    Eigen::MatrixXd M;
    Eigen::VectorXd q, z;
    ContactProblem(2, &rng, &M, &q);
    const LcpSummary s = SolveLcp(M, q, {}, &ws, &z);
    ASSERT_EQ(s.outcome, LcpOutcome::kSolved) << trial;
    EXPECT_LE(s.residual, 1e-9);
    if (trial < 20) {
      EXPECT_LE(Nearest(AllSolutions(M, q), z), 1e-8 * std::max(1.0, z.norm())) << trial;
    }
  }
}

TEST(LcpTest, TenContactsWithEightSidesAreAllSolved) {
  std::mt19937 rng(3);
  LcpWorkspace ws;
  for (int trial = 0; trial < 100; ++trial) {
    Eigen::MatrixXd M;
    Eigen::VectorXd q, z;
    ContactProblem(10, &rng, &M, &q, 8);
    const LcpSummary s = SolveLcp(M, q, {}, &ws, &z);
    ASSERT_EQ(s.outcome, LcpOutcome::kSolved) << trial << " after " << s.pivots;
    EXPECT_LE(s.residual, 1e-9) << trial;
  }
}

TEST(LcpTest, ScalingTheProblemByTenToTheSixScalesTheAnswer) {
  std::mt19937 rng(4);
  LcpWorkspace ws;
  Eigen::MatrixXd M;
  Eigen::VectorXd q, z, z_large;
  ContactProblem(3, &rng, &M, &q);
  ASSERT_EQ(SolveLcp(M, q, {}, &ws, &z).outcome, LcpOutcome::kSolved);
  ASSERT_EQ(SolveLcp(M, 1e6 * q, {}, &ws, &z_large).outcome, LcpOutcome::kSolved);
  EXPECT_LE((z_large * 1e-6 - z).lpNorm<Eigen::Infinity>(), 1e-9 * z.norm());
}

TEST(LcpTest, ANonNegativeQNeedsNoForce) {
  LcpWorkspace ws;
  Eigen::VectorXd z;
  const LcpSummary s =
      SolveLcp(Eigen::MatrixXd::Identity(3, 3), Eigen::Vector3d(0, 1, 2), {}, &ws, &z);
  EXPECT_EQ(s.outcome, LcpOutcome::kSolved);
  EXPECT_EQ(s.pivots, 0);
  EXPECT_EQ(z.norm(), 0.0);
}

TEST(LcpTest, AProblemWithoutSolutionEndsInARayAndIsNeverCalledSolved) {
  LcpWorkspace ws;
  Eigen::VectorXd z;
  // w1 = -z1 - 1 < 0 for every z: infeasible.
  const LcpSummary s =
      SolveLcp(-Eigen::MatrixXd::Identity(1, 1), Eigen::VectorXd::Constant(1, -1.0), {}, &ws, &z);
  EXPECT_EQ(s.outcome, LcpOutcome::kRay);
}

TEST(LcpTest, NotFiniteInputIsRefused) {
  LcpWorkspace ws;
  Eigen::VectorXd z;
  Eigen::VectorXd q = Eigen::VectorXd::Constant(2, -1.0);
  q[1] = std::nan("");
  EXPECT_EQ(SolveLcp(Eigen::MatrixXd::Identity(2, 2), q, {}, &ws, &z).outcome,
            LcpOutcome::kNumerical);
  EXPECT_EQ(z, Eigen::VectorXd::Zero(2));
}

TEST(LcpTest, TheResidualSeesEachWayOfBeingWrong) {
  const Eigen::MatrixXd M = 2.0 * Eigen::MatrixXd::Identity(2, 2);
  const Eigen::Vector2d q(-2.0, 2.0);
  EXPECT_EQ(LcpResidual(M, q, Eigen::Vector2d(1.0, 0.0)), 0.0);
  EXPECT_GT(LcpResidual(M, q, Eigen::Vector2d(0.5, 0.0)), 0.1);   // w < 0
  EXPECT_GT(LcpResidual(M, q, Eigen::Vector2d(1.0, -0.2)), 0.1);  // z < 0
  EXPECT_GT(LcpResidual(M, q, Eigen::Vector2d(1.5, 0.0)), 0.1);   // z and w both positive
}

// A degenerate wedge: two contacts of one compliant point with identical rows, so that ties are
// everywhere.
TEST(LcpTest, RedundantContactsAreSolved) {
  LcpWorkspace ws;
  std::mt19937 rng(5);
  for (int trial = 0; trial < 50; ++trial) {
    Eigen::MatrixXd M1;
    Eigen::VectorXd q1, z;
    ContactProblem(1, &rng, &M1, &q1);
    const int half = static_cast<int>(q1.size()) - 1, n = 2 * half + 2;
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
    Eigen::VectorXd q = Eigen::VectorXd::Zero(n);
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b)
        M.block(a * half, b * half, half, half) = M1.topLeftCorner(half, half);
      // Each contact's own surface compliance keeps the problem positive definite along normals.
      M(a * half, a * half) += 2e-4;
      q.segment(a * half, half) = q1.head(half);
      M.block(2 * half + a, a * half, 1, half) = M1.block(half, 0, 1, half);
      M.block(a * half, 2 * half + a, half, 1) = M1.block(0, half, half, 1);
    }
    const LcpSummary s = SolveLcp(M, q, {}, &ws, &z);
    ASSERT_EQ(s.outcome, LcpOutcome::kSolved)
        << trial << " " << LcpOutcomeName(s.outcome) << " after " << s.pivots;
    EXPECT_LE(s.residual, 1e-9);
  }
}

}  // namespace
}  // namespace handhold::synthesis::lcp_test

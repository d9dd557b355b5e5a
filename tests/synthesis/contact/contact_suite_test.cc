// 2000 problems of hand27, an object and a table: all solved with surfaces that give; rigid ones
// counted. Half are drawn, half come from hands that close on a box.
#include <cstdio>

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "tests/support/grip_problems.h"

namespace handhold::synthesis::contact_suite_test {
namespace {

using testing::DrawnProblem;

struct Tally {
  int all = 0, lemke = 0, gauss_seidel = 0, nobody = 0;
  double worst_N = 0.0;
  void Add(const ContactSummary& s) {
    ++all;
    lemke += s.solved_by == SolvedBy::kLemke;
    gauss_seidel += s.solved_by == SolvedBy::kGaussSeidel;
    nobody += s.solved_by == SolvedBy::kNobody;
    if (s.solved()) worst_N = std::max(worst_N, s.residual_N);
  }
  void Print(const char* what) const {
    std::printf("%s: %d problems, Lemke %d, Gauss-Seidel %d, nobody %d, worst residual %.1e N\n",
                what, all, lemke, gauss_seidel, nobody, worst_N);
  }
};

// Judged here and not by the solver: cone and complementarity of what came out.
void ExpectIsAnswer(const ContactProblem& problem, std::span<const Contact> contacts,
                    const ContactSummary& summary, int index) {
  double largest = 0.01;
  for (const ContactForce& f : problem.forces()) largest = std::max(largest, f.f_onA_W.norm());
  const Eigen::MatrixXd& G = problem.G();
  Eigen::VectorXd f(G.rows());
  for (size_t i = 0; i < contacts.size(); ++i)
    f.segment<3>(3 * static_cast<Eigen::Index>(i)) = problem.forces()[i].f_onA_W;
  const Eigen::VectorXd w = problem.u() + G * f;
  for (size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    const auto row = static_cast<Eigen::Index>(3 * i);
    const double n = c.normal_W.dot(f.segment<3>(row));
    const double gap = c.normal_W.dot(w.segment<3>(row)) + c.separation_m;
    const double g = c.normal_W.dot(G.block<3, 3>(row, row) * c.normal_W);
    ASSERT_LE(std::abs(std::min(n, gap / g)), 1e-5 * largest) << index << " " << i;
    const geometry::Vec3 side = f.segment<3>(row) - n * c.normal_W;
    ASSERT_LE(side.norm(), c.law.friction * n + 1e-6 * largest) << index << " " << i;
    // What slides is near the cone's edge: the polyhedron's corners reach it, its sides 0.92 of it.
    const geometry::Vec3 slip = problem.forces()[i].slip_W;
    if (slip.norm() / g > 1e-3 * largest && n > 1e-3 * largest) {
      ASSERT_GE(side.norm(), 0.92 * c.law.friction * n) << index << " " << i;
      ASSERT_LE(side.dot(slip), 0.0) << index << " " << i;  // against the slip
    }
  }
  (void)summary;
}

TEST(ContactSuite, TwoThousandProblemsWithSurfacesThatGiveAreAllSolved) {
  const model::Skeleton hand = model::LoadHand("hand27").value();
  lab::Random random(15, "grip problems");
  testing::GripRig rig(hand);
  Tally soft, rounds, rigid;
  SolveOptions gauss_seidel;
  gauss_seidel.solver = ContactSolver::kGaussSeidel;
  for (int i = 0; i < 1000; ++i) {
    DrawnProblem drawn = testing::DrawProblem(hand, 5 + i % 12, &random);
    const ContactSummary s = rig.Solve(drawn, {});
    soft.Add(s);
    ExpectIsAnswer(rig.problem, drawn.contacts, s, i);
    if (i % 5 == 0) {
      const ContactSummary g = rig.Solve(drawn, gauss_seidel);
      rounds.Add(g);
      ExpectIsAnswer(rig.problem, drawn.contacts, g, i);
      for (Contact& c : drawn.contacts) c.law.stiffness_N_per_m = kRigid_N_per_m;
      for (Remembered& r : drawn.memory) r.stretch_W.setZero();
      rigid.Add(rig.Solve(drawn, {}));
    }
  }
  const int drawn = soft.all;
  int most = 0, runs = 0;
  while (soft.all < drawn + 1000) {
    testing::Grip grip(hand, &random);
    ++runs;
    ASSERT_LE(runs, 40);
    while (!grip.over() && soft.all < drawn + 1000) {
      const ContactSummary s = grip.Step({});
      ASSERT_TRUE(s.solved());
      if (grip.hand_contacts() >= 5) {
        soft.Add(s);
        most = std::max(most, grip.hand_contacts());
        ExpectIsAnswer(grip.problem, grip.contacts, s, soft.all);
        if (soft.all % 5 == 0) {
          ContactProblem stiff;
          for (Contact& c : grip.contacts) c.law.stiffness_N_per_m = kRigid_N_per_m;
          stiff.Assemble(grip.models, grip.contacts, {}, grip.poses, testing::kGripStep_s);
          rigid.Add(stiff.Solve({}));
        }
      }
      grip.problem.Advance(&grip.memory);
    }
  }
  soft.Print("5000 N/m");
  rounds.Print("5000 N/m, Gauss-Seidel alone");
  rigid.Print("rigid");
  std::printf("%d grips, up to %d contacts of the hand\n", runs, most);
  EXPECT_EQ(soft.all, 2000);
  EXPECT_EQ(soft.lemke, 2000);
  EXPECT_EQ(rounds.gauss_seidel, rounds.all);
  EXPECT_GE(most, 6);
  EXPECT_GE(rigid.all, 300);
  EXPECT_LE(rigid.nobody, rigid.all / 20);
}

}  // namespace
}  // namespace handhold::synthesis::contact_suite_test

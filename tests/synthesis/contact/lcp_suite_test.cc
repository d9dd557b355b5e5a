// Lemke on the suite of 2000 contact problems of hand57: all solved as posed, the small ones among
// the solutions that exhaustive enumeration finds.
#include <algorithm>
#include <cstdio>
#include <limits>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include "synthesis/contact/lcp.h"
#include "tests/support/contact_problems.h"

namespace handhold::synthesis::lcp_suite_test {
namespace {

using testing::ContactProblem;

constexpr uint64_t kSuiteHash = 0x38bded66f85bf894;  // of all 2000: another suite is another
                                                     // promise

const std::vector<ContactProblem>& Suite() {
  static const std::vector<ContactProblem> problems = testing::MakeContactProblems();
  return problems;
}

/// Distance from z to the nearest solution of a regular basis, in units of the largest entry of z;
/// infinite when there is none. 2^n eliminations on scaled rows.
double NearestByEnumeration(const ContactProblem& p, const Eigen::VectorXd& z) {
  const int n = static_cast<int>(p.q.size()), rows = p.contacts * (p.sides + 1);
  const double g = p.M.topLeftCorner(rows, rows).trace() / rows;
  Eigen::MatrixXd M = p.M;
  Eigen::VectorXd q = p.q, z_scaled = z;
  M.topRows(rows) /= g;
  M.rightCols(p.contacts) *= g;
  q.head(rows) /= g;
  z_scaled.tail(p.contacts) /= g;
  const double size = std::max(1e-3, z_scaled.cwiseAbs().maxCoeff());
  double nearest = std::numeric_limits<double>::infinity();
  Eigen::MatrixXd B(n, n);
  for (int mask = 0; mask < 1 << n; ++mask) {
    B.setIdentity();
    for (int i = 0; i < n; ++i) {
      if (mask >> i & 1) B.col(i) = -M.col(i);
    }
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(B);
    if (lu.rank() < n) continue;
    const Eigen::VectorXd x = lu.solve(q);
    if (x.minCoeff() < -1e-9 * size) continue;
    double worst = 0;
    for (int i = 0; i < n; ++i)
      worst = std::max(worst, std::abs((mask >> i & 1 ? x[i] : 0.0) - z_scaled[i]));
    nearest = std::min(nearest, worst / size);
  }
  return nearest;
}

TEST(LcpSuiteTest, TheSuiteIsTheOneThatWasPromised) {
  EXPECT_EQ(testing::SuiteHash(Suite()), kSuiteHash) << std::hex << testing::SuiteHash(Suite());
  ASSERT_EQ(Suite().size(), 2000u);
  int contacts = 0, redundant = 0, same = 0, by_count[11] = {}, light = 0, eight = 0;
  double low = 1, high = 0;
  for (const ContactProblem& p : Suite()) {
    contacts += p.contacts, redundant += p.redundant, same += p.same_point;
    ++by_count[p.contacts];
    light += p.object_kg == 0.012, eight += p.sides == 8;
    low = std::min(low, p.friction.minCoeff()), high = std::max(high, p.friction.maxCoeff());
  }
  for (int n = 1; n <= 10; ++n) EXPECT_EQ(by_count[n], 200) << n;
  EXPECT_EQ(light, 1000);
  EXPECT_EQ(eight, 1000);
  EXPECT_GE(redundant * 10, contacts);
  EXPECT_GE(same * 20, contacts);
  EXPECT_GE(low, 0.3);
  EXPECT_LE(high, 1.0);
  EXPECT_LT(low, 0.32);
  EXPECT_GT(high, 0.98);
}

TEST(LcpSuiteTest, AllAreSolvedAsPosed) {
  LcpWorkspace workspace;
  Eigen::VectorXd z;
  testing::ContactCount all;
  double worst = 0;
  int solved = 0, most = 0;
  for (size_t i = 0; i < Suite().size(); ++i) {
    const ContactProblem& p = Suite()[i];
    const LcpSummary s = SolveLcp(p.M, p.q, {}, &workspace, &z);
    EXPECT_EQ(s.outcome, LcpOutcome::kSolved)
        << i << ": " << LcpOutcomeName(s.outcome) << " after " << s.pivots << " pivots, "
        << p.contacts << " contacts, " << p.sides << " sides, " << p.same_point << " repeated";
    // Judged here and not by the solver: rows and columns scaled to unit mean diagonal.
    const int rows = p.contacts * (p.sides + 1);
    const double g = p.M.topLeftCorner(rows, rows).trace() / rows;
    const Eigen::VectorXd w = p.M * z + p.q;
    double residual = 0;
    for (int k = 0; k < p.q.size(); ++k) {
      const bool cone = k >= rows;
      residual =
          std::max(residual, std::abs(std::min(cone ? z[k] / g : z[k], cone ? w[k] : w[k] / g)));
    }
    EXPECT_LE(residual, 1e-9) << i;
    worst = std::max(worst, residual);
    solved += s.outcome == LcpOutcome::kSolved && residual <= 1e-9;
    most = std::max(most, s.pivots);
    const testing::ContactCount count = testing::CountContacts(p, z);
    all.loaded += count.loaded, all.sliding += count.sliding;
  }
  std::printf(
      "%d of %zu solved, worst residual %.1e, at most %d pivots; %d contacts loaded, %.0f %% "
      "of them sliding\n",
      solved, Suite().size(), worst, most, all.loaded, 100.0 * all.sliding / all.loaded);
  EXPECT_GE(all.loaded, 6000);
  EXPECT_GE(all.sliding, 0.4 * all.loaded);
  EXPECT_LE(all.sliding, 0.6 * all.loaded);
}

// All of one contact, and every fifth of two contacts with four sides (4096 eliminations each).
TEST(LcpSuiteTest, SmallOnesAreAmongTheEnumeratedSolutions) {
  LcpWorkspace workspace;
  Eigen::VectorXd z;
  int checked = 0, small = 0;
  for (size_t i = 0; i < Suite().size(); ++i) {
    const ContactProblem& p = Suite()[i];
    if (p.q.size() > 12 || (p.contacts > 1 && small++ % 5 != 0)) continue;
    ASSERT_EQ(SolveLcp(p.M, p.q, {}, &workspace, &z).outcome, LcpOutcome::kSolved);
    EXPECT_LE(NearestByEnumeration(p, z), 1e-8) << i;
    ++checked;
  }
  EXPECT_GE(checked, 220);
}

// A solver that gives up, or that answers something else, is seen.
TEST(LcpSuiteTest, AWrongAnswerIsNoneOfTheEnumeratedOnes) {
  LcpWorkspace workspace;
  Eigen::VectorXd z;
  const ContactProblem& p = Suite()[0];
  ASSERT_EQ(SolveLcp(p.M, p.q, {}, &workspace, &z).outcome, LcpOutcome::kSolved);
  ASSERT_LE(NearestByEnumeration(p, z), 1e-8);
  z[0] += 1e-3;
  EXPECT_GT(NearestByEnumeration(p, z), 1e-6);
}

}  // namespace
}  // namespace handhold::synthesis::lcp_suite_test

// chain.lcp.*: Lemke on the suite of contact problems of hand57, against Siconos' lexicographic
// Lemke on the same problems, as posed, alternately. Times compare only problems that both solve.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include "synthesis/contact/lcp.h"
#include "tests/support/bench.h"
#include "tests/support/contact_problems.h"

namespace {

using handhold::testing::ContactProblem;
namespace synthesis = handhold::synthesis;

/// Siconos' solver behind values. It holds the problem's data by pointer.
class Peer {
 public:
  Peer() : options_(solver_options_create(SICONOS_LCP_LEMKE)) {}
  ~Peer() { solver_options_delete(options_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// True when the peer says that it has solved it.
  bool Solve(const ContactProblem& p, Eigen::VectorXd* z) {
    const int n = static_cast<int>(p.q.size());
    NumericsMatrix M;
    NM_null(&M);
    M.storageType = NM_DENSE;
    M.size0 = M.size1 = n;
    M.matrix0 = const_cast<double*>(p.M.data());  // column-major, as Eigen's; not written to
    LinearComplementarityProblem problem{n, &M, const_cast<double*>(p.q.data())};
    z->setZero(n);
    w_.setZero(n);
    int info = 1;
    lcp_lexicolemke(&problem, z->data(), w_.data(), &info, options_);
    return info == 0;
  }

 private:
  SolverOptions* options_;
  Eigen::VectorXd w_;
};

struct Group {
  std::vector<const ContactProblem*> both;  // solved by both to 1e-9
  int ours = 0, peers = 0, all = 0;
};

}  // namespace

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    const std::vector<ContactProblem> problems = handhold::testing::MakeContactProblems();
    synthesis::LcpWorkspace workspace;
    Peer peer;
    Eigen::VectorXd z;
    int solved = 0, peer_solved = 0;
    Group five, ten;
    for (const ContactProblem& p : problems) {
      const synthesis::LcpSummary s = synthesis::SolveLcp(p.M, p.q, {}, &workspace, &z);
      const bool ours = s.outcome == synthesis::LcpOutcome::kSolved &&
                        synthesis::LcpResidual(p.M, p.q, z) <= 1e-9;
      const bool said = peer.Solve(p, &z);
      const bool theirs = said && z.allFinite() && synthesis::LcpResidual(p.M, p.q, z) <= 1e-9;
      solved += ours, peer_solved += theirs;
      if (p.sides != 8 || (p.contacts != 5 && p.contacts != 10)) continue;
      Group& group = p.contacts == 5 ? five : ten;
      ++group.all, group.ours += ours, group.peers += theirs;
      if (ours && theirs) group.both.push_back(&p);
    }
    if (reporter.wants("chain.lcp.solved")) {
      reporter.Report(
          "chain.lcp.solved",
          {.value = {100.0 * solved / static_cast<double>(problems.size()), 0},
           .unit = "% of 2000",
           .better = Better::kHigher,
           .peer = "Siconos 4.4 Lemke",
           .peer_value = {100.0 * peer_solved / static_cast<double>(problems.size()), 0},
           .goal = Goal::AtLeast(100)});
    }
    const auto report = [&](const char* mark, const Group& group) {
      if (!reporter.wants(mark)) return;
      if (group.both.size() < 20) throw std::runtime_error("too few problems that both solve");
      // The median over problems of one pass, and that over passes.
      const auto median_us = [&](auto&& solve) {
        std::vector<double> us;
        for (const ContactProblem* p : group.both) us.push_back(1e6 * Seconds([&] { solve(*p); }));
        return Summarise(std::move(us)).median;
      };
      const auto [own, other] = RepeatBoth(
          11,
          [&] {
            return median_us([&](const ContactProblem& p) {
              synthesis::SolveLcp(p.M, p.q, {}, &workspace, &z);
            });
          },
          [&] { return median_us([&](const ContactProblem& p) { peer.Solve(p, &z); }); });
      reporter.Report(mark, {.value = own,
                             .unit = "us/problem",
                             .peer = "Siconos 4.4 Lemke, " + std::to_string(group.both.size()) +
                                     " of " + std::to_string(group.all) + " that both solve",
                             .peer_value = other,
                             .goal = Goal::RatioAtLeast(3)});
    };
    report("chain.lcp.contacts5", five);
    report("chain.lcp.contacts10", ten);
  });
}

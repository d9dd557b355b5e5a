/// The one judge: tries every candidate in the same way, whoever proposed it, and ranks them all.
///
/// Two trials: a short one for every candidate, and the exact protocol for the first few. What is
/// tested exactly is the settled grasp, and that is what is kept. Which engine tries is behind
/// GraspTrial, so that the order of ranks is tested without one. Pinned by
/// tests/synthesis/regrasp/judge_test.cc.
#pragma once

#include <functional>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/base/result.h"

namespace handhold::synthesis {

/// How a candidate is tried.
class GraspTrial {
 public:
  virtual ~GraspTrial() = default;
  /// Short: its figure "worst" (max of shift and turn against their limits; below 1 it held) ranks.
  virtual Result<artefact::GraspTest> Quick(const artefact::Grasp& grasp) = 0;
  /// The grasp as it stands once it is formed (HandScene::Settled); as it is where it cannot be.
  virtual Result<artefact::Grasp> Settled(const artefact::Grasp& grasp) = 0;
  /// The protocol whole.
  virtual Result<artefact::GraspTest> Exact(const artefact::Grasp& grasp) = 0;
};

struct JudgeOptions {
  int exact = 3;              ///< so many of the first ranks get the exact protocol
  bool stop_at_pass = false;  ///< no further exact test once one has passed
};

/// Raised with each [numbers] line of the CHANGELOG that concerns ranks.
inline constexpr int kJudgeVersion = 2;

/// A grasp that could not be formed: its "worst" in the short trial.
inline constexpr double kNotFormed = 10.0;

/// Adds the short trial to the grasp: its test, and scores "margin" (1 - worst: 1 did not move, 0
/// at the limit, negative failed) and "survived" (1 or 0). A second short trial replaces the first.
Status TryCandidate(GraspTrial* trial, artefact::Grasp* grasp);

/// Settles and tests the best `exact` candidates that could be formed by the whole protocol and
/// sorts all: 1. those that passed the exact protocol; 2. those not tested exactly that survived;
/// 3. those that failed it; 4. the rest; each by margin, equals by scores["candidate"] then
/// proposer: the same set gives the same order, whatever order it comes in. scores["rank"] is 1, 2,
/// ... `go_on`, asked before each exact test, false: the rest stay untested; empty: always.
Status RankGrasps(const JudgeOptions& options, GraspTrial* trial,
                  std::vector<artefact::Grasp>* grasps, const std::function<bool()>& go_on = {});

/// Sorts grasps that passed the exact protocol by what else they did: those that were also lifted
/// (test "lift") and held in their motion (scores["shown_held"] 1) first, those lifted, the others;
/// ranks anew. Grasps that did not pass stay behind, in their order.
void RankByLift(std::vector<artefact::Grasp>* grasps);

/// The exact P1 test of a grasp; null: not tested.
const artefact::GraspTest* ExactTestOf(const artefact::Grasp& grasp);

template <typename A>
void Visit(A& a, JudgeOptions& o) {
  a.Field("exact", o.exact);
  a.Field("stop_at_pass", o.stop_at_pass);
}

}  // namespace handhold::synthesis

/// Step "regrasp": one example and one prop in; ranked, tested grasps and their motions out
/// (synthesis/regrasp).
///
/// Candidates are tried in `jobs` processes of one world each. What was found is kept whatever ends
/// the search: its time, or the caller, whose progress answers false (the ranks then are of what
/// was tried). Pinned by tests/tools/pipeline/regrasp_test.cc.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "synthesis/evaluate/grasp_metrics.h"
#include "synthesis/regrasp/example_proposer.h"
#include "synthesis/regrasp/grasp_motion.h"
#include "synthesis/regrasp/hand_trial.h"
#include "synthesis/regrasp/judge.h"
#include "tools/pipeline/find_grasp.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// How far a search is.
struct RegraspProgress {
  int tried = 0, planned = 0, survived = 0;
  double best_margin = -1e9;  ///< of the short trial; below -1e8: none yet
  std::string doing;          ///< "trying poses", "testing exactly", "recording"
};

struct RegraspResult {
  struct Kept {
    artefact::Grasp grasp;
    std::string hash;
    std::string motion;  ///< artefact; empty: not recorded
    std::string verdict;
  };
  std::vector<Kept> kept;  ///< by rank
  RegraspProgress progress;
  std::map<std::string, int> refused;  ///< candidates that are not kept, by why; "tried: shifted"
  bool stopped = false;
  std::string no_match;  ///< not empty: nothing fits the region or type; nothing was tried
  std::vector<std::string> chosen;
};

struct RegraspStep {
  std::string example = {};  ///< as FindExample; empty: none, then a space is searched
  /// A grasp space by hash, or "newest": its search proposes as many poses again, for the judge to
  /// rank beside the example's; empty: none.
  std::string space = {};
  std::string prop = {};  ///< as FindProp
  double metres_per_unit = kMeshMetresPerUnit;
  /// Another hand of the example's degrees of freedom (a scaled one); empty: the example's.
  HandChoice hand = {};
  double mass_kg = 0.1, friction = 0.6;
  std::string region = {}, type = {};  ///< as RegionNamed, TypeMatches
  bool avoid_table = false;  ///< it stands on one, normal to its Z, under its lowest point
  int poses = 60;
  std::int64_t seed = 1;
  double seconds = 0.0;  ///< wall time for the candidates; 0: no limit
  int top = 5;           ///< so many are kept, with motions
  int jobs = 1;
  bool motions = true;
  synthesis::ExampleProposerOptions proposer = {};
  synthesis::HandTrialOptions trial = {};
  synthesis::JudgeOptions judge = {};
  synthesis::GraspMotionOptions motion = {};
  /// Told between candidates; false ends the search and keeps what there is.
  std::function<bool(const RegraspProgress&)> watch = {};

  /// Errors only where nothing could be tried. Only grasps that held in the short trial are kept,
  /// as they settled; of those that were tested, failures with their cause. `kept` may be empty.
  Result<RegraspResult> Run(const StepContext& context) const;
};

}  // namespace handhold::pipeline

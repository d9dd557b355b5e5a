/// Step "regrasp": one example and one prop in; ranked, tested grasps and their motions out
/// (synthesis/regrasp).
///
/// Candidates are tried in `jobs` parts, of one world each. What was found is kept whatever ends
/// the search: its time, or the caller, whose progress answers false (the ranks then are of what
/// was tried, and the result says that it was cut short). It joins proposers that know nothing of
/// each other, so it stands here; its Compute knows no library. Pinned by
/// tests/tools/pipeline/regrasp_test.cc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/artefact/grasp_space.h"
#include "database/artefact/motion.h"
#include "database/step/about.h"
#include "database/step/given.h"
#include "database/step/work.h"
#include "synthesis/evaluate/grasp_metrics.h"
#include "synthesis/grasp_search/grasp_search.h"
#include "synthesis/regrasp/example_proposer.h"
#include "synthesis/regrasp/grasp_motion.h"
#include "synthesis/regrasp/hand_trial.h"
#include "synthesis/regrasp/judge.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

struct RegraspStep {
  /// Any of what it stands on that is raised raises it.
  static constexpr step::Title kStep{
      "regrasp",
      3 + synthesis::kExampleProposerVersion + synthesis::kHandSceneVersion +
          synthesis::kP1Version + synthesis::kJudgeVersion + synthesis::kGraspMetricsVersion +
          synthesis::kGraspSearchVersion + synthesis::kGraspMotionVersion,
      "one example of a grasp and any prop in; ranked, tested grasps and motions out"};
  step::Given<artefact::Grasp> example = {};  ///< or a motion, or a clip: PrepareStep finds it
  step::Given<artefact::Motion> shown = {};   ///< from which the example is taken
  step::Given<step::Hand> example_skeleton = {};
  step::Given<model::Prop> example_prop = {};
  /// Its search proposes as many poses again, for the judge to rank beside the example's.
  step::Given<artefact::GraspSpace> space = {};
  step::Given<model::Prop> prop = {};
  step::Given<step::Hand> skeleton = {};  ///< that grasps; empty: the example's, else the space's
  step::Given<step::Hand> hand = {};      ///< the same with a free root, in motions
  step::Given<model::Prop> table = {};    ///< of motions
  double mass_kg = 0.1, friction = 0.6;
  std::string region = {}, type = {};  ///< as RegionNamed, TypeMatches
  bool avoid_table = false;  ///< it stands on one, normal to its Z, under its lowest point
  int poses = 60;
  std::int64_t seed = 1;
  int top = 5;  ///< so many are kept, with motions
  bool motions = true;
  double seconds = 0.0;  ///< wall time for the candidates; 0: no limit
  int jobs = 1;
  synthesis::ExampleProposerOptions proposer = {};
  synthesis::HandTrialOptions trial = {};
  synthesis::JudgeOptions judge = {};
  synthesis::GraspMotionOptions motion = {};
};
template <typename A>
void Visit(A& a, RegraspStep& s) {
  using artefact::About;
  using step::Role;
  using step::Unsaid;
  a.Input("example", s.example,
          Role{.help = "a grasp of ours, a grasp's .json, a grasp or motion artefact, or a clip",
               .value = "GRASP",
               .needed = false});
  a.Input("shown", s.shown, Role{.needed = false});
  a.Input("example_skeleton", s.example_skeleton, Role{.needed = false});
  a.Input("example_prop", s.example_prop, Role{.needed = false});
  a.Input("space", s.space,
          Role{.help = "grasps searched in a grasp space, beside or instead of the example's: an "
                       "artefact, or newest",
               .value = "SPACE",
               .needed = false});
  a.Input("prop", s.prop,
          Role{.help = "a prop of ours, a .json prop, a .stl, .obj or .ply mesh, or an artefact"});
  a.Input("skeleton", s.skeleton,
          Role{.help = "another hand of the example's degrees of freedom; default: the example's",
               .word = "hand",
               .needed = false});
  a.Input("hand", s.hand, Role{.unsaid = Unsaid::kFreed, .of = "skeleton"});
  a.Input("table", s.table, Role{.needed = false});
  a.Field("mass_kg", s.mass_kg,
          About{.help = "of the prop in every test",
                .value = "KG",
                .least = 0,
                .most = 100,
                .above = true});
  a.Field("friction", s.friction,
          About{.help = "of hand and prop", .value = "MU", .least = 0, .most = 10});
  a.Field("region", s.region,
          About{.help = "a region of the prop by name, or x,y,z,r in metres in its frame",
                .value = "R"});
  a.Field("type", s.type, About{.help = "only examples of this type: tripod, or feix:tripod"});
  a.Field("avoid_table", s.avoid_table);
  a.Field("poses", s.poses,
          About{.help = "wrist poses to try", .value = "N", .least = 1, .most = 100000});
  a.Field("seed", s.seed, About{.help = "of the poses", .value = "N", .least = 0, .most = 1e15});
  a.Field(
      "top", s.top,
      About{.help = "keep so many, with their motions", .value = "N", .least = 1, .most = 1000});
  a.Field("motions", s.motions);
  a.Running("seconds", s.seconds,
            About{.help = "begin no further pose after so long; 0: no limit",
                  .value = "N",
                  .least = 0,
                  .most = 86400});
  a.Running("jobs", s.jobs,
            About{.help = "processes that try poses", .value = "N", .least = 1, .most = 256});
  a.Field("proposer", s.proposer);
  a.Field("trial", s.trial);
  a.Field("judge", s.judge);
  a.Field("motion", s.motion);
}

/// Only grasps that held in the short trial, as they settled; of those that were tested, failures
/// with their cause.
struct Regrasped {
  std::vector<artefact::Grasp> grasps;                   ///< by rank
  std::vector<std::optional<artefact::Motion>> motions;  ///< of each; empty: not recorded
  std::vector<std::string> verdicts;                     ///< of each motion
  int tried = 0, planned = 0, survived = 0;
  std::map<std::string, int> refused;  ///< candidates that are not kept, by why; "tried: shifted"
};
template <typename A>
void Visit(A& a, Regrasped& r) {
  a.Output("grasp", r.grasps);
  a.Output("motion", r.motions, "grasp");
  a.Field("verdicts", r.verdicts);
  a.Field("tried", r.tried);
  a.Field("planned", r.planned);
  a.Field("survived", r.survived);
  a.Field("refused", r.refused);
}

/// The example with its hand and prop, the space, the hand that grasps, the table.
Status PrepareStep(const StepContext& context, RegraspStep* step, std::vector<std::string>* chosen);
Status Check(const RegraspStep& s);
/// kNotFound where nothing fits the region or type, or nothing holds, with the counts.
Result<Regrasped> Compute(const RegraspStep& s, step::Work& work);

}  // namespace handhold::pipeline

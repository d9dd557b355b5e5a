#include "tools/pipeline/regrasp.h"

#include <algorithm>
#include <cstdio>

#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

using pipeline::RegraspProgress;
using pipeline::RegraspResult;

std::string TestText(const artefact::Grasp& grasp, const std::string& protocol) {
  for (const artefact::GraspTest& test : grasp.tests) {
    if (test.protocol == protocol) return test.passed ? "passed" : test.cause;
  }
  return "not tested";
}

Cell ScoreOf(const artefact::Grasp& grasp, const char* name) {
  const auto it = grasp.scores.find(name);
  return it == grasp.scores.end() ? Cell(std::nullopt) : Cell(it->second);
}

/// Progress with the best so far, in five lines of text a second at most.
class Watcher {
 public:
  explicit Watcher(Context& context) : context_(context) {}
  bool operator()(const RegraspProgress& p) {
    const std::string best = p.best_margin < -1e8 ? "nothing holds yet"
                                                  : "best margin " + Cell(p.best_margin).ToText(2) +
                                                        ", " + std::to_string(p.survived) + " hold";
    const std::string what = p.doing == "trying poses" ? p.doing + " (" + best + ")" : p.doing;
    if (what != said_) {
      said_ = what;
      context_.progress.Begin(what, p.planned, "pose");
    }
    context_.progress.Update(p.tried);
    return !context_.interrupted();
  }

 private:
  Context& context_;
  std::string said_;
};

Outcome Regrasp(Context& context) {
  const Arguments& given = context.arguments;
  pipeline::RegraspStep step;
  step.example = given.Text("--example");
  step.space = given.Text("--space");
  if (step.example.empty() && step.space.empty())
    return Outcome::Usage("say where grasps come from: --example GRASP, --space SPACE, or both");
  if (step.example.empty() && !given.Text("--hand").empty())
    return Outcome::Usage("--hand is instead of an example's: without --example it is the space's");
  step.prop = given.Text("--prop");
  step.metres_per_unit = MetresPerUnit(given);
  step.hand.key = given.Text("--hand");
  step.hand.scale = given.Number("--scale");
  if (step.hand.scale != 1.0 && step.hand.key.empty())
    return Outcome::Usage("--scale is of a hand: name it with --hand");
  step.mass_kg = given.Number("--mass");
  step.friction = given.Number("--friction");
  step.region = given.Text("--region");
  step.type = given.Text("--type");
  step.avoid_table = given.Has("--avoid");
  step.poses = static_cast<int>(given.Integer("--poses"));
  step.seed = given.Integer("--seed");
  if (given.Has("--seconds")) step.seconds = given.Number("--seconds");
  step.top = static_cast<int>(given.Integer("--top"));
  step.jobs = static_cast<int>(given.Integer("--jobs"));
  Watcher watcher(context);
  step.watch = [&](const RegraspProgress& p) { return watcher(p); };

  HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
  HANDHOLD_ASSIGN(const RegraspResult result,
                  step.Run(StepContextOf(context, *library, "regrasping")));
  context.progress.End();
  for (const std::string& sentence : result.chosen) context.progress.Note("using " + sentence);
  if (!result.no_match.empty()) return Error{ErrorCode::kNotFound, result.no_match};
  if (result.kept.empty() && !context.dry_run && !context.interrupted()) {
    std::string why;
    for (const auto& [cause, count] : result.refused)
      why += (why.empty() ? ": " : ", ") + std::to_string(count) + " " + cause;
    return Error{ErrorCode::kNotFound,
                 "no grasp of '" + step.prop + "' holds, of " +
                     std::to_string(result.progress.tried) + " tried" + why +
                     "; more --poses, another --region or example may find one"};
  }

  Printer& out = context.printer;
  out.BeginDocument();
  int passed = 0;
  for (const auto& kept : result.kept) passed += TestText(kept.grasp, "P1") == "passed";
  out.PrintRecord(
      "regrasp", {{{.name = "prop"}, step.prop},
                  {{.name = "example"}, step.example},
                  {{.name = "poses_tried"}, static_cast<int64_t>(result.progress.tried)},
                  {{.name = "held_in_short_trial"}, static_cast<int64_t>(result.progress.survived)},
                  {{.name = "passed_p1"}, static_cast<int64_t>(passed)},
                  {{.name = "state"},
                   context.dry_run  ? "would be made"
                   : result.stopped ? "stopped early; what was found is kept"
                   : passed == 0    ? "made; none passed P1"
                                    : "made"}});
  {
    Table grasps = out.BeginTable("grasps", {{.name = "rank"},
                                             {.name = "grasp"},
                                             {.name = "motion"},
                                             {.name = "margin", .decimals = 2},
                                             {.name = "p1"},
                                             {.name = "lift"},
                                             {.name = "motion_verdict", .heading = "shown"},
                                             {.name = "contacts"},
                                             {.name = "grip_N", .decimals = 1},
                                             {.name = "epsilon", .decimals = 3},
                                             {.name = "depth_m", .decimals = 4}});
    const bool text = out.format() == Format::kText;
    const auto shown = [&](const std::string& hash) {
      return text ? pipeline::ShortHash(hash) : hash;
    };
    int rank = 0;
    for (const RegraspResult::Kept& kept : result.kept) {
      grasps.Row({++rank, shown(kept.hash),
                  kept.motion.empty() ? Cell(std::nullopt) : Cell(shown(kept.motion)),
                  ScoreOf(kept.grasp, "margin"), TestText(kept.grasp, "P1"),
                  TestText(kept.grasp, "lift"), kept.verdict, kept.grasp.contacts.size(),
                  ScoreOf(kept.grasp, "grip_N"), ScoreOf(kept.grasp, "epsilon"),
                  ScoreOf(kept.grasp, "depth_m")});
    }
  }
  {
    Table why = out.BeginTable("not_kept", {{.name = "why"}, {.name = "poses"}});
    for (const auto& [cause, count] : result.refused) why.Row({cause, count});
  }
  out.EndDocument();
  if (!result.kept.empty() && !result.kept.front().motion.empty()) {
    context.progress.Note("see it: handhold show " +
                          pipeline::ShortHash(result.kept.front().motion) + " --to page.html");
  }
  if (context.interrupted())
    return Error{ErrorCode::kCancelled, "interrupted: what was found before is kept"};
  return passed > 0 || context.dry_run ? Outcome::Done() : Outcome::Loss("no grasp passed P1");
}

}  // namespace

Verb RegraspVerb() {
  return {
      .noun = "regrasp",
      .summary = "one example of a grasp and any prop in; ranked, tested grasps and motions out",
      .examples = {"handhold regrasp --example hand57_cylinder --prop mug --library lab",
                   "handhold regrasp --example hand57_cylinder --prop anything.stl --jobs 2",
                   "handhold regrasp --example hand57_pinch --prop mug --region handle"},
      .options =
          {LibraryOption(),
           {.name = "--example",
            .value_name = "GRASP",
            .help = "a grasp of ours, a grasp's .json, a grasp or motion artefact, or a clip"},
           {.name = "--space",
            .value_name = "SPACE",
            .help = "grasps searched in a grasp space, beside or instead of the example's: an "
                    "artefact, or newest"},
           {.name = "--prop",
            .value_name = "PROP",
            .help = "a prop of ours, a .json prop, a .stl, .obj or .ply mesh, or an artefact",
            .required = true},
           MeshUnitOption(),
           {.name = "--hand",
            .value_name = "HAND",
            .help = "another hand of the example's degrees of freedom; default: the example's"},
           {.name = "--scale",
            .value_name = "FACTOR",
            .help = "size of --hand",
            .kind = ValueKind::kNumber,
            .fallback = "1",
            .range = {.least = 0.1, .most = 10}},
           {.name = "--mass",
            .value_name = "KG",
            .help = "of the prop in every test",
            .kind = ValueKind::kNumber,
            .fallback = "0.1",
            .range = {.least = 0, .most = 100, .above = true, .unit = " kg"}},
           {.name = "--friction",
            .value_name = "MU",
            .help = "of hand and prop",
            .kind = ValueKind::kNumber,
            .fallback = "0.6",
            .range = {.least = 0, .most = 10}},
           {.name = "--region",
            .value_name = "R",
            .help = "a region of the prop by name, or x,y,z,r in metres in its frame"},
           {.name = "--type",
            .value_name = "TYPE",
            .help = "only examples of this type: tripod, or feix:tripod"},
           {.name = "--avoid",
            .value_name = "WHAT",
            .help = "table: the prop stands on one, hands keep above it",
            .kind = ValueKind::kChoice,
            .choices = {"table"}},
           {.name = "--poses",
            .value_name = "N",
            .help = "wrist poses to try",
            .kind = ValueKind::kInteger,
            .fallback = "60",
            .range = {.least = 1, .most = 100000}},
           {.name = "--seconds",
            .value_name = "N",
            .help = "begin no further pose after so long",
            .kind = ValueKind::kNumber,
            .range = {.least = 0, .most = 86400, .above = true, .unit = " s"}},
           {.name = "--seed",
            .value_name = "N",
            .help = "of the poses",
            .kind = ValueKind::kInteger,
            .fallback = "1",
            .range = {.least = 0, .most = 1e15}},
           {.name = "--top",
            .value_name = "N",
            .help = "keep so many, with their motions",
            .kind = ValueKind::kInteger,
            .fallback = "5",
            .range = {.least = 1, .most = 1000}},
           {.name = "--jobs",
            .value_name = "N",
            .help = "processes that try poses",
            .kind = ValueKind::kInteger,
            .fallback = "1",
            .range = {.least = 1, .most = 256}}},
      .writes = true,
      .handles_interrupt = true,
      .headline = true,
      .details =
          "The hand of the example is put on the prop from many sides and closes as it\n"
          "did. Each candidate is pushed along six directions for 0.4 s; the first three\n"
          "ranks by protocol P1 whole (2 s each, exact stepper), then lifted from a table.\n"
          "margin: 1 did not move in the short trial, 0 was at a limit. grip_N: normal force in\n"
          "all. epsilon, depth_m: of the grasp as it settled. shown: how the recorded motion\n"
          "ended; shifted: held, but moved more than P1 allows. Ranks: passed P1, lifted and\n"
          "shown held first. Only what held in the short trial is kept; nothing is a failure\n"
          "(1), nothing that passes P1 ends with 3. Ctrl-C keeps what was found (130). Several\n"
          "--jobs give the same grasps.",
      .run = Regrasp};
}

}  // namespace handhold::cli

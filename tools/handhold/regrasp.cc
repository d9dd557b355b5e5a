#include <algorithm>

#include "database/artefact/grasp.h"
#include "tools/handhold/step_verb.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/inputs.h"

namespace handhold::cli {
namespace {

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

/// One grasp of the result, with its motion and what that showed.
struct Kept {
  artefact::Grasp grasp;
  std::string hash, motion, verdict;
};

Result<std::vector<Kept>> Load(const store::Library& library, const pipeline::StepResult& result) {
  std::vector<Kept> all;
  for (const pipeline::StepOutput& output : result.outputs) {
    if (output.role == "grasp") {
      Kept& kept = all.emplace_back();
      kept.hash = output.hash;
      HANDHOLD_ASSIGN(kept.grasp, store::Load<artefact::Grasp>(library.ArtefactPath(output.hash)));
      if (const text::Json* verdicts = result.report.Find("verdicts");
          verdicts != nullptr && all.size() <= verdicts->elements().size())
        kept.verdict = *verdicts->elements()[all.size() - 1].string();
    } else if (output.rank >= 1 && output.rank <= std::ssize(all)) {
      all[static_cast<size_t>(output.rank - 1)].motion = output.hash;
    }
  }
  return all;
}

int64_t CountOf(const pipeline::StepResult& result, const char* name) {
  const text::Json* count = result.report.Find(name);
  return count != nullptr ? count->integer().value_or(0) : 0;
}

Outcome Say(Context& context, const store::Library& library, const pipeline::StepResult& result) {
  const Arguments& given = context.arguments;
  HANDHOLD_ASSIGN(const std::vector<Kept> all, Load(library, result));
  Printer& out = context.printer;
  out.BeginDocument();
  int passed = 0;
  for (const Kept& kept : all) passed += TestText(kept.grasp, "P1") == "passed";
  out.PrintRecord("regrasp", {{{.name = "prop"}, given.Text("--prop")},
                              {{.name = "example"}, given.Text("--example")},
                              {{.name = "poses_tried"}, CountOf(result, "tried")},
                              {{.name = "held_in_short_trial"}, CountOf(result, "survived")},
                              {{.name = "passed_p1"}, static_cast<int64_t>(passed)},
                              {{.name = "state"},
                               result.reused               ? "there already"
                               : context.dry_run           ? "would be made"
                               : !result.cut_short.empty() ? "stopped early; what was found is kept"
                               : passed == 0               ? "made; none passed P1"
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
    for (const Kept& kept : all) {
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
    if (const text::Json* refused = result.report.Find("refused")) {
      for (const text::JsonMember& cause : refused->members())
        why.Row({cause.key, *cause.value.integer()});
    }
  }
  out.EndDocument();
  if (!all.empty() && !all.front().motion.empty()) {
    context.progress.Note("see it: handhold show " + pipeline::ShortHash(all.front().motion) +
                          " --to page.html");
  }
  if (context.interrupted())
    return Error{ErrorCode::kCancelled, "interrupted: what was found before is kept"};
  return passed > 0 || context.dry_run ? Outcome::Done() : Outcome::Loss("no grasp passed P1");
}

/// What is wrong words, before a library is opened for it.
std::optional<Outcome> Look(const Arguments& given, text::Json* recipe) {
  const std::string example = given.Text("--example"), hand = given.Text("--hand");
  if (example.empty() && given.Text("--space").empty())
    return Outcome::Usage("say where grasps come from: --example GRASP, --space SPACE, or both");
  if (example.empty() && !hand.empty())
    return Outcome::Usage("--hand is instead of an example's: without --example it is the space's");
  if (given.Number("--scale") != 1.0 && hand.empty())
    return Outcome::Usage("--scale is of a hand: name it with --hand");
  if (given.Has("--avoid")) {
    text::Json options = *recipe->Find("options");
    options.Set("avoid_table", true);
    recipe->Set("options", std::move(options));
  }
  return std::nullopt;
}

}  // namespace

Verb RegraspVerb() {
  return StepVerb(
      "regrasp",
      {.examples = {"handhold regrasp --example hand57_cylinder --prop mug --library lab",
                    "handhold regrasp --example hand57_cylinder --prop anything.stl --jobs 2",
                    "handhold regrasp --example hand57_pinch --prop mug --region handle"},
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
       .doing = "regrasping",
       .headline = true,
       .more = {{.name = "--avoid",
                 .value_name = "WHAT",
                 .help = "table: the prop stands on one, hands keep above it",
                 .kind = ValueKind::kChoice,
                 .choices = {"table"}}},
       .look = Look,
       .say = Say});
}

}  // namespace handhold::cli

#include "tools/pipeline/evaluate.h"

#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

Outcome Evaluate(Context& context) {
  const Arguments& given = context.arguments;
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
  pipeline::EvaluateStep step;
  step.mass_kg = given.Number("--mass");
  step.friction = given.Number("--friction");
  step.quick = given.Flag("--quick");
  step.p1 = step.lift = !given.Flag("--no-tests");
  const bool text = context.printer.format() == Format::kText;
  const bool csv = context.printer.format() == Format::kCsv;
  std::vector<Column> columns = {{.name = "what"},
                                 {.name = "protocol"},
                                 {.name = "engine"},
                                 {.name = "outcome"},
                                 {.name = "cause"}};
  // A table has a row per figure, else an object holds them all.
  if (csv) {
    columns.push_back({.name = "figure"});
    columns.push_back({.name = "value"});
  } else {
    columns.push_back({.name = "figures"});
  }
  Table table = context.printer.BeginTable(columns);
  for (const std::string& what : given.All("WHAT")) {
    step.what = what;
    const auto all = step.Run(StepContextOf(context, *library, "evaluating"));
    if (!all) {
      table.Cut();
      return all.error();
    }
    for (const pipeline::Evaluated& e : *all) {
      text::Json figures = text::Json::Object();
      std::string brief;
      for (const auto& [name, value] : e.figures) {
        if (csv) table.Row({e.what, e.protocol, e.engine, e.outcome, e.cause, name, value});
        figures.Set(name, Cell(value).ToJson());
        brief += (brief.empty() ? "" : ", ") + name + " " + Cell(value).ToText(-1);
      }
      if (csv) continue;
      table.Row(
          {e.what, e.protocol, e.engine, e.outcome, e.cause, text ? Cell(brief) : Cell(figures)});
    }
  }
  table.End();
  context.progress.End();
  return Outcome::Done();
}

}  // namespace

Verb EvaluateVerb() {
  return {
      .noun = "evaluate",
      .summary = "what grasps and motions are worth: P1, lift, static figures, verdict",
      .examples = {"handhold evaluate hand57_cylinder --library lab",
                   "handhold evaluate 1f0c2a9b 83d2e6a0 --library lab --format csv"},
      .positionals = {{.name = "WHAT",
                       .help = "a grasp or motion: a grasp of ours, a .json file, or an artefact",
                       .repeated = true}},
      .options = {LibraryOption(),
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
                  {.name = "--quick",
                   .help = "P1 for 0.4 s in the quick stepper instead of the protocol whole",
                   .kind = ValueKind::kFlag},
                  {.name = "--no-tests",
                   .help = "static figures and verdicts alone: nothing is simulated",
                   .kind = ValueKind::kFlag}},
      .details =
          "Every test says its engine, step, springs, squeeze, settling, mass, friction and "
          "limits;\n"
          "a failure its cause. CSV: one row per figure. What is evaluated is kept in the library\n"
          "(a hand, prop and grasp of ours become artefacts); results are printed only.",
      .run = Evaluate};
}

}  // namespace handhold::cli

#include "tools/handhold/live_view.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

/// For programs that do not follow as it goes (ndjson): every figure as it was at the end.
void PrintHealth(Context& context, const capture::HealthSnapshot& health) {
  if (context.printer.format() == Format::kText) return;
  Table table = context.printer.BeginTable({{.name = "stream"},
                                            {.name = "what"},
                                            {.name = "value"},
                                            {.name = "worst"},
                                            {.name = "threshold"},
                                            {.name = "red"},
                                            {.name = "cause"}});
  for (const recording::QualityItem& item : health.items)
    table.Row(
        {item.stream, item.what, item.value, item.worst, item.threshold, item.red, item.cause});
  for (const capture::ClockStatus& clock : health.clocks)
    table.Row({clock.stream, "clock_uncertainty_s", clock.uncertainty_s, std::nullopt, std::nullopt,
               false, ""});
}

}  // namespace

Verb LiveMonitorVerb() {
  return {.noun = "live",
          .name = "monitor",
          .summary = "watch the health of a rig; nothing is recorded",
          .examples = {"handhold live monitor --rig demo",
                       "handhold live monitor --rig lab.toml --seconds 10 --format ndjson"},
          .options = {RigOption(),
                      PublishOption(),
                      {.name = "--seconds",
                       .value_name = "S",
                       .help = "leave after this time; 0: when told to",
                       .kind = ValueKind::kNumber,
                       .fallback = "0",
                       .range = {.least = 0, .most = kLongest_s, .unit = " s"}}},
          .handles_interrupt = true,
          .details = "Keys: a acknowledge what is red, q leave.",
          .run = [](Context& context) -> Outcome {
            HANDHOLD_ASSIGN(const capture::Rig rig,
                            capture::FindRig(context.arguments.Text("--rig")));
            HANDHOLD_ASSIGN(const auto session, live::Session::Open(rig, {}));
            HANDHOLD_ASSIGN(const auto lines,
                            session->Check([&context] { return context.interrupted(); }));
            if (live::Session::Missing(lines)) {
              PrintCheck(context, lines);
              return MissingError(rig, lines);
            }
            LiveView view(context, "a acknowledge   q leave", false,
                          Duration::FromSeconds(context.arguments.Number("--seconds")));
            HANDHOLD_TRY(view.PublishAt(context.arguments.Integer("--publish")));
            const live::Operator op = view.MakeOperator();
            HANDHOLD_TRY(session->Arm(op));
            while (session->AwaitRecord(op)) {
            }
            view.Close();
            if (!view.ndjson()) PrintHealth(context, session->Health());
            HANDHOLD_TRY(session->Disarm());
            return Outcome::Done();
          }};
}

}  // namespace handhold::cli

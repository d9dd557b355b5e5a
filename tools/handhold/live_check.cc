#include "tools/handhold/live_view.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {

Verb LiveCheckVerb() {
  return {.noun = "live",
          .name = "check",
          .summary = "ask every device of a rig; red lines say what is wrong and what to do",
          .examples = {"handhold live check --rig demo",
                       "handhold live check --rig lab.toml --timeout 10s"},
          .options = {RigOption(),
                      {.name = "--timeout",
                       .value_name = "TIME",
                       .help = "how long a device may take to answer",
                       .kind = ValueKind::kDuration,
                       .fallback = "5s",
                       .range = {.least = 0, .most = kLongestWait_s, .unit = " s"}}},
          .details = "Nothing is recorded. Exit code 1 when something required is missing.",
          .run = [](Context& context) -> Outcome {
            HANDHOLD_ASSIGN(const capture::Rig rig,
                            capture::FindRig(context.arguments.Text("--rig")));
            HANDHOLD_ASSIGN(
                const auto session,
                live::Session::Open(rig, {.probe_timeout = context.arguments.Time("--timeout")}));
            HANDHOLD_ASSIGN(const auto lines, session->Check());
            PrintCheck(context, lines);
            if (live::Session::Missing(lines)) return MissingError(rig, lines);
            return Outcome::Done();
          }};
}

}  // namespace handhold::cli

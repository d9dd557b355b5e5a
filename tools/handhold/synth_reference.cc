#include "database/artefact/interaction_trajectory.h"
#include "tools/handhold/step_verb.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {
namespace {

Result<Issues> Print(Printer& out, const artefact::InteractionTrajectory& trajectory) {
  out.PrintRecord("reference", {{{.name = "hand"}, trajectory.hand},
                                {{.name = "frames"}, static_cast<int64_t>(trajectory.times.size())},
                                {{.name = "length_s", .decimals = 2},
                                 (trajectory.times.back() - trajectory.times.front()).seconds()},
                                {{.name = "planted_compliances"},
                                 static_cast<int64_t>(trajectory.assumed.size())}});
  return trajectory.summary.issues;
}

/// Gaiting has no lift, a grip no strokes: what a program does not read is not taken in silence.
std::optional<Outcome> Look(const Arguments& given, text::Json*) {
  const std::string program = given.Text("PROGRAM");
  const std::vector<const char*> unread =
      program == "gaiting"
          ? std::vector<const char*>{"--along", "--lift", "--lift-time", "--hold", "--let-go"}
          : std::vector<const char*>{"--ball", "--strokes"};
  for (const char* const option : unread) {
    if (given.Has(option))
      return Outcome::Usage(std::string(option) + " is not of '" + program + "'");
  }
  return std::nullopt;
}

}  // namespace

Verb SynthReferenceVerb() {
  return StepVerb(
      "synth.reference",
      {.examples = {"handhold synth reference pinch --prop box_3x5x7 --library lab",
                    "handhold synth reference tripod --prop box_3x5x7 --depth 0.006 --lift 0.05",
                    "handhold synth reference gaiting --prop light_bulb --strokes 4"},
       .details = "Every compliance is planted, none fitted. Play it with\n"
                  "'handhold synth interaction ARTEFACT --on table'.",
       .doing = "scripting",
       .record = "trajectory",
       .look = Look,
       .print = PrintLoaded(Print)});
}

}  // namespace handhold::cli

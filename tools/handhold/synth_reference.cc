#include "tools/pipeline/synth_reference.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"

#include "database/store/artefact_file.h"

namespace handhold::cli {
namespace {

Result<Issues> Print(Printer& out, const std::string& path) {
  HANDHOLD_ASSIGN(const auto trajectory, store::Load<artefact::InteractionTrajectory>(path));
  out.PrintRecord("reference", {{{.name = "hand"}, trajectory.hand},
                                {{.name = "frames"}, static_cast<int64_t>(trajectory.times.size())},
                                {{.name = "length_s", .decimals = 2},
                                 (trajectory.times.back() - trajectory.times.front()).seconds()},
                                {{.name = "planted_compliances"},
                                 static_cast<int64_t>(trajectory.assumed.size())}});
  return trajectory.summary.issues;
}

Option Metres(const char* name, const char* help, double least, double most) {
  return {.name = name,
          .value_name = "M",
          .help = help,
          .kind = ValueKind::kNumber,
          .range = {.least = least, .most = most, .unit = " m"}};
}

/// Gaiting has no lift, a grip no strokes: what a program does not read is not taken in silence.
Status CheckProgram(const Arguments& given) {
  const std::string program = given.Text("PROGRAM");
  const std::vector<const char*> unread =
      program == "gaiting"
          ? std::vector<const char*>{"--along", "--lift", "--lift-time", "--hold", "--let-go"}
          : std::vector<const char*>{"--ball", "--strokes"};
  for (const char* const option : unread) {
    if (given.Has(option))
      return Error{ErrorCode::kInvalid, std::string(option) + " is not of '" + program + "'"};
  }
  return {};
}

}  // namespace

Verb SynthReferenceVerb() {
  return {
      .noun = "synth",
      .name = "reference",
      .summary = "script a hand that grasps a prop: fingertips, joint angles, planted compliances",
      .examples = {"handhold synth reference pinch --prop box_3x5x7 --library lab",
                   "handhold synth reference tripod --prop box_3x5x7 --depth 0.006 --lift 0.05",
                   "handhold synth reference gaiting --prop light_bulb --strokes 4"},
      .positionals = {{.name = "PROGRAM",
                       .help = "from above: pinch: thumb against index and middle finger; tripod: "
                               "the three round it; power: thumb against four; gaiting: two pairs "
                               "in turn turn a ball",
                       .kind = ValueKind::kChoice,
                       .choices = {"pinch", "tripod", "power", "gaiting"}}},
      .options = {LibraryOption(),
                  {.name = "--prop",
                   .value_name = "PROP",
                   .help =
                       "a prop of ours, a .json prop, a .stl, .obj or .ply mesh, or an artefact",
                   .required = true},
                  {.name = "--prop-pose",
                   .value_name = "POSE",
                   .help = "\"x y z [qw qx qy qz]\", metres; default: standing at z = 0"},
                  MeshUnitOption(),
                  {.name = "--skeleton",
                   .value_name = "HAND",
                   .help = "a hand of ours with a free root, a .json file or an artefact",
                   .fallback = "hand27"},
                  {.name = "--scale",
                   .value_name = "FACTOR",
                   .help = "size of the hand",
                   .kind = ValueKind::kNumber,
                   .fallback = "1",
                   .range = {.least = 0.1, .most = 10}},
                  Metres("--above",
                         "above the prop's middle; default: of a box 0.35 of its height, else "
                         "between two of its faces",
                         -1, 1),
                  Metres("--depth", "closed fingertips inside each face; default: 0.012", 0, 0.1),
                  Metres("--clearance", "open fingertips off each face; default: 0.018", 0, 0.2),
                  Metres("--along",
                         "horizontally along the gripped faces, left as seen from the fingers' "
                         "face; default: 0",
                         -1, 1),
                  Metres("--lift", "how high; default: 0.1", -1, 1),
                  {.name = "--lift-time",
                   .value_name = "TIME",
                   .help = "of lifting, and of putting down; default: 800ms",
                   .kind = ValueKind::kDuration,
                   .range = {.least = 0.01, .most = 60, .unit = " s"}},
                  {.name = "--let-go",
                   .help = "open in the air after the hold, instead of putting down",
                   .kind = ValueKind::kFlag},
                  {.name = "--side",
                   .value_name = "SIDE",
                   .help = "the hand's mirror image plays; default: as it is",
                   .kind = ValueKind::kChoice,
                   .choices = {"left", "right"}},
                  {.name = "--hold",
                   .value_name = "TIME",
                   .help = "between lifting and putting down; default: 2s",
                   .kind = ValueKind::kDuration,
                   .range = {.least = 0.01, .most = 600, .unit = " s"}},
                  Metres("--ball", "radius of the ball that gaiting is made on; default: 0.0335",
                         0.005, 0.2),
                  {.name = "--strokes",
                   .value_name = "N",
                   .help = "of gaiting, 36 degrees each; default: 6",
                   .kind = ValueKind::kInteger,
                   .range = {.least = 1, .most = 100}}},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "Every compliance is planted, none fitted. Play it with\n"
          "'handhold synth interaction ARTEFACT --on table'.",
      .run = [](Context& context) -> Outcome {
        const Arguments& given = context.arguments;
        if (const Status fits = CheckProgram(given); !fits)
          return Outcome::Usage(fits.error().message);
        pipeline::SynthReferenceStep step;
        step.program = given.Text("PROGRAM");
        step.hand.key = given.Text("--skeleton");
        step.hand.scale = given.Number("--scale");
        step.prop = given.Text("--prop");
        step.metres_per_unit = MetresPerUnit(given);
        const auto pose = PoseOption(given, "--prop-pose");
        if (!pose) return Outcome::Usage(pose.error().message);
        step.X_WProp = *pose;
        if (given.Has("--above")) step.above_middle_m = given.Number("--above");
        if (given.Has("--depth")) step.options.depth_m = given.Number("--depth");
        if (given.Has("--clearance")) step.options.clearance_m = given.Number("--clearance");
        if (given.Has("--lift")) step.options.lift_m = given.Number("--lift");
        if (given.Has("--along")) step.along_faces_m = given.Number("--along");
        if (given.Has("--lift-time")) step.options.lift_s = given.Time("--lift-time").seconds();
        step.options.opens_in_the_air = given.Flag("--let-go");
        step.hand.side = given.Text("--side");
        if (given.Has("--depth")) step.gaiting.depth_m = given.Number("--depth");
        if (given.Has("--clearance")) step.gaiting.clearance_m = given.Number("--clearance");
        if (given.Has("--ball")) step.ball_radius_m = given.Number("--ball");
        if (given.Has("--strokes"))
          step.gaiting.strokes = static_cast<int>(given.Integer("--strokes"));
        if (given.Has("--hold")) step.options.hold_s = given.Time("--hold").seconds();
        return RunAndPrint(context, {"scripting", "trajectory",
                                     [&](const auto& where) { return step.Run(where); }, Print});
      }};
}

}  // namespace handhold::cli

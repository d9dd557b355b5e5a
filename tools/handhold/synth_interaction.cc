#include "tools/pipeline/synth_interaction.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "database/artefact/reference_file.h"
#include "database/artefact/stage_file.h"
#include "database/base/units.h"
#include "database/store/artefact_file.h"
#include "database/text/json_view.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/grip_script.h"

namespace handhold::cli {
namespace {

using Step = pipeline::SynthInteractionStep;

/// JOINT=`unit`, the number at least 0.
Result<std::pair<std::string, double>> JointValue(const std::string& word, const char* option,
                                                  const char* unit, const char* example) {
  const size_t equals = word.find('=');
  double value = 0;
  const char* const end = word.data() + word.size();
  const char* const begin = word.data() + std::min(word.size(), equals + 1);
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (equals == std::string::npos || equals == 0 || error != std::errc() || stop != end ||
      !(value >= 0) || !std::isfinite(value)) {
    return Error{ErrorCode::kInvalid, std::string(option) + ": expected JOINT=" + unit + " as " +
                                          example + ", found '" + word + "'"};
  }
  return std::pair(word.substr(0, equals), value);
}

/// "table1", "none", "JOINT=RAD_PER_NM".
Status ReadAssumptions(const std::vector<std::string>& words, Step* step) {
  for (const std::string& word : words) {
    if (word == "table1") {
      step->assume_table1 = true;
    } else if (word == "none") {
      step->assume_table1 = false;
    } else {
      HANDHOLD_ASSIGN(const auto value, JointValue(word, "--assume-compliance", "RAD_PER_NM",
                                                   "R.index.dip.flex=0.6, or table1, or none"));
      step->assume_compliance[value.first] = value.second;
    }
  }
  return {};
}

/// What belongs to things that are free.
constexpr const char* kFreeOptions[] = {"--mass", "--place"};
/// What the scene file says.
constexpr const char* kOfTheScene[] = {
    "--prop",      "--prop-pose", "--prop-scale",        "--mass",
    "--mesh-unit", "--on",        "--surface-compliance"};

/// Whether the hand is scripted: then its prop is free and stands on a table.
bool PlaysAScript(const Arguments& given) {
  const std::string key = given.Text("CLIP");
  const auto ours = artefact::ReferenceNames();
  if (ours && std::find(ours->begin(), ours->end(), key) != ours->end()) return true;
  const auto library = store::Library::Open(given.Text("--library"));
  if (!library) return false;  // the run itself says why
  const auto artefact = pipeline::FindArtefact(**library, key, "interaction_trajectory");
  return artefact && pipeline::IsScripted(artefact->provenance);
}

Status CheckTogether(const Arguments& given) {
  const auto refuse = [](const char* option, const char* why) {
    return Error{ErrorCode::kInvalid, std::string(option) + why};
  };
  if (given.Has("--scene")) {
    for (const char* option : kOfTheScene)
      if (given.Has(option)) return refuse(option, ": the scene file says what stands where");
    return {};
  }
  const bool scripted = PlaysAScript(given);
  if (given.Has("--on") || scripted) {
    if (given.Has("--surface-compliance"))
      return refuse("--surface-compliance", " is of a prop that is fixed: not with --on");
  } else {
    for (const char* option : kFreeOptions)
      if (given.Has(option)) return refuse(option, " is of a prop that is free: with --on table");
  }
  if (scripted && given.Has("--assume-compliance"))
    return refuse("--assume-compliance", " is for a captured hand");
  return {};
}

Result<Step> StepOf(const Arguments& given) {
  HANDHOLD_TRY(CheckTogether(given));
  Step step;
  step.clip = given.Text("CLIP");
  step.trajectory = given.Text("--compliance");
  step.prop = given.Text("--prop");
  step.metres_per_unit = MetresPerUnit(given);
  HANDHOLD_ASSIGN(step.X_WProp, PoseOption(given, "--prop-pose"));
  if (given.Has("--prop-scale")) step.prop_scale = given.Number("--prop-scale");
  if (given.Has("--mass")) step.mass_kg = given.Number("--mass");
  if (given.Has("--friction")) step.friction = given.Number("--friction");
  if (given.Has("--surface-compliance"))
    step.surface_compliance_m_per_N = given.Number("--surface-compliance");
  step.on_table = given.Has("--on");
  step.borrow = given.Text("--borrow-compliance");
  step.hand.key = given.Text("--hand");
  if (given.Has("--scale")) step.hand.scale = given.Number("--scale");
  const std::string form = given.Text("--form");
  step.form = form == "damped"         ? Step::Form::kDamped
              : form == "quasi-static" ? Step::Form::kQuasiStatic
                                       : Step::Form::kBest;
  const std::string grip = given.Text("--grip");
  step.grip.kind = grip == "reflex"       ? synthesis::GripKind::kReflex
                   : grip == "anticipate" ? synthesis::GripKind::kAnticipate
                                          : synthesis::GripKind::kNone;
  step.place = given.Flag("--place");
  for (const std::string& word : given.All("--time-constant")) {
    HANDHOLD_ASSIGN(const auto value,
                    JointValue(word, "--time-constant", "SECONDS", "R.index.dip.flex=0.02"));
    step.time_constant_s[value.first] = value.second;
  }
  HANDHOLD_TRY(ReadAssumptions(given.All("--assume-compliance"), &step));
  HANDHOLD_ASSIGN(step.range, RangeOf(given));
  return step;
}

Cell FigureOf(const artefact::Motion& motion, const std::string& name, double factor = 1.0) {
  const auto found = motion.summary.figures.find(name);
  return found == motion.summary.figures.end() ? Cell(std::nullopt) : Cell(found->second * factor);
}

void PrintAssumed(Printer& out, const pipeline::SynthInteractionResult& result, bool touched) {
  {
    Table table = out.BeginTable(
        "assumed", {{.name = "dof"},
                    {.name = "task"},
                    {.name = "compliance_rad_per_Nm", .heading = "rad/Nm", .decimals = 4},
                    {.name = "asked_rad_per_Nm", .heading = "asked for", .decimals = 4}});
    for (const pipeline::AssumedValue& a : result.assumed)
      table.Row({a.dof, a.task, a.compliance_rad_per_Nm, a.asked_rad_per_Nm});
  }
  touched =
      touched || std::any_of(result.replays.begin(), result.replays.end(),
                             [](const artefact::MotionVariant& r) { return r.peak_force_N > 0; });
  Table table = out.BeginTable("if_assumed_otherwise", {{.name = "factor"},
                                                        {.name = "force_rms_N", .decimals = 3},
                                                        {.name = "site_rms_m", .decimals = 5},
                                                        {.name = "peak_force_N", .decimals = 2},
                                                        {.name = "motion"}});
  // Where nothing was touched nothing hangs on what was assumed: the warning says so.
  for (const artefact::MotionVariant& r : result.replays)
    if (touched) table.Row({r.factor, r.force_rms_N, r.site_rms_m, r.peak_force_N, r.motion});
}

/// What a hand did that met what is fixed.
void PrintReplay(Printer& out, const artefact::Motion& motion) {
  const bool touched = motion.summary.figures.at("contact_share") > 0;
  std::vector<Field> replay = {
      {{.name = "prop"}, motion.stage.things.front().prop.key},
      {{.name = "frames"}, static_cast<int64_t>(motion.times.size())},
      {{.name = "peak_force_N", .decimals = 2}, FigureOf(motion, "peak_force_N")},
      {{.name = "contact_share", .decimals = 3}, FigureOf(motion, "contact_share")},
      {{.name = "slip_share", .heading = "slip share of contact", .decimals = 3},
       touched ? FigureOf(motion, "slip_share") : Cell(std::nullopt)},
      {{.name = "equilibrium_residual_max_rad", .decimals = 4},
       FigureOf(motion, "equilibrium_residual_max_rad")},
      {{.name = "lcp_failures"}, static_cast<int64_t>(synthesis::UnsolvedSteps(motion))}};
  if (motion.summary.figures.contains("nearest_approach_m")) {
    replay.push_back(
        {{.name = "nearest_approach_m", .heading = "never touched; nearest, m", .decimals = 5},
         FigureOf(motion, "nearest_approach_m")});
  }
  out.PrintRecord("replay", replay);
}

/// Figures of the motion by object: "shift_m.upper", "turned_rad.bulb".
void PrintObjects(Printer& out, const artefact::Motion& motion) {
  Table table = out.BeginTable("objects", {{.name = "object"},
                                           {.name = "prop"},
                                           {.name = "moved_m", .decimals = 4},
                                           {.name = "turned_deg", .decimals = 2},
                                           {.name = "shift_m", .decimals = 5}});
  for (size_t i = 0; i < motion.objects.size(); ++i) {
    const artefact::MotionObject& object = motion.objects[i];
    if (object.stands_still()) continue;
    double moved_m = 0;
    for (const geometry::RigidTransform& X : object.X_WP)
      moved_m = std::max(moved_m, (X.p - object.X_WP.front().p).norm());
    table.Row({object.name, motion.stage.things[i].prop.key, moved_m,
               FigureOf(motion, "turned_rad." + object.name, RadiansToDegrees(1.0)),
               FigureOf(motion, "shift_m." + object.name)});
  }
}

/// What became of what is free.
void PrintGrip(Printer& out, const artefact::Motion& motion) {
  PrintVerdict(out, motion.verdict);
  const artefact::Series* const scale = motion.FindSeries(synthesis::kGripScale);
  std::vector<Field> grip = {
      {{.name = "hands"}, static_cast<int64_t>(motion.hands.size())},
      {{.name = "frames"}, static_cast<int64_t>(motion.times.size())},
      {{.name = "peak_force_N",
        .heading = "peak of all touches' forces added up, N",
        .decimals = 2},
       FigureOf(motion, "peak_force_N")},
      {{.name = "lifted_m", .decimals = 4}, FigureOf(motion, "lifted_m")},
      {{.name = "creep_m_per_s", .decimals = 9}, FigureOf(motion, "creep_m_per_s")},
      {{.name = "lcp_failures"}, static_cast<int64_t>(synthesis::UnsolvedSteps(motion))}};
  if (scale != nullptr)
    grip.push_back({{.name = "grip_compliance_scale", .decimals = 3}, scale->values.minCoeff()});
  out.PrintRecord("grip", grip);
  if (motion.summary.figures.contains("placed_m")) {
    out.PrintRecord("placement",
                    {{{.name = "placed_m", .heading = "the prop was moved, m", .decimals = 4},
                      FigureOf(motion, "placed_m")},
                     {{.name = "placed_turn_deg", .heading = "turned, degrees", .decimals = 2},
                      FigureOf(motion, "placed_turn_rad", RadiansToDegrees(1.0))},
                     {{.name = "pushed_before_m",
                       .heading = "pushed while closing as it stood, m",
                       .decimals = 4},
                      FigureOf(motion, "pushed_before_m")},
                     {{.name = "pushed_after_m", .heading = "as placed, m", .decimals = 4},
                      FigureOf(motion, "pushed_after_m")}});
  }
  PrintObjects(out, motion);
}

Outcome Print(Context& context, const store::Library& library,
              const pipeline::SynthInteractionResult& result) {
  Printer& out = context.printer;
  out.BeginDocument();
  out.PrintRecord("motion", ResultFields(context, result));
  if (context.dry_run && !result.reused) {
    out.EndDocument();
    return Outcome::Done();
  }
  HANDHOLD_ASSIGN(const artefact::Motion motion,
                  store::Load<artefact::Motion>(library.ArtefactPath(result.hash)));
  const bool moves = std::any_of(motion.stage.things.begin(), motion.stage.things.end(),
                                 [](const auto& thing) { return thing.yields(); });
  if (moves) {
    PrintGrip(out, motion);
  } else if (!motion.objects.empty()) {
    PrintReplay(out, motion);
  }
  if (!moves || !result.assumed.empty())
    PrintAssumed(out, result, motion.summary.figures.at("contact_share") > 0);
  out.EndDocument();
  return Outcome::FromIssues(motion.summary.issues);
}

std::vector<std::string> Examples() {
  return {
      "handhold synth interaction session --prop bumped_plate --library lab",
      "handhold synth interaction session --prop anything.stl --mesh-unit mm",
      "handhold synth interaction session --assume-compliance R.index.dip.flex=0.6",
      "handhold synth interaction pinch_box_3x5x7 --on table --mass 0.12",
      "handhold synth interaction gaiting_light_bulb --scene bulb_on_pivot",
      "handhold synth interaction pinch_beam_left --scene two_hands_on_beam",
      "handhold synth interaction pinch_slow_box_3x5x7 --on table --mass 0.12 --grip reflex",
      "handhold synth interaction 1f0c2a9b --on table --prop wedge --grip anticipate",
  };
}

/// What is free, and who plays with it.
std::vector<Option> ThingOptions() {
  return {{.name = "--scene",
           .value_name = "FILE",
           .help = "a .toml scene of props, pivots and other hands, or one of ours "
                   "(bulb_on_pivot, stack_on_box, two_hands_on_beam)"},
          {.name = "--on",
           .value_name = "WHAT",
           .help = "the prop is free and stands on a fixed table",
           .kind = ValueKind::kChoice,
           .choices = {"table"}},
          {.name = "--mass",
           .value_name = "KG",
           .help = "of the free prop, its inertia in proportion; default: its own",
           .kind = ValueKind::kNumber,
           .range = {.least = 0, .most = 100, .above = true, .unit = " kg"}},
          {.name = "--prop-scale",
           .value_name = "FACTOR",
           .help = "size of the prop; its mass stays",
           .kind = ValueKind::kNumber,
           .range = {.least = 0.01, .most = 100}},
          {.name = "--grip",
           .value_name = "KIND",
           .help = "how the grip adjusts itself: reflex on slip, anticipate before it; default: "
                   "none",
           .kind = ValueKind::kChoice,
           .choices = {"none", "reflex", "anticipate"}},
          {.name = "--place",
           .help = "first push the judged prop to where the grip expects it: close, reverse, twice",
           .kind = ValueKind::kFlag},
          {.name = "--hand",
           .value_name = "SKELETON",
           .help = "another hand with the same joints plays: a hand of ours, a .json file or an "
                   "artefact"},
          {.name = "--scale",
           .value_name = "FACTOR",
           .help = "size of the hand that plays",
           .kind = ValueKind::kNumber,
           .range = {.least = 0.1, .most = 10}},
          {.name = "--borrow-compliance",
           .value_name = "FROM",
           .help = "joints that the trajectory does not know take another's: a clip, an artefact "
                   "or a query"},
          {.name = "--time-constant",
           .value_name = "WHAT",
           .help = "JOINT=SECONDS, instead of the trajectory's one for all joints",
           .repeated = true}};
}

}  // namespace

Verb SynthInteractionVerb() {
  Verb verb{
      .noun = "synth",
      .name = "interaction",
      .summary = "let a captured or scripted hand meet what it never touched",
      .examples = Examples(),
      .positionals = {{.name = "CLIP",
                       .help = "name, id, or the beginning of an id; or a trajectory: an artefact, "
                               "or a scripted one of ours (pinch_box_3x5x7, ...)"}},
      .options =
          {LibraryOption(),
           {.name = "--compliance",
            .value_name = "ARTEFACT",
            .help = "interaction trajectory; default: the clip's newest fit"},
           {.name = "--prop",
            .value_name = "PROP",
            .help =
                "a prop of ours, a .json prop or a .stl, .obj, .ply mesh; default: the captured "
                "surface, or what the hand was scripted for"},
           {.name = "--prop-pose",
            .value_name = "POSE",
            .help = "\"x y z [qw qx qy qz]\", metres; default: where the captured surface stood (a "
                    "mesh under the hand), or where it was scripted for"},
           MeshUnitOption(),
           {.name = "--friction",
            .value_name = "MU",
            .help = "Coulomb coefficient; default: the prop's own",
            .kind = ValueKind::kNumber,
            .range = {.least = 0, .most = 10}},
           {.name = "--surface-compliance",
            .value_name = "M_PER_N",
            .help = "how the surface gives, 0 being rigid; default: the prop's own, of a mesh file "
                    "the captured surface's",
            .kind = ValueKind::kNumber,
            .range = {.least = 0, .most = 1, .unit = " m/N"}},
           {.name = "--form",
            .value_name = "FORM",
            .help = "quasi-static is the paper's; damped has the joints' time constant",
            .kind = ValueKind::kChoice,
            .choices = {"best", "damped", "quasi-static"},
            .fallback = "best"},
           {.name = "--assume-compliance",
            .value_name = "WHAT",
            .help = "for refused joints: table1 (the paper's, default), none, or JOINT=RAD_PER_NM",
            .repeated = true}},
      .writes = true,
      .handles_interrupt = true,
      .renamed = {{"--at", "--prop-pose says where the prop is"},
                  {"--hand-scale", "--scale is the hand's, --prop-scale the prop's"}},
      .details =
          "A joint that the fit refused gets an assumed compliance (table1: held to the 95 % "
          "interval\n"
          "that the fit leaves open; by name: as given), is marked, and the replay is\n"
          "made twice more with it halved and doubled: 'if_assumed_otherwise' says what hangs on "
          "it.\n"
          "With --on or --scene, or where the hand is scripted, things are free: what became\n"
          "of the judged one (held, slipped, dropped, jammed, lost) is said of the time in which\n"
          "the script holds it. A scene's form: schemas/exchange/scene.schema.json.",
      .run = [](Context& context) -> Outcome {
        Result<Step> step = StepOf(context.arguments);
        if (!step) return Outcome::Usage(step.error().message);
        if (context.arguments.Has("--scene")) {
          HANDHOLD_ASSIGN(step->scene, artefact::ReadStage(context.arguments.Text("--scene")));
        }
        HANDHOLD_ASSIGN(const auto library,
                        store::Library::Open(context.arguments.Text("--library")));
        HANDHOLD_ASSIGN(const pipeline::SynthInteractionResult result,
                        step->Run(StepContextOf(context, *library, "replaying")));
        Tell(context, result);
        return Print(context, *library, result);
      }};
  std::vector<Option> things = ThingOptions(), range = RangeOptions();
  verb.options.insert(verb.options.begin() + 1, std::move_iterator(things.begin()),
                      std::move_iterator(things.end()));
  for (Option& option : range) verb.options.push_back(std::move(option));
  return verb;
}

}  // namespace handhold::cli

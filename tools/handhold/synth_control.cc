#include <poll.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>

#include "database/store/artefact_file.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/synth_control.h"
#include "tools/viewer/hand_page.h"

namespace handhold::cli {
namespace {

using Step = pipeline::SynthControlStep;

/// One key at a time from a terminal, without echo; as it was when it ends.
class RawTerminal {
 public:
  RawTerminal() : on_(isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!on_) return;
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 0, keys.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  ~RawTerminal() {
    if (on_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  /// 0: none. Also from a pipe.
  static char Key() {
    pollfd in{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    char key = 0;
    return poll(&in, 1, 0) == 1 && read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
  }

 private:
  termios before_{};
  bool on_;
};

double Now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

constexpr double kPageEvery_s = 0.033;

viewer::HandMoment MomentOf(synthesis::GraspRun& run) {
  const synthesis::HandWorld& world = run.world();
  viewer::HandMoment moment{run.time_s(), world.hand(0), world.q(0), {}, {}, {}};
  for (int i = 0; i < world.prop_count(); ++i)
    moment.things.push_back({&world.prop(i), world.X_WP(i)});
  for (const synthesis::HandContact& c : world.Contacts()) {
    if (c.prop >= 0) moment.contacts.push_back({c.p_W, c.normal_W, c.f_onHand_W});
  }
  char alpha[32], grip[32];
  std::snprintf(alpha, sizeof alpha, "%.1f", run.alpha());
  std::snprintf(grip, sizeof grip, "%.2f N", world.GripOn(0, 0).normal_N);
  moment.words = {{"hand", std::string(synthesis::GraspStateName(run.state()))},
                  {"alpha", alpha},
                  {"grip", grip}};
  return moment;
}

/// Real time in the terminal; what was pressed is in the step that it answers.
Result<Step> PlayByKeys(Context& context, const Step& step) {
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(context.arguments.Text("--library")));
  const pipeline::StepContext quiet{*library, {}, "handhold", true};
  std::fprintf(stderr,
               "keys: o open  c close  r release  n neutral  a by distance  + - alpha\n"
               "      palm by 1 cm: u i x  h l y  j k z  q done\n");
  std::unique_ptr<viewer::HandPage> page;
  if (context.arguments.Has("--page")) {
    HANDHOLD_ASSIGN(page, viewer::HandPage::Serve(
                              static_cast<uint16_t>(context.arguments.Integer("--page")),
                              step.source + (step.prop.empty() ? "" : " and " + step.prop)));
    std::fprintf(stderr, "page: %s\n", page->url().c_str());
  }
  const RawTerminal terminal;
  const double begin_s = Now_s();
  double shown_s = -1.0, paged_s = -1.0;
  const auto played = step.Play(quiet, [&](synthesis::GraspRun& run) {
    for (char key = RawTerminal::Key(); key != 0; key = RawTerminal::Key()) {
      Status pressed;
      if (key == 'o') pressed = run.Press("open");
      if (key == 'c') pressed = run.Press("close");
      if (key == 'r') pressed = run.Press("release");
      if (key == 'n') pressed = run.Press("neutral");
      if (key == 'a') pressed = run.Press("auto");
      if (key == '+' || key == '=') pressed = run.Press("alpha", run.alpha() + 0.1);
      if (key == '-') pressed = run.Press("alpha", run.alpha() - 0.1);
      constexpr double kMove_m = 0.01;
      if (key == 'u' || key == 'i') pressed = run.Press("x", key == 'i' ? kMove_m : -kMove_m);
      if (key == 'h' || key == 'l') pressed = run.Press("y", key == 'l' ? kMove_m : -kMove_m);
      if (key == 'j' || key == 'k') pressed = run.Press("z", key == 'k' ? kMove_m : -kMove_m);
      if (key == 'q' || !pressed) return false;
    }
    if (run.time_s() - shown_s >= 0.1) {
      shown_s = run.time_s();
      std::fprintf(stderr, "\r%6.1f s  %-16s alpha %.1f  grip %6.2f N ", shown_s,
                   std::string(synthesis::GraspStateName(run.state())).c_str(), run.alpha(),
                   run.world().GripOn(0, 0).normal_N);
    }
    if (page != nullptr && run.time_s() - paged_s >= kPageEvery_s) {
      paged_s = run.time_s();
      (void)page->Show(MomentOf(run)).has_value();  // what cannot be shown does not end the play
    }
    const double ahead_s = begin_s + run.time_s() - Now_s();
    if (ahead_s > 1e-3) usleep(static_cast<useconds_t>(1e6 * ahead_s));
    return !context.interrupted();
  });
  std::fprintf(stderr, "\n");
  return played;
}

Result<Issues> Print(Printer& out, const std::string& path) {
  HANDHOLD_ASSIGN(const artefact::Motion motion, store::Load<artefact::Motion>(path));
  const auto figure = [&](const char* name) -> Cell {
    const auto found = motion.summary.figures.find(name);
    return found == motion.summary.figures.end() || std::isnan(found->second) ? Cell(std::nullopt)
                                                                              : Cell(found->second);
  };
  PrintVerdict(out, motion.verdict);
  out.PrintRecord("grasp", {{{.name = "object"}, motion.stage.things.front().prop.key},
                            {{.name = "mass_kg", .decimals = 3}, figure("mass_kg")},
                            {{.name = "friction", .decimals = 2}, figure("friction")},
                            {{.name = "frames"}, static_cast<int64_t>(motion.times.size())},
                            {{.name = "grip_N", .decimals = 2}, figure("grip_N")},
                            {{.name = "peak_force_N", .decimals = 2}, figure("peak_force_N")},
                            {{.name = "lifted_m", .decimals = 4}, figure("lifted_m")},
                            {{.name = "let_go_s", .decimals = 2}, figure("let_go_s")},
                            {{.name = "gain_factor", .decimals = 1}, figure("gain_factor")}});
  return motion.summary.issues;
}

Option Number(const char* name, const char* value, const char* help, double least, double most,
              const char* fallback = "") {
  return {.name = name,
          .value_name = value,
          .help = help,
          .kind = ValueKind::kNumber,
          .fallback = fallback,
          .range = {.least = least, .most = most}};
}

Result<Step> StepOf(const Arguments& given) {
  Step step;
  step.source = given.Text("GRASP");
  step.prop = given.Text("--prop");
  step.metres_per_unit = MetresPerUnit(given);
  step.hand.key = given.Text("--hand");
  step.hand.side = given.Text("--side");
  step.hand.scale = given.Number("--scale");
  HANDHOLD_ASSIGN(const auto pose, PoseOption(given, "--prop-pose"));
  if (pose) step.X_WP = *pose;
  HANDHOLD_ASSIGN(step.X_PPalm, PoseOption(given, "--palm-pose"));
  const std::string wrist = given.Text("--wrist");
  step.story = wrist == "reach"   ? pipeline::PalmStory::kReach
               : wrist == "still" ? pipeline::PalmStory::kStill
                                  : pipeline::PalmStory::kTrack;
  if (step.story == pipeline::PalmStory::kTrack) step.track = wrist;
  step.lift_m = given.Number("--lift");
  synthesis::GraspRunOptions& run = step.run;
  if (given.Flag("--paper")) {
    run.controller = synthesis::ControllerOptions::Paper();
    run.step_s = 2e-4;
  }
  if (given.Has("--gains")) run.controller.gain_factor = given.Number("--gains");
  if (given.Has("--floor")) run.controller.inertia_floor_kgm2 = given.Number("--floor");
  run.alpha = given.Number("--alpha");
  if (given.Has("--step")) run.step_s = given.Time("--step").seconds();
  run.seconds = given.Time("--length").seconds();
  if (given.Has("--mass")) step.mass_kg = given.Number("--mass");
  if (given.Has("--friction")) step.friction = given.Number("--friction");
  if (!given.Flag("--weightless")) step.gravity_W = artefact::Stage().gravity_W;
  run.hold_until_closed = !given.Flag("--afloat");
  step.table = given.Text("--on") == "table";
  if (step.table) run.hold_until_closed = false;
  run.quick = given.Flag("--quick");
  HANDHOLD_ASSIGN(run.keys, synthesis::ParseKeys(given.Text("--sequence"), run.step_s));
  return step;
}

}  // namespace

Verb SynthControlVerb() {
  return {
      .noun = "synth",
      .name = "control",
      .summary = "let a physical hand grasp a prop by setpoints, its palm along a path",
      .examples = {"handhold synth control hand57_cylinder --library lab",
                   "handhold synth control hand27_cylinder --prop bottle --mass 0.1 --library lab",
                   "handhold synth control hand57_cylinder --wrist still --weightless --sequence "
                   "open@0.2,close@0.9,alpha=0.5@2",
                   "handhold synth control hand27_cylinder --wrist still --live"},
      .positionals = {{.name = "GRASP",
                       .help =
                           "a grasp of ours (hand57_cylinder, hand57_pinch, hand27_...), a .json "
                           "grasp, or an artefact: a grasp or setpoints"}},
      .options =
          {LibraryOption(),
           {.name = "--prop",
            .value_name = "PROP",
            .help = "a prop of ours, a .json prop, a .stl, .obj or .ply mesh, or an artefact; "
                    "default: the grasp's own"},
           {.name = "--prop-pose",
            .value_name = "POSE",
            .help = "\"x y z [qw qx qy qz]\", metres; default: at the origin"},
           MeshUnitOption(),
           {.name = "--hand",
            .value_name = "HAND",
            .help = "a hand of ours, a .json file or an artefact; default: the grasp's own"},
           {.name = "--side",
            .value_name = "SIDE",
            .help = "left: the mirrored hand, grasp and place",
            .kind = ValueKind::kChoice,
            .choices = {"left", "right"}},
           Number("--scale", "FACTOR", "size of the hand", 0.1, 10, "1"),
           {.name = "--wrist",
            .value_name = "PATH",
            .help = "reach: comes, grips and lifts; still: is there; or a motion's artefact, whose "
                    "palm leads",
            .fallback = "reach"},
           {.name = "--palm-pose",
            .value_name = "POSE",
            .help = "of the palm in the prop when it grips; default: the grasp's"},
           Number("--lift", "M", "how high after the grip (reach)", -1, 1, "0.1"),
           {.name = "--sequence",
            .value_name = "KEYS",
            .help = "auto, neutral, open, close, release, alpha=X, x= y= z=METRES (palm), each "
                    "@SECONDS; default: by distance (Figure 3 of the paper)"},
           {.name = "--live",
            .help =
                "in real time, by keys in the terminal; the log of keys is kept with the motion",
            .kind = ValueKind::kFlag},
           {.name = "--page",
            .value_name = "PORT",
            .help = "of --live: a page on this machine shows it as it runs; 0: a free port",
            .kind = ValueKind::kInteger,
            .range = {.least = 0, .most = 65535}},
           Number("--alpha", "X", "how much further than contact the hand closes", -2, 5, "1"),
           Number("--gains", "FACTOR", "on Table 1 of the paper (200, 50, 5000); default: 10", 0.01,
                  1e4),
           Number("--floor", "KGM2", "added to inertias, for fingertips; default: 1e-5", 0, 1e-2),
           {.name = "--paper",
            .help =
                "the paper's own: Table 1, explicit torques, 0.2 ms, no floor (holds about 10 g)",
            .kind = ValueKind::kFlag},
           {.name = "--step",
            .value_name = "TIME",
            .help = "of the simulation; default: 2ms",
            .kind = ValueKind::kDuration,
            .range = {.least = 1e-5, .most = 0.02, .unit = " s"}},
           {.name = "--length",
            .value_name = "TIME",
            .help = "of the motion",
            .kind = ValueKind::kDuration,
            .fallback = "4s",
            .range = {.least = 0.01, .most = 600, .unit = " s"}},
           Number("--mass", "KG", "of the prop; default: its own, of a mesh 0.1", 1e-4, 100),
           Number("--friction", "MU", "of the prop; default: its own", 0, 10),
           {.name = "--on",
            .value_name = "WHAT",
            .help = "the prop stands on a fixed table",
            .kind = ValueKind::kChoice,
            .choices = {"table"}},
           {.name = "--weightless", .help = "no gravity", .kind = ValueKind::kFlag},
           {.name = "--afloat",
            .help = "the prop is free from the start, not held until the hand has closed",
            .kind = ValueKind::kFlag},
           {.name = "--quick", .help = "ODE's iterative solver", .kind = ValueKind::kFlag}},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "Open and close by distance, or as --sequence or your keys say; the same keys make the\n"
          "same motion to the bit. Nothing is searched: on another prop the open hand comes along\n"
          "the example's direction, and the verdict says whether it holds.",
      .run = [](Context& context) -> Outcome {
        Result<Step> step = StepOf(context.arguments);
        if (!step) return Outcome::Usage(step.error().message);
        if (context.arguments.Has("--page") && !context.arguments.Flag("--live"))
          return Outcome::Usage("--page shows a --live run; 'handhold show' plays any other");
        if (context.arguments.Flag("--live")) {
          step = PlayByKeys(context, *step);
          if (!step) return step.error();
          std::fprintf(stderr, "--sequence \"%s\" --length %.9gs\n",
                       synthesis::FormatKeys(step->run.keys, step->run.step_s).c_str(),
                       step->run.seconds);
        }
        return RunAndPrint(context, {"grasping", "motion",
                                     [&](const auto& where) { return step->Run(where); }, Print});
      }};
}

}  // namespace handhold::cli

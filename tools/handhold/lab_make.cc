#include <filesystem>

#include "tools/handhold/verbs.h"
#include "tools/lab/subject.h"

namespace handhold::cli {
namespace {

lab::SubjectOptions OptionsOf(const Arguments& a) {
  lab::SubjectOptions o;
  o.seed = static_cast<uint64_t>(a.Integer("--seed"));
  const std::string plan = a.Text("--plan");
  o.plan = plan == "brief"        ? lab::Plan::Brief()
           : plan == "one-stroke" ? lab::Plan::OneStroke()
                                  : lab::Plan::Full();
  if (a.Flag("--no-air-strokes")) o.plan = o.plan.WithoutAir();
  o.friction = a.Number("--friction");
  o.sensor.marker_noise_m = 1e-3 * a.Number("--marker-noise-mm");
  o.sensor.force_noise_N = a.Number("--force-noise-N");
  o.sensor.torque_noise_Nm = a.Number("--torque-noise-Nm");
  lab::SensorFaults& faults = o.sensor.faults;
  faults.skin_slip_m_per_N = 1e-3 * a.Number("--skin-slip-mm-per-N");
  faults.forearm_give_m_per_N = 1e-3 * a.Number("--forearm-give-mm-per-N");
  faults.marker_lowpass_hz = a.Number("--marker-lowpass-Hz");
  faults.force_lowpass_hz = a.Number("--force-lowpass-Hz");
  faults.force_drift_N = a.Number("--force-drift-N");
  faults.force_crosstalk = a.Number("--force-crosstalk");
  faults.sensor_off_W_m.x() = 1e-3 * a.Number("--sensor-off-mm");
  o.sensor.marker_clock_ppm = a.Number("--marker-clock-ppm");
  o.sensor.force_clock_ppm = a.Number("--force-clock-ppm");
  o.palm_mass = a.Number("--palm-mass");
  const Eigen::Vector3d coupling(0.0, a.Number("--couple-mp-pip"), a.Number("--couple-pip-dip"));
  if (coupling != Eigen::Vector3d::Zero()) o.coupling = coupling;
  if (a.Flag("--no-counterfactuals")) o.counterfactual_friction = {}, o.bump = false;
  o.processes = static_cast<int>(a.Integer("--processes"));
  return o;
}

Option Number(const char* name, const char* value_name, const char* fallback, const char* help,
              Range range = {.least = 0}) {
  return {.name = name,
          .value_name = value_name,
          .help = help,
          .kind = ValueKind::kNumber,
          .fallback = fallback,
          .range = std::move(range)};
}

/// Far beyond any device's; a clock that is further out is a mistake of units.
Range ClockRange() { return {.least = -10'000, .most = 10'000}; }

/// Noise of the devices, and what is wrong with them or with how they are mounted.
std::vector<Option> SensorOptions() {
  return {Number("--marker-noise-mm", "MM", "0.05", "standard deviation per axis"),
          Number("--force-noise-N", "N", "0.02", "standard deviation per sample at 7 kHz"),
          Number("--torque-noise-Nm", "NM", "0.0002", "standard deviation per sample at 7 kHz"),
          Number("--skin-slip-mm-per-N", "MM", "0", "the end segment's markers follow the force"),
          Number("--forearm-give-mm-per-N", "MM", "0",
                 "all markers follow the force, as on a forearm that yields"),
          Number("--marker-lowpass-Hz", "HZ", "0", "causal low-pass filter of the markers; 0: none",
                 {.least = 0, .most = 249}),
          Number("--force-lowpass-Hz", "HZ", "0",
                 "causal low-pass filter of force and torque; 0: none", {.least = 0, .most = 3499}),
          Number("--force-drift-N", "N", "0", "wander of the force's zero over the session"),
          Number("--force-crosstalk", "SHARE", "0",
                 "each force reads this share of the two others, each torque too",
                 {.least = -0.2, .most = 0.2}),
          Number("--sensor-off-mm", "MM", "0",
                 "the force sensor stands so far along the finger from where the rig says",
                 {.least = -20, .most = 20})};
}

}  // namespace

Verb LabMakeVerb() {
  std::vector<Option> offered = {
      {.name = "--seed",
       .value_name = "N",
       .help = "another subject for each",
       .kind = ValueKind::kInteger,
       .fallback = "1",
       .range = {.least = 0}},
      {.name = "--plan",
       .value_name = "PLAN",
       .help = "full: about 100 s of session; brief: 40 s; one-stroke: 8 s",
       .kind = ValueKind::kChoice,
       .choices = {"full", "brief", "one-stroke"},
       .fallback = "full"},
      {.name = "--processes",
       .value_name = "N",
       .help = "processes to share the engine's runs",
       .kind = ValueKind::kInteger,
       .fallback = "2",
       .range = {.least = 1, .most = 256}},
      {.name = "--no-air-strokes",
       .help = "leave out the strokes in the air, which teach how references bend",
       .kind = ValueKind::kFlag},
      {.name = "--no-counterfactuals",
       .help = "leave out the runs on other surfaces",
       .kind = ValueKind::kFlag},
      Number("--friction", "MU", "0.5", "Coulomb friction of the captured plate",
             {.least = 0, .most = 10}),
      Number("--couple-mp-pip", "SHARE", "0",
             "elastic coupling of MP and PIP, of the root of their stiffnesses' product",
             {.least = -0.49, .most = 0.49}),
      Number("--couple-pip-dip", "SHARE", "0", "the same of PIP and DIP",
             {.least = -0.49, .most = 0.49}),
      Number("--palm-mass", "FACTOR", "1", "the palm so many times as heavy",
             {.least = 0.05, .most = 20}),
      Number("--marker-clock-ppm", "PPM", "40", "how fast the motion capture's clock runs",
             ClockRange()),
      Number("--force-clock-ppm", "PPM", "-25", "how fast the force sensor's clock runs",
             ClockRange())};
  const std::vector<Option> sensors = SensorOptions();
  offered.insert(offered.end(), sensors.begin(), sensors.end());
  return {
      .noun = "lab",
      .name = "make",
      .summary = "make a virtual subject: what sensors will see of it, and the truth behind it",
      .examples = {"handhold lab make subject1",
                   "handhold lab make quick --plan brief --seed 7 --processes 2"},
      .positionals = {{.name = "DIR",
                       .help = "folder to make it in: session.feed and truth/",
                       .kind = ValueKind::kPath}},
      .options = std::move(offered),
      .writes = true,
      .needs_library = false,
      .details =
          "session.feed holds what markers and force sensor see, and no planted parameter: give it "
          "to\n"
          "`handhold live simulate`. truth/ holds the planted compliances, the true trajectories, "
          "the contacts\n"
          "and the runs on other surfaces: only `handhold lab report --truth` reads it. The same "
          "options give the\n"
          "same bytes; a folder that holds another subject is refused.",
      .run = [](Context& context) -> Outcome {
        const std::filesystem::path folder = context.arguments.Text("DIR");
        const lab::SubjectOptions options = OptionsOf(context.arguments);
        HANDHOLD_TRY(lab::MayMakeSubject(options, folder.string()));  // minutes before it is made
        context.progress.Note("making a virtual subject: 15 s and more ...");
        HANDHOLD_ASSIGN(const lab::Subject subject, lab::MakeSubject(options));
        const std::string feed = (folder / "session.feed").string(),
                          truth = (folder / "truth").string();
        HANDHOLD_TRY(context.dry_run ? lab::MayWriteSubject(subject, folder.string())
                                     : lab::WriteSubject(subject, folder.string()));
        std::string redrawn;
        for (const auto& [why, count] : subject.truth.redrawn) {
          redrawn += (redrawn.empty() ? "" : "; ") + std::to_string(count) + " " + why;
        }
        context.printer.PrintRecord(
            {{{.name = "feed"}, feed},
             {{.name = "truth"}, truth},
             {{.name = "session_s", .heading = "session, s"}, subject.truth.takes.back().end_s},
             {{.name = "takes"}, subject.truth.takes.size()},
             {{.name = "strokes"}, subject.truth.strokes.size()},
             {{.name = "redrawn", .heading = "strokes drawn again"},
              redrawn.empty() ? "none" : redrawn},
             {{.name = "runs"}, subject.truth.runs.size()},
             {{.name = "frames"}, subject.feed.frame_count()},
             {{.name = "force_samples", .heading = "force samples"}, subject.feed.force_count()}});
        return Outcome::Done();
      }};
}

}  // namespace handhold::cli

#include "tools/lab/subject.h"

#include <cmath>
#include <filesystem>

#include "database/base/shell.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "database/model/schemas.h"
#include "database/text/json.h"
#include "database/text/json_view.h"
#include "tools/lab/engine_run.h"
#include "tools/lab/json_forms.h"
#include "tools/lab/program.h"
#include "tools/lab/random.h"
#include "tools/lab/sensors.h"

namespace handhold::lab {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kPlateDepth_m = 0.075;  ///< of the top below the wrist: serves all four postures
constexpr double kMarkerRate_Hz = 500.0, kForceRate_Hz = 7000.0;  ///< SensorFeed::Data's
constexpr double kBumpAhead_m = 0.027;                            ///< of the touch, along the sweep

/// The study's four; its straight one (14, 4, 3 degrees beyond the wrist) bent a little, since it
/// cannot press 10 mm deep at all.
std::vector<Posture> StudyPostures() {
  return {{"exploring", {3, 19, 27, 14}, 5.0, 0.030, 0.060, false},
          {"scratching", {8, 32, 35, 12}, 5.0, 0.030, 0.050, false},
          {"curled", {5, 45, 45, 25}, 5.0, 0.015, 0.030, false},
          {"straight", {20, 22, 12, 8}, 3.0, 0.030, 0.060, false}};
}

PlantedImpedance Impedance(const std::string& task, std::initializer_list<double> compliance,
                           double time_constant_s) {
  PlantedImpedance impedance{
      task, Eigen::VectorXd(static_cast<Eigen::Index>(compliance.size())), {}};
  Eigen::Index i = 0;
  for (const double c : compliance) impedance.compliance_rad_per_Nm[i++] = c;
  impedance.time_constant_s = Eigen::VectorXd::Constant(i, time_constant_s);
  return impedance;
}

/// Table 1 of Kry & Pai 2006; scratching PIP and DIP, published only as bounds, at 0.60.
Result<std::vector<PlantedImpedance>> PlanImpedances(const SubjectOptions& options, int nv) {
  std::vector<PlantedImpedance> planted = {
      Impedance("free", {0.3488, 0.9882, 0.6715, 2.0052}, 0.014),
      Impedance("exploring", {0.3488, 0.9882, 0.6715, 2.0052}, 0.014),
      Impedance("scratching", {0.1531, 0.4788, 0.60, 0.60}, 0.011)};
  bool free_given = false;
  for (const PlantedImpedance& given : options.impedances) {
    bool known = false;
    for (PlantedImpedance& p : planted) {
      if (p.task == given.task) p = given, known = true;
    }
    free_given = free_given || given.task == "free";
    if (!known)
      return Error{ErrorCode::kInvalid,
                   "impedance of task '" + given.task + "': tasks are free, exploring, scratching"};
  }
  if (!free_given) {
    planted[0].compliance_rad_per_Nm = planted[1].compliance_rad_per_Nm;
    planted[0].time_constant_s = planted[1].time_constant_s;
    planted[0].coupling = planted[1].coupling;
  }
  for (PlantedImpedance& p : planted) {
    if (p.coupling.size() == 0 && options.coupling.size() > 0) p.coupling = options.coupling;
    if (p.compliance_rad_per_Nm.size() != nv || p.time_constant_s.size() != nv ||
        !p.compliance_rad_per_Nm.allFinite() || !p.time_constant_s.allFinite() ||
        !(p.compliance_rad_per_Nm.minCoeff() > 0) || !(p.time_constant_s.minCoeff() >= 0)) {
      return Error{ErrorCode::kInvalid,
                   "impedance of task " + p.task + ": it needs " + std::to_string(nv) +
                       " compliances > 0 (a rigid joint: 1e-4) and time constants >= 0"};
    }
    if (p.coupling.size() == 0) continue;
    if (p.coupling.size() != nv - 1 || !(p.coupling.cwiseAbs().maxCoeff() < 0.5) ||
        !(p.time_constant_s.minCoeff() > 0)) {
      return Error{ErrorCode::kInvalid, "impedance of task " + p.task + ": it couples " +
                                            std::to_string(nv - 1) +
                                            " pairs by shares within -0.5 .. 0.5, and then every "
                                            "time constant is above 0"};
    }
  }
  return planted;
}

Status CheckOptions(const SubjectOptions& o, int nv) {
  const auto refuse = [](const std::string& what) -> Status {
    return Error{ErrorCode::kInvalid, "subject: " + what};
  };
  const Plan& plan = o.plan;
  if (!(plan.range_of_motion_s >= 1.0)) return refuse("range_of_motion_s must be at least 1");
  if (plan.knocks < 0 || plan.free_strokes < 0 || plan.exploring_strokes < 0 ||
      plan.scratching_strokes < 0)
    return refuse("counts must not be negative");
  if (!(plan.min_speed_m_per_s > 0.005) || !(plan.max_speed_m_per_s >= plan.min_speed_m_per_s) ||
      !(plan.max_speed_m_per_s <= 0.5)) {
    return refuse("speeds must lie between 0.005 and 0.5 m/s, the lower first");
  }
  for (const Posture& p : plan.postures) {
    if (static_cast<int>(p.flexion_deg.size()) != nv)
      return refuse("posture " + p.name + " needs " + std::to_string(nv) + " angles");
    if (!(p.jitter_deg >= 0) || !(p.max_sweep_m >= p.min_sweep_m))
      return refuse("posture " + p.name + ": jitter must be >= 0 and sweeps in order");
  }
  const double per_ms = 1e-3 / o.step_s;
  if (!(o.step_s > 0) || !(per_ms >= 1) || std::abs(per_ms - std::round(per_ms)) > 1e-6)
    return refuse("step_s must divide 1 ms");
  if (!(o.palm_mass > 0)) return refuse("palm_mass must be above 0");
  if (!(o.friction >= 0)) return refuse("friction must not be negative");
  for (const double mu : o.counterfactual_friction) {
    if (!(mu >= 0)) return refuse("friction must not be negative");
  }
  const SensorOptions& s = o.sensor;
  for (const double v :
       {s.marker_noise_m, s.occlusion_s, s.force_noise_N, s.torque_noise_Nm, s.marker_clock_ppm,
        s.force_clock_ppm, o.reflex_rad, o.reflex_delay_s, o.marker_placement_m}) {
    if (!std::isfinite(v)) return refuse("sensor and reflex options must be finite");
  }
  const SensorFaults& f = s.faults;
  for (const double v : {f.skin_slip_m_per_N, f.forearm_give_m_per_N, f.force_drift_N,
                         f.force_crosstalk, f.sensor_off_W_m.sum()}) {
    if (!std::isfinite(v)) return refuse("sensor faults must be finite");
  }
  if (!(f.marker_lowpass_hz >= 0 && f.marker_lowpass_hz < 0.5 * kMarkerRate_Hz))
    return refuse("marker_lowpass_hz must be 0 or below half the markers' rate");
  if (!(f.force_lowpass_hz >= 0 && f.force_lowpass_hz < 0.5 * kForceRate_Hz))
    return refuse("force_lowpass_hz must be 0 or below half the force's rate");
  return {};
}

Result<std::shared_ptr<const model::Skeleton>> PlantSkeleton(const SubjectOptions& options) {
  model::SkeletonDraft draft;
  if (options.skeleton != nullptr) {
    draft = options.skeleton->draft();
  } else {
    HANDHOLD_ASSIGN(const model::Skeleton hand, model::LoadHand("finger4"));
    draft = hand.draft();
  }
  for (model::Body& body : draft.bodies) {
    if (!(body.mass.mass_kg > 0)) continue;
    body.mass.mass_kg *= options.palm_mass;
    body.mass.I_BCom_B *= options.palm_mass;
    break;
  }
  Random random(options.seed, "marker placement");
  for (model::MarkerAttachment& marker : draft.markers) {
    for (Eigen::Index k = 0; k < 3; ++k)
      marker.p_BM[k] += random.Uniform(-options.marker_placement_m, options.marker_placement_m);
  }
  HANDHOLD_ASSIGN(model::Skeleton planted, model::Skeleton::Build(std::move(draft)));
  return std::make_shared<const model::Skeleton>(std::move(planted));
}

Result<model::Prop> LoadPlate(const char* name) {
  HANDHOLD_ASSIGN(const std::filesystem::path schemas, model::SchemasFolder());
  HANDHOLD_ASSIGN(model::Prop prop,
                  model::LoadProp((schemas / "props" / (std::string(name) + ".json")).string()));
  if (!(prop.surface_compliance_m_per_N > 0))
    return Error{ErrorCode::kInvalid,
                 "prop " + prop.name + ": the laboratory's surfaces need a compliance above 0"};
  return prop;
}

/// The bump stands ahead of where a posture's strokes touch, on the mean over them.
std::vector<RigidTransform> PlaceBumps(const std::vector<TruthStroke>& strokes,
                                       const RigidTransform& X_WPlate) {
  std::vector<RigidTransform> poses(strokes.size());
  for (size_t i = 0; i < strokes.size(); ++i) {
    if (strokes[i].task == "free") continue;
    double x = 0;
    int n = 0;
    for (const TruthStroke& s : strokes) {
      if (s.task == strokes[i].task && s.posture == strokes[i].posture) x += s.p_W_touch.x(), ++n;
    }
    poses[i] = X_WPlate;
    poses[i].p.x() = x / n + std::copysign(kBumpAhead_m, strokes[i].sweep_W.x());
  }
  return poses;
}

std::vector<TruthKnock> DrawKnocks(const SubjectOptions& options, const TruthTake& motion,
                                   const RigidTransform& X_WPlate) {
  Random random(options.seed, "knocks");
  std::vector<TruthKnock> knocks;
  const int n = options.plan.knocks;
  const double share = (motion.end_s - motion.begin_s - 1.0) / std::max(n, 1);
  for (int i = 0; i < n; ++i) {
    TruthKnock knock;
    knock.length_s = random.Uniform(0.015, 0.040);
    knock.begin_s = motion.begin_s + 0.5 + share * (i + random.Uniform(0.1, 0.8));
    knock.peak_N = 0.1;
    knock.p_W = X_WPlate * Vec3(random.Uniform(-0.1, 0.1), random.Uniform(-0.1, 0.1), 0.0);
    knocks.push_back(knock);
  }
  return knocks;
}

std::vector<RunRequest> PlanRuns(const SubjectOptions& options) {
  std::vector<RunRequest> runs = {
      {"reference", "none", 0.0, true, false, false},
      {"captured", "plate", options.friction, true, true, options.reflex_rad != 0.0}};
  for (const double mu : options.counterfactual_friction) {
    std::string number = std::to_string(mu);
    number.erase(std::max(number.find_last_not_of('0') + 1, number.find('.') + 2));
    runs.push_back({"friction_" + number, "plate", mu, false, false, false});
  }
  if (options.bump) runs.push_back({"bump", "bumped_plate", options.friction, false, false, false});
  return runs;
}

}  // namespace

Plan Plan::Full() {
  Plan plan;
  plan.postures = StudyPostures();
  return plan;
}

Plan Plan::Brief() {
  Plan plan = Full();
  plan.name = "brief";
  plan.range_of_motion_s = 8.0;
  plan.free_strokes = plan.exploring_strokes = plan.scratching_strokes = 8;
  return plan;
}

Plan Plan::OneStroke() {
  Plan plan = Full();
  plan.name = "one_stroke";
  plan.range_of_motion_s = 2.0;
  plan.knocks = 0, plan.free_strokes = 2, plan.exploring_strokes = 1, plan.scratching_strokes = 0;
  return plan;
}

Plan Plan::WithoutAir() const {
  Plan plan = *this;
  plan.name += "_no_air";
  plan.free_strokes = 0;
  return plan;
}

Result<Subject> MakeSubject(const SubjectOptions& given) {
  Laboratory lab;
  lab.options = given;
  if (lab.options.plan.postures.empty()) lab.options.plan.postures = StudyPostures();
  HANDHOLD_ASSIGN(lab.skeleton, PlantSkeleton(lab.options));
  HANDHOLD_ASSIGN(const Chain chain, Chain::Build(*lab.skeleton));
  HANDHOLD_TRY(CheckOptions(lab.options, chain.nv()));
  HANDHOLD_ASSIGN(lab.impedances, PlanImpedances(lab.options, chain.nv()));
  HANDHOLD_ASSIGN(lab.flat, LoadPlate("flat_plate"));
  HANDHOLD_ASSIGN(lab.bumped, LoadPlate("bumped_plate"));
  lab.tip_frame = chain.tip_frame();
  lab.flexion_sign = chain.flexion_sign();
  const int tip_body = lab.skeleton->frames()[static_cast<size_t>(lab.tip_frame)].body;
  lab.plate.tip_radius_m = 0.006;
  for (const model::BodyShape& shape : lab.skeleton->body(tip_body).shapes) {
    if (const auto* s = std::get_if<geometry::Sphere>(&shape.shape))
      lab.plate.tip_radius_m = s->radius_m;
    if (const auto* c = std::get_if<geometry::Capsule>(&shape.shape))
      lab.plate.tip_radius_m = c->radius_m;
  }
  const Vec3 wrist = chain.wrist();
  lab.plate.top_z_m = wrist.z() - kPlateDepth_m;
  lab.plate.compliance_m_per_N = lab.flat.surface_compliance_m_per_N;
  lab.X_WPlate = RigidTransform::Translation({wrist.x() + 0.12, wrist.y(), lab.plate.top_z_m});
  HANDHOLD_ASSIGN(lab.program, PlanSession(lab.options, chain, lab.plate, lab.impedances));
  lab.X_WBumped = PlaceBumps(lab.program.strokes, lab.X_WPlate);

  Truth truth;
  for (const ProgramSegment& segment : lab.program.segments) truth.takes.push_back(segment.take);
  truth.knocks = DrawKnocks(lab.options, truth.takes.front(), lab.X_WPlate);
  HANDHOLD_ASSIGN(std::vector<EngineRecord> records,
                  RunAll(lab, PlanRuns(lab.options), lab.options.processes));
  SensorFeed feed = Sense(lab, records[1], truth.takes, truth.knocks);

  truth.seed = lab.options.seed;
  truth.plan = lab.options.plan.name;
  truth.skeleton = lab.skeleton;
  truth.impedances = lab.impedances;
  truth.reflex_rad = lab.options.reflex_rad, truth.reflex_delay_s = lab.options.reflex_delay_s;
  truth.faults = lab.options.sensor.faults;
  truth.strokes = lab.program.strokes;
  truth.redrawn = lab.program.redrawn;
  for (EngineRecord& record : records) truth.runs.push_back(std::move(record.run));
  truth.X_WPlate = lab.X_WPlate;
  truth.X_WBumped = lab.X_WBumped;
  truth.plate_top_z_m = lab.plate.top_z_m;
  truth.surface_stiffness_N_per_m = 1.0 / lab.flat.surface_compliance_m_per_N;
  truth.surface_damping_Ns_per_m = lab.surface_damping_Ns_per_m;
  truth.tip_radius_m = lab.plate.tip_radius_m;
  return Subject{std::move(feed), std::move(truth)};
}

namespace {
Error HoldsAnother(const std::string& folder) {
  return {ErrorCode::kInvalid,
          folder + ": holds another subject (of another seed, plan, option or version of " +
              "this program), which would be lost: make this one in another folder, or " +
              "remove that one with `rm -r " + ShellWord(folder) + "`"};
}

/// Whether the truth in `json` may be that of `options`, by what needs no computing.
Result<bool> MayBeOf(const text::JsonView& json, const SubjectOptions& options) {
  HANDHOLD_ASSIGN(const std::string seed, json.Get<std::string>("seed"));
  HANDHOLD_ASSIGN(const std::string plan, json.Get<std::string>("plan"));
  HANDHOLD_ASSIGN(const double reflex_rad, json.Get<double>("reflex_rad"));
  HANDHOLD_ASSIGN(const std::vector<text::JsonView> runs, json.GetItems("runs"));
  SensorFaults faults;
  if (json.Has("faults")) {
    HANDHOLD_ASSIGN(const text::JsonView planted, json.At("faults"));
    HANDHOLD_ASSIGN(faults, FaultsFromJson(planted));
  }
  const std::vector<RunRequest> asked = PlanRuns(options);
  if (seed != std::to_string(options.seed) || plan != options.plan.name ||
      reflex_rad != options.reflex_rad || faults != options.sensor.faults ||
      runs.size() != asked.size())
    return false;
  for (size_t i = 0; i < runs.size(); ++i) {
    HANDHOLD_ASSIGN(const std::string name, runs[i].Get<std::string>("name"));
    HANDHOLD_ASSIGN(const double friction, runs[i].Get<double>("friction"));
    if (name != asked[i].name || friction != asked[i].friction) return false;
  }
  return true;
}
}  // namespace

Status MayMakeSubject(const SubjectOptions& options, const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / "truth" / "truth.json").string();
  const Result<text::Json> json = text::ReadJsonFile(path);
  if (!json && json.error().code == ErrorCode::kNotFound) return {};
  if (!json) return HoldsAnother(folder);
  const Result<bool> may = MayBeOf(text::JsonView(*json, path), options);
  return may && *may ? Status() : Status(HoldsAnother(folder));
}

Status MayWriteSubject(const Subject& subject, const std::string& folder) {
  const std::filesystem::path at(folder);
  for (const Result<bool>& same : {IsTruth(subject.truth, (at / "truth").string()),
                                   IsFeed(subject.feed, (at / "session.feed").string())}) {
    if (same ? *same : same.error().code == ErrorCode::kNotFound) continue;
    return HoldsAnother(folder);
  }
  return {};
}

Status WriteSubject(const Subject& subject, const std::string& folder) {
  HANDHOLD_TRY(MayWriteSubject(subject, folder));
  const std::filesystem::path at(folder);
  HANDHOLD_TRY(WriteTruth(subject.truth, (at / "truth").string()));  // makes the folder
  return WriteFeed(subject.feed, (at / "session.feed").string());
}

}  // namespace handhold::lab

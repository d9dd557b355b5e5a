#include <bit>
#include <cstring>
#include <filesystem>

#include "database/model/skeleton_json.h"
#include "database/text/file.h"
#include "tools/lab/archive.h"
#include "tools/lab/json_forms.h"
#include "tools/lab/truth.h"

namespace handhold::lab {
namespace {

using text::Json;
using text::JsonView;

static_assert(std::endian::native == std::endian::little,
              "feeds and truth files are little-endian");
constexpr size_t kMaxRunFile = size_t{2} << 30;

Json StrokeToJson(const TruthStroke& s) {
  return Json::Object({{"task", s.task},
                       {"posture", s.posture},
                       {"begin_s", s.begin_s},
                       {"end_s", s.end_s},
                       {"speed_m_per_s", s.speed_m_per_s},
                       {"planned_force_N", s.planned_force_N},
                       {"p_W_touch", NumbersToJson(s.p_W_touch)},
                       {"q_touch", NumbersToJson(s.q_touch)},
                       {"sweep_W", NumbersToJson(s.sweep_W)}});
}

Result<TruthStroke> StrokeFromJson(const JsonView& v) {
  TruthStroke s;
  HANDHOLD_ASSIGN(s.task, v.Get<std::string>("task"));
  HANDHOLD_ASSIGN(s.posture, v.Get<std::string>("posture"));
  HANDHOLD_ASSIGN(s.begin_s, v.Get<double>("begin_s"));
  HANDHOLD_ASSIGN(s.end_s, v.Get<double>("end_s"));
  HANDHOLD_ASSIGN(s.speed_m_per_s, v.Get<double>("speed_m_per_s"));
  HANDHOLD_ASSIGN(s.planned_force_N, v.Get<double>("planned_force_N"));
  HANDHOLD_ASSIGN(s.p_W_touch, Vec3FromJson(v, "p_W_touch"));
  HANDHOLD_ASSIGN(s.q_touch, NumbersFromJson(v, "q_touch"));
  HANDHOLD_ASSIGN(s.sweep_W, Vec3FromJson(v, "sweep_W"));
  return s;
}

Json RunToJson(const TruthRun& run) {
  Json contacts = Json::Array();
  for (const TruthContact& c : run.contacts) {
    contacts.Push(Json::Object({{"stroke", c.stroke},
                                {"onset_s", c.onset_s},
                                {"release_s", c.release_s},
                                {"peak_normal_force_N", c.peak_normal_force_N}}));
  }
  return Json::Object({{"name", run.name},
                       {"surface", run.surface},
                       {"friction", run.friction},
                       {"series", run.name + ".f64"},
                       {"contacts", std::move(contacts)}});
}

Result<TruthRun> RunFromJson(const JsonView& v, const std::filesystem::path& folder) {
  TruthRun run;
  HANDHOLD_ASSIGN(run.name, v.Get<std::string>("name"));
  HANDHOLD_ASSIGN(run.surface, v.Get<std::string>("surface"));
  HANDHOLD_ASSIGN(run.friction, v.Get<double>("friction"));
  HANDHOLD_ASSIGN(const std::vector<JsonView> contacts, v.GetItems("contacts"));
  for (const JsonView& item : contacts) {
    TruthContact c;
    HANDHOLD_ASSIGN(c.stroke, item.Get<int>("stroke"));
    HANDHOLD_ASSIGN(c.onset_s, item.Get<double>("onset_s"));
    HANDHOLD_ASSIGN(c.release_s, item.Get<double>("release_s"));
    HANDHOLD_ASSIGN(c.peak_normal_force_N, item.Get<double>("peak_normal_force_N"));
    run.contacts.push_back(c);
  }
  HANDHOLD_ASSIGN(const std::string file, v.Get<std::string>("series"));
  HANDHOLD_ASSIGN(const std::string bytes,
                  text::ReadTextFile(folder / std::filesystem::path(file).filename(), kMaxRunFile));
  std::vector<double> numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
  Unpacker unpacker{numbers};
  SeriesFields(unpacker, run);
  if (!unpacker.good || unpacker.at != numbers.size() || bytes.size() % sizeof(double) != 0) {
    return Error{ErrorCode::kCorrupt, (folder / file).string() + ": not a whole truth series"};
  }
  return run;
}

Json TruthToJson(const Truth& truth) {
  Json impedances = Json::Array(), strokes = Json::Array(), knocks = Json::Array(),
       runs = Json::Array(), bumps = Json::Array();
  for (const PlantedImpedance& i : truth.impedances) {
    Json made = Json::Object({{"task", i.task},
                              {"compliance_rad_per_Nm", NumbersToJson(i.compliance_rad_per_Nm)},
                              {"time_constant_s", NumbersToJson(i.time_constant_s)}});
    if (i.coupling.size() > 0) made.Set("coupling", NumbersToJson(i.coupling));
    impedances.Push(std::move(made));
  }
  for (const TruthStroke& s : truth.strokes) strokes.Push(StrokeToJson(s));
  for (const TruthKnock& k : truth.knocks) {
    knocks.Push(Json::Object({{"begin_s", k.begin_s},
                              {"length_s", k.length_s},
                              {"peak_N", k.peak_N},
                              {"p_W", NumbersToJson(k.p_W)}}));
  }
  Json redrawn = Json::Object({});
  for (const auto& [why, count] : truth.redrawn) redrawn.Set(why, int64_t{count});
  for (const TruthRun& r : truth.runs) runs.Push(RunToJson(r));
  for (const geometry::RigidTransform& X : truth.X_WBumped) bumps.Push(PoseToJson(X));
  Json json = Json::Object({{"format", "handhold.truth"},
                            {"version", 1},
                            {"seed", std::to_string(truth.seed)},
                            {"plan", truth.plan},
                            {"impedances", std::move(impedances)},
                            {"reflex_rad", truth.reflex_rad},
                            {"reflex_delay_s", truth.reflex_delay_s},
                            {"X_WPlate", PoseToJson(truth.X_WPlate)},
                            {"plate_top_z_m", truth.plate_top_z_m},
                            {"surface_stiffness_N_per_m", truth.surface_stiffness_N_per_m},
                            {"surface_damping_Ns_per_m", truth.surface_damping_Ns_per_m},
                            {"tip_radius_m", truth.tip_radius_m},
                            {"takes", TakesToJson(truth.takes)},
                            {"strokes", std::move(strokes)},
                            {"knocks", std::move(knocks)},
                            {"redrawn", std::move(redrawn)},
                            {"runs", std::move(runs)},
                            {"X_WBumped", std::move(bumps)}});
  if (truth.faults != SensorFaults()) json.Set("faults", FaultsToJson(truth.faults));
  return json;
}

Status ReadPlanted(const JsonView& v, Truth* truth) {
  HANDHOLD_ASSIGN(const std::string seed, v.Get<std::string>("seed"));
  truth->seed = std::strtoull(seed.c_str(), nullptr, 10);
  HANDHOLD_ASSIGN(truth->plan, v.Get<std::string>("plan"));
  HANDHOLD_ASSIGN(truth->reflex_rad, v.Get<double>("reflex_rad"));
  HANDHOLD_ASSIGN(truth->reflex_delay_s, v.Get<double>("reflex_delay_s"));
  if (v.Has("faults")) {
    HANDHOLD_ASSIGN(const JsonView faults, v.At("faults"));
    HANDHOLD_ASSIGN(truth->faults, FaultsFromJson(faults));
  }
  HANDHOLD_ASSIGN(const JsonView plate, v.At("X_WPlate"));
  HANDHOLD_ASSIGN(truth->X_WPlate, PoseFromJson(plate));
  HANDHOLD_ASSIGN(truth->plate_top_z_m, v.Get<double>("plate_top_z_m"));
  HANDHOLD_ASSIGN(truth->surface_stiffness_N_per_m, v.Get<double>("surface_stiffness_N_per_m"));
  HANDHOLD_ASSIGN(truth->surface_damping_Ns_per_m, v.Get<double>("surface_damping_Ns_per_m"));
  HANDHOLD_ASSIGN(truth->tip_radius_m, v.Get<double>("tip_radius_m"));
  HANDHOLD_ASSIGN(truth->takes, TakesFromJson(v, "takes"));
  HANDHOLD_ASSIGN(const std::vector<JsonView> impedances, v.GetItems("impedances"));
  for (const JsonView& item : impedances) {
    PlantedImpedance impedance;
    HANDHOLD_ASSIGN(impedance.task, item.Get<std::string>("task"));
    HANDHOLD_ASSIGN(impedance.compliance_rad_per_Nm,
                    NumbersFromJson(item, "compliance_rad_per_Nm"));
    HANDHOLD_ASSIGN(impedance.time_constant_s, NumbersFromJson(item, "time_constant_s"));
    if (item.Has("coupling")) {
      HANDHOLD_ASSIGN(impedance.coupling, NumbersFromJson(item, "coupling"));
    }
    truth->impedances.push_back(std::move(impedance));
  }
  if (v.Has("redrawn")) {  // absent in older subjects
    HANDHOLD_ASSIGN(const JsonView redrawn, v.At("redrawn"));
    HANDHOLD_ASSIGN(const auto members, redrawn.Members());
    for (const auto& [why, count] : members) {
      HANDHOLD_ASSIGN(const int64_t n, count.As<int64_t>());
      truth->redrawn[why] = static_cast<int>(n);
    }
  }
  HANDHOLD_ASSIGN(const std::vector<JsonView> knocks, v.GetItems("knocks"));
  for (const JsonView& item : knocks) {
    TruthKnock knock;
    HANDHOLD_ASSIGN(knock.begin_s, item.Get<double>("begin_s"));
    HANDHOLD_ASSIGN(knock.length_s, item.Get<double>("length_s"));
    HANDHOLD_ASSIGN(knock.peak_N, item.Get<double>("peak_N"));
    HANDHOLD_ASSIGN(knock.p_W, Vec3FromJson(item, "p_W"));
    truth->knocks.push_back(knock);
  }
  return {};
}

}  // namespace

Status WriteTruth(const Truth& truth, const std::string& directory) {
  const std::filesystem::path folder(directory);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{ErrorCode::kIo, directory + ": " + failed.message()};
  HANDHOLD_TRY(model::SaveSkeleton(*truth.skeleton, folder / "skeleton.json"));
  for (const TruthRun& run : truth.runs) {
    Packer packer;
    TruthRun copy = run;
    SeriesFields(packer, copy);
    HANDHOLD_TRY(text::WriteTextFile(
        folder / (run.name + ".f64"),
        {reinterpret_cast<const char*>(packer.out.data()), packer.out.size() * sizeof(double)}));
  }
  return text::WriteJsonFile(folder / "truth.json", TruthToJson(truth));
}

Result<bool> IsTruth(const Truth& truth, const std::string& directory) {
  const std::string path = (std::filesystem::path(directory) / "truth.json").string();
  HANDHOLD_ASSIGN(const std::string there, text::ReadTextFile(path));
  const Result<Json> parsed = text::ParseJson(there, {.source = path});
  if (!parsed) return false;
  HANDHOLD_ASSIGN(const std::string stored, text::CanonicalJson(*parsed));
  HANDHOLD_ASSIGN(const std::string made, text::CanonicalJson(TruthToJson(truth)));
  return stored == made;
}

Result<Truth> ReadTruth(const std::string& directory) {
  const std::filesystem::path folder(directory);
  const std::string path = (folder / "truth.json").string();
  HANDHOLD_ASSIGN(const Json json, text::ReadJsonFile(path));
  const JsonView view(json, path);
  HANDHOLD_ASSIGN(const std::string format, view.Get<std::string>("format"));
  HANDHOLD_ASSIGN(const int version, view.Get<int>("version"));
  if (format != "handhold.truth" || version != 1)
    return view.Fail("this program reads handhold.truth version 1", ErrorCode::kVersion);
  Truth truth;
  HANDHOLD_TRY(ReadPlanted(view, &truth));
  HANDHOLD_ASSIGN(model::Skeleton skeleton, model::LoadSkeleton(folder / "skeleton.json"));
  truth.skeleton = std::make_shared<const model::Skeleton>(std::move(skeleton));
  HANDHOLD_ASSIGN(const std::vector<JsonView> strokes, view.GetItems("strokes"));
  for (const JsonView& item : strokes) {
    HANDHOLD_ASSIGN(TruthStroke stroke, StrokeFromJson(item));
    stroke.index = static_cast<int>(truth.strokes.size());
    truth.strokes.push_back(std::move(stroke));
  }
  HANDHOLD_ASSIGN(const std::vector<JsonView> bumps, view.GetItems("X_WBumped"));
  for (const JsonView& item : bumps) {
    HANDHOLD_ASSIGN(const geometry::RigidTransform X, PoseFromJson(item));
    truth.X_WBumped.push_back(X);
  }
  HANDHOLD_ASSIGN(const std::vector<JsonView> runs, view.GetItems("runs"));
  for (const JsonView& item : runs) {
    HANDHOLD_ASSIGN(TruthRun run, RunFromJson(item, folder));
    truth.runs.push_back(std::move(run));
  }
  return truth;
}

}  // namespace handhold::lab

#include "capture/session/rig.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "capture/session/rig_texts.h"
#include "database/base/names.h"
#include "database/base/units.h"
#include "database/text/file.h"
#include "database/text/json_view.h"
#include "database/text/schema.h"
#include "database/text/toml.h"

namespace handhold::capture {
namespace {

/// Ends the path of a rig that is no file.
constexpr std::string_view kBuiltIn = " (built in)";

using geometry::Mat3;
using geometry::Vec3;
using text::JsonView;

constexpr double kUnitTolerance = 1e-3;      // of a normal's length: three typed decimals
constexpr double kRotationTolerance = 1e-4;  // of R R^T - 1, per element: four typed decimals

constexpr std::array<std::pair<std::string_view, ViconAxis>, 6> kAxes = {
    {{"forward", ViconAxis::kForward},
     {"backward", ViconAxis::kBackward},
     {"left", ViconAxis::kLeft},
     {"right", ViconAxis::kRight},
     {"up", ViconAxis::kUp},
     {"down", ViconAxis::kDown}}};

struct BuiltIn {
  std::string_view name, text;
};
std::array<BuiltIn, 2> BuiltIns() { return {{{"demo", texts::kDemoRig}, {"lab", texts::kLabRig}}}; }

Result<Duration> MillisecondsOf(const JsonView& view, std::string_view key) {
  HANDHOLD_ASSIGN(const double ms, view.GetOr<double>(key, 0.0));
  return Duration::FromSeconds(ms / 1000.0);
}

Result<Duration> SecondsOf(const JsonView& view, std::string_view key) {
  HANDHOLD_ASSIGN(const double s, view.GetOr<double>(key, 0.0));
  return Duration::FromSeconds(s);
}

Result<ViconAxis> AxisOf(const JsonView& view, std::string_view key, ViconAxis fallback) {
  HANDHOLD_ASSIGN(const std::string given, view.GetOr<std::string>(key, ""));
  for (const auto& [name, axis] : kAxes)
    if (name == given) return axis;
  return fallback;
}

Result<Vec3> VectorOf(const JsonView& view, std::string_view key, const Vec3& fallback) {
  if (!view.Has(key)) return fallback;
  HANDHOLD_ASSIGN(const auto v, view.GetFixed<3>(key));
  return Vec3(v[0], v[1], v[2]);
}

Result<Mat3> RotationOf(const JsonView& sensor) {
  if (sensor.Has("R") && sensor.Has("rotvec_deg"))
    return sensor.Fail("give R or rotvec_deg, not both");
  if (!sensor.Has("R")) {
    HANDHOLD_ASSIGN(const Vec3 degrees, VectorOf(sensor, "rotvec_deg", Vec3::Zero()));
    return Mat3(geometry::Exp<double>(degrees * DegreesToRadians(1.0)));
  }
  HANDHOLD_ASSIGN(const JsonView given, sensor.At("R"));
  HANDHOLD_ASSIGN(const auto r, sensor.GetFixed<9>("R"));
  Mat3 R;
  R << r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8];
  if (!((R * R.transpose() - Mat3::Identity()).cwiseAbs().maxCoeff() < kRotationTolerance) ||
      R.determinant() < 0) {
    return given.Fail("not a rotation: its rows must be unit, perpendicular and right-handed");
  }
  return geometry::NearestRotation(R);
}

Result<geometry::RigidTransform> PoseOf(const JsonView& view) {
  HANDHOLD_ASSIGN(const Vec3 p_mm, VectorOf(view, "position_mm", Vec3::Zero()));
  HANDHOLD_ASSIGN(const Mat3 R, RotationOf(view));
  return geometry::RigidTransform{R, p_mm * MillimetresToMetres(1.0)};
}

/// What its keys say decides its pose: a place, an item of a pose stream, markers, or nothing.
Result<recording::Thing> ThingOf(const JsonView& view) {
  using recording::Thing;
  Thing thing;
  HANDHOLD_ASSIGN(thing.name, view.Get<std::string>("name"));
  HANDHOLD_ASSIGN(const std::string hand, view.GetOr<std::string>("hand", ""));
  HANDHOLD_ASSIGN(thing.model, view.GetOr<std::string>("prop", hand));
  if (view.Has("hand")) thing.kind = Thing::Kind::kHand;
  if (view.Has("hand") && view.Has("prop")) return view.Fail("give prop or hand, not both");
  HANDHOLD_ASSIGN(thing.stream, view.GetOr<std::string>("stream", ""));
  HANDHOLD_ASSIGN(thing.items, view.GetOr<std::vector<std::string>>("markers", {}));
  if (!thing.items.empty()) thing.pose = Thing::Pose::kMarkers;
  if (view.Has("item")) {
    HANDHOLD_ASSIGN(const std::string item, view.Get<std::string>("item"));
    if (!thing.items.empty()) return view.Fail("give item or markers, not both");
    thing.pose = Thing::Pose::kRigidPoses, thing.items = {item};
  }
  if (view.Has("position_mm") || view.Has("rotvec_deg") || view.Has("R")) {
    if (thing.pose != Thing::Pose::kUnknown)
      return view.Fail("its pose is measured, so it has no position of its own");
    thing.pose = Thing::Pose::kFixed;
    HANDHOLD_ASSIGN(thing.X_WT, PoseOf(view));
  } else if (thing.pose == Thing::Pose::kUnknown && !thing.stream.empty()) {
    return view.Fail("give the item or the markers of its stream");
  }
  return thing;
}

Status ReadThings(const JsonView& root, Rig* rig) {
  HANDHOLD_ASSIGN(const std::vector<JsonView> things, root.GetItems("thing"));
  for (const JsonView& item : things) {
    HANDHOLD_ASSIGN(recording::Thing thing, ThingOf(item));
    rig->things.push_back(std::move(thing));
    const Status all = recording::CheckThings(rig->things);
    if (!all) return item.Fail(all.error().message);
  }
  return {};
}

Result<Vec3> NormalOf(const JsonView& sensor) {
  HANDHOLD_ASSIGN(const Vec3 normal, VectorOf(sensor, "normal", Vec3::UnitZ()));
  const double length = normal.norm();
  if (std::abs(length - 1.0) < kUnitTolerance) return Vec3(normal / length);
  HANDHOLD_ASSIGN(const JsonView given, sensor.At("normal"));
  if (!(length > 0) || !std::isfinite(length))
    return given.Fail("a normal of no direction; [0, 0, 1] is along the sensor's own z");
  const Vec3 unit = normal / length;
  char shown[96];
  std::snprintf(shown, sizeof shown, "[%.6g, %.6g, %.6g]", unit.x(), unit.y(), unit.z());
  return given.Fail("not a unit vector, its length is " + std::to_string(length) +
                    ": did you mean " + shown + "?");
}

Result<RigSensor> SensorOf(const JsonView& view, const RigSource& source) {
  RigSensor sensor;
  HANDHOLD_ASSIGN(sensor.name, view.GetOr<std::string>("name", source.name));
  if (source.kind == RigSource::Kind::kNetFt && sensor.name != source.name) {
    return view.Fail("a Net F/T holds one sensor, called as its source: '" + source.name +
                     "'; leave out the name");
  }
  HANDHOLD_ASSIGN(sensor.mounted_on, view.GetOr<std::string>("on", ""));
  HANDHOLD_ASSIGN(sensor.X_MS, PoseOf(view));
  HANDHOLD_ASSIGN(sensor.normal_S, NormalOf(view));
  HANDHOLD_ASSIGN(sensor.sign, view.GetOr<double>("sign", 1.0));
  HANDHOLD_ASSIGN(sensor.full_scale_N, view.GetOr<double>("full_scale_N", 0.0));
  return sensor;
}

/// What a Net F/T always announces; a Vicon's devices are only known once it is asked.
Status CheckStreamNames(const JsonView& view, const RigSource& source) {
  if (source.kind != RigSource::Kind::kNetFt) return {};
  const std::vector<std::string> known = {"wrench", "status"};
  for (const std::string& name : source.required_streams) {
    if (name == known[0] || name == known[1]) continue;
    HANDHOLD_ASSIGN(const JsonView given, view.At("required_streams"));
    return given.Fail("a Net F/T has no stream '" + name + "'" + DidYouMean(name, known));
  }
  return {};
}

Result<RigSource> SourceOf(const JsonView& view) {
  RigSource source;
  source.line = static_cast<int>(view.value().line());
  HANDHOLD_ASSIGN(source.name, view.Get<std::string>("name"));
  HANDHOLD_ASSIGN(const std::string kind, view.Get<std::string>("kind"));
  source.kind = kind == "vicon"    ? RigSource::Kind::kVicon
                : kind == "net_ft" ? RigSource::Kind::kNetFt
                                   : RigSource::Kind::kPlayback;
  HANDHOLD_ASSIGN(source.host, view.GetOr<std::string>("host", ""));
  HANDHOLD_ASSIGN(source.port, view.GetOr<int>("port", 0));
  HANDHOLD_ASSIGN(source.x, AxisOf(view, "x", source.x));
  HANDHOLD_ASSIGN(source.y, AxisOf(view, "y", source.y));
  HANDHOLD_ASSIGN(source.z, AxisOf(view, "z", source.z));
  HANDHOLD_ASSIGN(source.unlabelled, view.GetOr<bool>("unlabelled", true));
  HANDHOLD_ASSIGN(source.devices, view.GetOr<bool>("devices", true));
  HANDHOLD_ASSIGN(source.http_port, view.GetOr<int>("http_port", 0));
  HANDHOLD_ASSIGN(source.rate_Hz, view.GetOr<double>("rate_Hz", 0.0));
  HANDHOLD_ASSIGN(source.buffered, view.GetOr<bool>("buffered", false));
  HANDHOLD_ASSIGN(source.bias_on_start, view.GetOr<bool>("bias_on_start", false));
  HANDHOLD_ASSIGN(source.clip, view.GetOr<std::string>("clip", ""));
  HANDHOLD_ASSIGN(source.speed, view.GetOr<double>("speed", 1.0));
  HANDHOLD_ASSIGN(source.loop, view.GetOr<bool>("loop", false));
  HANDHOLD_ASSIGN(source.delay, MillisecondsOf(view, "delay_ms"));
  HANDHOLD_ASSIGN(source.delay_sd, MillisecondsOf(view, "delay_sd_ms"));
  HANDHOLD_ASSIGN(source.required, view.GetOr<bool>("required", true));
  HANDHOLD_ASSIGN(source.required_streams,
                  view.GetOr<std::vector<std::string>>("required_streams", {}));
  HANDHOLD_TRY(CheckStreamNames(view, source));
  HANDHOLD_ASSIGN(const std::vector<JsonView> sensors, view.GetItems("sensor"));
  std::set<std::string> names;
  for (const JsonView& item : sensors) {
    HANDHOLD_ASSIGN(RigSensor sensor, SensorOf(item, source));
    if (!names.insert(sensor.name).second)
      return item.Fail("a second sensor called '" + sensor.name + "' in this source");
    source.sensors.push_back(std::move(sensor));
  }
  return source;
}

Status ReadTake(const JsonView& root, Rig* rig) {
  if (!root.Has("take")) return {};
  HANDHOLD_ASSIGN(const JsonView take, root.At("take"));
  HANDHOLD_ASSIGN(rig->subject, take.GetOr<std::string>("subject", ""));
  HANDHOLD_ASSIGN(rig->session, take.GetOr<std::string>("session", ""));
  HANDHOLD_ASSIGN(rig->task, take.GetOr<std::string>("task", ""));
  HANDHOLD_ASSIGN(rig->pre_roll, SecondsOf(take, "pre_roll_s"));
  HANDHOLD_ASSIGN(rig->stop_after, SecondsOf(take, "stop_after_s"));
  return {};
}

Status ReadLimits(const JsonView& root, RigLimits* out) {
  if (!root.Has("limits")) return {};
  HANDHOLD_ASSIGN(const JsonView limits, root.At("limits"));
  HANDHOLD_ASSIGN(out->last_sample_age_s, limits.GetOr<double>("last_sample_age_s", 0.0));
  HANDHOLD_ASSIGN(out->jitter_p99_s, limits.GetOr<double>("jitter_p99_s", 0.0));
  HANDHOLD_ASSIGN(out->rate_error_fraction, limits.GetOr<double>("rate_error_fraction", 0.0));
  HANDHOLD_ASSIGN(out->visible_fraction, limits.GetOr<double>("visible_fraction", 0.0));
  HANDHOLD_ASSIGN(out->clock_residual_p99_s, limits.GetOr<double>("clock_residual_p99_s", 0.0));
  HANDHOLD_ASSIGN(out->ring_fill_fraction, limits.GetOr<double>("ring_fill_fraction", 0.0));
  HANDHOLD_ASSIGN(out->disk_left_s, limits.GetOr<double>("disk_left_s", 0.0));
  return {};
}

/// A rig of another version would breach our schema in confusing ways: say first which it is.
Status CheckFormat(const JsonView& root) {
  if (!root.Has("format")) {
    return root.Fail(
        "not a rig file: it begins with the lines\n  format = \"handhold.rig\"\n  version = 1\n"
        "`handhold live check --rig demo` shows one at work; schemas/rigs/lab.toml is one to copy");
  }
  if (root.Has("take")) {
    HANDHOLD_ASSIGN(const JsonView take, root.At("take"));
    for (const char* old : {"prop", "prop_position_mm", "prop_rotvec_deg"})
      if (take.Has(old))
        return take.Fail("what is touched is a thing of its own: instead of '" + std::string(old) +
                         "' write\n  [[thing]]\n  name = \"plate\"\n  prop = \"flat_plate\"\n"
                         "  position_mm = [120.0, 0.0, -75.0]");
  }
  if (!root.Has("version")) return {};
  const Result<int> version = root.Get<int>("version");
  if (version && *version != 1) {
    HANDHOLD_ASSIGN(const JsonView at, root.At("version"));
    return at.Fail("version " + std::to_string(*version) + " is not known: this program reads 1",
                   ErrorCode::kVersion);
  }
  return {};
}

}  // namespace

const RigSource* Rig::Find(std::string_view source) const {
  for (const RigSource& s : sources)
    if (s.name == source) return &s;
  return nullptr;
}

recording::ClipInfo Rig::TakeInfo() const {
  recording::ClipInfo info;
  info.subject = subject, info.session = session, info.task = task, info.things = things;
  return info;
}

std::string_view RigSourceKindName(RigSource::Kind kind) {
  switch (kind) {
    case RigSource::Kind::kVicon:
      return "vicon";
    case RigSource::Kind::kNetFt:
      return "net_ft";
    case RigSource::Kind::kPlayback:
      return "playback";
  }
  return "unknown";
}

Result<Rig> ParseRig(std::string_view toml, const std::string& source_name) {
  HANDHOLD_ASSIGN(const text::Json json,
                  text::ParseToml(toml, {.source = source_name, .max_bytes = 1 << 20}));
  const JsonView root(json, source_name);
  HANDHOLD_TRY(CheckFormat(root));
  // Parsing what is built in cannot depend on the file: an error here is ours.
  static const text::Schema schema =
      text::Schema::Parse(text::ParseJson(texts::kRigSchema).value(), "rig.schema.json").value();
  HANDHOLD_TRY(schema.Require(json, source_name));

  Rig rig;
  rig.path = source_name;
  rig.text = toml;
  HANDHOLD_ASSIGN(rig.name, root.Get<std::string>("name"));
  HANDHOLD_TRY(ReadTake(root, &rig));
  HANDHOLD_TRY(ReadThings(root, &rig));
  HANDHOLD_TRY(ReadLimits(root, &rig.limits));
  HANDHOLD_ASSIGN(const std::vector<JsonView> sources, root.GetItems("source"));
  for (const JsonView& item : sources) {
    HANDHOLD_ASSIGN(RigSource source, SourceOf(item));
    for (const RigSensor& sensor : source.sensors) {
      if (sensor.mounted_on.empty()) continue;
      std::vector<std::string> names;
      for (const recording::Thing& thing : rig.things) names.push_back(thing.name);
      if (std::ranges::count(names, sensor.mounted_on) == 0)
        return item.Fail("sensor '" + sensor.name + "' is on '" + sensor.mounted_on +
                         "', which is no [[thing]] of this rig" +
                         DidYouMean(sensor.mounted_on, names));
    }
    if (const RigSource* other = rig.Find(source.name)) {
      return item.Fail("a second source called '" + source.name + "', the first is on line " +
                       std::to_string(other->line) + ": streams are called by it, so rename one");
    }
    rig.sources.push_back(std::move(source));
  }
  return rig;
}

std::string Rig::Word() const {
  return path.ends_with(kBuiltIn) ? path.substr(0, path.size() - kBuiltIn.size()) : path;
}

Result<Rig> ReadRig(const std::string& path) {
  HANDHOLD_ASSIGN(const std::string text, text::ReadTextFile(path, 1 << 20));
  HANDHOLD_ASSIGN(Rig rig, ParseRig(text, path));
  for (RigSource& source : rig.sources) {
    const std::filesystem::path clip = source.clip;
    if (!clip.empty() && clip.is_relative())
      source.clip = (std::filesystem::path(path).parent_path() / clip).string();
  }
  return rig;
}

std::vector<std::string> BuiltInRigNames() {
  std::vector<std::string> names;
  for (const BuiltIn& rig : BuiltIns()) names.emplace_back(rig.name);
  return names;
}

std::string_view BuiltInRigText(std::string_view name) {
  for (const BuiltIn& rig : BuiltIns())
    if (rig.name == name) return rig.text;
  return {};
}

Result<Rig> FindRig(const std::string& path_or_name) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path_or_name, ignored)) return ReadRig(path_or_name);
  const std::string_view built_in = BuiltInRigText(path_or_name);
  if (!built_in.empty()) return ParseRig(built_in, path_or_name + std::string(kBuiltIn));
  const std::vector<std::string> names = BuiltInRigNames();
  return Error{ErrorCode::kNotFound, "no rig file '" + path_or_name +
                                         "', and no built-in rig of that name" +
                                         DidYouMean(path_or_name, names)};
}

}  // namespace handhold::capture

#include "database/artefact/stage_file.h"

#include <filesystem>
#include <optional>

#include "database/base/units.h"
#include "database/model/schemas.h"
#include "database/text/file.h"
#include "database/text/json_view.h"
#include "database/text/schema.h"
#include "database/text/toml.h"

namespace handhold::artefact {
namespace fs = std::filesystem;

namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using text::JsonView;
using Is = StageThing::Is;

Result<Vec3> VectorOf(const JsonView& view, std::string_view key) {
  if (!view.Has(key)) return Vec3(Vec3::Zero());
  HANDHOLD_ASSIGN(const auto v, view.GetFixed<3>(key));
  return Vec3(v[0], v[1], v[2]);
}

Result<Vec3> AxisOf(const JsonView& view) {
  HANDHOLD_ASSIGN(const Vec3 axis, VectorOf(view, "axis"));
  if (axis.norm() > 1e-9) return Vec3(axis.normalized());
  HANDHOLD_ASSIGN(const JsonView at, view.At("axis"));
  return at.Fail("an axis of length 0 has no direction");
}

Result<std::optional<double>> NumberOf(const JsonView& view, std::string_view key,
                                       double factor = 1.0) {
  if (!view.Has(key)) return std::optional<double>();
  HANDHOLD_ASSIGN(const double value, view.Get<double>(key));
  return std::optional(factor * value);
}

/// Empty: no place is said.
Result<std::optional<RigidTransform>> PlaceOf(const JsonView& view) {
  if (!view.Has("position_mm")) {
    if (view.Has("rotvec_deg"))
      return view.Fail("what is turned has a place: give position_mm too");
    return std::optional<RigidTransform>();
  }
  HANDHOLD_ASSIGN(const Vec3 p_mm, VectorOf(view, "position_mm"));
  HANDHOLD_ASSIGN(const Vec3 turn_deg, VectorOf(view, "rotvec_deg"));
  return std::optional(RigidTransform{geometry::Exp<double>(turn_deg * DegreesToRadians(1.0)),
                                      p_mm * MillimetresToMetres(1.0)});
}

Result<StagePivot> PivotOf(const JsonView& view) {
  StagePivot pivot;
  HANDHOLD_ASSIGN(pivot.axis_P, AxisOf(view));
  HANDHOLD_ASSIGN(const Vec3 through_mm, VectorOf(view, "through_mm"));
  pivot.p_P = through_mm * MillimetresToMetres(1.0);
  HANDHOLD_ASSIGN(pivot.damping_Nms_per_rad, view.GetOr<double>("damping_Nms_per_rad", 0.0));
  return pivot;
}

Result<StageSlider> SliderOf(const JsonView& view) {
  StageSlider slider;
  HANDHOLD_ASSIGN(slider.axis_P, AxisOf(view));
  HANDHOLD_ASSIGN(slider.damping_Ns_per_m, view.GetOr<double>("damping_Ns_per_m", 0.0));
  HANDHOLD_ASSIGN(slider.dry_friction_N, view.GetOr<double>("dry_friction_N", 0.0));
  HANDHOLD_ASSIGN(slider.lower_m, NumberOf(view, "lower_mm", MillimetresToMetres(1.0)));
  HANDHOLD_ASSIGN(slider.upper_m, NumberOf(view, "upper_mm", MillimetresToMetres(1.0)));
  return slider;
}

/// How a thing may move, and the one member that says it.
struct Way {
  Is is;
  const char* key;  ///< empty: it needs none
};
constexpr Way kWays[] = {{Is::kFree, ""},
                         {Is::kFixed, ""},
                         {Is::kPivot, "pivot"},
                         {Is::kSlider, "slider"},
                         {Is::kTrack, "track"}};

Status TakeWay(const JsonView& view, StageThing* thing) {
  HANDHOLD_ASSIGN(const auto is, view.GetOr<std::string>("is", "free"));
  for (const Way& way : kWays) {
    const std::string key = way.key;
    const bool meant = StageIsName(way.is) == is;
    if (meant) thing->is = way.is;
    if (key.empty() || meant == view.Has(key)) continue;
    const std::string how =
        way.is == Is::kTrack ? "track = KEY" : "[object." + key + "] with axis = [x, y, z]";
    return meant ? view.Fail("'" + thing->name + "' is on a " + key + ": say which, " + how)
                 : view.Fail("'" + thing->name + "' has a " + key + " and is " + is +
                             ": write is = \"" + key + "\"");
  }
  if (thing->is == Is::kPivot) {
    HANDHOLD_ASSIGN(const JsonView pivot, view.At("pivot"));
    HANDHOLD_ASSIGN(thing->pivot, PivotOf(pivot));
  } else if (thing->is == Is::kSlider) {
    HANDHOLD_ASSIGN(const JsonView slider, view.At("slider"));
    HANDHOLD_ASSIGN(thing->slider, SliderOf(slider));
  } else if (thing->is == Is::kTrack) {
    HANDHOLD_ASSIGN(thing->track.key, view.Get<std::string>("track"));
  }
  return {};
}

Result<StageThing> ThingOf(const JsonView& view) {
  StageThing thing;
  HANDHOLD_ASSIGN(thing.name, view.Get<std::string>("name"));
  HANDHOLD_ASSIGN(thing.prop.key, view.Get<std::string>("prop"));
  HANDHOLD_ASSIGN(const auto unit, view.GetOr<std::string>("mesh_unit", "mm"));
  thing.metres_per_unit = unit == "m" ? 1.0 : unit == "cm" ? 0.01 : unit == "in" ? 0.0254 : 0.001;
  HANDHOLD_ASSIGN(thing.X_WP, PlaceOf(view));
  HANDHOLD_TRY(TakeWay(view, &thing));
  HANDHOLD_ASSIGN(thing.mass_kg, NumberOf(view, "mass_kg"));
  HANDHOLD_ASSIGN(thing.friction, NumberOf(view, "friction"));
  HANDHOLD_ASSIGN(thing.compliance_m_per_N, NumberOf(view, "surface_compliance_m_per_N"));
  HANDHOLD_ASSIGN(thing.scale, view.GetOr<double>("scale", 1.0));
  return thing;
}

Result<StageHand> HandOf(const JsonView& view) {
  StageHand hand{.name = ""};
  HANDHOLD_ASSIGN(hand.name, view.GetOr<std::string>("name", ""));
  HANDHOLD_ASSIGN(hand.trajectory.key, view.GetOr<std::string>("trajectory", ""));
  HANDHOLD_ASSIGN(hand.poses.key, view.GetOr<std::string>("poses", ""));
  HANDHOLD_ASSIGN(hand.skeleton.key, view.GetOr<std::string>("skeleton", ""));
  HANDHOLD_ASSIGN(hand.scale, view.GetOr<double>("scale", 1.0));
  HANDHOLD_ASSIGN(const std::optional<RigidTransform> X_WH, PlaceOf(view));
  hand.X_WH = X_WH.value_or(RigidTransform());
  HANDHOLD_ASSIGN(hand.wrist, view.GetOr<std::string>("wrist", ""));
  HANDHOLD_ASSIGN(hand.wrist_track.key, view.GetOr<std::string>("wrist_track", ""));
  if (!hand.trajectory.said() && !hand.poses.said() && hand.skeleton.key.empty())
    return view.Fail("a hand follows a trajectory or poses, or begins as a skeleton: say one");
  return hand;
}

Result<StageSensor> SensorOf(const JsonView& view) {
  StageSensor sensor;
  HANDHOLD_ASSIGN(sensor.name, view.Get<std::string>("name"));
  HANDHOLD_ASSIGN(const auto kind, view.GetOr<std::string>("kind", "six-axis"));
  sensor.kind = kind == "normal"  ? StageSensor::Kind::kNormal
                : kind == "array" ? StageSensor::Kind::kArray
                                  : StageSensor::Kind::kSixAxis;
  HANDHOLD_ASSIGN(sensor.mounted_on, view.GetOr<std::string>("mounted_on", ""));
  HANDHOLD_ASSIGN(const std::optional<RigidTransform> X_MS, PlaceOf(view));
  sensor.X_MS = X_MS.value_or(RigidTransform());
  if (view.Has("normal")) {
    HANDHOLD_ASSIGN(const Vec3 normal, VectorOf(view, "normal"));
    if (!(normal.norm() > 1e-9)) return view.Fail("a normal of length 0 has no direction");
    sensor.normal_S = normal.normalized();
  }
  return sensor;
}

/// A scene of another version would breach our schema in confusing ways: say first which it is.
Status CheckFormat(const JsonView& root) {
  if (!root.Has("format")) {
    return root.Fail(
        "not a scene file: it begins with the lines\n  format = \"handhold.scene\"\n  version = 1\n"
        "schemas/scenes/stack_on_box.toml is one to copy");
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

Status TakeList(const JsonView& root, std::string_view key, const auto& take) {
  HANDHOLD_ASSIGN(const std::vector<JsonView> items, root.GetItems(key));
  for (const JsonView& item : items) HANDHOLD_TRY(take(item));
  return {};
}

Status TakeLists(const JsonView& root, Stage* stage) {
  HANDHOLD_TRY(TakeList(root, "object", [&](const JsonView& item) -> Status {
    HANDHOLD_ASSIGN(StageThing thing, ThingOf(item));
    if (stage->FindThing(thing.name) != nullptr)
      return item.Fail("a second object called '" + thing.name + "': rename one");
    stage->things.push_back(std::move(thing));
    return {};
  }));
  HANDHOLD_ASSIGN(stage->touches_itself, root.GetOr<bool>("touches_itself", false));
  HANDHOLD_TRY(TakeList(root, "hand", [&](const JsonView& item) -> Status {
    HANDHOLD_ASSIGN(StageHand hand, HandOf(item));
    if (hand.name.empty()) hand.name = "R";
    stage->Add(std::move(hand));
    return {};
  }));
  return TakeList(root, "sensor", [&](const JsonView& item) -> Status {
    HANDHOLD_ASSIGN(StageSensor sensor, SensorOf(item));
    stage->sensors.push_back(std::move(sensor));
    return {};
  });
}

/// What is wrong with the stage, said at the last that was read.
Status Sound(const JsonView& at, const Stage& stage) {
  const Status sound = CheckStage(stage);
  return sound ? sound : at.Fail(sound.error().message);
}

bool IsFile(const std::string& prop) {
  for (const char* end : {".json", ".stl", ".obj", ".ply", ".STL", ".OBJ", ".PLY"})
    if (prop.ends_with(end)) return true;
  return false;
}

}  // namespace

Result<Stage> ParseStage(std::string_view toml, const std::string& source_name) {
  HANDHOLD_ASSIGN(const text::Json json,
                  text::ParseToml(toml, {.source = source_name, .max_bytes = 1 << 20}));
  const JsonView root(json, source_name);
  HANDHOLD_TRY(CheckFormat(root));
  HANDHOLD_ASSIGN(const fs::path schemas, model::SchemasFolder());
  HANDHOLD_ASSIGN(const text::Schema schema,
                  text::Schema::Read(schemas / "exchange" / "scene.schema.json"));
  HANDHOLD_TRY(schema.Require(json, source_name));
  Stage stage;
  HANDHOLD_ASSIGN(stage.name, root.Get<std::string>("name"));
  HANDHOLD_TRY(TakeLists(root, &stage));
  HANDHOLD_ASSIGN(const std::optional<double> top_m,
                  NumberOf(root, "table_top_mm", MillimetresToMetres(1.0)));
  if (top_m) {
    Vec3 p_W(0, 0, *top_m);
    if (!stage.things.empty() && stage.things.front().X_WP)
      p_W.head<2>() = stage.things.front().X_WP->p.head<2>();
    if (stage.FindThing("table") != nullptr)
      return root.Fail("an object is called 'table', and table_top_mm makes one: rename it");
    stage.things.insert(stage.things.begin(), TableAt(p_W));
  }
  if (root.Has("gravity_m_per_s2")) {
    HANDHOLD_ASSIGN(stage.gravity_W, VectorOf(root, "gravity_m_per_s2"));
  }
  HANDHOLD_TRY(Sound(root, stage));
  if (root.Has("judge")) {
    HANDHOLD_ASSIGN(const JsonView at, root.At("judge"));
    HANDHOLD_ASSIGN(stage.judged, at.As<std::string>());
    HANDHOLD_TRY(Sound(at, stage));
  }
  if (root.Has("hold_s")) {
    HANDHOLD_ASSIGN(const JsonView at, root.At("hold_s"));
    HANDHOLD_ASSIGN(const auto hold_s, root.GetFixed<2>("hold_s"));
    stage.hold = TimeRange{Timestamp::FromSeconds(hold_s[0]), Timestamp::FromSeconds(hold_s[1])};
    HANDHOLD_TRY(Sound(at, stage));
  }
  return stage;
}

Result<std::vector<std::string>> SceneNames() { return model::LibraryNames("scenes", ".toml"); }

Result<Stage> ReadStage(const std::string& key) {
  fs::path path = key;
  if (!key.ends_with(".toml")) {
    HANDHOLD_ASSIGN(path, model::LibraryFile("scenes", "scene", key, ".toml"));
  }
  HANDHOLD_ASSIGN(const std::string text, text::ReadTextFile(path, 1 << 20));
  HANDHOLD_ASSIGN(Stage stage, ParseStage(text, path.string()));
  for (StageThing& thing : stage.things) {
    if (IsFile(thing.prop.key)) thing.prop.key = (path.parent_path() / thing.prop.key).string();
  }
  return stage;
}

}  // namespace handhold::artefact

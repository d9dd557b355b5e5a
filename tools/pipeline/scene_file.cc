#include "tools/pipeline/scene_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "database/base/names.h"
#include "database/base/units.h"
#include "database/model/schemas.h"
#include "database/text/file.h"
#include "database/text/json_view.h"
#include "database/text/schema.h"
#include "database/text/toml.h"

namespace handhold::pipeline {
namespace fs = std::filesystem;

namespace {

using geometry::Vec3;
using text::JsonView;

Result<Vec3> VectorOf(const JsonView& view, std::string_view key) {
  if (!view.Has(key)) return Vec3(Vec3::Zero());
  HANDHOLD_ASSIGN(const auto v, view.GetFixed<3>(key));
  return Vec3(v[0], v[1], v[2]);
}

Result<synthesis::ReplayPivot> PivotOf(const JsonView& view) {
  synthesis::ReplayPivot pivot;
  HANDHOLD_ASSIGN(const Vec3 axis, VectorOf(view, "axis"));
  if (!(axis.norm() > 1e-9)) {
    HANDHOLD_ASSIGN(const JsonView at, view.At("axis"));
    return at.Fail("an axis of length 0 has no direction");
  }
  pivot.axis_P = axis.normalized();
  HANDHOLD_ASSIGN(const Vec3 through_mm, VectorOf(view, "through_mm"));
  pivot.p_P = through_mm * MillimetresToMetres(1.0);
  HANDHOLD_ASSIGN(pivot.damping_Nms_per_rad, view.GetOr<double>("damping_Nms_per_rad", 0.0));
  return pivot;
}

Result<SceneObject> ObjectOf(const JsonView& view) {
  SceneObject object;
  HANDHOLD_ASSIGN(object.name, view.Get<std::string>("name"));
  HANDHOLD_ASSIGN(object.prop, view.Get<std::string>("prop"));
  HANDHOLD_ASSIGN(const auto unit, view.GetOr<std::string>("mesh_unit", "mm"));
  object.metres_per_unit = unit == "m" ? 1.0 : unit == "cm" ? 0.01 : unit == "in" ? 0.0254 : 0.001;
  if (view.Has("position_mm")) {
    HANDHOLD_ASSIGN(const Vec3 p_mm, VectorOf(view, "position_mm"));
    HANDHOLD_ASSIGN(const Vec3 turn_deg, VectorOf(view, "rotvec_deg"));
    object.X_WP = {geometry::Exp<double>(turn_deg * DegreesToRadians(1.0)),
                   p_mm * MillimetresToMetres(1.0)};
  } else if (view.Has("rotvec_deg")) {
    return view.Fail("a turned object needs a place: give position_mm too");
  }
  HANDHOLD_ASSIGN(const auto is, view.GetOr<std::string>("is", "free"));
  object.kind = is == "fixed"   ? SceneObject::Kind::kFixed
                : is == "pivot" ? SceneObject::Kind::kPivot
                                : SceneObject::Kind::kFree;
  const bool pivots = object.kind == SceneObject::Kind::kPivot;
  if (pivots != view.Has("pivot")) {
    return pivots ? view.Fail("'" + object.name +
                              "' is on a pivot: say which, [object.pivot] with axis = [x, y, z]")
                  : view.Fail("'" + object.name + "' has a pivot and is " + is +
                              ": write is = \"pivot\"");
  }
  if (pivots) {
    HANDHOLD_ASSIGN(const JsonView pivot, view.At("pivot"));
    HANDHOLD_ASSIGN(object.pivot, PivotOf(pivot));
  }
  if (view.Has("mass_kg")) {
    HANDHOLD_ASSIGN(object.mass_kg, view.Get<double>("mass_kg"));
  }
  if (view.Has("friction")) {
    HANDHOLD_ASSIGN(object.friction, view.Get<double>("friction"));
  }
  HANDHOLD_ASSIGN(object.scale, view.GetOr<double>("scale", 1.0));
  return object;
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

Status CheckJudged(const JsonView& root, const SceneFile& scene) {
  if (scene.judge.empty()) return {};
  std::vector<std::string> free;
  for (const SceneObject& object : scene.objects)
    if (object.kind == SceneObject::Kind::kFree) free.push_back(object.name);
  if (std::find(free.begin(), free.end(), scene.judge) != free.end()) return {};
  HANDHOLD_ASSIGN(const JsonView at, root.At("judge"));
  return at.Fail("no free object '" + scene.judge + "'" + DidYouMean(scene.judge, free));
}

bool IsFile(const std::string& prop) {
  for (const char* end : {".json", ".stl", ".obj", ".ply", ".STL", ".OBJ", ".PLY"})
    if (prop.ends_with(end)) return true;
  return false;
}

}  // namespace

Result<SceneFile> ParseScene(std::string_view toml, const std::string& source_name) {
  HANDHOLD_ASSIGN(const text::Json json,
                  text::ParseToml(toml, {.source = source_name, .max_bytes = 1 << 20}));
  const JsonView root(json, source_name);
  HANDHOLD_TRY(CheckFormat(root));
  HANDHOLD_ASSIGN(const fs::path schemas, model::SchemasFolder());
  HANDHOLD_ASSIGN(const text::Schema schema,
                  text::Schema::Read(schemas / "exchange" / "scene.schema.json"));
  HANDHOLD_TRY(schema.Require(json, source_name));
  SceneFile scene;
  HANDHOLD_ASSIGN(scene.name, root.Get<std::string>("name"));
  if (root.Has("table_top_mm")) {
    HANDHOLD_ASSIGN(const double top_mm, root.Get<double>("table_top_mm"));
    scene.table_top_m = top_mm * MillimetresToMetres(1.0);
  }
  HANDHOLD_ASSIGN(scene.judge, root.GetOr<std::string>("judge", ""));
  HANDHOLD_ASSIGN(scene.touches_itself, root.GetOr<bool>("touches_itself", false));
  if (root.Has("hold_s")) {
    HANDHOLD_ASSIGN(const auto hold_s, root.GetFixed<2>("hold_s"));
    HANDHOLD_ASSIGN(const JsonView at, root.At("hold_s"));
    if (!(hold_s[1] > hold_s[0])) return at.Fail("a hold ends after it begins");
    scene.hold = TimeRange{Timestamp::FromSeconds(hold_s[0]), Timestamp::FromSeconds(hold_s[1])};
  }
  HANDHOLD_ASSIGN(const std::vector<JsonView> objects, root.GetItems("object"));
  for (const JsonView& item : objects) {
    HANDHOLD_ASSIGN(SceneObject object, ObjectOf(item));
    for (const SceneObject& other : scene.objects) {
      if (other.name == object.name)
        return item.Fail("a second object called '" + object.name + "': rename one");
    }
    scene.objects.push_back(std::move(object));
  }
  HANDHOLD_TRY(CheckJudged(root, scene));
  HANDHOLD_ASSIGN(const std::vector<JsonView> hands, root.GetItems("hand"));
  for (const JsonView& item : hands) {
    HANDHOLD_ASSIGN(std::string trajectory, item.Get<std::string>("trajectory"));
    scene.hands.push_back(std::move(trajectory));
  }
  return scene;
}

Result<std::vector<std::string>> SceneNames() { return model::LibraryNames("scenes", ".toml"); }

Result<SceneFile> ReadScene(const std::string& key) {
  fs::path path = key;
  if (!key.ends_with(".toml")) {
    HANDHOLD_ASSIGN(path, model::LibraryFile("scenes", "scene", key, ".toml"));
  }
  HANDHOLD_ASSIGN(const std::string text, text::ReadTextFile(path, 1 << 20));
  HANDHOLD_ASSIGN(SceneFile scene, ParseScene(text, path.string()));
  for (SceneObject& object : scene.objects) {
    if (IsFile(object.prop)) object.prop = (path.parent_path() / object.prop).string();
  }
  return scene;
}

}  // namespace handhold::pipeline

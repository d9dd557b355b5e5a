#include "database/model/prop.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include "database/base/issue.h"
#include "database/geometry/mesh_io.h"
#include "database/model/hand_library.h"
#include "database/model/schemas.h"
#include "database/model/shape_json.h"
#include "database/text/json_view.h"

namespace handhold::model {
namespace {

using geometry::Vec3;
using internal::Vec3FromJson;
using internal::Vec3ToJson;
using text::Json;
using text::JsonView;

Error Invalid(const Prop& prop, const std::string& what) {
  return {ErrorCode::kInvalid, "prop '" + prop.name + "': " + what};
}

template <typename Items>
Status CheckNames(const Prop& prop, const char* kind, const Items& items) {
  std::set<std::string> seen;
  for (const auto& item : items) {
    if (item.name.empty()) return Invalid(prop, std::string("a ") + kind + " has no name");
    if (!seen.insert(item.name).second) {
      return Invalid(prop, std::string("two ") + kind + "s are called '" + item.name + "'");
    }
  }
  return {};
}

/// Nothing a hand holds, and no plate it presses, reaches farther from its own origin.
Status CheckReach(const Prop& prop, const Vec3& p, const std::string& what) {
  if (!(p.norm() > 5.0)) return {};
  return Invalid(prop, what + " is " + std::to_string(p.norm()) +
                           " m away, beyond 5 m: is this in mm? lengths are in m");
}

/// No side of what a hand holds or presses is longer, and nothing rubs harder.
constexpr double kLongestSide_m = 5.0;
/// Nothing a fingertip could feel is smaller in every direction.
constexpr double kSmallestProp_m = 1e-3;
constexpr double kHighestFriction = 10.0;

Status CheckSize(const Prop& prop, const PropShape& shape) {
  const geometry::Bounds bounds = geometry::BoundsOf(shape.shape);
  const double longest = (bounds.max - bounds.min).maxCoeff();
  char length[32];
  std::snprintf(length, sizeof length, "%.6g", longest);
  if (longest < kSmallestProp_m) {
    return Invalid(
        prop,
        "shape '" + shape.name + "' is " + length +
            " m long, less than 1 mm: was it in m, and read in another unit (--mesh-unit m)?");
  }
  if (longest <= kLongestSide_m) return {};
  return Invalid(prop, "shape '" + shape.name + "' is " + length +
                           " m long, more than 5 m: is this in mm or cm? lengths are in m, and a "
                           "mesh file's as --mesh-unit says");
}

Status ReadShapesAndMass(const JsonView& root, const std::filesystem::path& folder, Prop* prop) {
  HANDHOLD_ASSIGN(const JsonView list, root.At("shapes"));
  HANDHOLD_ASSIGN(const std::vector<JsonView> items, list.Items());
  std::vector<internal::PosedShape> posed;
  for (const JsonView& item : items) {
    HANDHOLD_ASSIGN(internal::PosedShape shape, internal::ShapeFromJson(item, folder));
    PropShape out{"", shape.X, shape.shape, ""};
    HANDHOLD_ASSIGN(out.name, item.Get<std::string>("name"));
    HANDHOLD_ASSIGN(out.source, item.GetOr<std::string>("source", ""));
    prop->shapes.push_back(std::move(out));
    posed.push_back(std::move(shape));
  }
  if (!root.Has("mass")) return {};
  HANDHOLD_ASSIGN(const JsonView mass, root.At("mass"));
  HANDHOLD_ASSIGN(prop->mass, internal::MassFromJson(mass, posed));
  HANDHOLD_ASSIGN(prop->mass_source, internal::MassSourceFromJson(mass));
  return {};
}

Status ReadRegionsAndMarkers(const JsonView& root, Prop* prop) {
  HANDHOLD_ASSIGN(const std::vector<JsonView> regions, root.GetItems("grasp_regions"));
  for (const JsonView& item : regions) {
    HANDHOLD_TRY(item.RequireKnownKeys({"name", "p_m", "radius_m", "approach", "source"}));
    GraspRegion& region = prop->grasp_regions.emplace_back();
    HANDHOLD_ASSIGN(region.name, item.Get<std::string>("name"));
    HANDHOLD_ASSIGN(region.p_P, Vec3FromJson(item, "p_m"));
    HANDHOLD_ASSIGN(region.radius_m, item.Get<double>("radius_m"));
    HANDHOLD_ASSIGN(region.approach_P, Vec3FromJson(item, "approach"));
    HANDHOLD_ASSIGN(region.source, item.GetOr<std::string>("source", ""));
  }
  HANDHOLD_ASSIGN(const std::vector<JsonView> markers, root.GetItems("markers"));
  for (const JsonView& item : markers) {
    HANDHOLD_TRY(item.RequireKnownKeys({"name", "p_m", "source"}));
    PropMarker& marker = prop->markers.emplace_back();
    HANDHOLD_ASSIGN(marker.name, item.Get<std::string>("name"));
    HANDHOLD_ASSIGN(marker.p_P, Vec3FromJson(item, "p_m"));
    HANDHOLD_ASSIGN(marker.source, item.GetOr<std::string>("source", ""));
  }
  return {};
}

void SetIfNotEmpty(Json* object, std::string_view key, const std::string& text) {
  if (!text.empty()) object->Set(key, text);
}

}  // namespace

namespace {

/// Least of p . up over a placed shape.
double LowestOfShape(const geometry::Shape& shape, const geometry::RigidTransform& X,
                     const geometry::Vec3& up) {
  const double at = X.p.dot(up);
  const geometry::Vec3 up_S = X.R.transpose() * up;
  const auto of_vertices = [&](const geometry::MeshTree& tree) {
    double least = std::numeric_limits<double>::infinity();
    for (const geometry::Vec3& v : tree.mesh().vertices) least = std::min(least, v.dot(up_S));
    return at + least;
  };
  if (const auto* s = std::get_if<geometry::Sphere>(&shape)) return at - s->radius_m;
  if (const auto* s = std::get_if<geometry::Capsule>(&shape))
    return at - s->radius_m - 0.5 * s->length_m * std::abs(up_S.z());
  if (const auto* s = std::get_if<geometry::Box>(&shape))
    return at - 0.5 * s->size_m.dot(up_S.cwiseAbs());
  if (const auto* s = std::get_if<geometry::Cylinder>(&shape)) {
    return at - 0.5 * s->length_m * std::abs(up_S.z()) - s->radius_m * up_S.head<2>().norm();
  }
  if (const auto* s = std::get_if<geometry::ConvexHull>(&shape)) return of_vertices(*s->surface);
  return of_vertices(*std::get<geometry::TriangleMesh>(shape).surface);
}

}  // namespace

double LowestAlong(const Prop& prop, const geometry::RigidTransform& X, const geometry::Vec3& up) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const PropShape& s : prop.shapes)
    lowest = std::min(lowest, LowestOfShape(s.shape, X * s.X_PS, up));
  return lowest;
}

geometry::Bounds BoundsOf(const Prop& prop, const geometry::RigidTransform& X) {
  geometry::Bounds bounds;
  if (prop.shapes.empty()) return bounds;
  for (int axis = 0; axis < 3; ++axis) {
    bounds.min[axis] = LowestAlong(prop, X, Vec3::Unit(axis));
    bounds.max[axis] = -LowestAlong(prop, X, -Vec3::Unit(axis));
  }
  return bounds;
}

Status CheckProp(const Prop& prop) {
  if (prop.name.empty()) return Error{ErrorCode::kInvalid, "a prop has no name"};
  if (prop.shapes.empty()) return Invalid(prop, "has no shapes");
  HANDHOLD_TRY(CheckNames(prop, "shape", prop.shapes));
  HANDHOLD_TRY(CheckNames(prop, "grasp region", prop.grasp_regions));
  HANDHOLD_TRY(CheckNames(prop, "marker", prop.markers));
  for (const PropShape& shape : prop.shapes) {
    if (Status s = geometry::CheckShape(shape.shape); !s) {
      return Invalid(prop, "shape '" + shape.name + "': " + s.error().message);
    }
    if (!internal::IsPose(shape.X_PS)) {
      return Invalid(prop, "the pose of shape '" + shape.name + "' is not a rigid transform");
    }
    HANDHOLD_TRY(CheckReach(prop, shape.X_PS.p, "shape '" + shape.name + "'"));
    HANDHOLD_TRY(CheckSize(prop, shape));
  }
  if (prop.mass.mass_kg != 0) {
    if (Status s = geometry::CheckMass(prop.mass); !s) return Invalid(prop, s.error().message);
  }
  if (!(prop.friction >= 0) || !(prop.friction <= kHighestFriction)) {
    return Invalid(prop, "friction must be from 0 to 10");
  }
  if (!(prop.surface_compliance_m_per_N >= 0) || !std::isfinite(prop.surface_compliance_m_per_N)) {
    return Invalid(prop, "surface_compliance_m_per_N must be finite and >= 0");
  }
  for (const GraspRegion& region : prop.grasp_regions) {
    if (!region.p_P.allFinite() || !(region.radius_m > 0) || !std::isfinite(region.radius_m)) {
      return Invalid(prop, "grasp region '" + region.name + "': its radius must be positive");
    }
    HANDHOLD_TRY(CheckReach(prop, region.p_P, "grasp region '" + region.name + "'"));
    if (!(std::abs(region.approach_P.norm() - 1.0) < 1e-6)) {
      return Invalid(prop, "grasp region '" + region.name + "': its approach is not a unit vector");
    }
  }
  for (const PropMarker& marker : prop.markers) {
    if (!marker.p_P.allFinite()) {
      return Invalid(prop, "marker '" + marker.name + "': its position is not finite");
    }
    HANDHOLD_TRY(CheckReach(prop, marker.p_P, "marker '" + marker.name + "'"));
  }
  return {};
}

Result<Prop> PropFromJson(const Json& json, const std::filesystem::path& path) {
  const JsonView root(json, path.string());
  HANDHOLD_TRY(
      root.RequireKnownKeys({"format", "version", "name", "source", "sources", "shapes", "mass",
                             "friction", "friction_source", "surface_compliance_m_per_N",
                             "surface_compliance_source", "grasp_regions", "markers"}));
  HANDHOLD_TRY(internal::CheckFormat(root, "handhold.prop"));
  Prop prop;
  HANDHOLD_ASSIGN(prop.name, root.Get<std::string>("name"));
  HANDHOLD_ASSIGN(prop.source, root.GetOr<std::string>("source", ""));
  HANDHOLD_ASSIGN(prop.sources, internal::SourcesFromJson(root));
  HANDHOLD_ASSIGN(prop.friction, root.Get<double>("friction"));
  HANDHOLD_ASSIGN(prop.surface_compliance_m_per_N,
                  root.GetOr<double>("surface_compliance_m_per_N", 0.0));
  HANDHOLD_ASSIGN(prop.friction_source, root.GetOr<std::string>("friction_source", ""));
  HANDHOLD_ASSIGN(prop.surface_compliance_source,
                  root.GetOr<std::string>("surface_compliance_source", ""));
  HANDHOLD_TRY(ReadShapesAndMass(root, path.parent_path(), &prop));
  HANDHOLD_TRY(ReadRegionsAndMarkers(root, &prop));
  if (Status s = CheckProp(prop); !s) return s.error().Within(path.string());
  return prop;
}

Result<Prop> LoadProp(const std::string& path) {
  HANDHOLD_ASSIGN(const Json json, text::ReadJsonFile(path));
  HANDHOLD_TRY(internal::RequireSchema(json, "prop", path));
  return PropFromJson(json, path);
}

Result<std::vector<std::string>> PropNames() { return LibraryNames("props"); }

Result<Prop> LoadLibraryProp(const std::string& name) {
  HANDHOLD_ASSIGN(const std::filesystem::path path, LibraryFile("props", "prop", name));
  return LoadProp(path.string());
}

Json PropToJson(const Prop& prop) {
  Json json = Json::Object({{"format", "handhold.prop"}, {"version", 1}, {"name", prop.name}});
  SetIfNotEmpty(&json, "source", prop.source);
  internal::SourcesIntoJson(prop.sources, &json);
  json.Set("friction", prop.friction);
  SetIfNotEmpty(&json, "friction_source", prop.friction_source);
  json.Set("surface_compliance_m_per_N", prop.surface_compliance_m_per_N);
  SetIfNotEmpty(&json, "surface_compliance_source", prop.surface_compliance_source);
  json.Set("mass", internal::MassToJson(prop.mass, prop.mass_source));
  Json shapes = Json::Array(), regions = Json::Array(), markers = Json::Array();
  for (const PropShape& shape : prop.shapes) {
    Json item = Json::Object({{"name", shape.name}});
    internal::ShapeIntoJson({shape.X_PS, shape.shape}, &item);
    SetIfNotEmpty(&item, "source", shape.source);
    shapes.Push(std::move(item));
  }
  for (const GraspRegion& region : prop.grasp_regions) {
    Json item = Json::Object({{"name", region.name}, {"p_m", Vec3ToJson(region.p_P)}});
    item.Set("radius_m", region.radius_m).Set("approach", Vec3ToJson(region.approach_P));
    SetIfNotEmpty(&item, "source", region.source);
    regions.Push(std::move(item));
  }
  for (const PropMarker& marker : prop.markers) {
    Json item = Json::Object({{"name", marker.name}, {"p_m", Vec3ToJson(marker.p_P)}});
    SetIfNotEmpty(&item, "source", marker.source);
    markers.Push(std::move(item));
  }
  json.Set("shapes", std::move(shapes));
  json.Set("grasp_regions", std::move(regions));
  json.Set("markers", std::move(markers));
  return json;
}

Status SaveProp(const Prop& prop, const std::string& path) {
  return text::WriteJsonFile(path, PropToJson(prop));
}

Result<Prop> PropFromMesh(const std::string& path, double metres_per_unit, Issues* noticed) {
  HANDHOLD_ASSIGN(geometry::MeshFile file,
                  geometry::ReadMeshFile(path, {.metres_per_unit = metres_per_unit}));
  for (const Issue& issue : file.issues) {
    if (issue.severity != Severity::kLoss) continue;
    return Error{ErrorCode::kCorrupt,
                 path + ": this mesh file is damaged: " + issue.what + " (" + issue.where + ")"};
  }
  auto shape = geometry::MakeTriangleMesh(std::move(file.mesh));
  if (!shape) return shape.error().Within(path);
  Prop prop;
  prop.name = std::filesystem::path(path).stem().string();
  prop.source = "mesh file " + path + ", " + std::to_string(metres_per_unit) +
                " metres per unit: " + file.report.Summary();
  for (const Issue& issue : file.issues) {
    prop.source += "; " + issue.where + ": " + issue.what;
    if (noticed != nullptr) noticed->push_back(issue);
  }
  prop.friction_source = prop.surface_compliance_source = "assumed: a mesh does not say";
  prop.shapes.push_back({"mesh", {}, *std::move(shape), ""});
  HANDHOLD_TRY(CheckProp(prop));
  return prop;
}

}  // namespace handhold::model

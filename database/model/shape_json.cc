#include "database/model/shape_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "database/base/issue.h"
#include "database/base/names.h"
#include "database/base/units.h"
#include "database/geometry/mesh.h"
#include "database/geometry/mesh_io.h"
#include "database/geometry/mesh_tree.h"

namespace handhold::model::internal {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Shape;
using geometry::Vec3;
using text::Json;
using text::JsonView;

Json Mat3ToJson(const Mat3& m) {
  std::array<double, 9> rows{};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) rows[static_cast<size_t>(3 * r + c)] = m(r, c);
  }
  return Json::Array(rows);
}

Result<Mat3> Mat3FromJson(const JsonView& object, std::string_view key) {
  HANDHOLD_ASSIGN(const auto rows, object.GetFixed<9>(key));
  Mat3 m;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) m(r, c) = rows[static_cast<size_t>(3 * r + c)];
  }
  return m;
}

Json PointsToJson(const std::vector<Vec3>& points) {
  std::vector<double> flat;
  flat.reserve(3 * points.size());
  for (const Vec3& p : points) flat.insert(flat.end(), {p.x(), p.y(), p.z()});
  return Json::Array(flat);
}

Result<std::vector<Vec3>> PointsFromJson(const JsonView& object, std::string_view key) {
  HANDHOLD_ASSIGN(const JsonView member, object.At(key));
  HANDHOLD_ASSIGN(const auto flat, member.As<std::vector<double>>());
  if (flat.size() % 3 != 0) return member.Fail("expected a multiple of 3 numbers: x y z per point");
  std::vector<Vec3> points;
  for (size_t i = 0; i < flat.size(); i += 3)
    points.emplace_back(flat[i], flat[i + 1], flat[i + 2]);
  return points;
}

Result<geometry::Mesh> MeshFromJson(const JsonView& object) {
  geometry::Mesh mesh;
  HANDHOLD_ASSIGN(mesh.vertices, PointsFromJson(object, "vertices_m"));
  HANDHOLD_ASSIGN(const auto corners, object.Get<std::vector<int64_t>>("triangles"));
  if (corners.size() % 3 != 0) return object.Fail("triangles: expected a multiple of 3 indices");
  for (size_t i = 0; i < corners.size(); i += 3) {
    std::array<uint32_t, 3>& t = mesh.triangles.emplace_back();
    for (size_t k = 0; k < 3; ++k) {
      if (corners[i + k] < 0 || corners[i + k] >= static_cast<int64_t>(mesh.vertices.size())) {
        return object.Fail("triangles: there is no vertex " + std::to_string(corners[i + k]));
      }
      t[k] = static_cast<uint32_t>(corners[i + k]);
    }
  }
  return mesh;
}

void MeshIntoJson(const geometry::Mesh& mesh, Json* object) {
  object->Set("vertices_m", PointsToJson(mesh.vertices));
  Json corners = Json::Array();
  for (const auto& t : mesh.triangles) {
    for (uint32_t corner : t) corners.Push(corner);
  }
  object->Set("triangles", std::move(corners));
}

struct Axis {
  RigidTransform X;
  double length_m;
};

/// Capsules and cylinders: length_m along Z, or from_m and to_m, between which the pose is
/// computed.
Result<Axis> AxisFromJson(const JsonView& object) {
  if (!object.Has("from_m") && !object.Has("to_m")) {
    HANDHOLD_ASSIGN(const double length_m, object.Get<double>("length_m"));
    return Axis{RigidTransform::Identity(), length_m};
  }
  if (object.Has("length_m") || object.Has("pose")) {
    return object.Fail("from_m and to_m already give the place: drop length_m and pose");
  }
  HANDHOLD_ASSIGN(const Vec3 from, Vec3FromJson(object, "from_m"));
  HANDHOLD_ASSIGN(const Vec3 to, Vec3FromJson(object, "to_m"));
  const double length_m = (to - from).norm();
  if (!(length_m > 0)) return object.Fail("from_m and to_m are the same point");
  RigidTransform X;
  X.R = Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), to - from).toRotationMatrix();
  X.p = 0.5 * (from + to);
  return Axis{X, length_m};
}

/// No vertex stands above the plane of any face. Slivers, whose plane is rounding, are held to a
/// volume instead, so that what MakeConvexHull made always passes.
bool IsConvex(const geometry::Mesh& mesh, double diagonal_m) {
  const double least_area = 1e-6 * diagonal_m * diagonal_m;
  for (const auto& t : mesh.triangles) {
    const Vec3& a = mesh.vertices[t[0]];
    const Vec3 area = (mesh.vertices[t[1]] - a).cross(mesh.vertices[t[2]] - a);
    const double most = 1e-6 * diagonal_m * std::max(area.norm(), least_area);
    for (const Vec3& v : mesh.vertices) {
      if (area.dot(v - a) > most) return false;
    }
  }
  return true;
}

Result<PosedShape> HullFromJson(const JsonView& object) {
  if (object.Has("points_m")) {
    HANDHOLD_ASSIGN(const auto points, PointsFromJson(object, "points_m"));
    auto hull = geometry::MakeConvexHull(points);
    if (!hull) return object.Fail(hull.error().message, hull.error().code);
    return PosedShape{{}, *std::move(hull)};
  }
  HANDHOLD_ASSIGN(geometry::Mesh mesh, MeshFromJson(object));
  auto tree = geometry::MeshTree::Build(std::move(mesh));
  if (!tree) return object.Fail(tree.error().message, tree.error().code);
  if (!(*tree)->report().watertight()) return object.Fail("the faces of a hull must be closed");
  if (!IsConvex((*tree)->mesh(), (*tree)->bounds().diagonal_m())) {
    return object.Fail("these faces are not convex: make it a mesh, or give points_m");
  }
  return PosedShape{{}, geometry::ConvexHull{*std::move(tree)}};
}

using Vec2 = Eigen::Vector2d;

double DistanceToSegment(const Vec2& p, const Vec2& a, const Vec2& b) {
  const double length2 = (b - a).squaredNorm();
  const double t = length2 > 0 ? std::clamp((p - a).dot(b - a) / length2, 0.0, 1.0) : 0.0;
  return (a + t * (b - a) - p).norm();
}

double DistanceOfSegments(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d) {
  const auto side = [](const Vec2& from, const Vec2& to, const Vec2& p) {
    const Vec2 u = to - from, v = p - from;
    return u.x() * v.y() - u.y() * v.x();
  };
  const bool cross =
      (side(a, b, c) > 0) != (side(a, b, d) > 0) && (side(c, d, a) > 0) != (side(c, d, b) > 0);
  if (cross) return 0;
  return std::min({DistanceToSegment(a, c, d), DistanceToSegment(b, c, d),
                   DistanceToSegment(c, a, b), DistanceToSegment(d, a, b)});
}

/// No piece of the profile crosses, touches or folds back on another: only then does it bound a
/// solid. "Touches" is nearer than 1e-9 of its extent.
Status CheckProfile(const JsonView& member, const std::vector<Vec2>& points) {
  double extent = 0;
  for (const Vec2& p : points) extent = std::max(extent, (p - points[0]).norm());
  const double touching = 1e-9 * extent;
  const auto piece = [](size_t i) { return std::to_string(i) + " to " + std::to_string(i + 1); };
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const Vec2 &a = points[i], &b = points[i + 1];
    for (size_t k = i + 1; k + 1 < points.size(); ++k) {
      const Vec2 &c = points[k], &d = points[k + 1];
      // Neighbours share b = c, and may meet nowhere else.
      const double distance = k == i + 1
                                  ? std::min(DistanceToSegment(a, c, d), DistanceToSegment(d, a, b))
                                  : DistanceOfSegments(a, b, c, d);
      if (distance > touching) continue;
      return member.Fail("the profile crosses or touches itself: from point " + piece(i) +
                         " and from " + piece(k) + " (the first is 0)");
    }
  }
  return {};
}

/// A closed surface of revolution about Z: "profile_m" lists r and z from point to point, beginning
/// and ending on the axis.
Result<PosedShape> RevolutionFromJson(const JsonView& object) {
  HANDHOLD_ASSIGN(const JsonView member, object.At("profile_m"));
  HANDHOLD_ASSIGN(const auto profile, member.As<std::vector<double>>());
  HANDHOLD_ASSIGN(const int segments, object.GetOr<int>("segments", 48));
  const size_t points = profile.size() / 2;
  if (profile.size() % 2 != 0 || points < 3 || profile.front() != 0 ||
      profile[2 * points - 2] != 0) {
    return member.Fail(
        "expected r z pairs, at least three, of which the first and the last have r = 0");
  }
  for (size_t i = 1; i + 1 < points; ++i) {
    if (!(profile[2 * i] > 0)) return member.Fail("between its ends the profile must keep r > 0");
  }
  if (segments < 3 || segments > 720) return object.Fail("segments: expected 3 to 720");
  if (points > 1000) return member.Fail("a profile of more than 1000 points: make it a mesh");
  std::vector<Vec2> places;
  for (size_t i = 0; i < points; ++i) places.emplace_back(profile[2 * i], profile[2 * i + 1]);
  HANDHOLD_TRY(CheckProfile(member, places));
  geometry::Mesh mesh;
  const auto rings = static_cast<uint32_t>(points - 2), n = static_cast<uint32_t>(segments);
  mesh.vertices.emplace_back(0, 0, profile[1]);
  mesh.vertices.emplace_back(0, 0, profile[2 * points - 1]);
  for (uint32_t ring = 0; ring < rings; ++ring) {
    for (uint32_t k = 0; k < n; ++k) {
      const double r = profile[2 * (ring + 1)], angle = 2 * kPi * k / n;
      mesh.vertices.emplace_back(r * std::cos(angle), r * std::sin(angle),
                                 profile[2 * (ring + 1) + 1]);
    }
  }
  const auto at = [n](uint32_t ring, uint32_t k) { return 2 + ring * n + k % n; };
  for (uint32_t k = 0; k < n; ++k) {
    mesh.triangles.push_back({0, at(0, k + 1), at(0, k)});
    for (uint32_t ring = 0; ring + 1 < rings; ++ring) {
      mesh.triangles.push_back({at(ring, k), at(ring, k + 1), at(ring + 1, k + 1)});
      mesh.triangles.push_back({at(ring, k), at(ring + 1, k + 1), at(ring + 1, k)});
    }
    mesh.triangles.push_back({1, at(rings - 1, k), at(rings - 1, k + 1)});
  }
  auto shape = geometry::MakeTriangleMesh(std::move(mesh));
  if (!shape) return object.Fail(shape.error().message, shape.error().code);
  return PosedShape{{}, *std::move(shape)};
}

Result<PosedShape> MeshShapeFromJson(const JsonView& object, const std::filesystem::path& folder) {
  geometry::Mesh mesh;
  if (object.Has("file")) {
    HANDHOLD_ASSIGN(const std::string name, object.Get<std::string>("file"));
    HANDHOLD_ASSIGN(const double scale, object.Get<double>("metres_per_unit"));
    auto file = geometry::ReadMeshFile((folder / name).string(), {.metres_per_unit = scale});
    if (!file) return object.Fail(file.error().message, file.error().code);
    if (AnyLoss(file->issues)) return object.Fail("mesh file '" + name + "' is damaged");
    mesh = std::move(file->mesh);
  } else {
    HANDHOLD_ASSIGN(mesh, MeshFromJson(object));
  }
  auto shape = geometry::MakeTriangleMesh(std::move(mesh));
  if (!shape) return object.Fail(shape.error().message, shape.error().code);
  return PosedShape{{}, *std::move(shape)};
}

Result<PosedShape> UnposedShapeFromJson(const JsonView& object, const std::string& kind,
                                        const std::filesystem::path& folder) {
  if (kind == "sphere") {
    HANDHOLD_ASSIGN(const double radius_m, object.Get<double>("radius_m"));
    return PosedShape{{}, geometry::Sphere{radius_m}};
  }
  if (kind == "box") {
    HANDHOLD_ASSIGN(const Vec3 size_m, Vec3FromJson(object, "size_m"));
    return PosedShape{{}, geometry::Box{size_m}};
  }
  if (kind == "capsule" || kind == "cylinder") {
    HANDHOLD_ASSIGN(const double radius_m, object.Get<double>("radius_m"));
    HANDHOLD_ASSIGN(const Axis axis, AxisFromJson(object));
    Shape shape = geometry::Capsule{radius_m, axis.length_m};
    if (kind == "cylinder") shape = geometry::Cylinder{radius_m, axis.length_m};
    return PosedShape{axis.X, std::move(shape)};
  }
  if (kind == "hull") return HullFromJson(object);
  if (kind == "mesh") return MeshShapeFromJson(object, folder);
  if (kind == "revolution") return RevolutionFromJson(object);
  const std::vector<std::string> kinds = {"sphere", "capsule", "box",       "cylinder",
                                          "hull",   "mesh",    "revolution"};
  return object.Fail("kind: unknown shape '" + kind + "'" + DidYouMean(kind, kinds));
}

}  // namespace

bool IsPose(const RigidTransform& X) {
  return X.p.allFinite() && X.R.allFinite() &&
         (X.R.transpose() * X.R - Mat3::Identity()).cwiseAbs().maxCoeff() < 1e-9 &&
         X.R.determinant() > 0;
}

Status CheckFormat(const JsonView& root, const std::string& format) {
  HANDHOLD_ASSIGN(const std::string found, root.Get<std::string>("format"));
  if (found != format) {
    return root.Fail("format: expected '" + format + "', found '" + found + "'");
  }
  HANDHOLD_ASSIGN(const int version, root.Get<int>("version"));
  if (version != 1) {
    return root.Fail("version " + std::to_string(version) + " is not known: this program reads 1",
                     ErrorCode::kVersion);
  }
  return {};
}

Result<std::vector<SourceNote>> SourcesFromJson(const JsonView& root) {
  std::vector<SourceNote> sources;
  if (!root.Has("sources")) return sources;
  HANDHOLD_ASSIGN(const JsonView object, root.At("sources"));
  HANDHOLD_ASSIGN(const auto notes, object.Members());
  for (const auto& [key, note] : notes) {
    HANDHOLD_ASSIGN(std::string text, note.As<std::string>());
    sources.push_back({key, std::move(text)});
  }
  return sources;
}

void SourcesIntoJson(const std::vector<SourceNote>& sources, Json* object) {
  if (sources.empty()) return;
  Json notes = Json::Object();
  for (const SourceNote& note : sources) notes.Set(note.key, note.text);
  object->Set("sources", std::move(notes));
}

Json Vec3ToJson(const Vec3& v) { return Json::Array(std::span<const double>(v.data(), 3)); }

Result<Vec3> Vec3FromJson(const JsonView& object, std::string_view key) {
  HANDHOLD_ASSIGN(const auto v, object.GetFixed<3>(key));
  return Vec3(v[0], v[1], v[2]);
}

std::optional<Json> PoseToJson(const RigidTransform& X) {
  const bool moved = X.p != Vec3::Zero(), turned = X.R != Mat3::Identity();
  if (!moved && !turned) return std::nullopt;
  Json pose = Json::Object();
  if (moved) pose.Set("p_m", Vec3ToJson(X.p));
  if (turned) pose.Set("R", Mat3ToJson(X.R));
  return pose;
}

Result<RigidTransform> PoseFromJson(const JsonView& object, std::string_view key) {
  RigidTransform X;
  if (!object.Has(key)) return X;
  HANDHOLD_ASSIGN(const JsonView pose, object.At(key));
  HANDHOLD_TRY(pose.RequireKnownKeys({"p_m", "R", "rotvec_deg"}));
  if (pose.Has("p_m")) {
    HANDHOLD_ASSIGN(X.p, Vec3FromJson(pose, "p_m"));
  }
  if (pose.Has("R") && pose.Has("rotvec_deg")) return pose.Fail("give R or rotvec_deg, not both");
  if (pose.Has("R")) {
    HANDHOLD_ASSIGN(X.R, Mat3FromJson(pose, "R"));
    if (!IsPose(X)) {
      return pose.Fail(
          "R is not a rotation: its rows must be unit, perpendicular and right-handed");
    }
  }
  if (pose.Has("rotvec_deg")) {
    HANDHOLD_ASSIGN(const Vec3 degrees, Vec3FromJson(pose, "rotvec_deg"));
    X.R = geometry::Exp<double>(degrees.unaryExpr([](double d) { return DegreesToRadians(d); }));
  }
  return X;
}

void ShapeIntoJson(const PosedShape& posed, Json* object) {
  object->Set("kind", geometry::ShapeKind(posed.shape));
  if (const auto* s = std::get_if<geometry::Sphere>(&posed.shape)) {
    object->Set("radius_m", s->radius_m);
  } else if (const auto* c = std::get_if<geometry::Capsule>(&posed.shape)) {
    object->Set("radius_m", c->radius_m).Set("length_m", c->length_m);
  } else if (const auto* y = std::get_if<geometry::Cylinder>(&posed.shape)) {
    object->Set("radius_m", y->radius_m).Set("length_m", y->length_m);
  } else if (const auto* b = std::get_if<geometry::Box>(&posed.shape)) {
    object->Set("size_m", Vec3ToJson(b->size_m));
  } else if (const auto* h = std::get_if<geometry::ConvexHull>(&posed.shape)) {
    MeshIntoJson(h->surface->mesh(), object);
  } else if (const auto* m = std::get_if<geometry::TriangleMesh>(&posed.shape)) {
    MeshIntoJson(m->surface->mesh(), object);
  }
  if (auto pose = PoseToJson(posed.X)) object->Set("pose", *std::move(pose));
}

Result<PosedShape> ShapeFromJson(const JsonView& object, const std::filesystem::path& folder) {
  HANDHOLD_TRY(object.RequireKnownKeys(
      {"name", "kind", "pose", "radius_m", "length_m", "from_m", "to_m", "size_m", "points_m",
       "vertices_m", "triangles", "file", "metres_per_unit", "profile_m", "segments", "source"}));
  HANDHOLD_ASSIGN(const std::string kind, object.Get<std::string>("kind"));
  HANDHOLD_ASSIGN(PosedShape posed, UnposedShapeFromJson(object, kind, folder));
  if (Status s = geometry::CheckShape(posed.shape); !s) return object.Fail(s.error().message);
  if (object.Has("pose")) {
    HANDHOLD_ASSIGN(posed.X, PoseFromJson(object, "pose"));
  }
  return posed;
}

Json MassToJson(const geometry::MassProperties& mass, const std::string& source) {
  Json json = Json::Object({{"mass_kg", mass.mass_kg}});
  if (mass.mass_kg != 0) {
    json.Set("com_m", Vec3ToJson(mass.p_BCom)).Set("inertia_kg_m2", Mat3ToJson(mass.I_BCom_B));
  }
  if (!source.empty()) json.Set("source", source);
  return json;
}

Result<std::string> MassSourceFromJson(const JsonView& mass) {
  return mass.GetOr<std::string>("source", "");
}

namespace {

/// What no hand and nothing it holds can weigh: a number in another unit. A fixed prop has no mass.
Status CheckUnitsOfMass(const JsonView& mass, const geometry::MassProperties& m) {
  constexpr double kLargest_kg = 1000.0, kLargestRadius_m = 5.0;
  if (m.mass_kg > kLargest_kg) {
    return mass.Fail("a mass of " + std::to_string(m.mass_kg) +
                     " kg, beyond 1000 kg: is this in g? masses are in kg");
  }
  if (m.p_BCom.norm() > kLargestRadius_m) {
    return mass.Fail("com_m is " + std::to_string(m.p_BCom.norm()) +
                     " m away, beyond 5 m: is this in mm? lengths are in m");
  }
  const double largest = m.mass_kg * kLargestRadius_m * kLargestRadius_m;
  if (m.I_BCom_B.diagonal().maxCoeff() > largest) {
    return mass.Fail(
        "inertia_kg_m2 is larger than that of the same mass 5 m away: is this in "
        "kg mm^2 or g cm^2? inertias are in kg m^2");
  }
  return {};
}

}  // namespace

Result<geometry::MassProperties> MassFromJson(const JsonView& mass,
                                              std::span<const PosedShape> shapes) {
  HANDHOLD_TRY(mass.RequireKnownKeys(
      {"mass_kg", "com_m", "inertia_kg_m2", "from_shapes", "density_kg_m3", "source"}));
  HANDHOLD_ASSIGN(const bool from_shapes, mass.GetOr<bool>("from_shapes", false));
  geometry::MassProperties m;
  if (!from_shapes) {
    if (mass.Has("density_kg_m3")) return mass.Fail("density_kg_m3 needs from_shapes: true");
    HANDHOLD_ASSIGN(m.mass_kg, mass.Get<double>("mass_kg"));
    if (m.mass_kg == 0) {
      if (mass.Has("com_m") || mass.Has("inertia_kg_m2")) {
        return mass.Fail("mass_kg is 0: drop com_m and inertia_kg_m2, or give the mass");
      }
      return m;
    }
    HANDHOLD_ASSIGN(m.p_BCom, Vec3FromJson(mass, "com_m"));
    HANDHOLD_ASSIGN(m.I_BCom_B, Mat3FromJson(mass, "inertia_kg_m2"));
  } else {
    if (mass.Has("com_m") || mass.Has("inertia_kg_m2")) {
      return mass.Fail("from_shapes gives centre and inertia: drop com_m and inertia_kg_m2");
    }
    if (mass.Has("mass_kg") == mass.Has("density_kg_m3")) {
      return mass.Fail("from_shapes needs either mass_kg or density_kg_m3");
    }
    if (shapes.empty()) return mass.Fail("from_shapes, but there are no shapes");
    HANDHOLD_ASSIGN(const double density, mass.GetOr<double>("density_kg_m3", 1000.0));
    std::vector<double> shares;  // kilograms of each shape, or empty: one density
    if (mass.Has("mass_kg") && mass.value().Find("mass_kg")->is_array()) {
      HANDHOLD_ASSIGN(shares, mass.Get<std::vector<double>>("mass_kg"));
      if (shares.size() != shapes.size()) {
        return mass.Fail("mass_kg: expected one number, or one for each shape");
      }
    }
    std::vector<geometry::MassProperties> parts;
    for (size_t i = 0; i < shapes.size(); ++i) {
      auto part = geometry::MassOf(shapes[i].shape, density);
      if (!part) return mass.Fail(part.error().message, part.error().code);
      // A radius of 1e-120 m has a volume of 0, which cannot be scaled to any mass.
      if (!(part->mass_kg > 0) || !std::isfinite(part->mass_kg)) {
        return mass.Fail("shape " + std::to_string(i) + " is too small or too large to weigh");
      }
      if (!shares.empty()) {
        if (!(shares[i] > 0)) return mass.Fail("mass_kg must be positive");
        part = geometry::WithTotalMass(*part, shares[i]);
      }
      parts.push_back(geometry::Transformed(shapes[i].X, *part));
    }
    m = geometry::Composed(parts);
    if (mass.Has("mass_kg") && shares.empty()) {
      HANDHOLD_ASSIGN(const double mass_kg, mass.Get<double>("mass_kg"));
      if (!(mass_kg > 0)) return mass.Fail("mass_kg must be positive");
      m = geometry::WithTotalMass(m, mass_kg);
    }
  }
  if (Status s = geometry::CheckMass(m); !s) return mass.Fail(s.error().message);
  HANDHOLD_TRY(CheckUnitsOfMass(mass, m));
  return m;
}

}  // namespace handhold::model::internal

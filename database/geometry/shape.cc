#include "database/geometry/shape.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "database/base/check.h"

namespace handhold::geometry {
namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

/// The answer for a query outside, given the nearest surface point; `fallback` is the normal where
/// they coincide.
SurfacePoint Outside(const Vec3& query, const Vec3& nearest, const Vec3& fallback) {
  const Vec3 offset = query - nearest;
  const double d = offset.stableNorm();
  return {d, nearest, d > 0 ? Vec3(offset / d) : fallback, SignBasis::kExact};
}

SurfacePoint FromAxis(const Vec3& query, const Vec3& on_axis, double radius_m,
                      const Vec3& fallback) {
  const Vec3 offset = query - on_axis;
  const double d = offset.stableNorm();
  const Vec3 normal = d > 0 ? Vec3(offset / d) : fallback;
  return {d - radius_m, on_axis + radius_m * normal, normal, SignBasis::kExact};
}

SurfacePoint Signed(const Sphere& s, const Vec3& p) {
  return FromAxis(p, Vec3::Zero(), s.radius_m, Vec3::UnitZ());
}

SurfacePoint Signed(const Capsule& s, const Vec3& p) {
  const double half = 0.5 * s.length_m;
  return FromAxis(p, Vec3(0, 0, std::clamp(p.z(), -half, half)), s.radius_m, Vec3::UnitX());
}

SurfacePoint Signed(const Box& s, const Vec3& p) {
  const Vec3 half = 0.5 * s.size_m;
  const Vec3 clamped = p.cwiseMax(-half).cwiseMin(half);
  if (clamped != p) return Outside(p, clamped, Vec3::UnitX());
  int axis = 0;
  for (int i = 1; i < 3; ++i) {
    if (half[i] - std::abs(p[i]) < half[axis] - std::abs(p[axis])) axis = i;
  }
  const double side = p[axis] < 0 ? -1.0 : 1.0;
  SurfacePoint out{std::abs(p[axis]) - half[axis], p, side * Vec3::Unit(axis), SignBasis::kExact};
  out.p_S[axis] = side * half[axis];
  return out;
}

SurfacePoint Signed(const Cylinder& s, const Vec3& p) {
  const double half = 0.5 * s.length_m;
  const double rho = std::hypot(p.x(), p.y());
  const Vec3 radial = rho > 0 ? Vec3(p.x() / rho, p.y() / rho, 0) : Vec3::UnitX();
  const double up = p.z() < 0 ? -1.0 : 1.0;
  const double beyond_side = rho - s.radius_m;
  const double beyond_cap = std::abs(p.z()) - half;
  const Vec3 on_side = s.radius_m * radial;
  if (beyond_side > 0 && beyond_cap > 0) return Outside(p, on_side + Vec3(0, 0, up * half), radial);
  if (beyond_cap >= beyond_side)
    return {beyond_cap, {p.x(), p.y(), up * half}, up * Vec3::UnitZ(), SignBasis::kExact};
  return {beyond_side, on_side + Vec3(0, 0, p.z()), radial, SignBasis::kExact};
}

SurfacePoint Signed(const MeshTree& tree, const Vec3& p) {
  const SignedNearestPoint n = tree.Closest(p);
  return {n.distance_m, n.p_M, n.normal_M, n.sign_basis};
}

SurfacePoint Signed(const ConvexHull& s, const Vec3& p) { return Signed(*s.surface, p); }
SurfacePoint Signed(const TriangleMesh& s, const Vec3& p) { return Signed(*s.surface, p); }

bool IsLength(double length_m) { return std::isfinite(length_m) && length_m > 0; }

}  // namespace

std::string_view ShapeKind(const Shape& shape) {
  constexpr std::string_view kKinds[] = {"sphere", "capsule", "box", "cylinder", "hull", "mesh"};
  return kKinds[shape.index()];
}

Status CheckShape(const Shape& shape) {
  const std::string problem = std::visit(
      Overloaded{
          [](const Sphere& s) -> std::string {
            return IsLength(s.radius_m) ? "" : "radius must be positive";
          },
          [](const Capsule& s) -> std::string {
            if (!IsLength(s.radius_m)) return "radius must be positive";
            return IsLength(s.length_m) || s.length_m == 0 ? "" : "length must be positive or 0";
          },
          [](const Box& s) -> std::string {
            return IsLength(s.size_m.x()) && IsLength(s.size_m.y()) && IsLength(s.size_m.z())
                       ? ""
                       : "all three sizes must be positive";
          },
          [](const Cylinder& s) -> std::string {
            return IsLength(s.radius_m) && IsLength(s.length_m)
                       ? ""
                       : "radius and length must be positive";
          },
          [](const ConvexHull& s) -> std::string {
            return s.surface ? "" : "it has no surface: make it with MakeConvexHull";
          },
          [](const TriangleMesh& s) -> std::string {
            return s.surface ? "" : "it has no surface: make it with MakeTriangleMesh";
          },
      },
      shape);
  if (problem.empty()) return {};
  return Error{ErrorCode::kInvalid, std::string(ShapeKind(shape)) + ": " + problem};
}

Result<TriangleMesh> MakeTriangleMesh(Mesh mesh) {
  HANDHOLD_ASSIGN(std::shared_ptr<const MeshTree> tree, MeshTree::Build(std::move(mesh)));
  return TriangleMesh{std::move(tree)};
}

SurfacePoint SignedDistance(const Shape& shape, const Vec3& p_S) {
  return std::visit([&](const auto& s) { return Signed(s, p_S); }, shape);
}

Bounds BoundsOf(const Shape& shape) {
  const auto centred = [](const Vec3& half) { return Bounds{-half, half}; };
  return std::visit(
      Overloaded{
          [&](const Sphere& s) { return centred(Vec3::Constant(s.radius_m)); },
          [&](const Capsule& s) {
            return centred({s.radius_m, s.radius_m, s.radius_m + 0.5 * s.length_m});
          },
          [&](const Box& s) { return centred(0.5 * s.size_m); },
          [&](const Cylinder& s) { return centred({s.radius_m, s.radius_m, 0.5 * s.length_m}); },
          [](const ConvexHull& s) { return s.surface->bounds(); },
          [](const TriangleMesh& s) { return s.surface->bounds(); },
      },
      shape);
}

UnionPoint SignedDistanceToUnion(std::span<const PosedShape> shapes, const Vec3& p_G) {
  CHECK(!shapes.empty());
  UnionPoint best;
  best.point.distance_m = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const RigidTransform& X_GS = shapes[i].X_GS;
    const SurfacePoint p = SignedDistance(shapes[i].shape, X_GS.Inverse() * p_G);
    if (p.distance_m < best.point.distance_m) {
      best = {{p.distance_m, X_GS * p.p_S, X_GS.R * p.normal_S, p.sign_basis}, i};
    }
  }
  return best;
}

}  // namespace handhold::geometry

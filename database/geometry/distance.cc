#include "database/geometry/distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "database/geometry/internal/segment.h"

namespace handhold::geometry {
namespace {

/// A round shape in some frame: all points within radius of the segment a b.
struct Round {
  Vec3 a, b;
  double radius_m;
  bool is_point() const { return a == b; }
};

std::optional<Round> AsRound(const Shape& shape, const RigidTransform& X) {
  if (const auto* s = std::get_if<Sphere>(&shape)) return Round{X.p, X.p, s->radius_m};
  if (const auto* s = std::get_if<Capsule>(&shape)) {
    const Vec3 half = 0.5 * s->length_m * X.R.col(2);
    return Round{X.p - half, X.p + half, s->radius_m};
  }
  return std::nullopt;
}

/// The point of an axis (t in 0 .. 1) where the signed distance to the other shape is least.
struct AxisPoint {
  double t = 0;
  Vec3 p = Vec3::Zero();
  SurfacePoint surface;
};

AxisPoint At(const Shape& shape, const Round& axis, double t) {
  AxisPoint out{t, axis.a + t * (axis.b - axis.a), {}};
  out.surface = SignedDistance(shape, out.p);
  return out;
}

/// Minimum over the axis for a convex shape: bisection on the sign of the slope, sped up by the
/// crossing of the tangents at both ends of the bracket, which also bounds the minimum from below
/// and so ends the search.
AxisPoint LeastConvex(const Shape& shape, const Round& axis) {
  const Vec3 along = axis.b - axis.a;
  const double length = along.norm();
  const auto slope = [&](const AxisPoint& x) { return x.surface.normal_S.dot(along); };
  AxisPoint best = At(shape, axis, 0.5);
  if (std::abs(slope(best)) <= 1e-15 * length) return best;
  const bool go_left = slope(best) > 0;
  AxisPoint end = At(shape, axis, go_left ? 0.0 : 1.0);
  if (go_left ? slope(end) >= 0 : slope(end) <= 0) return end;
  AxisPoint lo = go_left ? end : best, hi = go_left ? best : end;
  if (end.surface.distance_m < best.surface.distance_m) best = end;
  for (int i = 0; i < 120 && hi.t - lo.t > 1e-14; ++i) {
    const double f_lo = lo.surface.distance_m, f_hi = hi.surface.distance_m;
    const double s_lo = slope(lo), s_hi = slope(hi);  // s_lo < 0 < s_hi
    const double t_tangent = (f_hi - f_lo + s_lo * lo.t - s_hi * hi.t) / (s_lo - s_hi);
    if (best.surface.distance_m - (f_lo + s_lo * (t_tangent - lo.t)) <= 1e-14 * length) break;
    const double middle = 0.5 * (lo.t + hi.t);
    const bool use_tangent = i % 3 != 2 && t_tangent > lo.t && t_tangent < hi.t;
    const AxisPoint x = At(shape, axis, use_tangent ? t_tangent : middle);
    if (x.surface.distance_m < best.surface.distance_m) best = x;
    if (std::abs(slope(x)) <= 1e-15 * length) return x;
    (slope(x) > 0 ? hi : lo) = x;
  }
  return best;
}

/// Deepest point of an axis that enters a mesh: samples, then a golden-section search between the
/// best one's neighbours.
AxisPoint DeepestInMesh(const Shape& shape, const Round& axis) {
  constexpr int kSamples = 33;
  AxisPoint best;
  best.surface.distance_m = std::numeric_limits<double>::infinity();
  int best_i = 0;
  for (int i = 0; i < kSamples; ++i) {
    const AxisPoint x = At(shape, axis, static_cast<double>(i) / (kSamples - 1));
    if (x.surface.distance_m < best.surface.distance_m) {
      best = x;
      best_i = i;
    }
  }
  constexpr double kGolden = 0.6180339887498949;
  double lo = std::max(0, best_i - 1) / double{kSamples - 1},
         hi = std::min(kSamples - 1, best_i + 1) / double{kSamples - 1};
  for (int i = 0; i < 32; ++i) {
    const AxisPoint left = At(shape, axis, hi - kGolden * (hi - lo)),
                    right = At(shape, axis, lo + kGolden * (hi - lo));
    for (const AxisPoint* x : {&left, &right}) {
      if (x->surface.distance_m < best.surface.distance_m) best = *x;
    }
    (left.surface.distance_m < right.surface.distance_m ? hi : lo) =
        left.surface.distance_m < right.surface.distance_m ? right.t : left.t;
  }
  return best;
}

AxisPoint LeastToMesh(const Shape& shape, const MeshTree& tree, const Round& axis,
                      double max_distance_m) {
  SegmentNearest nearest = tree.ClosestToSegment(axis.a, axis.b, max_distance_m + axis.radius_m);
  if (!std::isfinite(nearest.distance_m)) {
    // The whole axis is on one side: outside it is too far away.
    AxisPoint far = At(shape, axis, 0.5);
    if (far.surface.distance_m > 0) {
      far.surface.distance_m = std::numeric_limits<double>::infinity();
      return far;
    }
    nearest = tree.ClosestToSegment(axis.a, axis.b);
  }
  AxisPoint at_nearest = At(shape, axis, nearest.t);
  if (at_nearest.surface.distance_m > 0 && nearest.distance_m > 0) return at_nearest;
  const AxisPoint deepest = DeepestInMesh(shape, axis);
  return deepest.surface.distance_m < at_nearest.surface.distance_m ? deepest : at_nearest;
}

AxisPoint Least(const Shape& shape, const Round& axis, double max_distance_m) {
  if (axis.is_point()) return At(shape, axis, 0.0);
  if (const auto* mesh = std::get_if<TriangleMesh>(&shape))
    return LeastToMesh(shape, *mesh->surface, axis, max_distance_m);
  return LeastConvex(shape, axis);
}

/// Any unit vector perpendicular to v (unit Z for v = 0).
Vec3 AnyPerpendicular(const Vec3& v) {
  if (v.isZero(0)) return Vec3::UnitZ();
  Eigen::Index smallest;
  v.cwiseAbs().minCoeff(&smallest);
  return v.cross(Vec3(Vec3::Unit(smallest))).normalized();
}

ShapeDistance RoundToRound(const Round& a, const Round& b) {
  // A stretch of equally near points (parallel axes): prefer the middle of A.
  internal::SegmentPair near = internal::NearestOfSegments(a.a, a.b, b.a, b.b);
  const Vec3 middle = 0.5 * (a.a + a.b);
  const internal::SegmentPair from_middle = internal::NearestOfSegments(middle, middle, b.a, b.b);
  if (std::sqrt(from_middle.distance2) <= std::sqrt(near.distance2) * (1 + 1e-15))
    near = from_middle;
  const Vec3 offset = near.p - near.q;
  const double d = offset.stableNorm();
  Vec3 normal;
  if (d > 0) {
    normal = offset / d;
  } else {
    const Vec3 u = a.b - a.a, v = b.b - b.a, cross = u.cross(v);
    normal = cross.norm() > 1e-12 * u.norm() * v.norm() ? Vec3(cross.normalized())
                                                        : AnyPerpendicular(v.isZero(0) ? u : v);
  }
  return {d - a.radius_m - b.radius_m, near.p - a.radius_m * normal, near.q + b.radius_m * normal,
          normal, SignBasis::kExact};
}

ShapeDistance RoundToShape(const Round& a_W, const Shape& b, const RigidTransform& X_WB,
                           double max_distance_m) {
  const RigidTransform X_BW = X_WB.Inverse();
  const AxisPoint least = Least(b, {X_BW * a_W.a, X_BW * a_W.b, a_W.radius_m}, max_distance_m);
  const Vec3 normal_W = X_WB.R * least.surface.normal_S;
  return {least.surface.distance_m - a_W.radius_m, X_WB * Vec3(least.p) - a_W.radius_m * normal_W,
          X_WB * least.surface.p_S, normal_W, least.surface.sign_basis};
}

}  // namespace

Result<ShapeDistance> Distance(const Shape& a, const RigidTransform& X_WA, const Shape& b,
                               const RigidTransform& X_WB, double max_distance_m) {
  const std::optional<Round> round_a = AsRound(a, X_WA), round_b = AsRound(b, X_WB);
  if (round_a && round_b) return RoundToRound(*round_a, *round_b);
  if (round_a) return RoundToShape(*round_a, b, X_WB, max_distance_m);
  if (round_b) {
    ShapeDistance d = RoundToShape(*round_b, a, X_WA, max_distance_m);
    std::swap(d.p_WA, d.p_WB);
    d.normal_W = -d.normal_W;
    return d;
  }
  return Error{ErrorCode::kUnsupported, "distance between " + std::string(ShapeKind(a)) + " and " +
                                            std::string(ShapeKind(b)) +
                                            ": one of the two must be a sphere or a capsule"};
}

}  // namespace handhold::geometry

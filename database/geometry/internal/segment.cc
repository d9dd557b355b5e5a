#include "database/geometry/internal/segment.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "database/geometry/internal/triangle.h"

namespace handhold::geometry::internal {
namespace {

/// Parameter of the point of segment a b nearest to p.
double NearestParameter(const Vec3& p, const Vec3& a, const Vec3& b) {
  const Vec3 e = b - a;
  const double length2 = e.squaredNorm();
  return length2 > 0 ? std::clamp((p - a).dot(e) / length2, 0.0, 1.0) : 0.0;
}

void Keep(double t, const Vec3& p, const Vec3& q, SegmentPair& best) {
  const double d2 = (p - q).squaredNorm();
  if (d2 < best.distance2) best = {d2, t, p, q};
}

}  // namespace

SegmentPair NearestOfSegments(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 u = b - a, v = d - c, w = a - c;
  SegmentPair best;
  best.distance2 = std::numeric_limits<double>::infinity();
  const auto from_t = [&](double t) {
    const Vec3 p = a + t * u;
    Keep(t, p, c + NearestParameter(p, c, d) * v, best);
  };
  const auto from_s = [&](double s) {
    const Vec3 q = c + s * v;
    const double t = NearestParameter(q, a, b);
    Keep(t, a + t * u, q, best);
  };
  const double uu = u.squaredNorm(), uv = u.dot(v), vv = v.squaredNorm();
  const double determinant = uu * vv - uv * uv;
  if (determinant > 1e-12 * uu * vv) {
    // The interior candidate, then each coordinate once more given the other: that removes most of
    // the rounding.
    const double t = std::clamp((uv * v.dot(w) - vv * u.dot(w)) / determinant, 0.0, 1.0);
    const double s = NearestParameter(a + t * u, c, d);
    const double t2 = NearestParameter(c + s * v, a, b);
    from_t(t);
    from_s(s);
    from_t(t2);
  }
  // The ends against the other segment: the whole answer when parallel, and the clamped cases
  // otherwise.
  from_t(0.0);
  from_t(1.0);
  from_s(0.0);
  from_s(1.0);
  return best;
}

SegmentPair NearestSegmentTriangle(const Vec3& a, const Vec3& b, const Vec3& t0, const Vec3& t1,
                                   const Vec3& t2) {
  const Vec3 u = b - a;
  const Vec3 n = (t1 - t0).cross(t2 - t0);
  const double at_a = n.dot(a - t0), at_b = n.dot(b - t0);
  if ((at_a > 0) != (at_b > 0) && at_a != at_b) {
    const double t = at_a / (at_a - at_b);
    const Vec3 p = a + t * u;
    const bool inside = n.dot((t1 - t0).cross(p - t0)) >= 0 &&
                        n.dot((t2 - t1).cross(p - t1)) >= 0 && n.dot((t0 - t2).cross(p - t2)) >= 0;
    if (inside) return {0.0, t, p, p};
  }
  SegmentPair best = NearestOfSegments(a, b, t0, t1);
  for (const auto& [c, d] : {std::pair(&t1, &t2), std::pair(&t2, &t0)}) {
    const SegmentPair other = NearestOfSegments(a, b, *c, *d);
    if (other.distance2 < best.distance2) best = other;
  }
  for (const double t : {0.0, 1.0}) {
    const Vec3& end = t == 0.0 ? a : b;
    const TriangleNearest nearest = NearestOnTriangle(t0 - end, t1 - end, t2 - end);
    if (nearest.distance2 < best.distance2) best = {nearest.distance2, t, end, end + nearest.p};
  }
  return best;
}

}  // namespace handhold::geometry::internal

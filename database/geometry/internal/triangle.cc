#include "database/geometry/internal/triangle.h"

namespace handhold::geometry::internal {
namespace {

/// Nearest point of the segment a b to the origin; keeps `best` unless nearer.
void TrySegment(const Vec3& a, const Vec3& b, Feature edge, Feature at_a, Feature at_b,
                TriangleNearest& best) {
  const Vec3 e = b - a;
  const double along = -a.dot(e);
  const double length2 = e.squaredNorm();
  Vec3 p;
  Feature feature;
  if (!(along > 0)) {
    p = a;
    feature = at_a;
  } else if (along >= length2) {
    p = b;
    feature = at_b;
  } else {
    // From the nearer end: exact there, and symmetric, so that two triangles sharing the edge
    // agree.
    p = 2 * along <= length2 ? Vec3(a + (along / length2) * e)
                             : Vec3(b + (b.dot(e) / length2) * -e);
    feature = edge;
  }
  const double d2 = p.squaredNorm();
  if (d2 < best.distance2) best = {d2, p, feature};
}

}  // namespace

TriangleNearest NearestOnTriangle(const Vec3& a, const Vec3& b, const Vec3& c) {
  const double ab2 = (b - a).squaredNorm(), bc2 = (c - b).squaredNorm(),
               ca2 = (a - c).squaredNorm();
  // u v is the longest edge, w the apex over it.
  const Vec3 *u = &a, *v = &b, *w = &c;
  double base2 = ab2;
  if (bc2 > base2) {
    u = &b, v = &c, w = &a;
    base2 = bc2;
  }
  if (ca2 > base2) {
    u = &c, v = &a, w = &b;
    base2 = ca2;
  }
  if (base2 > 0) {
    const Vec3 e = *v - *u;
    const Vec3 side = *w - *u;
    const double k = side.dot(e) / base2;
    const Vec3 height = side - k * e;
    const double height2 = height.squaredNorm();
    if (height2 > 1e-28 * base2) {
      const double s = -u->dot(e) / base2;
      const Vec3 foot = *u + s * e;
      const double weight_w = -foot.dot(height) / height2;
      const double weight_v = s - weight_w * k;
      if (weight_w > 0 && weight_v > 0 && weight_w + weight_v < 1) {
        const Vec3 p = foot + weight_w * height;
        return {p.squaredNorm(), p, Feature::kFace};
      }
    }
  }
  TriangleNearest best;
  best.distance2 = a.squaredNorm();
  best.p = a;
  best.feature = Feature::kVertexA;
  TrySegment(a, b, Feature::kEdgeAB, Feature::kVertexA, Feature::kVertexB, best);
  TrySegment(b, c, Feature::kEdgeBC, Feature::kVertexB, Feature::kVertexC, best);
  TrySegment(c, a, Feature::kEdgeCA, Feature::kVertexC, Feature::kVertexA, best);
  return best;
}

}  // namespace handhold::geometry::internal

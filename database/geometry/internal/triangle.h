/// The nearest point of one triangle, in double precision and robust for slivers. For use inside
/// database/geometry only.
#pragma once

#include <cstdint>

#include "database/geometry/rotation.h"

namespace handhold::geometry::internal {

/// Where on a triangle (a, b, c) a nearest point lies.
enum class Feature : std::uint8_t {
  kFace,
  kEdgeAB,
  kEdgeBC,
  kEdgeCA,
  kVertexA,
  kVertexB,
  kVertexC
};

struct TriangleNearest {
  double distance2 = 0;   ///< squared
  Vec3 p = Vec3::Zero();  ///< relative to the query point
  Feature feature = Feature::kFace;
};

/// The point of the triangle nearest to the origin. Callers move the query there, so that rounding
/// is relative to the distance in play and not to where the mesh stands. The answer is always a
/// convex combination of the vertices; its distance is within a few rounding errors of the
/// triangle's size, for needles too: the in-plane coordinate across the longest edge is measured
/// from that edge, so its error shrinks with the distance to the edge.
TriangleNearest NearestOnTriangle(const Vec3& a, const Vec3& b, const Vec3& c);

}  // namespace handhold::geometry::internal

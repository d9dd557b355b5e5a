/// Nearest points between segments, and between a segment and a triangle. For use inside
/// database/geometry only.
#pragma once

#include "database/geometry/rotation.h"

namespace handhold::geometry::internal {

/// A pair of nearest points: a + t (b - a) on a segment, and q on the other thing.
struct SegmentPair {
  double distance2 = 0;
  double t = 0;
  Vec3 p = Vec3::Zero();  ///< on the segment
  Vec3 q = Vec3::Zero();  ///< on the other
};

/// Segments a b and c d, either of which may be a point. Exact to rounding: every candidate is a
/// true pair, so that rounding in near-parallel cases costs at most rounding in the distance.
SegmentPair NearestOfSegments(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// Segment a b and triangle t0 t1 t2; distance 0 where the segment cuts the triangle.
SegmentPair NearestSegmentTriangle(const Vec3& a, const Vec3& b, const Vec3& t0, const Vec3& t1,
                                   const Vec3& t2);

}  // namespace handhold::geometry::internal

/// Distance between two placed shapes, of which at least one is round (sphere or capsule), with the
/// nearest points and a normal.
///
/// Made for fingers on props: finger segments are capsules, fingertips spheres, and the other side
/// may be anything, mesh included. Pinned by tests/database/geometry/distance_test.cc.
#pragma once

#include <limits>

#include "database/base/result.h"
#include "database/geometry/shape.h"

namespace handhold::geometry {

/// The nearest pair of points of shapes A and B, in the world frame W.
struct ShapeDistance {
  double distance_m = 0;          ///< negative: depth of penetration
  Vec3 p_WA = Vec3::Zero();       ///< on the surface of A (within A where A's axis has entered B)
  Vec3 p_WB = Vec3::Zero();       ///< on the surface of B
  Vec3 normal_W = Vec3::UnitZ();  ///< unit, outward from B, towards A: p_WA - p_WB = distance_m *
                                  ///< normal_W
  SignBasis sign_basis = SignBasis::kExact;
};

/// Distance between A at X_WA and B at X_WB. At least one must be a Sphere or a Capsule;
/// kUnsupported otherwise.
///
/// A round shape is its centre or axis segment grown by its radius, so the distance is the least
/// signed distance of that segment to the other shape, minus the radius. Accuracy:
/// - sphere against anything: that of SignedDistance;
/// - capsule against sphere, capsule, box, cylinder, hull: 1e-12 of the capsule's length,
/// penetrating or not (the signed distance
///   of a convex shape is convex along the axis);
/// - capsule against mesh: exact to rounding as long as the axis does not enter the mesh; when it
/// does (deeper than the radius),
///   the deepest axis point found by 33 samples refined: the depth is a lower bound, normally
///   within 1e-3 of the axis length.
/// Where a whole stretch of the axis is equally near (a capsule lying on a plate), one point of it
/// is returned: the middle of the axis if it is among them. Callers who want both ends ask with
/// spheres there.
///
/// `max_distance_m` >= 0: shapes further apart than it may be answered by distance infinity, the
/// rest meaning nothing (a mesh then searches no further); up to it the answer does not depend on
/// it.
Result<ShapeDistance> Distance(const Shape& a, const RigidTransform& X_WA, const Shape& b,
                               const RigidTransform& X_WB,
                               double max_distance_m = std::numeric_limits<double>::infinity());

}  // namespace handhold::geometry

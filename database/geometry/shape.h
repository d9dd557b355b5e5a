/// Solid shapes and how far a point is from them: sphere, capsule, box, cylinder, convex hull,
/// triangle mesh.
///
/// Each shape lives in its own frame S (metres), centred at the origin and, where it has an axis,
/// along Z, as in ODE; bodies and props place it with a pose X_BS. Shapes are values: hulls and
/// meshes share one immutable tree, so copying is cheap and any number of threads may query. Pinned
/// by tests/database/geometry/shape_test.cc.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "database/base/result.h"
#include "database/geometry/mesh_tree.h"
#include "database/geometry/transform.h"

namespace handhold::geometry {

struct Sphere {
  double radius_m = 0;
};

/// All points within radius_m of the segment from -length/2 to +length/2 on Z (the length excludes
/// the caps, as in ODE).
struct Capsule {
  double radius_m = 0;
  double length_m = 0;  ///< of the segment; 0 makes a sphere
};

struct Box {
  Vec3 size_m = Vec3::Zero();  ///< full side lengths along X, Y, Z
};

/// Solid cylinder around Z from -length/2 to +length/2.
struct Cylinder {
  double radius_m = 0;
  double length_m = 0;
};

/// A convex polyhedron. Made by MakeConvexHull; the surface is watertight.
struct ConvexHull {
  std::shared_ptr<const MeshTree> surface;
};

/// The solid inside a closed mesh. An open mesh is accepted: its inside is then judged by winding
/// number, and answers say so.
struct TriangleMesh {
  std::shared_ptr<const MeshTree> surface;
};

using Shape = std::variant<Sphere, Capsule, Box, Cylinder, ConvexHull, TriangleMesh>;

/// "sphere", "capsule", "box", "cylinder", "hull", "mesh": the names used in files.
std::string_view ShapeKind(const Shape& shape);

/// Sizes finite and positive (a capsule's length may be 0), surfaces present. Every other function
/// requires it.
Status CheckShape(const Shape& shape);

/// The convex hull of at least four points not in one plane; kInvalid otherwise (flatter than 1e-9
/// of their extent counts as one plane). Points within 1e-10 of the extent of a face may be left
/// out.
Result<ConvexHull> MakeConvexHull(std::span<const Vec3> points);

/// See MeshTree::Build.
Result<TriangleMesh> MakeTriangleMesh(Mesh mesh);

/// The surface point nearest to a query point.
struct SurfacePoint {
  double distance_m = 0;    ///< from the surface to the query: positive outside, negative inside
  Vec3 p_S = Vec3::Zero();  ///< the nearest point of the surface
  Vec3 normal_S = Vec3::UnitZ();  ///< unit, outward: the gradient of distance_m
  SignBasis sign_basis = SignBasis::kExact;
};

/// The query is p_S = closest.p_S + closest.distance_m * closest.normal_S, to rounding (for a mesh
/// next to its surface, see SignedNearestPoint::normal_M).
///
/// Where several points are equally near, one is chosen always the same way: centre of a sphere:
/// normal +Z; axis of a capsule or cylinder: normal +X (cylinder: unless a cap is as near: then the
/// cap, the upper one at the middle); box: the lower axis, its positive side; at an edge or corner
/// of a box or a cylinder's rim: the first face that contains it in that order. Preconditions:
/// CheckShape(shape), p_S finite.
SurfacePoint SignedDistance(const Shape& shape, const Vec3& p_S);

/// Smallest axis-aligned box in S around the shape.
Bounds BoundsOf(const Shape& shape);

/// A shape placed in a group's frame G (a body, a prop).
struct PosedShape {
  Shape shape;
  RigidTransform X_GS;
};

/// The surface point of the nearest shape in a union, all in frame G, and which shape it is. Exact
/// outside the union; inside overlapping shapes the depth is that of the deepest single shape, a
/// lower bound of the union's (a plate with a cylinder sunk in it is such a union: exact above the
/// plate). Precondition: not empty.
struct UnionPoint {
  SurfacePoint point;  ///< p_S and normal_S hold G coordinates here
  std::size_t index = 0;
};
UnionPoint SignedDistanceToUnion(std::span<const PosedShape> shapes, const Vec3& p_G);

}  // namespace handhold::geometry

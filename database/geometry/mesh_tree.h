/// Nearest points, inside or outside, and rays on a triangle mesh, through a bounding-volume tree.
///
/// A tree is built once, is immutable and may be shared by any number of threads. Queries allocate
/// nothing. Distances are double-precision: equal to a search over all triangles to 1e-12 of the
/// bounding-box diagonal, and the same on every instruction set (single precision only decides what
/// cannot be nearest, with a margin for its rounding). Pinned by
/// tests/database/geometry/mesh_tree_test.cc; measured by tests/bench/geometry_bench.cc
/// (`geometry.closest_point`).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "database/base/result.h"
#include "database/geometry/mesh.h"

namespace handhold::geometry {

/// How inside was told from outside.
enum class SignBasis {
  kExact,          ///< a primitive: by its formula
  kPseudoNormal,   ///< watertight mesh: angle-weighted pseudo-normal of the nearest face, edge or
                   ///< vertex (Baerentzen, Aanaes 2005)
  kWindingNumber,  ///< generalised winding number > 1/2: the mesh has holes or disagreeing faces,
                   ///< and this is a judgement; or the nearest feature touches a triangle without
                   ///< area
};

/// The nearest point of a mesh, unsigned.
struct NearestPoint {
  double distance_m = std::numeric_limits<double>::infinity();
  Vec3 p_M = Vec3::Zero();     ///< on the surface
  std::uint32_t triangle = 0;  ///< index into mesh().triangles; the lowest one when several are
                               ///< equally near
};

/// The nearest point of a mesh with the side the query is on.
struct SignedNearestPoint {
  double distance_m = 0;          ///< negative inside
  Vec3 p_M = Vec3::Zero();        ///< on the surface
  Vec3 normal_M = Vec3::UnitZ();  ///< unit, outward: gradient of the signed distance; next to the
                                  ///< surface (1e-9 of the diagonal) the pseudo-normal of the
                                  ///< nearest face, edge or vertex
  std::uint32_t triangle = 0;
  SignBasis sign_basis = SignBasis::kPseudoNormal;
};

/// Where a ray first meets a mesh.
struct RayHit {
  double distance_m = 0;  ///< along the unit direction, >= 0
  Vec3 p_M = Vec3::Zero();
  Vec3 normal_M = Vec3::UnitZ();  ///< unit normal of the triangle, outward: positive dot with the
                                  ///< direction means leaving
  std::uint32_t triangle = 0;
};

/// The nearest pair between a segment and a mesh surface, unsigned; distance 0 when the segment
/// cuts the surface.
struct SegmentNearest {
  double distance_m = std::numeric_limits<double>::infinity();
  double t = 0;             ///< nearest point of the segment: a + t (b - a), 0 <= t <= 1
  Vec3 p_M = Vec3::Zero();  ///< on the surface
  std::uint32_t triangle = 0;
};

class MeshTree {
 public:
  /// Takes the mesh over. Fails (kCorrupt) where CheckMesh does. A watertight mesh that is inside
  /// out is turned over, and turned_over() says so. O(n log n): about 0.45 s for 200,000 triangles.
  static Result<std::shared_ptr<const MeshTree>> Build(Mesh mesh);
  ~MeshTree();
  MeshTree(const MeshTree&) = delete;
  MeshTree& operator=(const MeshTree&) = delete;

  const Mesh& mesh() const;
  const MeshReport& report() const;
  const Bounds& bounds() const;
  bool turned_over() const;

  /// The nearest point within `max_distance_m` (a triangle exactly there counts); distance infinity
  /// when there is none, or when p_M is not finite.
  NearestPoint ClosestUnsigned(
      const Vec3& p_M, double max_distance_m = std::numeric_limits<double>::infinity()) const;

  /// The nearest point with its side. A point on the surface to rounding has distance 0 and either
  /// sign's normal is the outward one. A query that is not finite is our caller's bug: CHECK.
  /// `max_distance_m` prunes: a bound that the caller knows already (the last answer plus what the
  /// query moved since), or the distance from which on nobody cares. Where nothing lies within it
  /// the distance is infinity, whichever side the query is on, and the rest means nothing;
  /// otherwise the answer is what it is without a bound, to the bit.
  SignedNearestPoint Closest(const Vec3& p_M,
                             double max_distance_m = std::numeric_limits<double>::infinity()) const;

  /// Closest, with the side told by the pseudo-normal on meshes with holes too, wherever the
  /// nearest face, edge or corner lies within the surface (all its edges have two triangles that
  /// agree): what is nearest is closed around it, and the winding number, which costs several times
  /// the search, is asked at rims alone. Behind a sheet is inside, as far as the sheet is nearest.
  /// Precondition: report().inconsistent_edges == 0; the same as Closest on a watertight mesh.
  SignedNearestPoint ClosestBySurface(
      const Vec3& p_M, double max_distance_m = std::numeric_limits<double>::infinity()) const;

  /// The nearest pair between the surface and the segment a_M b_M; distance infinity when there is
  /// none within `max_distance_m`.
  SegmentNearest ClosestToSegment(
      const Vec3& a_M, const Vec3& b_M,
      double max_distance_m = std::numeric_limits<double>::infinity()) const;

  /// First triangle met by origin + s * direction, 0 <= s <= max_distance_m; both sides of a
  /// triangle count. The direction need not be unit, but not zero. Watertight at shared edges: a
  /// ray through an edge or vertex hits one of its triangles.
  std::optional<RayHit> CastRay(
      const Vec3& origin_M, const Vec3& direction_M,
      double max_distance_m = std::numeric_limits<double>::infinity()) const;

  /// Generalised winding number (Jacobson et al. 2013): 1 inside and 0 outside a closed mesh, in
  /// between near holes. Far groups of triangles count by their dipole (Barill et al. 2018),
  /// accurate to about 0.02; exact within three radii of a group.
  double WindingNumber(const Vec3& p_M) const;

 private:
  struct Impl;
  SignedNearestPoint Signed(const Vec3& p_M, double max_distance_m, bool by_surface) const;
  explicit MeshTree(std::unique_ptr<Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace handhold::geometry

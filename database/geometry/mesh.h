/// Triangle meshes as plain values: checking, welding, splitting, and a report on how closed they
/// are.
///
/// A mesh lives in its own frame M, in metres, with counter-clockwise triangles seen from outside.
/// Nothing here assumes that a mesh is good: files of the world bring holes, doubled faces and
/// triangle soups, and `InspectMesh` says which. Pinned by tests/database/geometry/mesh_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/rotation.h"

namespace handhold::geometry {

/// An axis-aligned box: all points p with min <= p <= max, metres. Empty (min > max) by default.
struct Bounds {
  Vec3 min = Vec3::Constant(1e300);
  Vec3 max = Vec3::Constant(-1e300);

  void Include(const Vec3& p) {
    min = min.cwiseMin(p);
    max = max.cwiseMax(p);
  }
  bool empty() const { return (min.array() > max.array()).any(); }
  Vec3 centre() const { return 0.5 * (min + max); }
  /// Length of the space diagonal, metres; 0 when empty.
  double diagonal_m() const { return empty() ? 0.0 : (max - min).norm(); }
};

/// Vertices in metres and triangles as indices into them, counter-clockwise from outside.
struct Mesh {
  std::vector<Vec3> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

/// What a mesh is like as a surface. Edges are counted after vertices at exactly the same place are
/// taken as one, so that a triangle soup (every STL file) is judged by its shape and not by its
/// numbering.
struct MeshReport {
  std::size_t vertices = 0;             ///< as given
  std::size_t distinct_vertices = 0;    ///< different places among the used ones
  std::size_t triangles = 0;            ///< as given
  std::size_t zero_area_triangles = 0;  ///< repeated vertices, or height below 1e-14 of the longest
                                        ///< edge
  std::size_t duplicate_triangles = 0;  ///< same three places, same orientation, beyond the first
  std::size_t boundary_edges = 0;       ///< edges with one triangle: a hole's rim
  std::size_t nonmanifold_edges = 0;    ///< edges with three triangles or more
  std::size_t inconsistent_edges = 0;   ///< edges whose two triangles disagree about which side is
                                        ///< outside
  std::size_t components = 0;           ///< pieces connected by shared vertices
  double area_m2 = 0;
  double signed_volume_m3 = 0;  ///< meaningful when watertight; negative when the mesh is inside
                                ///< out

  /// Every edge has two triangles that agree. Inside and outside are then defined
  /// (self-intersection is not looked for).
  bool watertight() const {
    return triangles > 0 && boundary_edges == 0 && nonmanifold_edges == 0 &&
           inconsistent_edges == 0;
  }
  /// One line for people: "watertight, 2 pieces" or "not watertight: 12 boundary edges, ...".
  std::string Summary() const;
};

/// Indices in range, coordinates finite (below 1e50), at least one triangle: what every other
/// function here requires. kCorrupt names the first offender.
Status CheckMesh(const Mesh& mesh);

/// Counts and classifies. Precondition: CheckMesh(mesh). O(n log n).
MeshReport InspectMesh(const Mesh& mesh);

Bounds BoundsOf(const Mesh& mesh);

/// Merges vertices at the same place and drops triangles that collapse and vertices nobody uses.
/// With `tolerance_m` > 0, vertices are merged greedily, in index order, with the first kept vertex
/// within that distance. Precondition: CheckMesh(mesh).
Mesh WeldVertices(const Mesh& mesh, double tolerance_m = 0.0);

/// Pieces connected by shared vertex indices (weld first for a soup), in order of their first
/// triangle.
std::vector<Mesh> SplitComponents(const Mesh& mesh);

/// The same surface with every triangle turned over.
Mesh TurnedOver(Mesh mesh);

}  // namespace handhold::geometry

/// The bounding-volume tree behind MeshTree: eight children per node, eight triangles per leaf, in
/// single precision for pruning and double precision for answers. For use inside database/geometry
/// only.
///
/// Pruning works in a scaled frame in which the mesh fits into [-1, 1]^3: x_scaled = (x - origin) *
/// scale. There single precision errs by less than kSlack * (1 + |p|) in any distance computed
/// below, and every bound is widened by it, so that no triangle that could be nearest is lost.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "database/geometry/internal/nearest_kernel.h"
#include "database/geometry/internal/triangle.h"
#include "database/geometry/mesh.h"

namespace handhold::geometry::internal {

struct Bvh {
  Vec3 origin = Vec3::Zero();
  double scale = 1.0;
  std::vector<Node8> nodes;  ///< nodes[0] is the root; parents come before their children
  std::vector<Leaf8> leaves;
  std::vector<std::array<Vec3, 3>> corners;  ///< corners of the triangle at each leaf position,
                                             ///< metres
  std::vector<std::uint32_t> triangles;      ///< its number in the mesh

  /// Sum of area vectors and area-weighted centre of everything below a node, for the winding
  /// number.
  struct Dipole {
    Vec3 centre = Vec3::Zero();
    Vec3 area = Vec3::Zero();  ///< sum of area times outward normal, m^2
    double radius_m = 0;       ///< all corners are within it of the centre
  };
  std::vector<Dipole> dipoles;  ///< one per node

  Vec3 Scaled(const Vec3& p) const { return (p - origin) * scale; }
};

/// Surface-area heuristic, binned. Precondition: CheckMesh(mesh), fewer than 2^28 triangles.
Bvh BuildBvh(const Mesh& mesh);

struct BvhNearest {
  TriangleNearest nearest;  ///< p relative to the query
  std::uint32_t triangle = 0;
  bool found = false;
};

/// The nearest triangle at most `max_distance_m` away; the lowest number among equals. `p` must be
/// finite.
BvhNearest NearestInBvh(const Bvh& bvh, NearestKernel kernel, const Vec3& p, double max_distance_m);

struct NamedKernel {
  std::string_view name;
  NearestKernel kernel;
};
/// The traversals this processor can run, the preferred one last; the first is the baseline.
std::vector<NamedKernel> AvailableKernels();

}  // namespace handhold::geometry::internal

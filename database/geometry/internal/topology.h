/// Which triangles of a mesh meet where: vertices at one place taken as one, and the sorted list of
/// directed edges.
///
/// For use inside database/geometry only.
#pragma once

#include <cstdint>
#include <vector>

#include "database/geometry/mesh.h"

namespace handhold::geometry::internal {

/// Number of the place of each vertex: equal coordinates (0 and -0 are equal), equal number.
/// Numbers are 0 .. places - 1.
struct Places {
  std::vector<std::uint32_t> of_vertex;
  std::size_t count = 0;
};
Places FindPlaces(const std::vector<Vec3>& vertices);

/// Edge `corner` of `triangle` runs from its vertex `corner` to the next one; `forward` when from
/// `lo` to `hi`.
struct DirectedEdge {
  std::uint32_t lo = 0;
  std::uint32_t hi = 0;
  std::uint32_t triangle = 0;
  std::uint8_t corner = 0;
  bool forward = true;
};

/// All edges between different places of triangles whose three places differ, sorted by (lo, hi,
/// triangle).
std::vector<DirectedEdge> SortedEdges(const Mesh& mesh, const Places& places);

/// True when all three places of the triangle differ.
bool HasThreePlaces(const Mesh& mesh, const Places& places, std::size_t triangle);

/// True when the height over the longest edge is below 1e-14 of it, or vertices coincide: no normal
/// can be told.
bool IsZeroArea(const Vec3& a, const Vec3& b, const Vec3& c);

/// Calls run(begin, end) for every group of equal (lo, hi) in sorted edges.
template <typename Run>
void ForEachEdge(const std::vector<DirectedEdge>& edges, Run run) {
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t j = i + 1;
    while (j < edges.size() && edges[j].lo == edges[i].lo && edges[j].hi == edges[i].hi) ++j;
    run(i, j);
    i = j;
  }
}

}  // namespace handhold::geometry::internal

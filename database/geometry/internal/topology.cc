#include "database/geometry/internal/topology.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace handhold::geometry::internal {

Places FindPlaces(const std::vector<Vec3>& vertices) {
  std::vector<std::uint32_t> order(vertices.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t i) {
    return std::tuple(vertices[i].x(), vertices[i].y(), vertices[i].z());
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) {
    return std::tuple_cat(key(i), std::tuple(i)) < std::tuple_cat(key(j), std::tuple(j));
  });
  Places places;
  places.of_vertex.resize(vertices.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && key(order[k]) != key(order[k - 1])) ++places.count;
    places.of_vertex[order[k]] = static_cast<std::uint32_t>(places.count);
  }
  if (!order.empty()) ++places.count;
  return places;
}

bool HasThreePlaces(const Mesh& mesh, const Places& places, std::size_t triangle) {
  const auto& t = mesh.triangles[triangle];
  const std::uint32_t a = places.of_vertex[t[0]], b = places.of_vertex[t[1]],
                      c = places.of_vertex[t[2]];
  return a != b && b != c && c != a;
}

std::vector<DirectedEdge> SortedEdges(const Mesh& mesh, const Places& places) {
  std::vector<DirectedEdge> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (!HasThreePlaces(mesh, places, t)) continue;
    for (int k = 0; k < 3; ++k) {
      const std::uint32_t from = places.of_vertex[mesh.triangles[t][k]];
      const std::uint32_t to = places.of_vertex[mesh.triangles[t][(k + 1) % 3]];
      edges.push_back({std::min(from, to), std::max(from, to), static_cast<std::uint32_t>(t),
                       static_cast<std::uint8_t>(k), from < to});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const DirectedEdge& e, const DirectedEdge& f) {
    return std::tie(e.lo, e.hi, e.triangle, e.corner) < std::tie(f.lo, f.hi, f.triangle, f.corner);
  });
  return edges;
}

bool IsZeroArea(const Vec3& a, const Vec3& b, const Vec3& c) {
  const double longest2 =
      std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
  return !((b - a).cross(c - a).norm() > 1e-14 * longest2);
}

}  // namespace handhold::geometry::internal

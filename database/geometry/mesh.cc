#include "database/geometry/mesh.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "database/geometry/internal/topology.h"

namespace handhold::geometry {
namespace {

/// Disjoint sets over 0 .. n - 1.
class UnionFind {
 public:
  explicit UnionFind(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
  std::uint32_t Find(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(std::uint32_t i, std::uint32_t j) { parent_[Find(i)] = Find(j); }

 private:
  std::vector<std::uint32_t> parent_;
};

std::size_t CountDuplicates(const Mesh& mesh, const internal::Places& places) {
  std::vector<std::array<std::uint32_t, 3>> keys;
  keys.reserve(mesh.triangles.size());
  for (const auto& t : mesh.triangles) {
    std::array<std::uint32_t, 3> k{places.of_vertex[t[0]], places.of_vertex[t[1]],
                                   places.of_vertex[t[2]]};
    std::rotate(k.begin(), std::min_element(k.begin(), k.end()), k.end());
    keys.push_back(k);
  }
  std::sort(keys.begin(), keys.end());
  std::size_t duplicates = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) duplicates += keys[i] == keys[i - 1];
  return duplicates;
}

void CountEdges(const Mesh& mesh, const internal::Places& places, MeshReport& report) {
  const auto edges = internal::SortedEdges(mesh, places);
  internal::ForEachEdge(edges, [&](std::size_t begin, std::size_t end) {
    if (end - begin == 1) {
      ++report.boundary_edges;
    } else if (end - begin > 2) {
      ++report.nonmanifold_edges;
    } else if (edges[begin].forward == edges[begin + 1].forward) {
      ++report.inconsistent_edges;
    }
  });
}

void CountPieces(const Mesh& mesh, const internal::Places& places, MeshReport& report) {
  UnionFind sets(places.count);
  std::vector<char> used(places.count, 0);
  for (const auto& t : mesh.triangles) {
    for (const std::uint32_t v : t) {
      used[places.of_vertex[v]] = 1;
      sets.Join(places.of_vertex[v], places.of_vertex[t[0]]);
    }
  }
  for (std::uint32_t i = 0; i < places.count; ++i) {
    report.distinct_vertices += used[i];
    report.components += used[i] && sets.Find(i) == i;
  }
}

/// Groups vertices that are within the tolerance of an earlier kept one; returns the kept vertex of
/// each.
std::vector<std::uint32_t> MergeNear(const std::vector<Vec3>& vertices, double tolerance_m) {
  using Cell = std::tuple<double, double, double>;
  std::map<Cell, std::vector<std::uint32_t>> kept;
  std::vector<std::uint32_t> to(vertices.size());
  for (std::uint32_t i = 0; i < vertices.size(); ++i) {
    const Vec3 c = (vertices[i] / tolerance_m).array().floor();
    to[i] = i;
    double nearest2 = tolerance_m * tolerance_m;
    for (int n = 0; n < 27; ++n) {
      const auto cell =
          kept.find(Cell(c.x() + n % 3 - 1, c.y() + n / 3 % 3 - 1, c.z() + n / 9 - 1));
      if (cell == kept.end()) continue;
      for (const std::uint32_t k : cell->second) {
        const double d2 = (vertices[k] - vertices[i]).squaredNorm();
        if (d2 < nearest2 || (to[i] == i && d2 <= nearest2)) {
          nearest2 = d2;
          to[i] = k;
        }
      }
    }
    if (to[i] == i) kept[Cell(c.x(), c.y(), c.z())].push_back(i);
  }
  return to;
}

/// Drops unused vertices and renumbers.
Mesh Compacted(const std::vector<Vec3>& vertices,
               const std::vector<std::array<std::uint32_t, 3>>& triangles) {
  constexpr std::uint32_t kNone = 0xffffffffu;
  std::vector<std::uint32_t> number(vertices.size(), kNone);
  Mesh out;
  out.triangles = triangles;
  for (auto& t : out.triangles) {
    for (auto& v : t) {
      if (number[v] == kNone) {
        number[v] = static_cast<std::uint32_t>(out.vertices.size());
        out.vertices.push_back(vertices[v]);
      }
      v = number[v];
    }
  }
  return out;
}

}  // namespace

std::string MeshReport::Summary() const {
  std::string s;
  const auto add = [&](std::size_t n, const char* what) {
    if (n > 0) s += ", " + std::to_string(n) + " " + what;
  };
  add(boundary_edges, "boundary edges");
  add(nonmanifold_edges, "edges with three triangles or more");
  add(inconsistent_edges, "edges whose triangles disagree about the outside");
  add(duplicate_triangles, "duplicate triangles");
  add(zero_area_triangles, "triangles without area");
  add(components, components == 1 ? "piece" : "pieces");
  return (watertight() ? "watertight" : "not watertight") + s;
}

Status CheckMesh(const Mesh& mesh) {
  if (mesh.triangles.empty()) return Error{ErrorCode::kCorrupt, "the mesh has no triangles"};
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    if (!mesh.vertices[i].allFinite() || mesh.vertices[i].cwiseAbs().maxCoeff() > 1e50) {
      return Error{ErrorCode::kCorrupt,
                   "vertex " + std::to_string(i) + " of the mesh is not a finite point"};
    }
  }
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    for (const std::uint32_t v : mesh.triangles[i]) {
      if (v >= mesh.vertices.size()) {
        return Error{ErrorCode::kCorrupt, "triangle " + std::to_string(i) +
                                              " of the mesh names vertex " + std::to_string(v) +
                                              " of " + std::to_string(mesh.vertices.size())};
      }
    }
  }
  return {};
}

MeshReport InspectMesh(const Mesh& mesh) {
  MeshReport report;
  report.vertices = mesh.vertices.size();
  report.triangles = mesh.triangles.size();
  const internal::Places places = internal::FindPlaces(mesh.vertices);
  const Vec3 origin = BoundsOf(mesh).centre();
  for (const auto& t : mesh.triangles) {
    const Vec3 a = mesh.vertices[t[0]] - origin, b = mesh.vertices[t[1]] - origin,
               c = mesh.vertices[t[2]] - origin;
    report.zero_area_triangles += internal::IsZeroArea(a, b, c);
    report.area_m2 += 0.5 * (b - a).cross(c - a).norm();
    report.signed_volume_m3 += a.dot(b.cross(c)) / 6.0;
  }
  report.duplicate_triangles = CountDuplicates(mesh, places);
  CountEdges(mesh, places, report);
  CountPieces(mesh, places, report);
  return report;
}

Bounds BoundsOf(const Mesh& mesh) {
  Bounds bounds;
  for (const auto& t : mesh.triangles) {
    for (const std::uint32_t v : t) bounds.Include(mesh.vertices[v]);
  }
  return bounds;
}

Mesh WeldVertices(const Mesh& mesh, double tolerance_m) {
  std::vector<std::uint32_t> to;
  if (tolerance_m > 0) {
    to = MergeNear(mesh.vertices, tolerance_m);
  } else {
    const internal::Places places = internal::FindPlaces(mesh.vertices);
    std::vector<std::uint32_t> first(places.count, 0xffffffffu);
    to.resize(mesh.vertices.size());
    for (std::uint32_t i = 0; i < to.size(); ++i)
      to[i] = first[places.of_vertex[i]] = std::min(first[places.of_vertex[i]], i);
  }
  std::vector<std::array<std::uint32_t, 3>> kept;
  kept.reserve(mesh.triangles.size());
  for (const auto& t : mesh.triangles) {
    const std::array<std::uint32_t, 3> w{to[t[0]], to[t[1]], to[t[2]]};
    if (w[0] != w[1] && w[1] != w[2] && w[2] != w[0]) kept.push_back(w);
  }
  return Compacted(mesh.vertices, kept);
}

std::vector<Mesh> SplitComponents(const Mesh& mesh) {
  UnionFind sets(mesh.vertices.size());
  for (const auto& t : mesh.triangles) {
    sets.Join(t[1], t[0]);
    sets.Join(t[2], t[0]);
  }
  std::unordered_map<std::uint32_t, std::size_t> piece_of;
  std::vector<std::vector<std::array<std::uint32_t, 3>>> pieces;
  for (const auto& t : mesh.triangles) {
    const auto [it, is_new] = piece_of.try_emplace(sets.Find(t[0]), pieces.size());
    if (is_new) pieces.emplace_back();
    pieces[it->second].push_back(t);
  }
  // Renumbering one piece costs its own size, not the mesh's: vertices of different pieces are
  // disjoint.
  std::vector<Mesh> out;
  std::unordered_map<std::uint32_t, std::uint32_t> number;
  for (auto& triangles : pieces) {
    Mesh piece;
    number.clear();
    for (auto& t : triangles) {
      for (auto& v : t) {
        const auto [it, is_new] =
            number.try_emplace(v, static_cast<std::uint32_t>(piece.vertices.size()));
        if (is_new) piece.vertices.push_back(mesh.vertices[v]);
        v = it->second;
      }
    }
    piece.triangles = std::move(triangles);
    out.push_back(std::move(piece));
  }
  return out;
}

Mesh TurnedOver(Mesh mesh) {
  for (auto& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

}  // namespace handhold::geometry

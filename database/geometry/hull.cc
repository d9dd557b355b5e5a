#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "database/geometry/shape.h"

namespace handhold::geometry {
namespace {

/// Quickhull (Barber, Dobkin, Huhdanpaa 1996): a tetrahedron grown by the farthest outside point of
/// a face until no point is outside any face by more than a tolerance.
class HullBuilder {
 public:
  HullBuilder(std::span<const Vec3> points, double tolerance_m)
      : points_(points), tolerance_m_(tolerance_m) {}

  /// False when the points are flat to within the tolerance.
  bool Build() {
    const auto start = FirstTetrahedron();
    if (!start) return false;
    const auto& [i, j, k, l] = *start;
    // l lies below the triangle i j k.
    const std::uint32_t faces[4] = {Add(i, j, k), Add(j, i, l), Add(k, j, l), Add(i, k, l)};
    for (const std::uint32_t f : faces) Link(f);
    std::vector<std::uint32_t> all(points_.size());
    for (std::uint32_t p = 0; p < all.size(); ++p) all[p] = p;
    Distribute(all, {faces, faces + 4});
    // Index loop: AddPoint appends faces.
    for (std::uint32_t f = 0; f < faces_.size(); ++f) {
      if (faces_[f].alive && !faces_[f].outside.empty()) AddPoint(f);
    }
    return true;
  }

  Mesh Take() const {
    Mesh mesh;
    mesh.vertices.assign(points_.begin(), points_.end());
    for (const Face& f : faces_) {
      if (f.alive) mesh.triangles.push_back(f.v);
    }
    return WeldVertices(mesh);
  }

 private:
  struct Face {
    std::array<std::uint32_t, 3> v;
    Vec3 normal = Vec3::Zero();
    double offset = 0;
    std::vector<std::uint32_t> outside;
    double farthest = 0;
    bool alive = true;
  };
  using Edge = std::pair<std::uint32_t, std::uint32_t>;

  double Height(const Face& f, std::uint32_t p) const {
    return f.normal.dot(points_[p]) - f.offset;
  }

  std::uint32_t Add(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    Face f;
    f.v = {a, b, c};
    f.normal = (points_[b] - points_[a]).cross(points_[c] - points_[a]).normalized();
    f.offset = f.normal.dot((points_[a] + points_[b] + points_[c]) / 3.0);
    faces_.push_back(std::move(f));
    return static_cast<std::uint32_t>(faces_.size() - 1);
  }

  void Link(std::uint32_t f) {
    for (int k = 0; k < 3; ++k) face_of_edge_[{faces_[f].v[k], faces_[f].v[(k + 1) % 3]}] = f;
  }

  std::optional<std::array<std::uint32_t, 4>> FirstTetrahedron() const {
    const auto farthest = [&](auto measure) {
      std::uint32_t best = 0;
      for (std::uint32_t i = 1; i < points_.size(); ++i) {
        if (measure(points_[i]) > measure(points_[best])) best = i;
      }
      return best;
    };
    const std::uint32_t i = farthest([&](const Vec3& p) { return (p - points_[0]).squaredNorm(); });
    const Vec3 a = points_[i];
    const std::uint32_t j = farthest([&](const Vec3& p) { return (p - a).squaredNorm(); });
    const Vec3 u = (points_[j] - a).normalized();
    if (!((points_[j] - a).norm() > tolerance_m_)) return std::nullopt;
    const std::uint32_t k = farthest([&](const Vec3& p) { return u.cross(p - a).squaredNorm(); });
    if (!(u.cross(points_[k] - a).norm() > 10 * tolerance_m_)) return std::nullopt;
    const Vec3 n = u.cross(points_[k] - a).normalized();
    const std::uint32_t l = farthest([&](const Vec3& p) { return std::abs(n.dot(p - a)); });
    const double height = n.dot(points_[l] - a);
    if (!(std::abs(height) > 10 * tolerance_m_)) return std::nullopt;
    return height < 0 ? std::array{i, j, k, l} : std::array{j, i, k, l};
  }

  void Distribute(const std::vector<std::uint32_t>& candidates,
                  const std::vector<std::uint32_t>& faces) {
    for (const std::uint32_t p : candidates) {
      for (const std::uint32_t f : faces) {
        const double h = Height(faces_[f], p);
        if (h <= tolerance_m_) continue;
        Face& face = faces_[f];
        face.outside.push_back(p);
        if (h > face.farthest) {
          face.farthest = h;
          std::swap(face.outside.front(), face.outside.back());
        }
        break;
      }
    }
  }

  /// Replaces all faces that the farthest point of `seed` sees by a fan from that point to their
  /// horizon.
  void AddPoint(std::uint32_t seed) {
    const std::uint32_t apex = faces_[seed].outside.front();
    std::vector<std::uint32_t> visible{seed}, orphans;
    std::vector<Edge> horizon;
    faces_[seed].alive = false;
    for (std::size_t i = 0; i < visible.size(); ++i) {
      const std::array<std::uint32_t, 3> v = faces_[visible[i]].v;
      for (int k = 0; k < 3; ++k) {
        const Edge edge{v[k], v[(k + 1) % 3]};
        const std::uint32_t other = face_of_edge_.at({edge.second, edge.first});
        if (!faces_[other].alive) continue;
        if (Height(faces_[other], apex) > tolerance_m_) {
          faces_[other].alive = false;
          visible.push_back(other);
        }
      }
    }
    for (const std::uint32_t f : visible) {
      const std::array<std::uint32_t, 3> v = faces_[f].v;
      for (int k = 0; k < 3; ++k) {
        if (faces_[face_of_edge_.at({v[(k + 1) % 3], v[k]})].alive)
          horizon.push_back({v[k], v[(k + 1) % 3]});
      }
      orphans.insert(orphans.end(), faces_[f].outside.begin(), faces_[f].outside.end());
      faces_[f].outside.clear();
    }
    for (const std::uint32_t f : visible) {
      for (int k = 0; k < 3; ++k) face_of_edge_.erase({faces_[f].v[k], faces_[f].v[(k + 1) % 3]});
    }
    std::vector<std::uint32_t> fan;
    fan.reserve(horizon.size());
    for (const Edge& e : horizon) fan.push_back(Add(e.first, e.second, apex));
    for (const std::uint32_t f : fan) Link(f);
    std::erase(orphans, apex);
    Distribute(orphans, fan);
  }

  std::span<const Vec3> points_;
  double tolerance_m_;
  std::vector<Face> faces_;
  std::map<Edge, std::uint32_t> face_of_edge_;
};

Error Bad(const std::string& what) { return {ErrorCode::kInvalid, "convex hull: " + what}; }

}  // namespace

Result<ConvexHull> MakeConvexHull(std::span<const Vec3> points) {
  if (points.size() < 4)
    return Bad(std::to_string(points.size()) + " points; a solid needs at least four");
  Bounds bounds;
  for (const Vec3& p : points) {
    if (!p.allFinite() || p.cwiseAbs().maxCoeff() > 1e50) return Bad("a point is not finite");
    bounds.Include(p);
  }
  // Points are moved to their middle and welded, so that the tolerance is relative to the hull and
  // not to where it stands.
  const Vec3 middle = bounds.centre();
  std::vector<Vec3> moved;
  moved.reserve(points.size());
  for (const Vec3& p : points) moved.push_back(p - middle);
  const double tolerance_m = 1e-10 * bounds.diagonal_m();
  HullBuilder builder(moved, tolerance_m);
  if (!builder.Build()) return Bad("the points lie in one plane: it encloses nothing");
  Mesh mesh = builder.Take();
  for (Vec3& v : mesh.vertices) v += middle;
  HANDHOLD_ASSIGN(std::shared_ptr<const MeshTree> surface, MeshTree::Build(std::move(mesh)));
  if (!surface->report().watertight())
    return Bad("rounding spoiled the surface (" + surface->report().Summary() + ")");
  // Rounding can also leave a closed surface that misses points, where they are nearly flat.
  for (const Vec3& p : points) {
    if (surface->Closest(p).distance_m > 1e-8 * bounds.diagonal_m())
      return Bad("rounding spoiled the surface: the points are too nearly in one plane");
  }
  return ConvexHull{std::move(surface)};
}

}  // namespace handhold::geometry

#include "database/skin/internal/collapse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <queue>
#include <tuple>
#include <vector>

#include <Eigen/Dense>

namespace handhold::skin::internal {
namespace {

using geometry::Mat3;
using geometry::Mesh;
using geometry::Vec3;

/// Sum over planes of area times squared distance.
struct Quadric {
  Mat3 A = Mat3::Zero();
  Vec3 b = Vec3::Zero();
  double c = 0.0;

  void Add(const Quadric& other) { A += other.A, b += other.b, c += other.c; }
  double At(const Vec3& p) const { return p.dot(A * p) + 2.0 * b.dot(p) + c; }
};

struct Candidate {
  double cost;
  std::uint32_t a, b;  ///< a < b
  std::uint32_t stamp;

  bool operator<(const Candidate& other) const {  // the cheapest comes first out of the queue
    return std::tie(other.cost, other.a, other.b, other.stamp) < std::tie(cost, a, b, stamp);
  }
};

class Collapser {
 public:
  Collapser(const Mesh& mesh, const std::vector<double>& weight)
      : p_(mesh.vertices),
        triangles_(mesh.triangles),
        alive_(mesh.triangles.size(), 1),
        around_(mesh.vertices.size()),
        quadric_(mesh.vertices.size()),
        stamp_(mesh.vertices.size(), 0),
        count_(static_cast<int>(mesh.triangles.size())) {
    for (std::uint32_t t = 0; t < triangles_.size(); ++t) {
      const Vec3 n = Normal(triangles_[t]);
      const double length = n.norm(), counts = weight.empty() ? 1.0 : weight[triangles_[t][0]];
      for (const std::uint32_t v : triangles_[t]) around_[v].push_back(t);
      if (!(length > 0.0)) continue;
      Quadric plane;
      const Vec3 unit = n / length;
      const double area = counts * length;
      const double offset = -unit.dot(p_[triangles_[t][0]]);
      plane.A = area * unit * unit.transpose();
      plane.b = area * offset * unit;
      plane.c = area * offset * offset;
      for (const std::uint32_t v : triangles_[t]) quadric_[v].Add(plane);
    }
    for (const auto& triangle : triangles_)
      for (size_t c = 0; c < 3; ++c)
        if (triangle[c] < triangle[(c + 1) % 3]) Push(triangle[c], triangle[(c + 1) % 3]);
  }

  Mesh Run(int wanted) {
    while (count_ > wanted && !queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      if (best.stamp != stamp_[best.a] + stamp_[best.b] || around_[best.a].empty() ||
          around_[best.b].empty())
        continue;
      const Vec3 target = Target(best.a, best.b);
      if (Allowed(best.a, best.b, target)) Merge(best.a, best.b, target);
    }
    return Packed();
  }

 private:
  Vec3 Normal(const std::array<std::uint32_t, 3>& t) const {
    return (p_[t[1]] - p_[t[0]]).cross(p_[t[2]] - p_[t[0]]);
  }

  /// Where both quadrics are least; along a flat or a ridge, the middle of the edge.
  Vec3 Target(std::uint32_t a, std::uint32_t b) const {
    Quadric sum = quadric_[a];
    sum.Add(quadric_[b]);
    const Vec3 middle = 0.5 * (p_[a] + p_[b]);
    const double hold = 1e-3 * sum.A.trace() + 1e-30;
    return (sum.A + hold * Mat3::Identity()).ldlt().solve(hold * middle - sum.b);
  }

  void Push(std::uint32_t a, std::uint32_t b) {
    if (a > b) std::swap(a, b);
    Quadric sum = quadric_[a];
    sum.Add(quadric_[b]);
    const Vec3 target = Target(a, b);
    // A little for length: evenly sized triangles where all is flat.
    const double cost =
        std::max(0.0, sum.At(target)) + 1e-5 * sum.A.trace() * (p_[a] - p_[b]).squaredNorm();
    queue_.push({cost, a, b, stamp_[a] + stamp_[b]});
  }

  std::vector<std::uint32_t> Neighbours(std::uint32_t v) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t t : around_[v])
      for (const std::uint32_t other : triangles_[t])
        if (other != v) out.push_back(other);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  bool Allowed(std::uint32_t a, std::uint32_t b, const Vec3& target) const {
    const std::vector<std::uint32_t> of_a = Neighbours(a), of_b = Neighbours(b);
    std::vector<std::uint32_t> both;
    std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                          std::back_inserter(both));
    if (both.size() != 2) return false;
    if (of_a.size() + of_b.size() > 18) return false;  // no stars
    for (const std::uint32_t v : both)
      if (around_[v].size() <= 3) return false;
    return Keeps(a, b, target) && Keeps(b, a, target);
  }

  /// No triangle of `v` that stays turns by more than 70 degrees or becomes a needle.
  bool Keeps(std::uint32_t v, std::uint32_t other, const Vec3& target) const {
    for (const std::uint32_t t : around_[v]) {
      const auto& triangle = triangles_[t];
      if (std::find(triangle.begin(), triangle.end(), other) != triangle.end()) continue;
      std::array<Vec3, 3> corner;
      for (size_t c = 0; c < 3; ++c) corner[c] = triangle[c] == v ? target : p_[triangle[c]];
      const Vec3 before = Normal(triangle);
      const Vec3 after = (corner[1] - corner[0]).cross(corner[2] - corner[0]);
      const double longest =
          std::max({(corner[1] - corner[0]).squaredNorm(), (corner[2] - corner[1]).squaredNorm(),
                    (corner[0] - corner[2]).squaredNorm()});
      if (before.dot(after) < 0.34 * before.norm() * after.norm()) return false;
      if (after.norm() < 0.1 * longest) return false;
    }
    return true;
  }

  void Merge(std::uint32_t a, std::uint32_t b, const Vec3& target) {
    p_[a] = target;
    quadric_[a].Add(quadric_[b]);
    for (const std::uint32_t t : around_[b]) {
      auto& triangle = triangles_[t];
      if (std::find(triangle.begin(), triangle.end(), a) != triangle.end()) {
        alive_[t] = 0;
        --count_;
        for (const std::uint32_t v : triangle)
          if (v != b) std::erase(around_[v], t);
        continue;
      }
      std::replace(triangle.begin(), triangle.end(), b, a);
      around_[a].push_back(t);
    }
    around_[b].clear();
    ++stamp_[a];
    for (const std::uint32_t v : Neighbours(a)) Push(a, v);
  }

  Mesh Packed() const {
    Mesh mesh;
    std::vector<std::uint32_t> place(p_.size());
    for (size_t v = 0; v < p_.size(); ++v) {
      place[v] = static_cast<std::uint32_t>(mesh.vertices.size());
      if (!around_[v].empty()) mesh.vertices.push_back(p_[v]);
    }
    for (size_t t = 0; t < triangles_.size(); ++t) {
      const auto& [a, b, c] = triangles_[t];
      if (alive_[t] != 0) mesh.triangles.push_back({place[a], place[b], place[c]});
    }
    return mesh;
  }

  std::vector<Vec3> p_;
  std::vector<std::array<std::uint32_t, 3>> triangles_;
  std::vector<char> alive_;
  std::vector<std::vector<std::uint32_t>> around_;  ///< live triangles of each vertex
  std::vector<Quadric> quadric_;
  std::vector<std::uint32_t> stamp_;  ///< how often a vertex has moved: older candidates are void
  std::priority_queue<Candidate> queue_;
  int count_;
};

}  // namespace

Mesh Collapse(const Mesh& mesh, int triangles, const std::vector<double>& weight) {
  return Collapser(mesh, weight).Run(triangles);
}

}  // namespace handhold::skin::internal

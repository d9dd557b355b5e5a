#include "database/skin/internal/surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace handhold::skin::internal {
namespace {

using geometry::Mesh;
using geometry::Vec3;

constexpr int kBlock = 4;  ///< cells along a block's side: one without surface is passed over
constexpr int kPoints = kBlock + 1;

/// The six tetrahedra of a cube: the ways from one corner to the opposite one, axis by axis.
/// Corners are bits, x first.
constexpr std::array<std::array<int, 4>, 6> kTetrahedra = {
    {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}}};

class Marcher {
 public:
  Marcher(const Field& field, double step_m) : field_(field), step_m_(step_m) {
    const geometry::Bounds box = field.Box();
    origin_ = box.min;
    for (int c = 0; c < 3; ++c)
      blocks_[static_cast<size_t>(c)] =
          static_cast<std::int64_t>(std::ceil((box.max[c] - box.min[c]) / (step_m * kBlock)));
  }

  Mesh Run() {
    // Nothing nearer than |field| is on the surface: the gradient is no longer than 1.
    const double reach_m = 0.5 * kBlock * step_m_ * std::sqrt(3.0) * 1.001;
    for (std::int64_t z = 0; z < blocks_[2]; ++z)
      for (std::int64_t y = 0; y < blocks_[1]; ++y)
        for (std::int64_t x = 0; x < blocks_[0]; ++x) {
          const Vec3 middle =
              origin_ + kBlock * step_m_ *
                            Vec3(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5,
                                 static_cast<double>(z) + 0.5);
          if (std::abs(field_.At(middle).d) <= reach_m) Block({x, y, z});
        }
    return std::move(mesh_);
  }

 private:
  using Cell = std::array<std::int64_t, 3>;

  Vec3 Place(const Cell& at) const {
    return origin_ + step_m_ * Vec3(static_cast<double>(at[0]), static_cast<double>(at[1]),
                                    static_cast<double>(at[2]));
  }

  void Block(const Cell& block) {
    std::array<double, kPoints * kPoints * kPoints> d;
    for (int k = 0; k < kPoints; ++k)
      for (int j = 0; j < kPoints; ++j)
        for (int i = 0; i < kPoints; ++i)
          d[Index(i, j, k)] =
              field_
                  .At(Place({kBlock * block[0] + i, kBlock * block[1] + j, kBlock * block[2] + k}))
                  .d;
    for (int k = 0; k < kBlock; ++k)
      for (int j = 0; j < kBlock; ++j)
        for (int i = 0; i < kBlock; ++i) {
          std::array<double, 8> corner;
          for (int c = 0; c < 8; ++c)
            corner[static_cast<size_t>(c)] = d[Index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];
          Cube({kBlock * block[0] + i, kBlock * block[1] + j, kBlock * block[2] + k}, corner);
        }
  }

  static size_t Index(int i, int j, int k) {
    return static_cast<size_t>((k * kPoints + j) * kPoints + i);
  }

  void Cube(const Cell& cell, const std::array<double, 8>& d) {
    int inside = 0;
    for (const double value : d) inside += value < 0.0 ? 1 : 0;
    if (inside == 0 || inside == 8) return;
    for (const auto& tetrahedron : kTetrahedra) {
      std::array<int, 4> in{}, out{};
      size_t ins = 0, outs = 0;
      for (const int c : tetrahedron)
        (d[static_cast<size_t>(c)] < 0.0 ? in[ins++] : out[outs++]) = c;
      if (ins == 0 || outs == 0) continue;
      const auto at = [&](int a, int b) { return Vertex(cell, a, b, d); };
      const Vec3 outward = Middle(out, outs) - Middle(in, ins);
      if (ins == 1) {
        Triangle(at(in[0], out[0]), at(in[0], out[1]), at(in[0], out[2]), outward);
      } else if (outs == 1) {
        Triangle(at(in[0], out[0]), at(in[1], out[0]), at(in[2], out[0]), outward);
      } else {
        const auto a = at(in[0], out[0]), b = at(in[0], out[1]);
        const auto c = at(in[1], out[1]), e = at(in[1], out[0]);
        Triangle(a, b, c, outward);
        Triangle(a, c, e, outward);
      }
    }
  }

  static Vec3 Middle(const std::array<int, 4>& corners, size_t count) {
    Vec3 sum = Vec3::Zero();
    for (size_t i = 0; i < count; ++i)
      sum += Vec3(corners[i] & 1, corners[i] >> 1 & 1, corners[i] >> 2);
    return sum / static_cast<double>(count);
  }

  /// The vertex on the edge between two corners, made once for all cubes around it.
  std::uint32_t Vertex(const Cell& cell, int a, int b, const std::array<double, 8>& d) {
    if (a > b) std::swap(a, b);
    const Cell low = {cell[0] + (a & 1), cell[1] + (a >> 1 & 1), cell[2] + (a >> 2)};
    const Cell high = {cell[0] + (b & 1), cell[1] + (b >> 1 & 1), cell[2] + (b >> 2)};
    const std::int64_t point =
        (low[2] * (blocks_[1] * kBlock + 1) + low[1]) * (blocks_[0] * kBlock + 1) + low[0];
    const auto [it, fresh] =
        known_.emplace(8 * point + (a ^ b), static_cast<std::uint32_t>(mesh_.vertices.size()));
    if (fresh) {
      const double da = d[static_cast<size_t>(a)], db = d[static_cast<size_t>(b)];
      // Away from the corners: a triangle of no size has no sides to relax.
      const double t = std::clamp(da / (da - db), 0.05, 0.95);
      mesh_.vertices.push_back((1.0 - t) * Place(low) + t * Place(high));
    }
    return it->second;
  }

  void Triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Vec3& outward) {
    const Vec3& p = mesh_.vertices[a];
    const Vec3 normal = (mesh_.vertices[b] - p).cross(mesh_.vertices[c] - p);
    if (normal.dot(outward) < 0.0) std::swap(b, c);
    mesh_.triangles.push_back({a, b, c});
  }

  const Field& field_;
  double step_m_;
  Vec3 origin_;
  Cell blocks_{};
  Mesh mesh_;
  std::unordered_map<std::int64_t, std::uint32_t> known_;
};

}  // namespace

Mesh March(const Field& field, double step_m) { return Marcher(field, step_m).Run(); }

void Settle(const Field& field, int steps, Mesh* mesh) {
  for (Vec3& p : mesh->vertices)
    for (int i = 0; i < steps; ++i) {
      const Distance at = field.At(p);
      p -= at.d * at.gradient / std::max(0.25, at.gradient.squaredNorm());
    }
}

void Relax(const Field& field, int rounds, Mesh* mesh) {
  std::vector<Vec3> sum(mesh->vertices.size());
  std::vector<int> count(mesh->vertices.size());
  for (int round = 0; round < rounds; ++round) {
    std::fill(sum.begin(), sum.end(), Vec3::Zero());
    std::fill(count.begin(), count.end(), 0);
    for (const auto& triangle : mesh->triangles)
      for (size_t c = 0; c < 3; ++c) {
        sum[triangle[c]] += mesh->vertices[triangle[(c + 1) % 3]];
        ++count[triangle[c]];
      }
    for (size_t v = 0; v < sum.size(); ++v) {
      Vec3& p = mesh->vertices[v];
      const Vec3 normal = field.At(p).gradient.normalized();
      const Vec3 pull = sum[v] / std::max(1, count[v]) - p;
      p += 0.5 * (pull - normal * normal.dot(pull));
    }
    Settle(field, 1, mesh);
  }
}

}  // namespace handhold::skin::internal

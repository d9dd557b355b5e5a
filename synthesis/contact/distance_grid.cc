#include "synthesis/contact/distance_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

namespace handhold::synthesis {

using geometry::Vec3;

template <typename Distance>
Result<DistanceGrid> DistanceGrid::Fill(const geometry::Bounds& bounds, double cell_m,
                                        double margin_m, const Distance& distance) {
  if (!(cell_m > 0) || !(margin_m >= 0) || !std::isfinite(cell_m) || !std::isfinite(margin_m))
    return Error{ErrorCode::kInvalid, "a distance grid needs a cell > 0 and a margin >= 0"};
  DistanceGrid grid;
  grid.mesh_ = bounds;
  grid.cell_m_ = cell_m;
  grid.origin_ = bounds.min.array() - margin_m;
  const Vec3 size = bounds.max - bounds.min + Vec3::Constant(2 * margin_m);
  double nodes = 1.0;
  for (int k = 0; k < 3; ++k) nodes *= std::ceil(size[k] / cell_m) + 1.0;
  if (!(nodes <= 0x1p26)) {
    return Error{ErrorCode::kInvalid,
                 "a distance grid of more than 2^26 nodes: take larger cells or a smaller margin"};
  }
  for (int k = 0; k < 3; ++k)
    grid.count_[k] = std::max(2, static_cast<int>(std::ceil(size[k] / cell_m)) + 1);
  grid.bounds_.Include(grid.origin_);
  grid.bounds_.Include(grid.origin_ + cell_m * (grid.count_.cast<double>() - Vec3::Ones()));
  grid.values_.resize(static_cast<size_t>(grid.count_.x()) * static_cast<size_t>(grid.count_.y()) *
                      static_cast<size_t>(grid.count_.z()));
  size_t at = 0;
  double largest = 0.0;
  for (int k = 0; k < grid.count_.z(); ++k) {
    for (int j = 0; j < grid.count_.y(); ++j) {
      double bound = std::numeric_limits<double>::infinity();
      for (int i = 0; i < grid.count_.x(); ++i, ++at) {
        // A node's neighbour is at most a cell further away: the bound that prunes the search.
        const double d = distance(Vec3(grid.origin_ + cell_m * Vec3(i, j, k)), bound);
        bound = std::abs(d) + 1.001 * cell_m;
        largest = std::max(largest, std::abs(d));
        grid.values_[at] = static_cast<float>(d);
      }
    }
  }
  grid.error_bound_m_ = 0.5 * std::sqrt(3.0) * cell_m + 1e-6 * largest;
  return grid;
}

Result<DistanceGrid> DistanceGrid::Build(const geometry::MeshTree& tree, double cell_m,
                                         double margin_m) {
  return Fill(tree.bounds(), cell_m, margin_m,
              [&](const Vec3& p, double bound) { return tree.Closest(p, bound).distance_m; });
}

Result<DistanceGrid> DistanceGrid::Build(std::span<const geometry::PosedShape> shapes,
                                         double cell_m, double margin_m) {
  struct Part {
    geometry::RigidTransform X_SG;
    const geometry::Shape* shape;
    const geometry::MeshTree* surface;
  };
  std::vector<Part> parts;
  geometry::Bounds bounds;
  for (const geometry::PosedShape& s : shapes) {
    HANDHOLD_TRY(geometry::CheckShape(s.shape));
    const auto* hull = std::get_if<geometry::ConvexHull>(&s.shape);
    const auto* mesh = std::get_if<geometry::TriangleMesh>(&s.shape);
    parts.push_back({s.X_GS.Inverse(), &s.shape,
                     hull != nullptr   ? hull->surface.get()
                     : mesh != nullptr ? mesh->surface.get()
                                       : nullptr});
    const geometry::Bounds own = geometry::BoundsOf(s.shape);
    for (int i = 0; i < 8; ++i) {
      bounds.Include(s.X_GS * Vec3(i & 1 ? own.max.x() : own.min.x(),
                                   i & 2 ? own.max.y() : own.min.y(),
                                   i & 4 ? own.max.z() : own.min.z()));
    }
  }
  if (parts.empty()) return Error{ErrorCode::kInvalid, "a distance grid needs a shape"};
  return Fill(bounds, cell_m, margin_m, [&](const Vec3& p, double bound) {
    double least = std::numeric_limits<double>::infinity();
    for (const Part& part : parts) {
      const Vec3 p_S = part.X_SG * p;
      least = std::min(least, part.surface != nullptr
                                  ? part.surface->Closest(p_S, bound).distance_m
                                  : geometry::SignedDistance(*part.shape, p_S).distance_m);
    }
    return least;
  });
}

double DistanceGrid::At(const Vec3& p_M, Vec3* gradient) const {
  const Vec3 inside = p_M.cwiseMax(bounds_.min).cwiseMin(bounds_.max);
  if (inside != p_M) {
    const Vec3 away = p_M - p_M.cwiseMax(mesh_.min).cwiseMin(mesh_.max);
    if (gradient != nullptr) *gradient = away.normalized();
    return away.norm();
  }
  const Vec3 scaled = (inside - origin_) / cell_m_;
  Eigen::Vector3i cell;
  Vec3 t;
  for (int k = 0; k < 3; ++k) {
    cell[k] = std::clamp(static_cast<int>(scaled[k]), 0, count_[k] - 2);
    t[k] = std::clamp(scaled[k] - cell[k], 0.0, 1.0);
  }
  const auto nx = static_cast<size_t>(count_.x()), ny = static_cast<size_t>(count_.y());
  const size_t base = static_cast<size_t>(cell.x()) +
                      nx * (static_cast<size_t>(cell.y()) + ny * static_cast<size_t>(cell.z()));
  const auto value = [&](size_t i, size_t j, size_t k) {
    return static_cast<double>(values_[base + i + nx * (j + ny * k)]);
  };
  // Along x at the four edges, then y, then z.
  double edge[2][2], slope[2][2];
  for (size_t k = 0; k < 2; ++k) {
    for (size_t j = 0; j < 2; ++j) {
      const double low = value(0, j, k), high = value(1, j, k);
      slope[k][j] = high - low;
      edge[k][j] = low + t.x() * slope[k][j];
    }
  }
  const auto mix = [](double a, double b, double s) { return a + s * (b - a); };
  const double low = mix(edge[0][0], edge[0][1], t.y()), high = mix(edge[1][0], edge[1][1], t.y());
  const double d = mix(low, high, t.z());
  if (gradient != nullptr) {
    *gradient =
        Vec3(mix(mix(slope[0][0], slope[0][1], t.y()), mix(slope[1][0], slope[1][1], t.y()), t.z()),
             mix(edge[0][1] - edge[0][0], edge[1][1] - edge[1][0], t.z()), high - low) /
        cell_m_;
  }
  return d;
}

}  // namespace handhold::synthesis

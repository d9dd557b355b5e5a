#include "synthesis/contact/distance_grid.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "database/geometry/shape.h"

namespace handhold::synthesis::distance_grid_test {
namespace {

using geometry::Vec3;

geometry::Mesh BoxMesh(const Vec3& half) {
  geometry::Mesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back(
        half.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  const std::uint32_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (const auto& q : quads) {
    mesh.triangles.push_back({q[0], q[1], q[2]});
    mesh.triangles.push_back({q[0], q[2], q[3]});
  }
  return mesh;
}

TEST(DistanceGrid, IsWithinItsBoundOfTheMesh) {
  const auto tree = geometry::MeshTree::Build(BoxMesh(Vec3(0.015, 0.025, 0.035))).value();
  const DistanceGrid grid = DistanceGrid::Build(*tree, 2e-3, 0.01).value();
  EXPECT_LE(grid.error_bound_m(), 0.867 * 2e-3 + 1e-6);
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> u(0, 1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    Vec3 p;
    for (int k = 0; k < 3; ++k)
      p[k] = grid.bounds().min[k] + u(rng) * (grid.bounds().max[k] - grid.bounds().min[k]);
    Vec3 gradient;
    const double d = grid.At(p, &gradient), exact = tree->Closest(p).distance_m;
    worst = std::max(worst, std::abs(d - exact));
    ASSERT_LE(std::abs(d - exact), grid.error_bound_m());
    if (i % 100 == 0) {
      const double h = 1e-8;
      for (int k = 0; k < 3; ++k) {
        const double slope =
            (grid.At(p + h * Vec3::Unit(k)) - grid.At(p - h * Vec3::Unit(k))) / (2 * h);
        EXPECT_NEAR(gradient[k], slope, 1e-4);
      }
    }
  }
  EXPECT_GT(worst, 0.1 * grid.error_bound_m());  // edges are rounded: the bound is not idle
  EXPECT_NEAR(grid.At(Vec3(0.02, 0.001, 0.002)), 0.005, 1e-8);  // flat is exact
  for (const Vec3& p : {Vec3(0.1, 0, 0), Vec3(-0.03, 0.2, -0.1)}) {
    Vec3 gradient;
    const double d = grid.At(p, &gradient), exact = tree->Closest(p).distance_m;
    EXPECT_LE(d, exact + 1e-12);
    EXPECT_GE(d, 0.5 * exact);
    EXPECT_NEAR(gradient.norm(), 1, 1e-12);
  }
}

TEST(DistanceGrid, SizesThatMakeNoGridAreRefused) {
  const auto tree = geometry::MeshTree::Build(BoxMesh(Vec3(0.1, 0.1, 0.1))).value();
  EXPECT_EQ(DistanceGrid::Build(*tree, 0, 0.01).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(DistanceGrid::Build(*tree, 1e-4, 0.1).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::synthesis::distance_grid_test

// Counting what is wrong with a surface, welding and splitting.
#include "database/geometry/mesh.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>

namespace handhold::geometry::mesh_test {
namespace {

using ::testing::HasSubstr;

Mesh Cube() {
  Mesh m;
  for (int i = 0; i < 8; ++i) m.vertices.emplace_back(i & 1, i >> 1 & 1, i >> 2 & 1);
  m.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                 {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return m;
}

/// Every triangle with its own three vertices, as STL files have it.
Mesh Soup(const Mesh& mesh) {
  Mesh out;
  for (const auto& t : mesh.triangles) {
    const auto k = static_cast<std::uint32_t>(out.vertices.size());
    for (const std::uint32_t v : t) out.vertices.push_back(mesh.vertices[v]);
    out.triangles.push_back({k, k + 1, k + 2});
  }
  return out;
}

Mesh Joined(const Mesh& a, const Mesh& b, const Vec3& offset) {
  Mesh out = a;
  const auto base = static_cast<std::uint32_t>(a.vertices.size());
  for (const Vec3& v : b.vertices) out.vertices.push_back(v + offset);
  for (const auto& t : b.triangles)
    out.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
  return out;
}

TEST(InspectMesh, ACubeIsWatertightAsIndexedMeshAndAsSoup) {
  for (const Mesh& mesh : {Cube(), Soup(Cube())}) {
    const MeshReport r = InspectMesh(mesh);
    EXPECT_TRUE(r.watertight());
    EXPECT_EQ(r.distinct_vertices, 8u);
    EXPECT_EQ(r.components, 1u);
    EXPECT_NEAR(r.area_m2, 6, 1e-14);
    EXPECT_NEAR(r.signed_volume_m3, 1, 1e-14);
  }
  EXPECT_NEAR(InspectMesh(TurnedOver(Cube())).signed_volume_m3, -1, 1e-14);
}

TEST(InspectMesh, CountsEachKindOfDamage) {
  Mesh open = Cube();
  open.triangles.pop_back();
  MeshReport r = InspectMesh(open);
  EXPECT_FALSE(r.watertight());
  EXPECT_EQ(r.boundary_edges, 3u);
  EXPECT_THAT(r.Summary(), HasSubstr("3 boundary edges"));

  Mesh flipped = Cube();
  std::swap(flipped.triangles[3][0], flipped.triangles[3][1]);
  EXPECT_EQ(InspectMesh(flipped).inconsistent_edges, 3u);
  EXPECT_FALSE(InspectMesh(flipped).watertight());

  Mesh fin = Cube();
  fin.vertices.emplace_back(2, 2, 2);
  fin.triangles.push_back({0, 1, 8});
  r = InspectMesh(fin);
  EXPECT_EQ(r.nonmanifold_edges, 1u);
  EXPECT_EQ(r.boundary_edges, 2u);

  Mesh doubled = Cube();
  doubled.triangles.push_back({2, 1, 0});
  EXPECT_EQ(InspectMesh(doubled).duplicate_triangles, 1u);
  EXPECT_EQ(InspectMesh(doubled).nonmanifold_edges, 3u);

  Mesh degenerate = Cube();
  degenerate.triangles.push_back({0, 0, 1});
  r = InspectMesh(degenerate);
  EXPECT_EQ(r.zero_area_triangles, 1u);
  EXPECT_TRUE(r.watertight());  // it collapses to an edge and closes or opens nothing

  EXPECT_EQ(InspectMesh(Joined(Cube(), Cube(), {3, 0, 0})).components, 2u);
  // Two cubes touching in an edge: pieces connect by vertices, and that edge has four triangles.
  r = InspectMesh(Joined(Cube(), Cube(), {1, 1, 0}));
  EXPECT_EQ(r.components, 1u);
  EXPECT_EQ(r.nonmanifold_edges, 1u);
}

TEST(CheckMesh, NamesTheFirstOffender) {
  EXPECT_TRUE(CheckMesh(Cube()));
  EXPECT_FALSE(CheckMesh(Mesh{}));
  Mesh m = Cube();
  m.triangles[4][1] = 8;
  EXPECT_THAT(CheckMesh(m).error().message, HasSubstr("triangle 4"));
  m = Cube();
  m.vertices[5].z() = std::nan("");
  EXPECT_THAT(CheckMesh(m).error().message, HasSubstr("vertex 5"));
}

TEST(WeldVertices, MakesASoupConnectedAndDropsWhatCollapses) {
  Mesh soup = Soup(Cube());
  soup.vertices.emplace_back(9, 9, 9);  // used by nobody
  soup.triangles.push_back({0, 0, 1});
  const Mesh welded = WeldVertices(soup);
  EXPECT_EQ(welded.vertices.size(), 8u);
  EXPECT_EQ(welded.triangles.size(), 12u);
  EXPECT_TRUE(InspectMesh(welded).watertight());
  EXPECT_NEAR(InspectMesh(welded).signed_volume_m3, 1, 1e-14);
  // -0 and 0 are one place.
  Mesh zeros;
  zeros.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-0.0, 0, -0.0}, {0, -1, 0}, {1, -0.0, 0}};
  zeros.triangles = {{0, 1, 2}, {3, 4, 5}};
  EXPECT_EQ(WeldVertices(zeros).vertices.size(), 4u);
}

TEST(WeldVertices, WithToleranceClosesCracksAndKeepsDistinctCorners) {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> u(-1, 1);
  Mesh cracked = Soup(Cube());
  for (Vec3& v : cracked.vertices) v += 1e-6 * Vec3(u(rng), u(rng), u(rng));
  EXPECT_FALSE(InspectMesh(cracked).watertight());
  EXPECT_FALSE(InspectMesh(WeldVertices(cracked)).watertight());
  const Mesh closed = WeldVertices(cracked, 1e-5);
  EXPECT_EQ(closed.vertices.size(), 8u);
  EXPECT_TRUE(InspectMesh(closed).watertight());
  // Exactly the tolerance apart: one; a hair more: two.
  Mesh pair;
  pair.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0, 0}, {5, 5, 5}, {6, 5, 5}};
  pair.triangles = {{0, 1, 2}, {3, 4, 5}};
  EXPECT_EQ(WeldVertices(pair, 0.25).vertices.size(), 5u);
  EXPECT_EQ(WeldVertices(pair, 0.2499999).vertices.size(), 6u);
}

TEST(SplitComponents, GivesThePiecesBack) {
  const Mesh both = Joined(Cube(), TurnedOver(Cube()), {3, 0, 0});
  const std::vector<Mesh> pieces = SplitComponents(both);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].vertices.size(), 8u);
  EXPECT_NEAR(InspectMesh(pieces[0]).signed_volume_m3, 1, 1e-14);
  EXPECT_NEAR(InspectMesh(pieces[1]).signed_volume_m3, -1, 1e-14);
  EXPECT_EQ(BoundsOf(pieces[1]).min, Vec3(3, 0, 0));
  EXPECT_EQ(SplitComponents(Soup(Cube())).size(), 12u);
  EXPECT_EQ(SplitComponents(WeldVertices(Soup(Cube()))).size(), 1u);
}

}  // namespace
}  // namespace handhold::geometry::mesh_test

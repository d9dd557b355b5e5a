// The tree against looking at every triangle (tests/support/brute_force.h), on real props, on
// made-up shapes whose inside is known, and on triangles made to hurt.
#include "database/geometry/mesh_tree.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "database/base/units.h"
#include "database/geometry/internal/bvh.h"
#include "database/geometry/internal/segment.h"
#include "database/geometry/mesh_io.h"
#include "tests/support/brute_force.h"
#include "tests/support/own_props.h"
#include "tests/support/paths.h"

namespace handhold::geometry::mesh_tree_test {
namespace {

using ::testing::HasSubstr;

double Uniform(std::mt19937_64& rng, double lo, double hi) {
  return std::uniform_real_distribution<double>(lo, hi)(rng);
}
Vec3 UniformVec(std::mt19937_64& rng) {
  const double x = Uniform(rng, -1, 1), y = Uniform(rng, -1, 1), z = Uniform(rng, -1, 1);
  return {x, y, z};
}

/// A closed surface over a (u, v) torus grid.
Mesh Grid(int n, int m, const std::function<Vec3(double, double)>& at) {
  Mesh mesh;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) mesh.vertices.push_back(at(2 * kPi * i / n, 2 * kPi * j / m));
  }
  const auto index = [&](int i, int j) { return static_cast<std::uint32_t>((i % n) * m + j % m); };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      mesh.triangles.push_back({index(i, j), index(i + 1, j), index(i + 1, j + 1)});
      mesh.triangles.push_back({index(i, j), index(i + 1, j + 1), index(i, j + 1)});
    }
  }
  return mesh;
}

Mesh Torus(int n = 48, int m = 24) {
  return Grid(n, m, [](double u, double v) {
    return Vec3((1 + 0.4 * std::cos(v)) * std::cos(u), (1 + 0.4 * std::cos(v)) * std::sin(u),
                0.4 * std::sin(v));
  });
}

/// Points where bugs live: near the surface, on it, in twice the box, far away, on vertices and
/// edges.
std::vector<Vec3> Queries(const Mesh& mesh, int n, std::mt19937_64& rng) {
  const Bounds box = BoundsOf(mesh);
  std::vector<Vec3> out;
  for (int i = 0; i < n; ++i) {
    const auto& t = mesh.triangles[rng() % mesh.triangles.size()];
    const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
    const double u = Uniform(rng, 0, 1), v = Uniform(rng, 0, 1 - u);
    const Vec3 on = a + u * (b - a) + v * (c - a);
    switch (i % 6) {
      case 0:
        out.push_back(on +
                      std::pow(10, Uniform(rng, -12, -1)) * box.diagonal_m() * UniformVec(rng));
        break;
      case 1:
        out.push_back(box.centre() + (box.max - box.min).cwiseProduct(UniformVec(rng)));
        break;
      case 2:
        out.push_back(on);
        break;
      case 3:
        out.push_back(i % 4 == 1 ? a : Vec3(0.5 * (a + b)));
        break;
      case 4:
        out.push_back(on + 0.01 * box.diagonal_m() * UniformVec(rng));
        break;
      case 5:
        out.push_back(box.centre() +
                      std::pow(10, Uniform(rng, 0, 3)) * box.diagonal_m() * UniformVec(rng));
        break;
    }
  }
  return out;
}

/// Distances equal to brute force to 1e-12 of the diagonal (of the distance, where that is larger),
/// by every kernel, and the same bits from each.
template <typename Real = support::Real>
void ExpectEqualToBruteForce(const Mesh& mesh, int n, unsigned seed, const std::string& name) {
  std::mt19937_64 rng(seed);
  const auto tree = MeshTree::Build(mesh).value();
  const internal::Bvh bvh = internal::BuildBvh(tree->mesh());
  const double diagonal = tree->bounds().diagonal_m();
  double worst = 0;
  for (const Vec3& p : Queries(tree->mesh(), n, rng)) {
    const double truth = support::BruteDistance<Real>(tree->mesh(), p);
    const NearestPoint near = tree->ClosestUnsigned(p);
    worst = std::max(worst, std::abs(near.distance_m - truth) / std::max(diagonal, 0.01 * truth));
    ASSERT_LE(std::abs(near.distance_m - truth), 1e-12 * std::max(diagonal, 0.01 * truth))
        << name << " at " << p.transpose();
    // The point is at that distance, and on the triangle it names.
    EXPECT_NEAR((near.p_M - p).norm(), near.distance_m, 1e-12 * (diagonal + p.norm())) << name;
    Mesh one;
    one.vertices = tree->mesh().vertices;
    one.triangles = {tree->mesh().triangles[near.triangle]};
    EXPECT_LE(support::BruteDistance<Real>(one, near.p_M), 1e-13 * (diagonal + p.norm())) << name;
    EXPECT_EQ(std::abs(tree->Closest(p).distance_m), near.distance_m);
    for (const internal::NamedKernel& k : internal::AvailableKernels()) {
      const auto found =
          internal::NearestInBvh(bvh, k.kernel, p, std::numeric_limits<double>::infinity());
      ASSERT_TRUE(found.found) << k.name;
      ASSERT_EQ(std::sqrt(found.nearest.distance2), near.distance_m) << k.name;
      ASSERT_EQ(found.triangle, near.triangle) << k.name;
    }
  }
  ::testing::Test::RecordProperty(name, std::to_string(worst));
}

std::vector<std::string> PropFiles() {
  std::vector<std::string> files;
  const std::filesystem::path root = support::SharedDataDir() + "/props";
  if (!std::filesystem::exists(root)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".stl") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string BunnyFile() {
  const char* home = std::getenv("HOME");
  const char* prefix = std::getenv("HANDHOLD_PREFIX");
  const std::string base =
      prefix != nullptr ? prefix
                        : std::string(home != nullptr ? home : "") + "/.cache/handhold/prefix";
  return base + "/oracles/npm/meshes/bunny.obj";
}

TEST(ClosestUnsigned, EqualsBruteForceOnEveryMeshOfOurOwnProps) {
  const std::vector<handhold::testing::NamedMesh> meshes = handhold::testing::OwnPropMeshes();
  ASSERT_GE(meshes.size(), 5u);
  for (const auto& [name, mesh] : meshes) ExpectEqualToBruteForce(mesh, 120, 13, name);
}

TEST(ClosestUnsigned, EqualsBruteForceOnEverySharedPropMesh) {
  const std::vector<std::string> files = PropFiles();
  if (files.empty())
    GTEST_SKIP() << "no " << support::SharedDataDir() << "/props: real prop meshes are not checked";
  EXPECT_GE(files.size(), 80u);
  for (const std::string& file : files) {
    const MeshFile mesh = ReadMeshFile(file, {}).value();
    ExpectEqualToBruteForce(mesh.mesh, mesh.mesh.triangles.size() > 1000 ? 90 : 60, 1,
                            file.substr(file.rfind('/') + 1));
  }
}

TEST(ClosestUnsigned, EqualsBruteForceOnTheBunny) {
  if (!std::filesystem::exists(BunnyFile()))
    GTEST_SKIP() << "no " << BunnyFile() << ": tools/setup installs it";
  ExpectEqualToBruteForce(ReadMeshFile(BunnyFile(), {}).value().mesh, 300, 2, "bunny");
}

TEST(ClosestUnsigned, EqualsBruteForceOnTrianglesMadeToHurt) {
  std::mt19937_64 rng(3);
  for (int round = 0; round < 60; ++round) {
    Mesh mesh;
    const int n = 1 + static_cast<int>(rng() % 40);
    const double scale = std::pow(10, round % 7 - 3);
    const Vec3 offset = round % 3 == 0 ? Vec3(1000 * scale * UniformVec(rng)) : Vec3(Vec3::Zero());
    for (int i = 0; i < n; ++i) {
      Vec3 a = UniformVec(rng), b = UniformVec(rng), c = UniformVec(rng);
      const double thin = std::pow(10, Uniform(rng, -17, -1));
      switch ((round + i) % 8) {
        case 0:
          c = 0.5 * (a + b) + thin * UniformVec(rng);
          break;  // needle, apex over the middle
        case 1:
          c = a + thin * UniformVec(rng);
          break;  // needle, two corners together
        case 2:
          c = 0.3 * a + 0.7 * b;
          break;  // no area
        case 3:
          b = c = a;
          break;  // a point
        case 4:
          b = a;
          break;  // a segment
        case 5:
          a.z() = b.z() = c.z() = 0;
          break;  // all in one plane
        default:
          break;
      }
      for (const Vec3& v : {a, b, c}) mesh.vertices.push_back(scale * v + offset);
      const auto k = static_cast<std::uint32_t>(3 * i);
      mesh.triangles.push_back({k, k + 1, k + 2});
      if (i % 5 == 0) mesh.triangles.push_back({k + 1, k + 2, k});  // twice
    }
    ExpectEqualToBruteForce<support::Quad>(mesh, 60, 4, "hurtful " + std::to_string(round));
  }
}

TEST(ClosestUnsigned, AnswersTheLowestTriangleAmongEquals) {
  Mesh mesh = Torus(12, 8);
  const auto once = mesh.triangles;
  mesh.triangles.insert(mesh.triangles.end(), once.begin(), once.end());
  const auto tree = MeshTree::Build(mesh).value();
  std::mt19937_64 rng(5);
  for (int i = 0; i < 200; ++i)
    EXPECT_LT(tree->ClosestUnsigned(2 * UniformVec(rng)).triangle, once.size());
}

TEST(ClosestUnsigned, KeepsToTheGivenDistance) {
  const auto tree = MeshTree::Build(Torus()).value();
  std::mt19937_64 rng(6);
  for (int i = 0; i < 300; ++i) {
    const Vec3 p = 2 * UniformVec(rng);
    const double d = tree->ClosestUnsigned(p).distance_m;
    EXPECT_EQ(tree->ClosestUnsigned(p, d * 1.001).distance_m, d);
    EXPECT_TRUE(std::isinf(tree->ClosestUnsigned(p, d * 0.999).distance_m));
  }
  Mesh square;
  square.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}};
  square.triangles = {{0, 1, 2}};
  EXPECT_EQ(MeshTree::Build(square).value()->ClosestUnsigned(Vec3(0.75, 0.25, 2), 2.0).distance_m,
            2.0);
  EXPECT_TRUE(std::isinf(tree->ClosestUnsigned(Vec3(std::nan(""), 0, 0)).distance_m));
  EXPECT_TRUE(std::isinf(tree->ClosestUnsigned(Vec3::Zero(), -1).distance_m));
}

/// The sign at queries about a mesh agrees with the winding number; returns how many were inside,
/// or -1 when the mesh is open or in pieces. (Pieces that overlap have walls inside one another:
/// sign by the nearest wall and by counting then differ rightly.)
int ExpectSignOfWindingNumber(const Mesh& mesh, int queries, const std::string& name) {
  const auto tree = MeshTree::Build(mesh).value();
  if (!tree->report().watertight() || tree->report().components > 1) return -1;
  int inside = 0;
  std::mt19937_64 rng(7);
  for (const Vec3& p : Queries(tree->mesh(), queries, rng)) {
    const SignedNearestPoint s = tree->Closest(p);
    if (std::abs(s.distance_m) < 1e-9 * tree->bounds().diagonal_m()) continue;
    const double w = support::BruteWinding(tree->mesh(), p);
    EXPECT_LT(std::abs(w - std::round(w)), 1e-3) << name;
    EXPECT_EQ(s.distance_m < 0, w > 0.5) << name << " at " << p.transpose() << " winding " << w;
    EXPECT_EQ(s.sign_basis, SignBasis::kPseudoNormal);
    inside += w > 0.5;
  }
  return inside;
}

TEST(Closest, SignAgreesWithTheWindingNumberOnOurOwnPropsAndTheBunny) {
  std::vector<handhold::testing::NamedMesh> meshes = handhold::testing::OwnPropMeshes();
  if (std::filesystem::exists(BunnyFile())) {
    meshes.push_back({"bunny", ReadMeshFile(BunnyFile(), {}).value().mesh});
  }
  int closed = 0, inside = 0;
  for (const auto& [name, mesh] : meshes) {
    const int found = ExpectSignOfWindingNumber(mesh, 120, name);
    closed += found >= 0;
    inside += std::max(found, 0);
  }
  EXPECT_GE(closed, 5);  // every one of ours
  EXPECT_GT(inside, 60);
}

TEST(Closest, SignAgreesWithTheWindingNumberOnEveryClosedSharedProp) {
  const std::vector<std::string> files = PropFiles();
  if (files.empty())
    GTEST_SKIP() << "no " << support::SharedDataDir() << "/props: real prop meshes are not checked";
  int closed = 0, inside = 0;
  for (const std::string& file : files) {
    const int found = ExpectSignOfWindingNumber(ReadMeshFile(file, {}).value().mesh, 60, file);
    closed += found >= 0;
    inside += std::max(found, 0);
  }
  EXPECT_GT(closed, 60);
  EXPECT_GT(inside, 300);
}

TEST(Closest, SignIsRightAtEdgesAndCornersOfSpikes) {
  // A spiky star: plain face normals of a nearest corner often point the wrong way, angle-weighted
  // ones never.
  const Mesh star = Grid(16, 9, [](double u, double v) {
    const double r = 0.5 + 0.35 * std::cos(5 * u) * std::cos(3 * v);
    return Vec3((1.2 + r * std::cos(v)) * std::cos(u), (1.2 + r * std::cos(v)) * std::sin(u),
                r * std::sin(v));
  });
  const auto tree = MeshTree::Build(star).value();
  ASSERT_TRUE(tree->report().watertight());
  std::mt19937_64 rng(8);
  int at_corners = 0;
  for (int i = 0; i < 3000; ++i) {
    const Vec3 p = 2.5 * UniformVec(rng);
    const SignedNearestPoint s = tree->Closest(p);
    const double w = support::BruteWinding(tree->mesh(), p);
    ASSERT_EQ(s.distance_m < 0, w > 0.5) << p.transpose();
    for (const Vec3& v : star.vertices) at_corners += (v - s.p_M).norm() < 1e-12;
    // The normal leads from the nearest point to the query, outwards.
    EXPECT_LT((s.p_M + s.distance_m * s.normal_M - p).norm(), 1e-14);
  }
  EXPECT_GT(at_corners, 500);
}

TEST(Closest, TrianglesWithoutAreaDoNotTurnTheSign) {
  // A thin blade whose sharp edge is split by a corner on one side only: a triangle without area
  // closes the gap.
  Mesh blade;
  blade.vertices = {{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}, {0.5, 0.02, -1}, {0.5, -0.02, -1}};
  blade.triangles = {{0, 2, 4}, {2, 1, 4}, {0, 1, 2}, {1, 0, 3}, {0, 4, 3}, {1, 3, 4}};
  const auto tree = MeshTree::Build(blade).value();
  ASSERT_TRUE(tree->report().watertight()) << tree->report().Summary();
  ASSERT_EQ(tree->report().zero_area_triangles, 1u);
  std::mt19937_64 rng(12);
  int judged = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3 p = Vec3(Uniform(rng, 0, 1), 0, 0) + (i % 2 ? 0.5 : 0.02) * UniformVec(rng);
    const double w = support::BruteWinding(tree->mesh(), p);
    const SignedNearestPoint s = tree->Closest(p);
    ASSERT_EQ(s.distance_m < 0, w > 0.5) << p.transpose();
    ASSERT_NEAR(s.normal_M.norm(), 1, 1e-12);
    judged += s.sign_basis == SignBasis::kWindingNumber;
  }
  EXPECT_GT(judged, 100);
}

TEST(Closest, OpenMeshIsJudgedByWindingNumberAndSaysSo) {
  Mesh open = Torus();
  open.triangles.resize(open.triangles.size() - 10);
  const auto tree = MeshTree::Build(open).value();
  ASSERT_FALSE(tree->report().watertight());
  std::mt19937_64 rng(9);
  for (int i = 0; i < 500; ++i) {
    const Vec3 p = 1.6 * UniformVec(rng);
    const double w = support::BruteWinding(tree->mesh(), p);
    EXPECT_NEAR(tree->WindingNumber(p), w, 0.02);
    if (std::abs(w - 0.5) < 0.02) continue;
    const SignedNearestPoint s = tree->Closest(p);
    EXPECT_EQ(s.distance_m < 0, w > 0.5);
    EXPECT_EQ(s.sign_basis, SignBasis::kWindingNumber);
    EXPECT_NEAR(s.normal_M.norm(), 1, 1e-14);
  }
}

// By the surface an open mesh's side is that of the closed one wherever nothing is missing near
// what is nearest, and rims alone ask the winding number.
TEST(Closest, BySurfaceAnOpenMeshHasTheClosedOnesSidesAwayFromItsRims) {
  const Mesh whole = Torus();
  Mesh open = whole;
  for (size_t i = 0; i < open.triangles.size(); i += 40)
    open.triangles.erase(open.triangles.begin() + static_cast<std::ptrdiff_t>(i));
  const auto closed = MeshTree::Build(whole).value(), tree = MeshTree::Build(open).value();
  ASSERT_FALSE(tree->report().watertight());
  ASSERT_EQ(tree->report().inconsistent_edges, 0u);
  std::mt19937_64 rng(10);
  int by_surface = 0, by_winding = 0, on_edges = 0;
  for (const Vec3& p : Queries(open, 3000, rng)) {
    const SignedNearestPoint truth = closed->Closest(p), s = tree->ClosestBySurface(p);
    EXPECT_EQ(closed->ClosestBySurface(p).distance_m, truth.distance_m);
    EXPECT_EQ(std::abs(s.distance_m), std::abs(tree->Closest(p).distance_m));
    if (s.sign_basis == SignBasis::kWindingNumber) {
      ++by_winding;
      EXPECT_EQ(s.distance_m, tree->Closest(p).distance_m);
      continue;
    }
    ++by_surface;
    // What is missing may be nearer in the closed mesh; else the answers are one.
    if (std::abs(truth.distance_m) < std::abs(s.distance_m)) continue;
    EXPECT_EQ(s.distance_m, truth.distance_m);
    const auto& t = open.triangles[s.triangle];
    const Vec3 n = (open.vertices[t[1]] - open.vertices[t[0]])
                       .cross(open.vertices[t[2]] - open.vertices[t[0]])
                       .normalized();
    on_edges += std::abs(n.dot(s.normal_M)) < 1 - 1e-9;
  }
  EXPECT_GT(by_surface, 1500);
  EXPECT_GT(by_winding, 50);
  EXPECT_GT(on_edges, 200);  // not faces alone
}

TEST(Build, TurnsAClosedInsideOutMeshOverAndKeepsCavities) {
  const auto tree = MeshTree::Build(TurnedOver(Torus())).value();
  EXPECT_TRUE(tree->turned_over());
  EXPECT_LT(tree->Closest(Vec3(1, 0, 0)).distance_m, 0);
  // A shell: outer torus and an inner one turned over. The cavity is outside.
  Mesh shell = Torus();
  Mesh inner = TurnedOver(Grid(48, 24, [](double u, double v) {
    return Vec3((1 + 0.2 * std::cos(v)) * std::cos(u), (1 + 0.2 * std::cos(v)) * std::sin(u),
                0.2 * std::sin(v));
  }));
  const auto base = static_cast<std::uint32_t>(shell.vertices.size());
  shell.vertices.insert(shell.vertices.end(), inner.vertices.begin(), inner.vertices.end());
  for (const auto& t : inner.triangles)
    shell.triangles.push_back({t[0] + base, t[1] + base, t[2] + base});
  const auto hollow = MeshTree::Build(shell).value();
  EXPECT_FALSE(hollow->turned_over());
  EXPECT_NEAR(hollow->Closest(Vec3(1, 0, 0)).distance_m, 0.2, 0.01);
  EXPECT_NEAR(hollow->Closest(Vec3(1.3, 0, 0)).distance_m, -0.1, 0.01);
}

TEST(Build, RefusesMeshesThatAreNone) {
  EXPECT_EQ(MeshTree::Build(Mesh{}).error().code, ErrorCode::kCorrupt);
  Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.triangles = {{0, 1, 3}};
  EXPECT_THAT(MeshTree::Build(mesh).error().message, HasSubstr("names vertex 3 of 3"));
  mesh.triangles = {{0, 1, 2}};
  mesh.vertices[1].x() = INFINITY;
  EXPECT_THAT(MeshTree::Build(mesh).error().message, HasSubstr("vertex 1"));
}

TEST(CastRay, EqualsBruteForce) {
  const auto tree = MeshTree::Build(Torus()).value();
  std::mt19937_64 rng(10);
  int hits = 0;
  for (int i = 0; i < 1500; ++i) {
    const Vec3 origin = 1.4 * UniformVec(rng);
    Vec3 direction = UniformVec(rng).normalized();
    if (i % 10 == 0) direction = (i % 20 ? 1.0 : -1.0) * Vec3::Unit(i / 10 % 3);
    const auto truth = support::BruteRay(tree->mesh(), origin, direction);
    const auto hit = tree->CastRay(origin, 3 * direction);
    ASSERT_EQ(hit.has_value(), truth.has_value())
        << origin.transpose() << " towards " << direction.transpose();
    if (!hit) continue;
    ++hits;
    EXPECT_NEAR(hit->distance_m, *truth, 1e-12);
    EXPECT_LT((hit->p_M - origin - hit->distance_m * direction).norm(), 1e-14);
    const bool leaving = tree->Closest(origin).distance_m < 0;
    EXPECT_EQ(hit->normal_M.dot(direction) > 0, leaving);
    EXPECT_FALSE(tree->CastRay(origin, direction, hit->distance_m * 0.999));
    EXPECT_TRUE(tree->CastRay(origin, direction, hit->distance_m * 1.001));
  }
  EXPECT_GT(hits, 400);
}

TEST(CastRay, NothingSlipsThroughEdgesAndCorners) {
  // From inside a closed ball, straight at every corner, edge middle and along every axis.
  const Mesh torus = Torus(20, 10);
  const auto tree = MeshTree::Build(torus).value();
  const Vec3 inside(1, 0, 0);
  for (const auto& t : torus.triangles) {
    for (int k = 0; k < 3; ++k) {
      const Vec3 &a = torus.vertices[t[k]], &b = torus.vertices[t[(k + 1) % 3]];
      EXPECT_TRUE(tree->CastRay(inside, a - inside));
      EXPECT_TRUE(tree->CastRay(inside, 0.5 * (a + b) - inside));
    }
  }
  for (int k = 0; k < 3; ++k) {
    EXPECT_TRUE(tree->CastRay(inside, Vec3::Unit(k)));
    EXPECT_TRUE(tree->CastRay(inside, -Vec3::Unit(k)));
  }
}

// A bound that holds changes no bit; one that is too small finds nothing.
TEST(Closest, ABoundPrunesAndNeverChangesTheAnswer) {
  std::mt19937_64 rng(41);
  const auto tree = MeshTree::Build(Torus()).value();
  int none = 0;
  for (const Vec3& p : Queries(tree->mesh(), 600, rng)) {
    const SignedNearestPoint free = tree->Closest(p);
    for (const double share : {1.0 + 1e-9, 1.5, 0.5}) {
      const double bound = share * std::abs(free.distance_m);
      const SignedNearestPoint bounded = tree->Closest(p, bound);
      if (bound < std::abs(free.distance_m)) {
        EXPECT_TRUE(std::isinf(bounded.distance_m));
        ++none;
      } else {
        EXPECT_EQ(bounded.distance_m, free.distance_m);
        EXPECT_EQ(bounded.triangle, free.triangle);
        EXPECT_EQ((bounded.p_M - free.p_M).norm(), 0.0);
      }
    }
    const Vec3 q = p + 0.3 * UniformVec(rng);
    const SegmentNearest segment = tree->ClosestToSegment(p, q);
    EXPECT_EQ(tree->ClosestToSegment(p, q, segment.distance_m * (1 + 1e-9)).distance_m,
              segment.distance_m);
    if (segment.distance_m > 1e-6) {
      EXPECT_TRUE(std::isinf(tree->ClosestToSegment(p, q, 0.9 * segment.distance_m).distance_m));
    }
  }
  EXPECT_GT(none, 400);
}

TEST(ClosestToSegment, IsTheLeastOverTheSegment) {
  const auto tree = MeshTree::Build(Torus()).value();
  std::mt19937_64 rng(11);
  int cutting = 0;
  for (int i = 0; i < 400; ++i) {
    const Vec3 a = 1.5 * UniformVec(rng), b = i % 10 == 0 ? a : Vec3(a + 0.5 * UniformVec(rng));
    const SegmentNearest s = tree->ClosestToSegment(a, b);
    constexpr int kSamples = 400;
    double least = 1e9;
    for (int k = 0; k <= kSamples; ++k)
      least = std::min(least, tree->ClosestUnsigned(a + k / double{kSamples} * (b - a)).distance_m);
    EXPECT_LE(s.distance_m, least + 1e-14);
    EXPECT_GE(s.distance_m, least - 0.5 * (b - a).norm() / kSamples - 1e-14);
    const Vec3 on_segment = a + s.t * (b - a);
    EXPECT_NEAR((on_segment - s.p_M).norm(), s.distance_m, 1e-12);
    EXPECT_LT(tree->ClosestUnsigned(s.p_M).distance_m, 1e-13);
    const bool cuts =
        tree->CastRay(a, b - a + Vec3(1e-300, 0, 0), (b - a).norm()).has_value() && a != b;
    if (cuts) {
      EXPECT_EQ(s.distance_m, 0.0);
    }
    cutting += cuts;
  }
  EXPECT_GT(cutting, 30);
}

TEST(Kernels, BaselineIsAlwaysThereAndThePreferredOneIsTheLast) {
  const auto kernels = internal::AvailableKernels();
  ASSERT_FALSE(kernels.empty());
  EXPECT_EQ(kernels.front().name, "baseline");
#if defined(__x86_64__)
  EXPECT_EQ(kernels.back().name, __builtin_cpu_supports("avx2") ? "avx2" : "baseline");
#endif
}

}  // namespace
}  // namespace handhold::geometry::mesh_tree_test

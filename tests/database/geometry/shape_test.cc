// Shapes against independent truths: membership predicates, dense samples of their surfaces, and
// each other.
#include "database/geometry/shape.h"

#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>

#include "database/base/units.h"

namespace handhold::geometry::shape_test {
namespace {

using ::testing::HasSubstr;

Mesh BoxMesh(const Vec3& size) {
  Mesh m;
  for (int i = 0; i < 8; ++i) {
    m.vertices.push_back(0.5 * Vec3(i & 1 ? size.x() : -size.x(), i & 2 ? size.y() : -size.y(),
                                    i & 4 ? size.z() : -size.z()));
  }
  m.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                 {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return m;
}

struct Case {
  const char* name;
  Shape shape;
  bool (*contains)(const Vec3&);
  std::vector<Vec3> surface;  // dense samples, spacing below 2 mm
};

std::vector<Vec3> Disk(double r, double z) {
  std::vector<Vec3> out;
  for (double a = 0; a < 2 * kPi; a += 0.02) {
    for (double rho = 0; rho <= r; rho += r / 40)
      out.emplace_back(rho * std::cos(a), rho * std::sin(a), z);
  }
  return out;
}

std::vector<Vec3> Tube(double r, double length, bool round_ends) {
  std::vector<Vec3> out;
  for (double a = 0; a < 2 * kPi; a += 0.02) {
    for (double z = -0.5 * length; z <= 0.5 * length; z += 0.001)
      out.emplace_back(r * std::cos(a), r * std::sin(a), z);
    for (double e = 0; round_ends && e <= kPi / 2; e += 0.02) {
      const Vec3 p(r * std::cos(e) * std::cos(a), r * std::cos(e) * std::sin(a),
                   r * std::sin(e) + 0.5 * length);
      out.push_back(p);
      out.emplace_back(p.x(), p.y(), -p.z());
    }
  }
  return out;
}

std::vector<Vec3> BoxSurface(const Vec3& size) {
  std::vector<Vec3> out;
  for (int axis = 0; axis < 3; ++axis) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int side : {-1, 1}) {
      for (int i = 0; i <= 60; ++i) {
        for (int j = 0; j <= 60; ++j) {
          Vec3 p;
          p[axis] = side * 0.5 * size[axis];
          p[u] = (i / 60.0 - 0.5) * size[u];
          p[v] = (j / 60.0 - 0.5) * size[v];
          out.push_back(p);
        }
      }
    }
  }
  return out;
}

std::vector<Case> Cases() {
  const Vec3 size(0.03, 0.05, 0.07);
  std::vector<Vec3> cylinder = Tube(0.02, 0.06, false);
  for (const double z : {-0.03, 0.03}) {
    for (const Vec3& p : Disk(0.02, z)) cylinder.push_back(p);
  }
  const auto in_box = [](const Vec3& p) {
    return std::abs(p.x()) < 0.015 && std::abs(p.y()) < 0.025 && std::abs(p.z()) < 0.035;
  };
  return {
      {"sphere", Sphere{0.03}, [](const Vec3& p) { return p.squaredNorm() < 0.03 * 0.03; },
       Tube(0.03, 0, true)},
      {"capsule", Capsule{0.01, 0.04},
       [](const Vec3& p) {
         const double dz = std::max(0.0, std::abs(p.z()) - 0.02);
         return p.x() * p.x() + p.y() * p.y() + dz * dz < 1e-4;
       },
       Tube(0.01, 0.04, true)},
      {"box", Box{size}, in_box, BoxSurface(size)},
      {"cylinder", Cylinder{0.02, 0.06},
       [](const Vec3& p) { return p.x() * p.x() + p.y() * p.y() < 4e-4 && std::abs(p.z()) < 0.03; },
       cylinder},
      {"hull", MakeConvexHull(BoxMesh(size).vertices).value(), in_box, BoxSurface(size)},
      {"mesh", MakeTriangleMesh(BoxMesh(size)).value(), in_box, BoxSurface(size)},
  };
}

Vec3 RandomIn(std::mt19937_64& rng, double half) {
  std::uniform_real_distribution<double> u(-half, half);
  const double x = u(rng), y = u(rng), z = u(rng);
  return {x, y, z};
}

TEST(SignedDistance, SignAgreesWithMembershipAndDistanceWithDenseSamples) {
  std::mt19937_64 rng(1);
  for (const Case& c : Cases()) {
    for (int i = 0; i < 60; ++i) {
      const Vec3 p = RandomIn(rng, 0.06);
      const SurfacePoint s = SignedDistance(c.shape, p);
      EXPECT_EQ(s.distance_m < 0, c.contains(p)) << c.name;
      double sampled = 1e9;
      for (const Vec3& q : c.surface) sampled = std::min(sampled, (q - p).norm());
      // The nearest sample is no nearer than the surface, and beyond it by at most the sample
      // spacing.
      EXPECT_LE(std::abs(s.distance_m), sampled + 1e-12) << c.name;
      EXPECT_GE(std::abs(s.distance_m), sampled - 0.0015) << c.name;
    }
  }
}

TEST(SignedDistance, NearestPointLiesOnTheSurfaceAlongTheNormal) {
  std::mt19937_64 rng(2);
  for (const Case& c : Cases()) {
    for (int i = 0; i < 500; ++i) {
      const Vec3 p = RandomIn(rng, i < 250 ? 0.05 : 5.0);
      const SurfacePoint s = SignedDistance(c.shape, p);
      EXPECT_NEAR(s.normal_S.norm(), 1.0, 1e-14) << c.name;
      EXPECT_LT((s.p_S + s.distance_m * s.normal_S - p).norm(), 1e-15 * (1 + p.norm())) << c.name;
      EXPECT_LT(std::abs(SignedDistance(c.shape, s.p_S).distance_m), 1e-15) << c.name;
    }
  }
}

TEST(SignedDistance, NormalIsTheGradient) {
  std::mt19937_64 rng(3);
  for (const Case& c : Cases()) {
    int compared = 0;
    for (int i = 0; i < 300; ++i) {
      const Vec3 p = RandomIn(rng, 0.06);
      const double h = 1e-6;
      Vec3 gradient;
      for (int k = 0; k < 3; ++k) {
        const Vec3 step = h * Vec3::Unit(k);
        gradient[k] = (SignedDistance(c.shape, p + step).distance_m -
                       SignedDistance(c.shape, p - step).distance_m) /
                      (2 * h);
      }
      if (std::abs(gradient.norm() - 1) > 1e-3) continue;  // across the medial axis there is none
      ++compared;
      EXPECT_LT((gradient - SignedDistance(c.shape, p).normal_S).norm(), 1e-3) << c.name;
    }
    EXPECT_GT(compared, 280) << c.name;
  }
}

TEST(SignedDistance, DegeneratePointsGetTheStatedAnswer) {
  const SurfacePoint centre = SignedDistance(Sphere{2.0}, Vec3::Zero());
  EXPECT_EQ(centre.distance_m, -2.0);
  EXPECT_EQ(centre.normal_S, Vec3(Vec3::UnitZ()));
  const SurfacePoint axis = SignedDistance(Capsule{1.0, 4.0}, Vec3(0, 0, 2));
  EXPECT_EQ(axis.distance_m, -1.0);
  EXPECT_EQ(axis.normal_S, Vec3(Vec3::UnitX()));
  EXPECT_EQ(axis.p_S, Vec3(1, 0, 2));
  const SurfacePoint cube = SignedDistance(Box{Vec3(2, 2, 2)}, Vec3::Zero());
  EXPECT_EQ(cube.normal_S, Vec3(Vec3::UnitX()));
  EXPECT_EQ(SignedDistance(Box{Vec3(2, 2, 2)}, Vec3(0, -0.5, 0.5)).normal_S, Vec3(0, -1, 0));
  const SurfacePoint corner = SignedDistance(Box{Vec3(2, 2, 2)}, Vec3(1, 1, 1));
  EXPECT_EQ(corner.distance_m, 0.0);
  EXPECT_EQ(corner.normal_S, Vec3(Vec3::UnitX()));
  EXPECT_EQ(SignedDistance(Cylinder{1, 4}, Vec3::Zero()).normal_S, Vec3(Vec3::UnitX()));
  EXPECT_EQ(SignedDistance(Cylinder{1, 2}, Vec3::Zero()).normal_S, Vec3(Vec3::UnitZ()));
  EXPECT_EQ(SignedDistance(Cylinder{1, 2}, Vec3(1, 0, 1)).normal_S, Vec3(Vec3::UnitZ()));
  // Next to the surface, where squares underflow.
  const SurfacePoint tiny = SignedDistance(Sphere{1.0}, Vec3(0, 1e-200, 0));
  EXPECT_EQ(tiny.normal_S, Vec3(Vec3::UnitY()));
}

TEST(SignedDistance, MeshOnItsSurfaceAnswersAnOutwardNormal) {
  const Shape mesh = MakeTriangleMesh(BoxMesh({2, 2, 2})).value();
  for (const Vec3& p :
       {Vec3(1, 0.2, 0.3), Vec3(1, 1, 0.1), Vec3(1, 1, 1), Vec3(-1, -1, 1), Vec3(0, 0, -1)}) {
    const SurfacePoint s = SignedDistance(mesh, p);
    EXPECT_LT(std::abs(s.distance_m), 1e-15);
    EXPECT_NEAR(s.normal_S.norm(), 1, 1e-15);
    EXPECT_GT(s.normal_S.dot(p), 0.5);
  }
  // The vertex pseudo-normal of a cube's corner is its diagonal: angle weights make it independent
  // of the triangulation.
  EXPECT_LT((SignedDistance(mesh, Vec3(1, 1, 1)).normal_S - Vec3::Ones().normalized()).norm(),
            1e-14);
}

TEST(Bounds, AreTight) {
  for (const Case& c : Cases()) {
    Bounds sampled;
    for (const Vec3& p : c.surface) sampled.Include(p);
    const Bounds b = BoundsOf(c.shape);
    EXPECT_LT((b.min - sampled.min).cwiseAbs().maxCoeff(), 3e-4) << c.name;
    EXPECT_LT((b.max - sampled.max).cwiseAbs().maxCoeff(), 3e-4) << c.name;
    EXPECT_TRUE((b.min.array() <= sampled.min.array() + 1e-15).all()) << c.name;
  }
}

TEST(CheckShape, NamesTheShapeAndTheProblem) {
  EXPECT_TRUE(CheckShape(Capsule{1, 0}));
  for (const Shape& bad : std::vector<Shape>{Sphere{0}, Sphere{-1}, Sphere{std::nan("")},
                                             Capsule{1, -1}, Box{Vec3(1, 0, 1)},
                                             Cylinder{1, INFINITY}, ConvexHull{}, TriangleMesh{}}) {
    const Status s = CheckShape(bad);
    ASSERT_FALSE(s);
    EXPECT_THAT(s.error().message, HasSubstr(std::string(ShapeKind(bad))));
  }
}

TEST(Union, PlateWithASunkCylinderIsTheBumpedPlate) {
  // 4 mm of a cylinder of radius 52 mm stand out of the plate: 40 mm wide at plate level.
  const RigidTransform lying{AxisAngle<double>(Vec3::UnitX(), kPi / 2), Vec3(0, 0, -0.048)};
  const std::vector<PosedShape> plate = {
      {Box{Vec3(0.3, 0.2, 0.02)}, RigidTransform::Translation({0, 0, -0.01})},
      {Cylinder{0.052, 0.2}, lying}};
  const UnionPoint top = SignedDistanceToUnion(plate, Vec3(0, 0.01, 0.010));
  EXPECT_EQ(top.index, 1u);
  EXPECT_NEAR(top.point.distance_m, 0.006, 1e-15);
  EXPECT_LT((top.point.normal_S - Vec3::UnitZ()).norm(), 1e-14);
  const UnionPoint flat = SignedDistanceToUnion(plate, Vec3(0.06, 0, 0.001));
  EXPECT_EQ(flat.index, 0u);
  EXPECT_NEAR(flat.point.distance_m, 0.001, 1e-15);
  EXPECT_NEAR(SignedDistanceToUnion(plate, Vec3(0.020, 0, 0)).point.distance_m, 0.0, 1e-12);
}

TEST(ConvexHull, OfABoxWithPointsInsideAndOnItsFacesIsTheBox) {
  std::mt19937_64 rng(4);
  const Box box{Vec3(0.03, 0.05, 0.07)};
  std::vector<Vec3> points = BoxMesh(box.size_m).vertices;
  for (int i = 0; i < 300; ++i) {
    Vec3 p = RandomIn(rng, 0.5).cwiseProduct(box.size_m);
    if (i % 2) p[i % 3] = (i % 4 == 1 ? 0.5 : -0.5) * box.size_m[i % 3];
    points.push_back(p);
  }
  const Shape hull = MakeConvexHull(points).value();
  for (int i = 0; i < 300; ++i) {
    const Vec3 p = RandomIn(rng, 0.06);
    EXPECT_NEAR(SignedDistance(hull, p).distance_m, SignedDistance(box, p).distance_m, 1e-11);
  }
}

TEST(ConvexHull, ContainsItsPointsAndIsConvex) {
  std::mt19937_64 rng(5);
  std::normal_distribution<double> gauss;
  for (int round = 0; round < 20; ++round) {
    std::vector<Vec3> points;
    const Vec3 offset = RandomIn(rng, 100);
    for (int i = 0; i < 200; ++i) {
      Vec3 p(gauss(rng), gauss(rng), gauss(rng));
      if (round % 3 == 1) p.normalize();                // all on a sphere
      if (round % 3 == 2) p = (p * 2).array().round();  // a grid: many coplanar and repeated points
      points.push_back(0.01 * p + offset);
    }
    const ConvexHull hull = MakeConvexHull(points).value();
    EXPECT_TRUE(hull.surface->report().watertight());
    EXPECT_EQ(hull.surface->report().components, 1u);
    for (const auto& t : hull.surface->mesh().triangles) {
      const auto& v = hull.surface->mesh().vertices;
      const Vec3 n = (v[t[1]] - v[t[0]]).cross(v[t[2]] - v[t[0]]).normalized();
      for (const Vec3& p : points) ASSERT_LE(n.dot(p - v[t[0]]), 1e-9 * 0.1) << round;
    }
  }
}

TEST(ConvexHull, OfNearlyFlatPointsContainsThemOrIsRefused) {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> u(-1, 1);
  int made = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const double thickness = std::pow(10.0, -1.0 * static_cast<double>(trial % 12));
    std::vector<Vec3> points;
    for (int i = 0; i < 4 + trial % 30; ++i) {
      const double x = u(rng), y = u(rng), z = thickness * u(rng);
      points.emplace_back(x, y, z);
    }
    const auto hull = MakeConvexHull(points);
    if (!hull) continue;
    ++made;
    for (const Vec3& p : points) {
      ASSERT_LE(SignedDistance(*hull, p).distance_m, 1e-7) << "trial " << trial;
    }
  }
  EXPECT_GT(made, 2500);
}

TEST(ConvexHull, RefusesFlatAndTooFewPoints) {
  std::vector<Vec3> flat;
  for (int i = 0; i < 20; ++i) flat.emplace_back(std::cos(i), std::sin(i), 0.3 * std::cos(i));
  EXPECT_THAT(MakeConvexHull(flat).error().message, HasSubstr("one plane"));
  EXPECT_FALSE(MakeConvexHull(std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}));
  EXPECT_FALSE(MakeConvexHull(std::vector<Vec3>(10, Vec3(1, 2, 3))));
  flat.emplace_back(0, std::nan(""), 0);
  EXPECT_FALSE(MakeConvexHull(flat));
}

}  // namespace
}  // namespace handhold::geometry::shape_test

// Distances of round shapes to everything, against a search over the axis that trusts only
// SignedDistance, and against cases one can work out by hand.
#include "database/geometry/distance.h"

#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>

#include "database/base/units.h"

namespace handhold::geometry::distance_test {
namespace {

Vec3 RandomVec3(std::mt19937_64& rng, double sigma) {
  std::normal_distribution<double> gauss(0, sigma);
  const double x = gauss(rng), y = gauss(rng), z = gauss(rng);
  return {x, y, z};
}

RigidTransform RandomPose(std::mt19937_64& rng, double spread) {
  const Vec3 w = RandomVec3(rng, 1.5);
  return {Exp<double>(w), RandomVec3(rng, spread)};
}

/// A torus, 2 x n x n triangles: neither convex nor without a hole.
Mesh Torus(double ring, double tube, int n) {
  Mesh m;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double u = 2 * kPi * i / n, v = 2 * kPi * j / n;
      m.vertices.emplace_back((ring + tube * std::cos(v)) * std::cos(u),
                              (ring + tube * std::cos(v)) * std::sin(u), tube * std::sin(v));
    }
  }
  const auto at = [&](int i, int j) { return static_cast<std::uint32_t>((i % n) * n + j % n); };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      m.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      m.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  return m;
}

std::vector<Shape> Others() {
  std::vector<Vec3> wedge = {{0, 0, 0},    {0.06, 0, 0},    {0, 0.04, 0},
                             {0, 0, 0.05}, {0.06, 0, 0.05}, {0, 0.04, 0.05}};
  return {Sphere{0.02},
          Capsule{0.01, 0.04},
          Box{Vec3(0.03, 0.05, 0.07)},
          Cylinder{0.02, 0.06},
          MakeConvexHull(wedge).value(),
          MakeTriangleMesh(Torus(0.03, 0.012, 24)).value()};
}

/// Least signed distance along the capsule's axis by a fine search; never below the truth.
double Searched(const Capsule& capsule, const RigidTransform& X_WA, const Shape& b,
                const RigidTransform& X_WB) {
  const auto f = [&](double t) {
    return SignedDistance(b, X_WB.Inverse() * (X_WA * Vec3(0, 0, (t - 0.5) * capsule.length_m)))
        .distance_m;
  };
  double best = 1e9, at = 0;
  for (int i = 0; i <= 200; ++i) {
    const double d = f(i / 200.0);
    if (d < best) best = d, at = i / 200.0;
  }
  for (double width = 1 / 200.0; width > 1e-10; width *= 0.5) {
    for (const double t : {at - width, at + width}) {
      if (t < 0 || t > 1) continue;
      const double d = f(t);
      if (d < best) best = d, at = t;
    }
  }
  return best - capsule.radius_m;
}

TEST(Distance, OfACapsuleIsTheLeastAlongItsAxis) {
  std::mt19937_64 rng(1);
  const Capsule finger{0.008, 0.03};
  int apart = 0, touching = 0, deep = 0;
  for (const Shape& other : Others()) {
    const bool mesh = std::holds_alternative<TriangleMesh>(other);
    for (int i = 0; i < 150; ++i) {
      const RigidTransform X_WA = RandomPose(rng, i % 2 ? 0.04 : 0.012),
                           X_WB = RandomPose(rng, 0.01);
      const ShapeDistance d = Distance(finger, X_WA, other, X_WB).value();
      const double expected = Searched(finger, X_WA, other, X_WB);
      const bool axis_enters = expected < -finger.radius_m;
      EXPECT_LE(d.distance_m, expected + (axis_enters && mesh ? 2e-5 : 1e-11)) << ShapeKind(other);
      EXPECT_GE(d.distance_m, expected - (mesh ? 1e-6 : 1e-11)) << ShapeKind(other);
      ++(d.distance_m > 0 ? apart : axis_enters ? deep : touching);
    }
  }
  EXPECT_GT(apart, 100);
  EXPECT_GT(touching, 100);
  EXPECT_GT(deep, 100);
}

TEST(Distance, WitnessesLieOnBothSurfacesAlongTheNormal) {
  std::mt19937_64 rng(2);
  for (const Shape& round : std::vector<Shape>{Sphere{0.01}, Capsule{0.008, 0.03}}) {
    for (const Shape& other : Others()) {
      for (int i = 0; i < 60; ++i) {
        const RigidTransform X_WA = RandomPose(rng, 0.05), X_WB = RandomPose(rng, 0.02);
        const ShapeDistance d = Distance(round, X_WA, other, X_WB).value();
        EXPECT_NEAR(d.normal_W.norm(), 1, 1e-13);
        EXPECT_LT((d.p_WA - d.p_WB - d.distance_m * d.normal_W).norm(), 1e-14) << ShapeKind(other);
        // Where the axis itself is inside the other shape the normal may lean along it: then p_WA
        // lies within A.
        const double on_a = SignedDistance(round, X_WA.Inverse() * d.p_WA).distance_m;
        EXPECT_LT(on_a, 1e-12) << ShapeKind(other);
        if (d.distance_m > -0.008) {
          EXPECT_GT(on_a, -1e-12) << ShapeKind(other);
        }
        EXPECT_LT(std::abs(SignedDistance(other, X_WB.Inverse() * d.p_WB).distance_m), 1e-12)
            << ShapeKind(other);
        // Exchanged, the pair exchanges and the normal turns over.
        const ShapeDistance e = Distance(other, X_WB, round, X_WA).value();
        EXPECT_NEAR(e.distance_m, d.distance_m, 1e-13);
        if (std::abs(d.distance_m) > 1e-3 && other.index() > 1) {
          EXPECT_LT((e.normal_W + d.normal_W).norm(), 1e-9);
        }
      }
    }
  }
}

TEST(Distance, CasesByHand) {
  const RigidTransform I;
  const auto at = [](double x, double y, double z) {
    return RigidTransform::Translation({x, y, z});
  };
  // A fingertip 2 mm above a table, then pressed 1 mm in: the normal points out of the table
  // towards the finger.
  const Box table{Vec3(1, 1, 0.1)};
  const ShapeDistance above = Distance(Sphere{0.008}, at(0.1, 0.2, 0.06), table, I).value();
  EXPECT_NEAR(above.distance_m, 0.002, 1e-15);
  EXPECT_LT((above.normal_W - Vec3::UnitZ()).norm(), 1e-15);
  EXPECT_LT((above.p_WB - Vec3(0.1, 0.2, 0.05)).norm(), 1e-15);
  const ShapeDistance pressed = Distance(Sphere{0.008}, at(0.1, 0.2, 0.057), table, I).value();
  EXPECT_NEAR(pressed.distance_m, -0.001, 1e-15);
  EXPECT_LT((pressed.normal_W - Vec3::UnitZ()).norm(), 1e-15);
  // A capsule lying flat answers with its middle.
  const RigidTransform lying{AxisAngle<double>(Vec3::UnitY(), kPi / 2), Vec3(0, 0, 0.06)};
  const ShapeDistance flat = Distance(Capsule{0.01, 0.04}, lying, table, I).value();
  EXPECT_NEAR(flat.distance_m, 0, 1e-15);
  EXPECT_LT((flat.p_WB - Vec3(0, 0, 0.05)).norm(), 1e-15);
  // Parallel capsules side by side: the middle again; crossing axes: full depth along the common
  // perpendicular.
  const ShapeDistance side =
      Distance(Capsule{0.01, 0.04}, at(0.03, 0, 0), Capsule{0.005, 1.0}, I).value();
  EXPECT_NEAR(side.distance_m, 0.015, 1e-15);
  EXPECT_LT((side.p_WA - Vec3(0.02, 0, 0)).norm(), 1e-15);
  const ShapeDistance crossed =
      Distance(Capsule{0.01, 0.04}, {AxisAngle<double>(Vec3::UnitX(), kPi / 2), Vec3::Zero()},
               Capsule{0.005, 1}, I)
          .value();
  EXPECT_NEAR(crossed.distance_m, -0.015, 1e-15);
  EXPECT_NEAR(std::abs(crossed.normal_W.x()), 1, 1e-15);
  // Concentric spheres.
  EXPECT_NEAR(Distance(Sphere{0.01}, I, Sphere{0.02}, I).value().distance_m, -0.03, 1e-15);
}

TEST(Distance, CapsuleThroughTheHoleOfARingTouchesNothing) {
  // The mesh is not replaced by its hull: an axis through the hole of a torus is 18 mm from it.
  const Shape ring = MakeTriangleMesh(Torus(0.03, 0.012, 64)).value();
  const ShapeDistance d =
      Distance(Capsule{0.005, 0.2}, RigidTransform::Identity(), ring, RigidTransform::Identity())
          .value();
  // The hole of the mesh is a polygon whose sides are as near as its inscribed circle.
  EXPECT_NEAR(d.distance_m, 0.018 * std::cos(kPi / 64) - 0.005, 1e-12);
  // Through the tube the axis enters: penetrating by more than the radius.
  const ShapeDistance through =
      Distance(Capsule{0.005, 0.2}, RigidTransform::Translation({0.03, 0, 0}), ring,
               RigidTransform::Identity())
          .value();
  EXPECT_NEAR(through.distance_m, -0.005 - 0.012, 1e-4);
}

TEST(Distance, BetweenTwoFlatShapesIsUnsupported) {
  const auto d = Distance(Box{Vec3::Ones()}, {}, Cylinder{1, 1}, {});
  ASSERT_FALSE(d);
  EXPECT_EQ(d.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace handhold::geometry::distance_test

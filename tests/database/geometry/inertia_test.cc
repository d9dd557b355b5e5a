// Mass properties against integration over random points, against each other, and against textbook
// values.
#include "database/geometry/inertia.h"

#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>

#include "database/base/units.h"

namespace handhold::geometry::inertia_test {
namespace {

using ::testing::HasSubstr;

/// Halton sequence: integrals of smooth-bounded solids to about 1e-4 with 2e5 points.
double Halton(int i, int base) {
  double f = 1, r = 0;
  for (; i > 0; i /= base) {
    f /= base;
    r += f * (i % base);
  }
  return r;
}

/// Mass properties by counting points for which SignedDistance is negative: shares no formula with
/// MassOf.
MassProperties ByCounting(const Shape& shape, double density) {
  const Bounds box = BoundsOf(shape);
  const Vec3 size = box.max - box.min;
  constexpr int kPoints = 100000;
  std::vector<Vec3> inside;
  for (int i = 1; i <= kPoints; ++i) {
    const Vec3 p = box.min + size.cwiseProduct(Vec3(Halton(i, 2), Halton(i, 3), Halton(i, 5)));
    if (SignedDistance(shape, p).distance_m < 0) inside.push_back(p);
  }
  MassProperties m;
  const double each = density * size.prod() / kPoints;
  for (const Vec3& p : inside) m.p_BCom += p / static_cast<double>(inside.size());
  for (const Vec3& p : inside) {
    const Vec3 r = p - m.p_BCom;
    m.mass_kg += each;
    m.I_BCom_B += each * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
  }
  return m;
}

Mesh Wedge() {
  Mesh m;
  m.vertices = {{0, 0, 0},    {0.06, 0, 0},    {0, 0.04, 0},
                {0, 0, 0.05}, {0.06, 0, 0.05}, {0, 0.04, 0.05}};
  m.triangles = {{0, 2, 1}, {3, 4, 5}, {0, 1, 4}, {0, 4, 3},
                 {1, 2, 5}, {1, 5, 4}, {2, 0, 3}, {2, 3, 5}};
  return m;
}

void ExpectClose(const MassProperties& a, const MassProperties& b, double relative,
                 const std::string& what) {
  const double length = std::sqrt(b.I_BCom_B.trace() / b.mass_kg);
  EXPECT_NEAR(a.mass_kg, b.mass_kg, relative * b.mass_kg) << what;
  EXPECT_LT((a.p_BCom - b.p_BCom).norm(), relative * length) << what;
  EXPECT_LT((a.I_BCom_B - b.I_BCom_B).norm(), relative * b.I_BCom_B.norm()) << what << "\n"
                                                                            << a.I_BCom_B << "\n"
                                                                            << b.I_BCom_B;
}

TEST(MassOf, AgreesWithCountingPointsInside) {
  const std::vector<Shape> shapes = {Sphere{0.03},
                                     Capsule{0.01, 0.05},
                                     Box{Vec3(0.03, 0.05, 0.07)},
                                     Cylinder{0.02, 0.07},
                                     MakeConvexHull(Wedge().vertices).value(),
                                     MakeTriangleMesh(Wedge()).value()};
  for (const Shape& shape : shapes) {
    const MassProperties m = MassOf(shape, 800).value();
    EXPECT_TRUE(CheckMass(m));
    ExpectClose(m, ByCounting(shape, 800), 5e-3, std::string(ShapeKind(shape)));
  }
}

TEST(MassOf, BoxOfThePaperHasItsTextbookValues) {
  // 3 x 5 x 7 cm, 12 g.
  const MassProperties m = WithTotalMass(MassOf(Box{Vec3(0.03, 0.05, 0.07)}, 1).value(), 0.012);
  EXPECT_NEAR(m.I_BCom_B(0, 0), 0.012 / 12 * (25e-4 + 49e-4), 1e-18);
  EXPECT_NEAR(m.I_BCom_B(2, 2), 0.012 / 12 * (9e-4 + 25e-4), 1e-18);
  EXPECT_NEAR(MassOf(Sphere{0.1}, 1000).value().mass_kg, 4.1887902047863905, 1e-14);
}

TEST(MassOf, MeshEqualsHullAndIsUnchangedFarFromTheOrigin) {
  const MassProperties m = MassOf(MakeTriangleMesh(Wedge()).value(), 500).value();
  EXPECT_NEAR(m.mass_kg, 500 * 0.5 * 0.06 * 0.04 * 0.05, 1e-15);
  EXPECT_LT((m.p_BCom - Vec3(0.02, 0.04 / 3, 0.025)).norm(), 1e-15);
  ExpectClose(MassOf(MakeConvexHull(Wedge().vertices).value(), 500).value(), m, 1e-12, "hull");
  Mesh far = Wedge();
  const Vec3 offset(1000, -2000, 500);
  for (Vec3& v : far.vertices) v += offset;
  MassProperties moved = MassOf(MakeTriangleMesh(far).value(), 500).value();
  moved.p_BCom -= offset;
  ExpectClose(moved, m, 1e-9, "far away");
  // Inside out: the tree turns it over.
  ExpectClose(MassOf(MakeTriangleMesh(TurnedOver(Wedge())).value(), 500).value(), m, 1e-12,
              "turned over");
}

TEST(MassOf, OpenMeshIsRefusedUnlessTheHullIsAskedFor) {
  Mesh open = Wedge();
  open.triangles.pop_back();
  const Shape shape = MakeTriangleMesh(open).value();
  const auto refused = MassOf(shape, 500);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("3 boundary edges"));
  ExpectClose(MassOf(shape, 500, OpenMesh::kUseHull).value(),
              MassOf(MakeTriangleMesh(Wedge()).value(), 500).value(), 1e-12, "hull");
  Mesh disagreeing = Wedge();
  std::swap(disagreeing.triangles[0][0], disagreeing.triangles[0][1]);
  EXPECT_THAT(MassOf(MakeTriangleMesh(disagreeing).value(), 500).error().message,
              HasSubstr("disagree"));
}

TEST(MassOf, RejectsBadDensityAndShape) {
  for (const double density : {0.0, -1.0, std::nan("")}) EXPECT_FALSE(MassOf(Sphere{1}, density));
  EXPECT_FALSE(MassOf(Box{Vec3(1, -1, 1)}, 1));
}

TEST(Composed, OfTwoHalvesIsTheWhole) {
  const double density = 700;
  const MassProperties half = MassOf(Box{Vec3(0.02, 0.05, 0.07)}, density).value();
  const std::vector<MassProperties> parts = {
      Transformed(RigidTransform::Translation({-0.01, 0, 0}), half),
      Transformed(RigidTransform::Translation({0.01, 0, 0}), half)};
  ExpectClose(Composed(parts), MassOf(Box{Vec3(0.04, 0.05, 0.07)}, density).value(), 1e-14,
              "two halves");
  // A hole: the whole less one half is the other half.
  MassProperties hole = parts[1];
  hole.mass_kg = -hole.mass_kg;
  hole.I_BCom_B = -hole.I_BCom_B;
  const std::vector<MassProperties> with_hole = {
      MassOf(Box{Vec3(0.04, 0.05, 0.07)}, density).value(), hole};
  ExpectClose(Composed(with_hole), parts[0], 1e-12, "hole");
  EXPECT_EQ(Composed({}).mass_kg, 0);
}

TEST(Transformed, EqualsTheMassOfTheMovedMesh) {
  const RigidTransform X{Exp<double>(Vec3(0.3, -1.2, 0.8)), Vec3(0.1, 0.2, -0.3)};
  Mesh moved = Wedge();
  for (Vec3& v : moved.vertices) v = X * v;
  ExpectClose(Transformed(X, MassOf(MakeTriangleMesh(Wedge()).value(), 500).value()),
              MassOf(MakeTriangleMesh(moved).value(), 500).value(), 1e-12, "moved");
}

TEST(ScaledLengths, EqualsTheMassOfTheScaledMesh) {
  Mesh big = Wedge();
  for (Vec3& v : big.vertices) v *= 1.3;
  ExpectClose(ScaledLengths(MassOf(MakeTriangleMesh(Wedge()).value(), 500).value(), 1.3),
              MassOf(MakeTriangleMesh(big).value(), 500).value(), 1e-12, "scaled");
}

TEST(SpatialInertia, GivesTheKineticEnergyOfTheMovingBody) {
  const MassProperties m = Transformed({Exp<double>(Vec3(1, 2, 3)), Vec3(0.1, 0.2, -0.3)},
                                       MassOf(Cylinder{0.1, 0.5}, 900).value());
  Vec6 twist;
  twist << 0.3, -0.4, 0.7, 1.1, -0.2, 0.5;
  const Vec3 omega = twist.head<3>(), v_com = twist.tail<3>() + omega.cross(m.p_BCom);
  const double energy = 0.5 * m.mass_kg * v_com.squaredNorm() + 0.5 * omega.dot(m.I_BCom_B * omega);
  EXPECT_NEAR(0.5 * twist.dot(SpatialInertia(m) * twist), energy, 1e-12 * energy);
}

TEST(CheckMass, RefusesWhatNoBodyHas) {
  const MassProperties good = MassOf(Box{Vec3(1, 2, 3)}, 1).value();
  EXPECT_TRUE(CheckMass(good));
  EXPECT_FALSE(CheckMass(MassProperties{}));
  MassProperties bad = good;
  bad.I_BCom_B.diagonal() = Vec3(1, 1, 3);
  EXPECT_THAT(CheckMass(bad).error().message, HasSubstr("sum of the other two"));
  bad = good;
  bad.I_BCom_B(0, 1) = 0.5;
  EXPECT_THAT(CheckMass(bad).error().message, HasSubstr("symmetric"));
  bad = good;
  bad.I_BCom_B(1, 1) = -1;
  EXPECT_FALSE(CheckMass(bad));
  // A point, a line, and a thread that is thin but not infinitely so: 20 cm long, 10 um thick.
  bad.I_BCom_B.setZero();
  EXPECT_THAT(CheckMass(bad).error().message, HasSubstr("a point has none"));
  bad.I_BCom_B.diagonal() = Vec3(0, 1, 1);
  EXPECT_THAT(CheckMass(bad).error().message, HasSubstr("infinitely thin rod"));
  bad.I_BCom_B =
      Exp<double>(Vec3(0.3, -1, 2)) * bad.I_BCom_B * Exp<double>(Vec3(0.3, -1, 2)).transpose();
  bad.I_BCom_B = (0.5 * (bad.I_BCom_B + bad.I_BCom_B.transpose())).eval();
  EXPECT_THAT(CheckMass(bad).error().message, HasSubstr("infinitely thin rod"));
  EXPECT_TRUE(CheckMass(MassOf(Cylinder{5e-6, 0.2}, 1000).value()));
  bad = good;
  bad.p_BCom.x() = std::nan("");
  EXPECT_FALSE(CheckMass(bad));
}

}  // namespace
}  // namespace handhold::geometry::inertia_test

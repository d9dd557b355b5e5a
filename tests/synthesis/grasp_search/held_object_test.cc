#include "synthesis/grasp_search/held_object.h"

#include <gtest/gtest.h>

#include <random>

namespace handhold::synthesis::held_object_test {
namespace {

using geometry::Vec3;

model::Prop PropOf(geometry::Shape shape, const geometry::RigidTransform& X = {}) {
  model::Prop prop;
  prop.name = "thing";
  prop.shapes.push_back({"shape", X, std::move(shape), ""});
  return prop;
}

/// A cube of 60 mm as triangles, without `left_out` of its twelve.
geometry::Mesh Cube(int left_out = -1) {
  geometry::Mesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.emplace_back(i & 1 ? 0.03 : -0.03, i & 2 ? 0.03 : -0.03, i & 4 ? 0.03 : -0.03);
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  if (left_out >= 0) mesh.triangles.erase(mesh.triangles.begin() + left_out);
  return mesh;
}

TEST(HeldObject, DistancesAreTheShapesOwnAndTheBoundPrunes) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> u(-0.06, 0.06);
  const geometry::RigidTransform X{geometry::Exp<double>(Vec3(0.2, 0.4, -0.3)),
                                   Vec3(0.01, 0, 0.02)};
  const geometry::Shape mesh = *geometry::MakeTriangleMesh(Cube());
  for (const geometry::Shape& shape :
       {geometry::Shape(geometry::Box{Vec3::Constant(0.06)}), mesh}) {
    const HeldObject object = *HeldObject::Build(PropOf(shape, X));
    for (int i = 0; i < 300; ++i) {
      const Vec3 p(u(random), u(random), u(random));
      const geometry::SurfacePoint truth =
          geometry::SignedDistance(geometry::Box{Vec3::Constant(0.06)}, X.Inverse() * p);
      const HeldObject::Answer answer = object.Closest(p);
      EXPECT_NEAR(answer.distance_m, truth.distance_m, 1e-12);
      EXPECT_LT((p - answer.p_P - answer.distance_m * answer.normal_P).norm(), 1e-9);
      const double bound = std::abs(truth.distance_m);
      EXPECT_EQ(object.Closest(p, bound * 1.001 + 1e-12).distance_m, answer.distance_m);
      EXPECT_TRUE(std::isinf(object.Closest(p, bound * 0.999 - 1e-12).distance_m));
    }
  }
}

// The side from the face's normal is that of the closed cube, but where the hole is.
TEST(HeldObject, AnOpenMeshIsSignedByItsFaces) {
  const HeldObject open = *HeldObject::Build(PropOf(*geometry::MakeTriangleMesh(Cube(11))));
  EXPECT_FALSE(open.watertight());
  std::mt19937 random(3);
  std::uniform_real_distribution<double> u(-0.05, 0.05);
  int asked = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec3 p(u(random), u(random), u(random));
    if (p.x() > 0.0) continue;  // the hole is at x = 0.03
    const geometry::SurfacePoint truth =
        geometry::SignedDistance(geometry::Box{Vec3::Constant(0.06)}, p);
    EXPECT_NEAR(open.Closest(p).distance_m, truth.distance_m, 1e-12);
    ++asked;
  }
  EXPECT_GT(asked, 200);
}

TEST(HeldObject, AUnionIsTheNearestOfItsParts) {
  model::Prop prop =
      PropOf(geometry::Sphere{0.02}, geometry::RigidTransform::Translation(Vec3(0.1, 0, 0)));
  prop.shapes.push_back({"box", {}, geometry::Box{Vec3::Constant(0.04)}, ""});
  const HeldObject object = *HeldObject::Build(prop);
  EXPECT_NEAR(object.Closest(Vec3(0.1, 0, 0.05)).distance_m, 0.03, 1e-12);
  EXPECT_NEAR(object.Closest(Vec3(0.03, 0, 0)).distance_m, 0.01, 1e-12);
  EXPECT_NEAR(object.Closest(Vec3(0.1, 0, 0.001)).distance_m, -0.019, 1e-12);
}

TEST(HeldObject, SamplesLieOnThePlaceAskedForAndKnowTheThickness) {
  model::Prop prop = PropOf(geometry::Box{Vec3(0.06, 0.04, 0.02)});
  prop.grasp_regions.push_back({"end", Vec3(0.03, 0, 0), 0.012, -Vec3::UnitX(), ""});
  const HeldObject all = *HeldObject::Build(prop);
  int on_top = 0;
  for (const SurfaceSample& s : all.Sample(400, 7)) {
    const double wide = std::abs(s.normal_P.dot(Vec3(0.06, 0.04, 0.02)));
    EXPECT_NEAR(s.thickness_m, wide, 1e-6);
    EXPECT_NEAR(s.far_wall, 1.0, 1e-9);
    EXPECT_NEAR(all.Closest(s.p_P).distance_m, 0, 1e-12);
    EXPECT_NEAR(s.along_P.dot(s.normal_P), 0, 1e-12);
    on_top += std::abs(s.normal_P.z()) > 0.9;
  }
  EXPECT_NEAR(on_top / 400.0, 48.0 / 88.0, 0.07);  // by area
  const HeldObject end = *HeldObject::Build(prop, {.region = "end"});
  const auto samples = end.Sample(100, 7);
  EXPECT_EQ(samples.size(), 100u);
  for (const SurfaceSample& s : samples) EXPECT_LE((s.p_P - Vec3(0.03, 0, 0)).norm(), 0.012);
  EXPECT_TRUE(end.InPlace(Vec3(0.03, 0.01, 0)));
  EXPECT_FALSE(end.InPlace(Vec3(0, 0, 0.01)));
  EXPECT_EQ(HeldObject::Build(prop, {.region = "ends"}).error().code, ErrorCode::kNotFound);
  // Nothing there: no samples, no fault.
  EXPECT_TRUE(HeldObject::Build(prop, {.point_P = Vec3(1, 1, 1)})->Sample(10, 1).empty());
}

TEST(HeldObject, FacesOfAMeshAreAPlace) {
  const geometry::Shape mesh = *geometry::MakeTriangleMesh(Cube());
  const HeldObject top = *HeldObject::Build(PropOf(mesh), {.faces = {2, 3}});
  for (const SurfaceSample& s : top.Sample(50, 1)) EXPECT_NEAR(s.p_P.z(), 0.03, 1e-12);
  EXPECT_TRUE(top.InPlace(Vec3(0.01, 0, 0.03)));
  EXPECT_FALSE(top.InPlace(Vec3(0.01, 0, -0.03)));
  EXPECT_EQ(HeldObject::Build(PropOf(mesh), {.faces = {12}}).error().code, ErrorCode::kInvalid);
  // A box has no numbered faces.
  EXPECT_EQ(
      HeldObject::Build(PropOf(geometry::Box{Vec3::Constant(0.06)}), {.faces = {1}}).error().code,
      ErrorCode::kInvalid);
}

TEST(HeldObject, ACylindersSurfaceBendsLeastAlongItsAxis) {
  const HeldObject object = *HeldObject::Build(PropOf(geometry::Cylinder{0.02, 0.3}));
  for (const SurfaceSample& s : object.Sample(60, 3)) {
    if (std::abs(s.normal_P.z()) > 0.5 || std::abs(s.p_P.z()) > 0.1) continue;
    EXPECT_GT(std::abs(s.along_P.z()), 0.9);
  }
}

TEST(HeldObject, ProxiesStayNearAndSubdivisionKeepsTheSurface) {
  geometry::Mesh fine = Cube();
  for (int i = 0; i < 4; ++i) fine = Subdivided(fine);
  EXPECT_EQ(fine.triangles.size(), 12u * 256);
  EXPECT_TRUE(geometry::InspectMesh(fine).watertight());
  EXPECT_NEAR(geometry::InspectMesh(fine).signed_volume_m3, 0.06 * 0.06 * 0.06, 1e-12);
  const geometry::Mesh proxy = Proxy(fine, 600);
  EXPECT_LE(proxy.triangles.size(), 600u);
  EXPECT_GE(proxy.triangles.size(), 200u);
  EXPECT_TRUE(geometry::InspectMesh(proxy).watertight());
  EXPECT_NEAR(geometry::InspectMesh(proxy).signed_volume_m3, 0.06 * 0.06 * 0.06, 4e-5);
}

}  // namespace
}  // namespace handhold::synthesis::held_object_test

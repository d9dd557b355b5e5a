#include "synthesis/regrasp/surface_sample.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::synthesis::surface_sample_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

model::Prop Of(geometry::Shape shape, const RigidTransform& X_PS = {}) {
  model::Prop prop;
  prop.name = "thing";
  prop.shapes.push_back({"it", X_PS, std::move(shape), "test"});
  return prop;
}

geometry::Mesh Tetrahedron() {
  return {{{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}},
          {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
}

TEST(SampleSurface, PointsLieOnEveryKindOfShapeWithNormalsOutwards) {
  const RigidTransform X{geometry::Exp(Vec3(0.3, 0.2, 0.1)), Vec3(0.1, 0.2, 0.3)};
  const geometry::Shape shapes[] = {
      geometry::Sphere{0.03}, geometry::Capsule{0.02, 0.05}, geometry::Box{Vec3(0.02, 0.04, 0.06)},
      geometry::Cylinder{0.03, 0.08}, geometry::MakeTriangleMesh(Tetrahedron()).value()};
  for (const geometry::Shape& shape : shapes) {
    const model::Prop prop = Of(shape, X);
    const auto samples = SampleSurface(prop, 200, 3);
    ASSERT_TRUE(samples);
    ASSERT_EQ(samples->size(), 200u);
    for (const PropSurfacePoint& s : *samples) {
      const Vec3 p_S = X.Inverse() * s.p_P;
      EXPECT_NEAR(geometry::SignedDistance(shape, p_S).distance_m, 0.0, 1e-9);
      const Vec3 out_S = X.Inverse() * (s.p_P + 1e-4 * s.normal_P);
      EXPECT_NEAR(geometry::SignedDistance(shape, out_S).distance_m, 1e-4, 1e-6)
          << geometry::ShapeKind(shape);
    }
  }
}

TEST(SampleSurface, ByAreaAndTheSameForASeed) {
  // A box whose two large faces have 90.9 % of the area.
  const model::Prop plate = Of(geometry::Box{Vec3(0.2, 0.2, 0.01)});
  const auto samples = SampleSurface(plate, 4000, 1);
  int large = 0;
  for (const PropSurfacePoint& s : *samples) large += std::abs(s.normal_P.z()) > 0.9;
  EXPECT_NEAR(large / 4000.0, 0.08 / 0.088, 0.02);
  const auto again = SampleSurface(plate, 4000, 1), other = SampleSurface(plate, 4000, 2);
  EXPECT_EQ((*samples)[7].p_P, (*again)[7].p_P);
  EXPECT_NE((*samples)[7].p_P, (*other)[7].p_P);
}

TEST(SampleSurface, WhatLiesInAnotherShapeIsNoSurface) {
  model::Prop prop = Of(geometry::Sphere{0.05});
  prop.shapes.push_back({"inside", {}, geometry::Sphere{0.04}, "test"});
  for (const PropSurfacePoint& s : *SampleSurface(prop, 100, 1))
    EXPECT_NEAR(s.p_P.norm(), 0.05, 1e-9);
  EXPECT_EQ(SampleSurface(model::Prop(), 10, 1).error().code, ErrorCode::kInvalid);
}

TEST(ThicknessAt, IsTheWayThroughAUnion) {
  model::Prop prop = Of(geometry::Box{Vec3(0.02, 0.1, 0.1)});
  EXPECT_NEAR(ThicknessAt(prop, {Vec3(0.01, 0, 0), Vec3::UnitX()}, 0.2), 0.02, 1e-3);
  prop.shapes.push_back({"beside", RigidTransform::Translation(Vec3(-0.015, 0, 0)),
                         geometry::Box{Vec3(0.02, 0.1, 0.1)}, "test"});
  EXPECT_NEAR(ThicknessAt(prop, {Vec3(0.01, 0, 0), Vec3::UnitX()}, 0.2), 0.035, 1e-3);
  EXPECT_EQ(ThicknessAt(prop, {Vec3(0.01, 0, 0), Vec3::UnitX()}, 0.03), 0.03);
}

TEST(RunsAlong, ACylindersAxisAndNothingOfASphere) {
  const auto cylinder = SampleSurface(Of(geometry::Cylinder{0.02, 0.2}), 1500, 1);
  const auto along = RunsAlong(*cylinder, Vec3::Zero(), Vec3::UnitX(), 0.08);
  ASSERT_TRUE(along);
  EXPECT_GT(std::abs(along->z()), 0.99);
  EXPECT_NEAR(along->x(), 0.0, 1e-12);
  const auto sphere = SampleSurface(Of(geometry::Sphere{0.04}), 1500, 1);
  EXPECT_FALSE(RunsAlong(*sphere, Vec3::Zero(), Vec3::UnitX(), 0.08));
}

TEST(CandidateRandom, IsEvenAndItsOwnPerCandidate) {
  double sum = 0.0, square = 0.0;
  for (int k = 0; k < 1000; ++k) {
    const double u = CandidateRandom(7, static_cast<std::uint64_t>(k)).Unit();
    EXPECT_GE(u, 0.0);
    EXPECT_LT(u, 1.0);
    sum += u, square += u * u;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.03);
  EXPECT_NEAR(square / 1000, 1.0 / 3, 0.03);
}

}  // namespace
}  // namespace handhold::synthesis::surface_sample_test

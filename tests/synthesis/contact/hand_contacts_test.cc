#include "synthesis/contact/hand_contacts.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chain_hands.h"

namespace handhold::synthesis {
namespace {

using geometry::Vec3;

// One segment of 0.1 m from a base at height `z`, straight along X, tip of 6 mm radius.
HandContactSet Generate(const model::Prop& prop, double base_z_m, double base_x_m = 0.0) {
  const model::Skeleton hand = testing::ChainHand({0.1}, 0.006, Vec3(base_x_m, 0, base_z_m));
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, hand.ZeroConfiguration(), &data);
  const PlacedProp placed{&prop, geometry::RigidTransform::Identity(), -1, -1.0};
  return GenerateContacts(hand, data, {&placed, 1}, {}).value();
}

TEST(HandContactsTest, ATipAboveAPlateHasItsSeparationAndTheOutwardNormal) {
  const HandContactSet contacts = Generate(testing::Plate(0.7, 2e-4), 0.008);
  ASSERT_EQ(contacts.size(), 1u);
  EXPECT_NEAR(contacts[0].separation_m, 0.002, 1e-12);
  EXPECT_NEAR((contacts[0].normal_W - Vec3::UnitZ()).norm(), 0, 1e-12);
  EXPECT_NEAR((contacts[0].p_W - Vec3(0.1, 0, 0)).norm(), 0, 1e-12);
  EXPECT_EQ(contacts[0].body, 1);
  EXPECT_EQ(contacts[0].friction, 0.7);
  EXPECT_EQ(contacts[0].surface_compliance_m_per_N, 2e-4);
}

TEST(HandContactsTest, InterpenetrationIsNegativeAndFarAwayIsNothing) {
  EXPECT_NEAR(Generate(testing::Plate(0.5, 0), 0.0055)[0].separation_m, -0.0005, 1e-12);
  EXPECT_TRUE(Generate(testing::Plate(0.5, 0), 0.0115).empty());
}

// The bumped plate: a cylinder of radius 52 mm along Y sunk so that 4 mm stand out.
model::Prop BumpedPlate() {
  model::Prop prop = testing::Plate(0.5, 0);
  model::PropShape bump;
  bump.name = "bump";
  bump.shape = geometry::Cylinder{0.052, 0.4};
  bump.X_PS.R = geometry::AxisAngle<double>(Vec3::UnitX(), M_PI / 2);
  bump.X_PS.p = Vec3(0, 0, 0.004 - 0.052);
  prop.shapes.push_back(bump);
  return prop;
}

TEST(HandContactsTest, OnTopOfTheBumpOnlyTheBumpIsTouched) {
  const HandContactSet contacts = Generate(BumpedPlate(), 0.010, -0.1);  // tip over x = 0
  ASSERT_EQ(contacts.size(), 1u);
  EXPECT_NEAR(contacts[0].separation_m, 0.0, 1e-9);
  EXPECT_NEAR(contacts[0].p_W.z(), 0.004, 1e-9);
}

TEST(HandContactsTest, InTheCreaseBothSurfacesAreTouched) {
  // 4 mm high and 52 mm round: the bump leaves the plate at x = sqrt(52^2 - 48^2) = 20 mm. Further
  // out than 21.3 mm the nearest point of the cylinder lies below the plate, on no surface.
  const HandContactSet contacts = Generate(BumpedPlate(), 0.0062, -0.1 + 0.021);
  ASSERT_EQ(contacts.size(), 2u);
  EXPECT_NE(contacts[0].feature, contacts[1].feature);
}

TEST(HandContactsTest, ShapesItCannotUseAreNamed) {
  model::SkeletonDraft draft = testing::ChainHand({0.1}, 0.006).draft();
  model::BodyShape box;
  box.name = "nail";
  box.shape = geometry::Box{Vec3(0.01, 0.01, 0.001)};
  draft.bodies[0].shapes.push_back(box);
  EXPECT_THAT(UnusableHandShapes(model::Skeleton::Build(draft).value()),
              ::testing::ElementsAre("segment0/nail"));
}

}  // namespace
}  // namespace handhold::synthesis

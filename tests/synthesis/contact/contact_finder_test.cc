#include "synthesis/contact/contact_finder.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chain_hands.h"

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

Collider Ball(const ContactSide& side, double radius_m) {
  return {.side = side, .shape = geometry::Sphere{radius_m}};
}

// A ball on each kind of side: link, body, fixed.
struct ThreeBalls {
  std::vector<RigidTransform> link = {RigidTransform::Identity(), RigidTransform::Identity()};
  RigidTransform body;
  ContactPoses poses;
  ContactFinder finder;
  ThreeBalls() {
    poses.trees.push_back(link);
    poses.bodies.push_back(&body);
    EXPECT_EQ(finder.Add(Ball(ContactSide::Fixed(), 0.02)).value(), 0);
    EXPECT_EQ(finder.Add(Ball(ContactSide::Body(0), 0.02)).value(), 1);
    EXPECT_EQ(finder.Add(Ball(ContactSide::Link(0, 1), 0.01)).value(), 2);
  }
};

TEST(ContactFinder, TheHandComesFirstThenTheBodyThenWhatIsFixed) {
  ThreeBalls scene;
  scene.body.p = Vec3(0.041, 0, 0);
  scene.link[1].p = Vec3(0.041, 0, 0.0305);
  ContactSet contacts;
  ASSERT_TRUE(scene.finder.Find(scene.poses, 5e-3, &contacts));
  ASSERT_EQ(contacts.size(), 2u);
  const auto& on_fixed = contacts[0].b.fixed() ? contacts[0] : contacts[1];
  const auto& on_hand = contacts[0].b.fixed() ? contacts[1] : contacts[0];
  EXPECT_EQ(on_fixed.a, ContactSide::Body(0));
  EXPECT_NEAR(on_fixed.separation_m, 0.001, 1e-12);
  EXPECT_NEAR((on_fixed.normal_W - Vec3::UnitX()).norm(), 0, 1e-12);
  EXPECT_NEAR((on_fixed.p_W - Vec3(0.02, 0, 0)).norm(), 0, 1e-12);
  EXPECT_EQ(on_hand.a, ContactSide::Link(0, 1));
  EXPECT_EQ(on_hand.b, ContactSide::Body(0));
  EXPECT_NEAR(on_hand.separation_m, 0.0005, 1e-12);
  EXPECT_NEAR((on_hand.normal_W - Vec3::UnitZ()).norm(), 0, 1e-12);
  EXPECT_EQ(on_hand.law.stiffness_N_per_m, 5000.0);
  EXPECT_EQ(on_hand.law.friction, 0.5);
}

TEST(ContactFinder, MasksAndIgnoredSidesKeepThingsApart) {
  ThreeBalls scene;
  scene.body.p = Vec3(0.039, 0, 0);
  ContactSet contacts;
  ASSERT_TRUE(scene.finder.Find(scene.poses, 1e-3, &contacts));
  EXPECT_EQ(contacts.size(), 2u);  // body and link both overlap the fixed ball, not one another
  scene.finder.Ignore(ContactSide::Fixed(), ContactSide::Link(0, 1));
  ASSERT_TRUE(scene.finder.Find(scene.poses, 1e-3, &contacts));
  ASSERT_EQ(contacts.size(), 1u);
  EXPECT_EQ(contacts[0].a, ContactSide::Body(0));
  Collider shy = Ball(ContactSide::Body(0), 0.1);
  shy.meets = 2;
  ASSERT_TRUE(scene.finder.Add(shy));
  ASSERT_TRUE(scene.finder.Find(scene.poses, 1e-3, &contacts));
  EXPECT_EQ(contacts.size(), 1u);
}

// One segment of 0.1 m from a base at height `z`, straight along X, tip of 6 mm radius.
ContactSet Tip(const model::Prop& prop, double base_z_m, double base_x_m = 0.0) {
  const model::Skeleton hand = testing::ChainHand({0.1}, 0.006, Vec3(base_x_m, 0, base_z_m));
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, hand.ZeroConfiguration(), &data);
  ContactFinder finder;
  EXPECT_TRUE(finder.AddSkeleton(hand, 0));
  EXPECT_TRUE(finder.AddProp(prop, ContactSide::Fixed()));
  ContactPoses poses;
  poses.trees.push_back(data.X_WB);
  ContactSet contacts;
  EXPECT_TRUE(finder.Find(poses, 5e-3, &contacts));
  return contacts;
}

TEST(ContactFinder, ATipAboveAPlateHasItsSeparationAndTheOutwardNormal) {
  const ContactSet contacts = Tip(testing::Plate(0.7, 2e-4), 0.008);
  ASSERT_EQ(contacts.size(), 1u);
  EXPECT_NEAR(contacts[0].separation_m, 0.002, 1e-12);
  EXPECT_NEAR((contacts[0].normal_W - Vec3::UnitZ()).norm(), 0, 1e-12);
  EXPECT_NEAR((contacts[0].p_W - Vec3(0.1, 0, 0)).norm(), 0, 1e-12);
  EXPECT_EQ(contacts[0].a, ContactSide::Link(0, 1));
  EXPECT_EQ(contacts[0].law.friction, 0.7);
  EXPECT_NEAR(contacts[0].law.compliance_m_per_N(), 2e-4, 1e-18);
  EXPECT_NEAR(Tip(testing::Plate(0.5, 0), 0.0055)[0].separation_m, -0.0005, 1e-12);
  EXPECT_TRUE(Tip(testing::Plate(0.5, 0), 0.0115).empty());
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

TEST(ContactFinder, OnTopOfTheBumpOnlyTheBumpIsTouchedAndInTheCreaseBoth) {
  const ContactSet top = Tip(BumpedPlate(), 0.010, -0.1);  // tip over x = 0
  ASSERT_EQ(top.size(), 1u);
  EXPECT_NEAR(top[0].separation_m, 0.0, 1e-9);
  EXPECT_NEAR(top[0].p_W.z(), 0.004, 1e-9);
  // 4 mm high and 52 mm round: the bump leaves the plate at x = sqrt(52^2 - 48^2) = 20 mm. Further
  // out than 21.3 mm the nearest point of the cylinder lies below the plate, on no surface.
  const ContactSet crease = Tip(BumpedPlate(), 0.0062, -0.1 + 0.021);
  ASSERT_EQ(crease.size(), 2u);
  EXPECT_NE(crease[0].feature, crease[1].feature);
}

TEST(ContactFinder, ShapesOfAHandThatItCannotUseAreNamed) {
  model::SkeletonDraft draft = testing::ChainHand({0.1}, 0.006).draft();
  model::BodyShape box;
  box.name = "nail";
  box.shape = geometry::Box{Vec3(0.01, 0.01, 0.001)};
  draft.bodies[0].shapes.push_back(box);
  ContactFinder finder;
  EXPECT_THAT(finder.AddSkeleton(model::Skeleton::Build(draft).value(), 0).value(),
              ::testing::ElementsAre("segment0/nail"));
}

TEST(ContactFinder, OfTwoSurfacesTheSofterHolds) {
  const SurfaceLaw soft{.friction = 0.3, .stiffness_N_per_m = 1000},
      hard{.friction = 0.9, .stiffness_N_per_m = kRigid_N_per_m};
  EXPECT_EQ(LawOf(soft, hard).friction, 0.3);
  EXPECT_EQ(LawOf(hard, soft).friction, 0.3);
  EXPECT_EQ(LawOf(hard, std::nullopt).compliance_m_per_N(), 0.0);
  EXPECT_EQ(LawOf(std::nullopt, std::nullopt).stiffness_N_per_m, 5000.0);
}

}  // namespace
}  // namespace handhold::synthesis

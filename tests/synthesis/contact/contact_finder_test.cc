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

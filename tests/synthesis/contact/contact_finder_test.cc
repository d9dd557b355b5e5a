#include "synthesis/contact/contact_finder.h"

#include <cmath>
#include <filesystem>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/chain_hands.h"
#include "tests/support/paths.h"

namespace handhold::synthesis::contact_finder_test {
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

// A capsule lying on a plate: one point, or three where asked; the ends keep their names when one
// lifts.
TEST(ContactFinder, ACapsulesEndsAreFoundWhereAsked) {
  RigidTransform body = RigidTransform::Translation(Vec3(0, 0, 0.0099));
  body.R = geometry::AxisAngle<double>(Vec3::UnitY(), M_PI / 2);
  ContactPoses poses;
  poses.bodies.push_back(&body);
  for (const int points : {0, 3}) {
    ContactFinder finder;
    ASSERT_TRUE(finder.Add({.side = ContactSide::Body(0),
                            .shape = geometry::Capsule{0.01, 0.05},
                            .max_points = points}));
    ASSERT_TRUE(finder.Add({.side = ContactSide::Fixed(),
                            .shape = geometry::Box{Vec3(1, 1, 0.1)},
                            .X_BS = RigidTransform::Translation(Vec3(0, 0, -0.05))}));
    ContactSet flat, tilted;
    ASSERT_TRUE(finder.Find(poses, 2e-3, &flat));
    ASSERT_EQ(flat.size(), points == 0 ? 1u : 3u);
    for (const Contact& c : flat) EXPECT_NEAR(c.separation_m, -1e-4, 1e-9);
    const geometry::Mat3 R = body.R;
    body.R = geometry::AxisAngle<double>(Vec3::UnitY(), 0.02) * R;
    ASSERT_TRUE(finder.Find(poses, 2e-3, &tilted));
    body.R = R;
    if (points == 0) continue;
    ASSERT_EQ(tilted.size(), 2u);  // the low end is the nearest point; the middle one is gone
    for (const Contact& c : tilted) {
      bool known = false;
      for (const Contact& f : flat) {
        if (f.feature == c.feature) {
          known = true;
          EXPECT_LT((f.p_W - c.p_W).norm(), 2e-3);
        }
      }
      EXPECT_TRUE(known);
    }
  }
}

// A capsule that lies on a face and over its edge, and trembles: its nearest point jumps from one
// end of where it lies to the other; where it may go over it stays between them.
TEST(ContactFinder, TheContactOfACapsuleThatLiesOnAFaceGoesOverWithoutJumps) {
  const auto touch = [](double goes_over_m, double tilt_rad) {
    RigidTransform body;
    ContactPoses poses;
    poses.bodies.push_back(&body);
    ContactFinder finder;
    EXPECT_TRUE(finder.Add({.side = ContactSide::Body(0),
                            .shape = geometry::Capsule{0.008, 0.03},
                            .goes_over_m = goes_over_m}));
    EXPECT_TRUE(finder.Add({.side = ContactSide::Fixed(),
                            .shape = geometry::Box{Vec3(0.1, 0.1, 0.1)},
                            .X_BS = RigidTransform::Translation(Vec3(-0.05, 0, -0.05))}));
    body.R = geometry::AxisAngle<double>(Vec3::UnitY(), M_PI / 2 + tilt_rad);
    body.p = Vec3(0, 0, 0.0079);  // half of it is beyond the edge at x = 0
    ContactSet contacts;
    EXPECT_TRUE(finder.Find(poses, 2e-3, &contacts));
    EXPECT_EQ(contacts.size(), 1u);
    return contacts.front();
  };
  EXPECT_GT((touch(0, 1e-4).p_W - touch(0, -1e-4).p_W).norm(), 0.01);
  EXPECT_LT((touch(1.5e-4, 1e-4).p_W - touch(1.5e-4, -1e-4).p_W).norm(), 5e-4);
  // All the way, by a degree each side: small steps, hardly less deep than the deepest, and at last
  // the nearest point itself.
  Vec3 before = touch(1.5e-4, -0.02).p_W;
  EXPECT_LT((before - touch(0, -0.02).p_W).norm(), 1e-6);
  for (double tilt_rad = -0.02; tilt_rad <= 0.02; tilt_rad += 2e-4) {
    const Contact over = touch(1.5e-4, tilt_rad), nearest = touch(0, tilt_rad);
    EXPECT_LT((over.p_W - before).norm(), 1e-3) << tilt_rad;
    EXPECT_GE(over.separation_m, nearest.separation_m - 1e-9) << tilt_rad;
    EXPECT_LT(over.separation_m, nearest.separation_m + 0.3 * 1.5e-4) << tilt_rad;
    EXPECT_EQ(over.feature, nearest.feature);
    before = over.p_W;
  }
  EXPECT_LT((before - touch(0, 0.02).p_W).norm(), 1e-6);
}

// On a rounded surface, and on its tip, it touches at its nearest point.
TEST(ContactFinder, ACapsuleAcrossABallOrOnItsTipTouchesWhereItIsNearest) {
  RigidTransform body;
  ContactPoses poses;
  poses.bodies.push_back(&body);
  for (const double goes_over_m : {0.0, 1.5e-4}) {
    ContactFinder finder;
    ASSERT_TRUE(finder.Add({.side = ContactSide::Body(0),
                            .shape = geometry::Capsule{0.008, 0.03},
                            .goes_over_m = goes_over_m}));
    ASSERT_TRUE(finder.Add({.side = ContactSide::Fixed(), .shape = geometry::Sphere{0.03}}));
    ContactSet contacts;
    body.R = geometry::AxisAngle<double>(Vec3::UnitY(), M_PI / 2);
    body.p = Vec3(0.002, 0, 0.0379);
    ASSERT_TRUE(finder.Find(poses, 2e-3, &contacts));
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_NEAR(contacts[0].p_W.x(), 0.0, 1e-9);
    body.R.setIdentity();
    body.p = Vec3(0, 0, 0.0529);
    ASSERT_TRUE(finder.Find(poses, 2e-3, &contacts));
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_NEAR(contacts[0].separation_m, -1e-4, 1e-9);
  }
}

// Planks that cross touch along their edges though no corner is over the other.
TEST(ContactFinder, CrossedPlanksTouch) {
  RigidTransform low, high = RigidTransform::Translation(Vec3(0, 0, 0.0195));
  high.R = geometry::AxisAngle<double>(Vec3::UnitZ(), M_PI / 2);
  ContactPoses poses;
  poses.bodies = {&low, &high};
  ContactFinder finder;
  const geometry::Shape plank = geometry::Box{Vec3(0.3, 0.03, 0.02)};
  ASSERT_TRUE(finder.Add({.side = ContactSide::Body(0), .shape = plank}));
  ASSERT_TRUE(finder.Add({.side = ContactSide::Body(1), .shape = plank}));
  ContactSet contacts;
  ASSERT_TRUE(finder.Find(poses, 1e-3, &contacts));
  ASSERT_GE(contacts.size(), 3u);  // not on a line
  double reach_x = 0, reach_y = 0;
  for (const Contact& c : contacts) {
    EXPECT_NEAR(c.separation_m, -5e-4, 1e-9);
    EXPECT_NEAR(std::abs(c.normal_W.z()), 1, 1e-9);
    EXPECT_LT(c.normal_W.z(), 0);  // into a, the low one
    reach_x = std::max(reach_x, std::abs(c.p_W.x()));
    reach_y = std::max(reach_y, std::abs(c.p_W.y()));
  }
  EXPECT_NEAR(reach_x, 0.015, 1e-6);
  EXPECT_NEAR(reach_y, 0.015, 1e-6);
}

// Of boxes whose faces are flush, or nearly, a corner is as near to the other's side as to the face
// on which it lies: it must be held by the face, and by all of it.
TEST(ContactFinder, BoxesThatLieOnOneAnotherFlushTouchWithTheirFaces) {
  const Vec3 size(0.04, 0.03, 0.02);
  const double depth = 2e-4;
  // Flush all round, off by hairs to either side, turned by one, tipped by one, and standing over.
  const double cases[][4] = {{0, 0, 0, 0},    {1e-6, 0, 0, 0}, {-1e-6, 1e-6, 0, 0},
                             {1e-4, 0, 0, 0}, {0, 0, 1e-4, 0}, {0, 0, 0, 1e-3},
                             {1e-2, 0, 0, 0}, {0, -5e-3, 0, 0}};
  for (const auto& [x, y, yaw, tip] : cases) {
    RigidTransform low, high;
    low.R = geometry::AxisAngle<double>(Vec3(1, 2, 0.5).normalized(), 0.7);
    const RigidTransform X_LH{geometry::AxisAngle<double>(Vec3::UnitZ(), yaw) *
                                  geometry::AxisAngle<double>(Vec3::UnitY(), tip),
                              Vec3(x, y, size.z() - depth)};
    high = low * X_LH;
    ContactPoses poses;
    poses.bodies = {&low, &high};
    ContactFinder finder;
    ASSERT_TRUE(finder.Add({.side = ContactSide::Body(0), .shape = geometry::Box{size}}));
    ASSERT_TRUE(finder.Add({.side = ContactSide::Body(1), .shape = geometry::Box{size}}));
    ContactSet contacts;
    ASSERT_TRUE(finder.Find(poses, 1e-3, &contacts));
    Vec3 least = Vec3::Constant(1), most = Vec3::Constant(-1);
    double deepest = 0;
    for (const Contact& c : contacts) {
      const Vec3 n_L = low.R.transpose() * c.normal_W, p_L = low.Inverse() * c.p_W;
      EXPECT_LT(n_L.z(), -0.99) << x << " " << y << " " << yaw << " " << tip;  // into a, the low
      EXPECT_NEAR(c.separation_m, -depth, tip * 0.02 + 1e-9);
      least = least.cwiseMin(p_L), most = most.cwiseMax(p_L);
      deepest = std::min(deepest, c.separation_m);
    }
    // They span what the faces share.
    EXPECT_NEAR((most - least).x(), size.x() - std::abs(x), 2e-4);
    EXPECT_NEAR((most - least).y(), size.y() - std::abs(y), 2e-4);
    EXPECT_NEAR(deepest, -depth - 0.02 * tip, 1e-6);
  }
}

// A cylinder on its side touches along a line that rolls with it, on its head with its rim.
// 64 points spread over a light bulb leave one for its cap, on which it would tip.
TEST(ContactFinder, AMeshStandsOnItsFootHoweverNarrow) {
  const model::Prop bulb = *model::LoadLibraryProp("light_bulb");
  ContactFinder finder;
  ASSERT_TRUE(finder.AddProp(bulb, ContactSide::Body(0)));
  Collider table;
  table.side = ContactSide::Fixed();
  table.shape = geometry::Box{Vec3(1, 1, 0.04)};
  ASSERT_TRUE(finder.Add(table));
  const RigidTransform X_WBulb = RigidTransform::Translation(Vec3(0, 0, 0.078));
  ContactPoses poses;
  poses.bodies.push_back(&X_WBulb);
  poses.fixed.push_back(RigidTransform::Translation(Vec3(0, 0, -0.02)));
  ContactSet contacts;
  ASSERT_TRUE(finder.Find(poses, 1e-3, &contacts));
  ASSERT_GE(contacts.size(), 3u);
  // Its middle is above the area that they span: in no direction are all on one side.
  for (int i = 0; i < 16; ++i) {
    const Vec3 d(std::cos(i * M_PI / 8), std::sin(i * M_PI / 8), 0);
    double farthest_m = 0;
    for (const Contact& c : contacts) farthest_m = std::max(farthest_m, c.p_W.dot(d));
    EXPECT_GT(farthest_m, 0.002) << i;
  }
}

TEST(ContactFinder, ACylinderLiesAndStands) {
  RigidTransform body;
  ContactPoses poses;
  poses.bodies.push_back(&body);
  ContactFinder finder;
  ASSERT_TRUE(finder.Add({.side = ContactSide::Body(0), .shape = geometry::Cylinder{0.03, 0.08}}));
  ASSERT_TRUE(finder.Add({.side = ContactSide::Fixed(),
                          .shape = geometry::Box{Vec3(1, 1, 0.1)},
                          .X_BS = RigidTransform::Translation(Vec3(0, 0, -0.05))}));
  ContactSet contacts;
  for (const double roll : {0.0, 0.1, 0.3, 0.7}) {
    body.R = geometry::AxisAngle<double>(Vec3::UnitX(), M_PI / 2) *
             geometry::AxisAngle<double>(Vec3::UnitZ(), roll);
    body.p = Vec3(0, 0, 0.0299);
    ASSERT_TRUE(finder.Find(poses, 1e-3, &contacts));
    int lowest = 0;
    for (const Contact& c : contacts) lowest += std::abs(c.separation_m + 1e-4) < 1e-9;
    EXPECT_GE(lowest, 2) << roll;  // one at either end
  }
  body.R.setIdentity();
  body.p = Vec3(0, 0, 0.0399);
  ASSERT_TRUE(finder.Find(poses, 1e-3, &contacts));
  EXPECT_EQ(contacts.size(), 4u);
}

// Everything Find leaves out is further away than the margin: against every pair measured, for
// hand27 round every prop of ours and of the laboratory's.
TEST(ContactFinder, CullingLosesNothingOnAnyProp) {
  std::vector<model::Prop> props;
  for (const std::string& name : model::PropNames().value())
    props.push_back(model::LoadLibraryProp(name).value());
  const size_t own = props.size();
  const std::filesystem::path shared = support::SharedDataDir() + "/props";
  if (std::filesystem::exists(shared)) {
    for (const auto& entry : std::filesystem::directory_iterator(shared)) {
      const auto mesh = entry.path() / (entry.path().filename().string() + ".stl");
      if (!std::filesystem::exists(mesh)) continue;
      auto prop = model::PropFromMesh(mesh.string(), 1.0);
      if (prop) props.push_back(std::move(*prop));
    }
    EXPECT_GE(props.size(), own + 10);
  }
  const model::Skeleton hand = model::LoadHand("hand27").value();
  std::mt19937_64 rng(8);
  std::uniform_real_distribution<double> u(-1, 1);
  model::KinematicsData data(hand);
  int contacts_seen = 0, deep = 0;
  for (const model::Prop& prop : props) {
    ContactFinder fast, slow;
    for (ContactFinder* finder : {&fast, &slow}) {
      ASSERT_TRUE(finder->AddSkeleton(hand, 0));
      ASSERT_TRUE(finder->AddProp(prop, ContactSide::Body(0)));
    }
    slow.set_culling(false);
    geometry::Bounds box;
    for (const model::PropShape& shape : prop.shapes) {
      const geometry::Bounds b = geometry::BoundsOf(shape.shape);
      for (int i = 0; i < 8; ++i)
        box.Include(shape.X_PS * Vec3(i & 1 ? b.max.x() : b.min.x(), i & 2 ? b.max.y() : b.min.y(),
                                      i & 4 ? b.max.z() : b.min.z()));
    }
    for (int trial = 0; trial < 4; ++trial) {
      Eigen::VectorXd v = Eigen::VectorXd::Zero(hand.nv());
      for (int d = 6; d < hand.nv(); ++d) v[d] = 0.4 + 0.4 * u(rng);
      model::ComputePoses<double>(hand, hand.Integrate(hand.ZeroConfiguration(), v), &data);
      // The middle of the fingers to a point near the prop, any way round.
      RigidTransform X_WP;
      X_WP.R = geometry::Exp<double>(2 * Vec3(u(rng), u(rng), u(rng)));
      const Vec3 half = 0.5 * (box.max - box.min);
      const Vec3 near = box.centre() + half.cwiseProduct(Vec3(u(rng), u(rng), u(rng)));
      X_WP.p = Vec3(0.12, 0, -0.03) - X_WP.R * near;
      ContactPoses poses;
      poses.trees.push_back(data.X_WB);
      poses.bodies.push_back(&X_WP);
      ContactSet found, all;
      ASSERT_TRUE(fast.Find(poses, 4e-3, &found));
      ASSERT_TRUE(slow.Find(poses, 4e-3, &all));
      ASSERT_EQ(found.size(), all.size()) << prop.name;
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].feature, all[i].feature) << prop.name;
        EXPECT_EQ(found[i].separation_m, all[i].separation_m) << prop.name;
        EXPECT_EQ((found[i].p_W - all[i].p_W).norm(), 0.0) << prop.name;
        deep += found[i].separation_m < -0.005;
      }
      contacts_seen += static_cast<int>(found.size());
      EXPECT_LE(fast.stats().measured, slow.stats().measured);
    }
  }
  EXPECT_GE(contacts_seen, 100);
  EXPECT_GE(deep, 20);
}

TEST(ContactFinder, DoesNotAllocateOnceItHasGrown) {
  const model::Skeleton hand = model::LoadHand("hand27").value();
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, hand.ZeroConfiguration(), &data);
  ContactFinder finder;
  ASSERT_TRUE(finder.AddSkeleton(hand, 0, true));
  const model::Prop mug = model::LoadLibraryProp("mug").value();
  ASSERT_TRUE(finder.AddProp(mug, ContactSide::Body(0)));
  ASSERT_TRUE(finder.Add({.side = ContactSide::Fixed(),
                          .shape = geometry::Box{Vec3(1, 1, 0.1)},
                          .X_BS = RigidTransform::Translation(Vec3(0, 0, -0.13))}));
  RigidTransform X_WP = RigidTransform::Translation(Vec3(0.1, 0, -0.05));
  ContactPoses poses;
  poses.trees.push_back(data.X_WB);
  poses.bodies.push_back(&X_WP);
  ContactSet contacts;
  ASSERT_TRUE(finder.Find(poses, 4e-3, &contacts));
  ASSERT_GE(contacts.size(), 3u);
  const size_t before = testing::AllocationsOfThisThread();
  const bool found = finder.Find(poses, 4e-3, &contacts).has_value();
  EXPECT_EQ(testing::AllocationsOfThisThread(), before);
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace handhold::synthesis::contact_finder_test

#include "synthesis/grasp_search/closing.h"

#include <gtest/gtest.h>

#include "database/geometry/distance.h"
#include "database/model/hand_library.h"

namespace handhold::synthesis::closing_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

struct Scene {
  explicit Scene(geometry::Shape s) : shape(std::move(s)) {
    model::Prop prop;
    prop.name = "thing";
    prop.shapes.push_back({"shape", {}, shape, ""});
    object = *HeldObject::Build(prop);
  }
  // The deepest and nearest of the hand's own capsules, by geometry::Distance.
  double Nearest(const RigidTransform& X_PH, const Eigen::VectorXd& hand_shape, int digit) const {
    model::KinematicsData data(hand.skeleton());
    model::ComputePoses(hand.skeleton(), hand.Configuration(X_PH, hand_shape), &data);
    double least = 1;
    for (const SkinCapsule& c : hand.capsules()) {
      if (digit >= -1 && c.digit != digit) continue;
      const Vec3 a = data.X_WB[static_cast<size_t>(c.body)] * c.a_B,
                 b = data.X_WB[static_cast<size_t>(c.body)] * c.b_B;
      RigidTransform X{Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), (b - a).normalized())
                           .toRotationMatrix(),
                       0.5 * (a + b)};
      least = std::min(
          least, geometry::Distance(geometry::Capsule{c.radius_m, (b - a).norm()}, X, shape, {})
                     ->distance_m);
    }
    return least;
  }
  HandSurface hand = *HandSurface::Build(*model::LoadHand("hand27"));
  geometry::Shape shape;
  HeldObject object = *HeldObject::Build([] {
    model::Prop p;
    p.name = "none";
    p.shapes.push_back({"s", {}, geometry::Sphere{1.0}, ""});
    return p;
  }());
};

// Across the palm as people hold a bar: aslant, farther out on the thumb's side.
const RigidTransform kAcrossPalm{
    Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), Vec3(0.35, 0.94, 0).normalized())
        .toRotationMatrix(),
    Vec3(0.074, 0, -0.05)};

TEST(Closing, ClosesOnACylinderAndEntersNowhere) {
  Scene s(geometry::Cylinder{0.03, 0.3});
  Closer closer(s.hand, s.object);
  RigidTransform X = kAcrossPalm.Inverse();
  Eigen::VectorXd shape = Eigen::VectorXd::Zero(21);
  ASSERT_TRUE(closer.Close({.palm = true}, &X, &shape));
  EXPECT_GT(s.Nearest(X, shape, -2), -0.0006);  // between spheres: 5 % of a radius
  for (int digit = 1; digit < 5; ++digit) EXPECT_LT(s.Nearest(X, shape, digit), 0.0006) << digit;
  EXPECT_LT(s.Nearest(X, shape, -1), 0.001);  // the palm
  EXPECT_EQ(s.hand.BeyondLimits(shape), 0.0);
  EXPECT_LT(closer.SelfContact(X, shape), 0.001);
}

TEST(Closing, PowerWrapsWherePrecisionStops) {
  Scene s(geometry::Cylinder{0.03, 0.3});
  Closer closer(s.hand, s.object);
  RigidTransform X = kAcrossPalm.Inverse(), Y = X;
  Eigen::VectorXd power = Eigen::VectorXd::Zero(21), precision = power;
  ASSERT_TRUE(closer.Close({.palm = true}, &X, &power));
  ASSERT_TRUE(closer.Close({.precision = true, .palm = true}, &Y, &precision));
  EXPECT_GT(closer.Contacts(X, power, 0.001).size(), closer.Contacts(Y, precision, 0.001).size());
}

TEST(Closing, OpensWhatBeginsInside) {
  Scene s(geometry::Sphere{0.035});
  Closer closer(s.hand, s.object);
  RigidTransform X = RigidTransform::Translation(Vec3(-0.08, 0, 0.052));
  Eigen::VectorXd shape = Eigen::VectorXd::Constant(21, 0.0);
  for (const auto& dofs : s.hand.flexion())
    for (const int dof : dofs) shape[dof - 6] = 1.0;
  EXPECT_GT(closer.Penetration(X, shape), 0.005);
  ASSERT_TRUE(closer.Close({}, &X, &shape));
  EXPECT_LT(closer.Penetration(X, shape), 0.0006);
}

TEST(Closing, OnlyTheDigitsAskedForMove) {
  Scene s(geometry::Sphere{0.02});
  Closer closer(s.hand, s.object);
  RigidTransform X = RigidTransform::Translation(Vec3(-0.1, 0, 0.055));
  Eigen::VectorXd shape = Eigen::VectorXd::Constant(21, 0.1);
  shape = s.hand.ClampedToLimits(shape);
  const Eigen::VectorXd before = shape;
  closer.Close({.digits = {true, true, false, false, false}}, &X, &shape);
  for (const int digit : {2, 3, 4})
    for (const int dof : s.hand.flexion()[static_cast<size_t>(digit)])
      EXPECT_EQ(shape[dof - 6], before[dof - 6]);
  EXPECT_GT(shape[s.hand.flexion()[1][0] - 6], 0.1);
}

TEST(Closing, ForceContactsPushIntoTheObject) {
  const std::vector<SkinContact> contacts = {{.p_P = Vec3(0, 0, 0.1), .normal_P = Vec3::UnitZ()}};
  const auto force = ForceContactsOf(contacts, Vec3(0, 0, 0.04), 0.6);
  EXPECT_EQ(force[0].normal_O, -Vec3::UnitZ());
  EXPECT_NEAR(force[0].p_O.z(), 0.06, 1e-15);
  EXPECT_EQ(force[0].friction, 0.6);
}

}  // namespace
}  // namespace handhold::synthesis::closing_test

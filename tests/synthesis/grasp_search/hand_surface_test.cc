#include "synthesis/grasp_search/hand_surface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "database/model/hand_library.h"

namespace handhold::synthesis::hand_surface_test {
namespace {

using geometry::Vec3;

TEST(HandSurface, Hand27HasADenseSkinInThreeGroups) {
  const HandSurface hand = *HandSurface::Build(*model::LoadHand("hand27"));
  EXPECT_EQ(hand.shape_size(), 21);
  EXPECT_EQ(hand.shape_names().front(), "R.thumb.cmc.flex");
  int of_group[3] = {}, of_digit[6] = {};
  for (const SkinSphere& s : hand.fine_spheres()) {
    ++of_group[static_cast<int>(s.group)];
    ++of_digit[s.digit + 1];
  }
  for (const int count : of_group) EXPECT_GT(count, 10);
  for (const int count : of_digit) EXPECT_GT(count, 6);
  // Flexion of each digit from the knuckle out: thumb CMC, MCP, IP; fingers MCP, PIP, DIP.
  for (const auto& dofs : hand.flexion()) EXPECT_EQ(dofs.size(), 3u);
  EXPECT_EQ(hand.skeleton().dof_names()[static_cast<size_t>(hand.flexion()[1][1])],
            "R.index.pip.flex");
}

// Every point of a capsule's axis lies within 0.3 radii of a fine sphere's centre of it, or of the
// sphere that ends the link before.
TEST(HandSurface, FineSpheresLeaveNoGaps) {
  const HandSurface hand = *HandSurface::Build(*model::LoadHand("hand27"));
  model::KinematicsData data(hand.skeleton());
  model::ComputePoses(hand.skeleton(), hand.skeleton().ZeroConfiguration(), &data);
  for (const SkinCapsule& c : hand.capsules()) {
    const auto& X = data.X_WB[static_cast<size_t>(c.body)];
    for (int i = 0; i <= 20; ++i) {
      const Vec3 p = X * Vec3(c.a_B + (c.b_B - c.a_B) * (i / 20.0));
      double nearest = 1;
      for (const SkinSphere& s : hand.fine_spheres())
        nearest = std::min(nearest, (data.X_WB[static_cast<size_t>(s.body)] * s.p_B - p).norm());
      EXPECT_LE(nearest, 0.31 * c.radius_m + 1e-9) << hand.skeleton().body(c.body).name << i;
    }
  }
}

TEST(HandSurface, SelfContactIsNoneInTheOpenHandAndSeenWhereDigitsCross) {
  const HandSurface hand = *HandSurface::Build(*model::LoadHand("hand27"));
  model::KinematicsData data(hand.skeleton());
  Eigen::VectorXd shape = Eigen::VectorXd::Zero(21);
  model::ComputePoses(hand.skeleton(), hand.Configuration({}, shape), &data);
  EXPECT_EQ(hand.SelfContact(data), 0.0);
  // Index and middle finger abducted into each other.
  const auto dof = [&](const char* name) { return hand.skeleton().FindDof(name) - 6; };
  shape[dof("R.index.mcp.abd")] = -0.35;
  shape[dof("R.middle.mcp.abd")] = 0.35;
  model::ComputePoses(hand.skeleton(), hand.Configuration({}, shape), &data);
  EXPECT_GT(hand.SelfContact(data), 0.008);
  EXPECT_EQ(hand.BeyondLimits(shape), std::max(0.0, 0.35 - hand.upper()[dof("R.middle.mcp.abd")]));
}

TEST(HandSurface, SegmentDistanceAgreesWithASearch) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> u(-1, 1);
  const auto point = [&] { return Vec3(u(random), u(random), u(random)); };
  for (int i = 0; i < 50; ++i) {
    const Vec3 a = point(), b = point(), c = point(),
               d = i % 5 == 0 ? Vec3(c + 0.5 * (b - a)) : point();
    double s = 0, t = 0, least = 1e9;
    const double found = SegmentDistance(a, b, c, d, &s, &t);
    for (int k = 0; k <= 300; ++k)
      for (int l = 0; l <= 300; ++l)
        least = std::min(least, (a + (b - a) * (k / 300.0) - c - (d - c) * (l / 300.0)).norm());
    EXPECT_LE(found, least + 1e-12);
    EXPECT_NEAR(found, least, 0.01);
  }
}

TEST(HandSurface, RefusesHandsThatItCannotAddShapesOf) {
  EXPECT_EQ(HandSurface::Build(*model::LoadHand("finger4")).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(HandSurface::Build(*model::WithFreeBase(*model::LoadHand("hand57"))).error().code,
            ErrorCode::kUnsupported);
  EXPECT_TRUE(HandSurface::Build(*model::LoadHand("hand29")).has_value());
  EXPECT_TRUE(HandSurface::Build(model::Mirrored(*model::LoadHand("hand27"))).has_value());
}

TEST(HandSurface, ConfigurationHoldsRootAndShape) {
  const HandSurface hand = *HandSurface::Build(*model::LoadHand("hand27"));
  const geometry::RigidTransform X{geometry::Exp<double>(Vec3(0.3, -1.0, 2.0)), Vec3(1, 2, 3)};
  const Eigen::VectorXd q = hand.Configuration(X, Eigen::VectorXd::LinSpaced(21, 0, 1));
  EXPECT_LT((hand.Root(q).R - X.R).norm() + (hand.Root(q).p - X.p).norm(), 1e-14);
  EXPECT_EQ(hand.Shape(q), Eigen::VectorXd::LinSpaced(21, 0, 1));
}

}  // namespace
}  // namespace handhold::synthesis::hand_surface_test

// Section 8.3 of Kry & Pai 2006 on the box of 3 x 5 x 7 cm, put down wrongly.
#include "synthesis/interaction/placement.h"

#include <cmath>
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pinch_scene.h"

namespace handhold::synthesis::placement_test {
namespace {

constexpr const char* kBox = "box_3x5x7";

using geometry::RigidTransform;
using geometry::Vec3;
using testing::OnTable;
using testing::PinchBox;
using testing::PinchBoxPose;
using testing::PinchHand;
using testing::Played;

// The box lies on its side of 3 x 7 cm, 5 cm high, pinched across 3 cm in its middle.
RigidTransform Lying() { return {geometry::Exp(Vec3(M_PI / 2, 0, 0)), Vec3(0.3, 0.1, 0.025)}; }
// Only the closing: 0.1 s of waiting, 0.6 s of closing.
artefact::InteractionTrajectory ClosingOn(const RigidTransform& X_WP, double above_middle_m) {
  return *PinchReference(PinchHand(), *PinchAcross(PinchBox(0.012), X_WP, above_middle_m),
                         testing::PinchProgram(0.012, 0.2));
}
const artefact::InteractionTrajectory& Closing() {
  static const artefact::InteractionTrajectory reference = ClosingOn(Lying(), 0.0);
  return reference;
}
ReplayOptions Options() {
  ReplayOptions options = testing::PinchReplay();
  options.range = {Timestamp(), Timestamp() + Duration::Milliseconds(750)};
  return options;
}

/// The box off by these in the table's plane; the fingers close along x.
RigidTransform Off(double x_m, double y_m, double yaw_deg = 0) {
  RigidTransform X = Lying();
  X.R = geometry::Exp(Vec3(0, 0, yaw_deg * M_PI / 180)) * X.R;
  X.p += Vec3(x_m, y_m, 0);
  return X;
}
double YawDegrees(const RigidTransform& X) { return std::atan2(X.R(1, 0), X.R(0, 0)) * 180 / M_PI; }

PlacedObject Placed(const RigidTransform& X_WP, const PlacementOptions& options = {}) {
  auto placed =
      PlaceObject(Played(Closing(), OnTable(PinchBox(0.012), X_WP)), kBox, Options(), options);
  EXPECT_TRUE(placed) << placed.error().message;
  const PlacementRound &before = placed->rounds.front(), &after = placed->rounds.back();
  std::printf(
      "off by %.0f, %.0f mm, %.0f deg: shift while closing %.2f -> %.2f mm, first touches within "
      "%.0f -> %.0f ms, left %.2f, %.2f mm, %.1f deg\n",
      1e3 * (X_WP.p.x() - 0.3), 1e3 * (X_WP.p.y() - 0.1), YawDegrees(X_WP), 1e3 * before.shift_m,
      1e3 * after.shift_m, 1e3 * before.spread_s, 1e3 * after.spread_s,
      1e3 * (placed->X_WP.p.x() - 0.3), 1e3 * (placed->X_WP.p.y() - 0.1), YawDegrees(placed->X_WP));
  return *placed;
}

TEST(Placement, AnOffsetAcrossTheFacesIsPushedAway) {
  for (const double off_m : {-0.004, 0.004}) {
    const PlacedObject placed = Placed(Off(off_m, 0));
    ASSERT_EQ(placed.rounds.size(), 3u);
    EXPECT_THAT(placed.tips,
                ::testing::UnorderedElementsAre("thumb.dst", "index.dst", "middle.dst"));
    EXPECT_LT(std::abs(placed.X_WP.p.x() - 0.3), 0.25 * std::abs(off_m)) << off_m;
    EXPECT_LT(placed.rounds.back().shift_m, 0.2 * placed.rounds.front().shift_m) << off_m;
    EXPECT_LT(placed.rounds.back().spread_s, placed.rounds.front().spread_s) << off_m;
    // Upright, where it stood.
    EXPECT_EQ(placed.X_WP.p.z(), Lying().p.z());
    EXPECT_LT((placed.X_WP.R * Vec3::UnitY() - Vec3::UnitZ()).norm(), 1e-12);
  }
}

TEST(Placement, AYawIsLessenedAndAnOffsetAlongTheFacesStays) {
  const PlacedObject turned = Placed(Off(0, 0, 8));
  EXPECT_LT(std::abs(YawDegrees(turned.X_WP)), 4.0);
  const PlacedObject along = Placed(Off(0, 0.004));
  EXPECT_GT(along.X_WP.p.y() - 0.1, 0.002);
}

// Pushed higher up than half its width over mu (15 mm / 0.5), the box tips instead of sliding, and
// falls back when the finger leaves: the result says that nothing was won.
TEST(Placement, WhatTipsFallsBackToWhereItStood) {
  RigidTransform X = PinchBoxPose();
  X.p.x() += 0.004;
  const auto placed = PlaceObject(
      Played(ClosingOn(PinchBoxPose(), 0.025), OnTable(PinchBox(0.012), X)), kBox, Options());
  ASSERT_TRUE(placed) << placed.error().message;
  EXPECT_NEAR(placed->X_WP.p.x(), X.p.x(), 1e-4);
  EXPECT_GT(placed->rounds.front().shift_m, 1e-3);
  EXPECT_NEAR(placed->rounds.back().shift_m, placed->rounds.front().shift_m, 1e-4);
}

TEST(Placement, TheSameHasTheSameBitsAndOneRoundIsTheFirstOfTwo) {
  const PlacedObject a = Placed(Off(0.004, 0)), b = Placed(Off(0.004, 0));
  EXPECT_EQ(a.X_WP.p, b.X_WP.p);
  EXPECT_EQ(a.X_WP.R, b.X_WP.R);
  const PlacedObject one = Placed(Off(0.004, 0), {.rounds = 1});
  ASSERT_EQ(one.rounds.size(), 2u);
  EXPECT_EQ(one.rounds[0].shift_m, a.rounds[0].shift_m);
  EXPECT_EQ(one.rounds[1].shift_m, a.rounds[1].shift_m);
}

TEST(Placement, SaysWhoNeverTouches) {
  const artefact::Stage scene = OnTable(PinchBox(0.012));
  const auto little =
      PlaceObject(Played(Closing(), scene), kBox, Options(), {.tips = {"thumb.dst", "little.dst"}});
  ASSERT_FALSE(little);
  EXPECT_EQ(little.error().code, ErrorCode::kNotConverged);
  EXPECT_THAT(little.error().message, ::testing::HasSubstr("little.dst"));
  EXPECT_THAT(little.error().message, ::testing::Not(::testing::HasSubstr("thumb.dst")));
  const auto unknown = PlaceObject(Played(Closing(), scene), kBox, Options(), {.tips = {"toe"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalid);
  const auto none = PlaceObject(Played(Closing(), scene), kBox, Options(), {.rounds = 0});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kInvalid);
  const auto far =
      PlaceObject(Played(Closing(), OnTable(PinchBox(0.012), Off(0.3, 0))), kBox, Options());
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().code, ErrorCode::kNotConverged);
}

}  // namespace
}  // namespace handhold::synthesis::placement_test

#include "synthesis/evaluate/grasp_metrics.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/artefact/describe.h"

namespace handhold::synthesis::grasp_metrics_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

// A "hand" of balls: fingers that start at the palm's far ball and slide nowhere; each a body of
// its own with one sphere of 1 cm at `centre`.
model::Skeleton Balls(const std::vector<std::pair<std::string, Vec3>>& fingers) {
  model::SkeletonDraft draft;
  draft.name = "balls";
  model::Body palm;
  palm.name = "palm";
  palm.joint.type = model::JointType::kFixed;
  palm.joint.name = "palm";
  draft.bodies.push_back(palm);
  for (const auto& [name, centre] : fingers) {
    model::Body body;
    body.name = name;
    body.parent = 1;
    body.joint.type = model::JointType::kHinge;
    body.joint.name = name;
    body.joint.X_PJp = RigidTransform::Translation(centre);
    body.shapes.push_back({"ball", RigidTransform(), geometry::Sphere{0.01}, "test"});
    draft.bodies.push_back(body);
  }
  auto built = model::Skeleton::Build(std::move(draft));
  EXPECT_TRUE(built) << (built ? "" : built.error().message);
  return *built;
}

model::Prop Of(geometry::Shape shape) {
  model::Prop prop;
  prop.name = "thing";
  prop.shapes.push_back({"it", RigidTransform(), std::move(shape), "test"});
  return prop;
}

GraspMetrics Measure(const model::Skeleton& hand, const model::Prop& prop,
                     const GraspMetricsOptions& options = {}) {
  const auto metrics =
      MeasureGrasp(hand, hand.ZeroConfiguration(), RigidTransform(), prop, options);
  EXPECT_TRUE(metrics) << (metrics ? "" : metrics.error().message);
  return metrics ? *metrics : GraspMetrics{};
}

// Two balls press a 40 mm cube from both sides.
model::Skeleton Pinch(double x_m = 0.0295) {
  return Balls({{"thumb.dst", {-x_m, 0, 0}}, {"index.dst", {x_m, 0, 0}}});
}
const model::Prop& Cube() {
  static const model::Prop cube = Of(geometry::Box{Vec3::Constant(0.04)});
  return cube;
}

TEST(GraspMetrics, OptionsDescribeThemselves) { artefact::CheckDescribed<GraspMetricsOptions>(); }

TEST(GraspMetrics, DepthIsTheOverlapOfTheExactSurface) {
  const GraspMetrics metrics = Measure(Pinch(), Cube());
  EXPECT_NEAR(metrics.depth_m, 0.0005, 1e-12);  // 29.5 - 10 - 20 mm
  EXPECT_EQ(metrics.contact_number, 2);
  ASSERT_EQ(metrics.contacts.size(), 2u);
  EXPECT_NEAR((metrics.contacts[0].p_P - Vec3(-0.02, 0, 0)).norm(), 0.0, 1e-12);
  EXPECT_NEAR((metrics.contacts[0].normal_P - Vec3(-1, 0, 0)).norm(), 0.0, 1e-12);
  EXPECT_EQ(metrics.fingers_touching, 2);
  EXPECT_EQ(metrics.contact_distance_m, 0.0);
}

TEST(GraspMetrics, AHandAwayFromTheObjectHasNothing) {
  const GraspMetrics metrics = Measure(Pinch(0.036), Cube());  // 6 mm off
  EXPECT_EQ(metrics.depth_m, 0.0);
  EXPECT_EQ(metrics.contact_number, 0);
  EXPECT_EQ(metrics.fingers_touching, 0);
  EXPECT_NEAR(metrics.contact_distance_m, 0.006, 1e-12);
  EXPECT_EQ(metrics.epsilon, 0.0);
  EXPECT_EQ(metrics.margin.acceleration_m_per_s2, 0.0);
  EXPECT_TRUE(std::isinf(metrics.margin.friction));
  // 3 mm off: P4 calls the fingers touching, P1 counts no contact.
  const GraspMetrics near = Measure(Pinch(0.033), Cube());
  EXPECT_EQ(near.fingers_touching, 2);
  EXPECT_EQ(near.contact_number, 0);
}

TEST(GraspMetrics, DistancesOfFingersAreClippedAndSpread) {
  const auto hand = Balls(
      {{"thumb.dst", {-0.030, 0, 0}}, {"index.dst", {0.034, 0, 0}}, {"ring.dst", {0, 0.9, 0}}});
  const GraspMetrics metrics = Measure(hand, Cube());
  EXPECT_NEAR(metrics.contact_distance_m, (0.0 + 0.004 + 0.010) / 3, 1e-12);
  EXPECT_NEAR(metrics.contact_spread_m, 0.010, 1e-12);
}

TEST(GraspMetrics, TheVolumeIsTheLensOfTwoSpheres) {
  // A ball of 1 cm whose centre lies on the face of a large box: half of it is inside.
  const auto hand = Balls({{"index.dst", {0.05, 0, 0}}});
  const model::Prop box = Of(geometry::Box{Vec3::Constant(0.1)});
  const GraspMetrics metrics = Measure(hand, box);
  const double half = 2.0 / 3.0 * M_PI * 1e-6;
  EXPECT_NEAR(metrics.fine_volume_m3, half, 0.02 * half);
  EXPECT_NEAR(metrics.volume_m3, half, 0.5 * half);  // P4's 5 mm is coarse
  EXPECT_NEAR(metrics.depth_m, 0.01, 1e-12);
  // Counted by hand: centres at odd multiples of 2.5 mm, x in (0.04, 0.05), within 1 cm.
  int count = 0;
  for (const double x : {0.0475, 0.0425}) {
    for (int y = -3; y <= 3; y += 2) {
      for (int z = -3; z <= 3; z += 2)
        count += Vec3(x - 0.05, y * 0.0025, z * 0.0025).norm() < 0.01;
    }
  }
  EXPECT_NEAR(metrics.volume_m3, count * 1.25e-7, 1e-15);
}

TEST(GraspMetrics, WhatTwoShapesShareIsCountedOnce) {
  const model::Prop box = Of(geometry::Box{Vec3::Constant(0.1)});
  const double one = Measure(Balls({{"index.dst", {0.02, 0, 0}}}), box).volume_m3;
  const double two =
      Measure(Balls({{"index.dst", {0.02, 0, 0}}, {"ring.dst", {0.02, 0, 0}}}), box).volume_m3;
  EXPECT_GT(one, 0.0);
  EXPECT_EQ(one, two);
}

TEST(GraspMetrics, SelfDepthLeavesOutWhatOverlapsAtZero) {
  // Two fingers on hinges about Z, their balls 5 cm out: at +-90 degrees they meet.
  model::SkeletonDraft draft;
  draft.name = "scissors";
  for (const double x : {-0.058, 0.058}) {
    model::Body body;
    body.name = x < 0 ? "thumb.dst" : "index.dst";
    body.joint.type = model::JointType::kHinge;
    body.joint.name = body.name;
    body.joint.X_PJp = RigidTransform::Translation(Vec3(x, 0, 0));
    body.shapes.push_back(
        {"ball", RigidTransform::Translation(Vec3(0, 0.05, 0)), geometry::Sphere{0.01}, "test"});
    draft.bodies.push_back(body);
  }
  const model::Skeleton hand = *model::Skeleton::Build(std::move(draft));
  Eigen::VectorXd q(2);
  q << -M_PI / 2, M_PI / 2;  // balls at x = -8 and +8 mm
  const model::Prop far = Of(geometry::Sphere{0.01});
  const auto X_away = RigidTransform::Translation(Vec3(5, 0, 0));
  EXPECT_NEAR(MeasureGrasp(hand, q, X_away, far)->self_depth_m, 0.004, 1e-12);
  EXPECT_EQ(MeasureGrasp(hand, hand.ZeroConfiguration(), X_away, far)->self_depth_m, 0.0);
}

TEST(GraspMetrics, EpsilonTellsClosureFromNone) {
  // Two points never close (no moment about their line); four round a cube do.
  EXPECT_NEAR(Measure(Pinch(), Cube()).epsilon, 0.0, 1e-4);  // an upper bound
  const auto four = Balls({{"thumb.dst", {-0.0295, 0.01, 0}},
                           {"index.dst", {0.0295, 0.01, 0}},
                           {"middle.dst", {0.01, -0.0295, 0.01}},
                           {"ring.dst", {-0.01, 0.0295, -0.01}}});
  const GraspMetrics metrics = Measure(four, Cube());
  EXPECT_GT(metrics.epsilon, 0.02);
  EXPECT_LT(metrics.epsilon, 1.0);
  // One finger alone pushes: nothing balances.
  const GraspMetrics one = Measure(Balls({{"index.dst", {0.0295, 0, 0}}}), Cube());
  EXPECT_NEAR(one.dfc, 1.0, 1e-9);
  EXPECT_EQ(one.margin.acceleration_m_per_s2, 0.0);
}

TEST(GraspMetrics, AMarginIsWhatFrictionCarries) {
  // Across the line of a pinch: 2 mu N = m a with 2 N = total; along it the far finger lets go.
  const GraspMetricsOptions options;
  const GraspMetrics metrics = Measure(Pinch(), Cube(), options);
  EXPECT_NEAR(metrics.margin.acceleration_m_per_s2,
              options.friction * options.max_total_N / options.mass_kg, 0.2);
  EXPECT_NEAR(metrics.margin.friction, options.mass_kg * 10.0 / options.max_total_N, 2e-3);
  GraspMetricsOptions weak;
  weak.max_total_N = 0.5;  // cannot push with 1 N at all
  EXPECT_TRUE(std::isinf(Measure(Pinch(), Cube(), weak).margin.friction));
}

TEST(GraspMetrics, WhatDoesNotFitIsRefused) {
  const auto hand = Pinch();
  EXPECT_EQ(MeasureGrasp(hand, Eigen::VectorXd::Zero(5), RigidTransform(), Cube()).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(
      MeasureGrasp(hand, hand.ZeroConfiguration(), RigidTransform(), model::Prop()).error().code,
      ErrorCode::kInvalid);
}

TEST(GraspMetrics, ScoresCarryEveryFigureByName) {
  const auto scores = ScoresOf(Measure(Pinch(), Cube()));
  EXPECT_EQ(scores.at("contact_number"), 2);
  EXPECT_NEAR(scores.at("depth_m"), 0.0005, 1e-12);
  EXPECT_EQ(scores.size(), 12u);
}

}  // namespace
}  // namespace handhold::synthesis::grasp_metrics_test

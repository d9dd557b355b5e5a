#include "synthesis/grasp_search/grasp_metric.h"

#include <gtest/gtest.h>

#include "database/model/hand_library.h"

namespace handhold::synthesis::grasp_metric_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

HeldObject Ball(double radius) {
  model::Prop prop;
  prop.name = "ball";
  prop.shapes.push_back({"ball", {}, geometry::Sphere{radius}, ""});
  return *HeldObject::Build(prop);
}

struct Scene {
  HandSurface hand = *HandSurface::Build(*model::LoadHand("hand27"));
  std::vector<GraspSensor> sensors = *PaperSensors(hand);
};

TEST(GraspMetric, EighteenSensorsAndEightyOnePairs) {
  Scene s;
  EXPECT_EQ(s.sensors.size(), 18u);
  EXPECT_EQ(OpposingPairs(s.sensors).size(), 81u);  // 3*12 + 3*3 + 12*3
}

// Eqs. 5-6 written out for a ball, whose nearest points and normals are known.
TEST(GraspMetric, IsEquation6InCentimetresAndRadians) {
  Scene s;
  const double r = 0.04;
  const HeldObject ball = Ball(r);
  const RigidTransform X{geometry::Exp<double>(Vec3(0.1, -0.2, 0.3)), Vec3(-0.08, 0.01, 0.03)};
  const Eigen::VectorXd shape = s.hand.ClampedToLimits(Eigen::VectorXd::Constant(21, 0.3));
  model::KinematicsData data(s.hand.skeleton());
  model::ComputePoses(s.hand.skeleton(), s.hand.Configuration(X, shape), &data);
  double m = 0;
  int inside = 0;
  for (size_t i = 0; i < 18; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (s.sensors[i].group == s.sensors[j].group) continue;
      const auto place = [&](size_t k) {
        return Vec3(data.X_WB[static_cast<size_t>(s.sensors[k].body)] * s.sensors[k].p_B);
      };
      const Vec3 p[2] = {place(i), place(j)};
      const Vec3 n[2] = {p[0].normalized(), p[1].normalized()};
      for (int k = 0; k < 2; ++k) {
        const Vec3 line = (r * n[1 - k] - r * n[k]).normalized();
        m += 100 * std::abs(p[k].norm() - r);                    // d, cm
        m += std::acos(std::clamp(line.dot(-n[k]), -1.0, 1.0));  // alpha, rad
        m += p[k].norm() - r < -0.002 ? 100 : 0;                 // v of eq. 5
        inside += p[k].norm() - r < -0.002;
      }
    }
  }
  ASSERT_GT(inside, 0);  // both branches of eq. 5 are met
  GraspMetric metric(s.hand, ball, s.sensors, nullptr);
  EXPECT_NEAR(metric.Eq6(X, shape), m, 1e-7 * m);
  EXPECT_GT(metric.deepest_m(), 0.002);
}

TEST(GraspMetric, TheBoundThatIsCarriedChangesNothing) {
  Scene s;
  const HeldObject ball = Ball(0.03);
  GraspMetric kept(s.hand, ball, s.sensors, nullptr);
  for (int i = 0; i < 60; ++i) {
    const RigidTransform X{geometry::Exp<double>(Vec3(0.2 * i, 0.1, 0)),
                           Vec3(-0.1 + 0.003 * i, 0, 0.05)};
    const Eigen::VectorXd shape =
        s.hand.ClampedToLimits(Eigen::VectorXd::Constant(21, 0.02 * (i % 30)));
    GraspMetric fresh(s.hand, ball, s.sensors, nullptr);
    EXPECT_EQ(kept.Eq6(X, shape), fresh.Eq6(X, shape));
  }
}

TEST(GraspMetric, AnUnnaturalShapeCostsTheMoreTheLessLikelyItIs) {
  Scene s;
  const HeldObject ball = Ball(0.03);
  artefact::GraspSpace space;
  space.mean = Eigen::VectorXd::Constant(21, 0.2);
  space.basis = Eigen::MatrixXd::Identity(21, 2);
  space.mixture = {{1.0, Eigen::Vector2d::Zero(), 0.01 * Eigen::Matrix2d::Identity()}};
  space.log_threshold = 0.0;
  const artefact::SpaceDensity density = *artefact::SpaceDensity::Build(space);
  GraspMetric metric(s.hand, ball, s.sensors, &density);
  const RigidTransform X = RigidTransform::Translation(Vec3(-0.1, 0, 0.05));
  const auto extra = [&](double a) {
    return metric.Evaluate(X, Eigen::Vector2d(a, 0)) -
           metric.Eq6(X, s.hand.ClampedToLimits(density.Expand(Eigen::Vector2d(a, 0))));
  };
  EXPECT_NEAR(extra(0.0), 0.0, 1e-9);
  const double below = -density.LogLikelihood(Eigen::Vector2d(0.5, 0));
  ASSERT_GT(below, 0);
  EXPECT_NEAR(extra(0.5), 1000 + below, 1e-6);
  EXPECT_GT(extra(0.8), extra(0.5));
}

// Thumb and finger pads on opposite sides of a ball lie in both cones; beside each other they do
// not.
TEST(GraspMetric, StablePairsLieInBothCones) {
  Scene s;
  std::vector<GraspSensor> two = {s.sensors[2], s.sensors[8]};
  ASSERT_NE(two[0].group, two[1].group);
  model::KinematicsData data(s.hand.skeleton());
  const Eigen::VectorXd shape = s.hand.ClampedToLimits(Eigen::VectorXd::Constant(21, 0.4));
  model::ComputePoses(s.hand.skeleton(), s.hand.Configuration({}, shape), &data);
  const Vec3 a = data.X_WB[static_cast<size_t>(two[0].body)] * two[0].p_B,
             b = data.X_WB[static_cast<size_t>(two[1].body)] * two[1].p_B;
  const HeldObject ball = Ball(0.5 * (a - b).norm());
  GraspMetric metric(s.hand, ball, two, nullptr);
  metric.Eq6(RigidTransform::Translation(-0.5 * (a + b)), shape);
  EXPECT_EQ(metric.StablePairs(1e-6), 1);
  const HeldObject big = Ball((a - b).norm());
  GraspMetric beside(s.hand, big, two, nullptr);
  const Vec3 out = (a - b).unitOrthogonal() * std::sqrt(0.75) * (a - b).norm();
  beside.Eq6(RigidTransform::Translation(-0.5 * (a + b) + out), shape);
  EXPECT_EQ(beside.StablePairs(1e-6), 0);
}

}  // namespace
}  // namespace handhold::synthesis::grasp_metric_test

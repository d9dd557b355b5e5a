#include "synthesis/contact_sampling/finger_chain.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "synthesis/contact_sampling/finger_ik.h"

namespace handhold::synthesis::finger_chain_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

double InRange(std::mt19937* rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(*rng);
}

/// Angles of a finger within its limits, also put into the skeleton's configuration.
FingerVector RandomAngles(const Finger& finger, std::mt19937* rng, Eigen::VectorXd* q) {
  FingerVector out(finger.count());
  for (int k = 0; k < finger.count(); ++k) {
    const FingerAxis& axis = finger.axes[static_cast<size_t>(k)];
    out[k] = InRange(rng, axis.lower_rad, axis.upper_rad);
    (*q)[axis.q_index] = out[k];
  }
  return out;
}

TEST(FingerChain, StandsWhereTheSkeletonStands) {
  const model::Skeleton hand = model::LoadHand("hand29").value();
  const FingerChains chains = FingerChains::Build(hand).value();
  ASSERT_EQ(chains.fingers.size(), 5u);
  EXPECT_EQ(chains.fingers[0].name, "thumb");
  EXPECT_EQ(chains.fingers[0].count(), 5);
  EXPECT_EQ(chains.fingers[1].count(), 4);
  EXPECT_EQ(chains.fingers[4].count(), 5);
  std::mt19937 rng(1);
  model::KinematicsData data(hand);
  for (int trial = 0; trial < 20; ++trial) {
    Eigen::VectorXd q = hand.ZeroConfiguration();
    q.segment<3>(0) = Vec3(InRange(&rng, -1, 1), InRange(&rng, -1, 1), InRange(&rng, -1, 1));
    const Eigen::Vector4d turn(InRange(&rng, -1, 1), InRange(&rng, -1, 1), InRange(&rng, -1, 1), 1);
    q.segment<4>(3) = turn.normalized();
    std::vector<FingerVector> angles;
    for (const Finger& finger : chains.fingers) angles.push_back(RandomAngles(finger, &rng, &q));
    model::ComputeJacobian<double>(hand, q, &data);
    for (size_t f = 0; f < chains.fingers.size(); ++f) {
      const Finger& finger = chains.fingers[f];
      FingerPose pose;
      PoseFinger(finger, data.X_WB[static_cast<size_t>(chains.palm_body)], angles[f], &pose);
      for (size_t link = 0; link < finger.links.size(); ++link) {
        const RigidTransform& truth = data.X_WB[static_cast<size_t>(finger.links[link].body)];
        EXPECT_LT((pose.X_OL[link].p - truth.p).norm(), 1e-12);
        EXPECT_LT((pose.X_OL[link].R - truth.R).norm(), 1e-12);
      }
      // Slopes of a point of the last link.
      const int last = finger.last_link();
      const Vec3 p = pose.Point(last, Vec3(0.01, 0.002, -0.003));
      Eigen::Matrix<double, 3, Eigen::Dynamic> J(3, hand.nv());
      model::PointJacobian<double>(hand, data, finger.links.back().body, p, J);
      for (int k = 0; k < finger.count(); ++k) {
        const auto i = static_cast<size_t>(k);
        const Vec3 ours = pose.axis_O[i].cross(p - pose.at_O[i]);
        EXPECT_LT((ours - J.col(finger.axes[i].v_index)).norm(), 1e-12) << finger.name << k;
      }
    }
  }
}

TEST(FingerChain, RefusesWhatItCannotSolve) {
  EXPECT_EQ(FingerChains::Build(model::LoadHand("hand57").value()).error().code,
            ErrorCode::kUnsupported);
  EXPECT_EQ(FingerChains::Build(model::LoadHand("hand29").value(), "foot").error().code,
            ErrorCode::kNotFound);
}

TEST(FingerChain, SegmentsAreAsFarApartAsTheirPointsSay) {
  std::mt19937 rng(2);
  const auto point = [&] {
    return Vec3(InRange(&rng, -1, 1), InRange(&rng, -1, 1), InRange(&rng, -1, 1));
  };
  for (int trial = 0; trial < 50; ++trial) {
    const Vec3 a0 = point(), a1 = trial % 7 ? point() : a0, b0 = point();
    const Vec3 b1 = trial % 5 ? point() : Vec3(b0 + 0.5 * (a1 - a0));
    double s, t, least = 1e9;
    const double d = NearestOfSegments(a0, a1, b0, b1, &s, &t);
    for (int i = 0; i <= 100; ++i) {
      for (int j = 0; j <= 100; ++j)
        least = std::min(least, (a0 + i / 100.0 * (a1 - a0) - b0 - j / 100.0 * (b1 - b0)).norm());
    }
    EXPECT_LE(d, least + 1e-12);
    EXPECT_GE(d, least - 0.04);
    EXPECT_NEAR((a0 + s * (a1 - a0) - b0 - t * (b1 - b0)).norm(), d, 1e-12);
  }
}

/// A box of 6 cm, in whose frame all is said.
DistanceGrid BoxGrid() {
  const geometry::PosedShape box{geometry::Box{Vec3::Constant(0.06)}, {}};
  return DistanceGrid::Build(std::span<const geometry::PosedShape>(&box, 1), 1.5e-3, 0.02).value();
}

TEST(DistanceGridOfShapes, IsWithinItsBoundOfTheUnion) {
  const std::vector<geometry::PosedShape> shapes = {
      {geometry::Box{Vec3(0.03, 0.05, 0.02)}, RigidTransform::Translation(Vec3(0.01, 0, 0))},
      {geometry::Capsule{0.008, 0.04},
       {geometry::AxisAngle<double>(Vec3::UnitX(), 0.5), {0, 0, 0.02}}}};
  const DistanceGrid grid =
      DistanceGrid::Build(std::span<const geometry::PosedShape>(shapes), 2e-3, 0.01).value();
  std::mt19937 rng(3);
  for (int i = 0; i < 2000; ++i) {
    Vec3 p;
    for (int k = 0; k < 3; ++k) p[k] = InRange(&rng, grid.bounds().min[k], grid.bounds().max[k]);
    ASSERT_LE(std::abs(grid.At(p) - geometry::SignedDistanceToUnion(shapes, p).point.distance_m),
              grid.error_bound_m());
  }
  EXPECT_EQ(DistanceGrid::Build(std::span<const geometry::PosedShape>(), 2e-3, 0.01).error().code,
            ErrorCode::kInvalid);
}

TEST(FingerIk, ComesToAPlantedContactWithoutEnteringTheBox) {
  const FingerChains chains = FingerChains::Build(model::LoadHand("hand29").value()).value();
  const Finger& index = chains.fingers[1];
  const DistanceGrid grid = BoxGrid();
  std::mt19937 rng(4);
  int planted = 0, came = 0;
  for (int trial = 0; trial < 400 && planted < 20; ++trial) {
    // A posture with the pad on the box's top, palm above: planted by sliding the palm along z.
    Eigen::VectorXd q = Eigen::VectorXd::Zero(64);
    const FingerVector truth = RandomAngles(index, &rng, &q);
    RigidTransform X_OR = RigidTransform::Translation(Vec3(-0.15, -0.02, 0.1));
    FingerPose pose;
    PoseFinger(index, X_OR, truth, &pose);
    const TipTouch high = TouchOfTip(index, pose, grid);
    if (std::abs(high.point.p_O.x()) > 0.02 || std::abs(high.point.p_O.y()) > 0.02) continue;
    if (high.point.normal_O.z() < 0.999 || high.cos_palmar < 0.5) continue;
    X_OR.p.z() -= high.gap_m;
    PoseFinger(index, X_OR, truth, &pose);
    const TipTouch touch = TouchOfTip(index, pose, grid);
    ASSERT_NEAR(touch.gap_m, 0, 1e-4);
    bool clear = true;  // the planted posture itself must not enter
    for (const FingerCapsule& c : index.capsules) {
      for (const double at : {0.0, 0.5, 1.0})
        clear =
            clear && grid.At(pose.Point(c.link, c.a_L + at * (c.b_L - c.a_L))) > c.radius_m - 2e-4;
    }
    if (!clear) continue;
    ++planted;
    FingerVector from = truth;
    for (int k = 0; k < index.count(); ++k) {
      const FingerAxis& axis = index.axes[static_cast<size_t>(k)];
      from[k] = std::clamp(from[k] + InRange(&rng, -0.1, 0.1), axis.lower_rad, axis.upper_rad);
    }
    FingerScene scene;
    scene.grid = &grid;
    FingerGoal goal;
    goal.touch = touch.point;
    goal.rest = from;
    FingerAnswer answer;
    SolveFinger(index, X_OR, scene, goal, from, 0.25, {}, &answer);
    came += answer.touch_error_m < 1e-4 && answer.depth_m < 3e-4;
    EXPECT_LE((answer.q - from).cwiseAbs().maxCoeff(), 0.25 + 1e-12);  // eq. 3
    // Pressed a millimetre into the box, it stops at the surface and says how far it is off.
    goal.touch->p_O.z() -= 1e-3;
    SolveFinger(index, X_OR, scene, goal, from, 0.25, {}, &answer);
    EXPECT_GT(answer.touch_error_m, 2e-4);
  }
  EXPECT_GE(planted, 10);
  EXPECT_GE(came, planted - 1);  // least squares from 0.1 rad off: one may stay in a dale beside it
}

}  // namespace
}  // namespace handhold::synthesis::finger_chain_test

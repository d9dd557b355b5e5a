#include "fitting/grasp_space/touched_primitive.h"

#include <gtest/gtest.h>

#include <cmath>

#include "database/model/hand_library.h"
#include "fitting/grasp_space/grasp_space_fit.h"

namespace handhold::fitting::touched_primitive_test {
namespace {

using artefact::GraspTemplate;
using geometry::RigidTransform;
using geometry::Vec3;

Timestamp At(double seconds) { return Timestamp::FromSeconds(seconds); }

/// A body of revolution about x: radius at each station, closed at both ends.
geometry::Shape Turned(const std::vector<std::pair<double, double>>& stations, const Vec3& at) {
  constexpr int kRound = 48;
  geometry::Mesh mesh;
  for (const auto& [x, r] : stations) {
    for (int k = 0; k < kRound; ++k) {
      const double turn = 2 * M_PI * k / kRound;
      mesh.vertices.push_back(at + Vec3(x, r * std::cos(turn), r * std::sin(turn)));
    }
  }
  const auto id = [&](size_t s, int k) {
    return static_cast<std::uint32_t>(s * kRound + static_cast<size_t>(k % kRound));
  };
  for (size_t s = 0; s + 1 < stations.size(); ++s) {
    for (int k = 0; k < kRound; ++k) {
      mesh.triangles.push_back({id(s, k), id(s, k + 1), id(s + 1, k)});
      mesh.triangles.push_back({id(s, k + 1), id(s + 1, k + 1), id(s + 1, k)});
    }
  }
  const auto cap = [&](double x, size_t s, bool turned) {
    mesh.vertices.push_back(at + Vec3(x, 0, 0));
    const auto centre = static_cast<std::uint32_t>(mesh.vertices.size() - 1);
    for (int k = 0; k < kRound; ++k)
      mesh.triangles.push_back({centre, id(s, turned ? k + 1 : k), id(s, turned ? k : k + 1)});
  };
  cap(stations.front().first, 0, true);
  cap(stations.back().first, stations.size() - 1, false);
  return *geometry::MakeTriangleMesh(std::move(mesh));
}

TEST(TouchedPrimitive, ShapesAreTheirOwnOrTheNearestPrimitive) {
  EXPECT_EQ(PrimitiveOf(geometry::Sphere{0.02}).kind, "sphere");
  EXPECT_EQ(PrimitiveOf(geometry::Sphere{0.02}).half_size_m, Vec3::Constant(0.02));
  EXPECT_EQ(PrimitiveOf(geometry::Box{Vec3(0.02, 0.04, 0.06)}).half_size_m, Vec3(0.01, 0.02, 0.03));
  const Primitive rod = PrimitiveOf(geometry::Cylinder{0.01, 0.1});
  EXPECT_EQ(rod.kind, "cylinder");
  EXPECT_EQ(rod.half_size_m, Vec3(0.01, 0.01, 0.05));
  EXPECT_EQ(PrimitiveOf(geometry::Cylinder{0.05, 0.01}).kind, "disk");
  EXPECT_EQ(PrimitiveOf(geometry::Capsule{0.01, 0.08}).half_size_m, Vec3(0.01, 0.01, 0.05));
  // Meshes, off their frame's origin.
  const Vec3 at(0.3, -0.2, 0.1);
  const Primitive can = PrimitiveOf(Turned({{-0.06, 0.03}, {0.06, 0.03}}, at));
  EXPECT_EQ(can.kind, "cylinder");
  EXPECT_LT((can.half_size_m - Vec3(0.03, 0.03, 0.06)).norm(), 1e-4);
  EXPECT_NEAR(std::abs(can.X_SO.R.col(2).x()), 1.0, 1e-12);
  EXPECT_LT((can.X_SO.p - at).norm(), 1e-12);
  EXPECT_LT(can.off_m, 1e-3);
  EXPECT_EQ(PrimitiveOf(Turned({{-0.005, 0.04}, {0.005, 0.04}}, at)).kind, "disk");
  std::vector<std::pair<double, double>> ball;
  for (int i = 1; i < 16; ++i)
    ball.emplace_back(-0.04 * std::cos(M_PI * i / 16), 0.04 * std::sin(M_PI * i / 16));
  EXPECT_EQ(PrimitiveOf(Turned(ball, at)).kind, "sphere");
  std::vector<Vec3> corners;
  for (int k = 0; k < 8; ++k)
    corners.emplace_back(at + Vec3(k & 1 ? 0.02 : 0, k & 2 ? 0.02 : 0, k & 4 ? 0.05 : 0));
  const Primitive brick = PrimitiveOf(*geometry::MakeConvexHull(corners));
  EXPECT_EQ(brick.kind, "box");
  EXPECT_LT((brick.half_size_m - Vec3(0.01, 0.01, 0.025)).norm(), 1e-12);
  EXPECT_LT(brick.off_m, 1e-12);
}

/// Two seconds at 10 Hz of a hand that stands somewhere, and a rod that it touches from 0.5 to 1 s.
struct Take {
  Take() {
    track.dof_names = hand.dof_names();
    shape = Eigen::VectorXd::Constant(21, 0.3);
    for (int k = 0; k < 20; ++k) {
      track.times.push_back(At(0.1 * k));
      Eigen::VectorXd v = Eigen::VectorXd::Zero(27);
      v.tail(21) = shape;
      Eigen::VectorXd q = hand.Integrate(hand.ZeroConfiguration(), v);
      q.head<3>() = X_WH.p;
      q.segment<4>(3) = geometry::ToQuaternion(X_WH.R);
      track.q.conservativeResize(q.size(), k + 1);
      track.q.col(k) = q;
    }
    model::Prop rod;
    rod.name = "rod";
    rod.shapes.push_back({"rod", RigidTransform::Translation(Vec3(0, 0, 0.02)),
                          geometry::Cylinder{0.015, 0.12}, ""});
    touches.things["rod"] = {rod, {}, {X_WH * X_HT}};
    touches.contacts.resize(1);
    touches.contacts[0].times = track.times;
  }
  /// The site touches `thing` from 0.5 to 1 s; out of the thing, into the hand is n_H.
  void Touch(const std::string& site, const std::string& thing, const Vec3& n_H,
             double force_N = 1.0) {
    artefact::ContactTrack& c = touches.contacts[0];
    const auto& s = hand.sites()[static_cast<size_t>(hand.FindSite(site))];
    artefact::Touch touch;
    touch.a = {artefact::Side::Kind::kHand, "R", site, s.body};
    touch.b = {artefact::Side::Kind::kThing, thing, "", 0};
    touch.onset = At(0.5);
    touch.release = At(1.0);
    c.touches.push_back(touch);
    for (int k = 5; k <= 10; ++k) {
      artefact::ContactRow row;
      row.frame = k;
      row.touch = static_cast<int>(c.touches.size()) - 1;
      row.p_W = X_WH * (X_HT * Vec3(0, 0, 0.02));
      row.normal_W = X_WH.R * n_H;
      row.f_onA_W = force_N * row.normal_W;
      c.rows.push_back(row);
    }
  }
  Touched At_frame(int frame, GraspTemplate* grasp) {
    grasp->pose_v = shape;
    return TakePrimitive(hand, track, frame, touches, grasp);
  }
  model::Skeleton hand = *model::LoadHand("hand27");
  RigidTransform X_WH{geometry::Exp<double>(Vec3(0.4, -0.3, 1.0)), Vec3(0.5, 0.2, 0.9)};
  RigidTransform X_HT{geometry::Exp<double>(Vec3(0, 1.2, 0.1)), Vec3(0.08, 0.01, -0.05)};
  Eigen::VectorXd shape;
  artefact::PoseTrack track;
  TakeTouches touches;
};

TEST(TouchedPrimitive, ATemplateHasTheTouchedPropsPrimitiveWhereItLaysInTheHand) {
  Take take;
  take.Touch("R.thumb.pad", "rod", Vec3(0, 0, -1));
  take.Touch("R.index.pad", "rod", Vec3(0, 0.2, 1).normalized());
  GraspTemplate grasp;
  grasp.type = "tripod";
  EXPECT_EQ(take.At_frame(2, &grasp), Touched::kNothing);
  EXPECT_EQ(take.At_frame(15, &grasp), Touched::kNothing);
  EXPECT_TRUE(grasp.primitive.empty());
  ASSERT_EQ(take.At_frame(7, &grasp), Touched::kThing);
  EXPECT_EQ(grasp.primitive, "cylinder");
  EXPECT_EQ(grasp.half_size_m, Vec3(0.015, 0.015, 0.06));
  // In the hand, wherever that stood: the shape's own place in the prop comes along.
  const RigidTransform X_HO = take.X_HT * RigidTransform::Translation(Vec3(0, 0, 0.02));
  EXPECT_LT((grasp.X_HO.p - X_HO.p).norm(), 1e-12);
  EXPECT_LT((grasp.X_HO.R - X_HO.R).norm(), 1e-12);
  EXPECT_LT((grasp.opposition_H - Vec3(0, 0, 1)).norm(), 1e-12);  // from the thumb to the finger
  EXPECT_TRUE(grasp.precision);
  // A palm that touches: no precision, and the opposition goes from it.
  take.Touch("R.palm", "rod", Vec3(0, 1, 0));
  ASSERT_EQ(take.At_frame(7, &grasp), Touched::kThing);
  EXPECT_LT((grasp.opposition_H - Vec3(0, -1, 0)).norm(), 1e-12);
  EXPECT_FALSE(grasp.precision);
  // A finger alone: towards it.
  Take alone;
  alone.Touch("R.index.pad", "rod", Vec3(1, 0, 0));
  GraspTemplate one;
  one.type = "medium-wrap";
  ASSERT_EQ(alone.At_frame(7, &one), Touched::kThing);
  EXPECT_LT((one.opposition_H - Vec3(1, 0, 0)).norm(), 1e-12);
  EXPECT_FALSE(one.precision);  // the type says so
}

TEST(TouchedPrimitive, WhatIsNotKnownIsSaid) {
  Take take;
  take.Touch("R.thumb.pad", "box", Vec3(0, 0, -1));
  GraspTemplate grasp;
  EXPECT_EQ(take.At_frame(7, &grasp), Touched::kUnknown);  // no such thing
  // Two things: the one with more force.
  take.Touch("R.index.pad", "rod", Vec3(0, 0, 1), 0.5);
  model::Prop box;
  box.shapes.push_back({"box", {}, geometry::Box{Vec3(0.02, 0.02, 0.02)}, ""});
  take.touches.things["box"] = {box, {}, {take.X_WH}};
  ASSERT_EQ(take.At_frame(7, &grasp), Touched::kThing);
  EXPECT_EQ(grasp.primitive, "box");
  // A thing that moves: its place then, or none.
  PlacedThing& moving = take.touches.things["box"];
  moving.times = {At(0.69), At(0.72)};
  moving.X_WT = {take.X_WH * RigidTransform::Translation(Vec3(1, 0, 0)),
                 take.X_WH * RigidTransform::Translation(Vec3(2, 0, 0))};
  ASSERT_EQ(take.At_frame(7, &grasp), Touched::kThing);
  EXPECT_NEAR(grasp.X_HO.p.x(), 1.0, 1e-12);
  EXPECT_EQ(take.At_frame(9, &grasp), Touched::kUnknown);
}

TEST(TouchedPrimitive, PosesOfATrackCarryThem) {
  Take take;
  take.Touch("R.thumb.pad", "rod", Vec3(0, 0, -1));
  for (int k = 0; k < 20; ++k) take.track.q(take.track.q.rows() - 1, k) = 0.1 * k;
  HandPoses poses;
  ASSERT_TRUE(AddPoses(take.hand, take.track, {}, "", {}, &poses, &take.touches).has_value());
  ASSERT_EQ(poses.templates.size(), 20u);
  EXPECT_EQ(poses.holding, 6);  // 0.5 to 1.0 s
  EXPECT_EQ(poses.holding_unknown, 0);
  for (int k = 0; k < 20; ++k)
    EXPECT_EQ(poses.templates[static_cast<size_t>(k)].primitive.empty(), k < 5 || k > 10) << k;
  take.touches.things.clear();
  HandPoses unknown;
  ASSERT_TRUE(AddPoses(take.hand, take.track, {}, "", {}, &unknown, &take.touches).has_value());
  EXPECT_EQ(unknown.holding, 0);
  EXPECT_EQ(unknown.holding_unknown, 6);
}

}  // namespace
}  // namespace handhold::fitting::touched_primitive_test

// Scenes: what is told in steps comes back, hands stand where kinematics says, curves keep their
// peaks, and what does not fit together is refused.
#include "tools/report/scene.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "tools/report/scene_fill.h"

namespace handhold::report::scene_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using ::testing::HasSubstr;
using text::Json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The reader of the contract, written from tools/viewer/README.md alone.
std::vector<double> Decoded(const Json& coded) {
  std::vector<double> out;
  int64_t steps = 0;
  for (const Json& d : coded.Find("d")->elements()) {
    if (d.is_null()) {
      out.push_back(kNaN);
      continue;
    }
    steps += *d.integer();
    out.push_back(*coded.Find("offset")->number() +
                  *coded.Find("scale")->number() * static_cast<double>(steps));
  }
  return out;
}

TEST(CodedNumbersTest, ComeBackWithinHalfAStepAndKeepWhatIsMissing) {
  const std::vector<double> values = {1.23456, kNaN, 1.23444, -5.0, kNaN, kNaN, 1e6};
  const std::vector<double> back = Decoded(CodedNumbers(values, 1e-4));
  ASSERT_EQ(back.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::isnan(back[i]), std::isnan(values[i])) << i;
    if (!std::isnan(values[i])) {
      EXPECT_NEAR(back[i], values[i], 0.5e-4 + 1e-9) << i;
    }
  }
  EXPECT_TRUE(CodedNumbers(values, 1e-4).Find("d")->elements()[1].is_null());
}

RigidTransform PoseOf(const Json& object, size_t frame) {
  RigidTransform X;
  const auto numbers = [](const Json& list, size_t count) {
    Eigen::VectorXd v(static_cast<Eigen::Index>(count));
    for (size_t i = 0; i < count; ++i)
      v[static_cast<Eigen::Index>(i)] = *list.elements()[i].number();
    return v;
  };
  if (const Json* p = object.Find("p")) X.p = numbers(*p, 3);
  if (const Json* q = object.Find("q")) {
    const Eigen::VectorXd w = numbers(*q, 4);
    X.R = geometry::FromQuaternion<double>(w[0], w[1], w[2], w[3]);
  }
  const Json* move = object.Find("move");
  if (move == nullptr) return X;
  RigidTransform after;
  if (const Json* p = move->Find("p"))
    for (size_t c = 0; c < 3; ++c) after.p[static_cast<int>(c)] = Decoded(p->elements()[c])[frame];
  if (const Json* q = move->Find("q")) {
    Eigen::Vector4d w;
    for (size_t c = 0; c < 4; ++c) w[static_cast<int>(c)] = Decoded(q->elements()[c])[frame];
    w.normalize();
    after.R = geometry::FromQuaternion<double>(w[0], w[1], w[2], w[3]);
  }
  return X * after;
}

class SceneHand : public ::testing::TestWithParam<const char*> {};

TEST_P(SceneHand, StandsWhereKinematicsSays) {
  const model::Skeleton skeleton = *model::LoadHand(GetParam());
  Eigen::MatrixXd q(skeleton.nq(), 7);
  q.col(0) = skeleton.ZeroConfiguration();
  for (int k = 1; k < 7; ++k) {
    Eigen::VectorXd v(skeleton.nv());
    for (int d = 0; d < v.size(); ++d) v[d] = 0.4 * std::sin(1.3 * d + k);
    q.col(k) = skeleton.Integrate(q.col(k - 1), v);
  }
  const std::vector<int> frames = {0, 2, 3, 6};
  Scene scene;
  SceneMotion motion;
  AddHand("R", skeleton, q, frames, scene.AddTimes({0.0, 0.2, 0.3, 0.6}), &scene, &motion);
  scene.motions.push_back(motion);
  ASSERT_TRUE(CheckScene(scene));
  const Json json = SceneToJson(scene);
  const Json& nodes = *json.Find("motions")->elements()[0].Find("nodes");
  ASSERT_EQ(nodes.elements().size(), static_cast<size_t>(skeleton.body_count()) - 1);
  model::KinematicsData data(skeleton);
  for (size_t f = 0; f < frames.size(); ++f) {
    model::ComputePoses<double>(skeleton, q.col(frames[f]), &data);
    std::vector<RigidTransform> X_WN;
    for (size_t i = 0; i < nodes.elements().size(); ++i) {
      const Json& node = nodes.elements()[i];
      const int64_t parent = *node.Find("parent")->integer();
      ASSERT_LT(parent, static_cast<int64_t>(i));
      const RigidTransform X_PN = PoseOf(node, f);
      X_WN.push_back(parent < 0 ? X_PN : X_WN[static_cast<size_t>(parent)] * X_PN);
      // A quaternion's step of 0.1 mrad in each of six joints, over 0.2 m.
      EXPECT_LT((X_WN[i].p - data.X_WB[i + 1].p).norm(), 1e-4) << *node.Find("name")->string();
      EXPECT_LT((X_WN[i].R - data.X_WB[i + 1].R).norm(), 1.5e-3) << *node.Find("name")->string();
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Hands, SceneHand, ::testing::Values("finger4", "hand57"));

TEST(SceneCurveTest, KeepsThePeakOfWhatIsLeftOut) {
  std::vector<double> t, y;
  for (int i = 0; i < 10000; ++i) t.push_back(0.001 * i), y.push_back(0.01 * (i % 7));
  y[5432] = 9.0, y[777] = -3.0, y[9000] = kNaN;
  Scene scene;
  AddCurve("force", "force", "N", -1, t, y, 500, &scene);
  const SceneChannel& curve = scene.channels.at(0);
  EXPECT_LE(curve.y.size(), 500u);
  const std::vector<double>& times = scene.times_s.at(static_cast<size_t>(curve.time));
  ASSERT_EQ(times.size(), curve.y.size());
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  for (const auto& [value, at] : {std::pair{9.0, 5.432}, {-3.0, 0.777}}) {
    const auto found = std::find(curve.y.begin(), curve.y.end(), value);
    ASSERT_NE(found, curve.y.end()) << value;
    EXPECT_DOUBLE_EQ(times[static_cast<size_t>(found - curve.y.begin())], at);
  }
}

TEST(SceneCurveTest, BreaksWhereEverythingIsMissing) {
  std::vector<double> t, y;
  for (int i = 0; i < 1000; ++i) t.push_back(i), y.push_back(i > 400 && i < 600 ? kNaN : 1.0 * i);
  Scene scene;
  AddCurve("x", "x", "1", -1, t, y, 100, &scene);
  const SceneChannel& curve = scene.channels.at(0);
  const std::vector<double>& times = scene.times_s.at(static_cast<size_t>(curve.time));
  for (size_t i = 0; i < curve.y.size(); ++i) {
    const bool gap = times[i] > 400 && times[i] < 600;
    EXPECT_EQ(std::isnan(curve.y[i]), gap) << times[i];
  }
  EXPECT_GE(
      std::count_if(times.begin(), times.end(), [](double at) { return at > 400 && at < 600; }), 9);
}

TEST(SceneTest, EqualTimesAndShapesAreKeptOnce) {
  Scene scene;
  EXPECT_EQ(scene.AddTimes({0, 1, 2}), scene.AddTimes({0, 1, 2}));
  EXPECT_NE(scene.AddTimes({0, 1, 2}), scene.AddTimes({0, 1}));
  EXPECT_EQ(scene.AddShape(geometry::Sphere{0.01}), scene.AddShape(geometry::Sphere{0.01}));
  EXPECT_NE(scene.AddShape(geometry::Sphere{0.01}), scene.AddShape(geometry::Sphere{0.02}));
  EXPECT_NE(scene.AddShape(geometry::Capsule{0.01, 0.1}),
            scene.AddShape(geometry::Cylinder{0.01, 0.1}));
}

TEST(SceneTest, EvenTimesAreToldAsSuchAndOthersOneByOne) {
  Scene scene;
  scene.AddTimes({0.5, 0.502, 0.504});
  scene.AddTimes({0.5, 0.502, 0.6});
  const Json json = SceneToJson(scene);
  const Json::Elements& times = json.Find("times")->elements();
  EXPECT_DOUBLE_EQ(*times[0].Find("step_s")->number(), 0.002);
  EXPECT_EQ(times[1].Find("step_s"), nullptr);
  EXPECT_NEAR(Decoded(times[1])[2], 0.6, 1e-6);
  EXPECT_DOUBLE_EQ(*json.Find("begin_s")->number(), 0.5);
  EXPECT_DOUBLE_EQ(*json.Find("end_s")->number(), 0.6);
}

TEST(SceneTest, APropThatOnlyMovesKeepsItsTurn) {
  const model::Prop prop = *model::LoadLibraryProp("box_3x5x7");
  const geometry::Mat3 R = geometry::Exp<double>(Vec3(0.3, -0.8, 0.4));
  Scene scene;
  SceneMotion motion;
  const int time = scene.AddTimes({0, 1});
  AddProp("box", "prop", prop, {{R, Vec3(0, 0, 0)}, {R, Vec3(0, 0.1, 0.2)}}, time, &scene, &motion);
  scene.motions.push_back(motion);
  const Json json = SceneToJson(scene);
  const Json& node = json.Find("motions")->elements()[0].Find("nodes")->elements()[0];
  const RigidTransform X = PoseOf(node, 1);
  EXPECT_LT((X.p - Vec3(0, 0.1, 0.2)).norm(), 2e-5);
  EXPECT_LT((X.R - R).norm(), 3e-4);
}

TEST(SceneTest, WhatDoesNotFitTogetherIsRefused) {
  Scene good;
  SceneMotion motion{.name = "m", .things = {{"hand", "hand"}}, .nodes = {{.name = "palm"}}};
  const int time = good.AddTimes({0, 1});
  good.motions.push_back(motion);
  ASSERT_TRUE(CheckScene(good));
  const auto refused = [&](auto&& spoil, const char* why) {
    Scene bad = good;
    spoil(bad);
    const Status status = CheckScene(bad);
    ASSERT_FALSE(status) << why;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(status.error().message, HasSubstr(why));
  };
  refused([](Scene& s) { s.motions[0].nodes[0].parent = 0; }, "parent");
  refused([](Scene& s) { s.motions[0].nodes[0].thing = 1; }, "thing");
  refused([&](Scene& s) { s.motions[0].nodes[0].track = {.time = time, .p = {Vec3::Zero()}}; },
          "length");
  refused([](Scene& s) { s.motions[0].nodes[0].shapes = {{.shape = 0}}; }, "shape");
  refused([&](Scene& s) { s.channels.push_back({.name = "c", .time = time, .y = {1.0}}); },
          "length");
  refused([](Scene& s) { s.plots = {{0}}; }, "channel");
  refused(
      [&](Scene& s) {
        SceneContacts& c = s.motions[0].contacts;
        c.time = time, c.frame = {2}, c.touch = {0}, c.touches = {"t"};
        c.p_W = c.normal_W = c.f_onHand_W = {Vec3::Zero()};
        c.friction = c.slip_m_per_s = {0.0};
      },
      "frame");
}

}  // namespace
}  // namespace handhold::report::scene_test

// A hand's motion as BVH, read back by a reader of this test's own: joints where kinematics says.
#include "database/exchange/bvh_writer.h"

#include <cmath>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/exchange/gltf_hand.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"

namespace handhold::exchange::bvh_writer_test {
namespace {

using geometry::Mat3;
using geometry::Vec3;

/// The file as its specification has it: joints with offsets and channels, rows of numbers.
struct Bvh {
  struct Joint {
    std::string name;
    int parent = -1;
    Vec3 offset = Vec3::Zero();
    std::vector<std::string> channels;
  };
  std::vector<Joint> joints;  ///< an end site is called "end of" its parent
  std::vector<std::vector<double>> frames;
  double frame_s = 0;

  explicit Bvh(const std::string& text) {
    std::istringstream in(text);
    std::string word, name;
    std::vector<int> open;
    while (in >> word && word != "MOTION") {
      if (word == "ROOT" || word == "JOINT") in >> name;
      if (word == "Site") name = "end of " + joints[static_cast<size_t>(open.back())].name;
      if (word == "{") {
        joints.push_back({.name = name, .parent = open.empty() ? -1 : open.back(), .channels = {}});
        open.push_back(static_cast<int>(joints.size()) - 1);
      }
      if (word == "}") open.pop_back();
      if (word == "OFFSET") {
        Vec3& offset = joints.back().offset;
        in >> offset.x() >> offset.y() >> offset.z();
      }
      if (word == "CHANNELS") {
        size_t count = 0;
        in >> count;
        joints.back().channels.resize(count);
        for (std::string& channel : joints.back().channels) in >> channel;
      }
    }
    EXPECT_TRUE(open.empty());
    size_t count = 0, channels = 0;
    in >> word >> count >> word >> word >> frame_s;
    for (const Joint& joint : joints) channels += joint.channels.size();
    frames.assign(count, std::vector<double>(channels));
    for (auto& frame : frames)
      for (double& value : frame) in >> value;
    EXPECT_TRUE(in) << "fewer numbers than said";
    EXPECT_FALSE(in >> word) << "more than said";
  }

  /// Where each joint is in a frame, in the file's units.
  std::map<std::string, Vec3> Places(size_t frame) const {
    std::vector<Mat3> turns;
    std::vector<Vec3> places;
    std::map<std::string, Vec3> out;
    size_t at = 0;
    for (const Joint& joint : joints) {
      Vec3 p = joint.offset;
      Mat3 R = Mat3::Identity();
      for (const std::string& channel : joint.channels) {
        const double value = frames[frame][at++];
        const int axis = channel[0] - 'X';
        if (channel.ends_with("position")) {
          p[axis] += value;
        } else {
          R = R * geometry::AxisAngle<double>(Vec3::Unit(axis), value * M_PI / 180.0);
        }
      }
      const auto parent = static_cast<size_t>(joint.parent);
      places.push_back(joint.parent < 0 ? p : Vec3(places[parent] + turns[parent] * p));
      turns.push_back(joint.parent < 0 ? R : Mat3(turns[parent] * R));
      out[joint.name] = places.back();
    }
    return out;
  }
};

Eigen::MatrixXd Moving(const model::Skeleton& hand, int frames) {
  Eigen::MatrixXd q(hand.nq(), frames);
  for (int k = 0; k < frames; ++k) {
    Eigen::VectorXd v(hand.nv());
    for (int d = 0; d < v.size(); ++d) v[d] = 0.5 * std::sin(0.4 * k + d);
    q.col(k) = hand.Integrate(hand.ZeroConfiguration(), v);
  }
  return q;
}

void ExpectPlaces(const Bvh& bvh, size_t frame, const model::Skeleton& hand,
                  const Eigen::VectorXd& q, const std::string& prefix) {
  const std::map<std::string, Vec3> places = bvh.Places(frame);
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, q, &data);
  const auto expect = [&](const std::string& name, const Vec3& p_W) {
    ASSERT_TRUE(places.contains(name)) << name;
    EXPECT_LT((places.at(name) - 100.0 * Vec3(p_W.x(), p_W.z(), -p_W.y())).norm(), 1e-4)
        << name << ": centimetres, Y up";
  };
  for (int b = 1; b < hand.body_count(); ++b)
    expect(prefix + GltfJointName(hand.body(b).name), data.X_WB[static_cast<size_t>(b)].p);
  for (const model::NamedFrame& frame_of : hand.frames())
    if (frame_of.name.ends_with(".end"))
      expect("end of " + prefix + GltfJointName(hand.body(frame_of.body).name),
             model::FramePose(hand, data, hand.FindFrame(frame_of.name)).p);
}

TEST(BvhWriterTest, JointsAreWhereKinematicsSays) {
  for (const char* name : {"finger4", "hand27", "hand57", "arm35"}) {
    const model::Skeleton hand = *model::LoadHand(name);
    const Eigen::MatrixXd q = Moving(hand, 7);
    std::vector<double> times_s;
    for (int k = 0; k < 7; ++k) times_s.push_back(3.0 + 0.1 * k);
    const auto text = WriteBvh({{&hand, &q}}, times_s, {.frames_per_s = 10.0});
    ASSERT_TRUE(text) << text.error().message;
    const Bvh bvh(*text);
    EXPECT_NEAR(bvh.frame_s, 0.1, 1e-6);
    ASSERT_EQ(bvh.frames.size(), 7u);
    for (size_t k = 0; k < 7; ++k)
      ExpectPlaces(bvh, k, hand, q.col(static_cast<Eigen::Index>(k)), "");
  }
}

TEST(BvhWriterTest, TwoHandsHangOnOneRoot) {
  const model::Skeleton right = *model::LoadHand("hand27"), left = model::Mirrored(right);
  const Eigen::MatrixXd q = Moving(right, 2), q_left = Moving(left, 2);
  const auto text = WriteBvh({{&right, &q, "right-"}, {&left, &q_left, "left-"}}, {0.0, 0.5}, {});
  ASSERT_TRUE(text) << text.error().message;
  const Bvh bvh(*text);
  EXPECT_EQ(bvh.frames.size(), 31u) << "60 a second";
  EXPECT_EQ(bvh.joints[0].name, "hands");
  ExpectPlaces(bvh, 30, right, q.col(1), "right-");
  ExpectPlaces(bvh, 30, left, q_left.col(1), "left-");
}

TEST(BvhWriterTest, RestIsTheZeroConfiguration) {
  const model::Skeleton hand = *model::LoadHand("hand57");
  const Eigen::MatrixXd q = hand.ZeroConfiguration();
  const Bvh bvh(*WriteBvh({{&hand, &q}}, {0.0}));
  ASSERT_EQ(bvh.frames.size(), 1u);
  for (size_t i = 3; i < bvh.frames[0].size(); ++i) EXPECT_EQ(bvh.frames[0][i], 0.0);
  const std::map<std::string, Vec3> places = bvh.Places(0);
  const Vec3 along =
      places.at("middle-finger-phalanx-distal") - places.at("middle-finger-phalanx-proximal");
  EXPECT_GT(along.normalized().x(), 0.99) << "straight fingers along +X";
}

// A wrist that turns on and on: programs that go between frames must not see it jump back.
TEST(BvhWriterTest, AnglesGoOnBeyondHalfATurn) {
  const model::Skeleton hand = *model::LoadHand("hand27");
  Eigen::MatrixXd q(hand.nq(), 40);
  std::vector<double> times_s;
  for (int k = 0; k < 40; ++k) {
    Eigen::VectorXd v = Eigen::VectorXd::Zero(hand.nv());
    v[hand.FindDof("R.base.rot_x")] = 0.3 * k, times_s.push_back(0.1 * k);
    q.col(k) = hand.Integrate(hand.ZeroConfiguration(), v);
  }
  const Bvh bvh(*WriteBvh({{&hand, &q}}, times_s, {.frames_per_s = 10.0}));
  for (size_t k = 1; k < bvh.frames.size(); ++k)
    for (size_t c = 3; c < bvh.frames[k].size(); ++c)
      EXPECT_LT(std::abs(bvh.frames[k][c] - bvh.frames[k - 1][c]), 90.0);
  EXPECT_GT(std::abs(bvh.frames.back()[4]), 360.0);
}

TEST(BvhWriterTest, WhatDoesNotFitIsRefused) {
  const model::Skeleton hand = *model::LoadHand("finger4");
  Eigen::MatrixXd q = Moving(hand, 2);
  EXPECT_EQ(WriteBvh({}, {0.0}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(WriteBvh({{&hand, &q}}, {0.0}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(WriteBvh({{&hand, &q}}, {0.1, 0.1}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(WriteBvh({{&hand, &q}}, {0.0, 0.1}, {.frames_per_s = 0}).error().code,
            ErrorCode::kInvalid);
  q(0, 1) = std::nan("");
  EXPECT_EQ(WriteBvh({{&hand, &q}}, {0.0, 0.1}).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::exchange::bvh_writer_test

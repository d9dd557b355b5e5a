// A hand as an armature: WebXR's names and axes, every joint where kinematics says, a skin bound to
// them.
#include "database/exchange/gltf_hand.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"

namespace handhold::exchange::gltf_hand_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

GltfFile Empty(int frames) {
  GltfFile file{.materials = {{.name = "skin"}, {.name = "nail"}, {.name = "capsule"}}};
  for (int k = 0; k < frames; ++k) file.times_s.push_back(0.1 * k);
  return file;
}

Eigen::MatrixXd Moving(const model::Skeleton& hand, int frames) {
  Eigen::MatrixXd q(hand.nq(), frames);
  for (int k = 0; k < frames; ++k)
    q.col(k) =
        hand.Integrate(hand.ZeroConfiguration(), Eigen::VectorXd::Constant(hand.nv(), 0.1 * k));
  return q;
}

/// Where a node is at a frame, its parents taken along.
RigidTransform PoseOf(const GltfFile& file, int node, size_t frame) {
  RigidTransform X;
  for (int at = node; at >= 0; at = file.nodes[static_cast<size_t>(at)].parent) {
    const GltfNode& one = file.nodes[static_cast<size_t>(at)];
    X = (one.moves.empty() ? one.X_PN : one.moves[frame]) * X;
  }
  return X;
}

int IndexOf(const GltfFile& file, const std::string& name) {
  for (size_t i = 0; i < file.nodes.size(); ++i)
    if (file.nodes[i].name == name) return static_cast<int>(i);
  return -1;
}

TEST(GltfHandTest, JointsAreNamedAsWebXrNamesThem) {
  // The 25 joints of the WebXR Hand Input specification.
  std::set<std::string> webxr = {"wrist", "thumb-metacarpal", "thumb-phalanx-proximal",
                                 "thumb-phalanx-distal", "thumb-tip"};
  for (const std::string finger : {"index-finger", "middle-finger", "ring-finger", "pinky-finger"})
    for (const char* part :
         {"-metacarpal", "-phalanx-proximal", "-phalanx-intermediate", "-phalanx-distal", "-tip"})
      webxr.insert(finger + part);
  for (const char* name : {"hand27", "hand29", "hand57", "arm35"}) {
    const model::Skeleton hand = *model::LoadHand(name);
    GltfFile file = Empty(1);
    ASSERT_TRUE(AddHandToGltf(hand, Moving(hand, 1), {.name = "R", .skin = false}, &file));
    for (const std::string& joint : webxr) EXPECT_GE(IndexOf(file, joint), 0) << name << joint;
    std::set<std::string> names;
    for (const GltfNode& node : file.nodes) {
      EXPECT_TRUE(names.insert(node.name).second) << node.name;
      EXPECT_EQ(node.name.find_first_of(".:/[]"), std::string::npos) << "three would change it";
    }
  }
  EXPECT_EQ(GltfJointName("thumb.cmc"), "thumb-cmc");
  EXPECT_EQ(GltfJointName("upperarm"), "upperarm");
}

TEST(GltfHandTest, EveryJointIsWhereKinematicsSays) {
  for (const bool left : {false, true}) {
    const model::Skeleton right = *model::LoadHand("hand57");
    const model::Skeleton hand = left ? model::Mirrored(right) : right;
    const Eigen::MatrixXd q = Moving(hand, 3);
    GltfFile file = Empty(3);
    ASSERT_TRUE(AddHandToGltf(hand, q, {.name = "R", .nail_material = 1}, &file));
    model::KinematicsData data(hand);
    for (size_t k = 0; k < 3; ++k) {
      model::ComputePoses<double>(hand, q.col(static_cast<Eigen::Index>(k)), &data);
      for (int b = 1; b < hand.body_count(); ++b) {
        const int node = IndexOf(file, GltfJointName(hand.body(b).name));
        ASSERT_GE(node, 0);
        const RigidTransform X = PoseOf(file, node, k), &X_WB = data.X_WB[static_cast<size_t>(b)];
        EXPECT_LT((X.p - X_WB.p).norm(), 1e-12);
        EXPECT_LT((X.R.col(2) + X_WB.R.col(0)).norm(), 1e-12) << "-Z to the tip";
        EXPECT_LT((X.R.col(1) - X_WB.R.col(2)).norm(), 1e-12) << "+Y out of the back";
        EXPECT_NEAR(X.R.determinant(), 1.0, 1e-12);
      }
      const int tip = IndexOf(file, "index-finger-tip");
      EXPECT_LT(
          (PoseOf(file, tip, k).p - model::FramePose(hand, data, hand.FindFrame("index.end")).p)
              .norm(),
          1e-12);
    }
    ASSERT_EQ(file.skins.size(), 1u);
    EXPECT_EQ(file.skins[0].joints.size(), static_cast<size_t>(hand.body_count()) - 1 + 14);
    EXPECT_TRUE(WriteGlb(file));
  }
}

// hand27's metacarpals are fixed in the palm: an animator sees no keys there.
TEST(GltfHandTest, WhatNeverMovesSaysSo) {
  const model::Skeleton hand = *model::LoadHand("hand27");
  GltfFile file = Empty(3);
  ASSERT_TRUE(AddHandToGltf(hand, Moving(hand, 3), {.name = "R", .skin = false}, &file));
  const auto& fixed =
      file.nodes[static_cast<size_t>(IndexOf(file, "index-finger-metacarpal"))].moves;
  const auto& turns =
      file.nodes[static_cast<size_t>(IndexOf(file, "index-finger-phalanx-distal"))].moves;
  EXPECT_EQ(fixed[2].R, fixed[0].R);
  EXPECT_EQ(fixed[2].p, fixed[0].p);
  EXPECT_EQ(turns[2].p, turns[0].p);
  EXPECT_NE(turns[2].R, turns[0].R);
}

TEST(GltfHandTest, WhatDoesNotFitIsRefused) {
  const model::Skeleton hand = *model::LoadHand("finger4");
  GltfFile file = Empty(2);
  EXPECT_EQ(AddHandToGltf(hand, Moving(hand, 3), {.name = "R"}, &file).error().code,
            ErrorCode::kInvalid);
  ASSERT_TRUE(AddHandToGltf(hand, Moving(hand, 2), {.name = "R"}, &file));
  EXPECT_TRUE(WriteGlb(file));
  GltfFile wrong = file;
  wrong.skins[0].weight[7][0] -= 1;
  EXPECT_EQ(WriteGlb(wrong).error().code, ErrorCode::kInvalid) << "weights must make a whole";
  wrong = file;
  wrong.skins[0].joint[7][0] = 500;
  EXPECT_EQ(WriteGlb(wrong).error().code, ErrorCode::kInvalid) << "a joint that is not there";
  wrong = file;
  wrong.skins[0].X_MJ.pop_back();
  EXPECT_EQ(WriteGlb(wrong).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::exchange::gltf_hand_test

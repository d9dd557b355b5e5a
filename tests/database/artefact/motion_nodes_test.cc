#include "database/artefact/motion_nodes.h"

#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"

namespace handhold::artefact::motion_nodes_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

Motion TwoHandsAndAMug() {
  Motion motion;
  motion.times = {Timestamp(), Timestamp::FromSeconds(1), Timestamp::FromSeconds(2)};
  for (const char* name : {"hand57", "hand27"}) {
    const model::Skeleton skeleton = *model::LoadHand(name);
    StageHand hand;
    hand.skeleton.value = std::make_shared<const model::Skeleton>(skeleton);
    MotionHand& moved = motion.Add(hand);
    moved.q.resize(skeleton.nq(), 3);
    for (int k = 0; k < 3; ++k)
      moved.q.col(k) = skeleton.Integrate(skeleton.ZeroConfiguration(),
                                          Eigen::VectorXd::Constant(skeleton.nv(), 0.1 * k));
  }
  motion.Add(TableAt(Vec3::Zero()));
  motion.Add(Placed(*model::LoadLibraryProp("mug"), {}, StageThing::Is::kFree)).X_WP = {
      {},
      RigidTransform::Translation(Vec3(0, 0, 0.1)),
      RigidTransform::Translation(Vec3(0, 0, 0.2))};
  return motion;
}

// Chained up, every body stands where kinematics says, whatever frames are asked for.
TEST(MotionNodes, BodiesStandInTheirParentsAndThingsInTheWorld) {
  const Motion motion = TwoHandsAndAMug();
  const std::vector<int> frames = {0, 2};
  const auto nodes = NodesOf(motion, frames);
  ASSERT_TRUE(nodes) << nodes.error().message;
  for (size_t f = 0; f < frames.size(); ++f) {
    std::vector<RigidTransform> X_WN;
    for (const MotionNode& node : *nodes) {
      const RigidTransform& X_PN = node.X_PN.size() == 1 ? node.X_PN[0] : node.X_PN[f];
      X_WN.push_back(node.parent < 0 ? X_PN : X_WN[static_cast<size_t>(node.parent)] * X_PN);
    }
    size_t n = 0;
    for (size_t i = 0; i < motion.hands.size(); ++i) {
      const model::Skeleton& skeleton = *motion.stage.hands[i].skeleton;
      model::KinematicsData data(skeleton);
      model::ComputePoses<double>(skeleton, motion.hands[i].q.col(frames[f]), &data);
      for (int b = 1; b < skeleton.body_count(); ++b, ++n) {
        EXPECT_EQ((*nodes)[n].name, skeleton.body(b).name);
        EXPECT_EQ((*nodes)[n].index, i);
        EXPECT_LT((X_WN[n].p - data.X_WB[static_cast<size_t>(b)].p).norm(), 1e-12);
      }
    }
    ASSERT_EQ(n + 2, nodes->size());
    EXPECT_EQ((*nodes)[n].X_PN.size(), 1u);
    EXPECT_NEAR(X_WN[n + 1].p.z(), 0.1 * frames[f], 1e-12);
    EXPECT_EQ((*nodes)[n + 1].shapes.size(), motion.stage.things[1].prop->shapes.size());
  }
}

TEST(MotionNodes, AHandWithoutItsSkeletonIsRefusedAndAThingWithoutItsPropIsAFrame) {
  Motion motion = TwoHandsAndAMug();
  const std::vector<int> frames = {0};
  motion.stage.things[1].prop.value = nullptr;
  EXPECT_TRUE(NodesOf(motion, frames)->back().shapes.empty());
  motion.stage.hands[1].skeleton = motion.stage.hands[0].skeleton;
  EXPECT_EQ(NodesOf(motion, frames).error().code, ErrorCode::kInvalid);
  motion.stage.hands[1].skeleton.value = nullptr;
  EXPECT_EQ(NodesOf(motion, frames).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace handhold::artefact::motion_nodes_test

// A motion's hand, object and contacts as glTF nodes: where they are, when they are there, how long
// the forces.
#include "database/exchange/gltf_motion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"

namespace handhold::exchange::gltf_motion_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

artefact::Motion Sample(const model::Skeleton& hand) {
  artefact::Motion motion;
  motion.provenance.step = "synth.test";
  artefact::StageHand staged;
  staged.skeleton.value = std::make_shared<const model::Skeleton>(hand);
  motion.Add(staged);
  motion.hands[0].q.resize(hand.nq(), 3);
  artefact::StageThing thing =
      artefact::Placed(*model::LoadLibraryProp("box_3x5x7"), {}, artefact::StageThing::Is::kFree);
  thing.name = "box", thing.X_WP = {};
  artefact::MotionObject& box = motion.Add(thing);
  for (int k = 0; k < 3; ++k) {
    motion.times.push_back(Timestamp::FromSeconds(2.0 + 0.1 * k));
    motion.hands[0].q.col(k) =
        hand.Integrate(hand.ZeroConfiguration(), Eigen::VectorXd::Constant(hand.nv(), 0.1 * k));
    box.X_WP.push_back(RigidTransform::Translation(Vec3(0.1, 0, 0.01 * k)));
  }
  artefact::Touch touch;
  touch.a = {artefact::Side::Kind::kHand, "R", "R.index.pad", 1};
  touch.b.name = "box";
  motion.touches = {touch};
  for (int nth = 0; nth < 2; ++nth) {
    artefact::ContactRow row;
    row.frame = 1, row.f_onA_W = {0, 0, 2.0 + nth}, row.p_W = {0.1, 0, 0.02 + 0.01 * nth};
    row.normal_W = {0, 0, 1};
    motion.rows.push_back(row);
  }
  return motion;
}

const GltfNode* Find(const GltfFile& file, const std::string& name) {
  for (const GltfNode& node : file.nodes)
    if (node.name == name) return &node;
  return nullptr;
}

TEST(GltfMotionTest, HandObjectAndContactsAreNodes) {
  const model::Skeleton hand = *model::LoadHand("hand57");
  const model::Prop box = *model::LoadLibraryProp("box_3x5x7");
  const artefact::Motion motion = Sample(hand);
  const auto file = GltfOfMotion(motion);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_DOUBLE_EQ(file->times_s.at(0), 0.0) << "times begin at 0";
  EXPECT_NEAR(file->times_s.at(2), 0.2, 1e-9);

  ASSERT_NE(Find(*file, "right-hand"), nullptr);
  EXPECT_NE(Find(*file, "wrist"), nullptr);
  ASSERT_EQ(file->skins.size(), 1u);

  const GltfNode* object = Find(*file, "box");
  ASSERT_NE(object, nullptr);
  EXPECT_NEAR(object->moves.at(2).p.z(), 0.02, 1e-12);
  EXPECT_EQ(object->shapes.size(), box.shapes.size());

  const auto contacts = static_cast<int>(Find(*file, "contacts") - file->nodes.data());
  for (const auto& [name, force_N] :
       {std::pair{"contact R.index.pad on box", 2.0}, {"contact R.index.pad on box 2", 3.0}}) {
    const GltfNode* point = Find(*file, name);
    ASSERT_NE(point, nullptr) << name;
    EXPECT_EQ(point->scales.at(0), Vec3::Zero()) << "not there before";
    EXPECT_EQ(point->scales.at(1), Vec3::Ones());
    EXPECT_EQ(point->scales.at(2), Vec3::Zero()) << "nor after";
    EXPECT_TRUE(point->steps) << "a contact does not fade in";
    EXPECT_EQ(point->parent, contacts);
    const GltfNode* arrow = Find(*file, std::string(name) + " force");
    ASSERT_NE(arrow, nullptr);
    EXPECT_NEAR(arrow->scales.at(1).y(), 0.01 * force_N, 1e-12) << "1 cm per newton";
    EXPECT_LT((arrow->moves.at(1).R * Vec3::UnitY() - Vec3::UnitZ()).norm(), 1e-9)
        << "along the force on the hand";
  }
  EXPECT_TRUE(WriteGlb(*file));
}

TEST(GltfMotionTest, TwoHandsKeepTheirNamesApart) {
  const model::Skeleton right = *model::LoadHand("hand57"), left = model::Mirrored(right);
  artefact::Motion motion = Sample(right);
  artefact::StageHand other{.name = "L"};
  other.skeleton.value = std::make_shared<const model::Skeleton>(left);
  motion.Add(other).q = motion.hands[0].q;
  motion.stage.things[0].prop.value = nullptr;
  const auto file = GltfOfMotion(motion);
  ASSERT_TRUE(file) << file.error().message;
  for (const char* name : {"right-hand", "left-hand", "right-wrist", "left-wrist",
                           "right-thumb-tip", "left-thumb-tip"})
    EXPECT_NE(Find(*file, name), nullptr) << name;
  EXPECT_EQ(file->skins.size(), 2u);
  EXPECT_TRUE(Find(*file, "box")->shapes.empty()) << "a frame where the prop is not known";
}

TEST(GltfMotionTest, WhatIsNotWantedIsLeftOut) {
  const model::Skeleton hand = *model::LoadHand("hand57");
  const artefact::Motion motion = Sample(hand);
  const auto bare = GltfOfMotion(motion, {.contacts = false, .skin = false, .capsules = true});
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_EQ(Find(*bare, "contacts"), nullptr);
  EXPECT_TRUE(bare->skins.empty());
  EXPECT_FALSE(Find(*bare, "wrist")->shapes.empty()) << "capsules on asking";
  for (const GltfNode& node : bare->nodes) {
    EXPECT_FALSE(node.name.starts_with("contact")) << node.name;
    EXPECT_FALSE(node.name.ends_with("-half")) << node.name;
  }
  const auto whole = GltfOfMotion(motion);
  EXPECT_TRUE(Find(*whole, "wrist")->shapes.empty()) << "and only then";
  EXPECT_NE(Find(*whole, "index-finger-phalanx-distal-half"), nullptr);
  const auto rigid = GltfOfMotion(motion, {.half_joints = false});
  EXPECT_EQ(Find(*rigid, "index-finger-phalanx-distal-half"), nullptr);
  EXPECT_EQ(rigid->skins.size(), 1u);
}

TEST(GltfMotionTest, PartsOfAnotherMotionAreRefused) {
  const model::Skeleton hand = *model::LoadHand("hand57"), finger = *model::LoadHand("finger4");
  artefact::Motion motion = Sample(hand);
  motion.stage.hands[0].skeleton.value = std::make_shared<const model::Skeleton>(finger);
  EXPECT_EQ(GltfOfMotion(motion).error().code, ErrorCode::kInvalid);
  motion.stage.hands[0].skeleton.value = nullptr;
  EXPECT_EQ(GltfOfMotion(motion).error().code, ErrorCode::kInvalid);
  motion.stage.hands.clear();
  EXPECT_EQ(GltfOfMotion(motion).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace handhold::exchange::gltf_motion_test

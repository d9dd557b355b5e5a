// A motion's hand, object and contacts as glTF nodes: where they are, when they are there, how long
// the forces.
#include "database/exchange/gltf_motion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"

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

  // Chained up, every body stands where kinematics says.
  model::KinematicsData data(hand);
  for (size_t k = 0; k < 3; ++k) {
    model::ComputePoses<double>(hand, motion.hands[0].q.col(static_cast<Eigen::Index>(k)), &data);
    std::vector<RigidTransform> X_WN;
    for (int b = 1; b < hand.body_count(); ++b) {
      const GltfNode& node = file->nodes.at(static_cast<size_t>(b) - 1);
      EXPECT_EQ(node.name, hand.body(b).name);
      X_WN.push_back(node.parent < 0 ? node.moves[k]
                                     : X_WN[static_cast<size_t>(node.parent)] * node.moves[k]);
      EXPECT_LT((X_WN.back().p - data.X_WB[static_cast<size_t>(b)].p).norm(), 1e-12);
    }
  }
  const GltfNode* object = Find(*file, "box");
  ASSERT_NE(object, nullptr);
  EXPECT_NEAR(object->moves.at(2).p.z(), 0.02, 1e-12);
  EXPECT_EQ(object->shapes.size(), box.shapes.size());

  for (const auto& [name, force_N] :
       {std::pair{"contact R.index.pad on box", 2.0}, {"contact R.index.pad on box 2", 3.0}}) {
    const GltfNode* point = Find(*file, name);
    ASSERT_NE(point, nullptr) << name;
    EXPECT_EQ(point->scales.at(0), Vec3::Zero()) << "not there before";
    EXPECT_EQ(point->scales.at(1), Vec3::Ones());
    EXPECT_EQ(point->scales.at(2), Vec3::Zero()) << "nor after";
    EXPECT_TRUE(point->steps) << "a contact does not fade in";
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
  EXPECT_NE(Find(*file, "R/" + right.body(2).name), nullptr);
  EXPECT_NE(Find(*file, "L/" + left.body(2).name), nullptr);
  EXPECT_TRUE(Find(*file, "box")->shapes.empty()) << "a frame where the prop is not known";
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

// Our .glb as others read it: no error of Khronos' validator, and poses of three's GLTFLoader where
// kinematics says, Y up.
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/exchange/gltf.h"
#include "database/exchange/gltf_hand.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/model/prop.h"
#include "database/skin/skin.h"
#include "database/text/file.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::exchange::gltf_peers_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using ::testing::IsEmpty;
using text::Json;

Json AskPeers(const std::string& glb, const std::string& times) {
  const std::string file = ::testing::TempDir() + "/gltf_peers.glb";
  EXPECT_TRUE(text::WriteTextFile(file, glb));
  const auto run = support::RunCommand(support::Node() + " " + support::SourceDir() +
                                       "/tests/tools/viewer/gltf_peers.mjs " +
                                       support::NodeModules() + " " + file + " '" + times + "'");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  const size_t at = run.output.find("{\"errors\"");
  const auto answer = text::ParseJson(at == std::string::npos ? run.output : run.output.substr(at));
  EXPECT_TRUE(answer) << run.output.substr(0, 2000);
  return answer ? *answer : Json();
}

TEST(GltfPeersTest, AgreeOnAMovingHandToATenthOfAHundredthOfAMillimetre) {
  const model::Skeleton hand = *model::LoadHand("hand57");
  GltfFile file{.scene_name = "grasp",
                .materials = {{.name = "skin"}, {.name = "glass", .rgba = {0.5, 0.6, 0.7, 0.5}}}};
  std::vector<std::vector<RigidTransform>> X_WB;
  model::KinematicsData data(hand);
  for (int k = 0; k < 11; ++k) {
    Eigen::VectorXd v(hand.nv());
    for (int d = 0; d < v.size(); ++d) v[d] = 0.5 * std::sin(0.6 * k + d);
    model::ComputePoses<double>(hand, hand.Integrate(hand.ZeroConfiguration(), v), &data);
    X_WB.push_back(data.X_WB);
    file.times_s.push_back(0.02 * k);
  }
  for (int b = 1; b < hand.body_count(); ++b) {
    const model::Body& body = hand.body(b);
    GltfNode node{.name = body.name, .parent = body.parent - 1};
    for (const auto& X : X_WB)
      node.moves.push_back(X[static_cast<size_t>(body.parent)].Inverse() *
                           X[static_cast<size_t>(b)]);
    for (const model::BodyShape& shape : body.shapes)
      node.shapes.push_back({.shape = shape.shape, .X_NS = shape.X_BS});
    file.nodes.push_back(std::move(node));
  }
  for (const char* name : {"mug", "hammer", "wedge", "bumped_plate"}) {
    const model::Prop prop = *model::LoadLibraryProp(name);
    GltfNode node{.name = name, .X_PN = RigidTransform::Translation(Vec3(0.1, 0.2, 0.3))};
    for (const model::PropShape& shape : prop.shapes)
      node.shapes.push_back({.shape = shape.shape, .X_NS = shape.X_PS, .material = 1});
    node.extras = Json::Object({{"mass_kg", prop.mass.mass_kg}});
    file.nodes.push_back(std::move(node));
  }
  const auto glb = WriteGlb(file);
  ASSERT_TRUE(glb) << glb.error().message;
  const Json answer = AskPeers(*glb, "[0, 0.1, 0.2]");
  ASSERT_TRUE(answer.is_object());
  EXPECT_THAT(answer.Find("errors")->elements(), IsEmpty()) << *text::WriteJson(answer);
  EXPECT_THAT(answer.Find("warnings")->elements(), IsEmpty());
  EXPECT_GT(*answer.Find("vertices")->integer(), 1000);
  double worst = 0.0;
  for (size_t i = 0; i < 3; ++i) {
    for (int b = 1; b < hand.body_count(); ++b) {
      const Json* frames = answer.Find("nodes")->Find(hand.body(b).name);
      ASSERT_NE(frames, nullptr) << hand.body(b).name;
      const RigidTransform& X = X_WB[5 * i][static_cast<size_t>(b)];
      const Vec3 z = X.R.col(2);
      // Z up becomes Y up: (x, y, z) -> (x, z, -y).
      const Vec3 p(X.p.x(), X.p.z(), -X.p.y()), up(z.x(), z.z(), -z.y());
      for (int c = 0; c < 3; ++c) {
        const auto& told = frames->elements()[i].elements();
        worst = std::max(worst, std::abs(*told[static_cast<size_t>(c)].number() - p[c]));
        EXPECT_NEAR(*told[static_cast<size_t>(c) + 3].number(), up[c], 1e-5);
      }
    }
  }
  EXPECT_LT(worst, 1e-5);
  EXPECT_GT(worst, 0.0) << "single precision leaves something";
}

/// Z up becomes Y up.
Vec3 YUp(const Vec3& p) { return {p.x(), p.z(), -p.y()}; }

// Two hands, each an armature with its skin: joints and skin are where we say.
TEST(GltfPeersTest, AgreeOnArmaturesAndTheirSkins) {
  const model::Skeleton right = *model::LoadHand("hand57"), left = model::Mirrored(right);
  GltfFile file{.scene_name = "two hands",
                .materials = {{.name = "skin"}, {.name = "nail"}, {.name = "capsule"}}};
  for (int k = 0; k < 11; ++k) file.times_s.push_back(0.02 * k);
  std::vector<Eigen::MatrixXd> motions;
  for (const model::Skeleton* hand : {&right, &left}) {
    Eigen::MatrixXd q(hand->nq(), 11);
    for (int k = 0; k < 11; ++k) {
      Eigen::VectorXd v(hand->nv());
      for (int d = 0; d < v.size(); ++d) v[d] = 0.4 * std::sin(0.6 * k + d);
      q.col(k) = hand->Integrate(hand->ZeroConfiguration(), v);
    }
    ASSERT_TRUE(AddHandToGltf(*hand, q,
                              {.name = hand->draft().side,
                               .prefix = hand->draft().side + "-",
                               .capsules = hand == &left,
                               .nail_material = 1,
                               .capsule_material = 2},
                              &file));
    motions.push_back(std::move(q));
  }
  const auto glb = WriteGlb(file);
  ASSERT_TRUE(glb) << glb.error().message;
  const Json answer = AskPeers(*glb, "[0, 0.1, 0.2]");
  ASSERT_TRUE(answer.is_object());
  EXPECT_THAT(answer.Find("errors")->elements(), IsEmpty()) << *text::WriteJson(answer);
  EXPECT_THAT(answer.Find("warnings")->elements(), IsEmpty()) << *text::WriteJson(answer);

  double joints_m = 0.0, skin_m = 0.0;
  size_t checked = 0;
  for (size_t h = 0; h < 2; ++h) {
    const model::Skeleton& hand = h == 0 ? right : left;
    const std::string prefix = hand.draft().side + "-";
    const skin::Skin skin = *skin::MakeSkin(hand);
    const Json* vertices = answer.Find("skins")->Find("skin " + prefix + "wrist");
    ASSERT_NE(vertices, nullptr) << *text::WriteJson(answer);
    model::KinematicsData data(hand);
    for (size_t i = 0; i < 3; ++i) {
      model::ComputePoses<double>(hand, motions[h].col(static_cast<Eigen::Index>(5 * i)), &data);
      for (int b = 1; b < hand.body_count(); ++b) {
        const Json* told = answer.Find("nodes")->Find(prefix + GltfJointName(hand.body(b).name));
        ASSERT_NE(told, nullptr) << hand.body(b).name;
        const auto& number = told->elements()[i].elements();
        const RigidTransform& X = data.X_WB[static_cast<size_t>(b)];
        const Vec3 p = YUp(X.p), back = YUp(-X.R.col(0));  // +Z of the node
        for (int c = 0; c < 3; ++c) {
          joints_m = std::max(joints_m, std::abs(*number[static_cast<size_t>(c)].number() - p[c]));
          EXPECT_NEAR(*number[static_cast<size_t>(c) + 3].number(), back[c], 1e-5);
        }
      }
      const std::vector<Vec3> ours =
          skin::DeformedVertices(skin, skin::JointPoses(skin, data.X_WB));
      const auto& theirs = vertices->elements()[i].elements();
      ASSERT_EQ(theirs.size(), 3 * ((ours.size() + 96) / 97));
      for (size_t v = 0; 97 * v < ours.size(); ++v, ++checked)
        for (size_t c = 0; c < 3; ++c)
          skin_m = std::max(skin_m, std::abs(*theirs[3 * v + c].number() -
                                             YUp(ours[97 * v])[static_cast<Eigen::Index>(c)]));
    }
  }
  EXPECT_LT(joints_m, 1e-5);
  EXPECT_LT(skin_m, 5e-5);
  EXPECT_GT(checked, 100u);
  RecordProperty("joints_nm", static_cast<int>(1e9 * joints_m));
  RecordProperty("skin_nm", static_cast<int>(1e9 * skin_m));
}

TEST(GltfPeersTest, TheValidatorFindsWhatIsWrong) {
  GltfFile file{.scene_name = "one", .nodes = {{.name = "a"}}};
  std::string glb = *WriteGlb(file);
  const size_t at = glb.find("\"version\":\"2.0\"");
  ASSERT_NE(at, std::string::npos);
  glb[at + 11] = '3';
  const auto run = support::RunCommand("true");
  ASSERT_EQ(run.exit_code, 0);
  const std::string path = ::testing::TempDir() + "/gltf_wrong.glb";
  ASSERT_TRUE(text::WriteTextFile(path, glb));
  const auto refused = support::RunCommand(support::Node() + " " + support::SourceDir() +
                                           "/tests/tools/viewer/gltf_peers.mjs " +
                                           support::NodeModules() + " " + path + " '[]'");
  EXPECT_TRUE(refused.exit_code != 0 || refused.output.find("\"errors\":[]") == std::string::npos)
      << refused.output;
}

}  // namespace
}  // namespace handhold::exchange::gltf_peers_test

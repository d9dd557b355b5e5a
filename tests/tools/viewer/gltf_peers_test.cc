// Our .glb as others read it: no error of Khronos' validator, and poses of three's GLTFLoader where
// kinematics says, Y up.
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/exchange/gltf.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/model/prop.h"
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

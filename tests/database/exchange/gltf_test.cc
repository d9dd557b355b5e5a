// A .glb read back by hand: what the specification says of chunks, accessors and axes. That other
// programs read it: tests/tools/viewer.
#include "database/exchange/gltf.h"

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/geometry/inertia.h"

namespace handhold::exchange::gltf_test {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using ::testing::HasSubstr;
using text::Json;

struct Glb {
  Json json;
  std::string binary;
};

uint32_t Word(const std::string& bytes, size_t at) {
  uint32_t v = 0;
  std::memcpy(&v, bytes.data() + at, 4);
  return v;
}

Glb Read(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 4), "glTF");
  EXPECT_EQ(Word(bytes, 4), 2u);
  EXPECT_EQ(Word(bytes, 8), bytes.size());
  const uint32_t json = Word(bytes, 12);
  EXPECT_EQ(bytes.substr(16, 4), "JSON");
  Glb out{*text::ParseJson(bytes.substr(20, json)), ""};
  EXPECT_EQ(json % 4, 0u);
  if (bytes.size() > 20 + json) {
    EXPECT_EQ(bytes.substr(24 + json, 3), "BIN");
    out.binary = bytes.substr(28 + json, Word(bytes, 20 + json));
  }
  return out;
}

std::vector<float> Floats(const Glb& glb, int64_t accessor) {
  const Json& a = glb.json.Find("accessors")->elements()[static_cast<size_t>(accessor)];
  const Json& view = glb.json.Find("bufferViews")
                         ->elements()[static_cast<size_t>(*a.Find("bufferView")->integer())];
  std::vector<float> out(static_cast<size_t>(*view.Find("byteLength")->integer()) / 4);
  std::memcpy(out.data(), glb.binary.data() + *view.Find("byteOffset")->integer(), out.size() * 4);
  return out;
}

GltfFile TwoBoxes() {
  GltfFile file{.scene_name = "boxes", .materials = {{.name = "grey"}}, .times_s = {0.0, 0.5, 1.0}};
  GltfNode base{.name = "base", .X_PN = RigidTransform::Translation(Vec3(0.1, 0.2, 0.3))};
  base.shapes = {{.shape = geometry::Box{Vec3(0.02, 0.04, 0.06)}}};
  GltfNode arm{.name = "arm", .parent = 0};
  for (int k = 0; k < 3; ++k)
    arm.moves.push_back({geometry::Exp<double>(Vec3(0, 0, 0.4 * k)), Vec3(0, 0.05, 0.01 * k)});
  file.nodes = {base, arm};
  return file;
}

TEST(GltfTest, OneNodeTurnsZUpToYUp) {
  const Glb glb = Read(*WriteGlb(TwoBoxes()));
  const Json& root = glb.json.Find("nodes")->elements()[0];
  const auto& q = root.Find("rotation")->elements();
  const geometry::Mat3 R = geometry::FromQuaternion<double>(*q[3].number(), *q[0].number(),
                                                            *q[1].number(), *q[2].number());
  EXPECT_LT((R * Vec3::UnitZ() - Vec3::UnitY()).norm(), 1e-12) << "up stays up";
  EXPECT_LT((R * Vec3::UnitX() - Vec3::UnitX()).norm(), 1e-12);
  EXPECT_EQ(*root.Find("children")->elements()[0].integer(), 1);
}

TEST(GltfTest, PosesAndTimesAreInTheBuffer) {
  const Glb glb = Read(*WriteGlb(TwoBoxes()));
  const Json& base = glb.json.Find("nodes")->elements()[1];
  EXPECT_DOUBLE_EQ(*base.Find("translation")->elements()[1].number(), 0.2);
  const Json& animation = glb.json.Find("animations")->elements()[0];
  ASSERT_EQ(animation.Find("channels")->elements().size(), 2u) << "only the arm moves";
  for (const Json& channel : animation.Find("channels")->elements()) {
    EXPECT_EQ(*channel.Find("target")->Find("node")->integer(), 2);
    const Json& sampler =
        animation.Find("samplers")
            ->elements()[static_cast<size_t>(*channel.Find("sampler")->integer())];
    EXPECT_EQ(Floats(glb, *sampler.Find("input")->integer()),
              (std::vector<float>{0.0f, 0.5f, 1.0f}));
    const std::vector<float> out = Floats(glb, *sampler.Find("output")->integer());
    if (*channel.Find("target")->Find("path")->string() == "translation") {
      ASSERT_EQ(out.size(), 9u);
      EXPECT_FLOAT_EQ(out[8], 0.02f);
    } else {
      ASSERT_EQ(out.size(), 12u);
      EXPECT_NEAR(out[10], std::sin(0.4), 1e-6) << "z of x y z w";
      EXPECT_NEAR(out[11], std::cos(0.4), 1e-6);
    }
  }
}

TEST(GltfTest, RotationsGoTheShorterWay) {
  GltfFile file = TwoBoxes();
  for (int k = 0; k < 3; ++k)  // through pi, where w of the nearer quaternion changes its sign
    file.nodes[1].moves[static_cast<size_t>(k)].R =
        geometry::Exp<double>(Vec3(0, 0, 2.9 + 0.3 * k));
  const Glb glb = Read(*WriteGlb(file));
  const Json& animation = glb.json.Find("animations")->elements()[0];
  const std::vector<float> q =
      Floats(glb, *animation.Find("samplers")->elements()[1].Find("output")->integer());
  for (size_t k = 1; k < 3; ++k) {
    float dot = 0;
    for (size_t c = 0; c < 4; ++c) dot += q[4 * k + c] * q[4 * k - 4 + c];
    EXPECT_GT(dot, 0.9f);
  }
}

class GltfShapeTest : public ::testing::TestWithParam<geometry::Shape> {};

TEST_P(GltfShapeTest, TrianglesEncloseTheShapeFromOutside) {
  const geometry::Mesh mesh = Triangulate(GetParam());
  const geometry::MeshReport report = geometry::InspectMesh(mesh);
  EXPECT_TRUE(report.watertight()) << report.Summary();
  const double solid = geometry::MassOf(GetParam(), 1.0)->mass_kg;
  EXPECT_GT(report.signed_volume_m3, 0.96 * solid) << "counter-clockwise from outside";
  EXPECT_LE(report.signed_volume_m3, solid * (1 + 1e-9));
  double worst = 0.0;
  for (const Vec3& v : mesh.vertices)
    worst = std::max(worst, std::abs(geometry::SignedDistance(GetParam(), v).distance_m));
  EXPECT_LT(worst, 1e-9) << "vertices lie on the surface";
}
INSTANTIATE_TEST_SUITE_P(Shapes, GltfShapeTest,
                         ::testing::Values(geometry::Shape(geometry::Sphere{0.01}),
                                           geometry::Shape(geometry::Capsule{0.01, 0.03}),
                                           geometry::Shape(geometry::Capsule{0.01, 0.0}),
                                           geometry::Shape(geometry::Cylinder{0.01, 0.03}),
                                           geometry::Shape(geometry::Box{Vec3(0.01, 0.02, 0.03)})));

TEST(GltfTest, WhatDoesNotFitIsRefusedByName) {
  const auto refused = [](const GltfFile& file, const char* why) {
    const auto glb = WriteGlb(file);
    ASSERT_FALSE(glb) << why;
    EXPECT_EQ(glb.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(glb.error().message, HasSubstr(why));
  };
  GltfFile file = TwoBoxes();
  file.nodes[1].moves.pop_back();
  refused(file, "'arm'");
  file = TwoBoxes();
  file.nodes[0].parent = 1;
  refused(file, "'base'");
  file = TwoBoxes();
  file.nodes[0].shapes[0].material = 1;
  refused(file, "material");
  file = TwoBoxes();
  file.nodes[1].moves[1].p.x() = std::numeric_limits<double>::quiet_NaN();
  refused(file, "finite");
  file = TwoBoxes();
  file.times_s = {0.0, 0.5, 0.5};
  refused(file, "ascend");
}

}  // namespace
}  // namespace handhold::exchange::gltf_test

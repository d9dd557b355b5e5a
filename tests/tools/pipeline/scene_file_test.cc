#include "tools/pipeline/scene_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/prop.h"

namespace handhold::pipeline::scene_file_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kBegin = "format = \"handhold.scene\"\nversion = 1\nname = \"x\"\n";

Error ErrorOf(const std::string& rest) {
  const auto scene = ParseScene(kBegin + rest, "x.toml");
  EXPECT_FALSE(scene) << rest;
  return scene ? Error{ErrorCode::kInvalid, ""} : scene.error();
}

TEST(SceneFile, ScenesOfOursReadAndNamePropsOfOurs) {
  const auto names = SceneNames().value();
  EXPECT_THAT(names, ::testing::IsSupersetOf({"bulb_on_pivot", "stack_on_box"}));
  for (const std::string& name : names) {
    const auto scene = ReadScene(name);
    ASSERT_TRUE(scene) << scene.error().message;
    EXPECT_EQ(scene->name, name);
    for (const SceneObject& object : scene->objects)
      EXPECT_TRUE(model::LoadLibraryProp(object.prop)) << object.prop;
  }
}

TEST(SceneFile, EveryKeyIsRead) {
  const auto scene = ParseScene(std::string(kBegin) + R"(
table_top_mm = -5
judge = "a"
hold_s = [1.5, 3]
touches_itself = true
[[object]]
name = "a"
prop = "box_3x5x7"
position_mm = [100, 20, 35]
rotvec_deg = [0, 0, 90]
mass_kg = 0.05
friction = 0.3
scale = 2
[[object]]
name = "b"
prop = "light_bulb"
is = "pivot"
[object.pivot]
axis = [0, 3, 0]
through_mm = [0, 0, -7]
damping_Nms_per_rad = 0.01
[[object]]
name = "c"
prop = "thing.stl"
mesh_unit = "m"
is = "fixed"
[[hand]]
trajectory = "tripod_box_3x5x7"
)",
                                "x.toml");
  ASSERT_TRUE(scene) << scene.error().message;
  EXPECT_DOUBLE_EQ(*scene->table_top_m, -0.005);
  EXPECT_EQ(scene->judge, "a");
  EXPECT_EQ(scene->hold->begin, Timestamp::FromSeconds(1.5));
  EXPECT_EQ(scene->hold->end, Timestamp::FromSeconds(3.0));
  EXPECT_TRUE(scene->touches_itself);
  ASSERT_EQ(scene->objects.size(), 3u);
  const SceneObject &a = scene->objects[0], &b = scene->objects[1], &c = scene->objects[2];
  EXPECT_NEAR((a.X_WP->p - geometry::Vec3(0.1, 0.02, 0.035)).norm(), 0, 1e-12);
  EXPECT_NEAR((a.X_WP->R.col(0) - geometry::Vec3::UnitY()).norm(), 0, 1e-12);
  EXPECT_EQ(a.mass_kg, 0.05);
  EXPECT_EQ(a.friction, 0.3);
  EXPECT_EQ(a.scale, 2.0);
  EXPECT_EQ(a.kind, SceneObject::Kind::kFree);
  EXPECT_EQ(b.kind, SceneObject::Kind::kPivot);
  EXPECT_EQ(b.pivot.axis_P, geometry::Vec3::UnitY());
  EXPECT_DOUBLE_EQ(b.pivot.p_P.z(), -0.007);
  EXPECT_EQ(b.pivot.damping_Nms_per_rad, 0.01);
  EXPECT_FALSE(b.X_WP);
  EXPECT_EQ(c.kind, SceneObject::Kind::kFixed);
  EXPECT_EQ(c.metres_per_unit, 1.0);
  EXPECT_EQ(scene->hands, std::vector<std::string>{"tripod_box_3x5x7"});
}

// The line, the key, and what would do.
TEST(SceneFile, MistakesNameLineKeyAndRemedy) {
  EXPECT_THAT(ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\nmas_kg = 1\n").message,
              AllOf(HasSubstr("x.toml:7: /object/0"), HasSubstr("mass_kg")));
  EXPECT_THAT(ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\nis = \"fre\"\n").message,
              AllOf(HasSubstr("x.toml:7: /object/0/is"), HasSubstr("free")));
  EXPECT_THAT(ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\nis = \"pivot\"\n").message,
              AllOf(HasSubstr("x.toml:4: /object/0"), HasSubstr("[object.pivot]")));
  EXPECT_THAT(
      ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\n[object.pivot]\naxis = [0, 0, 1]\n")
          .message,
      HasSubstr("is = \"pivot\""));
  EXPECT_THAT(ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\nis = \"pivot\"\n[object.pivot]\n"
                      "axis = [0, 0, 0]\n")
                  .message,
              HasSubstr("x.toml:9: /object/0/pivot/axis"));
  EXPECT_THAT(ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\nmass_kg = -1\n").message,
              HasSubstr("/object/0/mass_kg"));
  EXPECT_THAT(ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\n[[object]]\nname = \"a\"\n"
                      "prop = \"ball\"\n")
                  .message,
              AllOf(HasSubstr("/object/1"), HasSubstr("rename")));
  EXPECT_THAT(ErrorOf("judge = \"bal\"\n[[object]]\nname = \"ball\"\nprop = \"ball\"\n").message,
              AllOf(HasSubstr("x.toml:4: /judge"), HasSubstr("ball")));
  EXPECT_THAT(ErrorOf("hold_s = [2, 1]\n").message, HasSubstr("/hold_s"));
  EXPECT_THAT(
      ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\nrotvec_deg = [1, 0, 0]\n").message,
      HasSubstr("position_mm"));
  EXPECT_EQ(
      ParseScene("format = \"handhold.scene\"\nversion = 2\nname = \"x\"\n", "x.toml").error().code,
      ErrorCode::kVersion);
  EXPECT_THAT(ParseScene("name = \"x\"\n", "x.toml").error().message, HasSubstr("handhold.scene"));
  EXPECT_THAT(ReadScene("stack_on_bx").error().message, HasSubstr("stack_on_box"));
}

TEST(SceneFile, AMeshIsFoundBesideTheFile) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "handhold_scene_file_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "s.toml") << kBegin << "[[object]]\nname = \"a\"\nprop = \"a.stl\"\n";
  const auto scene = ReadScene((folder / "s.toml").string());
  ASSERT_TRUE(scene) << scene.error().message;
  EXPECT_EQ(scene->objects[0].prop, (folder / "a.stl").string());
}

}  // namespace
}  // namespace handhold::pipeline::scene_file_test

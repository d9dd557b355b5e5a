#include "database/artefact/stage_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/prop.h"

namespace handhold::artefact::stage_file_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kBegin = "format = \"handhold.scene\"\nversion = 1\nname = \"x\"\n";

Error ErrorOf(const std::string& rest) {
  const auto scene = ParseStage(kBegin + rest, "x.toml");
  EXPECT_FALSE(scene) << rest;
  return scene ? Error{ErrorCode::kInvalid, ""} : scene.error();
}

TEST(StageFile, ScenesOfOursReadAndNamePropsOfOurs) {
  const auto names = SceneNames().value();
  EXPECT_THAT(names, ::testing::IsSupersetOf({"bulb_on_pivot", "stack_on_box"}));
  for (const std::string& name : names) {
    const auto scene = ReadStage(name);
    ASSERT_TRUE(scene) << scene.error().message;
    EXPECT_EQ(scene->name, name);
    for (const StageThing& thing : scene->things) {
      if (thing.prop.there()) continue;  // the table
      EXPECT_TRUE(model::LoadLibraryProp(thing.prop.key)) << thing.prop.key;
    }
  }
}

TEST(StageFile, EveryKeyIsRead) {
  const auto scene = ParseStage(std::string(kBegin) + R"(
table_top_mm = -5
judge = "a"
hold_s = [1.5, 3]
touches_itself = true
gravity_m_per_s2 = [0, 0, -1.62]
[[object]]
name = "a"
prop = "box_3x5x7"
position_mm = [100, 20, 35]
rotvec_deg = [0, 0, 90]
mass_kg = 0.05
friction = 0.3
surface_compliance_m_per_N = 1e-4
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
[[object]]
name = "d"
prop = "hammer"
is = "slider"
[object.slider]
axis = [0, 0, -2]
dry_friction_N = 60
upper_mm = 30
[[object]]
name = "e"
prop = "box_3x5x7"
is = "track"
track = "1f0c2a9b"
[[hand]]
trajectory = "tripod_box_3x5x7"
[[hand]]
name = "L"
skeleton = "arm35"
wrist = "palm"
wrist_track = "aa55"
[[sensor]]
name = "pad"
kind = "normal"
mounted_on = "e"
position_mm = [15, 0, 0]
normal = [2, 0, 0]
)",
                                "x.toml");
  ASSERT_TRUE(scene) << scene.error().message;
  EXPECT_EQ(scene->judged, "a");
  EXPECT_EQ(scene->hold->begin, Timestamp::FromSeconds(1.5));
  EXPECT_EQ(scene->hold->end, Timestamp::FromSeconds(3.0));
  EXPECT_EQ(scene->gravity_W, geometry::Vec3(0, 0, -1.62));
  ASSERT_EQ(scene->things.size(), 6u);
  const StageThing &table = scene->things[0], &a = scene->things[1], &b = scene->things[2],
                   &c = scene->things[3], &d = scene->things[4], &e = scene->things[5];
  EXPECT_EQ(table.name, "table");
  EXPECT_EQ(table.is, StageThing::Is::kFixed);
  EXPECT_NEAR((table.X_WP->p - geometry::Vec3(0.1, 0.02, -0.005)).norm(), 0, 1e-12);
  EXPECT_NEAR((a.X_WP->p - geometry::Vec3(0.1, 0.02, 0.035)).norm(), 0, 1e-12);
  EXPECT_NEAR((a.X_WP->R.col(0) - geometry::Vec3::UnitY()).norm(), 0, 1e-12);
  EXPECT_EQ(a.mass_kg, 0.05);
  EXPECT_EQ(a.friction, 0.3);
  EXPECT_EQ(a.compliance_m_per_N, 1e-4);
  EXPECT_EQ(a.scale, 2.0);
  EXPECT_EQ(a.is, StageThing::Is::kFree);
  EXPECT_EQ(b.is, StageThing::Is::kPivot);
  EXPECT_EQ(b.pivot.axis_P, geometry::Vec3::UnitY());
  EXPECT_DOUBLE_EQ(b.pivot.p_P.z(), -0.007);
  EXPECT_EQ(b.pivot.damping_Nms_per_rad, 0.01);
  EXPECT_FALSE(b.X_WP);
  EXPECT_EQ(c.is, StageThing::Is::kFixed);
  EXPECT_EQ(c.metres_per_unit, 1.0);
  EXPECT_EQ(d.is, StageThing::Is::kSlider);
  EXPECT_EQ(d.slider.axis_P, -geometry::Vec3::UnitZ());
  EXPECT_EQ(d.slider.dry_friction_N, 60.0);
  EXPECT_DOUBLE_EQ(*d.slider.upper_m, 0.03);
  EXPECT_FALSE(d.slider.lower_m);
  EXPECT_EQ(e.is, StageThing::Is::kTrack);
  EXPECT_EQ(e.track.key, "1f0c2a9b");
  ASSERT_EQ(scene->hands.size(), 2u);
  EXPECT_EQ(scene->hands[0].trajectory.key, "tripod_box_3x5x7");
  EXPECT_TRUE(scene->touches_itself);
  EXPECT_EQ(scene->hands[1].name, "L");
  EXPECT_EQ(scene->hands[1].skeleton.key, "arm35");
  EXPECT_EQ(scene->hands[1].wrist, "palm");
  EXPECT_EQ(scene->hands[1].wrist_track.key, "aa55");
  ASSERT_EQ(scene->sensors.size(), 1u);
  EXPECT_EQ(scene->sensors[0].mounted_on, "e");
  EXPECT_EQ(scene->sensors[0].kind, StageSensor::Kind::kNormal);
  EXPECT_EQ(scene->sensors[0].normal_S, geometry::Vec3::UnitX());
  EXPECT_NEAR(scene->sensors[0].X_MS.p.x(), 0.015, 1e-12);
}

// The line, the key, and what would do.
TEST(StageFile, MistakesNameLineKeyAndRemedy) {
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
  EXPECT_THAT(ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\nis = \"track\"\n").message,
              HasSubstr("track = KEY"));
  EXPECT_THAT(ErrorOf("[[sensor]]\nname = \"s\"\nmounted_on = \"boks\"\n[[object]]\nname = "
                      "\"box\"\nprop = \"ball\"\n")
                  .message,
              AllOf(HasSubstr("'s'"), HasSubstr("'box'")));
  EXPECT_THAT(ErrorOf("[[hand]]\nname = \"R\"\n").message, HasSubstr("/hand/0"));
  EXPECT_THAT(ErrorOf("hold_s = [2, 1]\n").message, HasSubstr("/hold_s"));
  EXPECT_THAT(
      ErrorOf("[[object]]\nname = \"a\"\nprop = \"ball\"\nrotvec_deg = [1, 0, 0]\n").message,
      HasSubstr("position_mm"));
  EXPECT_EQ(
      ParseStage("format = \"handhold.scene\"\nversion = 2\nname = \"x\"\n", "x.toml").error().code,
      ErrorCode::kVersion);
  EXPECT_THAT(ParseStage("name = \"x\"\n", "x.toml").error().message, HasSubstr("handhold.scene"));
  EXPECT_THAT(ReadStage("stack_on_bx").error().message, HasSubstr("stack_on_box"));
}

TEST(StageFile, AMeshIsFoundBesideTheFile) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "handhold_stage_file_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "s.toml") << kBegin << "[[object]]\nname = \"a\"\nprop = \"a.stl\"\n";
  const auto scene = ReadStage((folder / "s.toml").string());
  ASSERT_TRUE(scene) << scene.error().message;
  EXPECT_EQ(scene->things[0].prop.key, (folder / "a.stl").string());
}

}  // namespace
}  // namespace handhold::artefact::stage_file_test

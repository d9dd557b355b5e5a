#include "database/model/skeleton_json.h"

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "database/model/hand_library.h"
#include "database/model/schemas.h"
#include "database/model/shape_json.h"
#include "database/text/file.h"
#include "tests/support/random_skeleton.h"

namespace handhold::model::skeleton_json_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class TempFile {
 public:
  TempFile()
      : path_(fs::temp_directory_path() /
              ("handhold_skeleton_" + std::to_string(::getpid()) + ".json")) {}
  ~TempFile() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void ExpectSame(const Skeleton& a, const Skeleton& b) {
  ASSERT_EQ(a.body_count(), b.body_count());
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.draft().side, b.draft().side);
  EXPECT_EQ(a.draft().source, b.draft().source);
  ASSERT_EQ(a.draft().sources.size(), b.draft().sources.size());
  for (size_t k = 0; k < a.draft().sources.size(); ++k) {
    EXPECT_EQ(a.draft().sources[k].key, b.draft().sources[k].key);
    EXPECT_EQ(a.draft().sources[k].text, b.draft().sources[k].text);
  }
  EXPECT_EQ(a.dof_names(), b.dof_names());
  for (int i = 1; i < a.body_count(); ++i) {
    const Body &x = a.body(i), &y = b.body(i);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.parent, y.parent);
    EXPECT_EQ(x.length_m, y.length_m);
    EXPECT_EQ(x.source, y.source);
    EXPECT_EQ(x.mass_source, y.mass_source);
    EXPECT_EQ(x.joint.source, y.joint.source);
    EXPECT_EQ(x.joint.type, y.joint.type);
    EXPECT_EQ(x.joint.X_PJp.R, y.joint.X_PJp.R);
    EXPECT_EQ(x.joint.X_PJp.p, y.joint.X_PJp.p);
    EXPECT_EQ(x.joint.X_BJc.R, y.joint.X_BJc.R);
    EXPECT_EQ(x.joint.X_BJc.p, y.joint.X_BJc.p);
    if (x.joint.type == JointType::kHinge || x.joint.type == JointType::kUniversal) {
      EXPECT_EQ(x.joint.axes[0], y.joint.axes[0]);
    }
    if (x.joint.type == JointType::kUniversal) {
      EXPECT_EQ(x.joint.axes[1], y.joint.axes[1]);
    }
    EXPECT_EQ(x.joint.lower_rad, y.joint.lower_rad);
    EXPECT_EQ(x.joint.upper_rad, y.joint.upper_rad);
    EXPECT_EQ(x.mass.mass_kg, y.mass.mass_kg);
    EXPECT_EQ(x.mass.p_BCom, y.mass.p_BCom);
    EXPECT_EQ(x.mass.I_BCom_B, y.mass.I_BCom_B);
    ASSERT_EQ(x.shapes.size(), y.shapes.size());
    for (size_t k = 0; k < x.shapes.size(); ++k) {
      EXPECT_EQ(x.shapes[k].X_BS.R, y.shapes[k].X_BS.R);
      EXPECT_EQ(x.shapes[k].X_BS.p, y.shapes[k].X_BS.p);
      EXPECT_EQ(x.shapes[k].shape.index(), y.shapes[k].shape.index());
      EXPECT_EQ(x.shapes[k].source, y.shapes[k].source);
    }
  }
  ASSERT_EQ(a.markers().size(), b.markers().size());
  for (size_t k = 0; k < a.markers().size(); ++k) {
    EXPECT_EQ(a.markers()[k].name, b.markers()[k].name);
    EXPECT_EQ(a.markers()[k].body, b.markers()[k].body);
    EXPECT_EQ(a.markers()[k].p_BM, b.markers()[k].p_BM);
    EXPECT_EQ(a.markers()[k].source, b.markers()[k].source);
  }
  ASSERT_EQ(a.frames().size(), b.frames().size());
  for (size_t k = 0; k < a.frames().size(); ++k) {
    EXPECT_EQ(a.frames()[k].name, b.frames()[k].name);
    EXPECT_EQ(a.frames()[k].X_BF.R, b.frames()[k].X_BF.R);
    EXPECT_EQ(a.frames()[k].X_BF.p, b.frames()[k].X_BF.p);
    EXPECT_EQ(a.frames()[k].source, b.frames()[k].source);
  }
  // And whatever the text holds beyond: shapes' sizes, sets.
  EXPECT_EQ(*text::WriteJson(SkeletonToJson(a)), *text::WriteJson(SkeletonToJson(b)));
}

TEST(RoundTrip, HandsComeBackToTheLastBit) {
  const TempFile file;
  const std::vector<std::string> names = *HandNames();
  ASSERT_GE(names.size(), 2u);
  for (const std::string& name : names) {
    const Skeleton hand = *LoadHand(name);
    ASSERT_TRUE(SaveSkeleton(hand, file.path()));
    const auto again = LoadSkeleton(file.path());
    ASSERT_TRUE(again) << again.error().message;
    ExpectSame(hand, *again);
  }
}

TEST(RoundTrip, RandomTreesComeBackToTheLastBit) {
  const TempFile file;
  std::mt19937 rng(11);
  for (int i = 0; i < 20; ++i) {
    SkeletonDraft draft = testing::RandomSkeleton(rng, 2 + i % 7).draft();
    std::vector<geometry::Vec3> points;
    for (int k = 0; k < 12; ++k) points.push_back(testing::RandomVector(rng, 0.1));
    draft.bodies[0].shapes.push_back(
        {"hull", testing::RandomPose(rng, 0.1), *geometry::MakeConvexHull(points), "made up"});
    draft.bodies[1].shapes.push_back({"box", testing::RandomPose(rng, 0.1),
                                      geometry::Box{geometry::Vec3(0.1, 0.2, 1.0 / 3)}, ""});
    draft.bodies[0].joint.lower_rad.setConstant(-1.0 / 3);
    for (size_t b = 0; b < draft.bodies.size(); ++b) {
      draft.bodies[b].mass_source = "scales " + std::to_string(b);
      draft.bodies[b].joint.source = "joint " + std::to_string(b);
    }
    draft.frames.push_back({"f", 1, testing::RandomPose(rng, 0.3), "frame, of " + draft.name});
    draft.markers.push_back({"m", 1, testing::RandomVector(rng, 0.1), "marker: \"quoted\" \u00b5"});
    draft.sources.push_back({"key", "text"});
    const Skeleton s = *Skeleton::Build(draft);
    ASSERT_TRUE(SaveSkeleton(s, file.path()));
    const auto again = LoadSkeleton(file.path());
    ASSERT_TRUE(again) << again.error().message;
    ExpectSame(s, *again);
  }
}

/// finger4's file with one piece of text replaced.
Result<Skeleton> LoadEdited(const std::string& from, const std::string& to) {
  const TempFile file;
  std::string text = *text::ReadTextFile(*SchemasFolder() / "hands" / "finger4.json");
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  std::ofstream(file.path()) << text;
  return LoadSkeleton(file.path());
}

TEST(Errors, NamePathValueAndNearestName) {
  struct {
    const char *from, *to, *path, *says;
  } cases[] = {
      {"\"axis\"", "\"axes\"", "/bodies/1/joint", "'axis'"},
      {"\"type\": \"hinge\"", "\"type\": \"hinges\"", "/bodies/1/joint", "hinge"},
      {"\"parent\": \"index.prx\"", "\"parent\": \"index.prox\"", "/bodies/3/parent",
       "'index.prx'"},
      {"\"mass_kg\": 0.1225", "\"mass_kg\": \"heavy\"", "/bodies/1/mass", "heavy"},
      {"\"mass_kg\": 0.1225", "\"mas_kg\": 0.1225", "/bodies/1/mass", "'mass_kg'"},
      {"\"radius_m\": 0.015", "\"radius_m\": -0.015", "/bodies/1/shapes/0", "-0.015"},
      {"\"body\": \"palm\"", "\"body\": \"plam\"", "/markers/0/body", "'palm'"},
      {"\"side\": \"right\"", "\"side\": \"rigth\"", "/side", "right"},
      {"\"lower_deg\": [-70]", "\"lower_deg\": [-70, 3]", "/bodies/1/joint/lower_deg",
       "expected 1"},
  };
  for (const auto& c : cases) {
    const auto s = LoadEdited(c.from, c.to);
    ASSERT_FALSE(s) << c.to;
    EXPECT_THAT(s.error().message, HasSubstr(c.path));
    EXPECT_THAT(s.error().message, HasSubstr(c.says));
  }
}

TEST(Errors, ANewerFormIsSaidToBeNewer) {
  const auto s = LoadEdited("\"version\": 1", "\"version\": 2");
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().code, ErrorCode::kVersion);
}

TEST(Errors, WhatTheSchemaAllowsIsStillChecked) {
  const auto limits = LoadEdited("\"lower_deg\": [-70]", "\"lower_deg\": [90]");
  ASSERT_FALSE(limits);
  EXPECT_THAT(limits.error().message, HasSubstr("body 'palm': limit 0: lower is not <= upper"));
  const auto twice = LoadEdited("R.PLM.DOR.2", "R.PLM.DOR.1");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("marker 1: the name 'R.PLM.DOR.1' is used twice"));
}

/// A ball joint and a marker, with `joint` and `rest` of the body and the position of the marker.
Result<Skeleton> LoadBall(const std::string& joint, const std::string& rest,
                          const std::string& body = "b", const std::string& p_m = "0, 0, 0") {
  const TempFile file;
  std::ofstream(file.path())
      << R"({"format": "handhold.skeleton", "version": 1, "name": "s", "bodies": [{"name": "b",
    "parent": "W", "joint": {"type": )"
      << joint << "}" << rest << R"(}], "markers": [{"name": "m", "body": ")" << body
      << R"(", "p_m": [)" << p_m << R"(]}], "frames": [{"name": "f", "body": ")" << body
      << R"(", "pose": {"p_m": [)" << p_m << "]}}]}";
  return LoadSkeleton(file.path());
}

const char kHinge[] = R"("hinge", "name": "j", "axis": [0, 1, 0])";
const char kBall[] = R"("ball", "name": "j")";

TEST(Errors, NumbersInOtherUnitsAreRefused) {
  const std::string hinge = kHinge, ball = kBall, fixed = "\"fixed\"";
  const std::string com = R"(, "com_m": [0, 0, 0], "inertia_kg_m2": )";
  const struct {
    std::string joint, rest, body, p_m, path, says;
  } cases[] = {
      {hinge + R"(, "upper_rad": [90])", "", "b", "0,0,0", "/bodies/0/joint/upper_rad/0",
       "are these degrees? limits are in rad"},
      {hinge + R"(, "lower_rad": [-6.3])", "", "b", "0,0,0", "/lower_rad/0", "beyond 2 pi rad"},
      {hinge + R"(, "lower_deg": [-361])", "", "b", "0,0,0", "/lower_deg/0", "beyond 360 degrees"},
      {R"("universal", "name": "j", "axis": [0,1,0], "axis2": [0,0,1], "upper_rad": [1, 20])", "",
       "b", "0,0,0", "/upper_rad/1", "limits are in rad"},
      {ball + R"(, "upper_rad": [1, 1, 3.2])", "", "b", "0,0,0", "/upper_rad/2", "beyond pi rad"},
      {ball + R"(, "lower_rad": [-45, -1, -1])", "", "b", "0,0,0", "/lower_rad/0",
       "are these degrees?"},
      {hinge + R"(, "parent_pose": {"p_m": [101, 0, 0]})", "", "b", "0,0,0", "/bodies/0/joint",
       "parent_pose is 101.000000 m, beyond 100 m: is this in mm?"},
      {hinge + R"(, "child_pose": {"p_m": [0, 45, 0]})", "", "b", "0,0,0", "/bodies/0/joint",
       "child_pose is 45.000000 m, beyond 5 m: is this in mm?"},
      {fixed, R"(, "length_m": 43)", "b", "0,0,0", "/bodies/0", "length_m is 43"},
      {fixed, R"(, "shapes": [{"name": "c", "kind": "capsule", "radius_m": 8, "from_m": [0,0,0],
                               "to_m": [40,0,0]}])",
       "b", "0,0,0", "/bodies/0/shapes/0", "is this in mm?"},
      {fixed, "", "b", "0, 0, 11", "/markers/0", "its offset p_m is 11.000000 m, beyond 5 m"},
      {fixed, "", "W", "0, 0, 800", "/markers/0", "beyond 100 m: is this in mm?"},
      {fixed, R"(, "mass": {"mass_kg": 1001)" + com + "[9,0,0, 0,9,0, 0,0,9]}", "b", "0,0,0",
       "/bodies/0/mass", "is this in g?"},
      {fixed, R"(, "mass": {"mass_kg": 0.01)" + com + "[0.3,0,0, 0,0.3,0, 0,0,0.3]}", "b", "0,0,0",
       "/bodies/0/mass", "is this in kg mm^2"},
      {fixed,
       R"(, "mass": {"mass_kg": 1, "com_m": [22, 0, 0], "inertia_kg_m2": [1,0,0, 0,1,0, 0,0,1]})",
       "b", "0,0,0", "/bodies/0/mass", "com_m is 22.000000 m away, beyond 5 m: is this in mm?"},
  };
  for (const auto& c : cases) {
    const auto s = LoadBall(c.joint, c.rest, c.body, c.p_m);
    ASSERT_FALSE(s) << c.joint << c.rest << c.p_m;
    EXPECT_THAT(s.error().message, HasSubstr(c.path));
    EXPECT_THAT(s.error().message, HasSubstr(c.says));
  }
}

TEST(Errors, UnusualNumbersAreNotTakenForOtherUnits) {
  const std::string hinge = kHinge, ball = kBall;
  const std::string cases[][4] = {
      {hinge + R"(, "lower_deg": [-360], "upper_deg": [360])", "", "b", "0, 0, 4.9"},
      {hinge + R"(, "lower_rad": [null], "upper_rad": [6.283185307179586])", "", "b", "0, 0, 0"},
      {ball + R"(, "lower_deg": [-180, -180, -180], "upper_deg": [180, 180, null])", "", "b",
       "0, 0, 0"},
      // A hand far from its laboratory's origin, seen by a marker on the wall.
      {hinge + R"(, "parent_pose": {"p_m": [12, 8, 1]})", "", "W", "20, 0, 3"},
      {hinge,
       R"(, "mass": {"mass_kg": 999, "com_m": [4, 0, 0],
                     "inertia_kg_m2": [20000,0,0, 0,20000,0, 0,0,20000]})",
       "b", "0, 0, 0"},
  };
  for (const auto& c : cases) {
    const auto s = LoadBall(c[0], c[1], c[2], c[3]);
    EXPECT_TRUE(s) << s.error().message;
  }
}

TEST(Files, DegreesAndCapsulesByTheirEndsAreReadIntoSi) {
  const Skeleton hand = *LoadHand("finger4");
  const Body& palm = hand.body(hand.FindBody("palm"));
  EXPECT_DOUBLE_EQ(palm.joint.upper_rad[0], 80 * M_PI / 180);
  const auto& capsule = std::get<geometry::Capsule>(palm.shapes[0].shape);
  EXPECT_NEAR(capsule.length_m, 0.050, 1e-15);
  EXPECT_LT(
      (palm.shapes[0].X_BS * geometry::Vec3(0, 0, 0.025) - geometry::Vec3(0.065, 0, 0)).norm(),
      1e-15);
}

}  // namespace
}  // namespace handhold::model::skeleton_json_test

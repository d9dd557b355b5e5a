#include "database/model/prop.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/geometry/mesh_io.h"
#include "database/geometry/rotation.h"
#include "database/text/json.h"

namespace handhold::model::prop_test {
namespace {

using geometry::Vec3;
using ::testing::HasSubstr;

double HeightAbove(const Prop& prop, double x, double y, double z) {
  std::vector<geometry::PosedShape> shapes;
  for (const PropShape& s : prop.shapes) shapes.push_back({s.shape, s.X_PS});
  return geometry::SignedDistanceToUnion(shapes, Vec3(x, y, z)).point.distance_m;
}

TEST(Plates, TopIsThePlaneZ0) {
  const Prop flat = *LoadLibraryProp("flat_plate");
  EXPECT_EQ(flat.mass.mass_kg, 0);
  EXPECT_EQ(flat.friction, 0.5);
  EXPECT_DOUBLE_EQ(flat.surface_compliance_m_per_N, 1.0 / 5000);
  for (double x : {-0.2, 0.0, 0.013, 0.2})
    EXPECT_NEAR(HeightAbove(flat, x, 0.05, 0.007), 0.007, 1e-15);
}

TEST(Plates, TheBumpIs4MillimetresHighAnd40Wide) {
  const Prop bumped = *LoadLibraryProp("bumped_plate");
  EXPECT_NEAR(HeightAbove(bumped, 0, 0, 0.010), 0.006, 1e-12);
  EXPECT_NEAR(HeightAbove(bumped, 0, 0.1, 0.010), 0.006, 1e-12);
  // Just outside 20 mm the plate is the nearest, just inside the bump stands out of it.
  EXPECT_NEAR(HeightAbove(bumped, 0.0201, 0, 0.0), 0.0, 1e-12);
  EXPECT_LT(HeightAbove(bumped, 0.0199, 0, 0.00002), -1e-5);
  EXPECT_NEAR(HeightAbove(bumped, 0.0201, 0, 0.00001), 0.00001, 1e-6);
  EXPECT_NEAR(HeightAbove(bumped, 0.1, 0, 0.003), 0.003, 1e-15);
}

// Against what is written out for each shape, turned; a bounding box's corners would lie lower.
TEST(Prop, TheLowestPointIsThatOfTheShapeAndNotOfItsBox) {
  const Vec3 up = Vec3(1, 0, 2).normalized();
  const geometry::RigidTransform X{geometry::Exp<double>(Vec3(0.4, -0.7, 0.3)), Vec3(0.1, 0, 0.2)};
  const Vec3 d = X.R.transpose() * up;  // up, seen by the shape
  const double at = X.p.dot(up);
  const auto lowest = [&](geometry::Shape shape) {
    Prop prop;
    prop.shapes.push_back({"it", X, std::move(shape), ""});
    return LowestAlong(prop, {}, up);
  };
  EXPECT_NEAR(lowest(geometry::Sphere{0.03}), at - 0.03, 1e-15);
  EXPECT_NEAR(lowest(geometry::Capsule{0.01, 0.06}), at - 0.01 - 0.03 * std::abs(d.z()), 1e-15);
  EXPECT_NEAR(lowest(geometry::Cylinder{0.02, 0.1}),
              at - 0.05 * std::abs(d.z()) - 0.02 * std::hypot(d.x(), d.y()), 1e-15);
  EXPECT_NEAR(lowest(geometry::Box{Vec3(0.03, 0.05, 0.07)}),
              at - 0.015 * std::abs(d.x()) - 0.025 * std::abs(d.y()) - 0.035 * std::abs(d.z()),
              1e-15);
  const std::vector<Vec3> corners = {Vec3(0, 0, 0), Vec3(0.1, 0, 0), Vec3(0, 0.1, 0),
                                     Vec3(0, 0, 0.1)};
  double least = 1e9;
  for (const Vec3& p : corners) least = std::min(least, (X * p).dot(up));
  EXPECT_NEAR(lowest(*geometry::MakeConvexHull(corners)), least, 1e-12);
}

// The box along the world's axes of a turned thing is its own, not its turned box's.
TEST(Prop, BoundsAreTheTurnedThings) {
  Prop prop;
  EXPECT_TRUE(BoundsOf(prop).empty());
  prop.shapes.push_back(
      {"ball", geometry::RigidTransform::Translation(Vec3(0.1, 0, 0)), geometry::Sphere{0.03}, ""});
  prop.shapes.push_back({"plate", {}, geometry::Box{Vec3(0.04, 0.02, 0.01)}, ""});
  const geometry::Bounds own = BoundsOf(prop);
  EXPECT_LT((own.min - Vec3(-0.02, -0.03, -0.03)).norm(), 1e-15);
  EXPECT_LT((own.max - Vec3(0.13, 0.03, 0.03)).norm(), 1e-15);
  // A quarter and then half a quarter about z: the ball keeps its size.
  const geometry::RigidTransform X{geometry::AxisAngle<double>(Vec3::UnitZ(), 0.75 * M_PI),
                                   Vec3(0, 0, 1)};
  const geometry::Bounds turned = BoundsOf(prop, X);
  const double at = 0.1 * std::sqrt(0.5), corner = 0.03 * std::sqrt(0.5);
  EXPECT_LT((turned.min - Vec3(-at - 0.03, -corner, 0.97)).norm(), 1e-12);
  EXPECT_LT((turned.max - Vec3(corner, at + 0.03, 1.03)).norm(), 1e-12);
}

TEST(PropLibrary, EveryPropLoadsSavesAndComesBackTheSame) {
  const auto names = PropNames();
  ASSERT_TRUE(names);
  ASSERT_GE(names->size(), 2u);
  const std::string path =
      (std::filesystem::temp_directory_path() / "handhold_prop_test.json").string();
  for (const std::string& name : *names) {
    const auto prop = LoadLibraryProp(name);
    ASSERT_TRUE(prop) << prop.error().message;
    EXPECT_EQ(prop->name, name);
    EXPECT_FALSE(prop->source.empty());
    const text::Json json = PropToJson(*prop);
    ASSERT_TRUE(SaveProp(*prop, path));
    const auto again = LoadProp(path);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*text::WriteJson(PropToJson(*again)), *text::WriteJson(json));
    for (size_t i = 0; i < prop->shapes.size(); ++i) {
      EXPECT_EQ(again->shapes[i].X_PS.R, prop->shapes[i].X_PS.R);
      EXPECT_EQ(again->shapes[i].X_PS.p, prop->shapes[i].X_PS.p);
    }
    EXPECT_EQ(again->mass.I_BCom_B, prop->mass.I_BCom_B);
  }
  std::filesystem::remove(path);
}

TEST(PropLibrary, AMistypedNameIsToldTheNearOne) {
  const auto prop = LoadLibraryProp("bumped_plat");
  ASSERT_FALSE(prop);
  EXPECT_EQ(prop.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(prop.error().message, HasSubstr("'bumped_plate'"));
}

class PropFile : public ::testing::Test {
 protected:
  Result<Prop> Load(const std::string& text) {
    const std::string path = (folder_ / "handhold_prop_file_test.json").string();
    std::ofstream(path) << text;
    Result<Prop> prop = LoadProp(path);
    std::filesystem::remove(path);
    return prop;
  }
  std::string With(const std::string& shapes, const std::string& rest = "") {
    return R"({"format": "handhold.prop", "version": 1, "name": "p", "friction": 0.5, "shapes": [)" +
           shapes + "]" + rest + "}";
  }
  std::filesystem::path folder_ = std::filesystem::temp_directory_path();
};

TEST_F(PropFile, ErrorsNamePathAndNearestName) {
  const auto kind = Load(With(R"({"name": "a", "kind": "capsul", "radius_m": 1, "length_m": 1})"));
  ASSERT_FALSE(kind);
  EXPECT_THAT(kind.error().message, HasSubstr("/shapes/0"));
  EXPECT_THAT(kind.error().message, HasSubstr("'capsule'"));
  const auto key = Load(With(R"({"name": "a", "kind": "sphere", "raduis_m": 1})"));
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().message, HasSubstr("'radius_m'"));
  const auto size = Load(With(R"({"name": "a", "kind": "sphere", "radius_m": -1})"));
  ASSERT_FALSE(size);
  EXPECT_THAT(size.error().message, HasSubstr("/shapes/0"));
  const auto pose = Load(With(
      R"({"name": "a", "kind": "sphere", "radius_m": 1, "pose": {"R": [1,0,0, 0,1,0, 0,0,-1]}})"));
  ASSERT_FALSE(pose);
  EXPECT_THAT(pose.error().message, HasSubstr("/shapes/0/pose"));
  const auto version = Load(R"({"format": "handhold.prop", "version": 2, "name": "p"})");
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, ErrorCode::kVersion);
}

TEST_F(PropFile, NamesMustDifferAndNumbersBePhysical) {
  const std::string ball = R"({"name": "a", "kind": "sphere", "radius_m": 0.1})";
  EXPECT_TRUE(Load(With(ball)));
  const struct {
    std::string shapes, rest, says;
  } cases[] = {
      {ball + "," + ball, "", "two shapes are called 'a'"},
      {ball, R"(, "surface_compliance_m_per_N": -1)",
       "/surface_compliance_m_per_N: expected at least 0"},
      {ball, R"(, "mass": {"mass_kg": -1, "from_shapes": true})",
       "/mass/mass_kg: expected at least 0"},
      {ball,
       R"(, "mass": {"mass_kg": 1, "com_m": [0,0,0], "inertia_kg_m2": [1,0,0, 0,1,0, 0,0,5]})",
       "one principal moment exceeds the sum of the other two"},
      {"", "", "/shapes: expected at least 1 element, found 0"},
      // In other units.
      {ball, R"(, "mass": {"mass_kg": 1200, "from_shapes": true})", "is this in g?"},
      {ball,
       R"(, "mass": {"mass_kg": 0.01, "com_m": [0,0,0], "inertia_kg_m2": [1,0,0, 0,1,0, 0,0,1]})",
       "is this in kg mm^2"},
      {ball, R"(, "markers": [{"name": "m", "p_m": [0, 60, 0]}])",
       "marker 'm' is 60.000000 m away, beyond 5 m: is this in mm?"},
      {ball,
       R"(, "grasp_regions": [{"name": "g", "p_m": [30,0,0], "radius_m": 1, "approach": [1,0,0]}])",
       "grasp region 'g' is 30.000000 m away, beyond 5 m: is this in mm?"},
      {R"({"name": "a", "kind": "sphere", "radius_m": 0.1, "pose": {"p_m": [0, 0, 25]}})", "",
       "shape 'a' is 25.000000 m away, beyond 5 m: is this in mm?"},
      {R"({"name": "a", "kind": "box", "size_m": [30, 50, 70]})", "",
       "shape 'a' is 70 m long, more than 5 m: is this in mm or cm?"},
      {R"({"name": "a", "kind": "box", "size_m": [3, 5, 7]})", "", "shape 'a' is 7 m long"},
      {R"({"name": "a", "kind": "sphere", "radius_m": 1e300})", "", "m long, more than 5 m"},
  };
  for (const auto& c : cases) {
    const auto prop = Load(With(c.shapes, c.rest));
    ASSERT_FALSE(prop) << c.shapes << c.rest;
    EXPECT_THAT(prop.error().message, HasSubstr(c.says));
  }
  std::string rough = With(ball);
  rough.replace(rough.find("0.5"), 3, "1e308");
  const auto prop = Load(rough);
  ASSERT_FALSE(prop);
  EXPECT_THAT(prop.error().message, HasSubstr("friction must be from 0 to 10"));
}

TEST_F(PropFile, MassFromShapesIsThatOfTheSolid) {
  const auto prop = Load(With(R"({"name": "a", "kind": "box", "size_m": [0.03, 0.05, 0.07]})",
                              R"(, "mass": {"mass_kg": 0.012, "from_shapes": true})"));
  ASSERT_TRUE(prop) << prop.error().message;
  EXPECT_DOUBLE_EQ(prop->mass.mass_kg, 0.012);
  EXPECT_NEAR(prop->mass.I_BCom_B(0, 0), 0.012 / 12 * (0.05 * 0.05 + 0.07 * 0.07), 1e-12);
  EXPECT_NEAR(prop->mass.I_BCom_B(2, 2), 0.012 / 12 * (0.05 * 0.05 + 0.03 * 0.03), 1e-12);
}

TEST_F(PropFile, MassesThatCannotBeAreRefusedByName) {
  const struct {
    const char *radius, *mass, *says;
  } cases[] = {
      // Its volume is 0 in doubles: nothing can be scaled to 100 g.
      {"1e-120", R"({"from_shapes": true, "mass_kg": 0.1})", "shape 0 is too small or too large"},
      {"1e-120", R"({"from_shapes": true, "mass_kg": [0.1]})", "shape 0 is too small or too large"},
      {"1e120", R"({"from_shapes": true, "mass_kg": 0.1})", "shape 0 is too small or too large"},
      {"0.1", R"({"mass_kg": 0, "density_kg_m3": 1000})", "density_kg_m3 needs from_shapes"},
      {"0.1", R"({"mass_kg": 0, "com_m": [0, 0, 0], "inertia_kg_m2": [1,0,0, 0,1,0, 0,0,1]})",
       "mass_kg is 0"},
  };
  for (const auto& c : cases) {
    const auto prop =
        Load(With(R"({"name": "a", "kind": "sphere", "radius_m": )" + std::string(c.radius) + "}",
                  R"(, "mass": )" + std::string(c.mass)));
    ASSERT_FALSE(prop) << c.mass;
    EXPECT_THAT(prop.error().message, HasSubstr("/mass: "));
    EXPECT_THAT(prop.error().message, HasSubstr(c.says));
  }
}

TEST_F(PropFile, FacesOfAHullMustBeConvex) {
  // A tetrahedron, and the same with its slanted face pushed in to a point inside.
  const std::string vertices = R"("vertices_m": [0,0,0, 1,0,0, 0,1,0, 0,0,1, 0.1,0.1,0.1])";
  const auto hull = [&](const std::string& triangles) {
    return Load(With(R"({"name": "a", "kind": "hull", )" + vertices + R"(, "triangles": [)" +
                     triangles + "]}"));
  };
  const auto whole = hull("0,2,1, 0,1,3, 0,3,2, 1,2,3");
  EXPECT_TRUE(whole) << whole.error().message;
  const auto dented = hull("0,2,1, 0,1,3, 0,3,2, 1,2,4, 2,3,4, 3,1,4");
  ASSERT_FALSE(dented);
  EXPECT_THAT(dented.error().message, HasSubstr("not convex"));
}

TEST_F(PropFile, AProfileThatCrossesItselfBoundsNoSolid) {
  const struct {
    const char *profile, *says;
  } cases[] = {
      // A figure of eight, in pieces that are no neighbours.
      {"0,0, 0.02,0.01, 0.01,0.02, 0.01,-0.01, 0.02,0.02, 0,0.03",
       "from point 0 to 1 and from 2 to 3"},
      // A corner that comes to rest on the wall between points 1 and 2.
      {"0,0, 0.02,0, 0.02,0.04, 0.01,0.04, 0.02,0.02, 0,0.02", "from point 1 to 2 and from 3 to 4"},
      // Back along where it came; a point twice; the end where it began.
      {"0,0, 0.02,0, 0.02,0.04, 0.02,0.02, 0,0.05", "from point 1 to 2 and from 2 to 3"},
      {"0,0, 0.02,0, 0.02,0, 0,0.05", "from point 0 to 1 and from 1 to 2"},
      {"0,0, 0.02,0, 0.02,0.01, 0,0", "from point 0 to 1 and from 2 to 3"},
      {"0,0, 0.02,0.01, 0,0", "from point 0 to 1 and from 1 to 2"},
  };
  const auto load = [&](const std::string& profile) {
    return Load(With(R"({"name": "a", "kind": "revolution", "profile_m": [)" + profile + "]}"));
  };
  for (const auto& c : cases) {
    const auto prop = load(c.profile);
    ASSERT_FALSE(prop) << c.profile;
    EXPECT_EQ(prop.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(prop.error().message, HasSubstr("/shapes/0/profile_m: the profile crosses"));
    EXPECT_THAT(prop.error().message, HasSubstr(c.says));
  }
  // Near, hollow, pointed and downwards are no crossing: a cup with a wall of 1 um, a spindle.
  for (const char* profile :
       {"0,0, 0.02,0, 0.02,0.05, 0.019999,0.05, 0.019999,0.001, 0,0.001", "0,0, 0.001,0.05, 0,0.1",
        "0,0.1, 0.03,0.05, 0.01,0.04, 0.03,0.03, 0,0"}) {
    const auto prop = load(profile);
    EXPECT_TRUE(prop) << profile << ": " << prop.error().message;
  }
  std::string zigzag = "0,0";
  for (int i = 0; i < 1000; ++i) zigzag += ", 0.01," + std::to_string(1e-4 * (i + 1));
  const auto longest = load(zigzag + ", 0,0.2");
  ASSERT_FALSE(longest);
  EXPECT_THAT(longest.error().message, HasSubstr("/profile_m"));
}

TEST_F(PropFile, ARevolvedRectangleIsACylinder) {
  const auto prop = Load(With(
      R"({"name": "a", "kind": "revolution", "profile_m": [0,-0.05, 0.02,-0.05, 0.02,0.05, 0,0.05], "segments": 360})",
      R"(, "mass": {"density_kg_m3": 1000, "from_shapes": true})"));
  ASSERT_TRUE(prop) << prop.error().message;
  // A regular 360-gon has the area sin(2 pi / 360) / (2 pi / 360) of its circle.
  const double area = M_PI * 0.02 * 0.02 * std::sin(2 * M_PI / 360) / (2 * M_PI / 360);
  EXPECT_NEAR(prop->mass.mass_kg, 1000 * 0.1 * area, 1e-9);
  EXPECT_NEAR(HeightAbove(*prop, 0.03, 0, 0), 0.01, 1e-5);
  EXPECT_NEAR(HeightAbove(*prop, 0, 0, 0.06), 0.01, 1e-9);
  EXPECT_LT(HeightAbove(*prop, 0, 0, 0), 0);
}

TEST(PropFromMesh, AnStlInMillimetresBecomesAFixedProp) {
  // A tetrahedron with legs of 20 mm.
  geometry::Mesh mesh;
  mesh.vertices = {{0, 0, 0}, {0.02, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}};
  mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  const std::string path = (std::filesystem::temp_directory_path() / "handhold_tetra.stl").string();
  std::ofstream(path, std::ios::binary) << geometry::WriteStlBinary(mesh, 1e-3);
  const auto prop = PropFromMesh(path, 1e-3);
  const auto nowhere = PropFromMesh(path + ".none", 1e-3);
  // The same file as a shape of a prop of its own.
  const std::string json_path =
      (std::filesystem::temp_directory_path() / "handhold_tetra.json").string();
  std::ofstream(json_path)
      << R"({"format": "handhold.prop", "version": 1, "name": "t", "friction": 1,
    "shapes": [{"name": "a", "kind": "mesh", "file": "handhold_tetra.stl", "metres_per_unit": 0.001}],
    "mass": {"from_shapes": true, "density_kg_m3": 1000}})";
  const auto of_json = LoadProp(json_path);
  std::filesystem::remove(path);
  std::filesystem::remove(json_path);
  ASSERT_TRUE(prop) << prop.error().message;
  EXPECT_EQ(prop->name, "handhold_tetra");
  EXPECT_EQ(prop->mass.mass_kg, 0);
  EXPECT_THAT(prop->friction_source, HasSubstr("assumed"));
  EXPECT_NEAR(HeightAbove(*prop, 0.005, 0.005, -0.010), 0.010, 1e-9);
  EXPECT_LT(HeightAbove(*prop, 0.002, 0.002, 0.002), 0);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(of_json) << of_json.error().message;
  EXPECT_NEAR(of_json->mass.mass_kg, 1000 * 0.02 * 0.02 * 0.02 / 6, 1e-9);
}

TEST(PropFromMesh, ADamagedFileIsNoProp) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "handhold_damaged.obj").string();
  std::ofstream(path) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 9\n";
  const auto prop = PropFromMesh(path, 0.1);
  std::filesystem::remove(path);
  ASSERT_FALSE(prop);
  EXPECT_EQ(prop.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(prop.error().message, HasSubstr("handhold_damaged.obj: this mesh file is damaged"));
  EXPECT_THAT(prop.error().message, HasSubstr("vertices that are not there (line 7"));
}

TEST(PropFromMesh, AMeshInAnotherUnitIsRefused) {
  const std::string path = (std::filesystem::temp_directory_path() / "handhold_mm.obj").string();
  std::ofstream(path)
      << "v 0 0 0\nv 50 0 0\nv 0 50 0\nv 0 0 50\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
  const auto in_metres = PropFromMesh(path, 1.0);
  const auto in_mm = PropFromMesh(path, 1e-3), in_um = PropFromMesh(path, 1e-6);
  std::filesystem::remove(path);
  EXPECT_TRUE(in_mm);
  ASSERT_FALSE(in_metres);
  EXPECT_THAT(in_metres.error().message, HasSubstr("shape 'mesh' is 50 m long, more than 5 m"));
  ASSERT_FALSE(in_um);
  EXPECT_THAT(in_um.error().message, HasSubstr("less than 1 mm"));
}

TEST(PropLibrary, HasWhatItPromises) {
  for (const char* name : {"box_3x5x7", "box_3x5x7_heavy", "wedge", "ball", "light_bulb", "mug",
                           "bottle", "hammer", "flat_plate", "bumped_plate"}) {
    const auto prop = LoadLibraryProp(name);
    ASSERT_TRUE(prop) << prop.error().message;
    EXPECT_GE(prop->markers.size(), 3u) << name;
    ASSERT_FALSE(prop->grasp_regions.empty()) << name;
    for (const GraspRegion& r : prop->grasp_regions) {
      // On the surface, and approached from outside.
      EXPECT_NEAR(HeightAbove(*prop, r.p_P.x(), r.p_P.y(), r.p_P.z()), 0, r.radius_m) << name;
      const Vec3 outside = r.p_P - r.radius_m * r.approach_P;
      EXPECT_GT(HeightAbove(*prop, outside.x(), outside.y(), outside.z()), 0) << name << r.name;
    }
    for (const PropMarker& m : prop->markers) {
      const double above = HeightAbove(*prop, m.p_P.x(), m.p_P.y(), m.p_P.z());
      EXPECT_GT(above, -0.0005) << name << " " << m.name;
      EXPECT_LT(above, 0.006) << name << " " << m.name;
    }
  }
  EXPECT_DOUBLE_EQ(LoadLibraryProp("box_3x5x7")->mass.mass_kg, 0.012);
  EXPECT_NEAR(LoadLibraryProp("hammer")->mass.mass_kg, 0.57, 1e-12);
  EXPECT_GT(LoadLibraryProp("hammer")->mass.p_BCom.z(), 0.12);        // heavy at the head
  EXPECT_GT(LoadLibraryProp("mug")->mass.p_BCom.x(), 0.003);          // and the mug at its handle
  EXPECT_GT(HeightAbove(*LoadLibraryProp("mug"), 0, 0, 0.06), 0.03);  // which is hollow
}

}  // namespace
}  // namespace handhold::model::prop_test

// The example of database/geometry/README.md, compiled, run, and compared with what the page shows.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "database/base/units.h"
#include "database/geometry/distance.h"
#include "database/geometry/inertia.h"
#include "database/geometry/mesh_io.h"
#include "tests/support/paths.h"

namespace {

using namespace handhold::geometry;

/// A closed mug of revolution without a handle, in millimetres, as an STL file.
std::string WriteMug() {
  const double profile_mm[][2] = {{0, 0}, {40, 0}, {40, 100}, {36, 100}, {36, 4}, {0, 4}};
  constexpr int kSides = 48;
  Mesh mug;
  for (const auto& [r, z] : profile_mm) {
    for (int i = 0; i < kSides; ++i) {
      const double a = 2 * handhold::kPi * i / kSides;
      mug.vertices.emplace_back(r * std::cos(a), r * std::sin(a), z);
    }
  }
  for (std::uint32_t row = 0; row + 1 < 6; ++row) {
    for (std::uint32_t i = 0; i < kSides; ++i) {
      const std::uint32_t a = row * kSides + i, b = row * kSides + (i + 1) % kSides, c = a + kSides,
                          d = b + kSides;
      mug.triangles.push_back({a, b, d});
      mug.triangles.push_back({a, d, c});
    }
  }
  const std::string path = ::testing::TempDir() + "readme_mug.stl";
  std::ofstream(path, std::ios::binary) << WriteStlBinary(mug);
  return path;
}

TEST(Readme, ExampleRuns) {
  const std::string path = WriteMug();
  // BEGIN
  const MeshFile file = ReadMeshFile(path, {.metres_per_unit = 1e-3}).value();  // millimetres
  for (const handhold::Issue& i : file.issues) std::cerr << i.where << ": " << i.what << "\n";
  const Shape mug = MakeTriangleMesh(file.mesh).value();
  const MassProperties mass = WithTotalMass(MassOf(mug, 1.0).value(), 0.35);  // 350 g, evenly
                                                                              // spread
  const RigidTransform X_WMug = RigidTransform::Translation({0, 0, 0.1});
  const RigidTransform X_WTip{Exp<double>(Vec3(0, 0.3, 0)), Vec3(0.06, 0, 0.15)};
  const ShapeDistance d = Distance(Capsule{0.008, 0.02}, X_WTip, mug, X_WMug).value();
  // END
  std::remove(path.c_str());
  EXPECT_TRUE(file.report.watertight()) << file.report.Summary();
  EXPECT_EQ(mass.mass_kg, 0.35);
  EXPECT_LT(mass.p_BCom.head<2>().norm(), 1e-6);
  // The lower end of the capsule's axis is nearest the wall at 40 mm: 60 - 10 sin(0.3) - 40 - 8 mm.
  EXPECT_NEAR(d.distance_m, 0.012 - 0.010 * std::sin(0.3), 2e-4);
  EXPECT_GT(d.normal_W.x(), 0.99);
}

TEST(Readme, ShowsTheCodeThatRuns) {
  const auto read = [](const std::string& path) {
    std::ifstream in(handhold::support::SourceDir() + "/" + path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  };
  const std::string page = read("database/geometry/README.md"),
                    test = read("tests/database/geometry/readme_test.cc");
  std::istringstream code(test.substr(test.find("// BEGIN\n") + 9,
                                      test.find("  // END") - test.find("// BEGIN\n") - 9));
  const auto squeezed = [](const std::string& s) {
    std::string out;
    for (const char c : s.substr(0, s.find("//"))) {
      if (c != ' ' && c != '\n') out += c;
    }
    return out;
  };
  std::string wanted, shown;
  for (std::string line; std::getline(code, line);) wanted += squeezed(line);
  std::istringstream lines(page.substr(page.find("using namespace"),
                                       page.find("// d.normal_W") - page.find("using namespace")));
  for (std::string line; std::getline(lines, line);) shown += squeezed(line);
  const std::string from =
                        "using"
                        "namespacehandhold::geometry;",
                    file = "\"mug.stl\"";
  ASSERT_EQ(shown.find(from), 0u);
  shown.erase(0, from.size());
  ASSERT_NE(shown.find(file), std::string::npos);
  shown.replace(shown.find(file), file.size(), "path");
  EXPECT_EQ(shown, wanted);
}

}  // namespace

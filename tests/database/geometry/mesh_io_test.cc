// Mesh files: the same cube written six ways reads the same; damaged files give issues or a clear
// error.
#include "database/geometry/mesh_io.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <gmock/gmock.h>

#include "tests/support/own_props.h"
#include "tests/support/paths.h"

namespace handhold::geometry::mesh_io_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

Result<MeshFile> Read(const std::string& bytes, const std::string& name,
                      double metres_per_unit = 1.0) {
  return ReadMesh(bytes, name, {.metres_per_unit = metres_per_unit});
}
auto HasIssue(Severity severity, const std::string& text) {
  return Field("issues", &MeshFile::issues,
               Contains(AllOf(Field("severity", &Issue::severity, severity),
                              Field("what", &Issue::what, HasSubstr(text)))));
}
auto HasIssueAt(const std::string& where) {
  return Field("issues", &MeshFile::issues,
               Contains(Field("where", &Issue::where, HasSubstr(where))));
}

const double kCorners[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                               {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
const int kQuads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                          {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};

std::string ObjCube() {
  std::string s = "# a cube\nmtllib x.mtl\no cube\n";
  for (const auto& c : kCorners) {
    s += "v " + std::to_string(c[0]) + " " + std::to_string(c[1]) + " " + std::to_string(c[2]) +
         " 1.0\r\n";
  }
  s += "vn 0 0 1\nvt 0 0\n";
  for (int q = 0; q < 6; ++q) {
    s += "f";
    for (const int v : kQuads[q]) {
      const std::string n = q == 1 ? std::to_string(v - 8) : std::to_string(v + 1);
      s += " " + n + (q == 2 ? "/1/1" : q == 3 ? "//1" : q == 4 ? "/1" : "");
    }
    s += q == 5 ? " # the last\n" : "\n";
  }
  return s;
}

template <typename T>
void Put(std::string& s, T value, bool big) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  if (big) std::reverse(bytes, bytes + sizeof(T));
  s.append(bytes, sizeof(T));
}

std::string PlyCube(const std::string& format, bool doubles, bool faces_first = false) {
  const std::string real = doubles ? "double" : "float";
  const std::string vertices = "element vertex 8\nproperty " + real + " x\nproperty " + real +
                               " y\nproperty uchar red\nproperty " + real + " z\n";
  const std::string faces =
      "element face 6\nproperty list uchar int vertex_indices\nproperty short flags\n";
  std::string s = "ply\nformat " + format +
                  " 1.0\ncomment made here\nelement camera 1\nproperty list int float other\n" +
                  (faces_first ? faces + vertices : vertices + faces) + "end_header\n";
  const bool ascii = format == "ascii", big = format == "binary_big_endian";
  if (ascii) {
    s += "2 1.5 2.5\n";
  } else {
    Put<std::int32_t>(s, 2, big);
    Put<float>(s, 1.5f, big);
    Put<float>(s, 2.5f, big);
  }
  const auto put_vertices = [&] {
    for (const auto& c : kCorners) {
      if (ascii) {
        s +=
            std::to_string(c[0]) + " " + std::to_string(c[1]) + " 7 " + std::to_string(c[2]) + "\n";
        continue;
      }
      for (int k = 0; k < 3; ++k) {
        if (k == 2) Put<std::uint8_t>(s, 7, big);
        doubles ? Put<double>(s, c[k], big) : Put<float>(s, static_cast<float>(c[k]), big);
      }
    }
  };
  const auto put_faces = [&] {
    for (const auto& q : kQuads) {
      if (ascii) {
        s += "4";
        for (const int v : q) s += " " + std::to_string(v);
        s += " -3\n";
        continue;
      }
      Put<std::uint8_t>(s, 4, big);
      for (const int v : q) Put<std::int32_t>(s, v, big);
      Put<std::int16_t>(s, -3, big);
    }
  };
  if (faces_first) put_faces();
  put_vertices();
  if (!faces_first) put_faces();
  return s;
}

std::string StlAsciiCube() {
  std::string s = "solid cube\n";
  for (const auto& q : kQuads) {
    for (const auto& t : {std::array{q[0], q[1], q[2]}, std::array{q[0], q[2], q[3]}}) {
      s += "  facet normal 0 0 0\n    outer loop\n";
      for (const int v : t) {
        s += "      vertex " + std::to_string(kCorners[v][0]) + " " +
             std::to_string(kCorners[v][1]) + " " + std::to_string(kCorners[v][2]) + "\n";
      }
      s += "    endloop\n  endfacet\n";
    }
  }
  return s + "endsolid cube\n";
}

std::string StlBinaryCube() { return WriteStlBinary(Read(ObjCube(), "cube.obj")->mesh); }

void ExpectCube(const Result<MeshFile>& file, MeshFormat format) {
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(MeshFormatName(file->format), MeshFormatName(format));
  EXPECT_EQ(file->mesh.vertices.size(), 8u);
  EXPECT_EQ(file->mesh.triangles.size(), 12u);
  EXPECT_TRUE(file->report.watertight()) << file->report.Summary();
  EXPECT_NEAR(file->report.signed_volume_m3, 1, 1e-12);
  EXPECT_FALSE(AnyLoss(file->issues));
}

TEST(ReadMesh, ReadsTheSameCubeFromEveryFormat) {
  ExpectCube(Read(ObjCube(), "cube.obj"), MeshFormat::kObj);
  ExpectCube(Read(StlAsciiCube(), "cube.stl"), MeshFormat::kStlAscii);
  ExpectCube(Read(StlBinaryCube(), "cube.STL"), MeshFormat::kStlBinary);
  for (const bool doubles : {false, true}) {
    for (const bool faces_first : {false, true}) {
      ExpectCube(Read(PlyCube("ascii", doubles, faces_first), "cube.ply"), MeshFormat::kPlyAscii);
      ExpectCube(Read(PlyCube("binary_little_endian", doubles, faces_first), "cube.ply"),
                 MeshFormat::kPlyLittleEndian);
      ExpectCube(Read(PlyCube("binary_big_endian", doubles, faces_first), "cube.ply"),
                 MeshFormat::kPlyBigEndian);
    }
  }
}

TEST(ReadMesh, ABackslashContinuesALineOfAnObj) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string with = "v 0 \\" + end + " 0 0" + end + "v 1 0 0" + end + "v 0 1 0" + end +
                             "v 0 0 1" + end + "f 1\\" + end + "3 \\" + end + "\\" + end + "2" +
                             end + "# from C:\\models\\" + end + "f 1 2 4" + end + "g C:\\" + end +
                             "f 2 3 4 # \\" + end + "f 3 1 4" + end;
    const auto file = Read(with, "x.obj");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_TRUE(file->report.watertight()) << file->report.Summary();
    EXPECT_EQ(file->mesh.vertices.size(), 4u);
    EXPECT_EQ(file->mesh.triangles.size(), 4u);  // comments and names are not continued
    EXPECT_THAT(file->issues, ::testing::IsEmpty());
  }
  // Lines are counted as an editor counts them, and a backslash at the end of the file ends it.
  const auto late = Read("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 \\\n2 3\nf 1 2 9\nf 1 2 3 \\", "x.obj");
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->mesh.triangles.size(), 2u);
  EXPECT_THAT(*late, HasIssueAt("line 6"));
}

TEST(ReadMesh, GoesByContentBeforeExtension) {
  ExpectCube(Read(PlyCube("ascii", false), "cube.stl"), MeshFormat::kPlyAscii);
  ExpectCube(Read(StlBinaryCube(), "cube"), MeshFormat::kStlBinary);
  ExpectCube(Read(ObjCube(), "cube"), MeshFormat::kObj);
  // Binary STL whose free header begins with "solid": its length tells.
  std::string solid = StlBinaryCube();
  solid.replace(0, 5, "solid");
  ExpectCube(Read(solid, "cube.stl"), MeshFormat::kStlBinary);
}

TEST(ReadMesh, AByteOrderMarkHidesNoVertex) {
  const std::string mark = "\xEF\xBB\xBF";
  // No comment before the first vertex: were it lost, every face would name its neighbours.
  const std::string obj = ObjCube().substr(ObjCube().find("v "));
  ExpectCube(Read(mark + obj, "cube.obj"), MeshFormat::kObj);
  ExpectCube(Read(mark + obj, "cube"), MeshFormat::kObj);
  ExpectCube(Read(mark + StlAsciiCube(), "cube.stl"), MeshFormat::kStlAscii);
  ExpectCube(Read(mark + PlyCube("ascii", false), "cube.ply"), MeshFormat::kPlyAscii);
}

TEST(ReadMesh, StlKeywordsMayBeInCapitals) {
  std::string capitals = StlAsciiCube();
  for (char& c : capitals) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  ExpectCube(Read(capitals, "cube.stl"), MeshFormat::kStlAscii);
}

TEST(ReadMesh, NumbersTooSmallForDoublesAreZeroHoweverWritten) {
  for (const std::string& tiny : {std::string("1e-400"), "-0." + std::string(400, '0') + "1"}) {
    const auto file = Read("v " + tiny + " 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "tiny.obj");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->mesh.vertices[0].norm(), 0) << tiny;
  }
  for (const std::string& huge : {std::string("1e400"), std::string(400, '9')}) {
    EXPECT_FALSE(Read("v " + huge + " 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "huge.obj")) << huge;
  }
}

/// A prism over a polygon in the plane, its two ends written as one face each.
std::string Prism(const std::vector<std::array<double, 2>>& polygon) {
  const std::size_t n = polygon.size();
  std::string s, bottom = "f", top = "f";
  for (const int z : {0, 1}) {
    for (const auto& p : polygon) {
      s +=
          "v " + std::to_string(p[0]) + " " + std::to_string(p[1]) + " " + std::to_string(z) + "\n";
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t a = i + 1, b = (i + 1) % n + 1;
    bottom += " " + std::to_string(n - i);
    top += " " + std::to_string(n + i + 1);
    s += "f " + std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(b + n) + " " +
         std::to_string(a + n) + "\n";
  }
  return s + bottom + "\n" + top + "\n";
}

TEST(ReadMesh, ConcavePolygonsAreCutWithoutOverlapOrSaidToOverlap) {
  // An arrowhead whose first corner sees not all of it, whichever way it is walked. An overlap
  // would leave volume and watertightness alone, but not the area: ends of 2.2, and the sides.
  const auto arrow = Read(Prism({{0, 0}, {2, 0}, {2, 2}, {1, 0.2}, {0, 2}}), "arrow.obj");
  ASSERT_TRUE(arrow);
  const double side = std::hypot(1, 1.8);
  EXPECT_TRUE(arrow->report.watertight());
  EXPECT_NEAR(arrow->report.signed_volume_m3, 2.2, 1e-12);
  EXPECT_NEAR(arrow->report.area_m2, 2 * 2.2 + 2 + 2 + 2 + 2 * side, 1e-12);
  EXPECT_THAT(*arrow, Not(HasIssue(Severity::kWarning, "concave")));
  // A U with hooks: no corner sees all of it.
  const auto hooks = Read(Prism({{0, 0},
                                 {5, 0},
                                 {5, 3},
                                 {3, 3},
                                 {3, 2},
                                 {4, 2},
                                 {4, 1},
                                 {1, 1},
                                 {1, 2},
                                 {2, 2},
                                 {2, 3},
                                 {0, 3}}),
                          "hooks.obj");
  ASSERT_TRUE(hooks);
  EXPECT_THAT(*hooks, HasIssue(Severity::kWarning, "2 polygons too concave"));
}

TEST(ReadMesh, ScalesToMetres) {
  const auto file = Read(ObjCube(), "cube.obj", 1e-3);
  EXPECT_NEAR(file->report.signed_volume_m3, 1e-9, 1e-20);
  for (const double bad : {0.0, -1.0, std::nan("")})
    EXPECT_EQ(Read(ObjCube(), "x.obj", bad).error().code, ErrorCode::kInvalid);
}

TEST(ReadMesh, KeepsWhatIsGoodAndReportsWhatIsNot) {
  const auto obj = Read(
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 0\nv 1 x 0\nf 1 2 3\nf 1 2 99999999999\nf 1 2 4\nf 0 1 "
      "2\nf 1 2\nf a b c\nf 1 2 5\n",
      "bad.obj");
  ASSERT_TRUE(obj);
  EXPECT_EQ(obj->mesh.triangles.size(), 1u);
  EXPECT_THAT(*obj,
              HasIssue(Severity::kLoss, "2 faces dropped: they name vertices that are not there"));
  EXPECT_THAT(*obj, HasIssueAt("line 7"));
  EXPECT_THAT(*obj,
              HasIssue(Severity::kLoss, "2 triangles dropped: their vertices are not finite"));
  EXPECT_THAT(*obj, HasIssue(Severity::kLoss, "2 records that do not parse"));
  EXPECT_THAT(*obj, HasIssue(Severity::kLoss, "1 faces dropped: fewer than three"));
  EXPECT_THAT(*obj, HasIssue(Severity::kWarning, "holes"));

  std::string cut = StlBinaryCube();
  cut.resize(cut.size() - 60);
  const auto stl = Read(cut, "cut.stl");
  ASSERT_FALSE(stl);
  EXPECT_EQ(stl.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(stl.error().message, HasSubstr("10 of the 12"));
  const auto longer = Read(StlBinaryCube() + "tail", "tail.stl");
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->mesh.triangles.size(), 12u);
  EXPECT_THAT(*longer, HasIssue(Severity::kLoss, "4 bytes after the last triangle"));

  std::string ply = PlyCube("binary_little_endian", true);
  ply.resize(ply.size() - 5);
  EXPECT_THAT(*Read(ply, "cut.ply"), HasIssue(Severity::kLoss, "row 5 of element face"));
  std::string text = PlyCube("ascii", true);
  text.resize(text.rfind("4 1 3"));
  EXPECT_THAT(*Read(text, "cut.ply"), HasIssue(Severity::kLoss, "after 5 of 6 rows"));
}

TEST(ReadMesh, ReportsTheStateOfTheSurface) {
  const auto flat = Read(
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.5 0 0\nf 1 2 3\nf 1 2 3\nf 1 4 2\nf 1 1 2\n", "flat.obj");
  ASSERT_TRUE(flat);
  EXPECT_THAT(*flat, HasIssue(Severity::kWarning, "1 triangles without area"));
  EXPECT_THAT(*flat, HasIssue(Severity::kWarning, "1 triangles that repeat"));
  EXPECT_THAT(*flat, HasIssue(Severity::kWarning, "two corners coincide"));
  EXPECT_THAT(*flat, HasIssue(Severity::kWarning, "three triangles or more"));
  // Inside out: reported, not changed.
  std::string turned = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n";
  EXPECT_THAT(*Read(turned, "in.obj"), HasIssue(Severity::kWarning, "inside out"));
  EXPECT_LT(Read(turned, "in.obj")->report.signed_volume_m3, 0);
}

TEST(ReadMesh, HugeClaimsCostNothing) {
  // Each claims far more than the file holds: an error, at once, without allocating for the claim.
  std::string stl = StlBinaryCube();
  for (int i = 0; i < 4; ++i) stl[80 + i] = static_cast<char>(0xff);
  EXPECT_EQ(Read(stl, "huge.stl").error().code, ErrorCode::kCorrupt);
  const std::string header =
      "ply\nformat binary_little_endian 1.0\nelement vertex 9000000000000000000\nproperty float "
      "x\nend_header\n";
  EXPECT_EQ(Read(header + "abcd", "huge.ply").error().code, ErrorCode::kCorrupt);
  const std::string empty_rows =
      "ply\nformat ascii 1.0\nelement nothing 9000000000000000000\nelement vertex 0\nproperty "
      "float x\nend_header\n";
  EXPECT_EQ(Read(empty_rows, "rows.ply").error().code, ErrorCode::kCorrupt);
  std::string list =
      "ply\nformat binary_little_endian 1.0\nelement face 1\nproperty list uint int "
      "vertex_indices\nend_header\n";
  list += std::string(4, static_cast<char>(0xff)) + "abcdefgh";
  EXPECT_EQ(Read(list, "list.ply").error().code, ErrorCode::kCorrupt);
}

TEST(ReadMesh, OtherFilesAreRefusedByName) {
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(1000, '\0')}) {
    const auto file = Read(bytes, "notes.txt");
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message, HasSubstr("notes.txt"));
  }
  // Text under the name of an STL: a count of triangles made of its letters helps nobody.
  for (const std::string& text :
       {std::string("hello"), std::string(500, 'x'), std::string("<html>404 \xC3\xA9</html>\r\n"),
        std::string("solid without any\nendsolid\n")}) {
    const auto file = Read(text, "page.stl");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(file.error().message, HasSubstr("page.stl: is not STL"));
  }
  EXPECT_EQ(Read("ply\nformat ascii 1.0\nelement tristrips 1\nproperty list int int "
                 "vertex_indices\nend_header\n",
                 "s.ply")
                .error()
                .code,
            ErrorCode::kUnsupported);
  EXPECT_EQ(Read("ply\nformat ebcdic 1.0\nend_header\n", "s.ply").error().code,
            ErrorCode::kUnsupported);
  EXPECT_THAT(
      Read("ply\nformat ascii 1.0\nelement vertex 1\nproperty quad x\nend_header\n", "s.ply")
          .error()
          .message,
      HasSubstr("quad"));
  EXPECT_EQ(ReadMeshFile("/nonexistent/cube.stl", {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReadMeshFile("/tmp", {}).error().code, ErrorCode::kIo);
}

TEST(ReadMesh, SurvivesEveryTruncationAndRandomDamage) {
  std::mt19937_64 rng(1);
  for (const std::string& good :
       {ObjCube(), StlAsciiCube(), StlBinaryCube(), PlyCube("ascii", false),
        PlyCube("binary_little_endian", false), PlyCube("binary_big_endian", true)}) {
    for (std::size_t n = 0; n < good.size(); n += 3) (void)Read(good.substr(0, n), "x.stl");
    for (int i = 0; i < 300; ++i) {
      std::string bad = good;
      for (int k = 0; k < 4; ++k) bad[rng() % bad.size()] = static_cast<char>(rng());
      const auto file = Read(bad, i % 2 ? "x.stl" : "x.obj");
      if (file) {
        EXPECT_TRUE(CheckMesh(file->mesh));
      } else {
        EXPECT_FALSE(file.error().message.empty());
      }
    }
  }
}

/// Coordinates with every digit they have.
std::string AsText(const Mesh& mesh, bool ply) {
  const auto number = [](double value) {
    std::array<char, 40> text{};
    return std::string(text.data(), std::to_chars(text.data(), text.data() + 40, value).ptr);
  };
  std::string s;
  if (ply) {
    s = "ply\nformat ascii 1.0\nelement vertex " + std::to_string(mesh.vertices.size()) +
        "\nproperty double x\nproperty double y\nproperty double z\nelement face " +
        std::to_string(mesh.triangles.size()) +
        "\nproperty list uchar uint vertex_indices\nend_header\n";
  }
  for (const Vec3& v : mesh.vertices)
    s += (ply ? "" : "v ") + number(v.x()) + " " + number(v.y()) + " " + number(v.z()) + "\n";
  for (const auto& t : mesh.triangles) {
    s += ply ? "3" : "f";
    for (const std::uint32_t corner : t) s += " " + std::to_string(corner + (ply ? 0 : 1));
    s += "\n";
  }
  return s;
}

TEST(ReadMeshFile, ReadsOurOwnPropsFromEveryFormatWithoutLoss) {
  const auto meshes = handhold::testing::OwnPropMeshes();
  ASSERT_GE(meshes.size(), 5u);
  for (const auto& [name, mesh] : meshes) {
    const std::pair<const char*, std::string> files[] = {{".obj", AsText(mesh, false)},
                                                         {".ply", AsText(mesh, true)},
                                                         {".stl", WriteStlBinary(mesh)}};
    for (const auto& [extension, bytes] : files) {
      const std::string path = (std::filesystem::temp_directory_path() /
                                ("handhold_mesh_io_" + std::to_string(::getpid()) + extension))
                                   .string();
      std::ofstream(path, std::ios::binary) << bytes;
      const auto file = ReadMeshFile(path, {});
      std::filesystem::remove(path);
      ASSERT_TRUE(file) << name << extension << ": " << file.error().message;
      EXPECT_FALSE(AnyLoss(file->issues)) << name << extension;
      EXPECT_TRUE(file->report.watertight()) << name << extension << file->report.Summary();
      ASSERT_EQ(file->mesh.triangles.size(), mesh.triangles.size()) << name << extension;
      ASSERT_EQ(file->mesh.vertices.size(), mesh.vertices.size()) << name << extension;
      // STL holds single precision and no vertex order; the others give back the bits.
      const bool stl = std::string(extension) == ".stl";
      for (size_t i = 0; i < mesh.triangles.size(); ++i) {
        for (size_t k = 0; k < 3; ++k) {
          const Vec3& there = file->mesh.vertices[file->mesh.triangles[i][k]];
          const Vec3& here = mesh.vertices[mesh.triangles[i][k]];
          ASSERT_LE((there - here).norm(), stl ? 1e-7 * BoundsOf(mesh).diagonal_m() : 0)
              << name << extension;
        }
      }
    }
  }
}

TEST(ReadMeshFile, ReadsEverySharedPropWithoutLoss) {
  const std::filesystem::path root = support::SharedDataDir() + "/props";
  if (!std::filesystem::exists(root))
    GTEST_SKIP() << "no " << root << ": real prop meshes are not read";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".stl") continue;
    ++files;
    const auto file = ReadMeshFile(entry.path(), {});
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_FALSE(AnyLoss(file->issues)) << entry.path();
    EXPECT_EQ(file->format, MeshFormat::kStlBinary);
    // Props are hand-sized, in metres.
    EXPECT_GT(BoundsOf(file->mesh).diagonal_m(), 0.01);
    EXPECT_LT(BoundsOf(file->mesh).diagonal_m(), 0.6);
  }
  EXPECT_GE(files, 80);
}

}  // namespace
}  // namespace handhold::geometry::mesh_io_test

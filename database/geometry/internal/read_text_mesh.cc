#include <limits>
#include <string>

#include "database/geometry/internal/raw_mesh.h"

namespace handhold::geometry::internal {
namespace {

std::string Line(std::size_t number) { return "line " + std::to_string(number); }

bool ParseVertex(std::string_view rest, Vec3& v) {
  for (int k = 0; k < 3; ++k) {
    if (!ParseReal(NextToken(rest), v[k])) return false;
  }
  return true;
}

/// Corners "7", "7/1", "7//3", "7/1/3"; negative numbers count back from the latest vertex. False
/// when one does not parse.
bool ParseObjFace(std::string_view rest, std::size_t vertices_so_far,
                  std::vector<std::int64_t>& corners) {
  corners.clear();
  for (std::string_view token = NextToken(rest); !token.empty() && token[0] != '#';
       token = NextToken(rest)) {
    std::int64_t number = 0;
    if (!ParseInteger(token.substr(0, token.find('/')), number)) return false;
    // 0 names nothing: it becomes -1, which no vertex has. So does a number too far back.
    corners.push_back(number >= 0 ? number - 1
                                  : static_cast<std::int64_t>(vertices_so_far) + number);
  }
  return true;
}

/// The next statement: a line, and while it ends in a backslash the one after it, too. Only those
/// that are read can be continued, and not in a comment: a path at the end of a comment or a name
/// ("# from C:\models\") must not swallow a vertex. `joined` holds what had to be put together.
/// Returns the lines taken, 0 at the end.
std::size_t NextStatement(std::string_view& text, std::string_view& statement,
                          std::string& joined) {
  if (!NextLine(text, statement)) return 0;
  std::size_t lines = 1;
  if (!statement.ends_with('\\')) return lines;
  std::string_view rest = statement;
  const std::string_view keyword = NextToken(rest);
  if ((keyword != "v" && keyword != "f") || rest.find('#') != rest.npos) return lines;
  joined.clear();
  std::string_view line = statement;
  bool more = true;
  while (more && line.ends_with('\\')) {
    joined.append(line.substr(0, line.size() - 1)).push_back(' ');
    more = NextLine(text, line);
    lines += more;
  }
  if (more) joined += line;
  statement = joined;
  return lines;
}

}  // namespace

Result<RawMesh> ReadObj(std::string_view text) {
  RawMesh mesh;
  mesh.format = MeshFormat::kObj;
  // Faces may come before the vertices they name, so they are checked at the end: corners flat,
  // with a count and a line each.
  std::vector<std::int64_t> all_corners, corners;
  struct Face {
    std::size_t count, line;
  };
  std::vector<Face> faces;
  std::string_view line;
  std::string joined;
  std::size_t taken = 0;
  for (std::size_t number = 1; (taken = NextStatement(text, line, joined)) > 0; number += taken) {
    const std::string_view keyword = NextToken(line);
    if (keyword == "v") {
      Vec3 v;
      if (ParseVertex(line, v)) {
        mesh.vertices.push_back(v);
      } else {
        // It keeps its number, so that the others keep theirs.
        mesh.unreadable.Add(Line(number));
        mesh.vertices.push_back(Vec3::Constant(std::numeric_limits<double>::quiet_NaN()));
      }
    } else if (keyword == "f") {
      if (ParseObjFace(line, mesh.vertices.size(), corners)) {
        all_corners.insert(all_corners.end(), corners.begin(), corners.end());
        faces.push_back({corners.size(), number});
      } else {
        mesh.unreadable.Add(Line(number));
      }
    }
    // Texture coordinates, normals, groups, materials, lines and curves are not geometry of a
    // surface.
  }
  auto corner = all_corners.begin();
  for (const Face& face : faces) {
    const auto end = corner + static_cast<std::ptrdiff_t>(face.count);
    corners.assign(corner, end);
    AddPolygon(corners, Line(face.line), mesh);
    corner = end;
  }
  return mesh;
}

Result<RawMesh> ReadStlAscii(std::string_view text) {
  RawMesh mesh;
  mesh.format = MeshFormat::kStlAscii;
  std::vector<std::int64_t> corners;
  bool in_facet = false, spoiled = false;
  std::size_t facet_line = 0;
  const auto finish = [&] {
    if (in_facet)
      spoiled ? mesh.unreadable.Add(Line(facet_line)) : AddPolygon(corners, Line(facet_line), mesh);
    in_facet = spoiled = false;
    corners.clear();
  };
  std::string_view line;
  std::size_t number = 1;
  bool ended = false;
  for (; NextLine(text, line); ++number) {
    const std::string keyword = LowerCase(NextToken(line));
    if (keyword == "facet") {
      finish();
      in_facet = true;
      facet_line = number;
    } else if (keyword == "vertex") {
      Vec3 v;
      if (in_facet && ParseVertex(line, v)) {
        corners.push_back(static_cast<std::int64_t>(mesh.vertices.size()));
        mesh.vertices.push_back(v);
      } else {
        spoiled = true;
        if (!in_facet) mesh.unreadable.Add(Line(number));
      }
    } else if (keyword == "endfacet") {
      finish();
    } else if (keyword == "endsolid") {
      ended = true;
    }
  }
  if (in_facet) mesh.truncated = "the last facet is not closed";
  finish();
  if (!ended && mesh.truncated.empty())
    mesh.truncated = "no endsolid: the file may have been cut off";
  return mesh;
}

}  // namespace handhold::geometry::internal

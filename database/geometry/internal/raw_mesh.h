/// What the format readers hand to ReadMesh before it is checked. For use inside database/geometry
/// only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/geometry/mesh_io.h"

namespace handhold::geometry::internal {

/// Counts one kind of finding, and remembers where it first was.
struct Finding {
  std::size_t count = 0;
  std::string first;

  void Add(const std::string& where) {
    if (count++ == 0) first = where;
  }
};

/// Vertices in file units, not yet checked to be finite; triangles whose indices are in range.
struct RawMesh {
  std::vector<Vec3> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
  MeshFormat format = MeshFormat::kObj;
  Finding bad_index;      ///< faces naming vertices that are not there
  Finding unreadable;     ///< lines or records that do not parse
  Finding too_few;        ///< faces of fewer than three corners
  Finding cut;            ///< polygons cut into triangles
  Finding folded;         ///< polygons that no fan from a corner covers: their triangles overlap
  std::string truncated;  ///< not empty: what is missing at the end
};

Result<RawMesh> ReadObj(std::string_view text);
Result<RawMesh> ReadStlAscii(std::string_view text);
Result<RawMesh> ReadStlBinary(std::string_view bytes);
Result<RawMesh> ReadPly(std::string_view bytes);

/// Adds the fan of a polygon whose corners are vertex numbers (0-based, possibly out of range): all
/// of it or, when a corner is missing, nothing but a finding. The fan begins at the first corner
/// from which no triangle turns over, which every convex polygon and most others have.
void AddPolygon(const std::vector<std::int64_t>& corners, const std::string& where, RawMesh& mesh);

/// The next token of `rest` separated by blanks; empty at the end. Advances `rest`.
std::string_view NextToken(std::string_view& rest);
/// ASCII letters in lower case, all else as it is.
std::string LowerCase(std::string_view text);
/// The next line without its end (\n, \r\n or \r); false at the end. Advances `rest`.
bool NextLine(std::string_view& rest, std::string_view& line);
/// A number as C writes it, nan and inf included, nothing after it. False when it is not one.
bool ParseReal(std::string_view token, double& value);
bool ParseInteger(std::string_view token, std::int64_t& value);

}  // namespace handhold::geometry::internal

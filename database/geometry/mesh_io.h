/// Reads triangle meshes from OBJ, STL (ascii, binary) and PLY (ascii, binary of either byte
/// order).
///
/// Files of the world are never trusted: sizes are checked against the bytes that are there before
/// anything is allocated (memory stays below about 100 times the file's size), and no input
/// crashes. What can be read is read, with a list of issues; what cannot is one clear error. None
/// of these formats states its unit, so the caller must. Pinned by
/// tests/database/geometry/mesh_io_test.cc and fuzzed by tests/fuzz/mesh_fuzz.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/geometry/mesh.h"

namespace handhold::geometry {

enum class MeshFormat { kObj, kStlAscii, kStlBinary, kPlyAscii, kPlyLittleEndian, kPlyBigEndian };

/// "obj", "stl-ascii", "stl-binary", "ply-ascii", "ply-little-endian", "ply-big-endian".
std::string_view MeshFormatName(MeshFormat format);

struct MeshFile {
  Mesh mesh;  ///< metres; faces of more than three corners cut into fans. Passes CheckMesh
  MeshFormat format = MeshFormat::kObj;
  MeshReport report;  ///< InspectMesh(mesh)
  /// What was dropped (kLoss: faces naming missing or non-finite vertices, truncated files),
  /// guessed (kWarning: holes, non-manifold or disagreeing edges, zero-area and duplicate
  /// triangles, polygons too concave to be cut into a fan) or merely noticed (kNote). At most one
  /// issue per kind, with its count and the first place.
  Issues issues;
};

struct MeshReadOptions {
  double metres_per_unit = 1.0;  ///< 1 when the file is in metres, 1e-3 for millimetres
  bool weld = true;  ///< merge vertices at the same place: an STL file becomes a connected mesh
};

/// Reads `bytes`. `name` stands in messages and its extension (.obj, .stl, .ply, any case) helps to
/// choose the format where the content does not say. Errors: kInvalid (metres_per_unit not
/// positive), kUnsupported (none of the formats, or a PLY with properties we cannot skip), kCorrupt
/// (nothing readable in it).
Result<MeshFile> ReadMesh(std::span<const char> bytes, std::string_view name,
                          const MeshReadOptions& options);

/// Reads a file: kNotFound or kIo where it cannot be opened, else as ReadMesh. Files above 2 GiB
/// are kUnsupported.
Result<MeshFile> ReadMeshFile(const std::string& path, const MeshReadOptions& options);

/// Binary STL of the mesh, coordinates rounded to single precision, `metres_per_unit` as for
/// reading: for handing meshes on, and for tests. Precondition: CheckMesh(mesh), fewer than 2^32
/// triangles.
std::string WriteStlBinary(const Mesh& mesh, double metres_per_unit = 1.0);

}  // namespace handhold::geometry

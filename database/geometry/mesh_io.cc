#include "database/geometry/mesh_io.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "database/base/check.h"
#include "database/geometry/internal/raw_mesh.h"

namespace handhold::geometry {
namespace internal {
namespace {

/// The first corner whose fan has no triangle against the polygon's area vector; corners.size()
/// when there is none. At most 64 corners are tried, so that a polygon of a million costs no
/// million squared.
std::size_t FanStart(const std::vector<std::int64_t>& corners, const std::vector<Vec3>& vertices) {
  const std::size_t n = corners.size();
  const auto at = [&](std::size_t i) -> const Vec3& {
    return vertices[static_cast<std::size_t>(corners[i % n])];
  };
  Vec3 area = Vec3::Zero();
  for (std::size_t i = 1; i + 1 < n; ++i) area += (at(i) - at(0)).cross(at(i + 1) - at(0));
  const double rounding = 1e-12 * area.squaredNorm();
  for (std::size_t start = 0; start < std::min<std::size_t>(n, 64); ++start) {
    bool fits = true;
    for (std::size_t i = start + 1; fits && i + 1 < start + n; ++i) {
      // A vertex that is not finite spoils no comparison: its triangle is dropped and reported.
      fits = !((at(i) - at(start)).cross(at(i + 1) - at(start)).dot(area) < -rounding);
    }
    if (fits) return start;
  }
  return n;
}

}  // namespace

void AddPolygon(const std::vector<std::int64_t>& corners, const std::string& where, RawMesh& mesh) {
  if (corners.size() < 3) return mesh.too_few.Add(where);
  for (const std::int64_t c : corners) {
    if (c < 0 || c >= static_cast<std::int64_t>(mesh.vertices.size()))
      return mesh.bad_index.Add(where);
  }
  std::size_t start = 0;
  if (corners.size() > 3) {
    mesh.cut.Add(where);
    start = FanStart(corners, mesh.vertices);
    if (start == corners.size()) {
      mesh.folded.Add(where);
      start = 0;
    }
  }
  const auto corner = [&](std::size_t i) {
    return static_cast<std::uint32_t>(corners[(start + i) % corners.size()]);
  };
  for (std::size_t i = 1; i + 1 < corners.size(); ++i)
    mesh.triangles.push_back({corner(0), corner(i), corner(i + 1)});
}

std::string_view NextToken(std::string_view& rest) {
  const std::size_t begin = rest.find_first_not_of(" \t\v\f\r\n");
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  const std::size_t end = std::min(rest.find_first_of(" \t\v\f\r\n", begin), rest.size());
  const std::string_view token = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return token;
}

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

bool NextLine(std::string_view& rest, std::string_view& line) {
  if (rest.empty()) return false;
  const std::size_t end = rest.find_first_of("\r\n");
  line = rest.substr(0, end);
  if (end == std::string_view::npos) {
    rest = {};
  } else {
    rest.remove_prefix(end + (rest.substr(end, 2) == "\r\n" ? 2 : 1));
  }
  return true;
}

bool ParseReal(std::string_view token, double& value) {
  if (!token.empty() && token[0] == '+') token.remove_prefix(1);
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (end != token.data() + token.size() || token.empty()) return false;
  // Out of range: too large becomes a non-finite vertex, which is reported; too small is zero.
  if (error == std::errc::result_out_of_range) {
    // Without an exponent it is a long row of zeros behind the point, or a long whole number.
    const std::size_t exponent = token.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos
                          ? token.substr(exponent + 1, 1) == "-"
                          : token.find_first_not_of("-0") == token.find('.');
    value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
    return true;
  }
  return error == std::errc();
}

bool ParseInteger(std::string_view token, std::int64_t& value) {
  if (!token.empty() && token[0] == '+') token.remove_prefix(1);
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  return error == std::errc() && end == token.data() + token.size() && !token.empty();
}

}  // namespace internal

namespace {

using internal::Finding;
using internal::RawMesh;

bool StartsWith(std::string_view s, std::string_view prefix) {
  return s.substr(0, prefix.size()) == prefix;
}

std::string Extension(std::string_view name) {
  return internal::LowerCase(name.substr(std::min(name.rfind('.'), name.size())));
}

/// Keywords in either case, as old CAD programs write them.
bool IsStlText(std::string_view bytes) {
  const std::string_view first = internal::NextToken(bytes);
  return internal::LowerCase(first) == "solid" && (bytes.find("facet") != std::string_view::npos ||
                                                   bytes.find("FACET") != std::string_view::npos);
}

/// Binary STL has no mark of its own, and its 80 free bytes may begin with "solid": the length
/// decides, being 84 + 50 n.
bool HasBinaryStlLength(std::string_view bytes) {
  if (bytes.size() < 84) return false;
  std::uint32_t n = 0;
  for (int i = 3; i >= 0; --i) n = n << 8 | static_cast<unsigned char>(bytes[80 + i]);
  return bytes.size() == 84 + 50 * std::uint64_t{n};
}

/// No control characters but white space. The count of a binary STL below 2^24 triangles holds a
/// zero byte, and its end lies within what is looked at.
bool IsText(std::string_view bytes) {
  return std::none_of(
      bytes.begin(), bytes.begin() + std::min<std::ptrdiff_t>(1024, std::ssize(bytes)),
      [](char c) { return (c >= 0 && c < ' ' && (c < '\t' || c > '\r')) || c == 127; });
}

Result<RawMesh> ReadRaw(std::string_view bytes, std::string_view name) {
  // A byte-order mark would hide the first keyword, and with it a vertex that all faces count from.
  if (StartsWith(bytes, "\xEF\xBB\xBF") && !HasBinaryStlLength(bytes)) bytes.remove_prefix(3);
  if (StartsWith(bytes, "ply\n") || StartsWith(bytes, "ply\r")) return internal::ReadPly(bytes);
  const std::string extension = Extension(name);
  const bool obj = extension == ".obj";
  if (!obj && HasBinaryStlLength(bytes)) return internal::ReadStlBinary(bytes);
  std::string_view start = bytes;
  const std::string_view first = internal::NextToken(start);
  if (!obj && IsStlText(bytes)) return internal::ReadStlAscii(bytes);
  if (extension == ".stl") {
    if (IsText(bytes)) {
      return Error{ErrorCode::kUnsupported,
                   "is not STL: a text without 'solid' and 'facet', whatever its name says"};
    }
    return internal::ReadStlBinary(bytes);
  }
  if (obj || first == "v" || first == "#" || first == "o" || first == "g" || first == "mtllib")
    return internal::ReadObj(bytes);
  return Error{ErrorCode::kUnsupported,
               "not an OBJ, STL or PLY mesh (neither by content nor by extension)"};
}

void Report(const Finding& finding, Severity severity, const char* what, Issues& issues) {
  if (finding.count > 0)
    issues.push_back({finding.first, severity, std::to_string(finding.count) + " " + what});
}

/// Scales, drops triangles with vertices that are not finite, and vertices nobody uses when one of
/// them is not finite.
void KeepFinite(RawMesh& raw, double metres_per_unit, Issues& issues) {
  for (Vec3& v : raw.vertices) v *= metres_per_unit;
  const auto finite = [&](std::uint32_t v) {
    return raw.vertices[v].allFinite() && raw.vertices[v].cwiseAbs().maxCoeff() <= 1e50;
  };
  Finding dropped;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < raw.triangles.size(); ++i) {
    const auto t = raw.triangles[i];
    if (finite(t[0]) && finite(t[1]) && finite(t[2])) {
      raw.triangles[kept++] = t;
    } else {
      dropped.Add("triangle " + std::to_string(i));
    }
  }
  raw.triangles.resize(kept);
  Finding strays;
  for (std::uint32_t v = 0; v < raw.vertices.size(); ++v) {
    if (finite(v)) continue;
    strays.Add("vertex " + std::to_string(v));
    raw.vertices[v].setZero();
  }
  Report(dropped, Severity::kLoss, "triangles dropped: their vertices are not finite", issues);
  Report(strays, Severity::kWarning, "vertices that are not finite", issues);
}

void ReportSurface(const MeshReport& r, Issues& issues) {
  const auto add = [&](std::size_t n, Severity severity, const char* what) {
    if (n > 0) issues.push_back({"surface", severity, std::to_string(n) + " " + what});
  };
  add(r.zero_area_triangles, Severity::kWarning, "triangles without area");
  add(r.duplicate_triangles, Severity::kWarning, "triangles that repeat another");
  add(r.boundary_edges, Severity::kWarning, "edges with one triangle only: the mesh has holes");
  add(r.nonmanifold_edges, Severity::kWarning, "edges with three triangles or more");
  add(r.inconsistent_edges, Severity::kWarning, "edges whose triangles disagree about the outside");
  if (r.watertight() && r.signed_volume_m3 < 0) {
    issues.push_back(
        {"surface", Severity::kWarning, "the mesh is inside out; queries turn it over"});
  }
  if (r.components > 1)
    issues.push_back(
        {"surface", Severity::kNote, std::to_string(r.components) + " separate pieces"});
}

}  // namespace

std::string_view MeshFormatName(MeshFormat format) {
  constexpr std::string_view kNames[] = {"obj",       "stl-ascii",         "stl-binary",
                                         "ply-ascii", "ply-little-endian", "ply-big-endian"};
  return kNames[static_cast<int>(format)];
}

Result<MeshFile> ReadMesh(std::span<const char> bytes, std::string_view name,
                          const MeshReadOptions& options) {
  if (!(std::isfinite(options.metres_per_unit) && options.metres_per_unit > 0)) {
    return Error{ErrorCode::kInvalid, std::string(name) + ": metres_per_unit must be positive"};
  }
  Result<RawMesh> read = ReadRaw({bytes.data(), bytes.size()}, name);
  if (!read) return read.error().Within(name);
  RawMesh& raw = *read;
  MeshFile file;
  file.format = raw.format;
  Report(raw.bad_index, Severity::kLoss, "faces dropped: they name vertices that are not there",
         file.issues);
  Report(raw.unreadable, Severity::kLoss, "records that do not parse", file.issues);
  Report(raw.too_few, Severity::kLoss, "faces dropped: fewer than three corners", file.issues);
  Report(raw.cut, Severity::kNote, "polygons cut into triangles", file.issues);
  Report(raw.folded, Severity::kWarning,
         "polygons too concave to cut: their triangles overlap; write the mesh as triangles",
         file.issues);
  if (!raw.truncated.empty())
    file.issues.push_back({"end of file", Severity::kLoss, raw.truncated});
  KeepFinite(raw, options.metres_per_unit, file.issues);
  file.mesh.vertices = std::move(raw.vertices);
  file.mesh.triangles = std::move(raw.triangles);
  const auto nothing = [&] {
    std::string message = std::string(name) + ": no usable triangle in this " +
                          std::string(MeshFormatName(raw.format)) + " file";
    for (const Issue& i : file.issues) message += "; " + i.what + " (" + i.where + ")";
    return Error{ErrorCode::kCorrupt, message};
  };
  if (file.mesh.triangles.empty()) return nothing();
  if (options.weld) {
    const std::size_t before = file.mesh.triangles.size();
    file.mesh = WeldVertices(file.mesh);
    const std::size_t collapsed = before - file.mesh.triangles.size();
    if (collapsed > 0) {
      file.issues.push_back(
          {"surface", Severity::kWarning,
           std::to_string(collapsed) + " triangles dropped: two corners coincide"});
    }
    if (file.mesh.triangles.empty()) return nothing();
  }
  file.report = InspectMesh(file.mesh);
  ReportSurface(file.report, file.issues);
  return file;
}

Result<MeshFile> ReadMeshFile(const std::string& path, const MeshReadOptions& options) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    return Error{missing ? ErrorCode::kNotFound : ErrorCode::kIo, path + ": " + error.message()};
  }
  if (size > (std::uintmax_t{1} << 31))
    return Error{ErrorCode::kUnsupported, path + ": mesh files above 2 GiB are not read"};
  std::ifstream in(path, std::ios::binary);
  std::string bytes(size, '\0');
  if (!in.read(bytes.data(), static_cast<std::streamsize>(size)))
    return Error{ErrorCode::kIo, path + ": cannot be read"};
  return ReadMesh(bytes, path, options);
}

std::string WriteStlBinary(const Mesh& mesh, double metres_per_unit) {
  CHECK_GT(metres_per_unit, 0.0);
  std::string out(80, '\0');
  const char kTitle[] = "handhold binary STL";  // not "solid": readers would take it for text
  std::memcpy(out.data(), kTitle, sizeof(kTitle) - 1);
  const auto put32 = [&](std::uint32_t x) {
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(x >> (8 * i) & 0xff));
  };
  const auto put = [&](const Vec3& v) {
    for (int k = 0; k < 3; ++k) put32(std::bit_cast<std::uint32_t>(static_cast<float>(v[k])));
  };
  put32(static_cast<std::uint32_t>(mesh.triangles.size()));
  out.reserve(84 + 50 * mesh.triangles.size());
  for (const auto& t : mesh.triangles) {
    const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
    put((b - a).cross(c - a).stableNormalized());
    for (const Vec3* v : {&a, &b, &c}) put(*v / metres_per_unit);
    out.append(2, '\0');
  }
  return out;
}

}  // namespace handhold::geometry

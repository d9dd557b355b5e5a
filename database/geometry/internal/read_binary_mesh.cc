#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "database/geometry/internal/raw_mesh.h"

namespace handhold::geometry::internal {
namespace {

/// Bytes of a number in the other or the same order, as a T.
template <typename T>
T Load(const char* bytes, bool big_endian) {
  char copy[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const bool reverse = big_endian != (std::endian::native == std::endian::big);
    copy[i] = bytes[reverse ? sizeof(T) - 1 - i : i];
  }
  T value;
  std::memcpy(&value, copy, sizeof(T));
  return value;
}

enum class Type { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kFloat, kDouble };

std::size_t SizeOf(Type type) {
  constexpr std::size_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
  return kSizes[static_cast<int>(type)];
}

std::optional<Type> TypeNamed(std::string_view name) {
  constexpr std::pair<std::string_view, Type> kTypes[] = {
      {"char", Type::kInt8},     {"int8", Type::kInt8},     {"uchar", Type::kUint8},
      {"uint8", Type::kUint8},   {"short", Type::kInt16},   {"int16", Type::kInt16},
      {"ushort", Type::kUint16}, {"uint16", Type::kUint16}, {"int", Type::kInt32},
      {"int32", Type::kInt32},   {"uint", Type::kUint32},   {"uint32", Type::kUint32},
      {"float", Type::kFloat},   {"float32", Type::kFloat}, {"double", Type::kDouble},
      {"float64", Type::kDouble}};
  for (const auto& [known, type] : kTypes) {
    if (name == known) return type;
  }
  return std::nullopt;
}

struct Property {
  std::string name;
  Type type = Type::kFloat;
  std::optional<Type> count_type;  // a list when present
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

struct Header {
  MeshFormat format = MeshFormat::kPlyAscii;
  std::vector<Element> elements;
  std::string_view body;
};

Error Corrupt(const std::string& what) { return {ErrorCode::kCorrupt, "PLY: " + what}; }

Status ParseProperty(std::string_view line, const std::string& where, Header& header) {
  if (header.elements.empty()) return Corrupt(where + ": a property before any element");
  Property p;
  std::string_view type = NextToken(line);
  if (type == "list") {
    p.count_type = TypeNamed(NextToken(line));
    if (!p.count_type) return Corrupt(where + ": unknown type of a list's length");
    type = NextToken(line);
  }
  const auto known = TypeNamed(type);
  if (!known) return Corrupt(where + ": unknown type '" + std::string(type.substr(0, 40)) + "'");
  p.type = *known;
  p.name = NextToken(line).substr(0, 80);
  header.elements.back().properties.push_back(p);
  return {};
}

Result<Header> ParseHeader(std::string_view text) {
  Header header;
  std::string_view line;
  bool has_format = false;
  for (int number = 1; NextLine(text, line); ++number) {
    const std::string where = "line " + std::to_string(number);
    const std::string_view keyword = NextToken(line);
    if (keyword == "format") {
      const std::string_view format = NextToken(line);
      has_format = true;
      if (format == "ascii") {
        header.format = MeshFormat::kPlyAscii;
      } else if (format == "binary_little_endian") {
        header.format = MeshFormat::kPlyLittleEndian;
      } else if (format == "binary_big_endian") {
        header.format = MeshFormat::kPlyBigEndian;
      } else {
        return Error{ErrorCode::kUnsupported,
                     "PLY: format '" + std::string(format.substr(0, 40)) + "'"};
      }
    } else if (keyword == "element") {
      Element element;
      element.name = NextToken(line).substr(0, 80);
      std::int64_t count = 0;
      if (!ParseInteger(NextToken(line), count) || count < 0)
        return Corrupt(where + ": bad element count");
      element.count = static_cast<std::uint64_t>(count);
      header.elements.push_back(element);
    } else if (keyword == "property") {
      HANDHOLD_TRY(ParseProperty(line, where, header));
    } else if (keyword == "end_header") {
      if (!has_format) return Corrupt("no format line");
      header.body = text;
      return header;
    }
    // "ply", comment, obj_info and what others add say nothing about the layout.
  }
  return Corrupt("no end_header");
}

/// Hands out the body's numbers one by one: tokens of the current line, or bytes.
class Body {
 public:
  explicit Body(const Header& header)
      : rest_(header.body),
        ascii_(header.format == MeshFormat::kPlyAscii),
        big_endian_(header.format == MeshFormat::kPlyBigEndian) {}

  /// Begins a row; false at the end of the body.
  bool NextRow() {
    if (!ascii_) return !rest_.empty();
    while (NextLine(rest_, line_)) {
      if (line_.find_first_not_of(" \t") != std::string_view::npos) return true;
    }
    return false;
  }

  bool Number(Type type, double& value) {
    if (ascii_) return ParseReal(NextToken(line_), value);
    const std::size_t size = SizeOf(type);
    if (rest_.size() < size) return false;
    const char* p = rest_.data();
    switch (type) {
      case Type::kInt8:
        value = Load<std::int8_t>(p, false);
        break;
      case Type::kUint8:
        value = Load<std::uint8_t>(p, false);
        break;
      case Type::kInt16:
        value = Load<std::int16_t>(p, big_endian_);
        break;
      case Type::kUint16:
        value = Load<std::uint16_t>(p, big_endian_);
        break;
      case Type::kInt32:
        value = Load<std::int32_t>(p, big_endian_);
        break;
      case Type::kUint32:
        value = Load<std::uint32_t>(p, big_endian_);
        break;
      case Type::kFloat:
        value = Load<float>(p, big_endian_);
        break;
      case Type::kDouble:
        value = Load<double>(p, big_endian_);
        break;
    }
    rest_.remove_prefix(size);
    return true;
  }

  /// A list's length: a whole number that the bytes left can hold.
  bool Length(Type type, std::size_t& length) {
    double value = 0;
    if (!Number(type, value) || !(value >= 0) || value != std::floor(value)) return false;
    if (value > static_cast<double>(ascii_ ? line_.size() : rest_.size())) return false;
    length = static_cast<std::size_t>(value);
    return true;
  }

  bool ascii() const { return ascii_; }

 private:
  std::string_view rest_, line_;
  bool ascii_, big_endian_;
};

/// One row's numbers that matter: x, y, z of a vertex, the corner list of a face.
struct Row {
  Vec3 v = Vec3::Constant(std::numeric_limits<double>::quiet_NaN());
  std::vector<std::int64_t> corners;
};

bool ReadRow(Body& body, const Element& element, Row& row) {
  row.corners.clear();
  for (const Property& p : element.properties) {
    double value = 0;
    if (!p.count_type) {
      if (!body.Number(p.type, value)) return false;
      if (p.name.size() == 1 && p.name[0] >= 'x' && p.name[0] <= 'z')
        row.v[p.name[0] - 'x'] = value;
      continue;
    }
    const bool corners = p.name == "vertex_indices" || p.name == "vertex_index";
    std::size_t length = 0;
    if (!body.Length(*p.count_type, length)) return false;
    for (std::size_t i = 0; i < length; ++i) {
      if (!body.Number(p.type, value)) return false;
      // Anything but a whole number in range names no vertex.
      const bool whole = value >= 0 && value < 4294967296.0 && value == std::floor(value);
      if (corners) row.corners.push_back(whole ? static_cast<std::int64_t>(value) : -1);
    }
  }
  return true;
}

/// Reads the rows of one element; false when the body ended or cannot be followed any further.
bool ReadElement(Body& body, const Element& element, std::vector<std::int64_t>& faces,
                 RawMesh& mesh) {
  if (element.properties.empty()) return true;  // rows without content take no space
  Row row;
  for (std::uint64_t i = 0; i < element.count; ++i) {
    const bool there = body.NextRow();
    if (!there) {
      mesh.truncated = "the file ends after " + std::to_string(i) + " of " +
                       std::to_string(element.count) + " rows of element " + element.name;
      return false;
    }
    const bool readable = ReadRow(body, element, row);
    if (!readable && !body.ascii()) {
      mesh.truncated = "row " + std::to_string(i) + " of element " + element.name +
                       " reaches beyond the end of the file";
      return false;
    }
    if (!readable) mesh.unreadable.Add(element.name + " " + std::to_string(i));
    if (element.name == "vertex") {
      if (!readable) row.v.setConstant(std::numeric_limits<double>::quiet_NaN());
      mesh.vertices.push_back(row.v);
    } else if (element.name == "face" && readable) {
      faces.push_back(static_cast<std::int64_t>(row.corners.size()));
      faces.insert(faces.end(), row.corners.begin(), row.corners.end());
    }
  }
  return true;
}

}  // namespace

Result<RawMesh> ReadPly(std::string_view bytes) {
  HANDHOLD_ASSIGN(const Header header, ParseHeader(bytes));
  RawMesh mesh;
  mesh.format = header.format;
  for (const Element& e : header.elements) {
    if (e.name == "tristrips" && e.count > 0) {
      return Error{ErrorCode::kUnsupported, "PLY: triangle strips; write it with plain faces"};
    }
  }
  Body body(header);
  std::vector<std::int64_t> faces;  // per face: number of corners, corners
  for (const Element& element : header.elements) {
    if (!ReadElement(body, element, faces, mesh)) break;
  }
  std::vector<std::int64_t> corners;
  std::size_t number = 0;
  for (auto at = faces.begin(); at != faces.end(); ++number) {
    const auto end = at + 1 + *at;
    corners.assign(at + 1, end);
    AddPolygon(corners, "face " + std::to_string(number), mesh);
    at = end;
  }
  return mesh;
}

Result<RawMesh> ReadStlBinary(std::string_view bytes) {
  RawMesh mesh;
  mesh.format = MeshFormat::kStlBinary;
  if (bytes.size() < 84) return Error{ErrorCode::kCorrupt, "STL: shorter than its 84-byte header"};
  const std::uint32_t claimed = Load<std::uint32_t>(bytes.data() + 80, false);
  const std::size_t present = (bytes.size() - 84) / 50;
  // The count is all that tells a binary STL from other bytes: where it does not fit, what would be
  // read may be no triangles at all.
  if (present < claimed) {
    return Error{ErrorCode::kCorrupt, "STL: the file holds " + std::to_string(present) +
                                          " of the " + std::to_string(claimed) +
                                          " triangles it announces: it is cut off, or not STL"};
  }
  const std::size_t count = claimed;
  if (bytes.size() != 84 + 50 * count) {
    mesh.truncated = std::to_string(bytes.size() - 84 - 50 * count) +
                     " bytes after the last triangle are not read";
  }
  mesh.vertices.reserve(3 * count);
  mesh.triangles.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* record = bytes.data() + 84 + 50 * i + 12;  // past the normal, which the corners'
                                                           // order repeats
    for (int k = 0; k < 3; ++k) {
      mesh.vertices.emplace_back(Load<float>(record + 12 * k, false),
                                 Load<float>(record + 12 * k + 4, false),
                                 Load<float>(record + 12 * k + 8, false));
    }
    const auto first = static_cast<std::uint32_t>(3 * i);
    mesh.triangles.push_back({first, first + 1, first + 2});
  }
  return mesh;
}

}  // namespace handhold::geometry::internal

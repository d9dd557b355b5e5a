// toml++ 3.3 asserts, and without assertions assumes, things that a malformed text breaks ("[[=
// 1"): found by fuzzing. Its assertions are therefore kept in every build and turned into errors.
#undef NDEBUG
#include "database/text/toml.h"

namespace handhold::text {
namespace {

/// A broken assertion of toml++: the text is malformed in a way its parser did not foresee.
struct BrokenAssumption {};
constexpr void Assume(bool holds) {
  if (!holds) throw BrokenAssumption{};
}

}  // namespace
}  // namespace handhold::text

#define TOML_ASSERT(expr) ::handhold::text::Assume(static_cast<bool>(expr))
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "database/base/utf8.h"
#include "database/text/file.h"

namespace handhold::text {
namespace {

class Converter {
 public:
  explicit Converter(const JsonParseOptions& options) : options_(options) {}

  Result<Json> Node(const toml::node& node, const std::string& path, int depth) const {
    Result<Json> out = Unplaced(node, path, depth);
    if (out) out->set_line(node.source().begin.line);
    return out;
  }

 private:
  Error Fail(const toml::node& node, const std::string& path, const std::string& what) const {
    const std::string line = std::to_string(node.source().begin.line);
    return {ErrorCode::kInvalid, (options_.source.empty() ? "line " : options_.source + ":") +
                                     line + ": " + path + ": " + what};
  }

  Result<Json> Unplaced(const toml::node& node, const std::string& path, int depth) const {
    switch (node.type()) {
      case toml::node_type::string:
        return Json(node.as_string()->get());
      case toml::node_type::integer:
        return Json(node.as_integer()->get());
      case toml::node_type::boolean:
        return Json(node.as_boolean()->get());
      case toml::node_type::floating_point: {
        const double number = node.as_floating_point()->get();
        if (std::isfinite(number)) return Json(number);
        return Fail(node, path,
                    std::isnan(number) ? "nan is not a value here" : "inf is not a value here");
      }
      case toml::node_type::date:
        return Text(node.as_date()->get());
      case toml::node_type::time:
        return Text(node.as_time()->get());
      case toml::node_type::date_time:
        return Text(node.as_date_time()->get());
      case toml::node_type::array:
      case toml::node_type::table:
        if (depth >= options_.max_depth)
          return Fail(node, path,
                      "nested deeper than the limit of " + std::to_string(options_.max_depth));
        return node.is_table() ? Table(*node.as_table(), path, depth)
                               : Array(*node.as_array(), path, depth);
      case toml::node_type::none:
        break;
    }
    return Fail(node, path, "a value of a kind this program does not know");
  }

  template <typename T>
  static Json Text(const T& value) {
    std::ostringstream out;
    out << value;
    return Json(out.str());
  }

  Result<Json> Array(const toml::array& array, const std::string& path, int depth) const {
    Json out = Json::Array();
    for (size_t i = 0; i < array.size(); ++i) {
      HANDHOLD_ASSIGN(Json element, Node(array[i], JsonPathChild(path, i), depth + 1));
      out.Push(std::move(element));
    }
    return out;
  }

  Result<Json> Table(const toml::table& table, const std::string& path, int depth) const {
    // toml++ keeps keys sorted; the file's order is that of their positions.
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (auto it = table.cbegin(); it != table.cend(); ++it)
      entries.emplace_back(&it->first, &it->second);
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      const auto x = a.first->source().begin, y = b.first->source().begin;
      return std::pair(x.line, x.column) < std::pair(y.line, y.column);
    });
    Json::Members members;
    for (const auto& [key, node] : entries) {
      const std::string name(key->str());
      HANDHOLD_ASSIGN(Json value, Node(*node, JsonPathChild(path, name), depth + 1));
      members.push_back({name, std::move(value)});
    }
    return Json::FromMembers(std::move(members));
  }

  const JsonParseOptions& options_;
};

/// "rig.toml:3:17: what".
Error At(const JsonParseOptions& options, uint32_t line, size_t column, const std::string& what) {
  const std::string where = options.source.empty()
                                ? "line " + std::to_string(line) + ", column "
                                : options.source + ":" + std::to_string(line) + ":";
  return {ErrorCode::kInvalid, where + std::to_string(column) + ": " + what};
}

/// TOML admits well-formed UTF-8 without control characters other than tab and line ends. Looked at
/// here because toml++ 3.3 aborts on some of the rest (a NUL in a time of day; found by fuzzing).
Status CheckCharacters(std::string_view text, const JsonParseOptions& options) {
  uint32_t line = 1;
  size_t line_begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text, at);
    const char c = text[at];
    if (length == 0) return At(options, line, at - line_begin + 1, "a byte that is not UTF-8");
    if (length == 1 && ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)) {
      return At(options, line, at - line_begin + 1, "a control character");
    }
    at += length;
    if (c == '\n') {
      ++line;
      line_begin = at;
    }
  }
  return {};
}

}  // namespace

Result<Json> ParseToml(std::string_view text, const JsonParseOptions& options) {
  const std::string name = options.source.empty() ? "TOML text" : options.source;
  if (text.size() > options.max_bytes) {
    return Error{ErrorCode::kInvalid, name + ": " + std::to_string(text.size()) +
                                          " bytes are more than the limit of " +
                                          std::to_string(options.max_bytes)};
  }
  HANDHOLD_TRY(CheckCharacters(text, options));
  try {
    const toml::table parsed = toml::parse(text, std::string_view(options.source));
    return Converter(options).Node(parsed, "", 0);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    return At(options, at.line, at.column, std::string(error.description()));
  } catch (const BrokenAssumption&) {
    return Error{ErrorCode::kInvalid, name + ": not TOML, and too malformed to say where"};
  }
}

Result<Json> ReadTomlFile(const std::filesystem::path& path, JsonParseOptions options) {
  if (options.source.empty()) options.source = path.string();
  HANDHOLD_ASSIGN(const std::string text, ReadTextFile(path, options.max_bytes));
  return ParseToml(text, options);
}

}  // namespace handhold::text

/// JSON values: parsed with limits and positions, built in code, written so that every double comes
/// back exactly.
///
/// `Json` is the one tree that JSON and TOML (toml.h) are read into. Each value remembers the line
/// it was read from, so that whoever checks it later (schema.h, json_view.h) can still say where.
/// Reading with typed getters and paths in the errors is JsonView's work (json_view.h); this header
/// is the value, its parser and its writer.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "database/base/result.h"

namespace handhold::text {

/// 2^53: integers up to this size are exact as doubles.
inline constexpr double kExactIntegers = 9007199254740992.0;

struct JsonMember;

/// One JSON value, owning everything below it. A value type: copies are deep. Not synchronised;
/// const access from several threads is safe.
class Json {
 public:
  enum class Type { kNull, kBool, kInteger, kNumber, kString, kArray, kObject };
  using Elements = std::vector<Json>;
  using Members = std::vector<JsonMember>;

  // Defined in json.cc: inlining them everywhere costs compile time and trips GCC's false
  // -Wmaybe-uninitialized, and clang 14 refuses to construct the variant before JsonMember is
  // complete.
  Json();  ///< null
  Json(std::nullptr_t);
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  template <std::same_as<bool> B>
  Json(B value) : Json(Boolean{value}) {}
  /// Any integer that fits int64; CHECKs that it does (64-bit ids and hashes above that are written
  /// as strings).
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  Json(I value) : Json(Integer{ToInt64(value)}) {}
  /// NaN and infinities may be held, but neither written nor hashed: Write and Canonical refuse
  /// them by path.
  Json(double value);
  Json(float value);
  Json(std::string value);
  Json(std::string_view value);
  Json(const char* value);

  /// Json::Array({1, "two", 3.0}); Json::Array(std::vector<double>{...}).
  static Json Array(std::initializer_list<Json> elements = {});
  static Json Array(std::span<const double> elements);
  static Json Array(std::span<const std::string> elements);
  /// Json::Object({{"mass_kg", 0.3}, {"name", "ball"}}). Key order is kept; a repeated key is a
  /// CHECK.
  static Json Object(std::initializer_list<JsonMember> members = {});
  /// An object of these members, unchecked: the caller knows that no key repeats.
  static Json FromMembers(Members members);

  Type type() const { return static_cast<Type>(value_.index()); }
  bool is_null() const { return type() == Type::kNull; }
  bool is_array() const { return type() == Type::kArray; }
  bool is_object() const { return type() == Type::kObject; }

  /// The value when it is of that type, else nothing. `number` also takes an integer, converted to
  /// the nearest double; `integer` also takes a number without a fraction within +-2^53, because
  /// 500 and 500.0 mean the same in rig files.
  std::optional<bool> boolean() const;
  std::optional<int64_t> integer() const;
  std::optional<double> number() const;
  const std::string* string() const { return std::get_if<std::string>(&value_); }

  /// The elements of an array or the members of an object, in the order read or built; empty for
  /// any other type.
  const Elements& elements() const;
  const Members& members() const;
  /// The member of that name, or null when this is not an object or has none. Cost: linear in the
  /// members.
  const Json* Find(std::string_view key) const;

  /// Appends. CHECKs that this is an array (or null, which becomes one).
  Json& Push(Json element);
  /// Sets or replaces the member. CHECKs that this is an object (or null, which becomes one).
  /// Linear in the members.
  Json& Set(std::string_view key, Json value);

  /// 1-based line of the text this value was read from; 0 for one built in code. Not part of
  /// equality.
  uint32_t line() const { return line_; }
  void set_line(uint32_t line) { line_ = line; }

  /// Structural equality: numbers by value (1 == 1.0), objects regardless of key order. NaN equals
  /// nothing.
  bool operator==(const Json& other) const;

 private:
  struct Boolean {
    bool value;
  };
  struct Integer {
    int64_t value;
  };
  explicit Json(Boolean boolean);
  explicit Json(Integer integer);

  template <std::integral I>
  static int64_t ToInt64(I value) {
    CheckFitsInt64(std::in_range<int64_t>(value));
    return static_cast<int64_t>(value);
  }
  static void CheckFitsInt64(bool fits);

  std::variant<std::monostate, bool, int64_t, double, std::string, Elements, Members> value_;
  uint32_t line_ = 0;
};

struct JsonMember {
  std::string key;
  Json value;
};

/// "null", "boolean", "integer", "number", "string", "array", "object".
std::string_view JsonTypeName(Json::Type type);

struct JsonParseOptions {
  std::string source = {};  ///< file name or other origin, put before every message; may be empty
  size_t max_bytes = 32 * 1024 * 1024;  ///< longer text is refused unread; the tree may take 25
                                        ///< times as much memory
  int max_depth = 64;  ///< deeper nesting is refused (also bounds the parser's stack)
};

/// Parses RFC 8259 JSON: UTF-8 (a leading byte-order mark is skipped), no comments, no trailing
/// comma, no NaN, no lone surrogate, no repeated key; a number beyond the range of a double is
/// refused, one below its smallest becomes 0. Integers outside int64 become the nearest double.
/// Errors read "SOURCE:LINE:COLUMN: what (byte N)"; columns count bytes.
Result<Json> ParseJson(std::string_view text, const JsonParseOptions& options = {});

/// Reads and parses a file; `options.source` defaults to the path.
Result<Json> ReadJsonFile(const std::filesystem::path& path, JsonParseOptions options = {});

struct JsonWriteOptions {
  /// 0: one line without spaces. Else spaces per level, one member per line; arrays without objects
  /// or arrays in them stay on one line.
  int indent = 0;
};

/// JSON text of the value, keys in their order, without a final newline. Every double is written as
/// the shortest text that reads back to the same bits and stays a number (1.0, not 1; -0.0 keeps
/// its sign). Refuses NaN, infinities and strings that are not UTF-8, naming the path.
Result<std::string> WriteJson(const Json& value, const JsonWriteOptions& options = {});

/// Writes the file whole or not at all: a temporary file in the same folder, fsync, rename. Ends
/// with a newline.
Status WriteJsonFile(const std::filesystem::path& path, const Json& value,
                     const JsonWriteOptions& options = {.indent = 2});

/// The bytes to hash: no white space, keys sorted by their bytes, strings with only the escapes
/// JSON demands, integers in decimal, other numbers as the shortest text that reads back to the
/// same bits, a number without a fraction within
/// +-2^53 as an integer (so 1, 1.0 and 1e0 hash alike, and -0.0 like 0). Equal values (operator==)
/// of that range have equal bytes. Refuses what WriteJson refuses.
Result<std::string> CanonicalJson(const Json& value);

/// "\"text\"" with JSON's escapes; bytes that are not UTF-8 become U+FFFD. For messages.
std::string QuoteJson(std::string_view text);

/// A short one-line rendering for messages: `string "x"`, `number 1.5`, `array of 3`, `object of
/// 2`.
std::string DescribeJson(const Json& value);

/// `path` extended by one step, as a JSON pointer (RFC 6901: '~' and '/' escaped).
std::string JsonPathChild(std::string_view path, std::string_view key);
std::string JsonPathChild(std::string_view path, size_t index);

}  // namespace handhold::text

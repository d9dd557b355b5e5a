/// JSON Schema: is a tree (from JSON or TOML) of the published form, and if not, where, what, and
/// which name was meant?
///
///   HANDHOLD_ASSIGN(const text::Schema schema, text::Schema::Read("schemas/exchange/rig.json"));
///   HANDHOLD_TRY(schema.Require(rig, "rig.toml"));
///   -> rig.toml:12: /sources/0: unknown key 'adress': did you mean 'address'?
///
/// The subset of draft 2020-12 that our schemas use. Validation keywords: type, enum, const,
/// minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, pattern, items,
/// minItems, maxItems, uniqueItems, properties, required, additionalProperties, propertyNames,
/// minProperties, maxProperties, allOf, anyOf, oneOf, $ref ("#" or "#/$defs/NAME"), $defs.
/// Annotations, without effect: $schema, $id, $comment, title, description, default, examples,
/// deprecated. Any other keyword is refused when the schema is parsed, so that no rule is silently
/// ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"
#include "database/text/json.h"

namespace handhold::text {

/// One breach of the schema.
struct SchemaFinding {
  std::string path;   ///< JSON pointer of the value concerned; "" is the root
  uint32_t line = 0;  ///< where that value (or the wrong key) stands in its text; 0 when unknown
  std::string what;   ///< "expected a number, found string \"x\"", "unknown key ...: did you mean
                      ///< ..."
};

/// Immutable once parsed; checking is const and may be done by several threads. Copies share.
class Schema {
 public:
  /// Refuses unknown keywords, malformed ones, a $ref that leads nowhere or in a circle, and a
  /// pattern that is not a regular expression (POSIX extended; escapes like \d and groups like (?:,
  /// which POSIX lacks, are refused). `source` begins the error messages.
  static Result<Schema> Parse(Json schema, const std::string& source = "schema");
  static Result<Schema> Read(const std::filesystem::path& path);

  /// Every breach, in the order of the value's text. Where none of several alternatives (anyOf,
  /// oneOf) holds, the one the author most likely meant is reported: the one whose constant
  /// (`"kind": {"const": "netft"}`) matches, else the one with the fewest breaches. A pattern is
  /// only tried on strings of up to 256 bytes; a longer one is a breach.
  std::vector<SchemaFinding> Check(const Json& value) const;

  /// Success, or one error whose message has a line "SOURCE:LINE: PATH: what" for each of the first
  /// `most` breaches.
  Status Require(const Json& value, std::string_view source, size_t most = 20) const;

  const Json& json() const;

 private:
  struct Compiled;
  explicit Schema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  friend class SchemaChecker;

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace handhold::text

/// TOML read into the same Json tree as JSON, with the line of every value kept, so that one schema
/// and one set of getters serve both: `rig.toml:12: /sources/0: unknown key 'adress': ...`.
#pragma once

#include <filesystem>
#include <string_view>

#include "database/base/result.h"
#include "database/text/json.h"

namespace handhold::text {

/// Parses TOML 1.0. Tables become objects in the order of the file, dates and times strings in ISO
/// 8601 form. Refused with file, line and path: inf and nan (JSON and our hashes cannot hold them),
/// nesting beyond options.max_depth. Limits and the form of syntax errors are those of ParseJson.
Result<Json> ParseToml(std::string_view text, const JsonParseOptions& options = {});

/// Reads and parses a file; `options.source` defaults to the path.
Result<Json> ReadTomlFile(const std::filesystem::path& path, JsonParseOptions options = {});

}  // namespace handhold::text

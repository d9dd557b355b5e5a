/// A path as the URI that SQLite opens, so that any character may be in it. Internal to the store.
#pragma once

#include <string>
#include <string_view>

namespace handhold::store {

/// "file:/tmp/a%3fb?mode=ro" for "/tmp/a?b" and the query "mode=ro". The path is taken as it is,
/// relative or absolute, with however many slashes.
std::string FileUri(const std::string& path, std::string_view query);

}  // namespace handhold::store

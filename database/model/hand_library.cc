#include "database/model/hand_library.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "database/base/names.h"
#include "database/model/shape_json.h"
#include "database/model/skeleton_json.h"
#include "database/text/schema.h"

namespace handhold::model {
namespace fs = std::filesystem;

Result<fs::path> SchemasFolder() {
  std::error_code ignored;
  if (const char* env = std::getenv("HANDHOLD_SCHEMAS"); env != nullptr && *env != '\0') {
    if (fs::is_directory(env, ignored)) return fs::path(env);
    return Error{ErrorCode::kNotFound,
                 std::string("HANDHOLD_SCHEMAS names '") + env + "', which is not a folder"};
  }
  for (const char* candidate : {HANDHOLD_SCHEMAS_SOURCE, HANDHOLD_SCHEMAS_INSTALLED}) {
    if (fs::is_directory(candidate, ignored)) return fs::path(candidate);
  }
  return Error{ErrorCode::kNotFound,
               "no schemas folder in " HANDHOLD_SCHEMAS_SOURCE " or " HANDHOLD_SCHEMAS_INSTALLED
               ": set HANDHOLD_SCHEMAS to the project's schemas folder"};
}

namespace internal {

Status RequireSchema(const text::Json& json, const std::string& kind, const fs::path& path) {
  // A newer form would breach this schema in confusing ways: say first that it is newer.
  const text::JsonView root(json, path.string());
  if (root.Has("version") && root.Has("format")) {
    HANDHOLD_TRY(CheckFormat(root, "handhold." + kind));
  }
  HANDHOLD_ASSIGN(const fs::path schemas, SchemasFolder());
  HANDHOLD_ASSIGN(const text::Schema schema,
                  text::Schema::Read(schemas / "exchange" / (kind + ".schema.json")));
  return schema.Require(json, path.string());
}

Result<std::vector<std::string>> LibraryNames(const std::string& folder) {
  HANDHOLD_ASSIGN(const fs::path schemas, SchemasFolder());
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(schemas / folder, ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<fs::path> LibraryFile(const std::string& folder, const std::string& kind,
                             const std::string& name) {
  HANDHOLD_ASSIGN(const std::vector<std::string> names, LibraryNames(folder));
  HANDHOLD_ASSIGN(const fs::path schemas, SchemasFolder());
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return Error{ErrorCode::kNotFound, "no " + kind + " '" + name + "' in " +
                                           (schemas / folder).string() + DidYouMean(name, names)};
  }
  return schemas / folder / (name + ".json");
}

}  // namespace internal

Result<std::vector<std::string>> HandNames() { return internal::LibraryNames("hands"); }

Result<Skeleton> LoadHand(const std::string& name) {
  HANDHOLD_ASSIGN(const fs::path path, internal::LibraryFile("hands", "hand", name));
  return LoadSkeleton(path);
}

}  // namespace handhold::model

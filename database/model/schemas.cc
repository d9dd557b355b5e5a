#include "database/model/schemas.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "database/base/names.h"

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

Result<std::vector<std::string>> LibraryNames(const std::string& folder,
                                              const std::string& extension) {
  HANDHOLD_ASSIGN(const fs::path schemas, SchemasFolder());
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(schemas / folder, ignored)) {
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<fs::path> LibraryFile(const std::string& folder, const std::string& kind,
                             const std::string& name, const std::string& extension) {
  HANDHOLD_ASSIGN(const std::vector<std::string> names, LibraryNames(folder, extension));
  HANDHOLD_ASSIGN(const fs::path schemas, SchemasFolder());
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return Error{ErrorCode::kNotFound, "no " + kind + " '" + name + "' in " +
                                           (schemas / folder).string() + DidYouMean(name, names)};
  }
  return schemas / folder / (name + extension);
}

}  // namespace handhold::model

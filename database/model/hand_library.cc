#include "database/model/hand_library.h"

#include "database/model/schemas.h"
#include "database/model/shape_json.h"
#include "database/model/skeleton_json.h"
#include "database/text/schema.h"

namespace handhold::model {
namespace fs = std::filesystem;

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

}  // namespace internal

Result<std::vector<std::string>> HandNames() { return LibraryNames("hands"); }

Result<Skeleton> LoadHand(const std::string& name) {
  HANDHOLD_ASSIGN(const fs::path path, LibraryFile("hands", "hand", name));
  return LoadSkeleton(path);
}

}  // namespace handhold::model

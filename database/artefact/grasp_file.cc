#include "database/artefact/grasp_file.h"

#include <algorithm>
#include <system_error>

#include "database/artefact/describe.h"
#include "database/base/names.h"
#include "database/model/schemas.h"
#include "database/text/json.h"
#include "database/text/json_view.h"

namespace handhold::artefact {
namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "handhold.grasp";
constexpr int64_t kVersion = 1;

}  // namespace

Result<Grasp> LoadGraspFile(const fs::path& path) {
  HANDHOLD_ASSIGN(const text::Json json, text::ReadJsonFile(path));
  const text::JsonView root(json, path.string());
  HANDHOLD_ASSIGN(const auto format, root.Get<std::string>("format"));
  HANDHOLD_ASSIGN(const auto version, root.Get<int64_t>("version"));
  if (format != kFormat) return root.Fail("is a '" + format + "', not a " + kFormat);
  if (version != kVersion) {
    return Error{ErrorCode::kVersion, path.string() + " is of version " + std::to_string(version) +
                                          "; this program reads version 1"};
  }
  return FromJson<Grasp>(root);
}

Status SaveGraspFile(const Grasp& grasp, const std::string& source, const fs::path& path) {
  text::Json json =
      text::Json::Object({{"format", kFormat}, {"version", kVersion}, {"source", source}});
  const text::Json body = Writable(ToJson(grasp));
  for (const text::JsonMember& member : body.members()) json.Set(member.key, member.value);
  return text::WriteJsonFile(path, json);
}

Result<std::vector<std::string>> GraspNames() { return model::LibraryNames("grasps"); }

Result<Grasp> LoadLibraryGrasp(const std::string& name) {
  HANDHOLD_ASSIGN(const fs::path path, model::LibraryFile("grasps", "grasp", name));
  return LoadGraspFile(path);
}

}  // namespace handhold::artefact

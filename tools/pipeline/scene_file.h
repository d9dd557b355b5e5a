/// Scene files: what a hand meets when a trajectory is played again (schemas/exchange/
/// scene.schema.json), read from TOML.
///
/// Errors name file, line and key, and what fixes it. Props are named here, not read. Pinned by
/// tests/tools/pipeline/scene_file_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"
#include "synthesis/interaction/replay.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

struct SceneObject {
  enum class Kind { kFree, kFixed, kPivot };
  std::string name;
  std::string prop;  ///< as FindProp; a file's path is from the working folder once read
  double metres_per_unit = kMeshMetresPerUnit;
  std::optional<geometry::RigidTransform> X_WP;  ///< empty: where the script has its prop
  Kind kind = Kind::kFree;
  synthesis::ReplayPivot pivot;  ///< kPivot
  std::optional<double> mass_kg, friction;
  double scale = 1.0;
};

struct SceneFile {
  std::string name;
  std::optional<double> table_top_m;
  std::string judge;              ///< empty: the first free object
  std::optional<TimeRange> hold;  ///< empty: the script's
  std::vector<SceneObject> objects;
  std::vector<std::string> hands;  ///< trajectories of further hands
  bool touches_itself = false;
};

/// `source_name` begins the messages: "stack.toml:12: /object/0: unknown key 'mas_kg': did you mean
/// 'mass_kg'?".
Result<SceneFile> ParseScene(std::string_view toml, const std::string& source_name);
/// A path ending in .toml, its files relative to its folder; or the name of a scene of ours
/// (schemas/scenes). kNotFound names near ones.
Result<SceneFile> ReadScene(const std::string& key);
/// Names of ours, sorted.
Result<std::vector<std::string>> SceneNames();

}  // namespace handhold::pipeline

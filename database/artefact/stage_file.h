/// Scene files: a stage that somebody wrote (schemas/exchange/scene.schema.json), read from TOML.
///
/// What is named there (props, trajectories, tracks) is named in the stage and not looked up.
/// Errors name file, line and key, and what fixes it. Pinned by
/// tests/database/artefact/stage_file_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "database/artefact/stage.h"
#include "database/base/result.h"

namespace handhold::artefact {

/// `source_name` begins the messages: "stack.toml:12: /object/0: unknown key 'mas_kg': did you mean
/// 'mass_kg'?". A table of the file is the thing "table", before all others.
Result<Stage> ParseStage(std::string_view toml, const std::string& source_name);
/// A path ending in .toml, its files relative to its folder; or the name of a scene of ours
/// (schemas/scenes). kNotFound names near ones.
Result<Stage> ReadStage(const std::string& key);
/// Names of ours, sorted.
Result<std::vector<std::string>> SceneNames();

}  // namespace handhold::artefact

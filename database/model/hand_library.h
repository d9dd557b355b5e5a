/// Hands by name: "finger4", "hand57" and what else lies in schemas/hands.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/model/skeleton.h"

namespace handhold::model {

/// The folder of our schemas: $HANDHOLD_SCHEMAS when set, else the source tree this program was
/// built from, else share/handhold/schemas of the prefix it was installed to. kNotFound names all
/// three.
Result<std::filesystem::path> SchemasFolder();

/// The right hand called `name` ("finger4": SchemasFolder()/hands/finger4.json). An unknown name is
/// kNotFound and tells the near ones.
Result<Skeleton> LoadHand(const std::string& name);
/// Names that LoadHand takes, sorted.
Result<std::vector<std::string>> HandNames();

}  // namespace handhold::model

/// What ships as files: the schemas folder, and its files by name.
///
/// Pinned by tests/database/model/hand_library_test.cc.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "database/base/result.h"

namespace handhold::model {

/// The folder of our schemas: $HANDHOLD_SCHEMAS when set, else the source tree this program was
/// built from, else share/handhold/schemas of the prefix it was installed to. kNotFound names all
/// three.
Result<std::filesystem::path> SchemasFolder();

/// Stems of the files of one kind in a folder of it ("hands", "scenes"), sorted.
Result<std::vector<std::string>> LibraryNames(const std::string& folder,
                                              const std::string& extension = ".json");
/// The file of one of them; kNotFound with near names when there is none of that name. `kind` is
/// what it is called: "hand".
Result<std::filesystem::path> LibraryFile(const std::string& folder, const std::string& kind,
                                          const std::string& name,
                                          const std::string& extension = ".json");

}  // namespace handhold::model

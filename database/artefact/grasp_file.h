/// Grasps as JSON files, and those that ship (schemas/grasps) by name.
///
/// The file is what Visit of grasp.h names, with "format": "handhold.grasp", "version": 1 and a
/// "source": who found it, and how. Pinned by tests/database/artefact/grasp_file_test.cc.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/base/result.h"

namespace handhold::artefact {

/// kNotFound, kCorrupt, or kInvalid with the member that is missing or wrong.
Result<Grasp> LoadGraspFile(const std::filesystem::path& path);
Status SaveGraspFile(const Grasp& grasp, const std::string& source,
                     const std::filesystem::path& path);

/// The grasp of ours called `name` ("hand57_cylinder":
/// SchemasFolder()/grasps/hand57_cylinder.json); kNotFound names near ones.
Result<Grasp> LoadLibraryGrasp(const std::string& name);
/// Names that LoadLibraryGrasp takes, sorted.
Result<std::vector<std::string>> GraspNames();

}  // namespace handhold::artefact

/// A motion as glTF (.glb), with the hands and props that the library keeps beside it.
#pragma once

#include <string>

#include "database/store/library.h"

namespace handhold::pipeline {

struct GltfExport {
  int64_t bytes = 0, frames = 0;
  int nodes = 0;
};

/// Writes `path` whole or not at all (not at all with `dry_run`); never over a file that is there.
/// kNotFound where a hand is not in the library; an object without its prop is a frame without
/// shape.
Result<GltfExport> ExportMotionGltf(const store::Library& library, const store::ArtefactInfo& info,
                                    const std::string& path, bool dry_run = false);

}  // namespace handhold::pipeline

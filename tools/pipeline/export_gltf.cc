#include "tools/pipeline/export_gltf.h"

#include "database/exchange/file_writer.h"
#include "database/exchange/gltf_motion.h"
#include "tools/pipeline/stage_models.h"

namespace handhold::pipeline {

Result<GltfExport> ExportMotionGltf(const store::Library& library, const store::ArtefactInfo& info,
                                    const std::string& path, bool dry_run) {
  HANDHOLD_ASSIGN(const artefact::Motion motion, LoadMotion(library, info.hash));
  HANDHOLD_ASSIGN(const exchange::GltfFile file, exchange::GltfOfMotion(motion));
  HANDHOLD_ASSIGN(const std::string glb, exchange::WriteGlb(file));
  HANDHOLD_ASSIGN(auto writer, exchange::FileWriter::Create(dry_run ? "" : path));
  HANDHOLD_TRY(writer.Write(glb));
  if (!dry_run) HANDHOLD_TRY(writer.Publish());
  return GltfExport{static_cast<int64_t>(glb.size()), static_cast<int64_t>(motion.times.size()),
                    static_cast<int>(file.nodes.size())};
}

}  // namespace handhold::pipeline

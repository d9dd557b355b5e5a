#include "tools/pipeline/export_gltf.h"

#include <deque>

#include "database/exchange/file_writer.h"
#include "database/exchange/gltf_motion.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {

Result<GltfExport> ExportMotionGltf(const store::Library& library, const store::ArtefactInfo& info,
                                    const std::string& path, bool dry_run) {
  HANDHOLD_ASSIGN(const auto motion,
                  store::Load<artefact::Motion>(library.ArtefactPath(info.hash)));
  std::deque<FoundSkeleton> hands;
  std::deque<FoundProp> props;
  exchange::GltfMotionParts parts;
  for (const artefact::MotionHand& hand : motion.hands) {
    HANDHOLD_ASSIGN(FoundSkeleton found, LoadSkeletonArtefact(library, hand.skeleton_hash));
    hands.push_back(std::move(found));
    parts.hands.push_back(&hands.back().skeleton);
  }
  for (const artefact::MotionObject& object : motion.objects) {
    if (object.prop_hash.empty()) {
      parts.props.push_back(nullptr);
      continue;
    }
    HANDHOLD_ASSIGN(FoundProp found, LoadPropArtefact(library, object.prop_hash));
    props.push_back(std::move(found));
    parts.props.push_back(&props.back().prop);
  }
  HANDHOLD_ASSIGN(const exchange::GltfFile file, exchange::GltfOfMotion(motion, parts));
  HANDHOLD_ASSIGN(const std::string glb, exchange::WriteGlb(file));
  HANDHOLD_ASSIGN(auto writer, exchange::FileWriter::Create(dry_run ? "" : path));
  HANDHOLD_TRY(writer.Write(glb));
  if (!dry_run) HANDHOLD_TRY(writer.Publish());
  return GltfExport{static_cast<int64_t>(glb.size()), static_cast<int64_t>(motion.times.size()),
                    static_cast<int>(file.nodes.size())};
}

}  // namespace handhold::pipeline

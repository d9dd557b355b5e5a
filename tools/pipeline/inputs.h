/// How steps find what they read: clips, skeletons, props and earlier results, by what a person
/// would type, with the newest that fits where nothing was said.
///
/// Everything found is in the library and has a hash: a hand or prop that comes from a file is
/// first kept as an artefact of its own ("import.skeleton", "import.prop"), so that a lineage never
/// ends at a path that has changed meanwhile.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/describe.h"
#include "database/artefact/provenance.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "database/store/library.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// A closed clip; kInvalid (with the verb that closes it) for a recording that was cut off.
struct FoundClip {
  store::ClipRow row;
  artefact::ProvenanceInput input(std::string role = "clip") const {
    return {std::move(role), row.sha256, row.name};
  }
};
Result<FoundClip> FindClip(const StepContext& context, const std::string& key);
/// The clip whose file has this SHA-256.
Result<FoundClip> FindClipByHash(const store::Library& library, const std::string& hash);
/// Whether a key is a whole hash.
bool IsWholeHash(const std::string& key);

/// An artefact by its hash or the beginning of one (at least 4 characters); kNotFound names the
/// nearest, kInvalid an ambiguity or another kind than `kind` (empty: any).
Result<store::ArtefactInfo> FindArtefact(const store::Library& library, const std::string& key,
                                         const std::string& kind);

/// The artefact `key` of this kind; with an empty key the newest of that kind made from `clip`,
/// which is told in `chosen`. `made_by` is the verb that the error names when there is none.
Result<store::ArtefactInfo> FindResult(const StepContext& context, const std::string& key,
                                       const std::string& kind, const FoundClip& clip,
                                       const std::string& made_by,
                                       std::vector<std::string>* chosen);

/// The newest artefact of this kind that was made from `of` (a clip, another artefact) directly,
/// told in `chosen`; none: there is none.
Result<std::optional<store::ArtefactInfo>> NewestMadeFrom(const StepContext& context,
                                                          const std::string& kind,
                                                          const step::Found& of,
                                                          std::vector<std::string>* chosen);

/// The newest artefact of a kind; kNotFound names `made_by`, the verb that makes one.
Result<store::ArtefactInfo> NewestOf(const store::Library& library, const std::string& kind,
                                     const std::string& made_by);
/// The newest pose track of each clip that has one, by the clip's SHA-256.
Result<std::map<std::string, store::ArtefactInfo>> NewestPoseTracks(const store::Library& library);

/// The input of a role; null when the provenance has none.
const artefact::ProvenanceInput* FindInput(const artefact::Provenance& provenance,
                                           std::string_view role);

/// The same, where there must be one: kCorrupt names the artefact that lacks it.
Result<artefact::ProvenanceInput> RequireInput(const store::ArtefactInfo& info,
                                               std::string_view role);

struct FoundSkeleton {
  model::Skeleton skeleton;
  std::string hash;  ///< of its artefact
  std::string name;
  text::Json summary = {};  ///< what its fit said; null: it was not fitted
  artefact::ProvenanceInput input(std::string role = "skeleton") const {
    return {std::move(role), hash, name};
  }
};
using step::HandVariant;

/// Which hand, and changed how.
struct HandChoice : HandVariant {
  std::string key;  ///< artefact hash (or its beginning), hand of ours ("hand27") or .json file
  double scale = 1.0;
  bool IsPlain() const {
    return scale == 1.0 && side.empty() && marker_set.empty() && !free_base && marker_map.empty();
  }
};

/// By key (HandChoice), changed as it says; without key and map the newest fitted to this clip,
/// else to another clip of its subject, told in `chosen`.
Result<FoundSkeleton> FindSkeleton(const StepContext& context, const HandChoice& choice,
                                   const FoundClip& clip, std::vector<std::string>* chosen);
/// The same where no clip is meant: kInvalid without key and map.
Result<FoundSkeleton> FindSkeleton(const StepContext& context, const HandChoice& choice,
                                   std::vector<std::string>* chosen);
/// A hand to begin from: as above by key or map; empty: the hand of ours, right or left, in the
/// marker set whose markers the clip has, told in `chosen`.
Result<FoundSkeleton> FindTemplate(const StepContext& context, const HandChoice& choice,
                                   const FoundClip& clip, std::vector<std::string>* chosen);
/// The newest fitted to this clip, else to another of its subject, told in `chosen`; not loaded.
Result<store::ArtefactInfo> NewestSkeleton(const StepContext& context, const FoundClip& clip,
                                           std::vector<std::string>* chosen);
/// The skeleton kept as artefact `hash` (kind "skeleton": fitted or imported).
Result<FoundSkeleton> LoadSkeletonArtefact(const store::Library& library, const std::string& hash);

struct FoundProp {
  model::Prop prop;
  std::string hash;  ///< of its artefact (kind "prop")
  bool from_mesh = false;
  artefact::ProvenanceInput input(std::string role = "surface") const {
    return {std::move(role), hash, prop.name};
  }
};
/// Whether a prop's key is the path of a mesh: .stl, .obj or .ply.
bool IsMeshFile(const std::string& key);
/// By name of a prop of ours ("flat_plate"), by path of a prop's .json or of a mesh (.stl, .obj,
/// .ply; `metres_per_unit` scales it), or by artefact hash. kNotFound names near ones.
Result<FoundProp> FindProp(const StepContext& context, const std::string& key,
                           double metres_per_unit, std::vector<std::string>* chosen);
/// A prop that was made here, kept as an artefact like one from a file.
Result<FoundProp> KeepProp(const StepContext& context, const model::Prop& prop);
Result<FoundProp> LoadPropArtefact(const store::Library& library, const std::string& hash);

/// "1f0c2a9b": what people are shown of a hash.
std::string ShortHash(const std::string& hash);

}  // namespace handhold::pipeline

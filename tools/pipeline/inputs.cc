#include "tools/pipeline/inputs.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "database/base/digest.h"
#include "database/base/names.h"
#include "database/base/shell.h"
#include "database/model/hand_library.h"
#include "database/model/marker_map.h"
#include "database/model/skeleton_json.h"
#include "database/store/artefact_finder.h"
#include "database/text/json.h"
#include "database/text/json_view.h"
#include "fitting/signal/find_stream.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::ProvenanceInput;
using store::ArtefactInfo;
using text::Json;

constexpr int kImportVersion = 1;

bool EndsWith(const std::string& text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.rbegin(), end.rend(), text.rbegin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

/// Keeps `json` as an artefact of its own, addressed by its content, and answers its hash.
Result<std::string> Import(const StepContext& context, const std::string& kind, const Json& json,
                           const std::string& name) {
  HANDHOLD_ASSIGN(const std::string bytes, text::CanonicalJson(json));
  store::JsonArtefact value;
  value.kind = kind;
  HANDHOLD_ASSIGN(value.json, text::WriteJson(Json::Object({{kind, json}})));
  value.provenance.step = "import." + kind;
  value.provenance.version = kImportVersion;
  value.provenance.inputs = {{"file", Sha256Of(bytes).ToHex(), name}};
  value.provenance.parameters_json = "{}";
  StepContext quiet{context.library, {}, context.tool, context.dry_run};
  HANDHOLD_ASSIGN(
      const StepResult made,
      RunStep(quiet, value.provenance, {}, [&]() -> Result<store::JsonArtefact> { return value; }));
  return made.hash;
}

/// The whole content, in which there is a member `kind`.
Result<Json> ReadContent(const store::Library& library, const std::string& hash,
                         const std::string& kind) {
  const std::string path = library.ArtefactPath(hash);
  HANDHOLD_ASSIGN(const store::JsonArtefact file, store::LoadJsonArtefact(path));
  if (file.kind != kind)
    return Error{ErrorCode::kInvalid, path + ": holds a " + file.kind + ", not a " + kind};
  HANDHOLD_ASSIGN(const Json root, text::ParseJson(file.json, {.source = path}));
  HANDHOLD_TRY(text::JsonView(root, path).At(kind));
  return root;
}

Result<FoundSkeleton> Kept(const StepContext& context, const model::Skeleton& skeleton,
                           const std::string& name) {
  HANDHOLD_ASSIGN(std::string hash,
                  Import(context, "skeleton", model::SkeletonToJson(skeleton), name));
  return FoundSkeleton{skeleton, std::move(hash), name};
}

/// Mirrored, scaled, let go, with fewer markers: as the choice says.
Result<model::Skeleton> Changed(model::Skeleton hand, const HandChoice& choice) {
  if (!(choice.scale >= 0.1 && choice.scale <= 10)) {
    return Error{ErrorCode::kInvalid,
                 "a hand can be scaled by 0.1 to 10, not by " + std::to_string(choice.scale)};
  }
  if (!choice.side.empty() && choice.side != "left" && choice.side != "right") {
    return Error{ErrorCode::kInvalid, "a hand is left or right, not '" + choice.side + "'"};
  }
  if (!choice.marker_set.empty()) {
    HANDHOLD_ASSIGN(hand, model::WithMarkerSet(hand, choice.marker_set));
  }
  if (!choice.side.empty() && choice.side != hand.draft().side) hand = model::Mirrored(hand);
  if (choice.scale != 1.0) {
    HANDHOLD_ASSIGN(hand, model::ScaledUniformly(hand, choice.scale));
  }
  const bool is_free = hand.body_count() > 1 && hand.body(1).joint.type == model::JointType::kFree;
  if (choice.free_base && !is_free) {
    HANDHOLD_ASSIGN(hand, model::WithFreeBase(hand));
  }
  return hand;
}

/// The hand that a marker map describes.
Result<FoundSkeleton> SkeletonByMap(const StepContext& context, const HandChoice& choice,
                                    std::vector<std::string>* chosen) {
  if (!choice.key.empty() || !choice.side.empty() || !choice.marker_set.empty()) {
    return Error{ErrorCode::kInvalid,
                 "a marker map says the hand, its side and its markers itself: give the map or "
                 "those"};
  }
  HANDHOLD_ASSIGN(const model::MarkerMap map, model::LoadMarkerMap(choice.marker_map));
  HANDHOLD_ASSIGN(const model::MappedHand entry, model::FindHand(map, choice.map_hand));
  HANDHOLD_ASSIGN(model::Skeleton hand, model::WearingMap(map, entry));
  HANDHOLD_ASSIGN(hand, Changed(std::move(hand), choice));
  chosen->push_back("hand '" + entry.name + "' of marker map '" + map.name + "' (" + entry.hand +
                    ", " + std::to_string(entry.markers.size()) + " markers)");
  return Kept(context, hand, hand.name());
}

/// A hand of ours, a file, or an artefact; empty when `key` looks like none of them.
Result<FoundSkeleton> SkeletonByKey(const StepContext& context, const HandChoice& choice) {
  const std::string& key = choice.key;
  HANDHOLD_ASSIGN(const std::vector<std::string> names, model::HandNames());
  std::optional<model::Skeleton> hand;
  if (EndsWith(key, ".json")) {
    HANDHOLD_ASSIGN(hand, model::LoadSkeleton(key));
  } else if (std::find(names.begin(), names.end(), key) != names.end()) {
    HANDHOLD_ASSIGN(hand, model::LoadHand(key));
  } else {
    Result<ArtefactInfo> info = FindArtefact(context.library, key, "skeleton");
    if (!info && info.error().code == ErrorCode::kNotFound) {
      return Error{ErrorCode::kNotFound, "no skeleton '" + key +
                                             "': neither an artefact, nor a .json file, nor a "
                                             "hand of ours" +
                                             DidYouMean(key, names)};
    }
    if (!info) return info.error();
    HANDHOLD_ASSIGN(FoundSkeleton found, LoadSkeletonArtefact(context.library, info->hash));
    if (choice.IsPlain()) return found;
    hand = std::move(found.skeleton);
  }
  HANDHOLD_ASSIGN(hand, Changed(*std::move(hand), choice));
  return Kept(context, *hand, hand->name());
}

/// Marker names of the clip's first marker stream.
Result<std::vector<std::string>> MarkersOf(const StepContext& context, const FoundClip& clip) {
  HANDHOLD_ASSIGN(const auto reader, context.library.OpenClip(clip.row.id));
  const auto streams = fitting::FindMarkerStreams(*reader, "");
  if (!streams) return streams.error().Within("clip '" + clip.row.name + "'");
  return streams->front()->ItemNames();
}

}  // namespace

std::string ShortHash(const std::string& hash) { return hash.substr(0, 8); }

Result<ArtefactInfo> NewestOf(const store::Library& library, const std::string& kind,
                              const std::string& made_by) {
  HANDHOLD_ASSIGN(std::vector<ArtefactInfo> all,
                  store::FindArtefacts(library.catalogue(), {.kind = kind, .newest = 1}));
  if (all.empty()) {
    return Error{ErrorCode::kNotFound,
                 "the library has no " + kind + ": '" + made_by + "' makes one"};
  }
  return std::move(all.front());
}

Result<std::map<std::string, ArtefactInfo>> NewestPoseTracks(const store::Library& library) {
  std::map<std::string, ArtefactInfo> tracks;
  HANDHOLD_ASSIGN(const std::vector<ArtefactInfo> all, library.Artefacts("pose_track"));
  for (const ArtefactInfo& info : all) {
    if (const ProvenanceInput* from = FindInput(info.provenance, "clip"))
      tracks.insert_or_assign(from->hash, info);
  }
  return tracks;
}

const ProvenanceInput* FindInput(const artefact::Provenance& provenance, std::string_view role) {
  for (const ProvenanceInput& input : provenance.inputs) {
    if (input.role == role) return &input;
  }
  return nullptr;
}

Result<ProvenanceInput> RequireInput(const ArtefactInfo& info, std::string_view role) {
  if (const ProvenanceInput* input = FindInput(info.provenance, role)) return *input;
  return Error{ErrorCode::kCorrupt, info.kind + " " + ShortHash(info.hash) + " does not say its " +
                                        std::string(role) +
                                        ": it was not made by a step of this pipeline"};
}

bool IsWholeHash(const std::string& key) {
  return key.size() == 64 && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<FoundClip> FindClipByHash(const store::Library& library, const std::string& hash) {
  HANDHOLD_ASSIGN(const std::vector<store::ClipRow> rows,
                  library.ClipsWhere("sha256=?1", [&](store::Statement& s) { s.Bind(1, hash); }));
  if (rows.empty())
    return Error{ErrorCode::kNotFound, "no clip in " + library.path() + " has the SHA-256 " + hash};
  return FoundClip{rows.front()};
}

Result<FoundClip> FindClip(const StepContext& context, const std::string& key) {
  if (IsWholeHash(key)) return FindClipByHash(context.library, key);
  FoundClip found;
  HANDHOLD_ASSIGN(found.row, context.library.FindClip(key));
  if (!found.row.closed || found.row.sha256.empty()) {
    return Error{ErrorCode::kInvalid,
                 "clip '" + found.row.name +
                     "' was cut off and not closed, and may still change; close it with `handhold "
                     "library rebuild --finish --library " +
                     ShellWord(context.library.path()) + "`"};
  }
  return found;
}

Result<ArtefactInfo> FindArtefact(const store::Library& library, const std::string& key,
                                  const std::string& kind) {
  std::vector<ArtefactInfo> found;
  if (key.size() >= 4 && key.find_first_not_of("0123456789abcdef") == std::string::npos) {
    HANDHOLD_ASSIGN(found,
                    store::FindArtefacts(library.catalogue(), {.hash_begins = key, .newest = 6}));
  }
  if (found.size() > 1) {
    std::string text = "'" + key + "' is several artefacts:";
    for (size_t i = 0; i < std::min<size_t>(found.size(), 5); ++i)
      text += " " + found[i].hash.substr(0, 16);
    return Error{ErrorCode::kInvalid, text + "; give more of the hash"};
  }
  if (found.empty()) {
    std::vector<std::string> hashes;
    HANDHOLD_ASSIGN(const std::vector<ArtefactInfo> near,
                    store::FindArtefacts(library.catalogue(), {.newest = 1000}));
    for (const ArtefactInfo& info : near) hashes.push_back(ShortHash(info.hash));
    return Error{ErrorCode::kNotFound,
                 "no artefact '" + key + "' in " + library.path() + DidYouMean(key, hashes)};
  }
  if (!kind.empty() && found.front().kind != kind) {
    return Error{ErrorCode::kInvalid, "artefact " + ShortHash(found.front().hash) + " is a " +
                                          found.front().kind + ", not a " + kind};
  }
  return std::move(found.front());
}

Result<ArtefactInfo> FindResult(const StepContext& context, const std::string& key,
                                const std::string& kind, const FoundClip& clip,
                                const std::string& made_by, std::vector<std::string>* chosen) {
  if (!key.empty()) return FindArtefact(context.library, key, kind);
  const step::Found of{.hash = clip.row.sha256, .name = clip.row.name};
  HANDHOLD_ASSIGN(std::optional<ArtefactInfo> newest, NewestMadeFrom(context, kind, of, chosen));
  if (newest) return *std::move(newest);
  return Error{ErrorCode::kNotFound, "no " + kind + " of clip '" + clip.row.name +
                                         "' yet: run `handhold " + made_by + " " +
                                         ShellWord(clip.row.name) + " --library " +
                                         ShellWord(context.library.path()) + "`"};
}

Result<std::optional<ArtefactInfo>> NewestMadeFrom(const StepContext& context,
                                                   const std::string& kind, const step::Found& of,
                                                   std::vector<std::string>* chosen) {
  HANDHOLD_ASSIGN(
      const std::vector<ArtefactInfo> made,
      store::FindArtefacts(context.library.catalogue(), {.kind = kind, .made_from = of.hash}));
  if (made.empty()) return std::optional<ArtefactInfo>();
  chosen->push_back(kind + " " + ShortHash(made.front().hash) +
                    (of.name.empty() ? "" : " of " + of.name) +
                    (made.size() > 1 ? " (newest of " + std::to_string(made.size()) + ")" : ""));
  return std::optional<ArtefactInfo>(made.front());
}

Result<FoundSkeleton> LoadSkeletonArtefact(const store::Library& library, const std::string& hash) {
  HANDHOLD_ASSIGN(const Json root, ReadContent(library, hash, "skeleton"));
  const std::string source = library.ArtefactPath(hash);
  HANDHOLD_ASSIGN(model::SkeletonDraft draft,
                  model::SkeletonDraftFromJson(*root.Find("skeleton"), source));
  Result<model::Skeleton> built = model::Skeleton::Build(std::move(draft));
  if (!built) return built.error().Within(source);
  std::string name = built->name();
  const Json* summary = root.Find("summary");
  return FoundSkeleton{*std::move(built), hash, std::move(name),
                       summary != nullptr ? *summary : Json()};
}

Result<FoundSkeleton> FindSkeleton(const StepContext& context, const HandChoice& choice,
                                   const FoundClip& clip, std::vector<std::string>* chosen) {
  if (!choice.marker_map.empty()) return SkeletonByMap(context, choice, chosen);
  if (!choice.key.empty()) return SkeletonByKey(context, choice);
  if (!choice.IsPlain()) {
    return Error{ErrorCode::kInvalid,
                 "a fitted hand keeps its size, side and markers: name the --skeleton to change"};
  }
  HANDHOLD_ASSIGN(const ArtefactInfo newest, NewestSkeleton(context, clip, chosen));
  return LoadSkeletonArtefact(context.library, newest.hash);
}

Result<ArtefactInfo> NewestSkeleton(const StepContext& context, const FoundClip& clip,
                                    std::vector<std::string>* chosen) {
  const store::Database& catalogue = context.library.catalogue();
  HANDHOLD_ASSIGN(
      std::vector<ArtefactInfo> fitted,
      store::FindArtefacts(catalogue, {.kind = "skeleton", .made_from = clip.row.sha256}));
  // Where it only touched, its hand was fitted to another take.
  std::erase_if(fitted, [&](const ArtefactInfo& info) {
    const ProvenanceInput* from = FindInput(info.provenance, "clip");
    return from == nullptr || from->hash != clip.row.sha256;
  });
  const bool own = !fitted.empty();
  if (!own && !clip.row.subject.empty()) {
    HANDHOLD_ASSIGN(fitted,
                    store::FindArtefacts(
                        catalogue, {.kind = "skeleton", .subject = clip.row.subject, .newest = 1}));
  }
  const ArtefactInfo* newest = fitted.empty() ? nullptr : &fitted.front();
  if (newest == nullptr) {
    return Error{ErrorCode::kNotFound, "no skeleton was fitted for subject '" + clip.row.subject +
                                           "' yet: run `handhold "
                                           "fit skeleton " +
                                           ShellWord(clip.row.name) + " --library " +
                                           ShellWord(context.library.path()) +
                                           "`, or name one with --skeleton"};
  }
  chosen->push_back("skeleton " + ShortHash(newest->hash) +
                    (own ? " (newest fitted to this clip)"
                         : " (newest fitted for subject '" + clip.row.subject + "', to clip '" +
                               FindInput(newest->provenance, "clip")->name + "')"));
  return *newest;
}

Result<FoundSkeleton> FindSkeleton(const StepContext& context, const HandChoice& choice,
                                   std::vector<std::string>* chosen) {
  if (!choice.marker_map.empty()) return SkeletonByMap(context, choice, chosen);
  if (!choice.key.empty()) return SkeletonByKey(context, choice);
  return Error{ErrorCode::kInvalid, "no hand is named: --skeleton"};
}

Result<FoundSkeleton> FindTemplate(const StepContext& context, const HandChoice& choice,
                                   const FoundClip& clip, std::vector<std::string>* chosen) {
  if (!choice.marker_map.empty()) return SkeletonByMap(context, choice, chosen);
  if (!choice.key.empty()) return SkeletonByKey(context, choice);
  HANDHOLD_ASSIGN(const std::vector<std::string> markers, MarkersOf(context, clip));
  HANDHOLD_ASSIGN(std::vector<std::string> names, model::HandNames());
  // Whole hands wear the same markers: the default one is meant.
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name == model::kDefaultHand; });
  HandChoice best = choice;
  double best_share = 0;
  size_t best_count = 0;
  const auto consider = [&](const model::Skeleton& hand, HandChoice as) {
    const auto worn = static_cast<size_t>(std::count_if(
        hand.markers().begin(), hand.markers().end(), [&](const model::MarkerAttachment& m) {
          return std::find(markers.begin(), markers.end(), m.name) != markers.end();
        }));
    const double share =
        static_cast<double>(worn) / static_cast<double>(std::max<size_t>(1, hand.markers().size()));
    if (worn < 4 || share < best_share || (share == best_share && worn <= best_count)) return;
    best = std::move(as), best_share = share, best_count = worn;
  };
  for (const std::string& name : names) {
    HANDHOLD_ASSIGN(const model::Skeleton right, model::LoadHand(name));
    for (const std::string side : {"right", "left"}) {
      if (!choice.side.empty() && choice.side != side) continue;
      const model::Skeleton hand = side == "right" ? right : model::Mirrored(right);
      HandChoice as = choice;
      as.key = name;
      as.side = side == "right" ? choice.side : side;
      if (choice.marker_set.empty()) consider(hand, as);
      for (const model::MarkerSet& set : hand.draft().marker_sets) {
        if (!choice.marker_set.empty() && choice.marker_set != set.name) continue;
        as.marker_set = set.name;
        consider(*model::WithMarkerSet(hand, set.name), as);
      }
    }
  }
  if (best.key.empty()) {
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    return Error{ErrorCode::kNotFound, "clip '" + clip.row.name +
                                           "' has the markers of no hand of ours (" + known +
                                           "): name a skeleton with --template FILE.json, or say "
                                           "where its markers sit with --marker-map"};
  }
  chosen->push_back("template '" + best.key + "'" + (best.side == "left" ? ", left" : "") +
                    (best.marker_set.empty() ? "" : ", marker set " + best.marker_set) +
                    " (the clip has " + std::to_string(best_count) + " of its markers)");
  return SkeletonByKey(context, best);
}

Result<FoundProp> LoadPropArtefact(const store::Library& library, const std::string& hash) {
  HANDHOLD_ASSIGN(const Json root, ReadContent(library, hash, "prop"));
  const std::string source = library.ArtefactPath(hash);
  HANDHOLD_ASSIGN(model::Prop prop, model::PropFromJson(*root.Find("prop"), source));
  return FoundProp{std::move(prop), hash};
}

Result<FoundProp> KeepProp(const StepContext& context, const model::Prop& prop) {
  FoundProp found;
  found.prop = prop;
  HANDHOLD_ASSIGN(found.hash, Import(context, "prop", model::PropToJson(prop), prop.name));
  return found;
}

bool IsMeshFile(const std::string& key) {
  return EndsWith(key, ".stl") || EndsWith(key, ".obj") || EndsWith(key, ".ply");
}

Result<FoundProp> FindProp(const StepContext& context, const std::string& key,
                           double metres_per_unit, std::vector<std::string>* chosen) {
  FoundProp found;
  const std::filesystem::path path(key);
  found.from_mesh = IsMeshFile(key);
  if (found.from_mesh) {
    Issues noticed;
    HANDHOLD_ASSIGN(found.prop, model::PropFromMesh(key, metres_per_unit, &noticed));
    // The same mesh is the same prop wherever it lies.
    if (const size_t at = found.prop.source.find(key); at != std::string::npos)
      found.prop.source.replace(at, key.size(), path.filename().string());
    const geometry::Bounds b = geometry::BoundsOf(found.prop.shapes.front().shape);
    char text[200];
    std::snprintf(text, sizeof text, "%s: %.0f x %.0f x %.0f mm, one unit of the file being %g m",
                  path.filename().string().c_str(), 1e3 * (b.max - b.min).x(),
                  1e3 * (b.max - b.min).y(), 1e3 * (b.max - b.min).z(), metres_per_unit);
    chosen->push_back(text);
    for (const Issue& issue : noticed) {
      if (issue.severity != Severity::kNote)
        chosen->push_back(path.filename().string() + ": " + issue.what);
    }
  } else if (EndsWith(key, ".json")) {
    HANDHOLD_ASSIGN(found.prop, model::LoadProp(key));
  } else {
    HANDHOLD_ASSIGN(const std::vector<std::string> names, model::PropNames());
    if (std::find(names.begin(), names.end(), key) != names.end()) {
      HANDHOLD_ASSIGN(found.prop, model::LoadLibraryProp(key));
    } else {
      Result<ArtefactInfo> info = FindArtefact(context.library, key, "prop");
      if (info) return LoadPropArtefact(context.library, info->hash);
      if (info.error().code != ErrorCode::kNotFound) return info.error();
      return Error{ErrorCode::kNotFound,
                   "no prop '" + key +
                       "': give a .json prop, a .stl, .obj or .ply mesh, or a prop "
                       "of ours" +
                       DidYouMean(key, names)};
    }
  }
  HANDHOLD_ASSIGN(found.hash,
                  Import(context, "prop", model::PropToJson(found.prop), found.prop.name));
  return found;
}

}  // namespace handhold::pipeline

#include "tools/pipeline/fit_grasp_space.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "database/artefact/describe.h"
#include "database/model/grasp_taxonomy.h"
#include "database/model/hand_library.h"
#include "database/store/artefact_file.h"
#include "database/store/query.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

struct Take {
  store::ArtefactInfo track;
  std::vector<store::ArtefactInfo> contacts = {};  ///< of that track: the newest of each sensor
  std::map<std::string, store::ArtefactInfo> objects = {};  ///< tracks of the clip's things: the
                                                            ///< newest
  artefact::ProvenanceInput clip, skeleton;
  std::vector<std::pair<std::optional<TimeRange>, std::string>> spans = {};
  bool labelled = false;  ///< the spans are what people said
};

artefact::ProvenanceInput ClipInput(const store::ClipRow& row) {
  return {"clip", row.sha256, row.name};
}

/// Taxonomy (empty: any) and name of "schlesinger:palmar".
std::pair<std::string, std::string> TypeAsked(const std::string& asked) {
  const size_t colon = asked.find(':');
  if (colon == std::string::npos) return {"", asked};
  return {asked.substr(0, colon), asked.substr(colon + 1)};
}

/// Whether a label is one of those asked for (`feix`: their types): by its type, or by the very
/// name where it says no more than a coarse one.
bool IsAsked(const LabelledSpan& label, const std::vector<std::string>& feix,
             const std::vector<std::string>& asked) {
  if (asked.empty()) return true;
  if (!label.feix.empty()) return std::ranges::find(feix, label.feix) != feix.end();
  return std::ranges::any_of(asked, [&](const std::string& one) {
    const auto [taxonomy, name] = TypeAsked(one);
    const auto type = model::CanonicalType(name, label.taxonomy);
    return (taxonomy.empty() || taxonomy == label.taxonomy) && type && *type == label.type;
  });
}

/// Overlapping spans of one type become one: no frame counts twice for it.
void UniteSpans(Take* take) {
  std::ranges::stable_sort(take->spans, {}, [](const auto& s) {
    return std::pair{s.second, s.first ? s.first->begin : Timestamp()};
  });
  std::vector<std::pair<std::optional<TimeRange>, std::string>> united;
  for (auto& [span, type] : take->spans) {
    if (!united.empty() && united.back().second == type && united.back().first && span &&
        span->begin <= united.back().first->end) {
      united.back().first->end = std::max(united.back().first->end, span->end);
    } else {
      united.emplace_back(span, type);
    }
  }
  take->spans = std::move(united);
}

}  // namespace

Result<std::vector<std::string>> FeixTypes(const std::vector<std::string>& names) {
  std::vector<std::string> types;
  for (const std::string& asked : names) {
    const auto [taxonomy, name] = TypeAsked(asked);
    HANDHOLD_ASSIGN(const std::vector<std::string> of, model::FeixTypesOf(name, taxonomy));
    for (const std::string& type : of) {
      if (std::ranges::find(types, type) == types.end()) types.push_back(type);
    }
  }
  return types;
}

Result<std::vector<LabelledSpan>> GraspLabels(const store::Library& library,
                                              const std::string& clip_id) {
  std::vector<LabelledSpan> spans;
  Issues damage;
  HANDHOLD_ASSIGN(const auto held, library.ledger().Current(clip_id, &damage));
  const auto is_taxonomy = [](std::string_view name) {
    return std::ranges::find(model::Taxonomies(), name) != model::Taxonomies().end();
  };
  for (const store::LedgerEntry& entry : held) {
    if (entry.kind != store::LedgerKind::kLabel || !entry.span || !is_taxonomy(entry.name))
      continue;
    LabelledSpan span{*entry.span, "", entry.name, entry.value, entry.author};
    if (entry.name == model::kFeix) span.feix = entry.value;
    for (const store::LedgerEntry& other : held) {
      if (other.kind == store::LedgerKind::kLabel && other.name == entry.name + kConfidenceSuffix &&
          other.author == entry.author && other.span && other.span->begin == entry.span->begin &&
          other.span->end == entry.span->end)
        span.confidence = std::atof(other.value.c_str());
    }
    spans.push_back(std::move(span));
  }
  std::ranges::stable_sort(spans, {}, [](const LabelledSpan& s) { return s.span.begin; });
  return spans;
}

namespace {

/// What the query finds, with the spans of each take that are fitted.
Result<std::vector<Take>> TakesOf(const StepContext& context, const std::string& query,
                                  const std::vector<std::string>& types,
                                  const std::vector<std::string>& feix,
                                  std::vector<std::string>* chosen) {
  HANDHOLD_ASSIGN(const store::Query asked, store::Query::Parse(query, context.library));
  HANDHOLD_ASSIGN(const store::QueryResult rows, asked.Run());
  HANDHOLD_ASSIGN(const auto tracks, NewestPoseTracks(context.library));
  std::vector<Take> takes;
  std::string without;
  for (const store::QueryRow& row : rows.rows) {
    HANDHOLD_ASSIGN(const store::ClipRow clip, context.library.FindClip(row.clip_id));
    auto take =
        std::ranges::find_if(takes, [&](const Take& t) { return t.clip.hash == clip.sha256; });
    if (take == takes.end()) {
      const auto track = tracks.find(clip.sha256);
      if (track == tracks.end()) {
        if (without.find("'" + clip.name + "'") == std::string::npos)
          without += (without.empty() ? "'" : ", '") + clip.name + "'";
        continue;
      }
      HANDHOLD_ASSIGN(const artefact::ProvenanceInput of, RequireInput(track->second, "skeleton"));
      takes.push_back({.track = track->second, .clip = ClipInput(clip), .skeleton = of});
      take = std::prev(takes.end());
      HANDHOLD_ASSIGN(const auto labels, GraspLabels(context.library, clip.id));
      for (const LabelledSpan& label : labels) {
        if (IsAsked(label, feix, types)) take->spans.emplace_back(label.span, label.feix);
      }
      take->labelled = !take->spans.empty();
    }
    if (!feix.empty() || take->labelled) continue;
    if (row.event && row.event->length.ns() > 0) {
      take->spans.emplace_back(
          TimeRange{row.event->clip_time, row.event->clip_time + row.event->length}, "");
    } else if (take->spans.empty()) {
      take->spans.emplace_back(std::nullopt, "");
    }
  }
  std::erase_if(takes, [](const Take& t) { return t.spans.empty(); });
  std::ranges::for_each(takes, [](Take& t) { UniteSpans(&t); });
  if (!without.empty()) chosen->push_back("without " + without + ": no poses ('fit pose')");
  if (takes.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "0 poses: the query finds " + std::to_string(rows.rows.size()) +
                     " rows, none with a pose track" +
                     (feix.empty() ? "" : " and a label of the types asked for ('clip label')")};
  }
  return takes;
}

/// Where searches take the thing in the hand from, in words.
std::string HeldThings(const fitting::HandPoses& poses) {
  const auto count = static_cast<int>(poses.templates.size());
  if (poses.holding == 0 && poses.holding_unknown == 0) {
    return "the gap between thumb and fingers for the thing in the hand: no pose touches a prop "
           "('fit contact' finds touches)";
  }
  std::string said = "the touched prop's primitive for the thing in " +
                     std::to_string(poses.holding) + " of " + std::to_string(count) + " poses";
  if (poses.holding_unknown > 0)
    said += "; " + std::to_string(poses.holding_unknown) +
            " touch a thing whose prop or place is not known";
  return said;
}

/// What scripts of these types would be refused for: no script, or fewer poses than a space needs
/// even if every one is made.
Status DryScripts(const model::Skeleton& skeleton, const std::vector<std::string>& feix,
                  synthesis::PreshapeOptions preshape, const fitting::GraspSpaceOptions& options) {
  HANDHOLD_ASSIGN(const synthesis::HandSurface surface, synthesis::HandSurface::Build(skeleton));
  const auto types =
      static_cast<int>(feix.empty() ? synthesis::ScriptedTypes().size() : feix.size());
  const int most = types * preshape.per_type;
  preshape.per_type = 0;
  HANDHOLD_TRY(synthesis::ScriptPreshapes(surface, feix, preshape));
  if (options.dims > surface.shape_size()) {
    return Error{ErrorCode::kInvalid, "a space of " + std::to_string(options.dims) +
                                          " dimensions of " + std::to_string(surface.shape_size())};
  }
  const int needed = static_cast<int>(
      std::ceil(options.poses_per_dimension * static_cast<double>(std::max(1, options.dims))));
  if (most < needed) {
    return Error{ErrorCode::kUnidentifiable,
                 std::to_string(most) + " poses do not determine a space of " +
                     std::to_string(options.dims) +
                     " dimensions: " + std::to_string(needed - most) + " are missing"};
  }
  return {};
}

/// What is known of the takes' touches: contact tracks made of their pose tracks, and the tracks of
/// things in their clips.
Status FindTouches(const store::Library& library, std::vector<Take>* takes) {
  HANDHOLD_ASSIGN(const auto contacts, library.Artefacts("contact_track"));
  HANDHOLD_ASSIGN(const auto objects, library.Artefacts("object_track"));
  for (Take& take : *takes) {
    std::map<std::string, store::ArtefactInfo> by_sensor;
    for (const store::ArtefactInfo& info : contacts) {
      const artefact::ProvenanceInput* pose = FindInput(info.provenance, "pose");
      if (pose == nullptr || pose->hash != take.track.hash) continue;
      const auto parameters =
          text::ParseJson(info.provenance.parameters_json, {.source = info.hash});
      const text::Json* sensor = parameters ? parameters->Find("force_sensor") : nullptr;
      by_sensor[sensor != nullptr && sensor->string() ? *sensor->string() : ""] = info;
    }
    for (auto& [sensor, info] : by_sensor) take.contacts.push_back(info);
    if (take.contacts.empty()) continue;
    for (const store::ArtefactInfo& info : objects) {
      const artefact::ProvenanceInput* clip = FindInput(info.provenance, "clip");
      if (clip == nullptr || clip->hash != take.clip.hash) continue;
      HANDHOLD_ASSIGN(const auto track,
                      store::Load<artefact::ObjectTrack>(library.ArtefactPath(info.hash)));
      take.objects[track.thing] = info;
    }
  }
  return {};
}

/// Loads them, with the props of the things.
Result<fitting::TakeTouches> TouchesOf(const store::Library& library, const Take& take) {
  fitting::TakeTouches touches;
  const auto place = [&](const std::string& thing, const std::string& prop_hash,
                         std::vector<Timestamp> times,
                         std::vector<geometry::RigidTransform> X_WT) -> Status {
    if (prop_hash.empty()) return {};
    HANDHOLD_ASSIGN(FoundProp found, LoadPropArtefact(library, prop_hash));
    touches.things[thing] = {std::move(found.prop), std::move(times), std::move(X_WT)};
    return {};
  };
  for (const auto& [thing, info] : take.objects) {
    HANDHOLD_ASSIGN(const auto track,
                    store::Load<artefact::ObjectTrack>(library.ArtefactPath(info.hash)));
    HANDHOLD_TRY(place(thing, track.prop_hash, track.times, track.X_WT));
  }
  for (const store::ArtefactInfo& info : take.contacts) {
    HANDHOLD_ASSIGN(auto track,
                    store::Load<artefact::ContactTrack>(library.ArtefactPath(info.hash)));
    for (const artefact::TouchedThing& thing : track.things)
      HANDHOLD_TRY(place(thing.name, thing.prop_hash, {}, {thing.X_WT}));
    touches.contacts.push_back(std::move(track));
  }
  return touches;
}

}  // namespace

Result<StepResult> FitGraspSpaceStep::Run(const StepContext& context) const {
  if (scripted == !query.empty()) {
    return Error{
        ErrorCode::kInvalid,
        "a grasp space is fitted to captured poses (a query) or to scripted ones: say one"};
  }
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(std::vector<std::string> feix, FeixTypes(types));
  if (scripted && !feix.empty()) {
    // A coarse name means those of its types that there is a script of.
    const std::vector<std::string> known = synthesis::ScriptedTypes();
    std::vector<std::string> with_script;
    for (const std::string& type : feix) {
      if (std::ranges::find(known, type) != known.end()) with_script.push_back(type);
    }
    if (!with_script.empty()) feix = with_script;
  }
  artefact::Provenance provenance = ProvenanceOf("fit.grasp-space", fitting::kGraspSpaceFitVersion);
  text::Json parameters = artefact::ToJson(options);
  text::Json type_list = text::Json::Array();
  for (const std::string& type : feix) type_list.Push(type);
  parameters.Set("types", type_list);
  parameters.Set("scripted", scripted);
  std::optional<FoundSkeleton> skeleton;
  std::vector<Take> takes;
  if (scripted) {
    HandChoice choice = hand;
    if (choice.key.empty() && choice.marker_map.empty()) {
      choice.key = model::kDefaultHand;
      chosen.push_back("hand '" + choice.key + "' (the default)");
    }
    HANDHOLD_ASSIGN(skeleton, FindSkeleton(context, choice, &chosen));
    provenance.inputs = {skeleton->input()};
    parameters.Set("preshape", artefact::ToJson(preshape));
    parameters.Set("preshape_version", synthesis::kPreshapeVersion);
  } else {
    parameters.Set("query", query);
    parameters.Set("spacing_rad", poses.spacing_rad);
    parameters.Set("most_per_span", poses.most_per_span);
    HANDHOLD_ASSIGN(takes, TakesOf(context, query, types, feix, &chosen));
    HANDHOLD_TRY(FindTouches(context.library, &takes));
    text::Json spans = text::Json::Array();
    for (const Take& take : takes) {
      provenance.inputs.push_back(take.clip);
      provenance.inputs.push_back({"pose", take.track.hash, take.clip.name});
      for (const store::ArtefactInfo& info : take.contacts)
        provenance.inputs.push_back({"contact", info.hash, take.clip.name});
      for (const auto& [thing, info] : take.objects)
        provenance.inputs.push_back({"object", info.hash, thing});
      for (const auto& [span, type] : take.spans) {
        spans.Push(text::Json::Object({{"pose", take.track.hash},
                                       {"span", span ? artefact::ToJson(*span) : text::Json()},
                                       {"type", type}}));
      }
    }
    parameters.Set("spans", spans);
    HANDHOLD_ASSIGN(skeleton, LoadSkeletonArtefact(context.library, takes.front().skeleton.hash));
    provenance.inputs.push_back(skeleton->input());
  }
  HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(parameters));
  fitting::HandPoses all;
  const auto collect = [&]() -> Status {
    for (const Take& take : takes) {
      HANDHOLD_ASSIGN(const auto track, store::Load<artefact::PoseTrack>(
                                            context.library.ArtefactPath(take.track.hash)));
      HANDHOLD_ASSIGN(const FoundSkeleton of,
                      LoadSkeletonArtefact(context.library, take.skeleton.hash));
      HANDHOLD_ASSIGN(const fitting::TakeTouches touches, TouchesOf(context.library, take));
      for (const auto& [span, type] : take.spans)
        HANDHOLD_TRY(fitting::AddPoses(of.skeleton, track, span, type, poses, &all, &touches));
    }
    return {};
  };
  const auto left_out = [&] {
    return std::to_string(all.undetermined) + " frames in which markers left a joint open and " +
           std::to_string(all.thinned) + " too like their neighbours";
  };
  const auto some = [&] { return all.undetermined + all.thinned > 0; };
  const auto explained = [&](Error error) {
    if (some() && error.code == ErrorCode::kUnidentifiable)
      error.message += "; left out are " + left_out();
    return error;
  };
  // What the run would refuse is refused before it would be made.
  if (context.dry_run && !scripted) {
    HANDHOLD_TRY(collect());
    if (const auto axes = fitting::FindSpaceAxes(all, options); !axes)
      return explained(axes.error());
  } else if (context.dry_run) {
    HANDHOLD_TRY(DryScripts(skeleton->skeleton, feix, preshape, options));
  }
  Result<StepResult> fitted = RunStep(
      context, std::move(provenance), std::move(chosen), [&]() -> Result<artefact::GraspSpace> {
        if (scripted) {
          HANDHOLD_ASSIGN(const synthesis::HandSurface surface,
                          synthesis::HandSurface::Build(skeleton->skeleton));
          HANDHOLD_ASSIGN(const synthesis::Preshapes made,
                          synthesis::ScriptPreshapes(surface, feix, preshape, [&](double share) {
                            return Report(context, 0.7 * share, "scripting grasps").has_value();
                          }));
          HANDHOLD_TRY(fitting::AddTemplates(made.dof_names, made.grasps, &all));
        }
        HANDHOLD_TRY(collect());
        HANDHOLD_ASSIGN(
            artefact::GraspSpace space, fitting::FitGraspSpace(all, options, [&](double share) {
              return Report(context, 0.7 + 0.3 * share, "fitting the mixture").has_value();
            }));
        space.skeleton_name = skeleton->skeleton.name();
        space.skeleton_hash = skeleton->hash;
        return space;
      });
  if (!fitted) return explained(fitted.error());
  if (some()) fitted->chosen.push_back("poses without " + left_out());
  if (!fitted->reused && !scripted) fitted->chosen.push_back(HeldThings(all));
  return fitted;
}

}  // namespace handhold::pipeline

#include "tools/pipeline/fit_grasp_space.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "database/artefact/describe.h"
#include "database/model/grasp_taxonomy.h"
#include "database/model/hand_library.h"
#include "database/store/artefact_file.h"
#include "database/store/artefact_finder.h"
#include "database/store/query.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline {
namespace {

/// One clip's poses, as they are found in the library.
struct Take {
  store::ArtefactInfo track;
  std::vector<store::ArtefactInfo> contacts = {};  ///< of that track: the newest of each sensor
  std::map<std::string, store::ArtefactInfo> objects = {};  ///< tracks of the clip's things: the
                                                            ///< newest
  std::string clip_hash, clip_name, skeleton_hash;
  std::vector<TypedSpan> spans = {};
  bool labelled = false;  ///< the spans are what people said
};

/// A clip that is meant, and the event in it where a query found one.
struct Row {
  std::string clip_id;
  std::optional<TimeRange> span;
};

/// Whether a label is one of those asked for (`feix`: their types): by its type, or by the very
/// name where it says no more than a coarse one.
bool IsAsked(const LabelledSpan& label, const std::vector<std::string>& feix,
             const std::vector<std::string>& asked) {
  if (asked.empty()) return true;
  if (!label.feix.empty()) return std::ranges::find(feix, label.feix) != feix.end();
  return std::ranges::any_of(asked, [&](const std::string& one) {
    const auto [taxonomy, name] = model::TypeAsked(one);
    const auto type = model::CanonicalType(name, label.taxonomy);
    return (taxonomy.empty() || taxonomy == label.taxonomy) && type && *type == label.type;
  });
}

/// Overlapping spans of one type become one: no frame counts twice for it.
void UniteSpans(Take* take) {
  std::ranges::stable_sort(take->spans, {}, [](const TypedSpan& s) {
    return std::pair{s.type, s.span ? s.span->begin : Timestamp()};
  });
  std::vector<TypedSpan> united;
  for (const TypedSpan& s : take->spans) {
    if (!united.empty() && united.back().type == s.type && united.back().span && s.span &&
        s.span->begin <= united.back().span->end) {
      united.back().span->end = std::max(united.back().span->end, s.span->end);
    } else {
      united.push_back(s);
    }
  }
  take->spans = std::move(united);
}

}  // namespace

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

/// The clips that are meant, by query or by name.
Result<std::vector<Row>> RowsOf(const StepContext& context,
                                const step::Many<recording::ClipSource>& clips) {
  std::vector<Row> rows;
  for (const step::Ask& ask : clips.asks) {
    HANDHOLD_ASSIGN(const FoundClip clip, FindClip(context, ask.key));
    rows.push_back({clip.row.id, {}});
  }
  if (clips.query.empty()) return rows;
  HANDHOLD_ASSIGN(const store::Query query, store::Query::Parse(clips.query, context.library));
  HANDHOLD_ASSIGN(const store::QueryResult found, query.Run());
  for (const store::QueryRow& row : found.rows) {
    Row& one = rows.emplace_back(Row{row.clip_id, {}});
    if (row.event && row.event->length.ns() > 0)
      one.span = TimeRange{row.event->clip_time, row.event->clip_time + row.event->length};
  }
  return rows;
}

/// The takes of these clips, with the spans of each that are fitted.
Result<std::vector<Take>> TakesOf(const StepContext& context, const std::vector<Row>& rows,
                                  const std::vector<std::string>& types,
                                  const std::vector<std::string>& feix,
                                  std::vector<std::string>* chosen) {
  HANDHOLD_ASSIGN(const auto tracks, NewestPoseTracks(context.library));
  std::vector<Take> takes;
  std::string without;
  for (const Row& row : rows) {
    HANDHOLD_ASSIGN(const store::ClipRow clip, context.library.FindClip(row.clip_id));
    auto take = std::ranges::find(takes, clip.sha256, &Take::clip_hash);
    if (take == takes.end()) {
      const auto track = tracks.find(clip.sha256);
      if (track == tracks.end()) {
        if (without.find("'" + clip.name + "'") == std::string::npos)
          without += (without.empty() ? "'" : ", '") + clip.name + "'";
        continue;
      }
      HANDHOLD_ASSIGN(const artefact::ProvenanceInput of, RequireInput(track->second, "skeleton"));
      takes.push_back({.track = track->second,
                       .clip_hash = clip.sha256,
                       .clip_name = clip.name,
                       .skeleton_hash = of.hash});
      take = std::prev(takes.end());
      HANDHOLD_ASSIGN(const auto labels, GraspLabels(context.library, clip.id));
      for (const LabelledSpan& label : labels) {
        if (IsAsked(label, feix, types)) take->spans.push_back({label.span, label.feix});
      }
      take->labelled = !take->spans.empty();
    }
    if (!feix.empty() || take->labelled) continue;
    if (row.span) {
      take->spans.push_back({row.span, ""});
    } else if (take->spans.empty()) {
      take->spans.push_back({std::nullopt, ""});
    }
  }
  std::erase_if(takes, [](const Take& t) { return t.spans.empty(); });
  std::ranges::for_each(takes, [](Take& t) { UniteSpans(&t); });
  if (!without.empty()) chosen->push_back("without " + without + ": no poses ('fit pose')");
  if (takes.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "0 poses: the query finds " + std::to_string(rows.size()) +
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
/// things in their clips. The props of the things go to `props`.
Status FindTouches(const store::Library& library, std::vector<Take>* takes,
                   std::vector<std::string>* props) {
  const auto add_prop = [&](const std::string& hash) {
    if (!hash.empty() && std::ranges::find(*props, hash) == props->end()) props->push_back(hash);
  };
  // Oldest first, so that the newest of each sensor and thing is the last.
  const auto made = [&](const char* kind, const std::string& from) {
    auto found = store::FindArtefacts(library.catalogue(), {.kind = kind, .made_from = from});
    if (found) std::ranges::reverse(*found);
    return found;
  };
  for (Take& take : *takes) {
    HANDHOLD_ASSIGN(const auto contacts, made("contact_track", take.track.hash));
    HANDHOLD_ASSIGN(const auto objects, made("object_track", take.clip_hash));
    std::map<std::string, store::ArtefactInfo> by_sensor;
    std::map<std::string, artefact::ContactTrack> loaded;
    for (const store::ArtefactInfo& info : contacts) {
      const artefact::ProvenanceInput* pose = FindInput(info.provenance, "pose");
      if (pose == nullptr || pose->hash != take.track.hash) continue;
      HANDHOLD_ASSIGN(auto track,
                      store::Load<artefact::ContactTrack>(library.ArtefactPath(info.hash)));
      const std::string sensor = track.touches.empty() ? "" : track.touches.front().sensor;
      by_sensor[sensor] = info;
      loaded[sensor] = std::move(track);
    }
    for (auto& [sensor, info] : by_sensor) {
      take.contacts.push_back(info);
      for (const artefact::TouchedThing& thing : loaded[sensor].things) add_prop(thing.prop_hash);
    }
    if (take.contacts.empty()) continue;
    for (const store::ArtefactInfo& info : objects) {
      const artefact::ProvenanceInput* clip = FindInput(info.provenance, "clip");
      if (clip == nullptr || clip->hash != take.clip_hash) continue;
      HANDHOLD_ASSIGN(const auto track,
                      store::Load<artefact::ObjectTrack>(library.ArtefactPath(info.hash)));
      take.objects[track.thing] = info;
      add_prop(track.prop_hash);
    }
  }
  return {};
}

/// The input of this hash; null: none.
template <typename T>
const T* InputOf(const step::Many<T>& inputs, const std::string& hash) {
  for (const step::Given<T>& input : inputs.items) {
    if (input.hash == hash) return input.get();
  }
  return nullptr;
}

/// The touches of a take, with the props of the things.
fitting::TakeTouches TouchesOf(const FitGraspSpaceStep& s, const GraspTake& take) {
  fitting::TakeTouches touches;
  const auto place = [&](const std::string& thing, const std::string& prop_hash,
                         std::vector<Timestamp> times, std::vector<geometry::RigidTransform> X_WT) {
    if (const model::Prop* prop = InputOf(s.prop, prop_hash))
      touches.things[thing] = {*prop, std::move(times), std::move(X_WT)};
  };
  for (const std::string& hash : take.objects) {
    if (const artefact::ObjectTrack* track = InputOf(s.object, hash))
      place(track->thing, track->prop_hash, track->times, track->X_WT);
  }
  for (const std::string& hash : take.contacts) {
    const artefact::ContactTrack* track = InputOf(s.contact, hash);
    if (track == nullptr) continue;
    for (const artefact::TouchedThing& thing : track->things)
      place(thing.name, thing.prop_hash, {}, {thing.X_WT});
    touches.contacts.push_back(*track);
  }
  return touches;
}

/// The captured poses of every take.
Result<fitting::HandPoses> CapturedPoses(const FitGraspSpaceStep& s) {
  fitting::HandPoses all;
  for (const GraspTake& take : s.takes) {
    const artefact::PoseTrack* track = InputOf(s.pose, take.pose);
    const step::Hand* hand = InputOf(s.skeleton, take.skeleton);
    if (track == nullptr || hand == nullptr) {
      return Error{ErrorCode::kInvalid,
                   "a take names a pose track or skeleton that is no input: " + take.pose};
    }
    const fitting::TakeTouches touches = TouchesOf(s, take);
    for (const TypedSpan& span : take.spans) {
      HANDHOLD_TRY(
          fitting::AddPoses(hand->skeleton, *track, span.span, span.type, s.poses, &all, &touches));
    }
  }
  return all;
}

std::string LeftOut(const fitting::HandPoses& all) {
  if (all.undetermined + all.thinned == 0) return "";
  return std::to_string(all.undetermined) + " frames in which markers left a joint open and " +
         std::to_string(all.thinned) + " too like their neighbours";
}

Error Explained(Error error, const fitting::HandPoses& all) {
  const std::string left_out = LeftOut(all);
  if (!left_out.empty() && error.code == ErrorCode::kUnidentifiable)
    error.message += "; left out are " + left_out;
  return error;
}

fitting::GraspSpaceOptions OptionsOf(const FitGraspSpaceStep& s) {
  fitting::GraspSpaceOptions options = s.options;
  options.mixture.seed = static_cast<std::uint64_t>(s.seed);
  return options;
}

synthesis::PreshapeOptions ScriptsOf(const FitGraspSpaceStep& s) {
  synthesis::PreshapeOptions options = s.preshape;
  options.seed = static_cast<std::uint64_t>(s.seed);
  return options;
}

/// An input that is known by its hash; `name` for people.
template <typename T>
void Add(const std::string& hash, const std::string& name, step::Many<T>* inputs) {
  if (std::ranges::count(inputs->items, hash, &step::Found::hash) > 0) return;
  step::Given<T>& input = inputs->items.emplace_back();
  input.hash = hash;
  input.name = name;
}

}  // namespace

Status PrepareStep(const StepContext& context, FitGraspSpaceStep* step,
                   std::vector<std::string>* chosen) {
  const bool captured = !step->clip.query.empty() || !step->clip.asks.empty();
  if (step->scripted == captured) {
    return Error{
        ErrorCode::kInvalid,
        "a grasp space is fitted to captured poses (a query) or to scripted ones: say one"};
  }
  const std::vector<std::string> asked = step->types;
  HANDHOLD_ASSIGN(step->types, model::FeixTypes(asked));
  if (step->scripted) {
    // A coarse name means those of its types that there is a script of.
    const std::vector<std::string> known = synthesis::ScriptedTypes();
    std::vector<std::string> with_script;
    for (const std::string& type : step->types) {
      if (std::ranges::find(known, type) != known.end()) with_script.push_back(type);
    }
    if (!with_script.empty()) step->types = with_script;
    if (step->skeleton.asks.size() > 1)
      return Error{ErrorCode::kInvalid, "scripts are of one hand: name one"};
    if (step->skeleton.asks.empty()) step->skeleton.asks.emplace_back();
    step::Ask& hand = step->skeleton.asks.front();
    if (hand.key.empty() && hand.hand.marker_map.empty()) {
      hand.key = model::kDefaultHand;
      chosen->push_back("hand '" + hand.key + "' (the default)");
    }
    return {};
  }
  if (!step->takes.empty()) return {};
  if (!step->skeleton.asks.empty()) {
    return Error{ErrorCode::kInvalid, "captured poses are of the hands that were fitted to them"};
  }
  HANDHOLD_ASSIGN(const std::vector<Row> rows, RowsOf(context, step->clip));
  HANDHOLD_ASSIGN(std::vector<Take> takes, TakesOf(context, rows, asked, step->types, chosen));
  std::vector<std::string> props;
  HANDHOLD_TRY(FindTouches(context.library, &takes, &props));
  step->clip = {};
  for (const Take& take : takes) {
    GraspTake& fitted = step->takes.emplace_back();
    fitted.pose = take.track.hash, fitted.skeleton = take.skeleton_hash;
    fitted.spans = take.spans;
    step->clip.asks.push_back({.key = take.clip_hash});
    Add(take.track.hash, take.clip_name, &step->pose);
    Add(take.skeleton_hash, "", &step->skeleton);
    for (const store::ArtefactInfo& info : take.contacts) {
      fitted.contacts.push_back(info.hash);
      Add(info.hash, take.clip_name, &step->contact);
    }
    for (const auto& [thing, info] : take.objects) {
      fitted.objects.push_back(info.hash);
      Add(info.hash, thing, &step->object);
    }
  }
  for (const std::string& hash : props) Add(hash, "", &step->prop);
  return {};
}

Status Check(const FitGraspSpaceStep& s) {
  if (s.scripted) {
    HANDHOLD_TRY(s.skeleton.items.front().Load());
    return DryScripts(s.skeleton.items.front()->skeleton, s.types, ScriptsOf(s), s.options);
  }
  const auto load = [](const auto& list) -> Status {
    for (const auto& item : list.items) HANDHOLD_TRY(item.Load());
    return {};
  };
  HANDHOLD_TRY(load(s.pose));
  HANDHOLD_TRY(load(s.contact));
  HANDHOLD_TRY(load(s.object));
  HANDHOLD_TRY(load(s.skeleton));
  HANDHOLD_TRY(load(s.prop));
  HANDHOLD_ASSIGN(const fitting::HandPoses all, CapturedPoses(s));
  const auto axes = fitting::FindSpaceAxes(all, OptionsOf(s));
  return axes ? Status() : Status(Explained(axes.error(), all));
}

Result<artefact::GraspSpace> Compute(const FitGraspSpaceStep& s, step::Work& work) {
  HANDHOLD_ASSIGN(fitting::HandPoses all, CapturedPoses(s));
  if (s.scripted) {
    HANDHOLD_ASSIGN(const synthesis::HandSurface surface,
                    synthesis::HandSurface::Build(s.skeleton.items.front()->skeleton));
    HANDHOLD_ASSIGN(const synthesis::Preshapes made,
                    synthesis::ScriptPreshapes(surface, s.types, ScriptsOf(s), [&](double share) {
                      return work.GoOn(0.7 * share, "scripting grasps");
                    }));
    HANDHOLD_TRY(fitting::AddTemplates(made.dof_names, made.grasps, &all));
  }
  Result<artefact::GraspSpace> space = fitting::FitGraspSpace(all, OptionsOf(s), [&](double share) {
    return work.GoOn(0.7 + 0.3 * share, "fitting the mixture");
  });
  if (!space) return Explained(space.error(), all);
  const step::Given<step::Hand>& hand = s.skeleton.items.front();
  space->skeleton_name = hand->skeleton.name();
  space->skeleton_hash = hand.hash;
  if (const std::string left_out = LeftOut(all); !left_out.empty())
    work.Note("poses without " + left_out);
  if (!s.scripted) work.Note(HeldThings(all));
  return space;
}

}  // namespace handhold::pipeline

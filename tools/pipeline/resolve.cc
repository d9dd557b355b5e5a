#include "tools/pipeline/resolve.h"

#include <algorithm>

#include "database/artefact/kind.h"
#include "database/recording/meant_prop.h"
#include "database/store/artefact_finder.h"
#include "database/store/query.h"
#include "tools/pipeline/find_grasp.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/load_input.h"

namespace handhold::pipeline {
namespace {

using artefact::ProvenanceInput;
using step::Ask;
using step::Found;
using step::Unsaid;
using store::ArtefactInfo;

bool SaysNothing(const Ask& ask) { return ask.key.empty() && ask.hand.marker_map.empty(); }

HandChoice ChoiceOf(const Ask& ask) {
  HandChoice choice;
  static_cast<HandVariant&>(choice) = ask.hand;
  choice.key = ask.key;
  choice.scale = ask.scale;
  return choice;
}

class Resolver {
 public:
  Resolver(const StepContext& context, StepInstance& instance, std::vector<std::string>* chosen)
      : context_(context), instance_(instance), slots_(instance.slots()), chosen_(*chosen) {}

  Status Run() {
    for (const StepInstance::Slot& slot : slots_) {
      Status found = slot.one != nullptr ? One(slot, slot.one) : All(slot);
      if (!found) return found;
    }
    return {};
  }

 private:
  Status One(const StepInstance::Slot& slot, Found* at) {
    const step::Role& role = slot.role->role;
    if (!role.needed && at->ask.key == step::kNone) return {};
    if (*at && SaysNothing(at->ask)) return {};  // found before
    const bool of_take = role.unsaid == Unsaid::kTake && !IsWholeHash(at->ask.key);
    if (!SaysNothing(at->ask) && !of_take) return Said(*slot.role, at);
    HANDHOLD_TRY(of_take ? PropOfTake(slot, at) : NotSaid(slot, at));
    if (at->hash.empty() && role.needed) {
      return Error{ErrorCode::kInvalid, "step " + instance_.description().name + " needs its " +
                                            slot.role->name + " (" + slot.role->kind +
                                            "): nothing was said of it"};
    }
    return {};
  }

  Status All(const StepInstance::Slot& slot) {
    const RoleDescription& role = *slot.role;
    if (!slot.query->empty()) {
      HANDHOLD_ASSIGN(const store::Query query, store::Query::Parse(*slot.query, context_.library));
      HANDHOLD_ASSIGN(const store::QueryResult rows, query.Run());
      std::vector<std::string> ids;
      for (const store::QueryRow& row : rows.rows) {
        if (std::ranges::find(ids, row.clip_id) == ids.end()) ids.push_back(row.clip_id);
      }
      for (const std::string& id : ids) {
        Found* at = slot.add();
        at->ask.key = id;
        HANDHOLD_TRY(Said(role, at));
      }
      chosen_.push_back(role.name + ": " + std::to_string(ids.size()) + " clips of the query");
    }
    for (const Ask& ask : *slot.asks) {
      Found* at = slot.add();
      at->ask = ask;
      HANDHOLD_TRY(Said(role, at));
    }
    if (slot.query->empty() && slot.asks->empty() && role.role.unsaid == Unsaid::kNewest) {
      for (const Found* of : FoundOf(role.role)) {
        Found found;
        HANDHOLD_TRY(Newest(role, of, &found));
        if (found) *slot.add() = found;
      }
    }
    if (role.role.needed && slot.found().empty()) {
      return Error{ErrorCode::kUnidentifiable, "step " + instance_.description().name +
                                                   " needs one " + role.name + " (" + role.kind +
                                                   ") at least: there is none"};
    }
    return {};
  }

  // ---- by what was said

  Status Said(const RoleDescription& role, Found* at) {
    const Ask& ask = at->ask;
    if (role.kind == kClipKind) {
      HANDHOLD_ASSIGN(const FoundClip clip, FindClip(context_, ask.key));
      return SetClip(clip, at);
    }
    if (IsWholeHash(ask.key) && ask == Ask{.key = ask.key}) return ByHash(role, at);
    if (role.kind == artefact::kSkeletonKind) {
      HANDHOLD_ASSIGN(const FoundSkeleton hand, FindSkeleton(context_, ChoiceOf(ask), &chosen_));
      return SetHand(hand, at);
    }
    if (role.kind == artefact::kPropKind) return SetProp(ask.key, at);
    if (role.kind == artefact::KindOf<artefact::Grasp>::name) {
      HANDHOLD_ASSIGN(const FoundGrasp grasp, FindGrasp(context_, ask.key));
      at->at_hand = std::make_shared<const artefact::Grasp>(grasp.grasp);
      return Set(grasp.hash, grasp.grasp.name, at);
    }
    return ByHash(role, at);
  }

  /// Asked of the catalogue alone: neither loaded nor imported.
  Status ByHash(const RoleDescription& role, Found* at) {
    HANDHOLD_ASSIGN(const ArtefactInfo info,
                    FindArtefact(context_.library, at->ask.key, role.kind));
    HANDHOLD_TRY(CheckMadeFrom(role, info));
    return Set(info.hash, "", at);
  }

  /// What would be the newest made from a clip has to be made from it when it is named, too.
  Status CheckMadeFrom(const RoleDescription& role, const ArtefactInfo& info) {
    if (role.role.unsaid != Unsaid::kNewest || role.kind == artefact::kSkeletonKind) return {};
    for (const Found* of : FoundOf(role.role)) {
      const bool made = std::ranges::any_of(
          info.provenance.inputs, [&](const ProvenanceInput& i) { return i.hash == of->hash; });
      if (made) continue;
      const ProvenanceInput* other =
          FindInput(info.provenance, of->id.empty() ? role.role.of : kClipKind);
      return Error{ErrorCode::kInvalid, info.kind + " " + ShortHash(info.hash) + " is of '" +
                                            (other != nullptr ? other->name : "something else") +
                                            "', not of '" + of->name + "'"};
    }
    return {};
  }

  Status SetProp(const std::string& key, Found* at) {
    HANDHOLD_ASSIGN(const FoundProp prop,
                    FindProp(context_, key, at->ask.metres_per_unit, &chosen_));
    at->at_hand = std::make_shared<const model::Prop>(prop.prop);
    return Set(prop.hash, prop.prop.name, at);
  }
  static Status SetHand(const FoundSkeleton& hand, Found* at) {
    at->at_hand.reset(new step::Hand{hand.skeleton, hand.summary});
    return Set(hand.hash, hand.name, at);
  }

  static Status Set(const std::string& hash, const std::string& name, Found* at) {
    at->hash = hash;
    at->name = name;
    return {};
  }
  static Status SetClip(const FoundClip& clip, Found* at) {
    at->id = clip.row.id;
    return Set(clip.row.sha256, clip.row.name, at);
  }

  // ---- by the role

  Status NotSaid(const StepInstance::Slot& slot, Found* at) {
    const RoleDescription& role = *slot.role;
    const std::vector<Found*> of = FoundOf(role.role);
    switch (role.role.unsaid) {
      case Unsaid::kNothing:
      case Unsaid::kTake:
        return {};
      case Unsaid::kNewest:
        return Newest(role, of.empty() ? nullptr : of.front(), at);
      case Unsaid::kOf:
        return of.empty() ? Status() : MadeWith(role, *of.front(), at);
      case Unsaid::kMarkers: {
        if (of.empty()) return {};
        HANDHOLD_ASSIGN(const FoundClip clip, FindClip(context_, of.front()->hash));
        HANDHOLD_ASSIGN(const FoundSkeleton hand,
                        FindTemplate(context_, ChoiceOf(at->ask), clip, &chosen_));
        return SetHand(hand, at);
      }
      case Unsaid::kFreed: {
        if (of.empty()) return {};
        HandChoice freed;
        freed.key = of.front()->hash;
        freed.free_base = true;
        std::vector<std::string> unsaid;
        HANDHOLD_ASSIGN(const FoundSkeleton hand, FindSkeleton(context_, freed, &unsaid));
        return SetHand(hand, at);
      }
    }
    return {};
  }

  /// What the role's `of` found; where that was left out, the clip.
  std::vector<Found*> FoundOf(const step::Role& role) {
    const auto found = [&](std::string_view name) {
      std::vector<Found*> there;
      for (const StepInstance::Slot& slot : slots_) {
        if (slot.role->name != name) continue;
        for (Found* one : slot.found()) {
          if (*one) there.push_back(one);
        }
      }
      return there;
    };
    std::vector<Found*> of = found(role.of);
    return of.empty() ? found(kClipKind) : of;
  }

  Status Newest(const RoleDescription& role, const Found* of, Found* at) {
    if (of != nullptr && role.kind == artefact::kSkeletonKind && !of->id.empty()) {
      if (!ChoiceOf(at->ask).IsPlain()) {
        return Error{ErrorCode::kInvalid,
                     "a fitted hand keeps its size, side and markers: name the hand to change"};
      }
      HANDHOLD_ASSIGN(const FoundClip clip, FindClip(context_, of->hash));
      HANDHOLD_ASSIGN(const ArtefactInfo info, NewestSkeleton(context_, clip, &chosen_));
      return Set(info.hash, "", at);
    }
    if (of == nullptr) {
      HANDHOLD_ASSIGN(
          const std::vector<ArtefactInfo> all,
          store::FindArtefacts(context_.library.catalogue(), {.kind = role.kind, .newest = 1}));
      if (all.empty()) {
        if (!role.role.needed) return {};
        return Error{ErrorCode::kNotFound, "the library has no " + role.kind};
      }
      chosen_.push_back(role.kind + " " + ShortHash(all.front().hash) + " (the newest)");
      return Set(all.front().hash, "", at);
    }
    HANDHOLD_ASSIGN(const std::optional<ArtefactInfo> info,
                    NewestMadeFrom(context_, role.kind, *of, &chosen_));
    if (info) return Set(info->hash, "", at);
    if (!role.role.needed) return {};
    std::string maker;
    for (const StepEntry& entry : Steps().all()) {
      if (maker.empty() && std::ranges::count(entry.description.makes, role.kind) > 0)
        maker = ": " + store::MadeAgainBy(entry.description.name, of->name) + " makes one";
    }
    return Error{ErrorCode::kNotFound, "no " + role.kind + " of '" + of->name + "' yet" + maker};
  }

  Status MadeWith(const RoleDescription& role, const Found& of, Found* at) {
    HANDHOLD_ASSIGN(const std::vector<ProvenanceInput> inputs, context_.library.Inputs(of.hash));
    for (const ProvenanceInput& input : inputs) {
      if (input.role == role.name) return Set(input.hash, input.name, at);
    }
    if (!role.role.needed) return {};
    return Error{ErrorCode::kCorrupt, "artefact " + ShortHash(of.hash) + " does not say its " +
                                          role.name +
                                          ": it was not made by a step of this pipeline"};
  }

  /// The prop that was touched: a thing of the take, or another model of what stood there.
  Status PropOfTake(const StepInstance::Slot& slot, Found* at) {
    const step::Role& role = slot.role->role;
    const std::vector<Found*> of = FoundOf(role);
    if (of.empty()) return {};
    HANDHOLD_ASSIGN(const auto reader, context_.library.OpenClip(of.front()->id));
    if (!role.needed && at->ask.key.empty() && reader->force_sensors().empty()) return {};
    HANDHOLD_ASSIGN(const recording::Thing* thing,
                    recording::MeantProp(reader->info(), at->ask.key));
    const std::string model = thing != nullptr ? thing->model : at->ask.key;
    if (model.empty()) {
      return Error{ErrorCode::kInvalid,
                   "clip '" + of.front()->name +
                       "' does not say which prop was touched: name it as the " +
                       slot.role->word()};
    }
    if (at->ask.key.empty())
      chosen_.push_back(slot.role->name + " '" + thing->name + "' (the take's only prop, a " +
                        model + ")");
    return SetProp(model, at);
  }

  const StepContext& context_;
  StepInstance& instance_;
  std::vector<StepInstance::Slot> slots_;
  std::vector<std::string>& chosen_;
};

}  // namespace

Status ResolveInputs(const StepContext& context, StepInstance& instance,
                     std::vector<std::string>* chosen) {
  return Resolver(context, instance, chosen).Run();
}

}  // namespace handhold::pipeline

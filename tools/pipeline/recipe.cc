// Steps as JSON: engine.h's recipes.
#include <algorithm>

#include "database/artefact/describe.h"
#include "database/base/names.h"
#include "database/text/json_view.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/keep_outputs.h"

namespace handhold::pipeline {
namespace {

using text::Json;
using text::JsonMember;
using text::JsonView;

Status CheckNames(const JsonView& view, const std::vector<std::string>& known) {
  for (const JsonMember& member : view.value().members()) {
    if (std::ranges::find(known, member.key) == known.end())
      return view.Fail("has no '" + member.key + "'" + DidYouMean(member.key, known));
  }
  return {};
}

Result<step::Ask> AskOf(const JsonView& view) {
  step::Ask ask;
  if (const std::string* key = view.value().string()) {
    ask.key = *key;
    return ask;
  }
  if (!view.value().is_object()) return view.Fail("is a name, a hash or an object");
  // A part of it is enough.
  Json whole = artefact::ToJson(ask);
  for (const JsonMember& member : view.value().members()) {
    const Json* known = whole.Find(member.key);
    if (known == nullptr) {
      std::vector<std::string> names;
      for (const JsonMember& m : whole.members()) names.push_back(m.key);
      return view.Fail("has no '" + member.key + "'" + DidYouMean(member.key, names));
    }
    if (member.key != "hand") {
      whole.Set(member.key, member.value);
      continue;
    }
    Json hand = *known;
    for (const JsonMember& m : member.value.members()) {
      if (hand.Find(m.key) == nullptr) return view.Fail("hand has no '" + m.key + "'");
      hand.Set(m.key, m.value);
    }
    whole.Set("hand", std::move(hand));
  }
  const JsonView all(whole, "input");
  return artefact::FromJson<step::Ask>(all);
}

Status TakeInput(const JsonView& view, const StepInstance::Slot& slot) {
  if (slot.one != nullptr) {
    HANDHOLD_ASSIGN(step::Ask ask, AskOf(view));
    // Another size or side of what is meant anyway.
    if (ask.key.empty() && ask.hand.marker_map.empty()) ask.key = slot.role->fallback;
    slot.one->ask = std::move(ask);
    return {};
  }
  if (view.value().is_object()) {
    HANDHOLD_TRY(CheckNames(view, {"query"}));
    HANDHOLD_ASSIGN(*slot.query, view.Get<std::string>("query"));
    return {};
  }
  HANDHOLD_ASSIGN(const std::vector<JsonView> items, view.Items());
  for (const JsonView& item : items) {
    HANDHOLD_ASSIGN(step::Ask ask, AskOf(item));
    slot.asks->push_back(std::move(ask));
  }
  return {};
}

/// `recipe` with "#1" as the hash of the first result, in its inputs.
Json WithResults(const Json& recipe, const std::vector<StepResult>& results) {
  if (const std::string* word = recipe.string()) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (*word == "#" + std::to_string(i + 1)) return results[i].hash;
    }
    return recipe;
  }
  if (recipe.is_array()) {
    Json list = Json::Array();
    for (const Json& item : recipe.elements()) list.Push(WithResults(item, results));
    return list;
  }
  if (!recipe.is_object()) return recipe;
  text::Json::Members members;
  for (const JsonMember& member : recipe.members())
    members.push_back({member.key, WithResults(member.value, results)});
  return Json::FromMembers(std::move(members));
}

}  // namespace

Result<std::unique_ptr<StepInstance>> FromRecipe(const Registry& steps, const Json& recipe) {
  const JsonView view(recipe, "recipe");
  HANDHOLD_TRY(CheckNames(view, {"step", "version", "inputs", "options"}));
  HANDHOLD_ASSIGN(const std::string name, view.Get<std::string>("step"));
  HANDHOLD_ASSIGN(const StepEntry* entry, steps.Get(name));
  std::unique_ptr<StepInstance> instance = entry->make();
  if (view.Has("inputs")) {
    HANDHOLD_ASSIGN(const JsonView inputs, view.At("inputs"));
    std::vector<std::string> names;
    for (const StepInstance::Slot& slot : instance->slots()) {
      names.push_back(slot.role->name);
      if (!inputs.Has(slot.role->name)) continue;
      HANDHOLD_ASSIGN(const JsonView input, inputs.At(slot.role->name));
      HANDHOLD_TRY(TakeInput(input, slot));
    }
    HANDHOLD_TRY(CheckNames(inputs, names));
  }
  const Json* options = recipe.Find("options");
  HANDHOLD_ASSIGN(const Json whole, CompletedOptions(entry->description, entry->defaults,
                                                     options != nullptr ? *options : Json()));
  HANDHOLD_TRY(instance->SetOptions(whole));
  return instance;
}

Result<std::vector<StepResult>> RunRecipes(const StepContext& context, const Registry& steps,
                                           const Json& recipes) {
  const Json list = recipes.is_array() ? recipes : Json::Array({recipes});
  std::vector<StepResult> results;
  for (size_t i = 0; i < list.elements().size(); ++i) {
    const Json recipe = WithResults(list.elements()[i], results);
    const auto run = [&]() -> Result<StepResult> {
      HANDHOLD_ASSIGN(const auto instance, FromRecipe(steps, recipe));
      HANDHOLD_ASSIGN(StepResult result, RunInstance(context, *instance));
      const Json* version = recipe.Find("version");
      const int now = instance->description().version;
      if (version != nullptr && version->integer() && *version->integer() != now) {
        result.chosen.push_back("version " + std::to_string(now) + " of " +
                                instance->description().name + ", where the recipe says " +
                                std::to_string(*version->integer()));
      }
      return result;
    };
    Result<StepResult> result = run();
    if (!result) {
      return list.elements().size() == 1 ? result.error()
                                         : result.error().Within("recipe " + std::to_string(i + 1));
    }
    results.push_back(*std::move(result));
  }
  return results;
}

Result<Json> RecipeOf(const Registry& steps, const artefact::Provenance& provenance) {
  const StepEntry* entry = steps.Find(provenance.step);
  if (entry == nullptr) {
    return Error{ErrorCode::kUnsupported,
                 "'" + provenance.step + "' is no step: what was imported has no recipe"};
  }
  Json inputs = Json::Object();
  for (const RoleDescription& role : entry->description.roles) {
    Json list = Json::Array();
    for (const artefact::ProvenanceInput& input : provenance.inputs) {
      if (input.role == role.name) list.Push(input.hash);
    }
    const bool none = list.elements().empty();
    if (role.many) {
      if (!none) inputs.Set(role.name, std::move(list));
    } else if (!none) {
      inputs.Set(role.name, list.elements().front());
    } else if (!role.role.needed) {
      inputs.Set(role.name, step::kNone);
    }
  }
  HANDHOLD_ASSIGN(const Json parameters,
                  text::ParseJson(provenance.parameters_json, {.source = provenance.step}));
  Json options = Json::Object();
  for (const JsonMember& member : parameters.members()) {
    if (member.key != kMadeParameter) options.Set(member.key, member.value);
  }
  return Json::Object({{"step", provenance.step},
                       {"version", provenance.version},
                       {"inputs", std::move(inputs)},
                       {"options", std::move(options)}});
}

}  // namespace handhold::pipeline

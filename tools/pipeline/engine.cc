#include "tools/pipeline/engine.h"

#include <filesystem>
#include <utility>

#include "database/base/id.h"
#include "database/model/skeleton_json.h"
#include "database/text/json_view.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/keep_outputs.h"
#include "tools/pipeline/resolve.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::Provenance;
using text::Json;
using text::JsonView;

/// Of a result that was recognised and is several: which. False where one is gone.
Result<bool> ReadOutputs(const StepContext& context, StepResult* result) {
  if (result->outputs.front().kind != kOutputsKind) return true;
  const std::string path = context.library.ArtefactPath(result->hash);
  HANDHOLD_ASSIGN(const store::JsonArtefact kept, store::LoadJsonArtefact(path));
  HANDHOLD_ASSIGN(const Json root, text::ParseJson(kept.json, {.source = path}));
  const JsonView view(root, path);
  HANDHOLD_ASSIGN(const std::vector<JsonView> items, view.GetItems("outputs"));
  result->outputs.clear();
  for (const JsonView& item : items) {
    StepOutput& output = result->outputs.emplace_back();
    HANDHOLD_ASSIGN(output.role, item.Get<std::string>("role"));
    HANDHOLD_ASSIGN(output.kind, item.Get<std::string>("kind"));
    HANDHOLD_ASSIGN(output.rank, item.Get<int64_t>("rank"));
    HANDHOLD_ASSIGN(output.hash, item.Get<std::string>("hash"));
    if (!std::filesystem::exists(context.library.ArtefactPath(output.hash))) return false;
    if (!context.dry_run) HANDHOLD_TRY(MakeNewest(context, output.kind, output.hash));
  }
  HANDHOLD_ASSIGN(const JsonView report, view.At("report"));
  result->report = report.value();
  return true;
}

Result<Provenance> ProvenanceOfRun(const StepContext& context, StepInstance& instance) {
  Provenance provenance = ProvenanceOf(instance.description().name, instance.description().version);
  provenance.tool = context.tool;
  for (const StepInstance::Slot& slot : instance.slots()) {
    for (const step::Found* found : slot.found()) {
      if (*found) provenance.inputs.push_back({slot.role->name, found->hash, found->name});
    }
  }
  HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(instance.Options(false)));
  return provenance;
}

/// As Known; of several outputs each has to be there.
Result<std::optional<StepResult>> Recognised(const StepContext& context, const Provenance& recipe,
                                             const std::vector<std::string>& chosen) {
  HANDHOLD_ASSIGN(std::optional<StepResult> known, Known(context, recipe, chosen));
  if (!known) return known;
  HANDHOLD_ASSIGN(const bool whole, ReadOutputs(context, &*known));
  if (!whole) known.reset();
  return known;
}

}  // namespace

Result<StepResult> RunInstance(const StepContext& context, StepInstance& instance) {
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const bool ready, instance.Prepare(context, &chosen));
  if (!ready) {
    const StepDescription& step = instance.description();
    return StepResult{.provenance = ProvenanceOf(step.name, step.version),
                      .chosen = std::move(chosen)};
  }
  HANDHOLD_TRY(ResolveInputs(context, instance, &chosen));
  instance.Connect(context);
  // A recipe that says everything is recognised before a thing is opened.
  HANDHOLD_ASSIGN(const Provenance asked, ProvenanceOfRun(context, instance));
  HANDHOLD_ASSIGN(std::optional<StepResult> known, Recognised(context, asked, chosen));
  if (known) return *std::move(known);
  HANDHOLD_TRY(instance.Complete(&chosen));
  HANDHOLD_ASSIGN(const Provenance recipe, ProvenanceOfRun(context, instance));
  HANDHOLD_ASSIGN(known, Recognised(context, recipe, chosen));
  if (known) return *std::move(known);
  HANDHOLD_TRY(instance.Check());
  if (context.dry_run) {
    StepResult would{.provenance = recipe, .chosen = std::move(chosen)};
    HANDHOLD_ASSIGN(would.hash, store::ArtefactHash(recipe));
    return would;
  }
  HANDHOLD_TRY(Report(context, 0.0, recipe.step));
  HANDHOLD_TRY(context.library.MaySave());
  HANDHOLD_ASSIGN(StepResult made, instance.ComputeAndSave(context, recipe));
  made.chosen.insert(made.chosen.begin(), chosen.begin(), chosen.end());
  return made;
}

// ---- outputs

Result<Provenance> ProvenanceOfOutput(const StepContext& context, const Provenance& recipe,
                                      const Json& made) {
  Provenance provenance = recipe;
  provenance.tool = context.tool;
  provenance.made_utc = UtcNow();
  if (!made.is_object()) return provenance;
  HANDHOLD_ASSIGN(Json parameters,
                  text::ParseJson(recipe.parameters_json, {.source = recipe.step}));
  parameters.Set(kMadeParameter, made);
  HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(parameters));
  return provenance;
}

void SayCutShort(const step::Work& work, Json* made) {
  if (!made->is_object()) *made = Json::Object();
  made->Set("cut_short", work.cut_short());
  made->Set("run", ClipId::New().ToString());
}

Result<store::JsonArtefact> ArtefactOf(const step::Hand& hand) {
  Json content = Json::Object({{"skeleton", model::SkeletonToJson(hand.skeleton)}});
  if (!hand.summary.is_null()) content.Set("summary", hand.summary);
  store::JsonArtefact kept;
  kept.kind = artefact::kSkeletonKind;
  HANDHOLD_ASSIGN(kept.json, text::WriteJson(content));
  return kept;
}

Result<StepResult> KeepList(const StepContext& context, const Provenance& recipe,
                            const step::Work& work, std::vector<StepOutput> outputs, Json report) {
  StepResult result{.provenance = recipe,
                    .chosen = work.notes(),
                    .cut_short = work.cut_short(),
                    .outputs = std::move(outputs),
                    .report = std::move(report)};
  HANDHOLD_ASSIGN(result.hash, store::ArtefactHash(recipe));
  if (!work.cut_short().empty()) return result;
  Json list = Json::Array();
  for (const StepOutput& output : result.outputs) {
    list.Push(Json::Object({{"role", output.role},
                            {"kind", output.kind},
                            {"rank", output.rank},
                            {"hash", output.hash}}));
  }
  store::JsonArtefact kept;
  kept.kind = kOutputsKind;
  HANDHOLD_ASSIGN(kept.provenance, ProvenanceOfOutput(context, recipe, {}));
  HANDHOLD_ASSIGN(
      kept.json,
      text::WriteJson(Json::Object({{"outputs", std::move(list)}, {"report", result.report}})));
  HANDHOLD_TRY(context.library.Save(kept));
  return result;
}

}  // namespace handhold::pipeline

#include "database/text/json.h"
#include "tools/handhold/step_verb.h"
#include "tools/handhold/verbs.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/inputs.h"

namespace handhold::cli {
namespace {

std::string StateOf(const Context& context, const pipeline::StepResult& result) {
  if (result.reused) return "there already";
  if (!result.cut_short.empty()) return "cut short";
  return context.dry_run ? "would be made" : "made";
}

Outcome RunRecipe(Context& context) {
  const Arguments& given = context.arguments;
  HANDHOLD_ASSIGN(const text::Json recipes, text::ReadJsonFile(given.Text("RECIPE")));
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
  HANDHOLD_ASSIGN(const std::vector<pipeline::StepResult> results,
                  pipeline::RunRecipes(StepContextOf(context, *library, "running"),
                                       pipeline::Steps(), recipes));
  for (const pipeline::StepResult& result : results) Tell(context, result);
  Table table = context.printer.BeginTable({{.name = "step"},
                                            {.name = "state"},
                                            {.name = "role"},
                                            {.name = "kind"},
                                            {.name = "artefact"}});
  for (const pipeline::StepResult& result : results) {
    const std::string state = StateOf(context, result);
    if (result.outputs.empty())
      table.Row({result.provenance.step, state, "", Cell(std::nullopt), result.hash});
    for (const pipeline::StepOutput& output : result.outputs)
      table.Row({result.provenance.step, state, output.role, output.kind, output.hash});
  }
  return Outcome::Done();
}

}  // namespace

Verb RunVerb() {
  return {
      .noun = "run",
      .summary = "run a step, or a list of steps, that a recipe describes",
      .examples = {"handhold run recipe.json --library lab",
                   "handhold run recipe.json --library lab --dry-run"},
      .positionals = {{.name = "RECIPE",
                       .help = "a .json file: a step, its inputs and options, or a list of them",
                       .kind = ValueKind::kPath}},
      .options = {LibraryOption()},
      .writes = true,
      .handles_interrupt = true,
      .details =
          "A recipe is {\"step\": \"fit.pose\", \"inputs\": {\"clip\": \"session\"}, \"options\":\n"
          "{\"method\": \"fast\"}}; what is left out has its default. An input is a name, a hash, "
          "a\n"
          "file, or {\"key\": \"hand29\", \"hand\": {\"side\": \"left\"}}; of many a list, or\n"
          "{\"query\": EXPR}. In a list \"#1\" is the result of the first. 'artefact recipe' "
          "prints\n"
          "the one that made a result; run again, it is recognised.",
      .run = RunRecipe};
}

Verb ArtefactRecipeVerb() {
  return {.noun = "artefact",
          .name = "recipe",
          .summary = "print the recipe that made a result, for 'handhold run'",
          .examples = {"handhold artefact recipe 1f0c2a9b --library lab > recipe.json"},
          .positionals = {{.name = "ARTEFACT", .help = "hash, or the beginning of one"}},
          .options = {LibraryOption()},
          .run = [](Context& context) -> Outcome {
            const Arguments& given = context.arguments;
            HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
            HANDHOLD_ASSIGN(const store::ArtefactInfo info,
                            pipeline::FindArtefact(*library, given.Text("ARTEFACT"), ""));
            HANDHOLD_ASSIGN(const text::Json recipe,
                            pipeline::RecipeOf(pipeline::Steps(), info.provenance));
            HANDHOLD_ASSIGN(const std::string written, text::WriteJson(recipe, {.indent = 2}));
            context.printer.Raw(written + "\n");
            return Outcome::Done();
          }};
}

}  // namespace handhold::cli

/// What every step goes through: its inputs are found, its result is recognised by its recipe, else
/// computed and kept with its provenance.
///
///   HANDHOLD_ASSIGN(const StepResult pose, RunStep(context, fitting::FitPoseStep{.clip =
///   "session"}));
///
/// The order is fixed: find (hashes only; nothing is loaded), complete what nobody said, name the
/// recipe, recognise, check, load each input once, compute, save. A dry run ends before loading for
/// the computation. Pinned by tests/tools/pipeline/{new_step,steps}_test.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "database/artefact/provenance.h"
#include "database/text/json.h"
#include "tools/pipeline/registry.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

Result<StepResult> RunInstance(const StepContext& context, StepInstance& instance);

/// The same of a step as a value; defined for each step of registry.cc (StepOf).
template <typename S>
std::unique_ptr<StepInstance> StepOf(S step);
template <typename S>
Result<StepResult> RunStep(const StepContext& context, S step) {
  return RunInstance(context, *StepOf(std::move(step)));
}

// ---- recipes: a step as JSON
//
//   {"step": "fit.pose", "version": 2, "inputs": {"clip": "session", "skeleton": "1f0c2a9b"},
//    "options": {"method": "fast"}}
//
// An input is what a person would type, or an object of step::Ask; of many things a list, or
// {"query": "task = \"grasp\""}. What is left out has its default. "version" need not be said;
// where it is another than the program's, that is told. In a list of recipes "#1" is the result of
// the first.

/// The step that a recipe describes; kInvalid, kNotFound name what is wrong.
Result<std::unique_ptr<StepInstance>> FromRecipe(const Registry& steps, const text::Json& recipe);
/// Runs one recipe or a list of them, in order; ends with the first that fails.
Result<std::vector<StepResult>> RunRecipes(const StepContext& context, const Registry& steps,
                                           const text::Json& recipes);
/// The recipe of a result, every option and each input's hash in it: run, it is recognised.
/// kUnsupported where no step made it (what was imported).
Result<text::Json> RecipeOf(const Registry& steps, const artefact::Provenance& provenance);

}  // namespace handhold::pipeline

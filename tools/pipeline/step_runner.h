/// What every step does around its computation: recognise, compute, save. Internal to the pipeline.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// Whoever asks for a result again means it from now on. What cannot be written down is said: the
/// result itself is there.
Status MakeNewest(const StepContext& context, const std::string& kind, const std::string& hash);

/// The result of this recipe, where the library has it; it is the newest of its kind from now on.
/// Nothing is loaded.
Result<std::optional<StepResult>> Known(const StepContext& context,
                                        const artefact::Provenance& provenance,
                                        const std::vector<std::string>& chosen);

/// The answer when nothing is to be computed (known already, or a dry run); empty: go on.
Result<std::optional<StepResult>> Recognise(const StepContext& context,
                                            const artefact::Provenance& provenance,
                                            const std::vector<std::string>& chosen);

/// A provenance to complete.
inline artefact::Provenance ProvenanceOf(std::string step, int version) {
  artefact::Provenance p;
  p.step = std::move(step);
  p.version = version;
  return p;
}

/// `compute` answers a Result of an artefact (a value with a member `provenance`); it is called
/// only when the library does not hold the result yet.
template <typename Compute>
Result<StepResult> RunStep(const StepContext& context, artefact::Provenance provenance,
                           std::vector<std::string> chosen, const Compute& compute) {
  provenance.tool = context.tool;
  HANDHOLD_ASSIGN(std::optional<StepResult> known, Recognise(context, provenance, chosen));
  if (known) return *std::move(known);
  HANDHOLD_TRY(context.library.MaySave());
  HANDHOLD_ASSIGN(auto value, compute());
  HANDHOLD_TRY(Report(context, 1.0, provenance.step));
  provenance.made_utc = UtcNow();
  value.provenance = provenance;
  StepResult result{.provenance = std::move(provenance), .chosen = std::move(chosen)};
  HANDHOLD_ASSIGN(result.hash, context.library.Save(value));
  return result;
}

}  // namespace handhold::pipeline

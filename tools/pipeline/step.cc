#include "tools/pipeline/step.h"

#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {

Status Report(const StepContext& context, double fraction, std::string_view what) {
  if (!context.progress || context.progress(fraction, what)) return {};
  return Error{ErrorCode::kCancelled, std::string(what) + ": cancelled; nothing was saved"};
}

Result<std::optional<StepResult>> Recognise(const StepContext& context,
                                            const artefact::Provenance& provenance,
                                            const std::vector<std::string>& chosen) {
  StepResult result{.provenance = provenance, .chosen = chosen};
  HANDHOLD_ASSIGN(result.hash, store::ArtefactHash(provenance));
  HANDHOLD_ASSIGN(const std::optional<std::string> known, context.library.FindArtefact(provenance));
  result.reused = known.has_value();
  if (known) {
    HANDHOLD_ASSIGN(store::ArtefactInfo info,
                    store::ReadArtefactInfo(context.library.ArtefactPath(*known), provenance));
    result.provenance = std::move(info.provenance);
  }
  if (known || context.dry_run) return std::optional<StepResult>(std::move(result));
  HANDHOLD_TRY(Report(context, 0.0, provenance.step));
  return std::optional<StepResult>();
}

}  // namespace handhold::pipeline

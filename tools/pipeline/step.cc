#include "tools/pipeline/step.h"

#include "database/base/log.h"
#include "database/store/artefact_finder.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {

Status MakeNewest(const StepContext& context, const std::string& kind, const std::string& hash) {
  HANDHOLD_ASSIGN(const std::vector<store::ArtefactInfo> newest,
                  store::FindArtefacts(context.library.catalogue(), {.kind = kind, .newest = 1}));
  if (newest.empty() || newest.front().hash == hash) return {};
  if (const Status renewed = context.library.Renew(hash); !renewed) {
    Log(LogLevel::kWarning, "artefact.not_newest",
        {{"artefact", hash.substr(0, 8)},
         {"why", renewed.error().message},
         {"fix", "name it where it is to be used: one that was made later counts as newer"}});
  }
  return {};
}

Status Report(const StepContext& context, double fraction, std::string_view what) {
  if (!context.progress || context.progress(fraction, what)) return {};
  return Error{ErrorCode::kCancelled, std::string(what) + ": cancelled; nothing was saved"};
}

Result<std::optional<StepResult>> Known(const StepContext& context,
                                        const artefact::Provenance& provenance,
                                        const std::vector<std::string>& chosen) {
  HANDHOLD_ASSIGN(const std::optional<std::string> known, context.library.FindArtefact(provenance));
  if (!known) return std::optional<StepResult>();
  StepResult result{.hash = *known, .reused = true, .chosen = chosen};
  HANDHOLD_ASSIGN(store::ArtefactInfo info,
                  store::ReadArtefactInfo(context.library.ArtefactPath(*known), provenance));
  result.provenance = std::move(info.provenance);
  result.outputs = {{"", info.kind, 1, result.hash}};
  if (!context.dry_run) HANDHOLD_TRY(MakeNewest(context, info.kind, result.hash));
  return std::optional<StepResult>(std::move(result));
}

Result<std::optional<StepResult>> Recognise(const StepContext& context,
                                            const artefact::Provenance& provenance,
                                            const std::vector<std::string>& chosen) {
  HANDHOLD_ASSIGN(std::optional<StepResult> known, Known(context, provenance, chosen));
  if (known) return known;
  if (context.dry_run) {
    StepResult result{.provenance = provenance, .chosen = chosen};
    HANDHOLD_ASSIGN(result.hash, store::ArtefactHash(provenance));
    return std::optional<StepResult>(std::move(result));
  }
  HANDHOLD_TRY(Report(context, 0.0, provenance.step));
  return known;
}

}  // namespace handhold::pipeline

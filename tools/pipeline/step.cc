#include "tools/pipeline/step.h"

#include "database/base/log.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

/// Whoever asks for a result again means it from now on. What cannot be written down is said: the
/// result itself is there.
Status MakeNewest(const StepContext& context, const std::string& kind, const std::string& hash) {
  HANDHOLD_ASSIGN(const std::vector<store::ArtefactInfo> all, context.library.Artefacts(kind));
  if (all.empty() || all.back().hash == hash) return {};
  if (const Status renewed = context.library.Renew(hash); !renewed) {
    Log(LogLevel::kWarning, "artefact.not_newest",
        {{"artefact", hash.substr(0, 8)},
         {"why", renewed.error().message},
         {"fix", "name it where it is to be used: one that was made later counts as newer"}});
  }
  return {};
}

}  // namespace

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
    if (!context.dry_run) HANDHOLD_TRY(MakeNewest(context, info.kind, result.hash));
  }
  if (known || context.dry_run) return std::optional<StepResult>(std::move(result));
  HANDHOLD_TRY(Report(context, 0.0, provenance.step));
  return std::optional<StepResult>();
}

}  // namespace handhold::pipeline

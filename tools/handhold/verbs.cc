#include "tools/handhold/verbs.h"

#include "database/base/log.h"
#include "database/store/sqlite.h"

namespace handhold::cli {

std::vector<std::function<Status()>> StartChecks(int sqlite_version) {
  return {[=] { return store::CheckSqliteVersion(sqlite_version); }};
}

Status WarnOfProblems(const store::Library& library) {
  constexpr int kNamed = 5;
  int lacking = 0;
  HANDHOLD_ASSIGN(const Issues problems, library.Problems());
  for (const Issue& problem : problems) {
    if (problem.severity < Severity::kLoss || ++lacking > kNamed) continue;
    Log(LogLevel::kWarning, "catalogue.lacks", {{"where", problem.where}, {"what", problem.what}});
  }
  if (lacking > kNamed) {
    Log(LogLevel::kWarning, "catalogue.lacks",
        {{"more", lacking - kNamed}, {"fix", "'handhold library check' names all"}});
  }
  return {};
}

Program HandholdProgram() {
  return {
      .verbs =
          {
              LibraryCreateVerb(),  // one line each
              LibraryInfoVerb(),
              LibraryCheckVerb(),
              LibraryRebuildVerb(),
              LiveCheckVerb(),
              LiveRecordVerb(),
              LiveMonitorVerb(),
              LiveSimulateVerb(),
              ClipListVerb(),
              ClipShowVerb(),
              ClipImportVerb(),
              ClipExportVerb(),
              ClipTagVerb(),
              ClipRateVerb(),
              QueryVerb(),
              SqlVerb(),
              FitSkeletonVerb(),
              FitPoseVerb(),
              FitContactVerb(),
              FitComplianceVerb(),
              SynthInteractionVerb(),
              ReportVerb(),
              ArtefactListVerb(),
              ArtefactShowVerb(),
              ArtefactLineageVerb(),
              ArtefactExportVerb(),
              CompletionVerb(),
              LabMakeVerb(),
              VersionVerb(),
              CompleteVerb(),
              ReferenceVerb(),
          },
      .version = HANDHOLD_VERSION,
      .start_checks = StartChecks(store::LinkedSqliteVersion()),
  };
}

}  // namespace handhold::cli

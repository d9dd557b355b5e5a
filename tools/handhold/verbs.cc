#include "tools/handhold/verbs.h"

#include "database/store/sqlite.h"

namespace handhold::cli {

std::vector<std::function<Status()>> StartChecks(int sqlite_version) {
  return {[=] { return store::CheckSqliteVersion(sqlite_version); }};
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

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
              LibraryCreateVerb(),
              LibraryInfoVerb(),
              LibraryCheckVerb(),
              LibraryRebuildVerb(),
              ClipListVerb(),
              ClipShowVerb(),
              ClipTagVerb(),
              ClipRateVerb(),
              QueryVerb(),
              SqlVerb(),
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

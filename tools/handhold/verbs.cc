#include "tools/handhold/verbs.h"

#include "database/store/sqlite.h"

namespace handhold::cli {

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
              CompletionVerb(),
              LabMakeVerb(),
              VersionVerb(),
              CompleteVerb(),
              ReferenceVerb(),
          },
      .version = HANDHOLD_VERSION,
      .start_checks = {[] { return store::CheckSqliteVersion(store::LinkedSqliteVersion()); }},
  };
}

}  // namespace handhold::cli

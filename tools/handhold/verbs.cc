#include "tools/handhold/verbs.h"

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
              CompletionVerb(),
              LabMakeVerb(),
              VersionVerb(),
              CompleteVerb(),
              ReferenceVerb(),
          },
      .version = HANDHOLD_VERSION,
      .start_checks = {},
  };
}

}  // namespace handhold::cli

#include "tools/handhold/verbs.h"

namespace handhold::cli {

Verb VersionVerb() {
  return {.noun = "version",
          .summary = "print the program's version and how it was built",
          .examples = {"handhold version --json"},
          .needs_library = false,
          .run = [](Context& context) -> Outcome {
            context.printer.PrintRecord({
                {{.name = "version"}, HANDHOLD_VERSION},
                {{.name = "compiler"}, HANDHOLD_COMPILER},
                {{.name = "build"}, HANDHOLD_BUILD_TYPE},
            });
            return Outcome::Done();
          }};
}

}  // namespace handhold::cli

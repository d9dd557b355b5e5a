#include "tools/handhold/frame/help.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {

Verb ReferenceVerb() {
  return {.noun = "__reference",
          .summary = "print tools/handhold/REFERENCE.md; called by tools/reference",
          .needs_library = false,
          .hidden = true,
          .run = [](Context& context) -> Outcome {
            context.printer.Raw(MarkdownHelp(HandholdProgram().verbs));
            return Outcome::Done();
          }};
}

}  // namespace handhold::cli

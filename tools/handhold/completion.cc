#include "tools/handhold/frame/complete.h"
#include "tools/handhold/verbs.h"

namespace handhold::cli {

Verb CompletionVerb() {
  return {
      .noun = "completion",
      .summary = "print the completion script of a shell",
      .examples = {"handhold completion bash > ~/.local/share/bash-completion/completions/handhold",
                   "source <(handhold completion zsh)", "handhold completion fish | source"},
      .positionals = {{.name = "SHELL",
                       .help = "bash, zsh or fish",
                       .kind = ValueKind::kChoice,
                       .choices = {"bash", "zsh", "fish"}}},
      .needs_library = false,
      .run = [](Context& context) -> Outcome {
        HANDHOLD_ASSIGN(const std::string script,
                        CompletionScript(context.arguments.Text("SHELL")));
        context.printer.Raw(script);
        return Outcome::Done();
      }};
}

Verb CompleteVerb() {
  return {.noun = "__complete",
          .summary = "print candidates for the last word; called by the completion scripts",
          .positionals = {{.name = "WORD",
                           .help = "what is written so far",
                           .required = false,
                           .repeated = true,
                           .may_be_empty = true}},
          .options = {{.name = "--describe",
                       .help = "a tab and a description after each",
                       .kind = ValueKind::kFlag}},
          .needs_library = false,
          .hidden = true,
          .run = [](Context& context) -> Outcome {
            const bool describe = context.arguments.Flag("--describe");
            for (const auto& [word, description] :
                 Complete(context.arguments.All("WORD"), HandholdProgram().verbs)) {
              context.printer.Raw(word + (describe ? "\t" + description : "") + "\n");
            }
            return Outcome::Done();
          }};
}

}  // namespace handhold::cli

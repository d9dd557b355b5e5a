#include "tools/handhold/frame/complete.h"

#include <algorithm>

#include "tools/handhold/frame/parse.h"

namespace handhold::cli {
namespace {

using Candidates = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kBash =
    R"sh(# handhold completion for bash: source <(handhold completion bash)
_handhold() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _handhold handhold
)sh";

constexpr const char* kZsh = R"sh(#compdef handhold
# handhold completion for zsh: source <(handhold completion zsh), after compinit
_handhold() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done < <("${words[1]}" __complete --describe -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( ${#found} )); then _describe 'handhold' found; else _files; fi
}
compdef _handhold handhold
)sh";

constexpr const char* kFish = R"sh(# handhold completion for fish: handhold completion fish | source
function __handhold_complete
  set -l words (commandline -opc) (commandline -ct)
  $words[1] __complete --describe -- $words[2..-1] 2>/dev/null
end
complete -c handhold -f -a '(__handhold_complete)'
complete -c handhold -n 'test -z "$(__handhold_complete)"' -F
)sh";

/// Keeps what begins with `prefix`; puts `before` in front of each word.
Candidates Matching(const Candidates& all, const std::string& prefix,
                    const std::string& before = "") {
  Candidates out;
  for (const auto& [word, description] : all) {
    if (word.starts_with(prefix)) out.emplace_back(before + word, description);
  }
  return out;
}

Candidates FirstWords(const std::vector<Verb>& verbs) {
  Candidates out;
  for (const Verb& verb : verbs) {
    if (verb.hidden) continue;
    const auto known =
        std::find_if(out.begin(), out.end(), [&](const auto& c) { return c.first == verb.noun; });
    if (known == out.end()) {
      out.emplace_back(verb.noun, verb.name.empty() ? verb.summary : verb.name);
    } else {
      known->second += ", " + verb.name;
    }
  }
  out.emplace_back("help", "explain a verb, with examples");
  return out;
}

Candidates Choices(const std::vector<Option>& options, const std::string& name) {
  Candidates out;
  for (const Option& option : options) {
    if (option.name != name) continue;
    for (const std::string& choice : option.choices) out.emplace_back(choice, "");
  }
  return out;
}

bool TakesValue(const std::vector<Option>& options, const std::string& name) {
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& o) { return o.name == name && o.kind != ValueKind::kFlag; });
}

/// The choices of the positional that the last word stands for.
Candidates PositionalCandidates(const Verb& verb, const std::vector<Option>& options,
                                const std::vector<std::string>& words) {
  size_t index = 0;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const bool value = i > 0 && TakesValue(options, words[i - 1]);
    if (!value && !words[i].starts_with("-")) ++index;
  }
  Candidates out;
  if (index >= verb.positionals.size()) return out;
  for (const std::string& choice : verb.positionals[index].choices) out.emplace_back(choice, "");
  return Matching(out, words.back());
}

Candidates OptionCandidates(const Verb& verb, const std::vector<std::string>& words) {
  std::vector<Option> options = OptionsOf(verb);
  options.insert(options.end(), CommonOptionList().begin(), CommonOptionList().end());
  const std::string& last = words.back();
  const size_t n = words.size();
  // bash splits at '=': "--format", "=", "js".
  if (n >= 2 && last == "=") return Choices(options, words[n - 2]);
  if (n >= 3 && words[n - 2] == "=") return Matching(Choices(options, words[n - 3]), last);
  if (const size_t equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    return Matching(Choices(options, last.substr(0, equals)), last.substr(equals + 1),
                    last.substr(0, equals + 1));
  }
  if (n >= 2 && TakesValue(options, words[n - 2]))
    return Matching(Choices(options, words[n - 2]), last);
  if (!last.starts_with("-")) {
    if (const Candidates found = PositionalCandidates(verb, options, words); !found.empty())
      return found;
  }
  if (!last.starts_with("-") && !(last.empty() && verb.positionals.empty())) return {};
  Candidates names;
  for (const Option& option : options) {
    const bool given = std::find(words.begin(), words.end() - 1, option.name) != words.end() - 1;
    if (!given || option.repeated) names.emplace_back(option.name, option.help);
  }
  names.emplace_back("--help", "explain this verb");
  return Matching(names, last);
}

}  // namespace

Candidates Complete(std::span<const std::string> given, const std::vector<Verb>& verbs) {
  std::vector<std::string> words(given.begin(), given.end());
  if (words.empty()) words.emplace_back();
  const bool help = words.size() > 1 && words[0] == "help";
  if (help) words.erase(words.begin());
  if (words.size() == 1) return Matching(FirstWords(verbs), words[0]);
  Candidates names;
  for (const Verb& verb : verbs) {
    if (verb.hidden || verb.noun != words[0]) continue;
    if (verb.name.empty())
      return help ? Candidates{} : OptionCandidates(verb, {words.begin() + 1, words.end()});
    if (words.size() > 2 && words[1] == verb.name) {
      return help ? Candidates{} : OptionCandidates(verb, {words.begin() + 2, words.end()});
    }
    names.emplace_back(verb.name, verb.summary);
  }
  return words.size() == 2 ? Matching(names, words[1]) : Candidates{};
}

Result<std::string> CompletionScript(const std::string& shell) {
  if (shell == "bash") return std::string(kBash);
  if (shell == "zsh") return std::string(kZsh);
  if (shell == "fish") return std::string(kFish);
  return Error{ErrorCode::kInvalid,
               "no completion for '" + shell + "': known are 'bash', 'zsh', 'fish'"};
}

}  // namespace handhold::cli

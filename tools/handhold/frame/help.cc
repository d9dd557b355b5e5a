#include "tools/handhold/frame/help.h"

#include <algorithm>

#include "tools/handhold/frame/parse.h"

namespace handhold::cli {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 finished with loss, 130 interrupted.\n";

using Lines = std::vector<std::pair<std::string, std::string>>;

/// Two columns, the second aligned.
std::string Aligned(const Lines& lines) {
  size_t width = 0;
  for (const auto& [left, right] : lines) width = std::max(width, left.size());
  std::string out;
  for (const auto& [left, right] : lines) {
    out += "  " + left;
    if (!right.empty()) out += std::string(width - left.size() + 2, ' ') + right;
    out += '\n';
  }
  return out;
}

std::string OptionLeft(const Option& option) {
  return option.kind == ValueKind::kFlag ? option.name : option.name + " " + option.value_name;
}

std::string OptionRight(const Option& option) {
  std::string out = option.help;
  std::vector<std::string> remarks;
  if (const std::string range = option.range.Text(); !range.empty()) remarks.push_back(range);
  if (option.required && option.environment.empty()) remarks.push_back("needed");
  if (option.repeated) remarks.push_back("may be repeated");
  if (!option.environment.empty()) {
    remarks.push_back("default: $" + option.environment +
                      (option.fallback.empty() ? "" : ", else " + option.fallback));
  } else if (!option.fallback.empty()) {
    remarks.push_back("default: " + option.fallback);
  }
  for (size_t i = 0; i < remarks.size(); ++i) out += (i == 0 ? " (" : "; ") + remarks[i];
  return remarks.empty() ? out : out + ")";
}

std::string PositionalUsage(const Positional& p) {
  const std::string name = p.name + (p.repeated ? "..." : "");
  return p.required ? name : "[" + name + "]";
}

Lines OptionLines(const std::vector<Option>& options) {
  Lines lines;
  for (const Option& option : options) lines.emplace_back(OptionLeft(option), OptionRight(option));
  return lines;
}

std::vector<std::string> Nouns(const std::vector<Verb>& verbs) {
  std::vector<std::string> nouns;
  for (const Verb& verb : verbs) {
    if (!verb.hidden && std::find(nouns.begin(), nouns.end(), verb.noun) == nouns.end())
      nouns.push_back(verb.noun);
  }
  return nouns;
}

/// The first examples of headline verbs, filled up with those of others, three in all.
std::vector<std::string> FrontExamples(const std::vector<Verb>& verbs) {
  std::vector<std::string> out;
  for (const bool headline : {true, false}) {
    for (const Verb& verb : verbs) {
      if (verb.hidden || verb.examples.empty() || verb.headline != headline) continue;
      if (out.size() < 3) out.push_back(verb.examples.front());
    }
  }
  return out;
}

/// Help of a verb without what all verbs share.
std::string OwnHelp(const Verb& verb) {
  std::string out = "handhold " + verb.words() + " - " + verb.summary + "\n\nExamples:\n";
  for (const std::string& example : verb.examples) out += "  " + example + "\n";
  out += "\nUsage: handhold " + verb.words();
  Lines positionals;
  for (const Positional& p : verb.positionals) {
    out += " " + PositionalUsage(p);
    positionals.emplace_back(p.name, p.help);
  }
  out += " [options]\n";
  if (!verb.details.empty()) out += "\n" + verb.details + "\n";
  if (!positionals.empty()) out += "\nArguments:\n" + Aligned(positionals);
  if (const auto options = OptionsOf(verb); !options.empty())
    out += "\nOptions:\n" + Aligned(OptionLines(options));
  return out;
}

std::string OptionsOfEveryVerb() {
  Lines common = OptionLines(CommonOptionList());
  common.emplace_back("-q, -v, -vv", "say less (errors only), more, everything on stderr");
  common.emplace_back("-h, --help", "this text");
  return Aligned(common);
}

}  // namespace

std::string FrontHelp(const std::vector<Verb>& verbs) {
  std::string out = "handhold - record, keep, ask, fit and replay how hands hold things\n\nTry:\n";
  for (const std::string& example : FrontExamples(verbs)) out += "  " + example + "\n";
  out += "\nVerbs:\n";
  Lines lines;
  for (const std::string& noun : Nouns(verbs)) {
    std::string names, summary;
    for (const Verb& verb : verbs) {
      if (verb.noun != noun || verb.hidden) continue;
      if (verb.name.empty()) summary = verb.summary;
      if (!verb.name.empty()) names += (names.empty() ? "" : "|") + verb.name;
    }
    lines.emplace_back(names.empty() ? noun : noun + " " + names, summary);
  }
  return out + Aligned(lines) +
         "\n'handhold help VERB' explains one, with examples. Results go to stdout, all else to "
         "stderr.\n" +
         kExitCodes;
}

std::string NounHelp(const std::string& noun, const std::vector<Verb>& verbs) {
  std::string examples;
  Lines lines;
  for (const Verb& verb : verbs) {
    if (verb.noun != noun || verb.hidden) continue;
    lines.emplace_back("handhold " + verb.words(), verb.summary);
    if (!verb.examples.empty()) examples += "  " + verb.examples.front() + "\n";
  }
  return "Examples:\n" + examples + "\nVerbs:\n" + Aligned(lines) + "\n'handhold help " + noun +
         " VERB' explains one.\n";
}

std::string VerbHelp(const Verb& verb) {
  return OwnHelp(verb) + "\nEvery verb:\n" + OptionsOfEveryVerb() + "\n" + kExitCodes;
}

std::string MarkdownHelp(const std::vector<Verb>& verbs) {
  std::string out =
      "# handhold: every verb\n\nWhat the program says of itself; written by `tools/reference`, "
      "kept "
      "current by a test.\n\n```text\n$ handhold\n" +
      FrontHelp(verbs) + "```\n\nEvery verb also takes:\n\n```text\n" + OptionsOfEveryVerb() +
      "```\n";
  for (const std::string& noun : Nouns(verbs)) {
    out += "\n## " + noun + "\n";
    for (const Verb& verb : verbs) {
      if (verb.hidden || verb.noun != noun) continue;
      out += "\n### `handhold " + verb.words() + "`\n\n```text\n" + OwnHelp(verb) + "```\n";
    }
  }
  return out;
}

}  // namespace handhold::cli

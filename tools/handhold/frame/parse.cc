#include "tools/handhold/frame/parse.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "database/base/names.h"

namespace handhold::cli {
namespace {

Error Usage(std::string message) { return {ErrorCode::kInvalid, std::move(message)}; }

bool LooksLikeOption(const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return false;
  return word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1]));
}

template <typename T>
bool ReadsWhole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Whether `text` is a value of that kind, of an option within its range; `name` is the option or
/// positional it is for.
Status CheckValue(ValueKind kind, const std::vector<std::string>& choices, const Range& range,
                  const std::string& name, const std::string& text) {
  const std::string found = ", found '" + text.substr(0, 60) + "'";
  const auto within = [&](double value) -> Status {
    if (range.Holds(value)) return {};
    return Usage(name + ": expected " + range.Text() + found);
  };
  int64_t integer = 0;
  double number = 0;
  switch (kind) {
    case ValueKind::kInteger:
      if (!ReadsWhole(text, integer)) return Usage(name + ": expected a whole number" + found);
      return within(static_cast<double>(integer));
    case ValueKind::kNumber:
      if (!ReadsWhole(text, number) || !std::isfinite(number))
        return Usage(name + ": expected a number" + found);
      return within(number);
    case ValueKind::kDuration: {
      const auto duration = ParseDuration(text);
      if (!duration) return duration.error().Within(name);
      return within(duration->seconds());
    }
    case ValueKind::kChoice:
      if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
        return Usage(name + ": unknown value '" + text + "'" + DidYouMean(text, choices));
      }
      return {};
    case ValueKind::kPath:
      if (text.empty()) return Usage(name + ": an empty path");
      return {};
    case ValueKind::kFlag:
    case ValueKind::kText:
      return {};
  }
  return {};
}

class Parser {
 public:
  Parser(std::span<const std::string> words, const std::vector<Verb>& verbs)
      : words_(words.begin(), words.end()), verbs_(verbs) {}

  Result<Invocation> Parse() {
    HANDHOLD_ASSIGN(const bool done, FindVerb());
    if (done) return std::move(out_);
    HANDHOLD_TRY(ReadWords());
    if (help_) {
      out_.kind = Invocation::Kind::kVerbHelp;
      return std::move(out_);
    }
    HANDHOLD_TRY(PlacePositionals());
    HANDHOLD_TRY(FillIn());
    HANDHOLD_TRY(ReadCommon());
    return std::move(out_);
  }

 private:
  std::vector<std::string> Nouns() const {
    std::vector<std::string> nouns;
    for (const Verb& verb : verbs_) {
      if (verb.hidden) continue;
      if (std::find(nouns.begin(), nouns.end(), verb.noun) == nouns.end())
        nouns.push_back(verb.noun);
    }
    return nouns;
  }

  /// Finds the verb's words at the front; true when the line asks for help or the version instead.
  Result<bool> FindVerb() {
    bool asks_help = false;
    MoveCommonBehind();
    while (!words_.empty() && (words_[0] == "help" || words_[0] == "--help" || words_[0] == "-h")) {
      asks_help = true;
      words_.erase(words_.begin());
    }
    MoveCommonBehind();  // between "help" and the verb, too
    const auto help = [&](Invocation::Kind kind) {
      out_.kind = kind;
      return true;
    };
    if (words_.empty()) return help(Invocation::Kind::kFrontHelp);
    if (words_[0] == "--version") return help(Invocation::Kind::kVersion);
    const std::string first = words_[0];
    if (LooksLikeOption(first))
      return Usage("the verb comes first, found '" + first + "': handhold VERB " + first);
    std::vector<std::string> names;
    for (const Verb& verb : verbs_) {
      if (verb.noun != first) continue;
      if (verb.name.empty()) return Take(verb, 1, asks_help);
      names.push_back(verb.name);
      if (words_.size() > 1 && words_[1] == verb.name) return Take(verb, 2, asks_help);
    }
    if (names.empty()) return UnknownNoun(first);
    out_.noun = first;
    if (words_.size() == 1 || words_[1] == "--help" || words_[1] == "-h")
      return help(Invocation::Kind::kNounHelp);
    if (LooksLikeOption(words_[1])) {
      return Usage("'" + first + "' needs a verb before '" + words_[1] + "'" +
                   DidYouMean("", names));
    }
    return Usage("unknown verb '" + first + " " + words_[1] + "'" + DidYouMean(words_[1], names));
  }

  /// Options that every verb has may stand before it: read as if they stood after it.
  void MoveCommonBehind() {
    size_t count = 0;
    while (count < words_.size() && LooksLikeOption(words_[count])) {
      const std::string& word = words_[count];
      const std::string name = word.substr(0, word.find('='));
      const auto& common = CommonOptionList();
      const auto option = std::ranges::find(common, name, &Option::name);
      const bool letters = word[1] != '-' && word.find_first_not_of("qv", 1) == std::string::npos;
      if (option == common.end() && !letters) break;
      const bool takes_next =
          !letters && option->kind != ValueKind::kFlag && word.find('=') == std::string::npos;
      count += takes_next ? 2 : 1;
    }
    if (count == 0 || count >= words_.size()) return;
    // In front of what follows, so that "--" hides none of them.
    const auto behind = words_.begin() + static_cast<ptrdiff_t>(count);
    size_t verb_words = 1;
    for (const Verb& verb : verbs_) {
      if (verb.noun == *behind && !verb.name.empty() && behind + 1 != words_.end() &&
          verb.name == *(behind + 1))
        verb_words = 2;
    }
    std::rotate(words_.begin(), behind, behind + static_cast<ptrdiff_t>(verb_words));
  }

  Error UnknownNoun(const std::string& word) const {
    std::vector<std::string> known = Nouns();
    known.push_back("help");
    // "handhold list": the verb without its noun.
    std::vector<std::string> whole;
    for (const Verb& verb : verbs_) {
      if (verb.name == word) whole.push_back(verb.words());
    }
    if (!whole.empty() && NearestNames(word, known, 1).empty()) {
      return Usage("unknown verb '" + word + "': did you mean '" + whole.front() + "'?");
    }
    // "handhold recrd": the second word of a verb, mistyped.
    std::vector<std::string> seconds;
    for (const Verb& verb : verbs_) {
      if (!verb.name.empty() && !verb.hidden) seconds.push_back(verb.name);
    }
    const std::vector<std::string> near = NearestNames(word, seconds, 1);
    if (!near.empty() && NearestNames(word, known, 1).empty()) {
      std::vector<std::string> meant;
      for (const Verb& verb : verbs_) {
        if (verb.name == near.front() && !verb.hidden) meant.push_back("'" + verb.words() + "'");
      }
      std::string list;
      for (size_t i = 0; i < meant.size(); ++i) list += (i > 0 ? " or " : "") + meant[i];
      return Usage("unknown verb '" + word + "': did you mean " + list + "?");
    }
    return Usage("unknown verb '" + word + "'" + DidYouMean(word, known));
  }

  bool Take(const Verb& verb, size_t words, bool asks_help) {
    out_.verb = &verb;
    words_.erase(words_.begin(), words_.begin() + static_cast<ptrdiff_t>(words));
    options_ = OptionsOf(verb);
    options_.insert(options_.end(), CommonOptionList().begin(), CommonOptionList().end());
    if (asks_help) out_.kind = Invocation::Kind::kVerbHelp;
    return asks_help;
  }

  Status ReadWords() {
    bool only_positionals = false;
    for (size_t i = 0; i < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (only_positionals || !LooksLikeOption(word)) {
        positionals_.push_back(word);
      } else if (word == "--") {
        only_positionals = true;
      } else if (word == "--help" || word == "-h") {
        help_ = true;
      } else if (word[1] != '-') {
        HANDHOLD_TRY(ReadLetters(word));
      } else {
        HANDHOLD_TRY(ReadOption(i));
      }
    }
    return {};
  }

  Status ReadLetters(const std::string& word) {
    for (const char letter : word.substr(1)) {
      if (letter == 'v') {
        ++out_.common.verbosity;
      } else if (letter == 'q') {
        out_.common.verbosity = -1;
      } else {
        return Usage("unknown option '" + word +
                     "': the one-letter options are -h, -q, -v; others are written --name");
      }
    }
    out_.common.verbosity = std::min(out_.common.verbosity, 2);
    return {};
  }

  Status ReadOption(size_t& i) {
    const std::string word = words_[i];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto option = std::find_if(options_.begin(), options_.end(),
                                     [&](const Option& o) { return o.name == name; });
    if (option == options_.end()) {
      for (const auto& [old, now] : out_.verb->renamed)
        if (old == name) return Usage("'" + name + "' is no more: " + now);
      std::vector<std::string> known = {"--help"};
      for (const Option& o : options_) known.push_back(o.name);
      return Usage("'" + out_.verb->words() + "' has no option '" + name + "'" +
                   DidYouMean(name, known));
    }
    Arguments::Value& value = out_.arguments.values[name];
    if (value.given && !option->repeated && option->kind != ValueKind::kFlag) {
      return Usage("'" + name + "' is given twice");
    }
    value.given = true;
    if (option->kind == ValueKind::kFlag) {
      if (equals != std::string::npos) return Usage("'" + name + "' takes no value");
      return {};
    }
    std::string text;
    if (equals != std::string::npos) {
      text = word.substr(equals + 1);
    } else {
      if (i + 1 >= words_.size())
        return Usage("'" + name + "' needs a value: " + name + " " + option->value_name);
      text = words_[++i];
      if (LooksLikeOption(text)) {
        return Usage("'" + name + "' needs a value before '" + text + "' (write " + name + "=" +
                     text + " when that is the value)");
      }
    }
    if (option->required && text.empty())
      return Usage("'" + name + "' needs a value: " + name + " " + option->value_name);
    HANDHOLD_TRY(CheckValue(option->kind, option->choices, option->range, name, text));
    value.texts.push_back(text);
    return {};
  }

  Status PlacePositionals() {
    size_t at = 0;
    for (const Positional& positional : out_.verb->positionals) {
      Arguments::Value& value = out_.arguments.values[positional.name];
      value.kind = positional.kind;
      do {
        if (at >= positionals_.size()) break;
        HANDHOLD_TRY(
            CheckValue(positional.kind, positional.choices, {}, positional.name, positionals_[at]));
        if (positionals_[at].empty() && !positional.may_be_empty)
          return Usage(positional.name + ": an empty word");
        value.given = true;
        value.texts.push_back(positionals_[at++]);
      } while (positional.repeated);
      if (!value.given && positional.required) {
        const std::string example =
            out_.verb->examples.empty() ? "" : "; for example: " + out_.verb->examples.front();
        return Usage("'" + out_.verb->words() + "' needs " + positional.name +
                     (positional.help.empty() ? "" : " (" + positional.help + ")") + example);
      }
    }
    if (at < positionals_.size()) {
      return Usage("'" + out_.verb->words() + "' takes no further argument, found '" +
                   positionals_[at] + "'");
    }
    return {};
  }

  /// Kinds, environment and fallbacks of the options not given.
  Status FillIn() {
    for (const Option& option : options_) {
      Arguments::Value& value = out_.arguments.values[option.name];
      value.kind = option.kind;
      if (value.given) continue;
      const char* environment =
          option.environment.empty() ? nullptr : std::getenv(option.environment.c_str());
      if (environment && *environment != '\0') {
        HANDHOLD_TRY(CheckValue(option.kind, option.choices, option.range,
                                option.name + " (from " + option.environment + ")", environment));
        value.given = value.from_environment = true;
        value.texts = {environment};
      } else if (option.required) {
        const std::string example =
            out_.verb->examples.empty() ? "" : "; for example: " + out_.verb->examples.front();
        return Usage("'" + out_.verb->words() + "' needs " + option.name + " " + option.value_name +
                     example);
      } else if (!option.fallback.empty()) {
        value.texts = {option.fallback};
      }
    }
    return {};
  }

  Status ReadCommon() {
    const Arguments& arguments = out_.arguments;
    static const std::map<std::string, Format> kFormats = {{"text", Format::kText},
                                                           {"json", Format::kJson},
                                                           {"ndjson", Format::kNdjson},
                                                           {"csv", Format::kCsv}};
    out_.common.format = kFormats.at(arguments.Text("--format"));
    if (arguments.Flag("--json")) {
      if (arguments.Has("--format") && out_.common.format != Format::kJson) {
        return Usage("'--json' is short for '--format json' and contradicts '--format " +
                     arguments.Text("--format") + "'");
      }
      out_.common.format = Format::kJson;
    }
    const std::string progress = arguments.Text("--progress");
    if (progress == "line") out_.common.progress = ProgressMode::kLine;
    if (progress == "json") out_.common.progress = ProgressMode::kJson;
    if (progress == "off") out_.common.progress = ProgressMode::kOff;
    return {};
  }

  std::vector<std::string> words_;
  const std::vector<Verb>& verbs_;
  std::vector<Option> options_;
  std::vector<std::string> positionals_;
  bool help_ = false;
  Invocation out_;
};

}  // namespace

const Verb* VerbMeant(std::span<const std::string> words, const std::vector<Verb>& verbs) {
  for (size_t i = 0; i < words.size(); ++i) {
    for (const Verb& verb : verbs) {
      if (verb.noun != words[i] || verb.hidden) continue;
      if (verb.name.empty() || (i + 1 < words.size() && verb.name == words[i + 1])) return &verb;
    }
  }
  return nullptr;
}

Result<Invocation> ParseCommandLine(std::span<const std::string> words,
                                    const std::vector<Verb>& verbs) {
  return Parser(words, verbs).Parse();
}

const std::vector<Option>& CommonOptionList() {
  static const std::vector<Option> kOptions = {
      {.name = "--format",
       .value_name = "FORMAT",
       .help = "text, json, ndjson or csv",
       .kind = ValueKind::kChoice,
       .choices = {"text", "json", "ndjson", "csv"},
       .fallback = "text"},
      {.name = "--json", .help = "short for --format json", .kind = ValueKind::kFlag},
      {.name = "--progress",
       .value_name = "MODE",
       .help = "auto (a line on a terminal), line, json or off",
       .kind = ValueKind::kChoice,
       .choices = {"auto", "line", "json", "off"},
       .fallback = "auto"},
  };
  return kOptions;
}

std::vector<Option> OptionsOf(const Verb& verb) {
  std::vector<Option> options = verb.options;
  if (verb.writes) {
    options.push_back({.name = "--dry-run",
                       .help = "change nothing; say what would be changed",
                       .kind = ValueKind::kFlag});
  }
  return options;
}

}  // namespace handhold::cli

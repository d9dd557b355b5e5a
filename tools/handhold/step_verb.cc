#include "tools/handhold/step_verb.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "database/artefact/describe.h"
#include "database/base/check.h"
#include "database/recording/pose_text.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/load_input.h"

namespace handhold::cli {
namespace {

using pipeline::OptionDescription;
using pipeline::RoleDescription;
using pipeline::StepDescription;
using text::Json;
using Type = OptionDescription::Type;

std::string Upper(std::string text) {
  std::ranges::replace(text, '-', '_');
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// ---- the description as options

ValueKind KindOf(Type type) {
  switch (type) {
    case Type::kBool:
      return ValueKind::kFlag;
    case Type::kInteger:
      return ValueKind::kInteger;
    case Type::kNumber:
      return ValueKind::kNumber;
    case Type::kSeconds:
    case Type::kNanoseconds:
      return ValueKind::kDuration;
    case Type::kChoice:
      return ValueKind::kChoice;
    default:
      return ValueKind::kText;
  }
}

/// A default as a person would type it; empty where it says nothing.
std::string Fallback(const OptionDescription& option) {
  const Json& value = option.fallback;
  const auto number = value.number();
  if (option.type == Type::kChoice) return *value.string();
  if (!number || !std::isfinite(*number)) return "";
  const bool time = option.type == Type::kNanoseconds || option.type == Type::kSeconds;
  const double shown = option.type == Type::kNanoseconds ? 1e-9 * *number : *number;
  char digits[40];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, shown).ptr) +
         (time ? "s" : "");
}

Option OptionOf(const OptionDescription& described) {
  const artefact::About& about = described.about;
  Option option{.name = "--" + described.word(), .help = about.help};
  option.kind = *about.flag != '\0' ? ValueKind::kFlag : KindOf(described.type);
  if (option.kind == ValueKind::kFlag) return option;
  option.value_name = *about.value != '\0' ? about.value : Upper(described.word());
  option.choices = described.choices;
  // Which words there are, unless the help says each.
  std::string words;
  for (const std::string& choice : option.choices) {
    if (option.help.find(choice) == std::string::npos)
      words += (words.empty() ? ": " : ", ") + choice;
  }
  option.help += words;
  option.required = about.needed;
  option.repeated = described.type == Type::kTexts || described.type == Type::kIntegers ||
                    described.type == Type::kNumbers;
  if (!about.needed) option.fallback = Fallback(described);
  option.range = {.least = about.least, .most = about.most, .above = about.above};
  const std::string unit = described.unit();
  if (!unit.empty() && (std::isfinite(about.least) || std::isfinite(about.most)))
    option.range.unit = " " + unit;
  return option;
}

Positional PositionalOf(const OptionDescription& described) {
  return {.name = Upper(described.word()),
          .help = described.about.help,
          .required = described.about.needed,
          .kind = KindOf(described.type),
          .choices = described.choices};
}

std::string ValueName(const RoleDescription& role) {
  if (*role.role.value != '\0') return role.role.value;
  if (role.kind == pipeline::kClipKind) return "CLIP";
  if (role.kind == "skeleton") return "HAND";
  return role.kind == "prop" ? "PROP" : "ARTEFACT";
}

/// The first input of a kind that people name: to it belong the options of all of that kind.
const RoleDescription* FirstOf(const StepDescription& step, std::string_view kind) {
  for (const RoleDescription& role : step.roles) {
    if (role.kind == kind && *role.role.help != '\0') return &role;
  }
  return nullptr;
}

bool Offers(const std::vector<Option>& options, const std::string& name) {
  return std::ranges::find(options, name, &Option::name) != options.end();
}

void Describe(const StepDescription& step, Verb* verb) {
  const auto add = [&](Option option) {
    if (!Offers(verb->options, option.name)) verb->options.push_back(std::move(option));
  };
  for (const RoleDescription& role : step.roles) {
    if (*role.role.help == '\0') continue;
    const bool asked =
        role.role.needed && role.role.unsaid == step::Unsaid::kNothing && role.fallback.empty();
    if (role.role.first) {
      verb->positionals.push_back({.name = ValueName(role),
                                   .help = role.role.help,
                                   .required = asked && !role.many,
                                   .repeated = role.many});
    } else {
      add({.name = "--" + role.word(),
           .value_name = ValueName(role),
           .help = role.role.help,
           .fallback = role.fallback,
           .required = asked && !role.many,
           .repeated = role.many});
    }
    if (role.many && role.kind == pipeline::kClipKind) {
      add({.name = "--query",
           .value_name = "EXPR",
           .help = "instead of naming clips: those that it finds"});
    }
  }
  for (const OptionDescription& option : step.options) {
    if (*option.about.help == '\0' || option.type == Type::kOther) continue;
    if (option.about.first) {
      verb->positionals.push_back(PositionalOf(option));
    } else if (option.type == Type::kRange) {
      for (Option& end : RangeOptions()) add(std::move(end));
    } else {
      add(OptionOf(option));
    }
  }
  if (FirstOf(step, "skeleton") != nullptr) {
    for (Option& option : HandOptions()) add(std::move(option));
  }
  if (FirstOf(step, "prop") != nullptr) add(MeshUnitOption());
}

// ---- a command line as a recipe

Result<Json> Integers(const std::string& name, const std::vector<std::string>& words,
                      const artefact::About& about) {
  Json list = Json::Array();
  for (const std::string& word : words) {
    int64_t number = 0;
    const char* const end = word.data() + word.size();
    if (const auto read = std::from_chars(word.data(), end, number);
        read.ec != std::errc{} || read.ptr != end)
      return Error{ErrorCode::kInvalid, name + ": '" + word + "' is no number"};
    if (static_cast<double>(number) < about.least || static_cast<double>(number) > about.most)
      return Error{ErrorCode::kInvalid, name + ": '" + word + "' is out of its range"};
    list.Push(number);
  }
  return list;
}

Result<Json> Numbers(const std::string& name, const std::vector<std::string>& words) {
  Json object = Json::Object();
  for (const std::string& word : words) {
    const size_t at = word.find('=');
    double number = 0;
    const char* const end = word.data() + word.size();
    if (at == std::string::npos || at == 0 ||
        std::from_chars(word.data() + at + 1, end, number).ptr != end || at + 1 == word.size())
      return Error{ErrorCode::kInvalid, name + ": expected NAME=VALUE, found '" + word + "'"};
    object.Set(word.substr(0, at), number);
  }
  return object;
}

Result<Json> ValueOf(const OptionDescription& option, const std::string& name,
                     const Arguments& given) {
  const std::string_view flag = option.about.flag;
  if (option.type == Type::kBool) return Json(flag != "false");
  if (!flag.empty()) return Json(std::string(flag));
  switch (option.type) {
    case Type::kInteger:
      return Json(given.Integer(name));
    case Type::kNumber:
      return Json(given.Number(name));
    case Type::kSeconds:
      return Json(given.Time(name).seconds());
    case Type::kNanoseconds:
      return Json(given.Time(name).ns());
    case Type::kPose: {
      HANDHOLD_ASSIGN(const auto pose, PoseOption(given, name));
      return artefact::ToJson(*pose);
    }
    case Type::kTexts:
    case Type::kIntegers:
    case Type::kNumbers: {
      const std::vector<std::string> words = WordsOf(given.All(name));
      if (words.empty()) return Error{ErrorCode::kInvalid, name + ": nothing is named"};
      if (option.type == Type::kIntegers) return Integers(name, words, option.about);
      if (option.type == Type::kNumbers) return Numbers(name, words);
      Json list = Json::Array();
      for (const std::string& word : words) list.Push(word);
      return list;
    }
    default:
      return Json(given.Text(name));
  }
}

/// Sets "grip.force_N" of an object of objects.
void SetAt(const std::string& path, Json value, Json* object) {
  const size_t dot = path.find('.');
  if (dot == std::string::npos) {
    object->Set(path, std::move(value));
    return;
  }
  const std::string head = path.substr(0, dot);
  Json inner = object->Find(head) != nullptr ? *object->Find(head) : Json::Object();
  SetAt(path.substr(dot + 1), std::move(value), &inner);
  object->Set(head, std::move(inner));
}

bool GivesHand(const Arguments& given) {
  return std::ranges::any_of(HandOptions(), [&](const Option& o) { return given.Has(o.name); });
}

Json AskOf(const StepDescription& step, const RoleDescription& role, const std::string& key,
           const Arguments& given) {
  step::Ask ask{.key = key};
  if (&role == FirstOf(step, "skeleton")) {
    ask.hand = HandVariantOf(given);
    ask.scale = given.Number("--scale");
  }
  if (role.kind == "prop") ask.metres_per_unit = MetresPerUnit(given);
  return ask == step::Ask{.key = key} ? Json(key) : artefact::ToJson(ask);
}

Json InputsOf(const StepDescription& step, const Arguments& given) {
  Json inputs = Json::Object();
  for (const RoleDescription& role : step.roles) {
    if (*role.role.help == '\0') continue;
    const std::string name = role.role.first ? ValueName(role) : "--" + role.word();
    const bool has_query = role.many && role.kind == pipeline::kClipKind && given.Has("--query");
    if (has_query) {
      inputs.Set(role.name, Json::Object({{"query", given.Text("--query")}}));
    } else if (role.many) {
      Json list = Json::Array();
      for (const std::string& key : given.All(name)) list.Push(AskOf(step, role, key, given));
      const bool changed = &role == FirstOf(step, "skeleton") && GivesHand(given);
      if (changed && !given.Has(name)) list.Push(AskOf(step, role, "", given));
      if (given.Has(name) || changed) inputs.Set(role.name, std::move(list));
    } else if (given.Has(name) || (&role == FirstOf(step, "skeleton") && GivesHand(given))) {
      inputs.Set(role.name, AskOf(step, role, given.Text(name), given));
    }
  }
  return inputs;
}

/// Of a step that has no words of its own: what it made.
Result<Issues> PrintOutputs(Printer& out, const store::Library&,
                            const pipeline::StepResult& result) {
  if (result.outputs.size() == 1 && result.outputs.front().role.empty()) return Issues{};
  Table table = out.BeginTable(
      "outputs", {{.name = "role"}, {.name = "rank"}, {.name = "kind"}, {.name = "artefact"}});
  for (const pipeline::StepOutput& output : result.outputs)
    table.Row({output.role, output.rank, output.kind, output.hash});
  return Issues{};
}

}  // namespace

std::vector<std::string> WordsOf(const std::vector<std::string>& given) {
  std::vector<std::string> words;
  for (const std::string& list : given) {
    std::istringstream in(list);
    for (std::string word; std::getline(in >> std::ws, word, ',');) {
      word.erase(word.find_last_not_of(' ') + 1);
      if (!word.empty()) words.push_back(word);
    }
  }
  return words;
}

Result<Json> RecipeFrom(const StepDescription& step, const Arguments& given) {
  Json options = Json::Object();
  for (const OptionDescription& option : step.options) {
    if (*option.about.help == '\0' || option.type == Type::kOther) continue;
    if (option.type == Type::kRange) {
      HANDHOLD_ASSIGN(const std::optional<TimeRange> range, RangeOf(given));
      if (range) SetAt(option.path, artefact::ToJson(*range), &options);
      continue;
    }
    const std::string name = option.about.first ? Upper(option.word()) : "--" + option.word();
    if (!given.Has(name)) continue;
    HANDHOLD_ASSIGN(Json value, ValueOf(option, name, given));
    SetAt(option.path, std::move(value), &options);
  }
  return Json::Object(
      {{"step", step.name}, {"inputs", InputsOf(step, given)}, {"options", std::move(options)}});
}

Outcome PrintStep(Context& context, const store::Library& library,
                  const pipeline::StepResult& result, const StepWords& words) {
  Tell(context, result);
  if (words.say) return words.say(context, library, result);
  Printer& out = context.printer;
  out.BeginDocument();
  out.PrintRecord(words.record.empty() ? "result" : words.record.c_str(),
                  ResultFields(context, result));
  Issues issues;
  if (!context.dry_run || result.reused) {
    HANDHOLD_ASSIGN(issues, words.print ? words.print(out, library, result)
                                        : PrintOutputs(out, library, result));
  }
  out.EndDocument();
  return Outcome::FromIssues(issues);
}

Verb StepVerb(const pipeline::StepEntry& entry, StepWords words) {
  const StepDescription& step = entry.description;
  const size_t dot = step.name.find('.');
  if (words.noun.empty()) {
    words.noun = step.name.substr(0, dot);
    if (dot != std::string::npos) words.name = step.name.substr(dot + 1);
  }
  Verb verb{.noun = words.noun,
            .name = words.name,
            .summary = words.summary.empty() ? step.summary : words.summary,
            .examples = words.examples,
            .options = {LibraryOption()},
            .writes = true,
            .handles_interrupt = true,
            .headline = words.headline,
            .details = words.details};
  if (verb.examples.empty()) verb.examples = {"handhold " + verb.words() + " --library lab"};
  Describe(step, &verb);
  for (const Option& option : words.more) verb.options.push_back(option);
  verb.run = [&entry, words = std::move(words), title = verb.words()](Context& context) -> Outcome {
    Result<Json> recipe = RecipeFrom(entry.description, context.arguments);
    if (!recipe) return Outcome::Usage(recipe.error().message);
    if (words.look) {
      if (std::optional<Outcome> refused = words.look(context.arguments, &*recipe)) return *refused;
    }
    HANDHOLD_ASSIGN(const auto library, store::Library::Open(context.arguments.Text("--library")));
    pipeline::Registry one;
    one.Add(entry);
    HANDHOLD_ASSIGN(const auto instance, pipeline::FromRecipe(one, *recipe));
    HANDHOLD_ASSIGN(const pipeline::StepResult result,
                    pipeline::RunInstance(
                        StepContextOf(context, *library, words.doing.empty() ? title : words.doing),
                        *instance));
    return PrintStep(context, *library, result, words);
  };
  return verb;
}

Verb StepVerb(const char* step, StepWords words) {
  const pipeline::StepEntry* entry = pipeline::Steps().Find(step);
  CHECK(entry != nullptr);
  return StepVerb(*entry, std::move(words));
}

}  // namespace handhold::cli

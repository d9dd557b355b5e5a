#include "tools/pipeline/step_description.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <sstream>

#include "database/base/names.h"

namespace handhold::pipeline {
namespace {

using text::Json;
using Type = OptionDescription::Type;

std::string Shown(double value) {
  char digits[40];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

/// Nothing where the value is none (null, or of another type, which reading it refuses).
Status CheckValue(const OptionDescription& option, const Json& value) {
  if (const std::string* word = value.string();
      word != nullptr && option.type == Type::kChoice &&
      std::ranges::find(option.choices, *word) == option.choices.end()) {
    return Error{ErrorCode::kInvalid,
                 "'" + *word + "' is no " + option.path + DidYouMean(*word, option.choices)};
  }
  const auto number = value.number();
  if (!number) return {};
  const double shown = option.type == Type::kNanoseconds ? 1e-9 * *number : *number;
  const artefact::About& about = option.about;
  const bool low = about.above ? shown <= about.least : shown < about.least;
  if (!low && shown <= about.most) return {};
  std::string range;
  if (std::isfinite(about.least))
    range = (about.above ? "above " : "at least ") + Shown(about.least);
  if (std::isfinite(about.most))
    range += (range.empty() ? "at most " : ", at most ") + Shown(about.most);
  return Error{ErrorCode::kInvalid, option.path + " is " + range + ", not " + Shown(shown)};
}

Status Lay(const StepDescription& step, const Json& given, const std::string& path, Json* whole) {
  for (const text::JsonMember& member : given.members()) {
    const std::string at = path.empty() ? member.key : path + "." + member.key;
    const Json* known = whole->Find(member.key);
    if (known == nullptr) {
      std::vector<std::string> names;
      for (const text::JsonMember& m : whole->members()) names.push_back(m.key);
      return Error{ErrorCode::kInvalid, "step " + step.name + " has no option '" + at + "'" +
                                            DidYouMean(member.key, names)};
    }
    const OptionDescription* leaf = step.FindOption(at);
    if (leaf == nullptr && known->is_object() && member.value.is_object()) {
      Json inner = *known;
      HANDHOLD_TRY(Lay(step, member.value, at, &inner));
      whole->Set(member.key, std::move(inner));
      continue;
    }
    if (leaf != nullptr) HANDHOLD_TRY(CheckValue(*leaf, member.value));
    whole->Set(member.key, member.value);
  }
  return {};
}

}  // namespace

std::vector<std::string> ChoicesOf(const artefact::About& about) {
  std::istringstream words(about.choices);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string UnitOf(std::string_view name) {
  static const std::vector<std::string_view> kUnits = {
      "per_s2", "per_s", "rad_per_Nm", "m_per_s2", "m_per_s", "m_per_N", "kgm2", "m",
      "s",      "ns",    "N",          "Nm",       "kg",      "Hz",      "rad",  "deg"};
  std::string_view best;
  for (const std::string_view unit : kUnits) {
    if (name.size() > unit.size() + 1 && name.ends_with(unit) &&
        name[name.size() - unit.size() - 1] == '_' && unit.size() > best.size())
      best = unit;
  }
  return std::string(best);
}

std::string OptionDescription::unit() const {
  return type == Type::kNanoseconds ? "s" : UnitOf(path);
}

std::string OptionDescription::word() const {
  if (*about.word != '\0') return about.word;
  const std::string name = path.substr(path.rfind('.') + 1), unit = UnitOf(name);
  std::string word = unit.empty() ? name : name.substr(0, name.size() - unit.size() - 1);
  std::ranges::replace(word, '_', '-');
  return word;
}

const RoleDescription* StepDescription::FindRole(std::string_view role) const {
  const auto at = std::ranges::find(roles, role, &RoleDescription::name);
  return at == roles.end() ? nullptr : &*at;
}

const OptionDescription* StepDescription::FindOption(std::string_view path) const {
  const auto at = std::ranges::find(options, path, &OptionDescription::path);
  return at == options.end() ? nullptr : &*at;
}

Result<Json> CompletedOptions(const StepDescription& step, Json whole, const Json& given) {
  if (!given.is_object() && !given.is_null())
    return Error{ErrorCode::kInvalid, "options of " + step.name + " are an object"};
  HANDHOLD_TRY(Lay(step, given, "", &whole));
  return whole;
}

}  // namespace handhold::pipeline

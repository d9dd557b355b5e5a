#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "database/base/names.h"
#include "database/base/utf8.h"
#include "database/text/schema.h"
#include "database/text/schema_compiled.h"

namespace handhold::text {
namespace {

constexpr size_t kLongestForPattern = 256;

bool HasType(const Json& value, std::string_view type) {
  if (type == "integer") return value.integer().has_value();
  if (type == "number") return value.number().has_value();
  return JsonTypeName(value.type()) == type;
}

std::string TypePhrase(std::string_view type) {
  if (type == "null") return "null";
  const bool vowel = type == "integer" || type == "array" || type == "object";
  return (vowel ? "an " : "a ") + std::string(type);
}

std::string Shown(const Json& value) {
  if (const std::string* string = value.string()) return "'" + *string + "'";
  const Result<std::string> text = WriteJson(value);
  return text && text->size() <= 60 ? *text : DescribeJson(value);
}

size_t CodePoints(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) at += std::max<size_t>(1, Utf8Length(text, at));
  return count;
}

std::string NumberText(const Json& number) { return WriteJson(number).value(); }  // finite by then

}  // namespace

/// Checks one value tree against one schema; collects findings.
class SchemaChecker {
 public:
  explicit SchemaChecker(const Schema::Compiled& compiled) : compiled_(compiled) {}

  void Check(const Json& schema, const Json& value, const std::string& path,
             std::vector<SchemaFinding>& out) const {
    if (const auto allowed = schema.boolean()) {
      if (!*allowed)
        Add(out, value, path, "no value is allowed here, found " + DescribeJson(value));
      return;
    }
    if (const auto to = compiled_.references.find(&schema); to != compiled_.references.end()) {
      Check(*to->second, value, path, out);
    }
    // A wrong type is said once: what would follow from it is noise.
    if (!CheckType(schema, value, path, out)) return;
    CheckEnum(schema, value, path, out);
    if (const auto number = value.number()) CheckNumber(schema, value, *number, path, out);
    if (value.string()) CheckString(schema, value, path, out);
    if (value.is_array()) CheckArray(schema, value, path, out);
    if (value.is_object()) CheckObject(schema, value, path, out);
    CheckCombined(schema, value, path, out);
  }

 private:
  using Findings = std::vector<SchemaFinding>;

  static void Add(Findings& out, const Json& value, const std::string& path, std::string what) {
    out.push_back({path, value.line(), std::move(what)});
  }

  static bool CheckType(const Json& schema, const Json& value, const std::string& path,
                        Findings& out) {
    const Json* type = schema.Find("type");
    if (!type) return true;
    std::string expected;
    if (type->string()) {
      if (HasType(value, *type->string())) return true;
      expected = TypePhrase(*type->string());
    }
    for (const Json& option : type->elements()) {
      if (HasType(value, *option.string())) return true;
      expected += (expected.empty() ? "" : " or ") + TypePhrase(*option.string());
    }
    Add(out, value, path, "expected " + expected + ", found " + DescribeJson(value));
    return false;
  }

  static void CheckEnum(const Json& schema, const Json& value, const std::string& path,
                        Findings& out) {
    if (const Json* constant = schema.Find("const"); constant && !(*constant == value)) {
      Add(out, value, path, "expected " + Shown(*constant) + ", found " + DescribeJson(value));
    }
    const Json* list = schema.Find("enum");
    if (!list || std::find(list->elements().begin(), list->elements().end(), value) !=
                     list->elements().end())
      return;
    Add(out, value, path, NotOneOf(list->elements(), value));
  }

  template <typename Options>
  static std::string NotOneOf(const Options& options, const Json& value) {
    std::string listed;
    std::vector<std::string> names;
    for (const Json& option : options) {
      listed += (listed.empty() ? "" : ", ") + Shown(option);
      if (option.string()) names.push_back(*option.string());
    }
    std::string what = "expected one of " + listed + "; found " + DescribeJson(value);
    if (value.string() && !NearestNames(*value.string(), names).empty())
      what += DidYouMean(*value.string(), names);
    return what;
  }

  static void CheckNumber(const Json& schema, const Json& value, double number,
                          const std::string& path, Findings& out) {
    if (!std::isfinite(number)) {  // only possible in a tree built in code
      Add(out, value, path, "expected a finite number, found " + DescribeJson(value));
      return;
    }
    const auto limit = [&](const char* keyword, const char* phrase, auto holds) {
      const Json* bound = schema.Find(keyword);
      if (bound && !holds(number, *bound->number())) {
        Add(out, value, path,
            std::string("expected ") + phrase + " " + NumberText(*bound) + ", found " +
                NumberText(value));
      }
    };
    limit("minimum", "at least", [](double a, double b) { return a >= b; });
    limit("maximum", "at most", [](double a, double b) { return a <= b; });
    limit("exclusiveMinimum", "more than", [](double a, double b) { return a > b; });
    limit("exclusiveMaximum", "less than", [](double a, double b) { return a < b; });
  }

  /// minX <= count <= maxX, said as "expected at least 1 element, found 0".
  static void CheckCount(const Json& schema, const Json& value, const std::string& path,
                         size_t count, std::string_view suffix, const std::string& noun,
                         Findings& out) {
    const Json* least = schema.Find("min" + std::string(suffix));
    const Json* most = schema.Find("max" + std::string(suffix));
    const auto say = [&](const char* which, const Json& bound) {
      const int64_t n = *bound.integer();
      Add(out, value, path,
          std::string("expected ") + which + " " + std::to_string(n) + " " + noun +
              (n == 1 ? "" : "s") + ", found " + std::to_string(count));
    };
    if (least && most && *least == *most) {
      if (count != static_cast<size_t>(*least->integer())) say("exactly", *least);
      return;
    }
    if (least && count < static_cast<size_t>(*least->integer())) say("at least", *least);
    if (most && count > static_cast<size_t>(*most->integer())) say("at most", *most);
  }

  void CheckString(const Json& schema, const Json& value, const std::string& path,
                   Findings& out) const {
    const std::string& text = *value.string();
    if (schema.Find("minLength") || schema.Find("maxLength")) {
      CheckCount(schema, value, path, CodePoints(text), "Length", "character", out);
    }
    const auto pattern = compiled_.patterns.find(&schema);
    if (pattern == compiled_.patterns.end()) return;
    const bool checkable =
        text.size() <= kLongestForPattern && text.find('\0') == std::string::npos;
    if (!checkable || regexec(pattern->second.get(), text.c_str(), 0, nullptr, 0) != 0) {
      Add(out, value, path,
          DescribeJson(value) + " does not have the form " + *schema.Find("pattern")->string());
    }
  }

  void CheckArray(const Json& schema, const Json& value, const std::string& path,
                  Findings& out) const {
    const Json::Elements& elements = value.elements();
    CheckCount(schema, value, path, elements.size(), "Items", "element", out);
    if (const Json* unique = schema.Find("uniqueItems"); unique && *unique->boolean())
      CheckUnique(value, path, out);
    const Json* items = schema.Find("items");
    if (!items) return;
    for (size_t i = 0; i < elements.size(); ++i) {
      Check(*items, elements[i], JsonPathChild(path, i), out);
    }
  }

  static void CheckUnique(const Json& value, const std::string& path, Findings& out) {
    std::vector<std::pair<std::string, size_t>> sorted;
    for (size_t i = 0; i < value.elements().size(); ++i) {
      // What has no canonical form (NaN, built in code) equals nothing.
      if (Result<std::string> form = CanonicalJson(value.elements()[i]))
        sorted.emplace_back(*std::move(form), i);
    }
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i - 1].first != sorted[i].first) continue;
      const size_t at = sorted[i].second;
      Add(out, value.elements()[at], JsonPathChild(path, at),
          DescribeJson(value.elements()[at]) + " stands twice, first as element " +
              std::to_string(sorted[i - 1].second));
    }
  }

  void CheckObject(const Json& schema, const Json& value, const std::string& path,
                   Findings& out) const {
    const Json* properties = schema.Find("properties");
    const Json* additional = schema.Find("additionalProperties");
    const Json* names = schema.Find("propertyNames");
    CheckCount(schema, value, path, value.members().size(), "Properties", "key", out);
    std::vector<std::string> unknown;
    for (const JsonMember& member : value.members()) {
      if (names) {
        Json name(member.key);
        name.set_line(member.value.line());
        Check(*names, name, path, out);
      }
      const Json* known = properties ? properties->Find(member.key) : nullptr;
      if (known) {
        Check(*known, member.value, JsonPathChild(path, member.key), out);
      } else if (additional && additional->boolean() == false) {
        unknown.push_back(member.key);
        out.push_back(
            {path, member.value.line(),
             "unknown key '" + member.key + "'" + DidYouMean(member.key, Unused(schema, value))});
      } else if (additional) {
        Check(*additional, member.value, JsonPathChild(path, member.key), out);
      }
    }
    CheckRequired(schema, value, path, unknown, out);
  }

  /// Keys the schema names that the value does not have: what a wrong key can have meant.
  static std::vector<std::string> Unused(const Json& schema, const Json& value) {
    std::vector<std::string> out;
    const Json* properties = schema.Find("properties");
    if (!properties) return out;
    for (const JsonMember& m : properties->members()) {
      if (!value.Find(m.key)) out.push_back(m.key);
    }
    return out;
  }

  static void CheckRequired(const Json& schema, const Json& value, const std::string& path,
                            const std::vector<std::string>& unknown, Findings& out) {
    const Json* required = schema.Find("required");
    if (!required) return;
    for (const Json& key : required->elements()) {
      const std::string& name = *key.string();
      if (value.Find(name)) continue;
      // An unknown key that was meant to be this one has been reported with this name already.
      if (!NearestNames(name, unknown, 1).empty()) continue;
      Add(out, value, path, "the key '" + name + "' is missing");
    }
  }

  void CheckCombined(const Json& schema, const Json& value, const std::string& path,
                     Findings& out) const {
    if (const Json* all = schema.Find("allOf")) {
      for (const Json& part : all->elements()) Check(part, value, path, out);
    }
    if (const Json* any = schema.Find("anyOf")) CheckAlternatives(*any, value, path, false, out);
    if (const Json* one = schema.Find("oneOf")) CheckAlternatives(*one, value, path, true, out);
  }

  void CheckAlternatives(const Json& list, const Json& value, const std::string& path,
                         bool exactly_one, Findings& out) const {
    size_t holding = 0;
    Findings best;
    size_t best_rank = std::numeric_limits<size_t>::max();
    for (const Json& option : list.elements()) {
      Findings findings;
      Check(option, value, path, findings);
      if (findings.empty()) ++holding;
      if (findings.empty() && !exactly_one) return;
      // A breach at this very place (wrong type, wrong constant) is worse than many further down.
      size_t rank = findings.size();
      for (const SchemaFinding& f : findings) rank += f.path == path ? 1000 : 0;
      if (!findings.empty() && rank < best_rank) {
        best = std::move(findings);
        best_rank = rank;
      }
    }
    if (holding == 1) return;
    if (holding > 1) {
      Add(out, value, path,
          "fits " + std::to_string(holding) + " of the alternatives, and must fit one only");
      return;
    }
    if (CheckByConstant(list, value, path, out)) return;
    out.insert(out.end(), best.begin(), best.end());
  }

  const Json& Followed(const Json& schema) const {
    const auto to = compiled_.references.find(&schema);
    return to == compiled_.references.end() ? schema : Followed(*to->second);
  }

  /// Where every alternative is an object with a constant under the same key, that key decides:
  /// reports the alternative that it names, or that it names none. False when there is no such key.
  bool CheckByConstant(const Json& list, const Json& value, const std::string& path,
                       Findings& out) const {
    const Json* first = Followed(list.elements().front()).Find("properties");
    if (!first || !value.is_object()) return false;
    for (const JsonMember& candidate : first->members()) {
      std::vector<Json> constants;
      for (const Json& option : list.elements()) {
        const Json* properties = Followed(option).Find("properties");
        const Json* property = properties ? properties->Find(candidate.key) : nullptr;
        const Json* constant = property ? property->Find("const") : nullptr;
        if (constant) constants.push_back(*constant);
      }
      if (constants.size() != list.elements().size()) continue;
      const Json* given = value.Find(candidate.key);
      if (!given) {
        Add(out, value, path, "the key '" + candidate.key + "' is missing");
        return true;
      }
      const auto which = std::find(constants.begin(), constants.end(), *given);
      if (which == constants.end()) {
        Add(out, *given, JsonPathChild(path, candidate.key), NotOneOf(constants, *given));
        CheckAsMeant(list, constants, value, path, candidate.key, out);
      } else {
        Check(list.elements()[static_cast<size_t>(which - constants.begin())], value, path, out);
      }
      return true;
    }
    return false;
  }

  /// The rest of a value whose constant under `key` names no alternative: by the one that it was
  /// meant to name, or else only what none of them knows.
  void CheckAsMeant(const Json& list, const std::vector<Json>& constants, const Json& value,
                    const std::string& path, const std::string& key, Findings& out) const {
    const std::string where = JsonPathChild(path, key);
    const std::string* given = value.Find(key)->string();
    std::vector<std::string> names;
    for (const Json& constant : constants)
      names.push_back(constant.string() ? *constant.string() : "");
    const std::vector<std::string> meant =
        given ? NearestNames(*given, names, 1) : std::vector<std::string>();
    Findings findings;
    if (!meant.empty()) {
      const auto which = std::find(names.begin(), names.end(), meant[0]) - names.begin();
      Check(list.elements()[static_cast<size_t>(which)], value, path, findings);
    } else {
      std::set<std::string> known;
      for (const Json& option : list.elements()) {
        for (const JsonMember& m : Followed(option).Find("properties")->members())
          known.insert(m.key);
      }
      const std::vector<std::string> keys(known.begin(), known.end());
      for (const JsonMember& m : value.members()) {
        if (!known.contains(m.key))
          Add(findings, m.value, path, "unknown key '" + m.key + "'" + DidYouMean(m.key, keys));
      }
    }
    for (SchemaFinding& finding : findings)
      if (finding.path != where) out.push_back(std::move(finding));
  }

  const Schema::Compiled& compiled_;
};

std::vector<SchemaFinding> Schema::Check(const Json& value) const {
  std::vector<SchemaFinding> out;
  SchemaChecker(*compiled_).Check(compiled_->json, value, "", out);
  std::stable_sort(out.begin(), out.end(),
                   [](const SchemaFinding& a, const SchemaFinding& b) { return a.line < b.line; });
  return out;
}

Status Schema::Require(const Json& value, std::string_view source, size_t most) const {
  const std::vector<SchemaFinding> findings = Check(value);
  if (findings.empty()) return {};
  std::string message;
  for (size_t i = 0; i < findings.size() && i < most; ++i) {
    const SchemaFinding& f = findings[i];
    if (i > 0) message += '\n';
    message += source;
    if (f.line > 0) message += (source.empty() ? "line " : ":") + std::to_string(f.line);
    if (!source.empty() || f.line > 0) message += ": ";
    if (!f.path.empty()) message += f.path + ": ";
    message += f.what;
  }
  if (findings.size() > most)
    message += "\nand " + std::to_string(findings.size() - most) + " more";
  return Error{ErrorCode::kInvalid, message};
}

}  // namespace handhold::text

#include "database/text/schema.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>

#include "database/base/names.h"
#include "database/text/json_view.h"
#include "database/text/schema_compiled.h"

namespace handhold::text {
namespace {

enum class Form {
  kAnything,
  kType,
  kList,
  kNames,
  kNumber,
  kCount,
  kFlag,
  kText,
  kSchema,
  kFlagOrSchema,
  kSchemas,
  kSchemaMap
};

struct Keyword {
  std::string_view name;
  Form form;
};

constexpr Keyword kKeywords[] = {
    {"type", Form::kType},
    {"enum", Form::kList},
    {"const", Form::kAnything},
    {"minimum", Form::kNumber},
    {"maximum", Form::kNumber},
    {"exclusiveMinimum", Form::kNumber},
    {"exclusiveMaximum", Form::kNumber},
    {"minLength", Form::kCount},
    {"maxLength", Form::kCount},
    {"pattern", Form::kText},
    {"items", Form::kSchema},
    {"minItems", Form::kCount},
    {"maxItems", Form::kCount},
    {"uniqueItems", Form::kFlag},
    {"properties", Form::kSchemaMap},
    {"required", Form::kNames},
    {"additionalProperties", Form::kFlagOrSchema},
    {"propertyNames", Form::kSchema},
    {"minProperties", Form::kCount},
    {"maxProperties", Form::kCount},
    {"allOf", Form::kSchemas},
    {"anyOf", Form::kSchemas},
    {"oneOf", Form::kSchemas},
    {"$ref", Form::kText},
    {"$defs", Form::kSchemaMap},
    {"$schema", Form::kText},
    {"$id", Form::kText},
    {"$comment", Form::kText},
    {"title", Form::kText},
    {"description", Form::kText},
    {"default", Form::kAnything},
    {"examples", Form::kAnything},
    {"deprecated", Form::kFlag},
};

const std::vector<std::string> kTypes = {"null",   "boolean", "integer", "number",
                                         "string", "array",   "object"};

constexpr double kMaxPatternSize = 10'000;

/// The index of the last character of the bracket expression or interval that begins at `begin`
/// ("[^]a[:digit:]]", "{2,5}"), or `begin` where none is closed.
size_t EndOfBracket(std::string_view pattern, size_t begin) {
  size_t i = begin + 1;
  if (i < pattern.size() && pattern[i] == '^') ++i;
  if (i < pattern.size() && pattern[i] == ']') ++i;
  while (i < pattern.size() && pattern[i] != ']') {
    const bool is_class = pattern[i] == '[' && i + 1 < pattern.size() &&
                          std::string_view(":.=").find(pattern[i + 1]) != pattern.npos;
    const size_t class_end =
        is_class ? pattern.find(std::string{pattern[i + 1], ']'}, i + 2) : pattern.npos;
    i = class_end == pattern.npos ? i + 1 : class_end + 2;
  }
  return i < pattern.size() ? i : begin;
}
size_t EndOfInterval(std::string_view pattern, size_t begin) {
  const size_t end = pattern.find_first_not_of("0123456789,", begin + 1);
  return end != pattern.npos && pattern[end] == '}' ? end : begin;
}

/// The largest number in an interval, "{2,5}": 5; "{2,}": 2.
double LargestCount(std::string_view interval) {
  double largest = 0;
  double count = 0;
  for (const char c : interval) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    count = digit ? std::min(10 * count + (c - '0'), 1e9) : 0;
    largest = std::max(largest, count);
  }
  return largest;
}

/// How many characters a pattern has once its repetitions are written out, which is what regcomp
/// makes of it: "(ab){3}" has 6, "a+" has 2 ("aa*"). Nested repetitions multiply: forty of them, in
/// as many characters, would take all memory. Counts at least what regcomp does; never fails.
double ExpandedSize(std::string_view pattern) {
  std::vector<double> groups = {0};  // the size so far of each open group, outermost first
  double atom = 0;                   // the size of what a repetition would repeat
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const size_t interval_end = c == '{' ? EndOfInterval(pattern, i) : i;
    if (c == '(') {
      groups.push_back(0);
      atom = 0;
    } else if (c == ')' && groups.size() > 1) {
      atom = groups.back() + 1;
      groups.pop_back();
      groups.back() += atom;
    } else if (c == '*' || c == '+' || c == '?' || interval_end > i) {
      const double times = c == '{' ? LargestCount(pattern.substr(i, interval_end - i)) + 1 : 2;
      groups.back() += atom * (times - 1);
      atom *= times;
      i = interval_end;
    } else {
      if (c == '[') i = EndOfBracket(pattern, i);
      if (c == '\\') ++i;
      atom = 1;
      groups.back() += atom;
    }
  }
  return std::accumulate(groups.begin(), groups.end(), 0.0);
}

/// Walks a schema once: every keyword known and well-formed, references and patterns resolved.
class Compiler {
 public:
  Compiler(const Json& root, std::map<const Json*, const Json*>& references,
           std::map<const Json*, RegexPtr>& patterns)
      : root_(root), references_(references), patterns_(patterns) {}

  Status Walk(const JsonView& schema) {
    if (schema.value().boolean()) return {};
    if (!schema.value().is_object()) return schema.Fail("a schema is an object, true or false");
    schemas_.insert(&schema.value());
    HANDHOLD_ASSIGN(const auto members, schema.Members());
    for (const auto& member : members) {
      const std::string& name = member.first;
      const JsonView& value = member.second;
      const auto* keyword = std::find_if(std::begin(kKeywords), std::end(kKeywords),
                                         [&](const Keyword& k) { return k.name == name; });
      if (keyword == std::end(kKeywords)) {
        std::vector<std::string> known;
        for (const Keyword& k : kKeywords) known.emplace_back(k.name);
        return schema.Fail("unknown or unsupported keyword '" + name + "'" +
                           DidYouMean(name, known));
      }
      HANDHOLD_TRY(CheckForm(keyword->form, value));
    }
    if (schema.Has("pattern")) HANDHOLD_TRY(CompilePattern(schema));
    if (schema.Has("$ref")) HANDHOLD_TRY(Resolve(schema));
    return {};
  }

  /// After Walk: every reference must lead to something that is itself a schema, and following
  /// references without going down into a value must end.
  Status CheckReferences(const JsonView& root) const {
    for (const auto& [from, to] : references_) {
      if (!to->boolean() && !schemas_.contains(to))
        return root.Fail("a $ref at line " + std::to_string(from->line()) +
                         " does not name a schema");
    }
    std::set<const Json*> done;
    for (const Json* schema : schemas_) {
      std::set<const Json*> open;
      if (!Ends(*schema, open, done)) {
        return root.Fail("the $ref at line " + std::to_string(schema->line()) +
                         " leads back to itself");
      }
    }
    return {};
  }

 private:
  Status CheckForm(Form form, const JsonView& value) {
    switch (form) {
      case Form::kAnything:
        return {};
      case Form::kType:
        return CheckType(value);
      case Form::kList:
        return Nothing(value.Items());
      case Form::kNames:
        return Nothing(value.As<std::vector<std::string>>());
      case Form::kNumber:
        return Nothing(value.As<double>());
      case Form::kCount: {
        HANDHOLD_ASSIGN(const int64_t count, value.As<int64_t>());
        if (count < 0) return value.Fail("a count may not be negative");
        return {};
      }
      case Form::kFlag:
        return Nothing(value.As<bool>());
      case Form::kText:
        return Nothing(value.As<std::string>());
      case Form::kSchema:
      case Form::kFlagOrSchema:
        return Walk(value);
      case Form::kSchemas: {
        HANDHOLD_ASSIGN(const auto items, value.Items());
        if (items.empty()) return value.Fail("at least one alternative is needed");
        for (const JsonView& item : items) HANDHOLD_TRY(Walk(item));
        return {};
      }
      case Form::kSchemaMap: {
        HANDHOLD_ASSIGN(const auto members, value.Members());
        for (const auto& [name, member] : members) HANDHOLD_TRY(Walk(member));
        return {};
      }
    }
    return {};
  }

  template <typename T>
  static Status Nothing(const Result<T>& result) {
    if (!result) return result.error();
    return {};
  }

  static Status CheckType(const JsonView& value) {
    std::vector<std::string> names;
    if (const std::string* name = value.value().string()) {
      names.push_back(*name);
    } else {
      HANDHOLD_ASSIGN(names, value.As<std::vector<std::string>>());
    }
    for (const std::string& name : names) {
      if (std::find(kTypes.begin(), kTypes.end(), name) == kTypes.end()) {
        return value.Fail("unknown type '" + name + "'" + DidYouMean(name, kTypes));
      }
    }
    return {};
  }

  Status CompilePattern(const JsonView& schema) {
    HANDHOLD_ASSIGN(const std::string pattern, schema.Get<std::string>("pattern"));
    // What ECMA-262 and POSIX read differently is refused rather than misread.
    for (size_t i = 0; i + 1 < pattern.size(); ++i) {
      const bool escape =
          pattern[i] == '\\' && std::isalnum(static_cast<unsigned char>(pattern[i + 1]));
      if (escape || pattern.substr(i, 2) == "(?") {
        return schema.Fail("the pattern " + QuoteJson(pattern) + " uses '" + pattern.substr(i, 2) +
                           "', which is not supported");
      }
      if (pattern[i] == '\\') ++i;
    }
    if (ExpandedSize(pattern) > kMaxPatternSize) {
      return schema.Fail("the pattern " + QuoteJson(pattern) +
                         " repeats repetitions too often; write it with fewer nested '+', '*' "
                         "or '{n}'");
    }
    auto regex = std::make_unique<regex_t>();
    if (const int code = regcomp(regex.get(), pattern.c_str(), REG_EXTENDED | REG_NOSUB);
        code != 0) {
      char reason[128];
      regerror(code, regex.get(), reason, sizeof reason);
      return schema.Fail("the pattern " + QuoteJson(pattern) +
                         " is not a regular expression: " + reason);
    }
    patterns_.emplace(&schema.value(), RegexPtr(regex.release()));
    return {};
  }

  Status Resolve(const JsonView& schema) {
    HANDHOLD_ASSIGN(const JsonView view, schema.At("$ref"));
    HANDHOLD_ASSIGN(const std::string reference, view.As<std::string>());
    static constexpr std::string_view kPrefix = "#/$defs/";
    const Json* defs = root_.Find("$defs");
    const Json* target = nullptr;
    if (reference == "#") {
      target = &root_;
    } else if (reference.starts_with(kPrefix) && defs) {
      target = defs->Find(std::string_view(reference).substr(kPrefix.size()));
    }
    if (!target) {
      std::vector<std::string> known = {"#"};
      if (defs) {
        for (const JsonMember& m : defs->members()) known.push_back(std::string(kPrefix) + m.key);
      }
      return view.Fail("no such definition: '" + reference + "'" + DidYouMean(reference, known));
    }
    references_[&schema.value()] = target;
    return {};
  }

  bool Ends(const Json& schema, std::set<const Json*>& open, std::set<const Json*>& done) const {
    if (done.contains(&schema)) return true;
    if (!open.insert(&schema).second) return false;
    if (const auto reference = references_.find(&schema); reference != references_.end()) {
      if (!Ends(*reference->second, open, done)) return false;
    }
    for (const char* alternatives : {"allOf", "anyOf", "oneOf"}) {
      const Json* list = schema.Find(alternatives);
      if (!list) continue;
      for (const Json& item : list->elements()) {
        if (!Ends(item, open, done)) return false;
      }
    }
    open.erase(&schema);
    done.insert(&schema);
    return true;
  }

  const Json& root_;
  std::map<const Json*, const Json*>& references_;
  std::map<const Json*, RegexPtr>& patterns_;
  std::set<const Json*> schemas_;
};

}  // namespace

Result<Schema> Schema::Parse(Json schema, const std::string& source) {
  auto compiled = std::make_shared<Compiled>();
  compiled->json = std::move(schema);
  const JsonView root(compiled->json, source);
  Compiler compiler(compiled->json, compiled->references, compiled->patterns);
  HANDHOLD_TRY(compiler.Walk(root));
  HANDHOLD_TRY(compiler.CheckReferences(root));
  return Schema(std::move(compiled));
}

Result<Schema> Schema::Read(const std::filesystem::path& path) {
  HANDHOLD_ASSIGN(Json json, ReadJsonFile(path));
  return Parse(std::move(json), path.string());
}

const Json& Schema::json() const { return compiled_->json; }

}  // namespace handhold::text

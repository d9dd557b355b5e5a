#include "database/store/query_plan.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "database/base/names.h"
#include "database/store/indexer.h"
#include "database/store/signal.h"

namespace handhold::store {
namespace {

enum class FieldType { kText, kNumber, kTime, kDate, kFlag };
struct FieldInfo {
  std::string_view name;
  Field field;
  FieldType type;
  bool of_event = false;  ///< asks about the row's event
  int cost = 0;
};

constexpr FieldInfo kFields[] = {
    {"id", Field::kId, FieldType::kText},
    {"name", Field::kName, FieldType::kText},
    {"subject", Field::kSubject, FieldType::kText},
    {"session", Field::kSession, FieldType::kText},
    {"task", Field::kTask, FieldType::kText},
    {"prop", Field::kProp, FieldType::kText},
    {"tag", Field::kTag, FieldType::kText, false, 1},
    {"label", Field::kLabel, FieldType::kText, false, 1},
    {"stream", Field::kStream, FieldType::kText, false, 1},
    {"marker", Field::kMarker, FieldType::kText, false, 1},
    {"channel", Field::kChannel, FieldType::kText, false, 1},
    {"text", Field::kText, FieldType::kText, false, 1},
    {"date", Field::kDate, FieldType::kDate},
    {"duration", Field::kDuration, FieldType::kTime},
    {"rating", Field::kRating, FieldType::kNumber, false, 1},
    {"unrated", Field::kUnrated, FieldType::kFlag, false, 1},
    {"withdrawn", Field::kWithdrawn, FieldType::kFlag, false, 1},
    {"take", Field::kTake, FieldType::kNumber},
    {"gaps", Field::kGaps, FieldType::kNumber},
    {"lost", Field::kLost, FieldType::kNumber},
    {"red", Field::kRed, FieldType::kNumber},
    {"contacts", Field::kContacts, FieldType::kNumber, false, 1},
    {"contact_time", Field::kContactTime, FieldType::kTime, false, 1},
    {"closed", Field::kClosed, FieldType::kFlag},
    {"keep", Field::kKeep, FieldType::kFlag},
    {"event_time", Field::kEventTime, FieldType::kTime, true},
    {"event_length", Field::kEventLength, FieldType::kTime, true},
    {"event_text", Field::kEventText, FieldType::kText, true},
    {"origin", Field::kOrigin, FieldType::kText, true},
};

const FieldInfo* FindField(std::string_view name) {
  for (const FieldInfo& field : kFields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

constexpr std::pair<std::string_view, Measure::Function> kFunctions[] = {
    {"peak", Measure::Function::kPeak},        {"max", Measure::Function::kPeak},
    {"min", Measure::Function::kMin},          {"mean", Measure::Function::kMean},
    {"rms", Measure::Function::kRms},          {"range", Measure::Function::kRange},
    {"occluded", Measure::Function::kMissing}, {"missing", Measure::Function::kMissing},
    {"count", Measure::Function::kCount},      {"quality", Measure::Function::kQuality},
    {"compliance", Measure::Function::kPeak},
};

/// The span of UTC that a date literal names: a day, a minute or a second. False: no such date.
bool DateSpan(const std::string& text, Timestamp& begin, Timestamp& end) {
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  const int got = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &y, &mo, &d, &h, &mi, &s);
  std::tm tm{};
  tm.tm_year = y - 1900;
  tm.tm_mon = mo - 1;
  tm.tm_mday = d;
  tm.tm_hour = h;
  tm.tm_min = mi;
  tm.tm_sec = s;
  const std::tm asked = tm;
  const std::time_t seconds = ::timegm(&tm);
  if (got < 3 || y < 1678 || y > 2261 || tm.tm_mon != asked.tm_mon || tm.tm_mday != asked.tm_mday ||
      tm.tm_hour != asked.tm_hour || tm.tm_min != asked.tm_min || tm.tm_sec != asked.tm_sec)
    return false;
  begin = Timestamp::FromNanoseconds(static_cast<int64_t>(seconds) * 1'000'000'000);
  end = begin + Duration::Seconds(got < 4 ? 86'400 : got < 6 ? 60 : 1);
  return true;
}

/// "vicon/markers" -> "vicon_markers": what may stand in a column's name.
std::string Key(std::string_view text) {
  std::string key;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      key += c;
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  while (!key.empty() && key.back() == '_') key.pop_back();
  return key;
}

class Planner {
 public:
  Planner(std::string_view text, const Database& catalogue) : catalogue_(catalogue) {
    plan_.text = text;
  }

  Result<QueryPlan> Plan() {
    HANDHOLD_ASSIGN(const QuerySyntax syntax, ParseQuery(plan_.text));
    HANDHOLD_TRY(ChooseRows(syntax));
    HANDHOLD_ASSIGN(plan_.root, Node(syntax.condition, nullptr));
    NameColumns();
    return std::move(plan_);
  }

 private:
  Error Wrong(size_t at, const std::string& what) const { return QueryError(plan_.text, at, what); }

  Result<std::vector<std::string>> Texts(std::string_view sql, const std::string& argument = "") {
    std::vector<std::string> texts;
    HANDHOLD_ASSIGN(Statement get, catalogue_.Prepare(sql));
    if (!argument.empty()) get.Bind(1, argument);
    HANDHOLD_TRY(get.ForEach([&](Statement& row) -> Status {
      texts.push_back(row.String(0));
      return {};
    }));
    return texts;
  }
  Result<bool> Exists(std::string_view sql, const std::string& argument) {
    HANDHOLD_ASSIGN(Statement get, catalogue_.Prepare(sql));
    get.Bind(1, argument);
    return get.Step();
  }

  // ---- events and rows

  static bool IsContact(const std::string& kind) {
    return kind == "contact_on" || kind == "contact_off";
  }
  Result<bool> KnownKind(const std::string& kind) {
    if (IsContact(kind)) return true;
    return Exists("SELECT 1 FROM event WHERE kind=?1 LIMIT 1", kind);
  }
  Result<std::vector<std::string>> EventKinds() {
    HANDHOLD_ASSIGN(std::vector<std::string> kinds, Texts("SELECT DISTINCT kind FROM event"));
    for (const char* kind : {"contact_on", "contact_off"}) {
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.emplace_back(kind);
    }
    return kinds;
  }

  Result<EventRef> Event(const EventSyntax& event) {
    HANDHOLD_ASSIGN(const bool known, KnownKind(event.kind.text));
    if (!known) {
      HANDHOLD_ASSIGN(const std::vector<std::string> kinds, EventKinds());
      return Wrong(event.kind.at, "the library has no event '" + event.kind.text + "'" +
                                      DidYouMean(event.kind.text, kinds));
    }
    EventRef ref{event.kind.text, event.origin.text};
    if (ref.origin.empty() && IsContact(ref.kind)) ref.origin = "indexer";
    if (!event.origin.text.empty()) {
      HANDHOLD_ASSIGN(const std::vector<std::string> origins,
                      Texts("SELECT DISTINCT origin FROM event WHERE kind=?1", ref.kind));
      const bool indexed = ref.origin == "indexer" && IsContact(ref.kind);  // also before the first
      if (!indexed && std::find(origins.begin(), origins.end(), ref.origin) == origins.end())
        return Wrong(event.origin.at, "nobody called '" + ref.origin + "' says '" + ref.kind + "'" +
                                          DidYouMean(ref.origin, origins));
    }
    return ref;
  }

  /// Without "where", the rows are the events that the conditions speak of, when they all speak of
  /// the same; else clips.
  static void CollectAnchors(const SyntaxNode& node, std::vector<const EventSyntax*>& anchors) {
    const bool flag = node.kind == SyntaxNode::Kind::kName && FindField(node.operand.text);
    if (!node.events.empty() && !flag) anchors.push_back(&node.events.front());
    for (const SyntaxNode& child : node.children) CollectAnchors(child, anchors);
  }

  Status ChooseRows(const QuerySyntax& syntax) {
    if (syntax.rows) return NamedRows(*syntax.rows);
    std::vector<const EventSyntax*> anchors;
    CollectAnchors(syntax.condition, anchors);
    std::optional<EventRef> rows;
    for (const EventSyntax* anchor : anchors) {
      HANDHOLD_ASSIGN(const EventRef ref, Event(*anchor));
      if (rows && *rows != ref) return {};
      rows = ref;
    }
    plan_.rows = rows;
    return {};
  }

  Status NamedRows(const Word& word) {
    if (word.text == "clips") return {};
    if (word.text == "events") {
      plan_.rows = EventRef{};
      return {};
    }
    if (word.text == "contacts") {
      plan_.rows = EventRef{"contact_on", "indexer"};
      return {};
    }
    std::string kind = word.text;
    HANDHOLD_ASSIGN(bool known, KnownKind(kind));
    if (!known && kind.size() > 1 && kind.back() == 's') {
      kind.pop_back();
      HANDHOLD_ASSIGN(known, KnownKind(kind));
    }
    if (!known) {
      HANDHOLD_ASSIGN(std::vector<std::string> kinds, EventKinds());
      for (std::string& name : kinds) name += IsContact(name) ? "" : "s";
      kinds.insert(kinds.begin(), {"clips", "events", "contacts"});
      return Wrong(word.at, "there are no rows '" + word.text + "'" + DidYouMean(word.text, kinds));
    }
    plan_.rows = EventRef{kind, IsContact(kind) ? "indexer" : ""};
    return {};
  }

  // ---- the tree

  Result<PlanNode> Node(const SyntaxNode& syntax, const PlanNode* window) {
    switch (syntax.kind) {
      case SyntaxNode::Kind::kAnd:
      case SyntaxNode::Kind::kOr:
      case SyntaxNode::Kind::kNot: {
        PlanNode node;
        node.kind = syntax.kind == SyntaxNode::Kind::kAnd  ? PlanNode::Kind::kAnd
                    : syntax.kind == SyntaxNode::Kind::kOr ? PlanNode::Kind::kOr
                                                           : PlanNode::Kind::kNot;
        for (const SyntaxNode& child : syntax.children) {
          HANDHOLD_ASSIGN(PlanNode checked, Node(child, window));
          node.cost = std::max(node.cost, checked.cost);
          node.children.push_back(std::move(checked));
        }
        // What is cheap to ask is asked first; truth does not depend on the order.
        std::stable_sort(node.children.begin(), node.children.end(),
                         [](const PlanNode& a, const PlanNode& b) { return a.cost < b.cost; });
        return node;
      }
      case SyntaxNode::Kind::kWithin:
        return Within(syntax, window);
      case SyntaxNode::Kind::kTest:
        if (syntax.hold) return Held(syntax, window);
        return syntax.is_call ? Call(syntax, window) : FieldTest(syntax);
      case SyntaxNode::Kind::kName:
        return Name(syntax);
      case SyntaxNode::Kind::kPattern:
        return Pattern(syntax);
    }
    return Error{};
  }

  Result<PlanNode> Within(const SyntaxNode& syntax, const PlanNode* window) {
    if (window != nullptr) return Wrong(syntax.at, "a 'within' inside another 'within'");
    PlanNode node;
    node.kind = PlanNode::Kind::kWithin;
    node.side = syntax.side;
    HANDHOLD_ASSIGN(const Duration length, Length(syntax.values.front()));
    node.lengths.push_back(length);
    HANDHOLD_ASSIGN(EventRef event, Event(syntax.events.front()));
    node.events.push_back(std::move(event));
    const PlanNode shell = node;
    HANDHOLD_ASSIGN(PlanNode child, Node(syntax.children.front(), &shell));
    node.cost = std::max(1, child.cost);
    node.children.push_back(std::move(child));
    return node;
  }

  Result<PlanNode> Pattern(const SyntaxNode& syntax) {
    PlanNode node;
    node.kind = PlanNode::Kind::kPattern;
    node.cost = 1;
    for (const EventSyntax& event : syntax.events) {
      HANDHOLD_ASSIGN(EventRef ref, Event(event));
      node.events.push_back(std::move(ref));
    }
    for (const ValueSyntax& value : syntax.values) {
      HANDHOLD_ASSIGN(const Duration length, Length(value));
      node.lengths.push_back(length);
    }
    return node;
  }

  Result<PlanNode> Name(const SyntaxNode& syntax) {
    const std::string& name = syntax.operand.text;
    PlanNode node;
    if (const FieldInfo* field = FindField(name)) {
      if (field->type != FieldType::kFlag)
        return Wrong(syntax.at,
                     "'" + name + "' wants a comparison, as in '" + Example(*field) + "'");
      node.kind = PlanNode::Kind::kField;
      node.field = field->field;
      node.cost = field->cost;
      plan_.asks_withdrawn = plan_.asks_withdrawn || field->field == Field::kWithdrawn;
      return node;
    }
    HANDHOLD_ASSIGN(const bool known, KnownKind(name));
    if (!known) {
      HANDHOLD_ASSIGN(std::vector<std::string> names, EventKinds());
      for (const FieldInfo& f : kFields) names.emplace_back(f.name);
      return Wrong(syntax.at, "'" + name + "' is no field and no event of this library" +
                                  DidYouMean(name, names));
    }
    node.kind = PlanNode::Kind::kHasEvent;
    node.cost = 1;
    HANDHOLD_ASSIGN(EventRef ref, Event(syntax.events.front()));
    node.events.push_back(std::move(ref));
    return node;
  }

  static std::string Example(const FieldInfo& field) {
    std::string name(field.name);
    switch (field.type) {
      case FieldType::kText:
        return name + (field.field == Field::kText ? " ~ \"thumb slipped\"" : " = ...");
      case FieldType::kNumber:
        return name + " >= 3";
      case FieldType::kTime:
        return name + " > 2 s";
      case FieldType::kDate:
        return name + " >= 2026-11-18";
      case FieldType::kFlag:
        return name;
    }
    return name;
  }

  Result<PlanNode> FieldTest(const SyntaxNode& syntax) {
    const std::string& name = syntax.operand.text;
    PlanNode node;
    node.kind = PlanNode::Kind::kField;
    node.op = syntax.op;
    static constexpr std::string_view kProperty = "property.";
    static constexpr FieldInfo kPropertyField{"property", Field::kProperty, FieldType::kText, false,
                                              1};
    const FieldInfo* field = FindField(name);
    if (name.substr(0, kProperty.size()) == kProperty) {
      field = &kPropertyField;
      node.key = name.substr(kProperty.size());
      HANDHOLD_ASSIGN(const std::vector<std::string> keys,
                      Texts("SELECT DISTINCT key FROM clip_property"));
      if (std::find(keys.begin(), keys.end(), node.key) == keys.end())
        return Wrong(syntax.operand.at,
                     "no clip has a property '" + node.key + "'" + DidYouMean(node.key, keys));
    }
    if (field == nullptr) {
      std::vector<std::string> names;
      for (const FieldInfo& f : kFields) names.emplace_back(f.name);
      for (const auto& f : kFunctions) {
        if (f.first == name)
          return Wrong(syntax.operand.at,
                       "'" + name + "' wants a channel, as in '" + name + "(normal_force) > 5 N'");
      }
      return Wrong(syntax.operand.at, "unknown field '" + name + "'" + DidYouMean(name, names));
    }
    node.field = field->field;
    node.cost = field->cost;
    if (field->of_event && !plan_.rows)
      return Wrong(syntax.operand.at, "'" + name +
                                          "' asks about an event, but the rows are clips: begin "
                                          "with 'contacts where' or 'events where'");
    if (field->type == FieldType::kFlag)
      return Wrong(syntax.operand.at,
                   "'" + name + "' is true or false: write '" + name + "' or 'not " + name + "'");
    for (const ValueSyntax& value : syntax.values) HANDHOLD_TRY(FieldValue(*field, value, node));
    return node;
  }

  Status FieldValue(const FieldInfo& field, const ValueSyntax& value, PlanNode& node) {
    const auto wants = [&](const std::string& what) {
      return Wrong(value.at, "'" + std::string(field.name) + "' is compared with " + what +
                                 ", as in '" + Example(field) + "'");
    };
    switch (field.type) {
      case FieldType::kText: {
        const bool exact = node.op == Operator::kEqual || node.op == Operator::kNotEqual;
        if (field.field == Field::kText ? node.op != Operator::kMatches
                                        : !exact && node.op != Operator::kMatches)
          return Wrong(value.at, "'" + std::string(field.name) + "' is text: compare it with " +
                                     (field.field == Field::kText ? "'~'" : "'=', '!=' or '~'"));
        if (value.kind != ValueSyntax::Kind::kText) return wants("text (in quotes)");
        node.texts.push_back(value.text.text);
        return {};
      }
      case FieldType::kDate:
        if (value.kind != ValueSyntax::Kind::kDate ||
            !DateSpan(value.text.text, node.date_begin, node.date_end))
          return wants("a date (UTC)");
        break;
      case FieldType::kNumber:
      case FieldType::kTime: {
        if (value.kind != ValueSyntax::Kind::kQuantity)
          return wants(field.type == FieldType::kTime ? "a time" : "a number");
        HANDHOLD_ASSIGN(
            const double number,
            Quantity(value, field.type == FieldType::kTime ? Dimension::kTime : Dimension::kNumber,
                     std::string(field.name)));
        node.numbers.push_back(number);
        break;
      }
      case FieldType::kFlag:
        break;
    }
    if (node.op == Operator::kMatches) return Wrong(value.at, "'~' is for text");
    return {};
  }

  // ---- quantities

  Result<const Unit*> KnownUnit(const ValueSyntax& value) {
    const Unit* unit = FindUnit(value.unit.text);
    if (unit == nullptr)
      return Wrong(value.unit.at, "unknown unit '" + value.unit.text + "'" +
                                      DidYouMean(value.unit.text, UnitNames()));
    return unit;
  }

  Result<double> Quantity(const ValueSyntax& value, Dimension wanted, const std::string& of) {
    HANDHOLD_ASSIGN(const Unit* unit, KnownUnit(value));
    if (unit->dimension != wanted) {
      const std::string is = "'" + of + "' is " + std::string(DimensionName(wanted));
      if (value.unit.text.empty())
        return Wrong(value.at, is + ": name its unit, as in '" + Shown(value.number) + " " +
                                   std::string(SiUnit(wanted)) + "'");
      return Wrong(value.unit.at, is + ", but '" + value.unit.text + "' is a unit of " +
                                      std::string(DimensionName(unit->dimension)));
    }
    return ToSi(value.number, *unit);
  }

  Result<Duration> Length(const ValueSyntax& value) {
    HANDHOLD_ASSIGN(const double seconds, Quantity(value, Dimension::kTime, "within"));
    (void)seconds;
    if (value.number < 0) return Wrong(value.at, "a window is not negative");
    const Result<int64_t> ns = ToNanoseconds(value.number, *FindUnit(value.unit.text));
    if (!ns) return Wrong(value.at, ns.error().message);
    return Duration::Nanoseconds(*ns);
  }

  static std::string Shown(const EventSyntax& argument) {
    return argument.kind.text + (argument.of.text.empty() ? "" : "(" + argument.of.text + ")");
  }
  static std::string Shown(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
  }

  // ---- measures

  Result<PlanNode> Call(const SyntaxNode& syntax, const PlanNode* window) {
    const std::string& name = syntax.operand.text;
    Measure measure;
    bool known = false;
    std::vector<std::string> names;
    for (const auto& [text, function] : kFunctions) {
      names.emplace_back(text);
      if (text != name) continue;
      measure.function = function;
      known = true;
    }
    if (!known && ParseResultQuantity(name))
      return Wrong(syntax.operand.at, "'" + name +
                                          "' changes over time: ask for its peak, as in 'peak(" +
                                          name + "(...)) > ...', or how long it holds, with 'for'");
    if (!known)
      return Wrong(syntax.operand.at, "unknown function '" + name + "'" + DidYouMean(name, names));
    const bool compliance = name == "compliance";
    const bool quality = measure.function == Measure::Function::kQuality;
    if (syntax.arguments.size() > (quality ? 2u : 1u))
      return Wrong(syntax.arguments.back().kind.at, "'" + name + "' has too many arguments");
    const ValueSyntax& value = syntax.values.front();
    if (syntax.op == Operator::kMatches)
      return Wrong(value.at, "'~' is for text; '" + name + "' answers a number");
    if (value.kind != ValueSyntax::Kind::kQuantity)
      return Wrong(value.at, "'" + name + "' is compared with a number and its unit");
    measure.label = name + "(";
    for (size_t i = 0; i < syntax.arguments.size(); ++i)
      measure.label += (i == 0 ? "" : ", ") + Shown(syntax.arguments[i]);
    measure.label += ")";

    PlanNode node;
    node.kind = PlanNode::Kind::kMeasure;
    node.op = syntax.op;
    node.cost = measure.function == Measure::Function::kCount || quality ? 1 : 2;
    if (measure.function == Measure::Function::kCount) {
      if (!syntax.arguments.front().of.text.empty())
        return Wrong(syntax.arguments.front().of.at, "'count' takes an event");
      HANDHOLD_ASSIGN(measure.event, Event(syntax.arguments.front()));
    } else {
      for (const EventSyntax& argument : syntax.arguments) {
        if (!argument.origin.text.empty())
          return Wrong(argument.origin.at, "'by' belongs to events, not to channels");
        if (!argument.of.text.empty() && (quality || compliance))
          return Wrong(argument.of.at, "'" + name + "' takes a plain name");
      }
      const Word& first = syntax.arguments.front().kind;
      const Word& of = syntax.arguments.front().of;
      HANDHOLD_TRY(quality      ? FindQuality(syntax, measure)
                   : compliance ? SetResult(ResultQuantity::kCompliance, first.text, value, measure)
                   : !of.text.empty() ? FindResultSignal(first, of, value, measure)
                                      : FindChannel(first, value, measure));
    }
    if (measure.function == Measure::Function::kMissing && value.unit.text.empty() &&
        value.number != 0.0) {
      return Wrong(value.at, "'" + measure.label + "' is a share: name its unit, as in '" +
                                 Shown(value.number) + " %'");
    }
    HANDHOLD_ASSIGN(const double number, Quantity(value, measure.dimension, measure.label));
    node.numbers.push_back(number);
    node.measure = plan_.measures.size();
    // Who asks in degrees thinks in degrees; all else is answered in SI.
    const bool turns =
        measure.dimension == Dimension::kAngle || measure.dimension == Dimension::kCompliance;
    plan_.measures.push_back({.measure = std::move(measure), .key = ""});
    if (turns) plan_.measures.back().unit = FindUnit(value.unit.text);
    if (window != nullptr) plan_.measures.back().window = *window;
    return node;
  }

  /// "normal_force > 2 N for 0.5 s": as a measure, the longest time for which it holds.
  Result<PlanNode> Held(const SyntaxNode& syntax, const PlanNode* window) {
    const ValueSyntax& value = syntax.values.front();
    const bool result =
        syntax.is_call && ParseResultQuantity(syntax.operand.text) && syntax.arguments.size() == 1;
    if (syntax.is_call && !result)
      return Wrong(syntax.operand.at,
                   "'for' wants a channel, as in 'normal_force > 2 N for 0.5 s'");
    const std::string channel =
        result ? Shown({syntax.operand, {}, syntax.arguments.front().kind}) : syntax.operand.text;
    if (value.kind != ValueSyntax::Kind::kQuantity || syntax.op == Operator::kMatches)
      return Wrong(value.at,
                   "'" + syntax.operand.text + "' is compared with a number and its unit");
    Measure measure;
    measure.function = Measure::Function::kHeld;
    HANDHOLD_TRY(
        result ? FindResultSignal(syntax.operand, syntax.arguments.front().kind, value, measure)
               : FindChannel(syntax.operand, value, measure));
    HANDHOLD_ASSIGN(measure.held_value, Quantity(value, measure.dimension, channel));
    measure.held_op = syntax.op;
    measure.held_dimension = measure.dimension;
    measure.dimension = Dimension::kTime;
    measure.label = "held(" + channel + ")";
    PlanNode node;
    node.kind = PlanNode::Kind::kMeasure;
    node.op = Operator::kAtLeast;
    node.cost = 2;
    HANDHOLD_ASSIGN(const double least_s, Quantity(*syntax.hold, Dimension::kTime, "for"));
    node.numbers.push_back(least_s);
    node.measure = plan_.measures.size();
    plan_.measures.push_back({.measure = std::move(measure), .key = ""});
    if (window != nullptr) plan_.measures.back().window = *window;
    return node;
  }

  Status FindQuality(const SyntaxNode& syntax, Measure& measure) {
    const Word& what = syntax.arguments.back().kind;
    measure.quality = what.text;
    if (syntax.arguments.size() == 2) measure.source = syntax.arguments.front().kind.text;
    HANDHOLD_ASSIGN(const std::vector<std::string> known,
                    Texts("SELECT DISTINCT what FROM clip_quality"));
    if (std::find(known.begin(), known.end(), what.text) == known.end())
      return Wrong(what.at,
                   "no clip has the quality '" + what.text + "'" + DidYouMean(what.text, known));
    // The names of quality items end in their unit (database/recording/quality.h).
    const auto ends = [&](std::string_view suffix) {
      return what.text.size() > suffix.size() &&
             what.text.compare(what.text.size() - suffix.size(), suffix.size(), suffix) == 0;
    };
    measure.dimension = ends("_s")    ? Dimension::kTime
                        : ends("_Hz") ? Dimension::kFrequency
                                      : Dimension::kNumber;
    return {};
  }

  /// A calibrated channel by name: "normal_force", "plate.fx".
  Result<bool> FindSensorChannel(const std::string& name, Measure& measure) {
    const size_t dot = name.rfind('.');
    const std::string channel = dot == std::string::npos ? name : name.substr(dot + 1);
    for (int k = 0; k < kSensorZones; ++k) {
      if (channel != SensorChannelName(k)) continue;
      measure.sensor_channel = k;
      measure.dimension = FindUnit(SensorChannelUnit(k))->dimension;
      measure.target = Measure::Target::kSensors;
      if (dot == std::string::npos) return true;
      measure.target = Measure::Target::kSensor;
      measure.source = name.substr(0, dot);
      return Exists("SELECT 1 FROM clip_zone WHERE sensor=?1 LIMIT 1", measure.source);
    }
    return false;
  }

  /// "RIFT.speed", "RIFT.to.RTHT": of a marker or body that some clip has.
  Result<bool> FindDerived(Measure& measure) {
    static constexpr std::string_view kSpeed = ".speed", kTo = ".to.";
    const std::string name = measure.channel;
    const size_t to = name.find(kTo);
    if (to != std::string::npos) {
      measure.derived = Derived::kDistance;
      measure.dimension = Dimension::kLength;
      measure.channel = name.substr(0, to) + ".x";
      measure.other = name.substr(to + kTo.size()) + ".x";
    } else if (name.ends_with(kSpeed)) {
      measure.derived = Derived::kSpeed;
      measure.dimension = Dimension::kSpeed;
      measure.channel = name.substr(0, name.size() - kSpeed.size()) + ".x";
    }
    if (measure.derived != Derived::kNone) {
      static constexpr char kThere[] =
          "SELECT 1 FROM clip_channel c JOIN clip_stream s ON s.clip=c.clip AND s.stream=c.stream "
          "WHERE c.name=?1 AND s.kind IN ('markers', 'poses') LIMIT 1";
      HANDHOLD_ASSIGN(bool there, Exists(kThere, measure.channel));
      if (there && !measure.other.empty()) {
        HANDHOLD_ASSIGN(there, Exists(kThere, measure.other));
      }
      if (there) return true;
    }
    measure.derived = Derived::kNone;
    measure.channel = name;
    measure.other.clear();
    return false;
  }

  /// "angle(R.index.pip.flex)". Whether any clip has it, only its results tell: no check here.
  Status FindResultSignal(const Word& word, const Word& of, const ValueSyntax& value,
                          Measure& measure) {
    const std::string& name = word.text;
    const std::optional<ResultQuantity> quantity = ParseResultQuantity(name);
    if (!quantity || *quantity == ResultQuantity::kCompliance) {
      std::vector<std::string> names;
      for (const ResultQuantity known : kResultQuantities)
        if (known != ResultQuantity::kCompliance) names.emplace_back(ResultQuantityName(known));
      return Wrong(word.at, "no result has a '" + name + "' over time" + DidYouMean(name, names));
    }
    if (measure.function == Measure::Function::kMissing)
      return Wrong(word.at, "results have no samples that are missing");
    return SetResult(*quantity, of.text, value, measure);
  }

  Status SetResult(ResultQuantity quantity, const std::string& name, const ValueSyntax& value,
                   Measure& measure) {
    HANDHOLD_ASSIGN(const Unit* unit, KnownUnit(value));
    const auto either = [&](Dimension usual, Dimension of_place) {
      return unit->dimension == of_place ? of_place : usual;
    };
    measure.target = Measure::Target::kResult;
    measure.result = quantity;
    measure.channel = name;
    measure.dimension =
        quantity == ResultQuantity::kAngle          ? either(Dimension::kAngle, Dimension::kLength)
        : quantity == ResultQuantity::kTorque       ? either(Dimension::kTorque, Dimension::kForce)
        : quantity == ResultQuantity::kContactForce ? Dimension::kForce
                                                    : Dimension::kCompliance;
    return {};
  }

  Status FindChannel(const Word& word, const ValueSyntax& value, Measure& measure) {
    const bool missing = measure.function == Measure::Function::kMissing;
    if (!missing) {
      HANDHOLD_ASSIGN(const bool sensor, FindSensorChannel(word.text, measure));
      if (sensor) return {};
    }
    measure.target = Measure::Target::kChannel;
    measure.source.clear();
    measure.channel = word.text;
    if (const size_t colon = word.text.rfind(':'); colon != std::string::npos) {
      measure.source = word.text.substr(0, colon);
      measure.channel = word.text.substr(colon + 1);
    }
    HANDHOLD_ASSIGN(std::vector<std::string> units, UnitsOf(measure));
    if (units.empty() && missing) {
      // A marker or body: it is missing when its first channel is.
      HANDHOLD_ASSIGN(Statement first,
                      catalogue_.Prepare("SELECT name FROM clip_channel WHERE name>=?1||'.' AND "
                                         "name<?1||'/' ORDER BY position LIMIT 1"));
      first.Bind(1, measure.channel);
      HANDHOLD_ASSIGN(const bool found, first.Step());
      if (found) {
        measure.channel = first.String(0);
        HANDHOLD_ASSIGN(units, UnitsOf(measure));
      }
    }
    if (units.empty() && !missing) {
      HANDHOLD_ASSIGN(const bool derived, FindDerived(measure));
      if (derived) return {};
    }
    if (units.empty()) return NoChannel(word, missing);
    if (missing) return {};
    // Clips may keep a channel of this name in different units; those of the value's dimension
    // count.
    HANDHOLD_ASSIGN(const Unit* unit, KnownUnit(value));
    std::optional<Dimension> first;
    for (const std::string& name : units) {
      const Unit* stored = FindUnit(name);
      if (stored == nullptr) continue;
      if (stored->dimension == unit->dimension) {
        measure.dimension = unit->dimension;
        return {};
      }
      if (!first) first = stored->dimension;
    }
    if (!first)
      return Wrong(word.at, "'" + word.text + "' is kept in '" + units.front() +
                                "', a unit that queries do not know");
    measure.dimension = *first;  // Quantity will say what is wrong.
    return {};
  }

  Result<std::vector<std::string>> UnitsOf(const Measure& measure) {
    std::vector<std::string> units;
    HANDHOLD_ASSIGN(
        Statement get,
        catalogue_.Prepare(
            "SELECT DISTINCT unit FROM clip_channel c WHERE c.name=?1 AND (?2='' OR EXISTS(SELECT "
            "1 FROM clip_stream s WHERE s.clip=c.clip AND s.stream=c.stream AND s.name=?2))"));
    get.Bind(1, measure.channel).Bind(2, measure.source);
    HANDHOLD_TRY(get.ForEach([&](Statement& row) -> Status {
      units.push_back(row.String(0));
      return {};
    }));
    return units;
  }

  Error NoChannel(const Word& word, bool missing) {
    std::vector<std::string> names;
    if (!missing) names.emplace_back("normal_force");
    for (const char* sql : {"SELECT DISTINCT sensor||'.normal_force' FROM clip_zone",
                            "SELECT DISTINCT name FROM clip_channel LIMIT 5000"}) {
      Result<std::vector<std::string>> some = Texts(sql);
      if (!some) return some.error();
      names.insert(names.end(), some->begin(), some->end());
    }
    if (missing) {
      std::vector<std::string> items;
      for (const std::string& name : names) {
        const std::string item = name.substr(0, name.find('.'));
        if (items.empty() || items.back() != item) items.push_back(item);
      }
      names = items;
    }
    return Wrong(word.at,
                 "no clip has a channel '" + word.text + "'" + DidYouMean(word.text, names));
  }

  void NameColumns() {
    for (size_t i = 0; i < plan_.measures.size(); ++i) {
      QueryPlan::Column& column = plan_.measures[i];
      const std::string unit = Key(column.UnitName());
      const std::string plain = Key(column.measure.label) + (unit.empty() ? "" : "_" + unit);
      column.key = plain;
      for (int n = 2;; ++n) {
        const auto taken = [&](size_t k) { return plan_.measures[k].key == column.key; };
        bool again = false;
        for (size_t k = 0; k < i; ++k) again = again || taken(k);
        if (!again) break;
        column.key = plain + "_" + std::to_string(n);
      }
    }
  }

  const Database& catalogue_;
  QueryPlan plan_;
};

}  // namespace

Result<QueryPlan> PlanQuery(std::string_view text, const Database& catalogue) {
  return Planner(text, catalogue).Plan();
}

}  // namespace handhold::store

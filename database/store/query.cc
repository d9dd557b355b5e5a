#include "database/store/query.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "database/base/names.h"
#include "database/store/query_clip.h"
#include "database/store/query_plan.h"

namespace handhold::store {
namespace {

using recording::Event;

enum class Truth { kFalse, kUnknown, kTrue };
Truth Of(bool b) { return b ? Truth::kTrue : Truth::kFalse; }

/// What bounds say about a comparison; kUnknown: they leave it open.
Truth Decide(Operator op, const Bounds& b, double with) {
  switch (op) {
    case Operator::kLess:
    case Operator::kAtMost:
    case Operator::kGreater:
    case Operator::kAtLeast: {
      const bool at_low = Compare(op, b.low, with), at_high = Compare(op, b.high, with);
      return at_low == at_high ? Of(at_low) : Truth::kUnknown;
    }
    case Operator::kEqual:
    case Operator::kNotEqual: {
      const bool outside = with < b.low || with > b.high;
      if (b.low == b.high || outside) return Of((b.low == with) == (op == Operator::kEqual));
      return Truth::kUnknown;
    }
    case Operator::kMatches:
      break;
  }
  return Truth::kUnknown;
}

char LowerOf(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ContainsIgnoringCase(const std::string& text, const std::string& part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return LowerOf(a) == LowerOf(b); }) != text.end() ||
         part.empty();
}

/// Any of `texts` against any of the wanted; '!=': none of them.
bool CompareTexts(Operator op, const std::vector<std::string>& texts,
                  const std::vector<std::string>& wanted) {
  bool any = false;
  for (const std::string& text : texts) {
    for (const std::string& want : wanted)
      any = any || (op == Operator::kMatches ? ContainsIgnoringCase(text, want) : text == want);
  }
  return op == Operator::kNotEqual ? !any : any;
}

bool CompareDate(Operator op, Timestamp t, const PlanNode& node) {
  switch (op) {
    case Operator::kEqual:
      return node.date_begin <= t && t < node.date_end;
    case Operator::kNotEqual:
      return t < node.date_begin || node.date_end <= t;
    case Operator::kLess:
      return t < node.date_begin;
    case Operator::kAtMost:
      return t < node.date_end;
    case Operator::kGreater:
      return t >= node.date_end;
    default:
      return t >= node.date_begin;
  }
}

/// Words for FTS5, each quoted, so that no character of theirs is syntax; a '*' at the end of a
/// word finds what begins so.
std::string FullText(const std::string& words) {
  std::string query;
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find_first_of(" \t\n", at), words.size());
    std::string word = words.substr(at, end - at);
    at = end + 1;
    const bool prefix = word.size() > 1 && word.back() == '*';
    if (prefix) word.pop_back();
    if (word.empty()) continue;
    query += query.empty() ? "\"" : " \"";
    for (const char c : word) query += c == '"' ? std::string("\"\"") : std::string(1, c);
    query += prefix ? "\"*" : "\"";
  }
  return query.empty() ? "\"\"" : query;
}

Window Around(Timestamp t, const PlanNode& within) {
  const Duration d = within.lengths.front();
  return {within.side == Side::kAfter ? t : t - d, within.side == Side::kBefore ? t : t + d};
}

/// What all clips of a run share.
struct RunContext {
  std::map<std::string, std::set<int64_t>> text_hits;  ///< words -> clips
  bool said_known = true;       ///< false: a clip may have tags and labels that nobody knows
  std::function<bool()> go_on;  ///< asked again and again; false cancels
};

/// Evaluates a plan for the rows of one clip.
class ClipEvaluation {
 public:
  ClipEvaluation(const QueryPlan& plan, const RunContext& run, QueryClip& clip)
      : plan_(plan), run_(run), clip_(clip) {}

  /// kCancelled once it is wished: between events, of which a clip may have many.
  Status GoOn() const {
    if (run_.go_on()) return {};
    return Error{ErrorCode::kCancelled, "query cancelled"};
  }

  /// Where a condition is asked: nothing (the clip), a row's event, a window at an event.
  struct Scope {
    const StoredEvent* row = nullptr;
    std::optional<Window> window = {};
    const Event* anchor = nullptr;  ///< the event the window lies at
  };

  Result<Truth> Ask(const PlanNode& node, const Scope& scope) {
    switch (node.kind) {
      case PlanNode::Kind::kAnd:
      case PlanNode::Kind::kOr: {
        const Truth decisive = node.kind == PlanNode::Kind::kAnd ? Truth::kFalse : Truth::kTrue;
        Truth all = decisive == Truth::kFalse ? Truth::kTrue : Truth::kFalse;
        for (const PlanNode& child : node.children) {
          HANDHOLD_ASSIGN(const Truth truth, Ask(child, scope));
          if (truth == decisive) return truth;
          if (truth == Truth::kUnknown) all = Truth::kUnknown;
        }
        return all;
      }
      case PlanNode::Kind::kNot: {
        HANDHOLD_ASSIGN(const Truth truth, Ask(node.children.front(), scope));
        return truth == Truth::kUnknown ? truth : Of(truth == Truth::kFalse);
      }
      case PlanNode::Kind::kWithin:
        return AskWithin(node, scope);
      case PlanNode::Kind::kField:
        return AskField(node, scope);
      case PlanNode::Kind::kMeasure:
        return AskMeasure(node, scope);
      case PlanNode::Kind::kPattern:
        return AskPattern(node, scope);
      case PlanNode::Kind::kHasEvent: {
        if (scope.row != nullptr && !scope.window && plan_.rows == node.events.front())
          return Truth::kTrue;
        HANDHOLD_ASSIGN(const auto events, EventsIn(node.events.front(), scope));
        return Of(!events.empty());
      }
    }
    return Truth::kUnknown;
  }

  /// What a row shows for a column: see QueryRow::values.
  Result<std::optional<double>> Show(const QueryPlan::Column& column, const Scope& row) {
    Scope scope = row;
    if (column.window) {
      if (row.row == nullptr) return std::optional<double>();
      const StoredEvent* at = nullptr;
      if (plan_.rows == column.window->events.front()) {
        at = row.row;
      } else {
        HANDHOLD_ASSIGN(const auto anchors, EventsIn(column.window->events.front(), row));
        if (anchors.size() != 1) return std::optional<double>();
        at = anchors.front();
      }
      scope.window = Around(at->event.clip_time, *column.window);
      scope.anchor = &at->event;
    }
    const Measure& measure = column.measure;
    if (measure.function == Measure::Function::kCount) {
      HANDHOLD_ASSIGN(const auto events, EventsIn(measure.event, scope));
      return std::optional<double>(static_cast<double>(events.size()));
    }
    if (measure.function == Measure::Function::kQuality) {
      HANDHOLD_ASSIGN(const std::vector<double> values, clip_.Quality(measure));
      return values.size() == 1 ? std::optional<double>(values.front()) : std::nullopt;
    }
    // With several sensors the largest, which is the one that made "> x" true.
    HANDHOLD_ASSIGN(const std::vector<Signal>* signals, clip_.Signals(measure, AnchorOf(scope)));
    std::optional<double> value;
    for (const Signal& signal : *signals) {
      HANDHOLD_ASSIGN(Bounds bounds, clip_.Known(measure, signal, WindowOf(scope)));
      if (!bounds.none && bounds.low != bounds.high) {
        HANDHOLD_ASSIGN(bounds, clip_.Measured(measure, signal, WindowOf(scope)));
      }
      if (bounds.none) continue;
      const bool least = measure.function == Measure::Function::kMin;
      if (!value || (least ? bounds.low < *value : bounds.low > *value)) value = bounds.low;
    }
    return value;
  }

  /// The events of a kind in the scope, in order of time.
  Result<std::vector<const StoredEvent*>> EventsIn(const EventRef& ref, const Scope& scope) {
    HANDHOLD_ASSIGN(const std::vector<StoredEvent>* all, clip_.Events(ref));
    const std::optional<Window> window = WindowOf(scope);
    std::vector<const StoredEvent*> events;
    for (const StoredEvent& e : *all) {
      if (!window || (window->first <= e.event.clip_time && e.event.clip_time <= window->last))
        events.push_back(&e);
    }
    return events;
  }

 private:
  static std::optional<Window> WindowOf(const Scope& scope) {
    if (scope.window) return scope.window;
    if (scope.row == nullptr) return std::nullopt;
    const Event& e = scope.row->event;
    return Window{e.clip_time, e.clip_time + e.length};
  }
  static const Event* AnchorOf(const Scope& scope) {
    return scope.anchor != nullptr ? scope.anchor
           : scope.row != nullptr  ? &scope.row->event
                                   : nullptr;
  }

  Result<Truth> AskWithin(const PlanNode& node, const Scope& scope) {
    std::vector<const StoredEvent*> anchors;
    if (scope.row != nullptr && plan_.rows == node.events.front()) {
      anchors.push_back(scope.row);
    } else {
      HANDHOLD_ASSIGN(anchors, EventsIn(node.events.front(), scope));
    }
    Truth any = Truth::kFalse;
    for (const StoredEvent* anchor : anchors) {
      HANDHOLD_TRY(GoOn());
      Scope at = scope;
      at.window = Around(anchor->event.clip_time, node);
      at.anchor = &anchor->event;
      HANDHOLD_ASSIGN(const Truth truth, Ask(node.children.front(), at));
      if (truth == Truth::kTrue) return truth;
      if (truth == Truth::kUnknown) any = truth;
    }
    return any;
  }

  Result<Truth> AskPattern(const PlanNode& node, const Scope& scope) {
    std::vector<const StoredEvent*> starts;
    if (scope.row != nullptr && !scope.window && plan_.rows == node.events.front()) {
      starts.push_back(scope.row);
    } else {
      HANDHOLD_ASSIGN(starts, EventsIn(node.events.front(), scope));
    }
    HANDHOLD_ASSIGN(const std::set<int64_t>* followed, Followed(node));
    for (const StoredEvent* start : starts) {
      if (followed->contains(start->sequence)) return Truth::kTrue;
    }
    return Truth::kFalse;
  }

  /// The events of the pattern's first kind (their sequences) that the others follow, each within
  /// its time. Found once for a clip, from the last kind to the first: of what may come next only
  /// the earliest that leads on counts, so that many events cost their number, not its powers.
  Result<const std::set<int64_t>*> Followed(const PlanNode& node) {
    if (const auto known = followed_.find(&node); known != followed_.end()) return &known->second;
    using Place = std::pair<Timestamp, int64_t>;  // events at one time follow by their sequence
    std::vector<Place> good;                      // of the step at hand; in order
    for (size_t step = node.lengths.size() + 1; step-- > 0;) {
      HANDHOLD_ASSIGN(const std::vector<StoredEvent>* all, clip_.Events(node.events[step]));
      std::vector<Place> here;
      size_t next = 0;
      for (const StoredEvent& e : *all) {
        const Place place{e.event.clip_time, e.sequence};
        if (step < node.lengths.size()) {
          while (next < good.size() && good[next] <= place) ++next;
          if (next == good.size()) break;
          if (good[next].first > place.first + node.lengths[step]) continue;
        }
        here.push_back(place);
      }
      good = std::move(here);
    }
    std::set<int64_t>& starts = followed_[&node];
    for (const Place& place : good) starts.insert(place.second);
    return &starts;
  }

  Result<Truth> AskField(const PlanNode& node, const Scope& scope) {
    const ClipRow& row = clip_.row();
    const auto text = [&](const std::string& value) {
      return Of(CompareTexts(node.op, {value}, node.texts));
    };
    const auto number = [&](double value) -> Truth {
      bool any = false;
      for (const double with : node.numbers) any = any || Compare(node.op, value, with);
      return Of(any);
    };
    switch (node.field) {
      case Field::kId:
        return text(row.id);
      case Field::kName:
        return text(row.name);
      case Field::kSubject:
        return text(row.subject);
      case Field::kSession:
        return text(row.session);
      case Field::kTask:
        return text(row.task);
      case Field::kProp:
        return Of(CompareTexts(node.op, PropsOf(row.prop), node.texts));
      case Field::kTag:
      case Field::kLabel:
      case Field::kStream:
      case Field::kMarker:
      case Field::kChannel:
      case Field::kProperty: {
        const bool said = node.field == Field::kTag || node.field == Field::kLabel;
        HANDHOLD_ASSIGN(const std::vector<std::string> texts, clip_.Texts(node.field, node.key));
        const Operator has = node.op == Operator::kNotEqual ? Operator::kEqual : node.op;
        if (said && !run_.said_known && !CompareTexts(has, texts, node.texts))
          return Truth::kUnknown;
        if (node.field == Field::kProperty && texts.empty()) return Truth::kUnknown;
        return Of(CompareTexts(node.op, texts, node.texts));
      }
      case Field::kText: {
        bool any = false;
        for (const std::string& words : node.texts)
          any = any || run_.text_hits.at(words).contains(row.row);
        return any || run_.said_known ? Of(any) : Truth::kUnknown;
      }
      case Field::kDate:
        return Of(CompareDate(node.op, row.utc_start, node));
      case Field::kDuration:
        return number(row.length.seconds());
      case Field::kRating:
        return row.rating ? number(*row.rating) : Truth::kUnknown;
      case Field::kUnrated:
        return row.rating || run_.said_known ? Of(!row.rating) : Truth::kUnknown;
      case Field::kWithdrawn:
        return row.withdrawn || run_.said_known ? Of(row.withdrawn) : Truth::kUnknown;
      case Field::kTake:
        return number(row.take);
      case Field::kGaps:
        return number(static_cast<double>(row.gap_count));
      case Field::kLost:
        return number(static_cast<double>(row.lost_samples));
      case Field::kRed:
        return number(static_cast<double>(row.red_count));
      case Field::kContacts:
      case Field::kContactTime: {
        // Without a force sensor nobody looked: not 0.
        HANDHOLD_ASSIGN(
            const std::optional<double> sum,
            clip_.SumOfFeature(node.field == Field::kContacts ? "contacts" : "contact_s"));
        return sum ? number(*sum) : Truth::kUnknown;
      }
      case Field::kClosed:
        return Of(row.closed);
      case Field::kKeep:
        return Of(row.keep);
      case Field::kEventTime:
        return number(scope.row->event.clip_time.seconds());
      case Field::kEventLength:
        return number(scope.row->event.length.seconds());
      case Field::kEventText:
        return text(scope.row->event.text);
      case Field::kOrigin:
        return text(scope.row->event.origin);
    }
    return Truth::kUnknown;
  }

  Result<Truth> AskMeasure(const PlanNode& node, const Scope& scope) {
    const Measure& measure = plan_.measures[*node.measure].measure;
    const double with = node.numbers.front();
    if (measure.function == Measure::Function::kCount) {
      HANDHOLD_ASSIGN(const auto events, EventsIn(measure.event, scope));
      return Of(Compare(node.op, static_cast<double>(events.size()), with));
    }
    if (measure.function == Measure::Function::kQuality) {
      HANDHOLD_ASSIGN(const std::vector<double> values, clip_.Quality(measure));
      bool any = false;
      for (const double value : values) any = any || Compare(node.op, value, with);
      return values.empty() ? Truth::kUnknown : Of(any);
    }
    HANDHOLD_ASSIGN(const std::vector<Signal>* signals, clip_.Signals(measure, AnchorOf(scope)));
    const std::optional<Window> window = WindowOf(scope);
    Truth any = Truth::kUnknown;
    std::vector<const Signal*> open;
    for (const Signal& signal : *signals) {
      HANDHOLD_ASSIGN(const Bounds known, clip_.Known(measure, signal, window));
      if (known.none) continue;
      const Truth truth = Decide(node.op, known, with);
      if (truth == Truth::kTrue) return truth;
      if (truth == Truth::kUnknown) open.push_back(&signal);
      if (truth == Truth::kFalse) any = truth;
    }
    for (const Signal* signal : open) {
      HANDHOLD_ASSIGN(const Bounds measured, clip_.Measured(measure, *signal, window));
      if (measured.none) continue;
      if (Compare(node.op, measured.low, with)) return Truth::kTrue;
      any = Truth::kFalse;
    }
    return any;
  }

  const QueryPlan& plan_;
  const RunContext& run_;
  QueryClip& clip_;
  std::map<const PlanNode*, std::set<int64_t>> followed_;  ///< by pattern
};

/// Conditions on the catalogue's rows that must hold wherever the plan is true: what its indexes
/// can use.
struct Prefilter {
  std::string where = "1";
  std::vector<std::string> texts;
  std::vector<double> numbers;

  void Add(const PlanNode& node, const QueryPlan& plan) {
    if (node.kind == PlanNode::Kind::kAnd || node.kind == PlanNode::Kind::kWithin) {
      for (const PlanNode& child : node.children) Add(child, plan);
    }
    if (node.kind == PlanNode::Kind::kField) AddField(node);
    if (node.kind == PlanNode::Kind::kMeasure)
      AddMeasure(node, plan.measures[*node.measure].measure);
  }

 private:
  std::string Text(const std::string& text) {
    texts.push_back(text);
    return "?" + std::to_string(1000 + texts.size());
  }

  void AddField(const PlanNode& node) {
    static const std::map<Field, std::string> kColumns = {{Field::kId, "id"},
                                                          {Field::kName, "name"},
                                                          {Field::kSubject, "subject"},
                                                          {Field::kSession, "session"},
                                                          {Field::kTask, "task"}};
    if (node.op == Operator::kEqual && !node.texts.empty() && node.texts.size() <= 50) {
      std::string list;
      if (const auto column = kColumns.find(node.field); column != kColumns.end()) {
        for (const std::string& text : node.texts) list += (list.empty() ? "" : ",") + Text(text);
        where += " AND " + column->second + " IN (" + list + ")";
      } else if (node.field == Field::kProp) {
        for (const std::string& text : node.texts)
          list += (list.empty() ? "" : " OR ") + HasProp(Text(text));
        where += " AND (" + list + ")";
      } else if (node.field == Field::kTag) {
        for (const std::string& text : node.texts) list += (list.empty() ? "" : ",") + Text(text);
        where += " AND clip IN (SELECT clip FROM tag WHERE kind='tag' AND name IN (" + list + "))";
      }
    }
    if (node.field == Field::kDate && node.op != Operator::kNotEqual) {
      // Whole seconds, so exact; the condition itself is asked again.
      if (node.op != Operator::kLess && node.op != Operator::kAtMost)
        where += " AND utc_start_ns>=" + std::to_string(node.date_begin.ns());
      if (node.op != Operator::kGreater && node.op != Operator::kAtLeast)
        where += " AND utc_start_ns<" + std::to_string(node.date_end.ns());
    }
  }

  /// A peak in a window is a peak of the clip, which the catalogue has, exactly for sensors.
  void AddMeasure(const PlanNode& node, const Measure& measure) {
    const bool greater = node.op == Operator::kGreater || node.op == Operator::kAtLeast;
    if (measure.function != Measure::Function::kPeak || !greater ||
        measure.target == Measure::Target::kChannel || measure.target == Measure::Target::kResult)
      return;
    // Every sensor has a feature "contacts": the index on (name, channel, value) lists them, and
    // then the clips, without touching the rows of other channels.
    numbers.push_back(node.numbers.front());
    where +=
        " AND clip IN (SELECT f.clip FROM (SELECT DISTINCT substr(channel, 1, length(channel)-12) "
        "AS "
        "sensor FROM feature WHERE name='contacts') s JOIN feature f ON f.name='max' AND "
        "f.channel=s.sensor||'" +
        std::string(SensorChannelName(measure.sensor_channel)) + "' AND f.value>=?" +
        std::to_string(20000 + numbers.size()) + ")";
  }
};

class QueryRun {
 public:
  QueryRun(const QueryPlan& plan, const Library& library, const QueryOptions& options)
      : plan_(plan),
        library_(library),
        options_(options),
        statements_(library.catalogue()),
        results_(library) {}

  Result<QueryResult> Run(const Progress& progress) {
    result_.rows_are_events = plan_.rows.has_value();
    for (const QueryPlan::Column& column : plan_.measures)
      result_.columns.push_back({column.key, std::string(column.UnitName())});
    HANDHOLD_TRY(FindTexts(plan_.root));
    HANDHOLD_TRY(LookAtProblems());
    HANDHOLD_ASSIGN(std::vector<ClipRow> clips, Candidates());
    size_t done = 0;
    for (ClipRow& row : clips) {
      if (result_.more) break;
      const std::string name = row.name;
      run_.go_on = [&] {
        return !progress ||
               progress(static_cast<double>(done) / static_cast<double>(clips.size()), name);
      };
      QueryClip clip(library_, statements_, results_, std::move(row));
      const size_t before = result_.rows.size();
      const int64_t skipped = skipped_;
      const Status asked = AskClip(clip);
      ++result_.clips_asked;
      result_.clips_opened += clip.opened() ? 1 : 0;
      if (!asked && asked.error().code == ErrorCode::kCancelled) return asked.error();
      if (!asked) {
        // A clip that cannot be read answers nothing at all, and does not hide the others.
        result_.rows.resize(before);
        skipped_ = skipped;
        result_.issues.push_back(
            {"clip " + clip.row().name, Severity::kLoss, asked.error().message});
      }
      ++done;
      if (!run_.go_on()) return Error{ErrorCode::kCancelled, "query cancelled"};
    }
    if (result_.rows.empty()) {
      HANDHOLD_ASSIGN(result_.clips,
                      library_.catalogue().QueryInteger("SELECT count(*) FROM clip"));
      HANDHOLD_TRY(Hint(plan_.root));
      HintAtResults();
    }
    return std::move(result_);
  }

 private:
  /// Of results: names are known once clips were asked.
  void HintAtResults() {
    if (result_.clips_asked == 0) return;  // the other conditions leave no clip to ask
    for (const QueryPlan::Column& column : plan_.measures) {
      const Measure& measure = column.measure;
      if (measure.target != Measure::Target::kResult) continue;
      const std::string what(ResultQuantityName(measure.result));
      const auto met = results_.Met(measure.result);
      const auto known = met.find(measure.channel);
      if (met.empty()) {
        result_.hints.push_back("none of the clips that were asked has a result of '" + what + "'");
      } else if (known == met.end()) {
        std::vector<std::string> names;
        for (const auto& [name, units] : met) names.push_back(name);
        result_.hints.push_back("no result has the " + what + " of '" + measure.channel + "'" +
                                DidYouMean(measure.channel, names));
      } else {
        const Dimension asked = measure.function == Measure::Function::kHeld
                                    ? measure.held_dimension
                                    : measure.dimension;
        const bool fits = std::ranges::any_of(known->second, [&](const std::string& unit) {
          return FindUnit(unit)->dimension == asked;
        });
        if (!fits)
          result_.hints.push_back("the " + what + " of '" + measure.channel + "' is in '" +
                                  *known->second.begin() + "', not " +
                                  std::string(DimensionName(asked)));
      }
    }
  }

  /// Of what no clip has at all, the nearest that some has.
  Status Hint(const PlanNode& node) {
    for (const PlanNode& child : node.children) HANDHOLD_TRY(Hint(child));
    static const std::map<Field, std::string> kNames = {
        {Field::kName, "name"},      {Field::kSubject, "subject"}, {Field::kSession, "session"},
        {Field::kTask, "task"},      {Field::kProp, "prop"},       {Field::kTag, "tag"},
        {Field::kLabel, "label"},    {Field::kStream, "stream"},   {Field::kMarker, "marker"},
        {Field::kChannel, "channel"}};
    const auto name = kNames.find(node.field);
    if (node.kind != PlanNode::Kind::kField || node.op != Operator::kEqual || name == kNames.end())
      return {};
    for (const std::string& text : node.texts) {
      HANDHOLD_ASSIGN(std::string hint, library_.Nearest(name->second, text));
      if (!hint.empty()) result_.hints.push_back(std::move(hint));
    }
    return {};
  }

  Status FindTexts(const PlanNode& node) {
    for (const PlanNode& child : node.children) HANDHOLD_TRY(FindTexts(child));
    if (node.kind != PlanNode::Kind::kField || node.field != Field::kText) return {};
    HANDHOLD_ASSIGN(
        Statement find,
        library_.catalogue().Prepare("SELECT DISTINCT clip FROM note WHERE note IN (SELECT rowid "
                                     "FROM note_text WHERE note_text MATCH ?1)"));
    for (const std::string& words : node.texts) {
      const std::string match = FullText(words);
      std::set<int64_t>& clips = run_.text_hits[words];
      find.Bind(1, match);
      HANDHOLD_TRY(find.ForEach([&](Statement& s) -> Status {
        clips.insert(s.Integer(0));
        return {};
      }));
    }
    return {};
  }

  static bool AsksWhatWasSaid(const PlanNode& node) {
    if (node.kind == PlanNode::Kind::kField &&
        (node.field == Field::kTag || node.field == Field::kLabel || node.field == Field::kRating ||
         node.field == Field::kText || node.field == Field::kUnrated ||
         node.field == Field::kWithdrawn))
      return true;
    return std::ranges::any_of(node.children, AsksWhatWasSaid);
  }

  /// What the catalogue lacks, no answer has. Tags, labels, ratings and notes come from the ledger,
  /// by way of the catalogue.
  Status LookAtProblems() {
    constexpr int kNamed = 20;
    const bool said = AsksWhatWasSaid(plan_.root);
    int unnamed = 0;
    HANDHOLD_ASSIGN(const Issues problems, library_.Problems());
    for (const Issue& problem : problems) {
      const bool ledger = problem.where.starts_with("ledger.db");
      if (problem.severity < Severity::kLoss || (ledger && !said)) continue;
      if (ledger) run_.said_known = false;
      if (std::ssize(result_.issues) >= kNamed) {
        ++unnamed;
      } else if (problem.where == "ledger.db") {
        result_.issues.push_back({problem.where, Severity::kLoss,
                                  "tags, labels, ratings and notes are unknown: the catalogue was "
                                  "written while it could not be read"});
      } else {
        result_.issues.push_back(
            {problem.where, Severity::kLoss,
             (ledger ? "is not known to the catalogue, what it said of a clip is missing here: "
                     : "is not in the catalogue, and was not asked: ") +
                 problem.what});
      }
    }
    if (unnamed > 0) {
      result_.issues.push_back(
          {"catalogue.db", Severity::kLoss,
           "lacks " + std::to_string(unnamed) + " more: 'handhold library check' names them"});
    }
    if (said && run_.said_known && !library_.ledger().readable()) {
      result_.issues.push_back({"ledger.db", Severity::kLoss,
                                "cannot be read: tags, labels, ratings and notes are those that "
                                "the catalogue copied when it could"});
    }
    return {};
  }

  Result<std::vector<ClipRow>> Candidates() {
    Prefilter filter;
    filter.Add(plan_.root, plan_);
    if (!plan_.asks_withdrawn) {
      filter.where +=
          " AND NOT EXISTS(SELECT 1 FROM tag w WHERE w.clip=clip.clip AND w.kind='withdrawn')";
    }
    const bool of_kind = plan_.rows && !plan_.rows->kind.empty();
    if (of_kind)
      filter.where += " AND EXISTS(SELECT 1 FROM event e WHERE e.kind=?1 AND e.clip=clip.clip)";
    return library_.ClipsWhere(filter.where + " ORDER BY utc_start_ns, id", [&](Statement& s) {
      if (of_kind) s.Bind(1, plan_.rows->kind);
      for (size_t i = 0; i < filter.texts.size(); ++i)
        s.Bind(static_cast<int>(1001 + i), filter.texts[i]);
      for (size_t i = 0; i < filter.numbers.size(); ++i)
        s.Bind(static_cast<int>(20001 + i), filter.numbers[i]);
    });
  }

  Status AskClip(QueryClip& clip) {
    ClipEvaluation evaluation(plan_, run_, clip);
    if (!plan_.rows) {
      HANDHOLD_ASSIGN(const Truth truth, evaluation.Ask(plan_.root, {}));
      return truth == Truth::kTrue ? Take(clip, evaluation, {}) : Status();
    }
    HANDHOLD_ASSIGN(const std::vector<StoredEvent>* events, clip.Events(*plan_.rows));
    for (const StoredEvent& event : *events) {
      if (result_.more) return {};
      HANDHOLD_TRY(evaluation.GoOn());
      ClipEvaluation::Scope scope;
      scope.row = &event;
      HANDHOLD_ASSIGN(const Truth truth, evaluation.Ask(plan_.root, scope));
      if (truth == Truth::kTrue) HANDHOLD_TRY(Take(clip, evaluation, scope));
    }
    return {};
  }

  Status Take(QueryClip& clip, ClipEvaluation& evaluation, const ClipEvaluation::Scope& scope) {
    if (skipped_ < options_.offset) {
      ++skipped_;
      return {};
    }
    if (options_.limit >= 0 && static_cast<int64_t>(result_.rows.size()) >= options_.limit) {
      result_.more = true;
      return {};
    }
    QueryRow row;
    row.clip_id = clip.row().id;
    row.clip_name = clip.row().name;
    row.subject = clip.row().subject;
    row.task = clip.row().task;
    row.prop = clip.row().prop;
    row.utc_start = clip.row().utc_start;
    row.clip_length = clip.row().length;
    if (scope.row != nullptr) {
      row.event = scope.row->event;
      row.number = scope.row->number;
      HANDHOLD_ASSIGN(const std::vector<StoredEvent>* strokes, clip.Events({"stroke", ""}));
      for (const StoredEvent& stroke : *strokes) {
        const Timestamp begin = stroke.event.clip_time;
        if (begin <= row.event->clip_time && row.event->clip_time <= begin + stroke.event.length)
          row.stroke = stroke.number;
      }
    }
    for (const QueryPlan::Column& column : plan_.measures) {
      HANDHOLD_ASSIGN(std::optional<double> value, evaluation.Show(column, scope));
      if (value && column.unit != nullptr) *value /= column.unit->si_per_unit;
      row.values.push_back(value);
    }
    result_.rows.push_back(std::move(row));
    return {};
  }

  const QueryPlan& plan_;
  const Library& library_;
  const QueryOptions& options_;
  QueryStatements statements_;
  ResultIndex results_;
  RunContext run_;
  QueryResult result_;
  int64_t skipped_ = 0;
};

}  // namespace

Query::Query(const Library& library, std::unique_ptr<const QueryPlan> plan)
    : library_(&library), plan_(std::move(plan)) {}
Query::Query(Query&&) noexcept = default;
Query& Query::operator=(Query&&) noexcept = default;
Query::~Query() = default;

bool Query::rows_are_events() const { return plan_->rows.has_value(); }

Result<Query> Query::Parse(std::string_view text, const Library& library) {
  HANDHOLD_ASSIGN(QueryPlan plan, PlanQuery(text, library.catalogue()));
  return Query(library, std::make_unique<const QueryPlan>(std::move(plan)));
}

Result<QueryResult> Query::Run(const QueryOptions& options, const Progress& progress) const {
  return QueryRun(*plan_, *library_, options).Run(progress);
}

Result<std::vector<QueryGroup>> GroupRows(const QueryResult& result,
                                          const std::vector<std::string>& fields) {
  using Get = std::function<std::string(const QueryRow&)>;
  static const std::vector<std::pair<std::string, Get>> kFields = {
      {"clip", [](const QueryRow& r) { return r.clip_name; }},
      {"subject", [](const QueryRow& r) { return r.subject; }},
      {"task", [](const QueryRow& r) { return r.task; }},
      {"prop", [](const QueryRow& r) { return r.prop; }},
      {"date", [](const QueryRow& r) { return FormatUtc(r.utc_start).substr(0, 10); }},
      {"event", [](const QueryRow& r) { return r.event ? r.event->kind : ""; }},
      {"text", [](const QueryRow& r) { return r.event ? r.event->text : ""; }},
      {"origin", [](const QueryRow& r) { return r.event ? r.event->origin : ""; }}};
  std::vector<const Get*> keys;
  for (const std::string& field : fields) {
    const auto found = std::ranges::find(kFields, field, &std::pair<std::string, Get>::first);
    if (found == kFields.end()) {
      std::vector<std::string> names;
      for (const auto& known : kFields) names.push_back(known.first);
      return Error{ErrorCode::kInvalid,
                   "rows cannot be grouped by '" + field + "'" + DidYouMean(field, names)};
    }
    keys.push_back(&found->second);
  }
  std::map<std::vector<std::string>, std::pair<int64_t, std::set<std::string>>> groups;
  for (const QueryRow& row : result.rows) {
    std::vector<std::string> key;
    for (const Get* get : keys) key.push_back((*get)(row));
    auto& [rows, clips] = groups[key];
    ++rows;
    clips.insert(row.clip_id);
  }
  if (fields.empty()) groups[{}];  // none is a number, too
  std::vector<QueryGroup> out;
  for (const auto& [key, group] : groups)
    out.push_back({key, group.first, static_cast<int64_t>(group.second.size())});
  return out;
}

}  // namespace handhold::store

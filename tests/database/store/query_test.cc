#include "database/store/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "database/store/query_units.h"
#include "tests/database/store/query_oracle.h"

namespace handhold::store::query_test {
namespace {

using oracle::Figure;
using oracle::Happening;
using oracle::Maybe;
using oracle::Span;
using oracle::Take;
using oracle::World;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A row as text: "stroke_003", or "stroke_003 contact_on 2 plate".
std::string RowName(const QueryRow& row) {
  if (!row.event) return row.clip_name;
  return row.clip_name + " " + row.event->kind + " " + std::to_string(row.number) + " " +
         row.event->text;
}
std::vector<std::string> Names(const QueryResult& result) {
  std::vector<std::string> names;
  for (const QueryRow& row : result.rows) names.push_back(RowName(row));
  return names;
}
QueryResult Ask(const Library& library, const std::string& text, const QueryOptions& options = {}) {
  auto query = Query::Parse(text, library);
  EXPECT_TRUE(query) << text << "\n" << query.error().message;
  if (!query) return {};
  auto result = query->Run(options);
  EXPECT_TRUE(result) << text << "\n" << result.error().message;
  return result ? *std::move(result) : QueryResult{};
}
std::string ErrorOf(const Library& library, const std::string& text) {
  const auto query = Query::Parse(text, library);
  EXPECT_FALSE(query) << text;
  return query ? "" : query.error().message;
}

/// One shared library: made once, only read.
const World& TheWorld() {
  static const TempDir* dir = new TempDir;
  static const World* world = new World(oracle::MakeWorld(*dir / "lab", 18, 5));
  return *world;
}

// ---- the oracle's rows and conditions

/// A row of the oracle: a take, and the event when the rows are events.
struct Row {
  const Take* take;
  const Happening* event = nullptr;
  int number = 0;
};

struct Scope {
  Row row;
  Span span;
  const Happening* anchor = nullptr;
};

/// A condition in words and as an independent judgement.
struct Condition {
  std::string text;
  std::function<Maybe(const Scope&)> judge;
};

bool IsKind(const Happening& h, const std::string& kind) { return h.kind == kind; }

std::vector<const Happening*> EventsIn(const Scope& scope, const std::string& kind) {
  std::vector<const Happening*> events;
  for (const Happening& h : scope.row.take->events) {
    if (IsKind(h, kind) && scope.span.Holds(h.t)) events.push_back(&h);
  }
  return events;
}

Maybe Compared(const std::string& op, double value, double with) {
  if (op == ">") return value > with;
  if (op == ">=") return value >= with;
  if (op == "<") return value < with;
  if (op == "<=") return value <= with;
  if (op == "=") return value == with;
  return value != with;
}

/// function(channel) over the scope, any sensor when the channel names none and no event does.
Maybe JudgeSignal(const Scope& scope, const std::string& function, const std::string& channel,
                  const std::string& op, double with) {
  const Take& take = *scope.row.take;
  std::vector<std::vector<std::pair<double, double>>> signals;
  if (channel == "normal_force") {
    const Happening* event = scope.anchor != nullptr ? scope.anchor : scope.row.event;
    for (int s = 0; s < static_cast<int>(take.clip.force_sensors().size()); ++s) {
      if (event == nullptr || event->sensor < 0 || event->sensor == s)
        signals.push_back(oracle::NormalForce(take, s));
    }
  } else if (channel == "wall.normal_force") {
    if (take.clip.force_sensors().size() == 2) signals.push_back(oracle::NormalForce(take, 1));
  } else {
    signals.push_back(oracle::Channel(take, channel == "RIFT" ? "RIFT.x" : channel));
  }
  Maybe any;
  for (const auto& samples : signals) {
    const std::optional<double> figure = Figure(function, samples, scope.span);
    if (!figure) continue;
    any = oracle::Or(any.known() ? any : Maybe(false), Compared(op, *figure, with));
  }
  return any;
}

/// A random condition. `figures`: planted peaks to take thresholds from, so that some are met
/// exactly.
class Conditions {
 public:
  Conditions(uint64_t seed, const World& world) : rng_(seed) {
    for (const Take& take : world.takes) {
      for (int s = 0; s < static_cast<int>(take.clip.force_sensors().size()); ++s) {
        for (const Happening& h : take.events) {
          if (h.kind == "contact_on" && h.sensor == s)
            peaks_.push_back(*Figure("peak", oracle::NormalForce(take, s), {h.t - 0.2, h.t + 0.2}));
        }
      }
    }
  }

  Condition Random(int depth, bool in_window) {
    switch (depth <= 0 ? 5 + Roll(5) : Roll(10)) {
      case 0:
      case 1:
        return Both("and", Random(depth - 1, in_window), Random(depth - 1, in_window));
      case 2:
        return Both("or", Random(depth - 1, in_window), Random(depth - 1, in_window));
      case 3: {
        Condition inner = Random(depth - 1, in_window);
        return {"not (" + inner.text + ")",
                [judge = inner.judge](const Scope& s) { return oracle::Not(judge(s)); }};
      }
      case 4:
        return in_window ? Signal() : Within(Random(depth - 1, true));
      case 5:
      case 6:
        return in_window || Roll(2) == 0 ? Signal() : Within(Signal());
      case 7:
        return Count();
      case 8:
        return Pattern();
      default:
        return Field();
    }
  }

 private:
  int Roll(int n) { return static_cast<int>(rng_() % static_cast<uint64_t>(n)); }
  template <typename T>
  const T& Pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(Roll(static_cast<int>(list.size())))];
  }
  static std::string Exact(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
  }

  static Condition Both(const std::string& word, Condition a, Condition b) {
    return {"(" + a.text + " " + word + " " + b.text + ")",
            [word, x = a.judge, y = b.judge](const Scope& s) {
              return word == "and" ? oracle::And(x(s), y(s)) : oracle::Or(x(s), y(s));
            }};
  }

  Condition Within(Condition inner) {
    const int ms = 10 * Roll(60);
    const std::string side = Pick<std::string>({"of", "after", "before"});
    const std::string kind = Pick<std::string>({"contact_on", "contact_off", "mark", "stroke"});
    return {"(" + inner.text + ") within " + std::to_string(ms) + " ms " + side + " " + kind,
            [=, judge = inner.judge](const Scope& s) -> Maybe {
              std::vector<const Happening*> anchors = EventsIn(s, kind);
              if (s.row.event != nullptr && s.row.event->kind == kind) anchors = {s.row.event};
              Maybe any = false;
              for (const Happening* h : anchors) {
                Scope at = s;
                at.anchor = h;
                at.span = {side == "after" ? h->t : h->t - ms * 1e-3,
                           side == "before" ? h->t : h->t + ms * 1e-3};
                any = oracle::Or(any, judge(at));
              }
              return any;
            }};
  }

  Condition Signal() {
    const std::string channel =
        Pick<std::string>({"normal_force", "normal_force", "wall.normal_force", "RTIP.y", "RIFT"});
    std::string function = Pick<std::string>({"peak", "peak", "min", "mean", "rms", "range"});
    if (channel == "RIFT") function = "occluded";
    const std::string op = Pick<std::string>({">", ">", ">=", "<", "<="});
    std::string value;
    double si;
    if (channel == "RIFT") {
      const int percent = Roll(40);
      si = percent / 100.0 + 0.0003;  // between the fractions of 400 samples and of windows
      value = Exact(si * 100) + " %";
      si = si * 100 / 100;
    } else if (channel == "RTIP.y") {
      const int mm = Roll(110) - 10;
      si = mm / 1000.0;
      value = std::to_string(mm) + (Roll(2) == 0 ? " mm" : "mm");
    } else {
      si = function == "peak" ? Pick(peaks_) : 0.0137 * Roll(300);
      value = Exact(si) + " N";
    }
    return {function + "(" + channel + ") " + op + " " + value,
            [=](const Scope& s) { return JudgeSignal(s, function, channel, op, si); }};
  }

  Condition Count() {
    const std::string kind = Pick<std::string>({"contact_on", "mark", "stroke"});
    const std::string op = Pick<std::string>({">", "<", "=", "!="});
    const int n = Roll(5);
    return {"count(" + kind + ") " + op + " " + std::to_string(n), [=](const Scope& s) {
              return Compared(op, static_cast<double>(EventsIn(s, kind).size()), n);
            }};
  }

  Condition Pattern() {
    const std::string a = Pick<std::string>({"contact_on", "stroke", "mark"}),
                      b = Pick<std::string>({"contact_off", "mark", "contact_on"}),
                      c = Pick<std::string>({"contact_off", "stroke"});
    const int first = 10 * (1 + Roll(40)), second = 10 * (1 + Roll(60));
    const bool three = Roll(2) == 0;
    std::string text = a + " then " + b + " within " + std::to_string(first) + " ms";
    if (three) text += " then " + c + " within " + std::to_string(second) + " ms";
    return {"(" + text + ")", [=](const Scope& s) -> Maybe {
              const std::vector<Happening>& all = s.row.take->events;
              // The row itself begins the pattern when it is of that kind (and not in a window).
              for (size_t i = 0; i < all.size(); ++i) {
                if (all[i].kind != a) continue;
                if (s.row.event != nullptr && s.row.event->kind == a && s.anchor == nullptr
                        ? &all[i] != s.row.event
                        : !s.span.Holds(all[i].t))
                  continue;
                for (size_t j = i + 1; j < all.size(); ++j) {
                  if (all[j].kind != b || all[j].t - all[i].t > first * 1e-3 + 1e-10) continue;
                  if (!three) return true;
                  for (size_t k = j + 1; k < all.size(); ++k) {
                    if (all[k].kind == c && all[k].t - all[j].t <= second * 1e-3 + 1e-10)
                      return true;
                  }
                }
              }
              return false;
            }};
  }

  Condition Field() {
    switch (Roll(8)) {
      case 0: {
        const std::string subject = Pick<std::string>({"S01", "S02", "S03"});
        return {"subject = " + subject, [=](const Scope& s) -> Maybe {
                  return s.row.take->clip.info().subject == subject;
                }};
      }
      case 1:
        return {"task != \"grip\"",
                [](const Scope& s) -> Maybe { return s.row.take->clip.info().task != "grip"; }};
      case 2: {
        const std::string tag = Pick<std::string>({"good", "pilot"});
        const bool is = Roll(2) == 0;
        return {"tag " + std::string(is ? "=" : "!=") + " " + tag, [=](const Scope& s) -> Maybe {
                  const auto& tags = s.row.take->tags;
                  return (std::find(tags.begin(), tags.end(), tag) != tags.end()) == is;
                }};
      }
      case 3: {
        const int n = 1 + Roll(5);
        return {"rating >= " + std::to_string(n), [=](const Scope& s) -> Maybe {
                  if (!s.row.take->rating) return std::nullopt;
                  return *s.row.take->rating >= n;
                }};
      }
      case 4: {
        const int day = 2 + Roll(16);
        const std::string op = Pick<std::string>({">=", "<", "=", ">", "<="});
        char text[40];
        std::snprintf(text, sizeof text, "date %s 2026-11-%02d", op.c_str(), day);
        return {text, [=](const Scope& s) -> Maybe {
                  const auto seconds = s.row.take->clip.info().utc_start.ns() / 1'000'000'000;
                  return Compared(op, static_cast<double>((seconds - 1'793'491'200) / 86'400 + 1),
                                  day);
                }};
      }
      case 5:
        return {"keep", [](const Scope& s) -> Maybe { return s.row.take->clip.quality().keep; }};
      case 6:
        return {"quality(vicon/markers, visible_fraction) < 90 %", [](const Scope& s) -> Maybe {
                  return s.row.take->clip.quality().items[0].worst < 0.9;
                }};
      default:
        return {"property.room ~ NOR", [](const Scope& s) -> Maybe {
                  return s.row.take->clip.info().properties.at("room") == "north";
                }};
    }
  }

  std::mt19937_64 rng_;
  std::vector<double> peaks_;
};

/// What brute force answers: every row of every take, asked in turn.
std::vector<std::string> BruteForce(const World& world, const std::string& rows,
                                    const Condition& condition) {
  std::vector<std::string> names;
  for (const Take& take : world.takes) {
    if (rows == "clips") {
      if (condition.judge({{&take}, {}, nullptr}).value == 1)
        names.push_back(take.clip.info().name);
      continue;
    }
    int number = 0;
    for (const Happening& h : take.events) {
      if (h.kind != rows) continue;
      ++number;
      const Scope scope{{&take, &h, number}, {h.t, h.t + h.length}, nullptr};
      if (condition.judge(scope).value == 1)
        names.push_back(take.clip.info().name + " " + h.kind + " " + std::to_string(number) + " " +
                        h.text);
    }
  }
  return names;
}

TEST(Query, AnswersWhatBruteForceAnswers) {
  const World& world = TheWorld();
  Conditions conditions(11, world);
  int rows_found = 0, empty = 0, opened = 0;
  for (int k = 0; k < 200; ++k) {
    const std::string rows = std::vector<std::string>{"clips", "stroke", "contact_on",
                                                      "mark"}[static_cast<size_t>(k % 4)];
    const Condition condition = conditions.Random(3, false);
    const std::string word = rows == "clips"        ? "clips"
                             : rows == "contact_on" ? "contacts"
                                                    : rows + "s";
    const QueryResult result = Ask(*world.library, word + " where " + condition.text);
    EXPECT_EQ(Names(result), BruteForce(world, rows, condition))
        << word << " where " << condition.text;
    EXPECT_THAT(result.issues, IsEmpty());
    rows_found += static_cast<int>(result.rows.size());
    empty += result.rows.empty() ? 1 : 0;
    opened += static_cast<int>(result.clips_opened);
  }
  std::printf("200 random queries: %d rows, %d empty answers, %d clips opened\n", rows_found, empty,
              opened);
  EXPECT_GT(rows_found, 1000) << "the conditions must not all be false";
  EXPECT_LT(empty, 150);
  EXPECT_GT(opened, 100) << "some must need the samples";
}

TEST(Query, ReturnsExactlyTheStrokesWhosePeakNearContactExceedsTheThreshold) {
  const World& world = TheWorld();
  std::vector<double> peaks;
  const auto peak_of = [](const Take& take, const Happening& h) {
    return *Figure("peak", oracle::NormalForce(take, h.sensor), {h.t - 0.2, h.t + 0.2});
  };
  for (const Take& take : world.takes) {
    for (const Happening& h : take.events) {
      if (h.kind == "contact_on") peaks.push_back(peak_of(take, h));
    }
  }
  std::sort(peaks.begin(), peaks.end());
  for (const double share : {0.25, 0.5, 0.75}) {
    const double x = peaks[static_cast<size_t>(share * static_cast<double>(peaks.size()))];
    char text[100];
    std::snprintf(text, sizeof text, "peak(normal_force) > %.17g N within 0.2 s of contact_on", x);
    std::vector<std::string> contacts;
    std::set<std::string> strokes;
    for (const Take& take : world.takes) {
      int number = 0;
      for (const Happening& h : take.events) {
        if (h.kind != "contact_on") continue;
        ++number;
        if (peak_of(take, h) <= x) continue;
        contacts.push_back(take.clip.info().name + " contact_on " + std::to_string(number) + " " +
                           h.text);
        int stroke = 0;
        for (const Happening& s : take.events) {
          if (s.kind != "stroke") continue;
          ++stroke;
          if (s.t <= h.t && h.t <= s.t + s.length)
            strokes.insert(take.clip.info().name + " " + std::to_string(stroke));
        }
      }
    }
    const QueryResult found = Ask(*world.library, text);
    EXPECT_TRUE(found.rows_are_events) << "the condition speaks of contacts: they are the rows";
    EXPECT_EQ(Names(found), contacts);
    std::set<std::string> via_contacts, via_strokes;
    for (const QueryRow& row : found.rows) {
      via_contacts.insert(row.clip_name + " " + std::to_string(row.stroke));
      ASSERT_EQ(row.values.size(), 1u);
      EXPECT_GT(row.values[0].value(), x);
    }
    for (const QueryRow& row : Ask(*world.library, "strokes where " + std::string(text)).rows)
      via_strokes.insert(row.clip_name + " " + std::to_string(row.number));
    EXPECT_EQ(via_contacts, strokes);
    EXPECT_EQ(via_strokes, strokes);
    EXPECT_EQ(found.columns[0].key, "peak_normal_force_N");
    // The threshold is a planted peak: '>=' finds its own contact too.
    const std::string at_least = std::string(text).replace(std::string(text).find('>'), 1, ">=");
    EXPECT_EQ(Ask(*world.library, at_least).rows.size(), contacts.size() + 1);
  }
}

TEST(Query, TheCatalogueRulesOutWhatItCanAndSamplesDecideTheRest) {
  const World& world = TheWorld();
  const QueryResult none =
      Ask(*world.library, "peak(normal_force) > 50 N within 0.2 s of contact_on");
  EXPECT_EQ(none.clips_asked, 0) << "no clip's extreme reaches 50 N";
  const QueryResult whole = Ask(*world.library, "clips where peak(normal_force) > 4 N");
  EXPECT_FALSE(whole.rows.empty());
  EXPECT_EQ(whole.clips_opened, 0) << "the clip's extreme is in the catalogue";
  const QueryResult hidden = Ask(*world.library, "occluded(RIFT) > 10 %");
  EXPECT_FALSE(hidden.rows.empty());
  EXPECT_EQ(hidden.clips_opened, 0);
  const QueryResult near =
      Ask(*world.library, "peak(normal_force) > 4 N within 10 ms of contact_on");
  EXPECT_GT(near.clips_opened, 0) << "a chunk of 2 s does not say when within it";
  EXPECT_LE(near.clips_opened, near.clips_asked);
}

TEST(Query, UnitsAreNamedAndConverted) {
  const World& world = TheWorld();
  const auto count = [&](const std::string& text) { return Names(Ask(*world.library, text)); };
  const auto newtons = count("contacts where peak(normal_force) > 2.5 N");
  EXPECT_FALSE(newtons.empty());
  EXPECT_EQ(count("contacts where peak(normal_force) > 2500 mN"), newtons);
  EXPECT_EQ(count("contacts where peak(normal_force) > 0.0025 kN"), newtons);
  EXPECT_EQ(count("contacts where peak(normal_force)>2500mN"), newtons);
  EXPECT_EQ(count("duration > 3900 ms"), count("duration > 3.9 s"));
  EXPECT_EQ(count("duration > 0.065 min"), count("duration > 3.9 s"));
  EXPECT_EQ(count("peak(RTIP.y) > 5 cm"), count("peak(RTIP.y) > 0.05 m"));
  EXPECT_EQ(count("range(plate.tx) > 20 mN m"), count("range(plate.tx) > 0.02 Nm"));
  EXPECT_EQ(count("range(plate/wrench:tx) > 3 counts"), count("range(plate/wrench:tx) > 3"));
  // Every unit against figures of its own.
  const std::pair<const char*, double> known[] = {{"%", 0.01},
                                                  {"mN", 1e-3},
                                                  {"kN", 1e3},
                                                  {"lbf", 4.4482216152605},
                                                  {"kgf", 9.80665},
                                                  {"gf", 9.80665e-3},
                                                  {"mN m", 1e-3},
                                                  {"N mm", 1e-3},
                                                  {"cm", 1e-2},
                                                  {"mm", 1e-3},
                                                  {"um", 1e-6},
                                                  {"ms", 1e-3},
                                                  {"us", 1e-6},
                                                  {"ns", 1e-9},
                                                  {"min", 60},
                                                  {"h", 3600},
                                                  {"deg", 3.14159265358979323846 / 180},
                                                  {"mV", 1e-3},
                                                  {"uV", 1e-6},
                                                  {"kPa", 1e3},
                                                  {"MPa", 1e6},
                                                  {"kHz", 1e3},
                                                  {"\xC2\xB5m", 1e-6},
                                                  {"mNm", 1e-3},
                                                  {"Nmm", 1e-3},
                                                  {"N", 1},
                                                  {"N m", 1},
                                                  {"Nm", 1},
                                                  {"m", 1},
                                                  {"s", 1},
                                                  {"rad", 1},
                                                  {"V", 1},
                                                  {"Pa", 1},
                                                  {"K", 1},
                                                  {"Hz", 1},
                                                  {"m/s", 1},
                                                  {"cm/s", 1e-2},
                                                  {"mm/s", 1e-3},
                                                  {"rad/Nm", 1},
                                                  {"deg/Nm", 3.14159265358979323846 / 180},
                                                  {"count", 1},
                                                  {"counts", 1}};
  std::set<std::string> tried;
  for (const auto& [name, si] : known) {
    const Unit* unit = FindUnit(name);
    ASSERT_NE(unit, nullptr) << name;
    EXPECT_NEAR(ToSi(3.0, *unit), 3.0 * si, 3e-15 * si * 3.0) << name;
    tried.insert(std::string(unit->name));
  }
  for (const std::string& name : UnitNames()) EXPECT_TRUE(tried.contains(name)) << name;
  EXPECT_EQ(ToSi(200, *FindUnit("ms")), 0.2) << "the nearest double";
  EXPECT_EQ(ToNanoseconds(0.3, *FindUnit("s")).value(), 300'000'000);
  EXPECT_FALSE(ToNanoseconds(1e11, *FindUnit("s")));
}

TEST(Query, MistakesNameThePlaceAndTheNearestWord) {
  const Library& lab = *TheWorld().library;
  const std::tuple<const char*, int, const char*> wrong[] = {
      {"peak(normal_force) > 5", 22, "'peak(normal_force)' is a force: name its unit, as in '5 N'"},
      {"peak(normal_force) > 5 NN", 24, "unknown unit 'NN': did you mean 'N'"},
      {"peak(normal_force) > 5 s", 24, "but 's' is a unit of a time"},
      {"peak(normal_forc) > 5 N", 6, "did you mean 'normal_force'"},
      {"peek(normal_force) > 5 N", 1, "unknown function 'peek': did you mean 'peak'"},
      {"peak(normal_force) > 5 N within 0.2 of contact_on", 33, "name its unit, as in '0.2 s'"},
      {"peak(normal_force) > 5 N within 0.2 s of contact_no", 42, "did you mean 'contact_on'"},
      {"peak(normal_force) > 5 N within 0.2 s contact_on", 39,
       "expected 'of', 'after' or 'before'"},
      {"subjct = S01", 1, "unknown field 'subjct': did you mean 'subject'"},
      {"strok where keep", 1, "there are no rows 'strok': did you mean 'strokes'"},
      {"occluded(RIFTT) > 10 %", 10, "no clip has a channel 'RIFTT': did you mean 'RIFT'"},
      {"occluded(RIFT) > 10 mm", 21, "'occluded(RIFT)' is a plain number"},
      {"occluded(RIFT) > 1", 18, "'occluded(RIFT)' is a share: name its unit, as in '1 %'"},
      {"quality(visible_fracton) > 3", 9, "did you mean 'visible_fraction'"},
      {"property.rom = north", 1, "no clip has a property 'rom': did you mean 'room'"},
      {"contact_on by indxer", 15, "did you mean 'indexer'"},
      {"date > 2026-13-01", 8, "a date"},
      {"date > 2026-02-30", 8, "a date"},
      {"rating > good", 10, "compared with a number"},
      {"task > 3", 8, "'task' is text"},
      {"keep = 1", 1, "'keep' is true or false"},
      {"rating", 1, "'rating' wants a comparison, as in 'rating >= 3'"},
      {"peak > 5 N", 1, "'peak' wants a channel"},
      {"task = stroke or", 17, "expected a condition"},
      {"(task = stroke", 15, "expected ')', found the end"},
      {"task = \"stroke", 8, "no closing quote"},
      {"task = stroke)", 14, "expected 'and', 'or' or the end, found ')'"},
      {"task = stroke & keep", 15, "unexpected character '&'"},
      {"event_time > 2 s", 1, "begin with 'contacts where'"},
      {"(mark within 1 s of stroke) within 1 s of mark", 7, "inside another 'within'"},
      {"mark then contact_on", 21, "expected 'within' and how soon"},
      {"peak(normal_force, 3) > 2 N", 20, "expected a name"},
      {"peak(normal_force, RIFT) > 2 N", 20, "too many arguments"},
      {"peak(normal_force) ~ x", 22, "'~' is for text"},
      {"", 1, "expected a condition"},
      {"task = 'Grüße' an keep", 16, "found 'an'"}};
  for (const auto& [text, column, what] : wrong) {
    const std::string message = ErrorOf(lab, text);
    EXPECT_THAT(message, HasSubstr("query, column " + std::to_string(column) + ": ")) << text;
    EXPECT_THAT(message, HasSubstr(what)) << text;
  }
  EXPECT_THAT(
      ErrorOf(lab, "rating > 3 or peak(normal_force) > 5 NN"),
      HasSubstr("\nrating > 3 or peak(normal_force) > 5 NN\n" + std::string(37, ' ') + "^"));
  const std::string deep = std::string(200, '(') + "keep" + std::string(200, ')');
  EXPECT_THAT(ErrorOf(lab, deep), HasSubstr("100 levels"));
  EXPECT_THAT(ErrorOf(lab, std::string(20'000, ' ')), HasSubstr("10 000 characters"));
}

TEST(Query, PagesAreStableAndTogetherAreAll) {
  const TempDir dir;
  World world = oracle::MakeWorld(dir / "lab", 5, 77);
  const std::string text = "strokes where keep or not keep";
  const std::vector<std::string> all = Names(Ask(*world.library, text));
  ASSERT_GT(all.size(), 20u);
  std::vector<std::string> pages;
  for (int64_t offset = 0;; offset += 7) {
    const QueryResult page = Ask(*world.library, text, {.limit = 7, .offset = offset});
    for (const QueryRow& row : page.rows) pages.push_back(RowName(row));
    EXPECT_EQ(page.more, offset + 7 < static_cast<int64_t>(all.size()));
    if (!page.more) break;
  }
  EXPECT_EQ(pages, all);
  EXPECT_EQ(Names(Ask(*world.library, text, {.limit = 0})).size(), 0u);
  EXPECT_TRUE(Ask(*world.library, text, {.limit = 0}).more);
  std::mt19937_64 rng(3);
  oracle::AddTo(*world.library, oracle::MakeTake(rng, 20));
  const QueryResult first = Ask(*world.library, text, {.limit = static_cast<int64_t>(all.size())});
  EXPECT_EQ(Names(first), all) << "a later take comes after, on a later page";
  EXPECT_TRUE(first.more);
  ASSERT_TRUE(world.library->Rebuild(false));
  EXPECT_EQ(Names(Ask(*world.library, text, {.limit = static_cast<int64_t>(all.size())})), all)
      << "another catalogue, the same order";
  const auto query = Query::Parse(text, *world.library);
  EXPECT_EQ(query->Run({}, [](double, std::string_view) { return false; }).error().code,
            ErrorCode::kCancelled);
}

TEST(Query, FindsWordsFieldsAndFlags) {
  const World& world = TheWorld();
  LedgerEntry note;
  const auto names = [&](const std::string& text) { return Names(Ask(*world.library, text)); };
  std::vector<std::string> slipped, exploring;
  for (const Take& take : world.takes) {
    if (std::any_of(take.events.begin(), take.events.end(),
                    [](const Happening& h) { return h.kind == "mark"; }))
      slipped.push_back(take.clip.info().name);
  }
  EXPECT_EQ(names("text ~ \"slipped\""), slipped);
  EXPECT_EQ(names("text ~ \"THUMB slip*\""), slipped);
  EXPECT_THAT(names("text ~ \"slip\""), IsEmpty());
  EXPECT_THAT(names("text ~ \"thumb NOT slipped OR ( ^\""), IsEmpty()) << "words, not FTS5 syntax";
  EXPECT_EQ(names("name = stroke_003"), std::vector<std::string>{"stroke_003"});
  EXPECT_EQ(names("name in (stroke_003, stroke_005, nothing)"),
            (std::vector<std::string>{"stroke_003", "stroke_005"}));
  EXPECT_EQ(names("'clips' where \"name\" in ('stroke_003')"),
            std::vector<std::string>{"stroke_003"});
  EXPECT_EQ(names("\"contact_on\" by 'indexer' then \"contact_off\" within 1 s"),
            names("contact_on by indexer then contact_off within 1 s"));
  EXPECT_EQ(names("take >= 17").size(), 2u);
  EXPECT_EQ(names("name ~ _01").size(), 9u);
  EXPECT_EQ(names("closed and duration <= 4 s").size(), world.takes.size());
  EXPECT_THAT(names("not closed"), IsEmpty());
  EXPECT_EQ(names("stream = wall/wrench"), names("range(wall/wrench:fz) >= 0"));
  EXPECT_EQ(names("date >= 2026-11-03T12:00 and date < 2026-11-05"),
            (std::vector<std::string>{"stroke_003", "stroke_004"}));
  EXPECT_EQ(names("strokes where event_text = exploring and event_length > 0.45 s and event_time < "
                  "2 s and origin = operator and task = stroke"),
            BruteForce(world, "stroke", {"", [](const Scope& s) -> Maybe {
                                           return s.row.event->text == "exploring" &&
                                                  s.row.event->length > 0.45 &&
                                                  s.row.event->t < 2 &&
                                                  s.row.take->clip.info().task == "stroke";
                                         }}));
  EXPECT_EQ(names("contacts > 3"),
            BruteForce(world, "clips", {"", [](const Scope& s) -> Maybe {
                                          return EventsIn(s, "contact_on").size() > 3;
                                        }}));
  EXPECT_EQ(names("quality(last_sample_age_s) > 40 ms"),
            BruteForce(world, "clips", {"", [](const Scope& s) -> Maybe {
                                          return s.row.take->clip.quality().items[1].worst > 0.04;
                                        }}));
  EXPECT_EQ(names("events where origin = indexer").size(),
            names("events where origin = indexer and event_time >= 0 s").size());
  EXPECT_EQ(names("contact_on"), names("contacts where keep or not keep"));
}

/// p of a marker of the oracle's take at each sample; NaN: not seen.
std::vector<Eigen::Vector3d> Positions(const Take& take, const std::string& marker) {
  std::vector<Eigen::Vector3d> all;
  const auto x = oracle::Channel(take, marker + ".x"), y = oracle::Channel(take, marker + ".y"),
             z = oracle::Channel(take, marker + ".z");
  for (size_t i = 0; i < x.size(); ++i) all.push_back({x[i].second, y[i].second, z[i].second});
  return all;
}

TEST(Query, SpeedsDistancesAndTimesHeldAreThoseOfTheSamples) {
  const World& world = TheWorld();
  // Markers at 100 Hz: 20 ms are two samples.
  const auto fastest = [](const Take& take) -> std::optional<double> {
    const auto p = Positions(take, "RTIP");
    std::optional<double> most;
    for (size_t i = 2; i < p.size(); ++i) {
      const double v = (p[i] - p[i - 2]).norm() / 0.02;
      if (!std::isnan(v)) most = std::max(most.value_or(0), v);
    }
    return most;
  };
  const auto nearest = [](const Take& take) -> std::optional<double> {
    const auto a = Positions(take, "RTIP"), b = Positions(take, "RMCP");
    std::optional<double> least;
    for (size_t i = 0; i < a.size(); ++i) {
      const double d = (a[i] - b[i]).norm();
      if (!std::isnan(d)) least = std::min(least.value_or(1e9), d);
    }
    return least;
  };
  const auto held = [](const Take& take) -> std::optional<double> {
    std::optional<double> longest;
    for (int s = 0; s < static_cast<int>(take.clip.force_sensors().size()); ++s) {
      double since = -1;
      for (const auto& [t, f] : oracle::NormalForce(take, s)) {
        if (!(f > 2)) since = -1;
        if (f > 2 && since < 0) since = t;
        longest = std::max(longest.value_or(0), since < 0 ? 0 : t - since);
      }
    }
    return longest;
  };
  const auto clips = [&](const auto& figure, const auto& holds) {
    return BruteForce(world, "clips", {"", [&](const Scope& s) -> Maybe {
                                         const std::optional<double> value = figure(*s.row.take);
                                         return value ? Maybe(holds(*value)) : Maybe();
                                       }});
  };
  const auto ask = [&](const std::string& text) { return Names(Ask(*world.library, text)); };
  for (const double speed : {0.15, 0.2, 0.25, 0.3, 0.35}) {
    EXPECT_EQ(ask("peak(RTIP.speed) > " + std::to_string(speed) + " m/s"),
              clips(fastest, [&](double v) { return v > speed; }))
        << speed;
  }
  for (const double mm : {5.0, 20.0, 60.0}) {
    EXPECT_EQ(ask("min(RTIP.to.RMCP) < " + std::to_string(mm) + " mm"),
              clips(nearest, [&](double d) { return d < mm * 1e-3; }))
        << mm;
  }
  for (const double s : {0.05, 0.1, 0.2, 0.3}) {
    EXPECT_EQ(ask("normal_force > 2 N for " + std::to_string(s) + " s"),
              clips(held, [&](double longest) { return longest >= s; }))
        << s;
    EXPECT_EQ(ask("not normal_force > 2 N for " + std::to_string(s) + " s"),
              clips(held, [&](double longest) { return longest < s; }));
  }
  EXPECT_EQ(Ask(*world.library, "normal_force > 1 kN for 1 ms").clips_opened, 0)
      << "the extremes rule it out";
  EXPECT_THAT(ErrorOf(*world.library, "peak(RTIP.speed) > 5 N"), HasSubstr("a speed"));
  EXPECT_THAT(ErrorOf(*world.library, "peak(RTUP.speed) > 5 m/s"), HasSubstr("no clip has"));
  EXPECT_THAT(ErrorOf(*world.library, "peak(normal_force) > 1 N for 1 s"),
              HasSubstr("'for' wants"));
}

TEST(Query, MarkersChannelsUnratedAndWithdrawn) {
  const TempDir dir;
  World world = oracle::MakeWorld(dir / "lab", 8, 5);
  const auto names = [&](const std::string& text) { return Names(Ask(*world.library, text)); };
  EXPECT_EQ(names("marker = RTIP").size(), 8u);
  EXPECT_THAT(names("marker = RTUP"), IsEmpty());
  EXPECT_EQ(names("channel = wall.normal_force"), names("stream = wall/wrench"));
  EXPECT_EQ(names("not channel = RTIP.x").size(), 0u);
  const auto unrated = [](const Scope& s) -> Maybe { return !s.row.take->rating.has_value(); };
  EXPECT_EQ(names("unrated"), BruteForce(world, "clips", {"", unrated}));
  EXPECT_EQ(names("unrated").size() + names("rating >= 1").size(), 8u);

  // Withdrawn clips are left out, unless asked for; the row says what the ledger corrects.
  LedgerEntry e;
  e.clip = world.library->FindClip("stroke_003").value().id;
  e.author = "ana";
  e.kind = LedgerKind::kWithdrawn;
  ASSERT_TRUE(world.library->Say(e));
  EXPECT_EQ(names("closed").size(), 7u);
  EXPECT_EQ(names("withdrawn"), std::vector<std::string>{"stroke_003"});
  EXPECT_EQ(names("closed and (withdrawn or not withdrawn)").size(), 8u);
  EXPECT_EQ(world.library->Clips().value().size(), 7u);
  e.removed = true;
  ASSERT_TRUE(world.library->Say(e));
  EXPECT_EQ(names("closed").size(), 8u);

  const std::string sha256 = world.library->FindClip("stroke_003").value().sha256;
  for (const auto& [field, value] :
       {std::pair("name", "renamed_012"), {"subject", "S77"}, {"task", "lift"}}) {
    LedgerEntry c;
    c.clip = e.clip;
    c.author = "ana";
    c.kind = LedgerKind::kCorrection;
    c.name = field;
    c.value = value;
    ASSERT_TRUE(world.library->Say(c));
  }
  const auto check = [&](Library& library) {
    const ClipRow row = library.FindClip("renamed_012").value();
    EXPECT_EQ(row.id, e.clip);
    EXPECT_EQ(row.subject, "S77");
    EXPECT_EQ(row.take, 12);
    EXPECT_EQ(row.sha256, sha256) << "the clip stays as it is";
    EXPECT_EQ(library.OpenClip("renamed_012").value()->info().task, "lift");
    EXPECT_EQ(Names(Ask(library, "subject = S77 and task = lift")),
              std::vector<std::string>{"renamed_012"});
    EXPECT_FALSE(library.FindClip("stroke_003"));
    EXPECT_THAT(library.Check({}).value(), IsEmpty());
  };
  check(*world.library);
  ASSERT_TRUE(world.library->Rebuild(false, {}));
  check(*world.library);
  ASSERT_TRUE(world.library->Index(ClipId::Parse(e.clip).value()));
  check(*world.library);
  e.kind = LedgerKind::kCorrection;
  for (const auto& [field, removed] :
       {std::pair("name", false), {"rating", false}, {"task", true}}) {
    LedgerEntry c = e;
    c.name = field;
    c.removed = removed;
    EXPECT_EQ(world.library->Say(c).error().code, ErrorCode::kInvalid) << field;
  }
}

// A sensor that was not tared reads 0.4 N with nothing on it: contacts count from there.
TEST(Query, ContactsOfAnUntaredSensorCountFromWhatItReadsUnloaded) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  const auto add = [&](const std::string& name, double rest_N, double press_N) {
    recording::ClipInfo info;
    info.id = ClipId::New();
    info.name = name;
    recording::Clip clip(info);
    recording::StreamInfo force = ForceStream(true);
    force.rate = {1000, 1};
    recording::SampleBlock raw;
    raw.stream_id = clip.AddStream(force, recording::ClockMap::Identity());
    raw.count = 10'000;
    raw.values.assign(6 * 10'000, 0.0);
    std::mt19937_64 rng(1);
    std::normal_distribution<double> noise(0.0, 2.0);  // 0.02 N
    for (int i = 0; i < raw.count; ++i) {
      const bool pressed = i % 2000 >= 500 && i % 2000 < 1500;  // five times a second long
      raw.value(2, i) = -std::round(100 * (rest_N + (pressed ? press_N : 0)) + noise(rng));
    }
    clip.Append(raw);
    recording::ForceSensor sensor;
    sensor.name = "plate";
    sensor.stream_id = raw.stream_id;
    sensor.calibration = Eigen::Matrix<double, 6, 6>::Identity() * 0.01;
    sensor.bias = Eigen::VectorXd::Zero(6);
    clip.AddForceSensor(sensor);
    ASSERT_TRUE(WriteClip(clip, library->ClipPath(info.id), {}));
    ASSERT_TRUE(library->Index(info.id));
  };
  add("tared", 0.0, 2.0);
  add("untared", 0.4, 2.0);
  add("pulled", -0.4, 2.0);
  add("loaded", 3.0, 2.0);  // a load from end to end is one contact
  EXPECT_EQ(Names(Ask(*library, "contacts = 5 and contact_time > 4.9 s and contact_time < 5.1 s")),
            (std::vector<std::string>{"tared", "untared", "pulled"}));
  EXPECT_EQ(Names(Ask(*library, "contacts = 1 and contact_time > 9.9 s")),
            std::vector<std::string>{"loaded"});
  // What is asked of samples is that of the samples.
  EXPECT_EQ(Names(Ask(*library, "min(normal_force) > 0.2 N")),
            (std::vector<std::string>{"untared", "loaded"}));
}

TEST(Query, NothingFoundSaysOfHowManyAndTheNearestValue) {
  const World& world = TheWorld();
  const QueryResult none = Ask(*world.library, "task = strok and subject = S09 and prop = ball");
  EXPECT_THAT(none.rows, IsEmpty());
  EXPECT_EQ(none.clips, static_cast<int64_t>(world.takes.size()));
  ASSERT_EQ(none.hints.size(), 2u);
  EXPECT_THAT(none.hints[0] + none.hints[1],
              AllOf(HasSubstr("no clip has the task 'strok': did you mean 'stroke'"),
                    HasSubstr("no clip has the subject 'S09'")));
  const auto hint = [&](const std::string& query) {
    const QueryResult result = Ask(*world.library, query);
    EXPECT_THAT(result.rows, IsEmpty()) << query;
    return result.hints.size() == 1 ? result.hints[0] : std::to_string(result.hints.size());
  };
  EXPECT_THAT(hint("marker = RTUP"), AllOf(HasSubstr("marker"), HasSubstr("'RTIP'")));
  EXPECT_THAT(hint("channel = RTIP.y.z"), HasSubstr("'RTIP.y'"));
  EXPECT_THAT(hint("channel = plate.normal_forse"), HasSubstr("'plate.normal_force'"));
  EXPECT_THAT(hint("stream = \"vicon/marker\""), HasSubstr("'vicon/markers'"));
  EXPECT_THAT(hint("label = tripod"), HasSubstr("no clip has the label 'tripod'"));
  EXPECT_THAT(Ask(*world.library, "marker = RTIP and duration > 1 h").hints, IsEmpty());
  EXPECT_THAT(Ask(*world.library, "task = stroke").hints, IsEmpty());
  EXPECT_THAT(Ask(*world.library, "task = stroke and duration > 1 h").hints, IsEmpty());
}

TEST(Query, RowsAreCountedInGroups) {
  const World& world = TheWorld();
  const QueryResult strokes = Ask(*world.library, "strokes where closed");
  std::map<std::vector<std::string>, std::pair<int64_t, std::set<std::string>>> truth;
  int64_t rows = 0;
  for (const Take& take : world.takes) {
    for (const Happening& h : take.events) {
      if (h.kind != "stroke") continue;
      ++rows;
      auto& group = truth[{take.clip.info().task, h.text}];
      ++group.first;
      group.second.insert(take.clip.info().name);
    }
  }
  const auto groups = GroupRows(strokes, {"task", "text"}).value();
  ASSERT_EQ(groups.size(), truth.size());
  auto expected = truth.begin();
  for (const QueryGroup& group : groups) {
    EXPECT_EQ(group.keys, expected->first);
    EXPECT_EQ(group.rows, expected->second.first);
    EXPECT_EQ(group.clips, static_cast<int64_t>(expected->second.second.size()));
    ++expected;
  }
  const auto all = GroupRows(strokes, {}).value();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].rows, rows);
  EXPECT_THAT(GroupRows(strokes, {"tsk"}).error().message, HasSubstr("did you mean 'task'"));
}

TEST(Query, ADamagedClipIsNamedAndHidesNoOther) {
  const TempDir dir;
  World world = oracle::MakeWorld(dir / "lab", 4, 21);
  const std::string text = "rms(normal_force) > 0.1 N within 0.2 s of contact_on";
  const std::vector<std::string> before = Names(Ask(*world.library, text));
  const ClipRow victim = world.library->FindClip("stroke_002").value();
  {
    std::fstream file(dir / ("lab/clips/" + victim.path),
                      std::ios::in | std::ios::out | std::ios::binary);
    for (int at = 4096; at < victim.bytes; at += 512) {
      file.seekp(at);
      file.write("damage", 6);
    }
  }
  const QueryResult after = Ask(*world.library, text);
  ASSERT_EQ(after.issues.size(), 1u);
  EXPECT_THAT(after.issues[0].where, HasSubstr("stroke_002"));
  EXPECT_EQ(after.issues[0].severity, Severity::kLoss);
  std::vector<std::string> others;
  for (const std::string& name : before) {
    if (name.substr(0, 10) != "stroke_002") others.push_back(name);
  }
  EXPECT_LT(others.size(), before.size());
  EXPECT_EQ(Names(after), others);
}

TEST(Query, AnEmptyLibraryAnswersNothing) {
  const TempDir dir;
  auto library = Library::Create(dir / "lab").value();
  EXPECT_THAT(Ask(*library, "peak(normal_force) > 5 N within 0.2 s of contact_on").rows, IsEmpty());
  EXPECT_THAT(Ask(*library, "task = stroke").rows, IsEmpty());
  EXPECT_THAT(Ask(*library, "contact_on by indexer").rows, IsEmpty());
  EXPECT_THAT(ErrorOf(*library, "strokes where keep"), HasSubstr("no rows 'strokes'"));
}

/// Whether events[step + 1] ... follow the event at `from`, by trying all: what the language says.
bool FollowsByTrying(const std::vector<recording::Event>& events, size_t from,
                     const std::vector<std::pair<std::string, double>>& rest, size_t step = 0) {
  if (step == rest.size()) return true;
  for (size_t next = from + 1; next < events.size(); ++next) {
    const double later_s = (events[next].clip_time - events[from].clip_time).seconds();
    if (events[next].kind == rest[step].first && later_s <= rest[step].second + 1e-10 &&
        FollowsByTrying(events, next, rest, step + 1))
      return true;
  }
  return false;
}

/// One clip without samples and with these events, in order of time.
std::unique_ptr<Library> LibraryOfEvents(const std::string& path,
                                         const std::vector<recording::Event>& events) {
  auto library = Library::Create(path).value();
  recording::ClipInfo info;
  info.id = ClipId::New();
  info.name = "events";
  recording::Clip clip(info);
  for (const recording::Event& event : events) clip.AddEvent(event);
  EXPECT_TRUE(WriteClip(clip, library->ClipPath(info.id), {}));
  EXPECT_TRUE(library->Index(info.id));
  return library;
}

recording::Event At(double t_s, const std::string& kind) {
  return {Timestamp::FromSeconds(t_s), Duration(), kind, "operator", 0, 0.0, ""};
}

TEST(Query, PatternsAreThoseThatTryingAllFinds) {
  std::mt19937_64 rng(11);
  const TempDir dir;
  for (int round = 0; round < 4; ++round) {
    std::vector<recording::Event> events;
    double t_s = 0;
    // Many at one time: their order in the clip decides.
    for (int i = 0; i < 25; ++i)
      events.push_back(At(t_s += 0.5 * static_cast<double>(rng() % 3), rng() % 3 == 0 ? "b" : "a"));
    events.push_back(At(t_s, "a"));
    events.push_back(At(t_s, "b"));
    const auto library = LibraryOfEvents(dir / std::to_string(round), events);
    for (const auto& rest :
         std::vector<std::vector<std::pair<std::string, double>>>{{{"b", 1}},
                                                                  {{"a", 0.5}, {"b", 0.5}},
                                                                  {{"b", 2}, {"b", 1}, {"a", 0.5}},
                                                                  {{"a", 0.5}}}) {
      std::string text = "a";
      for (const auto& [kind, within_s] : rest)
        text += " then " + kind + " within " + std::to_string(within_s) + " s";
      std::vector<int64_t> truth, found;
      int64_t number = 0;
      for (size_t i = 0; i < events.size(); ++i) {
        if (events[i].kind != "a") continue;
        ++number;
        if (FollowsByTrying(events, i, rest)) truth.push_back(number);
      }
      for (const QueryRow& row : Ask(*library, text).rows) found.push_back(row.number);
      EXPECT_EQ(found, truth) << text;
      EXPECT_EQ(Ask(*library, "clips where " + text).rows.size(), truth.empty() ? 0u : 1u) << text;
    }
  }
}

// Trying all of these would take longer than there is: the test then ends by its time limit.
TEST(Query, LongPatternsOfManyEventsEnd) {
  std::vector<recording::Event> events;
  for (int i = 0; i < 500; ++i) events.push_back(At(0.01 * i, "a"));
  events.push_back(At(100, "b"));
  const TempDir dir;
  const auto library = LibraryOfEvents(dir / "lab", events);
  std::string text = "a";
  for (int i = 0; i < 8; ++i) text += " then a within 1 min";
  EXPECT_THAT(Ask(*library, "clips where " + text + " then b within 1 s").rows, IsEmpty());
  EXPECT_EQ(Ask(*library, "clips where " + text + " then b within 2 min").rows.size(), 1u);
  EXPECT_EQ(Ask(*library, "events where " + text).rows.size(), 492u);
}

TEST(Query, AClipOfManyEventsCanBeInterrupted) {
  std::vector<recording::Event> events;
  for (int i = 0; i < 2000; ++i) events.push_back(At(0.01 * i, "a"));
  const TempDir dir;
  const auto library = LibraryOfEvents(dir / "lab", events);
  int asked = 0;
  const auto stop = [&](double, std::string_view) { return ++asked < 3; };
  const auto rows = Query::Parse("events where event_time >= 0 s", *library).value();
  const auto stopped = rows.Run({}, stop);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  asked = 0;
  const auto windows =
      Query::Parse("clips where count(a) > 3000 within 1 s of a", *library).value();
  const auto also = windows.Run({}, stop);
  ASSERT_FALSE(also);
  EXPECT_EQ(also.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace handhold::store::query_test

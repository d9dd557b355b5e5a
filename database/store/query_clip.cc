#include "database/store/query_clip.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/store/library_files.h"

namespace handhold::store {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// The values that a float bound, rounded outwards from a double, may stand for.
double JustBelow(float x) { return static_cast<double>(std::nextafterf(x, -HUGE_VALF)); }
double JustAbove(float x) { return static_cast<double>(std::nextafterf(x, HUGE_VALF)); }

Bounds OfExtremes(Measure::Function function, Bounds max, Bounds min) {
  const double size = std::max(std::abs(max.high), std::abs(min.low));
  switch (function) {
    case Measure::Function::kPeak:
      return max;
    case Measure::Function::kMin:
      return min;
    case Measure::Function::kMean:
      return {min.low, max.high};
    case Measure::Function::kRms:
      return {min.low > 0 ? min.low : max.high < 0 ? -max.high : 0.0, size};
    case Measure::Function::kRange:
      return {std::max(0.0, max.low - min.high), max.high - min.low};
    default:
      return {-kInf, kInf};
  }
}

/// The sum of squares and the mean are rounded; a bound must not be sharper than they are.
Bounds Loosened(Measure::Function function, Bounds b) {
  if (function != Measure::Function::kMean && function != Measure::Function::kRms &&
      function != Measure::Function::kRange)
    return b;
  const double slack = 1e-9 * (std::abs(b.low) + std::abs(b.high));
  return {b.low - slack, b.high + slack};
}

}  // namespace

bool Compare(Operator op, double value, double with) {
  switch (op) {
    case Operator::kEqual:
      return value == with;
    case Operator::kNotEqual:
      return value != with;
    case Operator::kLess:
      return value < with;
    case Operator::kAtMost:
      return value <= with;
    case Operator::kGreater:
      return value > with;
    case Operator::kAtLeast:
      return value >= with;
    case Operator::kMatches:
      break;
  }
  return false;
}

Result<Statement*> QueryStatements::Get(const char* sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    HANDHOLD_ASSIGN(Statement statement, catalogue_.Prepare(sql, true));
    found = statements_.emplace(sql, std::move(statement)).first;
  }
  found->second.Reset();
  return &found->second;
}

Result<const std::vector<StoredEvent>*> QueryClip::Events(const EventRef& ref) {
  const auto key = std::pair(ref.kind, ref.origin);
  if (const auto known = events_.find(key); known != events_.end()) return &known->second;
  static constexpr char kOfKind[] =
      "SELECT sequence, t_ns, length_ns, origin, stream, value, text FROM event WHERE kind=?2 "
      "AND clip=?1 ORDER BY t_ns, sequence";
  static constexpr char kAll[] =
      "SELECT sequence, t_ns, length_ns, origin, stream, value, text, kind FROM event WHERE "
      "clip=?1 ORDER BY t_ns, sequence";
  HANDHOLD_ASSIGN(Statement * get, statements_.Get(ref.kind.empty() ? kAll : kOfKind));
  get->Bind(1, row_.row);
  if (!ref.kind.empty()) get->Bind(2, ref.kind);
  std::vector<StoredEvent> events;
  std::map<std::pair<std::string, std::string>, int64_t> numbers;
  auto last = numbers.end();  // most events are of the kind of the one before
  HANDHOLD_TRY(get->ForEach([&](Statement& s) -> Status {
    StoredEvent stored;
    stored.sequence = s.Integer(0);
    recording::Event& e = stored.event;
    e.clip_time = Timestamp::FromNanoseconds(s.Integer(1));
    e.length = Duration::Nanoseconds(s.Integer(2));
    e.origin = s.String(3);
    e.stream_id = s.Int(4);
    e.value = s.Real(5);
    e.text = s.String(6);
    e.kind = ref.kind.empty() ? s.String(7) : ref.kind;
    if (last == numbers.end() || last->first.first != e.kind || last->first.second != e.origin)
      last = numbers.try_emplace({e.kind, e.origin}, 0).first;
    stored.number = ++last->second;
    if (ref.origin.empty() || ref.origin == e.origin) events.push_back(std::move(stored));
    return {};
  }));
  return &events_.emplace(key, std::move(events)).first->second;
}

Result<std::vector<std::string>> QueryClip::Texts(Field field, const std::string& key) {
  static constexpr char kTags[] = "SELECT name FROM tag WHERE clip=?1 AND kind='tag'";
  static constexpr char kLabels[] =
      "SELECT value FROM tag WHERE clip=?1 AND kind='label' AND "
      "name NOT LIKE '%.confidence'";
  static constexpr char kStreams[] = "SELECT name FROM clip_stream WHERE clip=?1";
  static constexpr char kProperty[] = "SELECT value FROM clip_property WHERE clip=?1 AND key=?2";
  static constexpr char kMarkers[] =
      "SELECT substr(c.name, 1, length(c.name)-2) FROM clip_channel c JOIN clip_stream s ON "
      "s.clip=c.clip AND s.stream=c.stream WHERE c.clip=?1 AND s.kind IN ('markers', 'poses') AND "
      "substr(c.name, -2)='.x'";
  static constexpr char kChannels[] =
      "SELECT name FROM clip_channel WHERE clip=?1 UNION "
      "SELECT sensor||'.normal_force' FROM clip_zone WHERE clip=?1";
  const char* sql = field == Field::kTag       ? kTags
                    : field == Field::kLabel   ? kLabels
                    : field == Field::kStream  ? kStreams
                    : field == Field::kMarker  ? kMarkers
                    : field == Field::kChannel ? kChannels
                                               : kProperty;
  HANDHOLD_ASSIGN(Statement * get, statements_.Get(sql));
  get->Bind(1, row_.row);
  if (field == Field::kProperty) get->Bind(2, key);
  std::vector<std::string> texts;
  HANDHOLD_TRY(get->ForEach([&](Statement& s) -> Status {
    texts.push_back(s.String(0));
    return {};
  }));
  return texts;
}

Result<std::optional<double>> QueryClip::SumOfFeature(const char* name) {
  static constexpr char kSum[] = "SELECT sum(value) FROM feature WHERE clip=?1 AND name=?2";
  HANDHOLD_ASSIGN(Statement * get, statements_.Get(kSum));
  get->Bind(1, row_.row).Bind(2, name);
  HANDHOLD_ASSIGN(const bool row, get->Step());
  if (!row || get->IsNull(0)) return std::optional<double>();
  return std::optional<double>(get->Real(0));
}

Result<std::vector<double>> QueryClip::Quality(const Measure& measure) {
  static constexpr char kQuality[] =
      "SELECT worst FROM clip_quality WHERE clip=?1 AND what=?2 AND (?3='' OR stream=?3)";
  HANDHOLD_ASSIGN(Statement * get, statements_.Get(kQuality));
  get->Bind(1, row_.row).Bind(2, measure.quality).Bind(3, measure.source);
  std::vector<double> values;
  HANDHOLD_TRY(get->ForEach([&](Statement& s) -> Status {
    if (!s.IsNull(0)) values.push_back(s.Real(0));
    return {};
  }));
  return values;
}

Result<const std::vector<QueryClip::Sensor>*> QueryClip::Sensors() {
  if (sensors_) return &*sensors_;
  static constexpr char kZones[] =
      "SELECT stream, sensor, data FROM clip_zone WHERE clip=?1 ORDER BY stream, sensor";
  HANDHOLD_ASSIGN(Statement * get, statements_.Get(kZones));
  get->Bind(1, row_.row);
  std::vector<Sensor> sensors;
  HANDHOLD_TRY(get->ForEach([&](Statement& s) -> Status {
    HANDHOLD_ASSIGN(std::vector<SensorZone> zones, DecodeSensorZones(s.Blob(2)));
    const bool ascending =
        std::ranges::is_sorted(zones, {}, [](const SensorZone& z) { return z.range.begin; }) &&
        std::ranges::is_sorted(zones, {}, [](const SensorZone& z) { return z.range.end; });
    sensors.push_back({s.Int(0), s.String(1), std::move(zones), ascending});
    return {};
  }));
  sensors_ = std::move(sensors);
  return &*sensors_;
}

Result<const std::vector<Signal>*> QueryClip::Signals(const Measure& measure,
                                                      const recording::Event* of_event) {
  const bool by_event = measure.target == Measure::Target::kSensors && of_event != nullptr;
  const auto key = by_event ? std::tuple(&measure, of_event->stream_id, of_event->text)
                            : std::tuple(&measure, 0, std::string());
  if (const auto known = signals_.find(key); known != signals_.end()) return &known->second;
  std::vector<Signal> signals;
  const auto add = [&](const std::string& name, const std::string& unit, SignalPart part) {
    for (Signal& signal : signals) {
      if (signal.name == name && signal.unit == unit)
        return signal.parts.push_back(std::move(part));
    }
    signals.push_back({name, unit, {std::move(part)}});
  };
  if (measure.target == Measure::Target::kResult) {
    HANDHOLD_ASSIGN(const std::vector<ResultSeries>* all,
                    results_.Series(row_.sha256, measure.result));
    const Dimension wanted =
        measure.function == Measure::Function::kHeld ? measure.held_dimension : measure.dimension;
    for (const ResultSeries& series : *all) {
      if (series.name != measure.channel || FindUnit(series.unit)->dimension != wanted) continue;
      signals.push_back({series.name + series.task, series.unit, {}});
      signals.back().values =
          std::make_shared<SignalValues>(SignalValues{series.times, series.values});
    }
    return &signals_.emplace(key, std::move(signals)).first->second;
  }
  if (measure.target != Measure::Target::kChannel) {
    HANDHOLD_ASSIGN(const std::vector<Sensor>* sensors, Sensors());
    // An indexer's contact names its sensor in its text.
    const bool one =
        by_event && std::any_of(sensors->begin(), sensors->end(), [&](const Sensor& sensor) {
          return of_event->stream_id == sensor.stream_id && of_event->text == sensor.name;
        });
    for (const Sensor& sensor : *sensors) {
      if (one && sensor.name != of_event->text) continue;
      if (!measure.source.empty() && sensor.name != measure.source) continue;
      add(sensor.name + "." + std::string(SensorChannelName(measure.sensor_channel)),
          std::string(SensorChannelUnit(measure.sensor_channel)),
          {sensor.stream_id, -1, sensor.name, measure.sensor_channel});
    }
    return &signals_.emplace(key, std::move(signals)).first->second;
  }
  const Dimension dimension =
      measure.function == Measure::Function::kHeld ? measure.held_dimension : measure.dimension;
  if (measure.derived != Derived::kNone) {
    static constexpr char kItems[] =
        "SELECT c.stream, c.position, c.unit, s.name, ifnull(o.position, -1) FROM clip_channel c "
        "JOIN clip_stream s ON s.clip=c.clip AND s.stream=c.stream LEFT JOIN clip_channel o ON "
        "o.clip=c.clip AND o.stream=c.stream AND o.name=?4 WHERE c.name=?2 AND c.clip=?1 AND "
        "(?3='' OR s.name=?3) AND s.kind IN ('markers', 'poses') ORDER BY c.stream";
    const bool distance = measure.derived == Derived::kDistance;
    HANDHOLD_ASSIGN(Statement * get, statements_.Get(kItems));
    get->Bind(1, row_.row).Bind(2, measure.channel).Bind(3, measure.source).Bind(4, measure.other);
    HANDHOLD_TRY(get->ForEach([&](Statement& s) -> Status {
      const Unit* unit = FindUnit(s.Text(2));
      if (unit == nullptr || unit->dimension != Dimension::kLength) return {};
      if (distance && s.Integer(4) < 0) return {};
      add(s.String(3) + ":" + measure.channel, s.String(2) + (distance ? "" : "/s"),
          {s.Int(0), s.Int(1), "", 0, measure.derived, s.Int(4)});
      return {};
    }));
    return &signals_.emplace(key, std::move(signals)).first->second;
  }
  static constexpr char kChannels[] =
      "SELECT c.stream, c.position, c.unit, s.name FROM clip_channel c JOIN clip_stream s ON "
      "s.clip=c.clip AND s.stream=c.stream WHERE c.name=?2 AND c.clip=?1 AND (?3='' OR s.name=?3) "
      "AND s.kind NOT IN ('points', 'text') ORDER BY c.stream";
  HANDHOLD_ASSIGN(Statement * get, statements_.Get(kChannels));
  get->Bind(1, row_.row).Bind(2, measure.channel).Bind(3, measure.source);
  HANDHOLD_TRY(get->ForEach([&](Statement& s) -> Status {
    const Unit* unit = FindUnit(s.Text(2));
    if (measure.function != Measure::Function::kMissing &&
        (unit == nullptr || unit->dimension != dimension))
      return {};
    add(s.String(3) + ":" + measure.channel, s.String(2), {s.Int(0), s.Int(1), "", 0});
    return {};
  }));
  return &signals_.emplace(key, std::move(signals)).first->second;
}

Result<Bounds> QueryClip::KnownOfWindow(const Measure& measure, const Signal& signal,
                                        const Window& window) {
  Bounds max{-kInf, -kInf}, min{kInf, kInf};
  if (measure.target == Measure::Target::kChannel) return Bounds{-kInf, kInf};
  HANDHOLD_ASSIGN(const std::vector<Sensor>* sensors, Sensors());
  const auto k = static_cast<size_t>(measure.sensor_channel);
  for (const SignalPart& part : signal.parts) {
    for (const Sensor& sensor : *sensors) {
      if (sensor.name != part.sensor || sensor.stream_id != part.stream_id) continue;
      if (sensor.zones.empty()) return Bounds{-kInf, kInf};
      auto zone_at = sensor.zones.begin();
      if (sensor.ascending) {
        zone_at = std::ranges::lower_bound(sensor.zones, window.first, {},
                                           [](const SensorZone& z) { return z.range.end; });
      }
      for (; zone_at != sensor.zones.end(); ++zone_at) {
        const SensorZone& zone = *zone_at;
        if (sensor.ascending && zone.range.begin > window.last) break;
        if (zone.range.end < window.first || zone.range.begin > window.last ||
            zone.min[k] > zone.max[k])
          continue;
        max.high = std::max(max.high, static_cast<double>(zone.max[k]));
        min.low = std::min(min.low, static_cast<double>(zone.min[k]));
        if (zone.range.begin < window.first || zone.range.end > window.last) continue;
        max.low = std::max(max.low, JustBelow(zone.max[k]));
        min.high = std::min(min.high, JustAbove(zone.min[k]));
      }
    }
  }
  if (max.high == -kInf) return Bounds{0.0, 0.0, true};  // no chunk with a value
  return Loosened(measure.function, OfExtremes(measure.function, max, min));
}

Result<Bounds> QueryClip::KnownOfClip(const Measure& measure, const Signal& signal) {
  static constexpr char kFeatures[] =
      "SELECT f.name, f.value, s.samples FROM feature f JOIN clip_stream s ON s.clip=f.clip AND "
      "s.stream=f.stream WHERE f.clip=?1 AND f.stream=?2 AND f.channel=?3";
  const bool calibrated = measure.target != Measure::Target::kChannel;
  Bounds max{-kInf, -kInf}, min{kInf, kInf};
  double missing = 0, samples = 0;
  for (const SignalPart& part : signal.parts) {
    HANDHOLD_ASSIGN(Statement * get, statements_.Get(kFeatures));
    get->Bind(1, row_.row).Bind(2, part.stream_id);
    get->Bind(3, std::string_view(calibrated ? signal.name : measure.channel));
    HANDHOLD_TRY(get->ForEach([&](Statement& s) -> Status {
      const double value = s.Real(1);
      // Extremes of recorded channels come from zone maps and are floats.
      const auto f = static_cast<float>(value);
      if (s.Text(0) == "max") {
        max.high = std::max(max.high, value);
        max.low = std::max(max.low, calibrated ? value : JustBelow(f));
      } else if (s.Text(0) == "min") {
        min.low = std::min(min.low, value);
        min.high = std::min(min.high, calibrated ? value : JustAbove(f));
      } else if (s.Text(0) == "missing") {
        const double n = static_cast<double>(s.Integer(2));
        missing += std::round(value * n);
        samples += n;
      }
      return {};
    }));
  }
  if (measure.function == Measure::Function::kMissing) {
    if (samples == 0) return Bounds{0.0, 0.0, true};
    return Bounds{missing / samples, missing / samples};
  }
  if (max.high == -kInf) return Bounds{-kInf, kInf};
  Bounds known = Loosened(measure.function, OfExtremes(measure.function, max, min));
  if (const Unit* unit = FindUnit(signal.unit); unit != nullptr && unit->si_per_unit != 1.0) {
    known = Loosened(Measure::Function::kMean,
                     {known.low * unit->si_per_unit, known.high * unit->si_per_unit});
  }
  return known;
}

Result<Bounds> QueryClip::Known(const Measure& measure, const Signal& signal,
                                const std::optional<Window>& window) {
  if (measure.derived != Derived::kNone || measure.target == Measure::Target::kResult)
    return Bounds{-kInf, kInf};
  if (measure.function == Measure::Function::kHeld) {
    // Nothing is held for any time where the extremes rule it out.
    Measure extreme = measure;
    const bool greater =
        measure.held_op == Operator::kGreater || measure.held_op == Operator::kAtLeast;
    const bool less = measure.held_op == Operator::kLess || measure.held_op == Operator::kAtMost;
    if (!greater && !less) return Bounds{0.0, kInf};
    extreme.function = greater ? Measure::Function::kPeak : Measure::Function::kMin;
    extreme.dimension = measure.held_dimension;
    HANDHOLD_ASSIGN(const Bounds known, Known(extreme, signal, window));
    if (known.none) return known;
    const bool never = greater ? known.high < measure.held_value : known.low > measure.held_value;
    return Bounds{0.0, never ? 0.0 : kInf};
  }
  return window ? KnownOfWindow(measure, signal, *window) : KnownOfClip(measure, signal);
}

Result<Bounds> QueryClip::Measured(const Measure& measure, const Signal& signal,
                                   const std::optional<Window>& window) {
  if (!reader_ && !signal.values) {
    HANDHOLD_ASSIGN(reader_, OpenRow(library_.path(), row_));
  }
  const Unit* unit = FindUnit(signal.unit);
  if (measure.function == Measure::Function::kHeld) {
    const auto holds = [&](double value) {
      return Compare(measure.held_op, unit != nullptr ? ToSi(value, *unit) : value,
                     measure.held_value);
    };
    Result<std::optional<double>> longest = std::optional<double>();
    if (signal.values)
      longest = LongestHeldValues(*signal.values, window, holds);
    else
      longest = LongestHeld(*reader_, signal, window, holds);
    HANDHOLD_ASSIGN(const std::optional<double> longest_s, std::move(longest));
    return longest_s ? Bounds{*longest_s, *longest_s} : Bounds{0.0, 0.0, true};
  }
  SignalStats stats;
  if (signal.values) {
    stats = MeasureValues(*signal.values, window);
  } else {
    HANDHOLD_ASSIGN(stats, MeasureSignal(*reader_, signal, window));
  }
  const bool missing = measure.function == Measure::Function::kMissing;
  if (missing ? stats.samples == 0 : stats.values() == 0) return Bounds{0.0, 0.0, true};
  double value = 0.0;
  switch (measure.function) {
    case Measure::Function::kPeak:
      value = stats.max;
      break;
    case Measure::Function::kMin:
      value = stats.min;
      break;
    case Measure::Function::kMean:
      value = stats.mean();
      break;
    case Measure::Function::kRms:
      value = stats.rms();
      break;
    case Measure::Function::kRange:
      value = stats.max - stats.min;
      break;
    default:
      value = stats.missing_fraction();
  }
  if (!missing && unit != nullptr) value = ToSi(value, *unit);
  return Bounds{value, value};
}

}  // namespace handhold::store

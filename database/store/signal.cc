#include "database/store/signal.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "database/base/names.h"
#include "database/store/indexer.h"

namespace handhold::store {
namespace {

using recording::ForceSensor;
using recording::SampleWindow;
using recording::StreamInfo;
using recording::StreamKind;

constexpr Duration kPiece = Duration::Seconds(2);

const ForceSensor* SensorOf(const ClipReader& clip, const SignalPart& part) {
  for (const ForceSensor& sensor : clip.force_sensors()) {
    if (sensor.name == part.sensor && sensor.stream_id == part.stream_id) return &sensor;
  }
  return nullptr;
}

bool HasEvenSamples(const StreamInfo& info) {
  return info.kind != StreamKind::kText && info.kind != StreamKind::kUnlabelledPoints;
}

/// The values of one part, from a window that holds its channel alone or all that its sensor reads.
void ValuesOf(const ForceSensor* sensor, int sensor_channel, const SampleWindow& window,
              std::vector<double>& values) {
  const auto n = static_cast<size_t>(window.count());
  if (sensor == nullptr) {
    values.assign(window.values.begin(), window.values.begin() + static_cast<std::ptrdiff_t>(n));
    return;
  }
  values.resize(n);
  Eigen::VectorXd raw(window.channel_count);
  for (size_t i = 0; i < n; ++i) {
    for (int c = 0; c < window.channel_count; ++c) raw[c] = window.value(c, static_cast<int>(i));
    const geometry::Vec6 wrench = sensor->Wrench(raw);
    values[i] = sensor_channel == kNormalForceZone ? -wrench.head<3>().dot(sensor->normal_S)
                                                   : wrench[sensor_channel];
  }
}

/// Speeds and distances, sample by sample; keeps what it needs of the samples before.
class Deriver {
 public:
  Deriver(const StreamInfo& info, const SignalPart& part)
      : part_(part),
        lag_(std::max<size_t>(1, static_cast<size_t>(std::llround(0.02 * info.rate.hz())))) {}

  /// Channels in ascending order, as windows hold them.
  std::vector<int> channels() const {
    std::vector<int> all;
    for (const int x : {std::min(part_.channel, part_.other), std::max(part_.channel, part_.other)})
      for (int k = 0; x >= 0 && k < 3; ++k) all.push_back(x + k);
    return all;
  }

  void ValuesOf(const SampleWindow& window, std::vector<double>& values) {
    values.clear();
    for (int i = 0; i < window.count(); ++i) {
      const Sample now{window.counters[static_cast<size_t>(i)],
                       window.times[static_cast<size_t>(i)], At(window, 0, i)};
      if (part_.derived == Derived::kDistance) {
        values.push_back((now.p - At(window, 3, i)).norm());
        continue;
      }
      double speed = std::numeric_limits<double>::quiet_NaN();
      if (past_.size() == lag_) {
        const Sample& before = past_.front();
        const double seconds = (now.time - before.time).seconds();
        if (now.counter - before.counter == static_cast<int64_t>(lag_) && seconds > 0)
          speed = (now.p - before.p).norm() / seconds;
        past_.pop_front();
      }
      past_.push_back(now);
      values.push_back(speed);
    }
  }

 private:
  struct Sample {
    int64_t counter;
    Timestamp time;
    Eigen::Vector3d p;
  };
  static Eigen::Vector3d At(const SampleWindow& window, int channel, int i) {
    return {window.value(channel, i), window.value(channel + 1, i), window.value(channel + 2, i)};
  }
  const SignalPart part_;
  const size_t lag_;
  std::deque<Sample> past_;
};

std::vector<std::string> SourceNames(const ClipReader& clip) {
  std::vector<std::string> names;
  for (const ForceSensor& sensor : clip.force_sensors()) names.push_back(sensor.name);
  for (const StreamInfo& info : clip.streams()) names.push_back(info.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void AddPart(std::vector<Signal>& signals, const std::string& name, std::string_view unit,
             SignalPart part) {
  for (Signal& signal : signals) {
    if (signal.name == name && signal.unit == unit) {
      signal.parts.push_back(std::move(part));
      return;
    }
  }
  signals.push_back({name, std::string(unit), {std::move(part)}});
}

}  // namespace

double SignalStats::mean() const { return sum / static_cast<double>(values()); }
double SignalStats::rms() const { return std::sqrt(sum_squares / static_cast<double>(values())); }
double SignalStats::missing_fraction() const {
  return static_cast<double>(missing) / static_cast<double>(samples);
}

std::string_view SensorChannelUnit(int k) { return k >= 3 && k <= 5 ? "N m" : "N"; }

Status VisitSignal(
    const ClipReader& clip, const SignalPart& part, const std::optional<Window>& window,
    const std::function<Status(const SampleWindow&, std::span<const double>)>& visit) {
  const ForceSensor* sensor = part.channel < 0 ? SensorOf(clip, part) : nullptr;
  const StreamInfo* info = clip.FindStream(part.stream_id);
  if (info == nullptr || (part.channel < 0 && sensor == nullptr) ||
      part.channel >= info->channel_count())
    return Error{ErrorCode::kNotFound, clip.path() + ": has no such channel"};
  if (!HasEvenSamples(*info) ||
      (sensor != nullptr && sensor->calibration.cols() != info->channel_count()))
    return Error{ErrorCode::kUnsupported,
                 clip.path() + ": stream '" + info->name + "' has no such values"};
  std::vector<int> channels;
  if (sensor == nullptr) channels = {part.channel};
  std::optional<Deriver> deriver;
  if (part.derived != Derived::kNone) {
    channels = deriver.emplace(*info, part).channels();
    if (channels.back() >= info->channel_count())
      return Error{ErrorCode::kNotFound, clip.path() + ": has no such channel"};
  }
  std::vector<double> values;
  const auto take = [&](const SampleWindow& samples) -> Status {
    if (deriver) {
      deriver->ValuesOf(samples, values);
    } else {
      ValuesOf(sensor, part.sensor_channel, samples, values);
    }
    return visit(samples, values);
  };
  if (!window) return clip.Stream(part.stream_id, channels, take);
  const TimeRange extent = clip.Extent(part.stream_id);
  const Timestamp end = std::min(window->last + Duration::Nanoseconds(1), extent.end);
  for (Timestamp at = std::max(window->first, extent.begin); at < end;) {
    const Timestamp next = std::min(at + kPiece, end);
    HANDHOLD_ASSIGN(const SampleWindow samples, clip.Read(part.stream_id, {at, next}, channels));
    HANDHOLD_TRY(take(samples));
    at = next;
  }
  return {};
}

namespace {

bool Inside(const SignalValues& v, size_t i, const std::optional<Window>& window) {
  return v.times.empty() || !window || (window->first <= v.times[i] && v.times[i] <= window->last);
}

}  // namespace

SignalStats MeasureValues(const SignalValues& v, const std::optional<Window>& window) {
  SignalStats stats;
  for (size_t i = 0; i < v.values.size(); ++i)
    if (!std::isnan(v.values[i]) && Inside(v, i, window)) stats.Add(v.values[i]);
  return stats;
}

std::optional<double> LongestHeldValues(const SignalValues& v, const std::optional<Window>& window,
                                        const std::function<bool(double)>& holds) {
  std::vector<int64_t> steps;
  for (size_t i = 1; i < v.times.size(); ++i) steps.push_back((v.times[i] - v.times[i - 1]).ns());
  int64_t usual = 0;
  if (!steps.empty()) {
    const auto middle = steps.begin() + std::ssize(steps) / 2;
    std::nth_element(steps.begin(), middle, steps.end());
    usual = *middle;
  }
  std::optional<double> longest;
  bool holding = false;
  Timestamp since;
  for (size_t i = 0; i < std::min(v.times.size(), v.values.size()); ++i) {
    if (!Inside(v, i, window)) continue;
    if (holding && 2 * (v.times[i] - v.times[i - 1]).ns() > 3 * usual) holding = false;
    if (!std::isnan(v.values[i]) && !longest) longest = 0.0;
    if (std::isnan(v.values[i]) || !holds(v.values[i])) {
      holding = false;
      continue;
    }
    if (!holding) since = v.times[i];
    holding = true;
    longest = std::max(*longest, (v.times[i] - since).seconds());
  }
  return longest;
}

Result<SignalStats> MeasureSignal(const ClipReader& clip, const Signal& signal,
                                  const std::optional<Window>& window) {
  SignalStats stats;
  for (const SignalPart& part : signal.parts) {
    HANDHOLD_TRY(VisitSignal(clip, part, window,
                             [&](const SampleWindow&, std::span<const double> values) -> Status {
                               for (const double value : values) stats.Add(value);
                               return {};
                             }));
  }
  return stats;
}

Result<std::optional<double>> LongestHeld(const ClipReader& clip, const Signal& signal,
                                          const std::optional<Window>& window,
                                          const std::function<bool(double)>& holds) {
  std::optional<double> longest;
  for (const SignalPart& part : signal.parts) {
    std::optional<Timestamp> since;
    int64_t last = 0;
    HANDHOLD_TRY(VisitSignal(clip, part, window,
                             [&](const SampleWindow& at, std::span<const double> values) -> Status {
                               for (size_t i = 0; i < values.size(); ++i) {
                                 if (since && at.counters[i] != last + 1) since.reset();
                                 last = at.counters[i];
                                 if (!std::isnan(values[i]) && !longest) longest = 0.0;
                                 if (std::isnan(values[i]) || !holds(values[i])) {
                                   since.reset();
                                   continue;
                                 }
                                 if (!since) since = at.times[i];
                                 longest = std::max(*longest, (at.times[i] - *since).seconds());
                               }
                               return {};
                             }));
  }
  return longest;
}

Result<std::vector<Signal>> FindSignals(const ClipReader& clip,
                                        const std::string& stream_or_sensor) {
  std::vector<Signal> signals;
  bool ragged = false;
  for (const ForceSensor& sensor : clip.force_sensors()) {
    if (sensor.name != stream_or_sensor) continue;
    for (int k = 0; k < kSensorZones; ++k)
      AddPart(signals, sensor.name + "." + std::string(SensorChannelName(k)), SensorChannelUnit(k),
              {sensor.stream_id, -1, sensor.name, k});
  }
  if (!signals.empty()) return signals;
  for (const StreamInfo& info : clip.streams()) {
    if (info.name != stream_or_sensor) continue;
    ragged = ragged || !HasEvenSamples(info);
    if (!HasEvenSamples(info)) continue;
    for (int c = 0; c < info.channel_count(); ++c) {
      const recording::Channel& channel = info.channels[static_cast<size_t>(c)];
      AddPart(signals, channel.name, channel.unit, {info.id, c, "", 0});
    }
  }
  if (!signals.empty()) return signals;
  if (ragged)
    return Error{ErrorCode::kUnsupported, "'" + stream_or_sensor +
                                              "' is text or ragged points: it has no channels to "
                                              "measure"};
  return Error{ErrorCode::kNotFound, "clip '" + clip.info().name + "' has no stream or sensor '" +
                                         stream_or_sensor + "'" +
                                         DidYouMean(stream_or_sensor, SourceNames(clip))};
}

Result<Signal> FindSignal(const ClipReader& clip, const std::string& stream_or_sensor,
                          const std::string& channel) {
  HANDHOLD_ASSIGN(const std::vector<Signal> signals, FindSignals(clip, stream_or_sensor));
  std::vector<std::string> names;
  for (const Signal& signal : signals) {
    if (signal.name == channel || signal.name == stream_or_sensor + "." + channel) return signal;
    const std::string prefix = stream_or_sensor + ".";
    const bool own = signal.name.compare(0, prefix.size(), prefix) == 0;
    names.push_back(own ? signal.name.substr(prefix.size()) : signal.name);
  }
  // A stream's name will do for its sensor, where the stream itself has no such channel.
  for (const ForceSensor& sensor : clip.force_sensors()) {
    const StreamInfo* info = clip.FindStream(sensor.stream_id);
    if (info != nullptr && info->name == stream_or_sensor && sensor.name != stream_or_sensor) {
      const Result<Signal> calibrated = FindSignal(clip, sensor.name, channel);
      if (calibrated) return calibrated;
    }
  }
  return Error{ErrorCode::kNotFound, "'" + stream_or_sensor + "' has no channel '" + channel + "'" +
                                         DidYouMean(channel, names)};
}

}  // namespace handhold::store

#include "database/store/indexer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

namespace handhold::store {
namespace {

using recording::Event;
using recording::ForceSensor;
using recording::SampleWindow;
using recording::StreamInfo;

/// Follows one sensor's samples: extremes of its calibrated channels, and contacts by hysteresis.
class SensorWalk {
 public:
  SensorWalk(const ForceSensor& sensor, const IndexerOptions& options, double baseline_N)
      : sensor_(sensor), options_(options), baseline_N_(baseline_N) {}

  void Take(const SampleWindow& window) {
    Eigen::VectorXd raw(window.channel_count);
    for (int i = 0; i < window.count(); ++i) {
      for (int c = 0; c < window.channel_count; ++c) raw[c] = window.value(c, i);
      const geometry::Vec6 wrench = sensor_.Wrench(raw);
      double values[kSensorZones];
      for (int k = 0; k < 6; ++k) values[k] = wrench[k];
      values[kNormalForceZone] = -wrench.head<3>().dot(sensor_.normal_S);
      const Timestamp t = window.times[static_cast<size_t>(i)];
      for (int k = 0; k < kSensorZones; ++k) {
        if (values[k] > extremes_[k].max) extremes_[k].max = values[k], extremes_[k].at_max = t;
        if (values[k] < extremes_[k].min) extremes_[k].min = values[k], extremes_[k].at_min = t;
      }
      Follow(t, values[kNormalForceZone]);
      last_ = t;
    }
  }

  void Finish(ClipIndex& index) {
    if (in_contact_) Release(parted_.value_or(last_));
    double contact_s = 0.0;
    for (const Event& event : events_) contact_s += event.length.seconds();
    const auto add = [&](const std::string& channel, const char* name, double value, Timestamp at) {
      index.features.push_back({sensor_.stream_id, sensor_.name + "." + channel, name, value, at});
    };
    for (int k = 0; k < kSensorZones; ++k) {
      if (extremes_[k].min > extremes_[k].max) continue;
      add(std::string(SensorChannelName(k)), "max", extremes_[k].max, extremes_[k].at_max);
      add(std::string(SensorChannelName(k)), "min", extremes_[k].min, extremes_[k].at_min);
    }
    add("normal_force", "contacts", static_cast<double>(events_.size() / 2), Timestamp());
    add("normal_force", "contact_s", contact_s, Timestamp());
    add("normal_force", "baseline", baseline_N_, Timestamp());
    index.contacts.insert(index.contacts.end(), events_.begin(), events_.end());
  }

 private:
  void Follow(Timestamp t, double normal_N) {
    if (std::isnan(normal_N)) return;
    if (parted_ && t - *parted_ >= IndexerOptions::kBounce) Release(*parted_);
    const double load_N = normal_N - baseline_N_;
    if (load_N >= options_.contact_on_N) {
      if (!in_contact_) began_ = t, peak_N_ = normal_N;
      in_contact_ = true;
      parted_.reset();
    } else if (in_contact_ && !parted_ && load_N < options_.contact_off_N) {
      parted_ = t;
    }
    if (in_contact_ && !parted_) peak_N_ = std::max(peak_N_, normal_N);
  }
  void Release(Timestamp t) {
    in_contact_ = false;
    parted_.reset();
    events_.push_back(
        {began_, t - began_, "contact_on", "indexer", sensor_.stream_id, peak_N_, sensor_.name});
    events_.push_back(
        {t, Duration(), "contact_off", "indexer", sensor_.stream_id, 0.0, sensor_.name});
  }

  struct Extreme {
    double min = std::numeric_limits<double>::infinity(),
           max = -std::numeric_limits<double>::infinity();
    Timestamp at_min, at_max;
  };
  const ForceSensor& sensor_;
  const IndexerOptions& options_;
  const double baseline_N_;
  Extreme extremes_[kSensorZones];
  bool in_contact_ = false;
  Timestamp began_, last_;
  std::optional<Timestamp> parted_;  ///< below contact_off_N since then: a release, or a bounce
  double peak_N_ = 0.0;
  std::vector<Event> events_;
};

/// Gathers the zone maps of one stream, one after another.
class ZoneWalk {
 public:
  ZoneWalk(const StreamInfo& info, std::vector<ClipIndex::Sensor*> sensors)
      : sensors_(std::move(sensors)) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    for (int c = 0; c < info.channel_count(); ++c)
      channels_.push_back({info.id, c, kNone, -kNone, 0.0, {}});
  }

  void Take(const ClipReader::TimedZone& timed) {
    const Zone& zone = timed.zone;
    if (!begin_) begin_ = timed.range.begin;
    samples_ += zone.count;
    for (size_t c = 0; c < std::min(channels_.size(), zone.channels.size()); ++c) {
      const ZoneRange& range = zone.channels[c];
      channels_[c].missing += range.missing;
      if (range.empty()) continue;
      channels_[c].min = std::min(channels_[c].min, static_cast<double>(range.min));
      channels_[c].max = std::max(channels_[c].max, static_cast<double>(range.max));
    }
    size_t at = 0;
    for (ClipIndex::Sensor* sensor : sensors_) {
      if (zone.calibrated.size() < at + kSensorZones) break;
      SensorZone& kept = sensor->zones.emplace_back();
      kept.range = timed.range;
      for (size_t k = 0; k < kSensorZones; ++k) {
        kept.min[k] = zone.calibrated[at + k].min;
        kept.max[k] = zone.calibrated[at + k].max;
      }
      at += kSensorZones;
    }
  }

  void Finish(ClipIndex& index) {
    if (!begin_) return;
    for (ChannelRange& channel : channels_) {
      channel.missing /= static_cast<double>(std::max<int64_t>(1, samples_));
      channel.begin = *begin_;
      index.channels.push_back(channel);
    }
  }

 private:
  std::vector<ClipIndex::Sensor*> sensors_;
  std::vector<ChannelRange> channels_;
  std::optional<Timestamp> begin_;
  int64_t samples_ = 0;
};

}  // namespace

std::string_view SensorChannelName(int k) {
  static constexpr std::string_view kNames[kSensorZones] = {"fx", "fy", "fz",          "tx",
                                                            "ty", "tz", "normal_force"};
  return kNames[k];
}

Result<double> BaselineOf(const ClipReader& clip, const ForceSensor& sensor,
                          const IndexerOptions& options) {
  constexpr Duration kWindow = Duration::Milliseconds(50);
  constexpr int64_t kWindows = 200;
  const TimeRange extent = clip.Extent(sensor.stream_id);
  const int64_t step_ns = std::max<int64_t>(kWindow.ns(), extent.length().ns() / kWindows);
  std::vector<double> medians, values;
  for (Timestamp at = extent.begin; at < extent.end; at += Duration::Nanoseconds(step_ns)) {
    HANDHOLD_ASSIGN(const SampleWindow window, clip.Read(sensor.stream_id, {at, at + kWindow}, {}));
    values.clear();
    Eigen::VectorXd raw(window.channel_count);
    for (int i = 0; i < window.count(); ++i) {
      for (int c = 0; c < window.channel_count; ++c) raw[c] = window.value(c, i);
      const double normal_N = sensor.NormalForce(raw);
      if (!std::isnan(normal_N)) values.push_back(normal_N);
    }
    if (values.empty()) continue;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    medians.push_back(*middle);
  }
  if (medians.empty()) return 0.0;
  const auto tenth = medians.begin() + static_cast<std::ptrdiff_t>(medians.size() / 10);
  std::nth_element(medians.begin(), tenth, medians.end());
  const double size_N = std::fabs(*tenth);
  return size_N < 0.5 * options.contact_off_N || size_N > IndexerOptions::kMostBaseline_N ? 0.0
                                                                                          : *tenth;
}

Result<ClipIndex> IndexClip(const ClipReader& clip, const IndexerOptions& options) {
  ClipIndex index;
  for (const StreamInfo& info : clip.streams()) {
    if (info.kind == recording::StreamKind::kText) continue;
    const size_t first = index.sensors.size();
    for (const ForceSensor& sensor : clip.force_sensors()) {
      if (sensor.stream_id == info.id) index.sensors.push_back({info.id, sensor.name, {}});
    }
    std::vector<ClipIndex::Sensor*> sensors;
    for (size_t s = first; s < index.sensors.size(); ++s) sensors.push_back(&index.sensors[s]);
    ZoneWalk zones(info, std::move(sensors));
    HANDHOLD_TRY(clip.VisitZones(info.id, [&](const ClipReader::TimedZone& zone) -> Status {
      zones.Take(zone);
      return {};
    }));
    zones.Finish(index);
    for (const ForceSensor& sensor : clip.force_sensors()) {
      if (sensor.stream_id != info.id || sensor.calibration.cols() != info.channel_count())
        continue;
      HANDHOLD_ASSIGN(const double baseline_N, BaselineOf(clip, sensor, options));
      SensorWalk walk(sensor, options, baseline_N);
      HANDHOLD_TRY(clip.Stream(info.id, {}, [&](const SampleWindow& window) -> Status {
        walk.Take(window);
        return {};
      }));
      walk.Finish(index);
    }
  }
  std::stable_sort(index.contacts.begin(), index.contacts.end(),
                   [](const Event& a, const Event& b) { return a.clip_time < b.clip_time; });
  return index;
}

Bytes EncodeSensorZones(std::span<const SensorZone> zones) {
  Bytes bytes;
  for (const SensorZone& zone : zones) {
    PutFixed(bytes, zone.range.begin.ns());
    PutFixed(bytes, zone.range.end.ns());
    for (const float x : zone.min) PutFixed(bytes, x);
    for (const float x : zone.max) PutFixed(bytes, x);
  }
  return bytes;
}

Result<std::vector<SensorZone>> DecodeSensorZones(std::span<const uint8_t> bytes) {
  constexpr size_t kSize = 16 + 2 * sizeof(float) * kSensorZones;
  if (bytes.size() % kSize != 0)
    return Error{ErrorCode::kCorrupt,
                 "the catalogue's zone maps are damaged: 'handhold library rebuild'"};
  std::vector<SensorZone> zones(bytes.size() / kSize);
  ByteReader in(bytes);
  for (SensorZone& zone : zones) {
    zone.range.begin = Timestamp::FromNanoseconds(in.Fixed<int64_t>());
    zone.range.end = Timestamp::FromNanoseconds(in.Fixed<int64_t>());
    for (float& x : zone.min) x = in.Fixed<float>();
    for (float& x : zone.max) x = in.Fixed<float>();
  }
  return zones;
}

}  // namespace handhold::store

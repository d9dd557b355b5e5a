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
  SensorWalk(const ForceSensor& sensor, const IndexerOptions& options)
      : sensor_(sensor), options_(options) {}

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
    index.contacts.insert(index.contacts.end(), events_.begin(), events_.end());
  }

 private:
  void Follow(Timestamp t, double normal_N) {
    if (std::isnan(normal_N)) return;
    if (parted_ && t - *parted_ >= IndexerOptions::kBounce) Release(*parted_);
    if (normal_N >= options_.contact_on_N) {
      if (!in_contact_) began_ = t, peak_N_ = normal_N;
      in_contact_ = true;
      parted_.reset();
    } else if (in_contact_ && !parted_ && normal_N < options_.contact_off_N) {
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
  Extreme extremes_[kSensorZones];
  bool in_contact_ = false;
  Timestamp began_, last_;
  std::optional<Timestamp> parted_;  ///< below contact_off_N since then: a release, or a bounce
  double peak_N_ = 0.0;
  std::vector<Event> events_;
};

void AddChannelFeatures(const StreamInfo& info, std::span<const ClipReader::TimedZone> zones,
                        ClipIndex& index) {
  if (zones.empty()) return;
  int64_t total = 0;
  for (const ClipReader::TimedZone& z : zones) total += z.zone.count;
  for (size_t c = 0; c < info.channels.size(); ++c) {
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    int64_t missing = 0;
    for (const ClipReader::TimedZone& z : zones) {
      if (c >= z.zone.channels.size()) continue;
      const ZoneRange& range = z.zone.channels[c];
      missing += range.missing;
      if (range.empty()) continue;
      lowest = std::min(lowest, static_cast<double>(range.min));
      highest = std::max(highest, static_cast<double>(range.max));
    }
    const Timestamp begin = zones.front().range.begin;
    const std::string& name = info.channels[c].name;
    index.features.push_back(
        {info.id, name, "missing",
         static_cast<double>(missing) / static_cast<double>(std::max<int64_t>(1, total)), begin});
    if (lowest > highest) continue;
    index.features.push_back({info.id, name, "min", lowest, begin});
    index.features.push_back({info.id, name, "max", highest, begin});
  }
}

}  // namespace

std::string_view SensorChannelName(int k) {
  static constexpr std::string_view kNames[kSensorZones] = {"fx", "fy", "fz",          "tx",
                                                            "ty", "tz", "normal_force"};
  return kNames[k];
}

Result<ClipIndex> IndexClip(const ClipReader& clip, const IndexerOptions& options) {
  ClipIndex index;
  for (const StreamInfo& info : clip.streams()) {
    if (info.kind == recording::StreamKind::kText) continue;
    HANDHOLD_ASSIGN(const std::vector<ClipReader::TimedZone> zones, clip.Zones(info.id));
    AddChannelFeatures(info, zones, index);
    size_t at = 0;
    for (const ForceSensor& sensor : clip.force_sensors()) {
      if (sensor.stream_id != info.id) continue;
      ClipIndex::Sensor& entry = index.sensors.emplace_back();
      entry.stream_id = info.id;
      entry.name = sensor.name;
      for (const ClipReader::TimedZone& z : zones) {
        if (z.zone.calibrated.size() < at + kSensorZones) continue;
        SensorZone& zone = entry.zones.emplace_back();
        zone.range = z.range;
        for (size_t k = 0; k < kSensorZones; ++k) {
          zone.min[k] = z.zone.calibrated[at + k].min;
          zone.max[k] = z.zone.calibrated[at + k].max;
        }
      }
      at += kSensorZones;
      if (sensor.calibration.cols() != info.channel_count()) continue;
      SensorWalk walk(sensor, options);
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

#include "capture/session/feed.h"

#include <algorithm>

namespace handhold::capture {

using recording::ForceSensor;
using recording::StreamInfo;
using recording::StreamKind;

std::string StreamNames::For(size_t source, const std::string& source_name,
                             const std::string& stream) {
  const auto given = given_.try_emplace({source, stream}, stream);
  const auto at = given.first;  // no structured binding: clang 14 cannot capture one
  if (!given.second) return at->second;
  const auto taken = [&](const std::string& name) {
    return std::any_of(given_.begin(), given_.end(), [&](const auto& other) {
      return other.first != at->first && other.second == name;
    });
  };
  while (taken(at->second)) at->second = source_name + "/" + at->second;
  return at->second;
}

std::vector<ForceSensor> PlacedSensors(const std::string& source_name,
                                       std::vector<ForceSensor> sensors,
                                       const std::vector<ForceSensor>& overrides,
                                       std::span<const StreamInfo> streams) {
  std::vector<ForceSensor> placed;
  for (ForceSensor& sensor : sensors) {
    const StreamInfo* found = nullptr;
    const StreamInfo* any = nullptr;
    int forces = 0;
    for (const StreamInfo& stream : streams) {
      if (stream.kind != StreamKind::kForceTorque) continue;
      any = &stream;
      ++forces;
      const bool named = stream.name == source_name + "/" + sensor.name ||
                         stream.name.ends_with("/" + sensor.name);
      if (sensor.stream_id != 0 ? stream.id == sensor.stream_id : named) found = &stream;
    }
    if (found == nullptr && forces == 1 && sensor.stream_id == 0) found = any;
    if (found == nullptr) continue;
    for (const ForceSensor& rig : overrides) {
      if (rig.name != sensor.name) continue;
      sensor.mounted_on = rig.mounted_on;
      sensor.X_MS = rig.X_MS;
      sensor.normal_S = rig.normal_S;
      sensor.sign = rig.sign;
      if (rig.full_scale_N > 0) sensor.full_scale_N = rig.full_scale_N;
      if (rig.calibration.cols() > 0) sensor.calibration = rig.calibration;
      if (rig.bias.size() > 0) sensor.bias = rig.bias;
    }
    sensor.stream_id = 1 + static_cast<int>(found - streams.data());
    placed.push_back(std::move(sensor));
  }
  return placed;
}

void Feed::Reset(Duration ring_length, const std::function<Timestamp()>& now) {
  sink = std::make_unique<RingSink>(ring_length, now, recorded.source.get());
  read = released = sink->begin();
  announcement = announcement_released = -1;
  meters.clear();
  by_number.clear();
  newest_number.clear();
  connected = false;
  text.clear();
  cut = false;
  armed_at = now();
}

std::pair<RingSink::Announcement, std::vector<ForceSensor>> Feed::Announced(
    int which, StreamNames& names, StreamNames& sensor_names) const {
  RingSink::Announcement announced = sink->announcement(which);
  std::vector<ForceSensor> sensors =
      PlacedSensors(name(), announced.sensors, recorded.sensor_overrides, announced.streams);
  for (ForceSensor& sensor : sensors) sensor.name = sensor_names.For(index, name(), sensor.name);
  for (StreamInfo& stream : announced.streams) stream.name = names.For(index, name(), stream.name);
  return {std::move(announced), std::move(sensors)};
}

void Feed::Meter(const RingSink::Announcement& announced, const std::vector<ForceSensor>& sensors) {
  for (size_t i = 0; i < announced.streams.size(); ++i) {
    const StreamInfo& stream = announced.streams[i];
    const int number = announced.base + static_cast<int>(i);
    std::unique_ptr<StreamMeter>& meter = meters[stream.name];
    if (!meter) {
      meter = std::make_unique<StreamMeter>(stream);
    } else if (!(meter->info() == stream)) {
      meter->SetInfo(stream);
    }
    for (const ForceSensor& sensor : sensors) {
      if (sensor.stream_id == static_cast<int>(i) + 1) meter->SetSensor(sensor);
    }
    by_number[number] = meter.get();
    newest_number[stream.name] = number;
  }
}

bool Feed::Requires(const std::string& stream) const {
  if (!recorded.required) return false;
  const auto& wanted = recorded.required_streams;
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& entry) {
           return stream == entry || stream == name() + "/" + entry;
         });
}

void Feed::ClearMeters() {
  meters.clear();
  by_number.clear();
  newest_number.clear();
}

}  // namespace handhold::capture

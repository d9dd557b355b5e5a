/// Reads a clip once and answers what the catalogue keeps of it: extremes, contacts, zone maps of
/// its force sensors.
#pragma once

#include <string>
#include <vector>

#include "database/store/clip_reader.h"

namespace handhold::store {

/// How contacts are found in normal_force: a threshold with hysteresis. Stored in the catalogue;
/// another value is another index.
struct IndexerOptions {
  double contact_on_N = 0.5;    ///< contact begins at the first sample at or above this ...
  double contact_off_N = 0.25;  ///< ... and ends at the first one below this ...
  /// ... unless it reaches contact_on_N again within this: a fingertip bounces once or twice as it
  /// lands, and that is one touch. No hand lets go and presses again so fast.
  static constexpr Duration kBounce = Duration::Milliseconds(20);
  /// Both count from what the sensor reads with nothing on it (BaselineOf): one that was not tared
  /// would otherwise be in contact from the first sample to the last.
  static constexpr double kMostBaseline_N = 1.0;
  static constexpr int kVersion = 4;  ///< raised when the same clip would be indexed differently
  bool operator==(const IndexerOptions&) const = default;
};

/// One number worth searching for. channel: "plate.normal_force" (sensor, dot, fx fy fz tx ty tz
/// normal_force); name: "max", "min", "contacts", "contact_s", "baseline" (N, of normal_force).
struct Feature {
  int stream_id = 0;
  std::string channel;
  std::string name;
  double value = 0.0;
  Timestamp clip_time;  ///< when, for max and min; else 0
};

/// What one sensor's readings are within one chunk, from the zone maps.
struct SensorZone {
  TimeRange range;
  float min[kSensorZones], max[kSensorZones];
};

/// What a stored channel's values are over the clip: the features "min", "max" and "missing", at
/// the stream's begin. Kept apart and small, since a clip may have 80 000 channels.
struct ChannelRange {
  int stream_id = 0;
  int channel = 0;
  double min = 0.0, max = 0.0;  ///< min > max: no value
  double missing = 0.0;         ///< fraction of samples
  Timestamp begin;
};

struct ClipIndex {
  std::vector<ChannelRange> channels;
  std::vector<Feature> features;           ///< of force sensors
  std::vector<recording::Event> contacts;  ///< contact_on (value: peak N, length: until off) and
                                           ///< contact_off, origin "indexer"
  struct Sensor {
    int stream_id = 0;
    std::string name;
    std::vector<SensorZone> zones;
  };
  std::vector<Sensor> sensors;
};

Result<ClipIndex> IndexClip(const ClipReader& clip, const IndexerOptions& options = {});

/// What the sensor's normal_force is with nothing on it: the lowest tenth of the medians of 50 ms,
/// of up to 200 of them spread over its stream. 0 below contact_off_N / 2, which holds no contact;
/// 0 above kMostBaseline_N, which is a load: a take that is pressed by more from end to end keeps
/// its contact.
Result<double> BaselineOf(const ClipReader& clip, const recording::ForceSensor& sensor,
                          const IndexerOptions& options);

/// The catalogue's clip_zone.data and back.
Bytes EncodeSensorZones(std::span<const SensorZone> zones);
Result<std::vector<SensorZone>> DecodeSensorZones(std::span<const uint8_t> bytes);
/// "fx" ... "tz", "normal_force", in the order of a SensorZone.
std::string_view SensorChannelName(int k);

}  // namespace handhold::store

/// Zone maps: per chunk and channel the least and greatest value and how many are missing, so that
/// a search for "force above 14 N" opens only the chunks that can hold it.
///
/// A transducer's zones also bound what its sensors make of it: six calibrated channels and the
/// normal force. Bounds are floats rounded outwards: a value is never outside, and at most one
/// float step inside.
#pragma once

#include <span>
#include <vector>

#include "database/recording/force_sensor.h"
#include "database/store/chunk.h"

namespace handhold::store {

struct ZoneRange {
  float min = 0.0f, max = 0.0f;  ///< min > max: no value at all (all missing)
  uint32_t missing = 0;          ///< samples without a value
  bool empty() const { return min > max; }
  bool CanExceed(double threshold) const {
    return !empty() && static_cast<double>(max) > threshold;
  }
  bool CanBeBelow(double threshold) const {
    return !empty() && static_cast<double>(min) < threshold;
  }
};

/// Calibrated channels of one sensor, in this order: fx fy fz (N), tx ty tz (N m), normal_force
/// (N).
inline constexpr int kSensorZones = 7;
inline constexpr int kNormalForceZone = 6;

/// What is known of one chunk without opening it.
struct Zone {
  int stream_id = 0;
  uint32_t sequence = 0;
  int count = 0;                      ///< samples
  std::vector<ZoneRange> channels;    ///< one per channel of the stream
  std::vector<ZoneRange> calibrated;  ///< kSensorZones per sensor that reads the stream, in the
                                      ///< clip's order of sensors
};

/// Computed from stored (decoded) samples. `sensors`: those that read this stream.
Zone ComputeZone(const ChunkSamples& samples, int stream_id, uint32_t sequence,
                 std::span<const recording::ForceSensor* const> sensors);
Bytes EncodeZone(const Zone& zone);
Result<Zone> DecodeZone(int64_t id, std::span<const uint8_t> bytes);

}  // namespace handhold::store

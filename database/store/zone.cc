#include "database/store/zone.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "database/store/clip_file.h"
#include "database/store/crc32c.h"

namespace handhold::store {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

float Below(double value) {
  if (value < -static_cast<double>(std::numeric_limits<float>::max())) return -kInf;
  if (value > static_cast<double>(std::numeric_limits<float>::max()))
    return std::isinf(value) ? kInf : std::numeric_limits<float>::max();
  const auto f = static_cast<float>(value);
  return static_cast<double>(f) > value ? std::nextafterf(f, -kInf) : f;
}
float Above(double value) { return -Below(-value); }

class Range {
 public:
  void Add(double value) {
    if (value != value) {
      ++missing_;
      return;
    }
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }
  ZoneRange Done() const {
    if (min_ > max_) return {kInf, -kInf, missing_};
    return {Below(min_), Above(max_), missing_};
  }

 private:
  double min_ = std::numeric_limits<double>::infinity(),
         max_ = -std::numeric_limits<double>::infinity();
  uint32_t missing_ = 0;
};

}  // namespace

Zone ComputeZone(const ChunkSamples& samples, int stream_id, uint32_t sequence,
                 std::span<const recording::ForceSensor* const> sensors) {
  Zone zone;
  zone.stream_id = stream_id;
  zone.sequence = sequence;
  zone.count = samples.count();
  for (int c = 0; c < samples.columns(); ++c) {
    Range range;
    const double* values = samples.column(c);
    for (int i = 0; i < samples.value_count(); ++i) range.Add(values[i]);
    zone.channels.push_back(range.Done());
  }
  for (const recording::ForceSensor* sensor : sensors) {
    Range ranges[kSensorZones];
    if (sensor->calibration.cols() == samples.columns()) {
      Eigen::VectorXd raw(samples.columns());
      for (int i = 0; i < samples.value_count(); ++i) {
        for (int c = 0; c < samples.columns(); ++c) raw[c] = samples.column(c)[i];
        const geometry::Vec6 wrench = sensor->Wrench(raw);
        for (int k = 0; k < 6; ++k) ranges[k].Add(wrench[k]);
        ranges[kNormalForceZone].Add(-wrench.head<3>().dot(sensor->normal_S));
      }
    }
    for (const Range& range : ranges) zone.calibrated.push_back(range.Done());
  }
  return zone;
}

Bytes EncodeZone(const Zone& zone) {
  Bytes bytes;
  PutFixed(bytes, static_cast<uint32_t>(zone.count));
  PutFixed(bytes, static_cast<uint32_t>(zone.channels.size()));
  PutFixed(bytes, static_cast<uint32_t>(zone.calibrated.size()));
  for (const std::vector<ZoneRange>* list : {&zone.channels, &zone.calibrated}) {
    for (const ZoneRange& range : *list) {
      PutFixed(bytes, range.min);
      PutFixed(bytes, range.max);
      PutFixed(bytes, range.missing);
    }
  }
  Bytes id;
  PutFixed(id, ChunkId(zone.stream_id, zone.sequence));
  PutFixed(bytes, Crc32c(bytes, Crc32c(id)));
  return bytes;
}

Result<Zone> DecodeZone(int64_t id, std::span<const uint8_t> bytes) {
  Zone zone;
  zone.stream_id = StreamOfChunk(id);
  zone.sequence = static_cast<uint32_t>(id);
  const Error bad{ErrorCode::kCorrupt, "zone map of stream " + std::to_string(zone.stream_id) +
                                           ", chunk " + std::to_string(zone.sequence) +
                                           " is damaged"};
  ByteReader in(bytes);
  zone.count = static_cast<int>(in.Fixed<uint32_t>());
  const size_t channels = in.Fixed<uint32_t>(), calibrated = in.Fixed<uint32_t>();
  if (!in.ok() || bytes.size() < 16 || (bytes.size() - 16) / 12 != channels + calibrated ||
      (bytes.size() - 16) % 12 != 0)
    return bad;
  for (size_t k = 0; k < channels + calibrated; ++k) {
    ZoneRange range;
    range.min = in.Fixed<float>();
    range.max = in.Fixed<float>();
    range.missing = in.Fixed<uint32_t>();
    (k < channels ? zone.channels : zone.calibrated).push_back(range);
  }
  Bytes key;
  PutFixed(key, id);
  const auto crc = in.Fixed<uint32_t>();
  if (!in.ok() || Crc32c(bytes.first(bytes.size() - 4), Crc32c(key)) != crc) return bad;
  return zone;
}

}  // namespace handhold::store

/// One recording: what it says of itself, and a way to read windows of it in bounded memory.
///
/// ClipSource is what fitting, playback and tools read; Clip is one held in memory (synthetic data,
/// tests, short takes); database/store's ClipReader is one on disk. A ClipSource is immutable;
/// reading is const but not thread-safe: one reader per thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "database/base/id.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/recording/clock_map.h"
#include "database/recording/force_sensor.h"
#include "database/recording/quality.h"
#include "database/recording/stream.h"
#include "database/recording/thing.h"

namespace handhold::recording {

/// What a clip says of itself. `subject` is a pseudonym, never a name.
struct ClipInfo {
  ClipId id;                  ///< names the recording for good, in every library
  std::string name;           ///< "stroke_007": task and take number
  std::string subject;        ///< pseudonym
  std::string session;        ///< of which day or visit the take is; free text
  std::string task;           ///< "stroke": what was asked of the subject
  std::vector<Thing> things;  ///< what hands touched, what sensors sat on, and where
  Timestamp utc_start;        ///< UTC of clip time 0, for people
  int64_t host_start_ns = 0;  ///< CLOCK_MONOTONIC of clip time 0
  std::map<std::string, std::string> properties;  ///< anything else worth keeping (software
                                                  ///< versions, import source)
  bool operator==(const ClipInfo&) const = default;
};

/// Anything that holds one recording. References it returns live as long as it does.
class ClipSource {
 public:
  virtual ~ClipSource() = default;

  virtual const ClipInfo& info() const = 0;
  /// Epochs of one name are streams of their own, with ids of their own.
  virtual const std::vector<StreamInfo>& streams() const = 0;
  virtual const std::vector<ForceSensor>& force_sensors() const = 0;
  virtual const std::vector<Event>& events() const = 0;
  /// What is known to be missing; samples on both sides keep their true times.
  virtual const std::vector<Gap>& gaps() const = 0;
  virtual const QualityRecord& quality() const = 0;
  /// The fitted map of the stream's device. Precondition: a stream of this clip.
  virtual const ClockMap& clock_map(int stream_id) const = 0;
  /// The raw pairs it was fitted to; may be long: read on demand.
  virtual Result<std::vector<ClockPair>> ClockPairs(int stream_id) const = 0;
  /// Times of the stream's first sample and one period after its last. {0, 0} for an empty stream.
  virtual TimeRange Extent(int stream_id) const = 0;

  /// Samples of `stream_id` with clip time in `range`, of the given channels (empty: all, in
  /// order). Cost is bounded by the window, not the clip. Fails with kNotFound (no such stream or
  /// channel) or kCorrupt (naming stream and time).
  virtual Result<SampleWindow> Read(int stream_id, TimeRange range,
                                    const std::vector<int>& channels = {}) const = 0;

  /// The whole stream. For streams known to be short.
  Result<SampleWindow> ReadAll(int stream_id) const;
  /// Streams of a name, all epochs, in order; empty when there is none.
  std::vector<const StreamInfo*> FindStreams(std::string_view name) const;
  /// The first stream of a kind, or null.
  const StreamInfo* FirstOfKind(StreamKind kind) const;
  const StreamInfo* FindStream(int stream_id) const;
  const ForceSensor* FindForceSensor(std::string_view name) const;
};

/// A clip in memory. Grows without bound: for what is made or known to be short. Calls with a
/// stream_id CHECK that it is one of this clip.
class Clip : public ClipSource {
 public:
  explicit Clip(ClipInfo info);

  /// Adds a stream and returns its id (info.id is ignored and set).
  int AddStream(StreamInfo info, ClockMap clock_map);
  /// Appends samples; block.stream_id says where. Order and shape are CHECKed; a jump of the
  /// counter records a Gap with cause kDeviceSkipped unless AddGap named it first.
  void Append(const SampleBlock& block);
  void AddForceSensor(ForceSensor sensor);
  void AddEvent(Event event);
  void AddGap(Gap gap);
  void SetClockPairs(int stream_id, std::vector<ClockPair> pairs);
  void SetQuality(QualityRecord quality);
  ClipInfo& mutable_info() { return info_; }

  const ClipInfo& info() const override { return info_; }
  const std::vector<StreamInfo>& streams() const override { return streams_; }
  const std::vector<ForceSensor>& force_sensors() const override { return sensors_; }
  const std::vector<Event>& events() const override { return events_; }
  const std::vector<Gap>& gaps() const override { return gaps_; }
  const QualityRecord& quality() const override { return quality_; }
  const ClockMap& clock_map(int stream_id) const override;
  Result<std::vector<ClockPair>> ClockPairs(int stream_id) const override;
  TimeRange Extent(int stream_id) const override;
  Result<SampleWindow> Read(int stream_id, TimeRange range,
                            const std::vector<int>& channels = {}) const override;

 private:
  struct StreamData {
    ClockMap clock;
    std::vector<SampleBlock> blocks;
    std::vector<ClockPair> pairs;
  };
  Timestamp ClipTime(const StreamInfo& stream, const StreamData& data, int64_t counter) const;

  ClipInfo info_;
  std::vector<StreamInfo> streams_;
  std::vector<StreamData> data_;  ///< parallel to streams_
  std::vector<ForceSensor> sensors_;
  std::vector<Event> events_;
  std::vector<Gap> gaps_;
  QualityRecord quality_;
};

/// Device time in ns of a counter at a rate: counter x denominator / numerator, rounded to the
/// nearest ns, exact for counters up to 2^53 (128-bit inside).
int64_t DeviceTimeOfCounter(int64_t counter, Rate rate);

}  // namespace handhold::recording

/// One source of a session with its ring, its names and its meters: what the encoder works through.
///
/// Of the encoder's thread (or of whoever holds its lock), but for what is marked otherwise.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "capture/session/recorder.h"
#include "capture/session/ring_sink.h"
#include "capture/session/stream_meter.h"

namespace handhold::capture {

/// Streams (and sensors, by another one of these) get names that no two sources share: the first to
/// use one keeps it, the others get their source's name in front. A name once given stays for the
/// session.
class StreamNames {
 public:
  std::string For(size_t source, const std::string& source_name, const std::string& stream);

 private:
  std::map<std::pair<size_t, std::string>, std::string> given_;
};

/// The source's sensors with the rig's overrides, stream_id: 1 + index of the stream in `streams`.
/// A sensor whose stream is not there is left out.
std::vector<recording::ForceSensor> PlacedSensors(
    const std::string& source_name, std::vector<recording::ForceSensor> sensors,
    const std::vector<recording::ForceSensor>& overrides,
    std::span<const recording::StreamInfo> streams);

struct Feed {
  RecordedSource recorded;
  size_t index = 0;                           ///< among the session's sources
  std::vector<recording::StreamInfo> probed;  ///< at Check, under their session-wide names

  std::unique_ptr<RingSink> sink;
  RecordRing::Position read, released;
  int announcement = -1;           ///< newest read
  int announcement_released = -1;  ///< newest released: holds at `released`
  std::map<std::string, std::unique_ptr<StreamMeter>> meters;
  std::map<int, StreamMeter*> by_number;
  std::map<std::string, int> newest_number;
  bool connected = false;
  std::string text;  ///< the last state told
  Timestamp armed_at;
  bool cut = false;  ///< pre-roll that did not fit the ring was let go since the last take
  SourceHealth at_take_begin;  ///< its counts then; figures are of the take

  const std::string& name() const { return recorded.source->name(); }
  void Reset(Duration ring_length, const std::function<Timestamp()>& now);
  /// The announcement with session-wide names and its sensors.
  std::pair<RingSink::Announcement, std::vector<recording::ForceSensor>> Announced(
      int which, StreamNames& names, StreamNames& sensor_names) const;
  /// Meters for the streams of an announcement as Announced gave it.
  void Meter(const RingSink::Announcement& announced,
             const std::vector<recording::ForceSensor>& sensors);
  void ClearMeters();
  /// Whether a take needs this stream, under its session-wide name: whole to be kept, flowing to
  /// start. Any thread.
  bool Requires(const std::string& stream) const;
};

}  // namespace handhold::capture

/// What a recording is made of: streams of samples from one device each, in blocks, with their gaps
/// and events.
///
/// Nothing here touches a disk or a device. capture fills these types, database/store keeps them,
/// fitting reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/time.h"

namespace handhold::recording {

enum class StreamKind {
  kMarkers,           ///< labelled markers: channels x y z per marker, optionally a fourth: the
                      ///< reconstruction residual
  kUnlabelledPoints,  ///< ragged: any number of points per sample, each x y z and a trajectory id
  kForceTorque,  ///< a transducer: raw channels (counts or volts); the ForceSensor turns them into
                 ///< N and Nm
  kAnalog,       ///< anything else sampled evenly
  kPressureArray,  ///< one channel per cell
  kRigidPoses,     ///< p (x y z) and quaternion (w x y z) per body
  kText,           ///< one string per sample
};

/// "markers", "points", "force", ...: stable, stored and printed.
std::string_view StreamKindName(StreamKind kind);

/// One column of a stream. `unit` is how the numbers are stored: "m", "N", "N m", "V", "count",
/// "1", "rad", "Pa", "K".
struct Channel {
  std::string name;  ///< "RIFT.x": item, dot, component, for markers and poses
  std::string unit;
  /// Step of the grid that stored values lie on, in `unit`; 0: kept exactly as given (lossless).
  /// Markers 1e-5 m, ADC counts 1. A stored value differs from the given one by at most half a
  /// quantum.
  double quantum = 0.0;
  bool operator==(const Channel&) const = default;
};

/// An exact sampling rate.
struct Rate {
  int64_t numerator = 0;    ///< samples
  int64_t denominator = 1;  ///< per this many seconds
  double hz() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  bool operator==(const Rate&) const = default;
};

/// What a stream is. A change of channels within a take closes the stream and opens its next epoch,
/// under the same name.
struct StreamInfo {
  int id = 0;        ///< unique in the clip, from 1
  std::string name;  ///< "vicon/markers", "plate/wrench": device, slash, what
  StreamKind kind = StreamKind::kAnalog;
  int epoch = 0;       ///< 0, 1, ... among the streams of one name
  std::string device;  ///< as the rig file names it
  Rate rate;           ///< of the device's own clock, nominal
  std::vector<Channel> channels;
  std::string frame;  ///< the frame the values are in: "W" (lab world, Z up), "S:plate" (that
                      ///< sensor's own)
  std::string sign;  ///< for forces: "hand_on_object" (what is stored, always) or "" where no force
                     ///< is meant
  /// Why the values are here: empty for a measurement, else the artefact (its id) that made this
  /// stream.
  std::string made_by;

  int channel_count() const { return static_cast<int>(channels.size()); }
  /// Index of the channel called `channel_name`, or -1.
  int FindChannel(std::string_view channel_name) const;
  /// For kMarkers and kRigidPoses: channels per item (3 or 4; 7). Precondition: kind is one of
  /// these.
  int channels_per_item() const;
  /// Item names in order ("RIFT", ...), for kMarkers and kRigidPoses.
  std::vector<std::string> ItemNames() const;
  bool operator==(const StreamInfo&) const = default;
};

/// Where a sample's value came from. Measurements only ever carry kMeasured and kMissing.
enum class SampleOrigin : uint8_t {
  kMeasured = 0,
  kMissing = 1,
  kInterpolated = 2,
  kPredicted = 3
};

/// Consecutive samples of one stream: what drivers hand to the recorder and the recorder to the
/// store.
///
/// Values are channel-major: value of channel c at sample i is values[c * count + i]. A missing
/// value (an occluded marker) is NaN in each of its channels. Sample i has device counter
/// first_counter + i * counter_step; blocks of a stream come in order of time, and a jump of the
/// counter between blocks is a gap.
struct SampleBlock {
  int stream_id = 0;
  int64_t first_index = 0;  ///< index in the stream of the first sample, counting received samples
                            ///< only
  int64_t first_counter = 0;  ///< device counter of the first sample, unwrapped
  int count = 0;
  std::vector<double> values;
  std::vector<SampleOrigin> origins;  ///< empty, or one per value (derived streams only)
  std::vector<int32_t> point_counts;  ///< kUnlabelledPoints: points in each sample; values are then
                                      ///< x y z id per point, point by point
  std::vector<std::string> texts;     ///< kText: one per sample
  /// kText and other uneven streams: one time per sample on the host clock; empty for even streams
  /// (times follow from counters through the ClockMap).
  std::vector<Timestamp> host_times;

  double value(int channel, int i) const {
    return values[static_cast<size_t>(channel) * count + i];
  }
  double& value(int channel, int i) { return values[static_cast<size_t>(channel) * count + i]; }
};

/// Samples of a stream over a window, with their times under the clip's clock maps (clip time, 0 =
/// first of the take). Gaps are simply absent samples: consecutive times then lie further apart
/// than one period.
struct SampleWindow {
  int stream_id = 0;
  int channel_count = 0;
  std::vector<Timestamp> times;       ///< clip time, ascending
  std::vector<int64_t> counters;      ///< device counters, ascending
  std::vector<double> values;         ///< channel-major, as in SampleBlock; NaN: missing
  std::vector<SampleOrigin> origins;  ///< empty, or one per value
  std::vector<int32_t> point_counts;  ///< as in SampleBlock
  std::vector<std::string> texts;

  int count() const { return static_cast<int>(times.size()); }
  double value(int channel, int i) const {
    return values[static_cast<size_t>(channel) * times.size() + i];
  }
  double& value(int channel, int i) {
    return values[static_cast<size_t>(channel) * times.size() + i];
  }
};

/// Why samples are absent.
enum class GapCause : uint8_t {
  kDeviceSkipped,  ///< the device's counter jumped: it never sent them, or the network lost them
  kNetworkLoss,    ///< datagrams lost in our own kernel (drop counter) or on the wire
  kRingOverflow,   ///< ours: the recorder fell behind; counted, placed, stored
  kDisconnected,   ///< the source was away
  kOverrun,        ///< the vendor's library dropped them from its buffer
};
std::string_view GapCauseName(GapCause cause);

/// Missing samples of one stream: the counters first_missing .. first_missing + count - 1 are
/// absent.
struct Gap {
  int stream_id = 0;
  int64_t first_missing_counter = 0;
  int64_t count = 0;
  GapCause cause = GapCause::kDeviceSkipped;
  Timestamp clip_begin;  ///< time of the first missing sample, under the clock map
  Timestamp clip_end;    ///< time of the first sample after the gap
  bool operator==(const Gap&) const = default;
};

/// Something that happened at an instant or over an interval: a key press, a contact, a note.
struct Event {
  Timestamp clip_time;
  Duration length;     ///< 0: an instant
  std::string kind;    ///< "contact_on", "contact_off", "mark", "stroke", ...
  std::string origin;  ///< who says so: "operator", "indexer", an artefact id
  int stream_id = 0;   ///< 0: of the whole clip
  double value = 0.0;  ///< meaning set by `kind` (peak force in N for a contact)
  std::string text;
  bool operator==(const Event&) const = default;
};

}  // namespace handhold::recording

/// A signal of a clip: one recorded channel, or one calibrated channel of a force sensor, over all
/// epochs; and what it measures over a window. What queries and SQL functions read.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "database/store/clip_reader.h"

namespace handhold::store {

/// What is made of the positions of markers or bodies.
enum class Derived {
  kNone,
  /// |p(t) - p(t - 20 ms)| / 20 ms, in whole samples, at least one; no value where one of the two
  /// is missing or samples between them were lost. *Why 20 ms?* Over one sample of 2 ms the noise
  /// of a marker alone, 0.05 mm per axis, is 60 mm/s.
  kSpeed,
  kDistance,  ///< between two of one stream
};

/// One epoch of a signal: a stream's channel, or what a sensor makes of a stream's channels.
struct SignalPart {
  int stream_id = 0;
  int channel = -1;        ///< position in the stream; -1: a sensor's; derived: of x
  std::string sensor;      ///< of a calibrated channel
  int sensor_channel = 0;  ///< 0 to 5: fx fy fz tx ty tz; 6: normal_force (kNormalForceZone)
  Derived derived = Derived::kNone;
  int other = -1;  ///< of kDistance: the other's x
};

/// A signal that no stream holds: values of a result, at times of the clip; NaN: none.
struct SignalValues {
  std::vector<Timestamp> times;  ///< ascending; none: one value that holds for the whole clip
  std::vector<double> values;
};

struct Signal {
  std::string name;  ///< "plate.normal_force", "vicon/markers:RIFT.x"
  std::string unit;  ///< as stored; N or N m for calibrated channels
  std::vector<SignalPart> parts;
  std::shared_ptr<const SignalValues> values = {};  ///< instead of parts
};

/// What samples amount to. Samples without a value (occluded) count as missing and nothing else.
struct SignalStats {
  int64_t samples = 0;  ///< received, with or without a value; gaps are not samples
  int64_t missing = 0;
  double max = -std::numeric_limits<double>::infinity();
  double min = std::numeric_limits<double>::infinity();
  double sum = 0.0, sum_squares = 0.0;
  void Add(double value) {
    ++samples;
    if (value != value) {
      ++missing;
      return;
    }
    if (value > max) max = value;
    if (value < min) min = value;
    sum += value;
    sum_squares += value * value;
  }
  int64_t values() const { return samples - missing; }
  double mean() const;              ///< NaN without a value
  double rms() const;               ///< square root of the mean square; NaN without a value
  double missing_fraction() const;  ///< NaN without a sample
};

/// A closed span of clip time: a sample at either end belongs to it.
struct Window {
  Timestamp first, last;
  bool operator==(const Window&) const = default;
};

/// Calls `visit` with the samples of one part, in order, in pieces of at most about 2 s: their
/// window (times, counters) and one value per sample (NaN: missing). Without `window`: all.
Status VisitSignal(
    const ClipReader& clip, const SignalPart& part, const std::optional<Window>& window,
    const std::function<Status(const recording::SampleWindow&, std::span<const double>)>& visit);

/// Of a signal that is not in streams. A value that is missing is no sample.
SignalStats MeasureValues(const SignalValues& values, const std::optional<Window>& window);
/// As LongestHeld: frames that the result lacks (more than 1.5 of its usual steps) break it.
std::optional<double> LongestHeldValues(const SignalValues& values,
                                        const std::optional<Window>& window,
                                        const std::function<bool(double)>& holds);

/// Over all parts. Fails when a chunk is damaged; no samples is no failure.
Result<SignalStats> MeasureSignal(const ClipReader& clip, const Signal& signal,
                                  const std::optional<Window>& window);

/// The longest time, s, from a sample to a later one over which every sample, none lost or without
/// a value between, satisfies `holds`; 0 where none does, none where there is no value.
Result<std::optional<double>> LongestHeld(const ClipReader& clip, const Signal& signal,
                                          const std::optional<Window>& window,
                                          const std::function<bool(double)>& holds);

/// The signal `channel` of a stream of this name (all epochs) or of a force sensor of this name
/// (or, where the stream has no such channel, of a sensor that reads it). kNotFound names the
/// nearest; kUnsupported for text and ragged points, which have no channels.
Result<Signal> FindSignal(const ClipReader& clip, const std::string& stream_or_sensor,
                          const std::string& channel);
/// Every channel of a stream, or the seven of a sensor, by name.
Result<std::vector<Signal>> FindSignals(const ClipReader& clip,
                                        const std::string& stream_or_sensor);
/// "N" or "N m": of a sensor's channel k (SensorChannelName).
std::string_view SensorChannelUnit(int k);

}  // namespace handhold::store

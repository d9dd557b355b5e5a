/// What a simulated device plays: the sensor side of a take, without any planted parameter.
///
/// A feed answers by index, deterministically, so that a server can pace itself, stall, skip and
/// resend. tools/lab implements it for the virtual subject; PatternFeed (pattern_feed.h) computes
/// recognisable values without a subject. Only the pure functions must be implemented; the others
/// have defaults for a rig with one subject and no analog.
///
/// Time: index i of a stream is the instant i / rate of that device's own clock. A device clock
/// that runs fast samples more often than nominal: content made for a clock that is `ppm` fast
/// holds, at index i, the physical instant i / (rate x (1 + ppm x 1e-6)) after the take's start.
/// The servers pace by the same rule, so that what happened at one instant leaves both servers at
/// one instant, whatever their drifts.
///
/// Thread: const functions are called from several server threads at once; they must not share
/// mutable state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "database/recording/force_sensor.h"
#include "database/recording/stream.h"

namespace handhold::capture {

/// One labelled subject; its markers are the next `marker_names.size()` of the feed's flat list.
struct FeedSubject {
  std::string name{};
  std::vector<std::string> marker_names{};
};

/// One device on the motion capture system's analog inputs.
struct FeedDevice {
  std::string name{};
  /// A plate has exactly the six components Fx Fy Fz (N) Mx My Mz (N m), in its own frame; anything
  /// else is read as one channel per name, in `unit` ("volt", "newton", ...: SI words).
  bool force_plate = false;
  std::vector<std::string> channel_names{};
  std::string unit = "volt";
  int samples_per_frame = 1;  ///< 2 kHz at 500 Hz: 4
};

/// A reconstruction without a label.
struct FeedPoint {
  double xyz_m[3] = {0, 0, 0};
  uint32_t trajectory_id = 0;
};

class SimulatorFeed {
 public:
  virtual ~SimulatorFeed() = default;

  /// Nominal frame rate as the server announces it, Hz; 135e6 / rate must be a whole number (500,
  /// 1000, 2000, ... are).
  virtual double marker_rate_hz() const = 0;
  virtual const std::string& subject() const = 0;
  virtual const std::vector<std::string>& marker_names() const = 0;
  /// Frames the feed has; servers stop (or loop, when told to) at the end.
  virtual int64_t frame_count() const = 0;
  /// Markers at frame `i`; NaN: occluded. Writes 3 values per marker into `xyz_m`, metres, lab
  /// frame.
  virtual void Markers(int64_t frame, std::span<double> xyz_m) const = 0;

  /// Nominal sample rate of the force sensor, Hz; 0: no force sensor.
  virtual double force_rate_hz() const = 0;
  virtual int64_t force_count() const = 0;
  /// What the sensor's own frame reads at sample `i`: fx fy fz tx ty tz, N and Nm, of the hand on
  /// the object, noise included; the server turns it into counts.
  virtual void Wrench(int64_t sample, std::span<double, 6> wrench_S) const = 0;

  /// How fast the device clocks run for which the content was sampled (above); servers pace by it
  /// unless told otherwise.
  virtual double marker_clock_ppm() const { return 0.0; }
  virtual double force_clock_ppm() const { return 0.0; }

  /// All subjects, in the order of Markers(); by default the one above.
  virtual std::vector<FeedSubject> subjects() const { return {{subject(), marker_names()}}; }
  /// Trajectory id of a marker at a frame; a label swap shows as exchanged ids. By default 1 + its
  /// index.
  virtual uint32_t TrajectoryId(int64_t /*frame*/, int marker) const {
    return static_cast<uint32_t>(marker) + 1;
  }
  /// Unlabelled points at a frame: writes up to points.size() of them and returns how many.
  virtual int Unlabelled(int64_t /*frame*/, std::span<FeedPoint> /*points*/) const { return 0; }

  virtual std::vector<FeedDevice> devices() const { return {}; }
  /// Samples of `device` within frame `i`: value of channel c at subsample s goes to values[c x
  /// samples_per_frame + s].
  virtual void Analog(int /*device*/, int64_t /*frame*/, std::span<double> values) const {
    std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
  }
};

}  // namespace handhold::capture

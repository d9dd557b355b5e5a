/// What a simulated device plays: the sensor side of a take, without any planted parameter.
///
/// A feed answers by index, deterministically, so that a server can pace itself, stall, skip and
/// resend. tools/lab implements it for the virtual subject; a recorded clip can be one too
/// (ClipFeed).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "database/recording/force_sensor.h"
#include "database/recording/stream.h"

namespace handhold::capture {

/// One labelled marker at one frame, in the lab frame, metres; missing: NaN.
struct FeedMarkers {
  std::vector<double> xyz_m;  ///< 3 per marker, in order of MarkerNames()
};

class SimulatorFeed {
 public:
  virtual ~SimulatorFeed() = default;
  virtual double marker_rate_hz() const = 0;
  virtual const std::string& subject() const = 0;
  virtual const std::vector<std::string>& marker_names() const = 0;
  /// Frames the feed has; servers stop (or loop, when told to) at the end.
  virtual int64_t frame_count() const = 0;
  /// Markers at frame `i`; NaN: occluded. Writes 3 values per marker into `xyz_m`, metres.
  virtual void Markers(int64_t frame, std::span<double> xyz_m) const = 0;

  virtual double force_rate_hz() const = 0;
  virtual int64_t force_count() const = 0;
  /// What the sensor's own frame reads at sample `i`: fx fy fz tx ty tz, N and Nm, of the hand on
  /// the object, noise included; the server turns it into counts.
  virtual void Wrench(int64_t sample, std::span<double, 6> wrench_S) const = 0;
};

}  // namespace handhold::capture

/// The lower edge of a clock's pairs, for clock_breaks and clock_fit: their convex hull from below
/// and the line that lies under all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capture/clock/clock_fit.h"
#include "database/recording/clock_map.h"

namespace handhold::capture {

/// When a packet's first sample was, on the device's clock and at the latest on the host's.
struct Point {
  int64_t device_ns;
  int64_t host_ns;  ///< receive time less the reported latency
};

inline Point PointOf(const recording::ClockPair& pair) {
  return {pair.device_ns, pair.host_ns - pair.latency_ns};
}

/// A line through an exact point, so that large times keep their nanoseconds.
struct Line {
  Point at{0, 0};
  double rate_error = 0.0;
  double Residual(const Point& p) const {
    const int64_t elapsed = p.device_ns - at.device_ns;
    return static_cast<double>(p.host_ns - at.host_ns - elapsed) -
           rate_error * static_cast<double>(elapsed);
  }
};

/// Lower convex hull, grown by points of ascending device time.
class LowerHull {
 public:
  void Add(const Point& p);
  size_t size() const { return points_.size(); }
  /// The edge above `device_ns`: of all lines under the points the one highest there. Precondition:
  /// size() >= 2.
  Line EdgeAt(double device_ns) const;

 private:
  std::vector<Point> points_;
};

/// The line under all points; no steeper than crystals are, and then resting on one point.
/// Precondition: two device times.
Line EdgeOf(std::span<const recording::ClockPair> pairs, const ClockFitOptions& options);

/// The value below which `share` of `values` lie; reorders them. Precondition: not empty.
double Quantile(std::vector<double>* values, double share);

}  // namespace handhold::capture

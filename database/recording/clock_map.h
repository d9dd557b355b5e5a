/// How a device's own time maps to the recording machine's: piecewise linear, with what is known of
/// its error.
///
/// device time = counter / rate, from the device's counter; host time = CLOCK_MONOTONIC. Raw pairs
/// (counter, device time, host receive time) are stored beside every fitted map, so that it can be
/// fitted again. capture/clock fits it.
#pragma once

#include <cstdint>
#include <vector>

#include "database/base/time.h"

namespace handhold::recording {

/// One received packet's times, raw: the evidence a map is fitted to.
struct ClockPair {
  int64_t counter = 0;     ///< device counter of the packet's first sample, unwrapped
  int64_t device_ns = 0;   ///< device time of that sample, as the device says it or counter x
                           ///< nominal period
  int64_t host_ns = 0;     ///< when the packet was received, CLOCK_MONOTONIC
  int64_t latency_ns = 0;  ///< the delay the device itself reports (Vicon: LatencyTotal); 0: none
                           ///< reported
  bool operator==(const ClockPair&) const = default;
};

/// One stretch in which the device's clock ran evenly.
struct ClockSegment {
  int64_t device_begin_ns = 0;  ///< the segment holds from here ...
  int64_t device_end_ns = 0;    ///< ... to here (exclusive); the first and the last extend without
                                ///< limit
  int64_t host_begin_ns = 0;    ///< host time of device_begin_ns
  double rate_error = 0.0;  ///< host seconds per device second - 1: +40e-6 for a device clock that
                            ///< runs 40 ppm slow
  double offset_sd_ns = 0.0;  ///< standard deviation of the map at the segment's middle, without
                              ///< constant delays
  double rate_sd = 0.0;       ///< of rate_error
  /// Quantiles of (host receive time - map), over the pairs fitted: lateness, so nearly one-sided.
  double residual_p50_ns = 0.0, residual_p90_ns = 0.0, residual_p99_ns = 0.0, residual_max_ns = 0.0;
  int64_t pair_count = 0;
  bool operator==(const ClockSegment&) const = default;
};

struct ClockMap {
  std::vector<ClockSegment> segments;  ///< ascending, never empty in a valid map
  /// Constant delay from the physical instant to the earliest receipt (exposure, filter,
  /// transport), from the rig file: subtracted when mapping. It cannot be observed from arrivals;
  /// its uncertainty is the rig's statement.
  int64_t constant_delay_ns = 0;
  int64_t constant_delay_sd_ns = 0;

  bool valid() const { return !segments.empty(); }
  /// The segment that holds device time `device_ns`. Precondition: valid().
  const ClockSegment& SegmentAt(int64_t device_ns) const;
  /// Host time of the physical instant at device time `device_ns`. Exact to 1 ns of the stored
  /// parameters.
  Timestamp ToHost(int64_t device_ns) const;
  /// Device time of a host instant: inverse of ToHost to 1 ns, within a segment.
  int64_t ToDevice(Timestamp host) const;
  bool operator==(const ClockMap&) const = default;

  /// A map with host = device + offset: for synthetic clips and imports, whose times are exact.
  static ClockMap Identity(int64_t offset_ns = 0);
};

}  // namespace handhold::recording

/// Clip times of device counters, fast: the same numbers as
/// ClockMap::ToHost(DeviceTimeOfCounter(counter, rate)), without a 128-bit division per sample.
/// Internal to the store; pinned by tests/database/store/clip_times_test.cc.
#pragma once

#include <vector>

#include "database/recording/clip.h"

namespace handhold::store {

class ClipTimes {
 public:
  ClipTimes() = default;
  /// `clock` must outlive this.
  ClipTimes(recording::Rate rate, const recording::ClockMap* clock, int64_t host_start_ns)
      : rate_(rate), clock_(clock), host_start_ns_(host_start_ns) {}

  Timestamp At(int64_t counter) const;
  /// Appends the times of counter, counter + 1, ...
  void Append(int64_t counter, int count, std::vector<Timestamp>& out) const;
  /// The least i in [0, count] such that At(counter + i) >= t. Times rise with counters.
  int LowerBound(int64_t counter, int count, Timestamp t) const;

 private:
  recording::Rate rate_;
  const recording::ClockMap* clock_ = nullptr;
  int64_t host_start_ns_ = 0;
};

}  // namespace handhold::store

/// Where a device's clock broke, and which of the breaks were packets that came late instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/clock/clock_fit.h"
#include "database/recording/clock_map.h"

namespace handhold::capture {

/// What a fit is made of; views, valid while their owner is.
struct ClockEvidence {
  std::span<const recording::ClockPair> pairs;
  /// steps_ns[i]: the most device time between consecutive samples after pair i - 1, up to pair i;
  /// empty: pairs are all there were.
  std::span<const int64_t> steps_ns;

  /// The most device time from one sample to the next, after pair i - 1, up to pair i. i >= 1.
  int64_t StepInto(size_t i) const {
    return steps_ns.empty() ? pairs[i].device_ns - pairs[i - 1].device_ns : steps_ns[i];
  }
  /// What of StepInto(i) is more than between the samples around it: what the device left out.
  int64_t LeftOut(size_t i) const;
};

/// Stretches in which the clock ran evenly: stretch k begins at pair starts[k], starts[0] = 0;
/// breaks[k] lies before stretch k + 1.
struct ClockStretches {
  std::vector<size_t> starts;
  std::vector<ClockBreak> breaks;  ///< step_ns is not known yet
};

/// Cuts where the lower edge shifts for good and at every told break, and takes back the cuts that
/// were lateness. Precondition: pairs not empty, device times ascend.
ClockStretches FindStretches(const ClockEvidence& evidence, const ClockFitOptions& options,
                             std::span<const ToldBreak> told);

/// Takes back the found breaks by which times run backwards from one sample to the next (packets
/// come in order), given their fitted step_ns; with `every`, all found ones. Whether there were
/// any.
bool TakeBackImpossible(const ClockEvidence& evidence, bool every, ClockStretches* stretches);

}  // namespace handhold::capture

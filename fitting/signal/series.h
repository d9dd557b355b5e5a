/// Series of samples in time: derivatives, values at other times, short gaps filled and marked.
///
/// A missing sample is NaN, and stays so unless a function says that it fills. Times ascend
/// strictly. Nothing here looks across a gap longer than it is told to. Pinned by
/// tests/fitting/signal/series_test.cc.
#pragma once

#include <span>
#include <vector>

#include "database/base/time.h"
#include "database/recording/stream.h"

namespace handhold::fitting {

/// First derivative at each sample, from a parabola through the sample and its neighbours (exact
/// for quadratics, uneven times allowed); one-sided at ends and beside missing samples; NaN where
/// the sample is missing or stands alone. Units: of values per second.
std::vector<double> Derivative(std::span<const Timestamp> times, std::span<const double> values);

/// Derivative of order 0, 1 or 2 of a polynomial of `degree` fitted to the finite samples within
/// +-half_window of each sample: Savitzky and Golay's filter, for uneven times. NaN where the
/// samples do not determine it.
std::vector<double> SmoothDerivative(std::span<const Timestamp> times,
                                     std::span<const double> values, Duration half_window,
                                     int degree, int order);

/// Values at `query` times by straight lines between samples; NaN outside the series, beside a
/// missing sample, and between samples further apart than `max_gap`. A query at a finite sample
/// returns it exactly. `query` ascends.
std::vector<double> ResampleAt(std::span<const Timestamp> times, std::span<const double> values,
                               std::span<const Timestamp> query, Duration max_gap);

struct FilledSeries {
  std::vector<double> values;
  std::vector<recording::SampleOrigin> origins;  ///< kMeasured, kInterpolated or kMissing, one per
                                                 ///< value
};
/// Fills runs of missing samples between finite ones that lie at most `max_gap` apart, by a cubic
/// that continues value and slope on both sides; longer runs, and runs at the ends, stay missing.
/// Every value says where it came from.
FilledSeries FillShortGaps(std::span<const Timestamp> times, std::span<const double> values,
                           Duration max_gap);

}  // namespace handhold::fitting

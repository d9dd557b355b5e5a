/// Zero-phase low-pass filtering: smoother samples that are not late.
///
/// A causal 200 Hz filter delays force by about 1.1 ms, which reads as a clock error and spoils
/// compliance (reference study, "Traps"); so everything here runs forwards and backwards over the
/// samples. Missing samples (NaN) stay missing, and what lies on one side of a gap never reaches
/// the other. Pinned by tests/fitting/signal/low_pass_test.cc.
#pragma once

#include <span>
#include <vector>

#include "database/base/result.h"

namespace handhold::fitting {

struct LowPassOptions {
  double cutoff_Hz = 300.0;  ///< -3 dB of the whole, forwards and backwards together; must lie in
                             ///< (0, 0.45 x rate)
  int order = 2;             ///< of one pass: 2 or 4; the whole falls twice as fast
};

/// `values` at the even rate `rate_Hz`, Butterworth low-passed forwards and backwards. Amplitude
/// response of the whole: 1 / (1 + (f/fc')^(2 order)), with fc' such that it is 1/sqrt(2) at
/// cutoff_Hz; phase 0. Each run between NaNs is filtered alone, its ends continued by odd
/// reflection, so that a straight line comes back as itself. Runs of one or two samples are
/// returned as they are. Linear in the number of samples. Fails with kInvalid on options outside
/// their range.
Result<std::vector<double>> LowPass(std::span<const double> values, double rate_Hz,
                                    const LowPassOptions& options);

}  // namespace handhold::fitting

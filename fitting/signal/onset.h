/// The instant at which a force begins, to a millisecond, from samples as the sensor gave them.
///
/// A threshold on filtered force is tens of milliseconds late; a kink fitted to 7 kHz force is not
/// (reference study: p90 1.0 ms against 46 ms). Pinned by tests/fitting/signal/onset_test.cc.
#pragma once

#include <span>
#include <vector>

#include "database/base/result.h"

namespace handhold::fitting {

struct KinkOptions {
  /// Pieces after the kink are tried in this order until one stands clear of the noise: short ones
  /// locate best, long ones see weak rises.
  std::vector<double> after_s = {0.003, 0.006, 0.012, 0.025, 0.05};
  double before_s = 0.030;   ///< straight piece before the kink
  double clear_chi2 = 80.0;  ///< fall of chi-square by the kink that counts as clear of the noise
};

struct Kink {
  double time_s = 0.0;    ///< on the axis of `t`
  double sd_s = 0.0;      ///< half-width of the 68 % profile-likelihood interval; at least half a
                          ///< sample period
  double noise_sd = 0.0;  ///< of one sample
  double after_s = 0.0;   ///< piece that decided
};

/// The kink nearest before `crossing_s`, at which the force is already seen to be up. Model: a
/// straight line; from the kink on, a step (never down: a damped surface answers a touch with a
/// step up), a slope and a curvature are added. Least squares over the position of the kink between
/// samples; its interval is where chi-square rises by 1. `t` ascends, seconds; samples NaN are left
/// out. Set `backwards` for the end of a contact: the same, with time reversed, nearest after
/// `crossing_s`. Fails with kUnidentifiable when too few samples surround the crossing or nothing
/// stands clear of the noise.
Result<Kink> FitKink(std::span<const double> t, std::span<const double> force, double crossing_s,
                     bool backwards = false, const KinkOptions& options = {});

template <typename A>
void Visit(A& a, KinkOptions& o) {
  a.Field("after_s", o.after_s);
  a.Field("before_s", o.before_s);
  a.Field("clear_chi2", o.clear_chi2);
}

}  // namespace handhold::fitting

/// How noisy a take's markers are by themselves, before any hand is laid through them: what jumps
/// from frame to frame. What a fit leaves beyond that, the hand does not explain. Internal to the
/// skeleton and pose fits.
///
/// The third difference of four frames in a row, x0 - 3 x1 + 3 x2 - x3, is 0 for any smooth motion
/// and has variance 20 sd^2 for white noise of sd on each axis. The sd is taken from the lower
/// quartile of its size, so that fast stretches and outliers do not count. A filtered recording
/// looks quieter than it is. Test: tests/fitting/skeleton/take_noise_test.cc.
#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

#include "database/base/time.h"

namespace handhold::fitting {

class TakeNoise {
 public:
  /// Frames in order of time, one column per marker, NaN: missing.
  void Add(Timestamp t, const Eigen::Matrix3Xd& p_WM);

  /// One axis, m, over all markers; 0 while fewer than 20 differences are known.
  double sd_m() const;
  double sd_m(int marker) const;

 private:
  /// Sizes of differences in steps of 10 % from 1e-9 m.
  static constexpr int kBins = 200;
  using Histogram = std::array<int, kBins>;
  static double LowerQuartileSd(const Histogram& h);

  std::vector<Histogram> markers_;
  std::array<Eigen::Matrix3Xd, 3> before_;  ///< the last three frames, newest last
  int run_ = 0;                             ///< frames in a row
  Timestamp last_;
  Duration step_;
};

}  // namespace handhold::fitting

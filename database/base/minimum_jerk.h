/// The way of a movement from rest to rest: minimum jerk (Flash & Hogan 1985).
///
/// One function for scripts, motions and simulated subjects. Pinned by
/// tests/database/base/minimum_jerk_test.cc.
#pragma once

namespace handhold {

/// Share of the way at share `s` of the time: 10 s^3 - 15 s^4 + 6 s^5; 0 before, 1 after.
constexpr double MinimumJerk(double s) {
  return s <= 0.0 ? 0.0 : s >= 1.0 ? 1.0 : s * s * s * (10.0 + s * (-15.0 + 6.0 * s));
}
/// The same of a movement that begins at begin_s and takes length_s > 0.
constexpr double MinimumJerk(double t_s, double begin_s, double length_s) {
  return MinimumJerk((t_s - begin_s) / length_s);
}

}  // namespace handhold

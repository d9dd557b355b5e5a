/// What is planted in a subject's sensors beside noise: what a rig or a hand may do wrong.
///
/// All zero: a plain subject. The truth names each that is not (truth.json, "faults"); feeds name
/// none.
#pragma once

#include "database/geometry/transform.h"

namespace handhold::lab {

struct SensorFaults {
  double skin_slip_m_per_N = 0.0;  ///< the end segment's markers follow the force on the hand ...
  /// ... all markers follow it, as on a forearm that yields. The engine's base stays where it is.
  double forearm_give_m_per_N = 0.0;
  /// Causal Butterworth filter of second order on what is recorded, its noise included, by the
  /// bilinear transform: late by 1 / (sqrt(2) rate tan(pi f / rate)), with f = 200 Hz the force by
  /// 1.12 ms, markers by 0.46 ms. Below half the stream's rate; 0: none.
  double marker_lowpass_hz = 0.0, force_lowpass_hz = 0.0;
  double force_drift_N = 0.0;    ///< slow wander of the normal force's zero, this much from end to
                                 ///< end
  double force_crosstalk = 0.0;  ///< each force reads this share of the two others too, and each
                                 ///< torque
  /// Where the sensor stands, less where its X_MS says: the feed's X_MS is the rig's.
  geometry::Vec3 sensor_off_W_m = geometry::Vec3::Zero();

  bool operator==(const SensorFaults&) const = default;
};

template <typename A>
void Visit(A& a, SensorFaults& f) {
  a.Field("skin_slip_m_per_N", f.skin_slip_m_per_N);
  a.Field("forearm_give_m_per_N", f.forearm_give_m_per_N);
  a.Field("marker_lowpass_hz", f.marker_lowpass_hz);
  a.Field("force_lowpass_hz", f.force_lowpass_hz);
  a.Field("force_drift_N", f.force_drift_N);
  a.Field("force_crosstalk", f.force_crosstalk);
  a.Field("sensor_off_W_m", f.sensor_off_W_m);
}

}  // namespace handhold::lab

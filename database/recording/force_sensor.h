/// A six-axis force sensor: how its raw channels become the force of the hand on the object, and
/// what it is mounted on.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/geometry/transform.h"

namespace handhold::recording {

/// wrench_S (fx fy fz tx ty tz; N, Nm) = sign * (calibration * (raw - bias)): the force of the hand
/// on the object, in the sensor's frame S, torque about the origin of S.
struct ForceSensor {
  std::string name;                                      ///< as in the rig file: "plate"
  int stream_id = 0;                                     ///< the kForceTorque stream it reads
  Eigen::Matrix<double, 6, Eigen::Dynamic> calibration;  ///< N or Nm per raw unit; 6 x channels
  Eigen::VectorXd bias;                                  ///< raw, at no load
  /// +1 when the calibrated reading already is the force of the hand on the sensor's face; -1 when
  /// the device reports the reaction. Stored and returned wrenches are hand on object either way.
  double sign = 1.0;
  std::string mounted_on;                             ///< a thing of the take; empty: the lab
  geometry::RigidTransform X_MS;                      ///< pose of the sensor's frame in that thing
                                                      ///< (FixedSensorPose: in the lab)
  geometry::Vec3 normal_S = geometry::Vec3::UnitZ();  ///< outward unit normal of the touched
                                                      ///< surface, in S
  double full_scale_N = 0.0;  ///< of the largest axis; 0: unknown (no saturation check)
  std::string serial;

  /// The calibrated wrench of hand on object in S, from one raw sample.
  geometry::Vec6 Wrench(const Eigen::Ref<const Eigen::VectorXd>& raw) const;
  /// "normal_force" of queries: how hard the hand presses, N, positive into the surface:
  /// -f_onObject . normal.
  double NormalForce(const Eigen::Ref<const Eigen::VectorXd>& raw) const;
};

/// The one conversion from the stored sense to the papers': the force that acts on the hand is
/// minus the force of the hand on the object. Pinned by force_sensor_test.cc: pressing down on a
/// table (f_onObject = -z) gives f_onHand = +z, an extending torque at the knuckle
/// (tests/database/model).
geometry::Vec3 ForceOnHand(const geometry::Vec3& f_onObject_W);

}  // namespace handhold::recording

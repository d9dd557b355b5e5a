/// A whole take of the planar finger (planar_finger.h) as cameras and a force plate saw it, with
/// what really happened: for tests of the chain pose -> contact -> compliance -> reference. Shares
/// no code with what it tests.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "tests/support/planar_finger.h"

namespace handhold::test_support {

struct TakePlan {
  int free_strokes = 4, contact_strokes = 4;
  std::vector<Joints> postures_deg = {ExploringPosture(), ScratchingPosture(), CurledPosture()};
  double marker_noise_m = 5e-5, force_noise_N = 0.02, torque_noise_Nm = 2e-4;
  double force_late_s = 0.0;  ///< the force's times, wrong by this
  double sensor_sign = 1.0;   ///< -1: the sensor's description has the wrong sign
  double min_speed_m_per_s = 0.05, max_speed_m_per_s = 0.2, min_force_N = 0.7, max_force_N = 2.0;
  Impedance impedance;
  unsigned seed = 1;
};

struct FingerTake {
  model::Skeleton skeleton;  ///< the true one
  model::Prop plate;
  geometry::RigidTransform X_WPlate;
  recording::Clip clip;
  /// Per marker frame, joint angles as they were, and as they would have been without the plate.
  std::vector<Joints> theta, theta_free;
  std::vector<Eigen::Vector2d> force;      ///< on the hand, x and z, per frame
  std::vector<double> onset_s, release_s;  ///< of the contact strokes
};

/// Hinge axes (0, -1, 0), nine markers, a sphere at "index.tip".
model::Skeleton PlanarHand(const PlanarFinger& finger);
FingerTake MakeTake(const TakePlan& plan);

}  // namespace handhold::test_support

/// The same tree in MuJoCo 4: an oracle for kinematics and dynamics that shares no code with ours.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/model/skeleton.h"

namespace handhold::testing {

/// A skeleton written as MJCF by its own writer and compiled by MuJoCo. Bodies there start at the
/// joint's child frame. A universal joint is two hinges; a free joint on the world whose place is
/// the origin is MuJoCo's own free joint, any other is three slides and a ball. Velocities are
/// mapped: v_mujoco = T(q) v.
class MujocoTree {
 public:
  explicit MujocoTree(const model::Skeleton& skeleton);
  ~MujocoTree();
  MujocoTree(const MujocoTree&) = delete;
  MujocoTree& operator=(const MujocoTree&) = delete;

  /// Sets gravity and the state; acceleration may be empty: zero.
  void SetState(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
                const Eigen::Vector3d& gravity_W);

  // Of the state set last, in the skeleton's own coordinates.
  Eigen::VectorXd InverseDynamics();
  Eigen::MatrixXd MassMatrix();
  Eigen::VectorXd ForwardDynamics(const Eigen::VectorXd& tau);
  Eigen::Vector3d BodyOrigin(int body) const;    ///< of the skeleton's body, after any of the above
  Eigen::Matrix3d BodyRotation(int body) const;  ///< R_WB of the same

  /// Moves the state set last on by `steps` steps of MuJoCo's own Runge-Kutta, without torques;
  /// read it from the bodies.
  void Simulate(double step_s, int steps);

  /// What a mark times: MuJoCo alone, no mapping.
  void RunInverseDynamics();  ///< kinematics, comPos, comVel, rne
  void RunMassMatrix();       ///< kinematics, comPos, crb, dense M

  /// The state set last as MuJoCo holds it (positions, velocities, accelerations), to be put back
  /// without mapping.
  std::vector<double> RawState() const;
  void SetRawState(const std::vector<double>& state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace handhold::testing

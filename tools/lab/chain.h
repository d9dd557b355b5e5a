/// The laboratory's own picture of a serial finger of hinges: only to plan motor programs, never to
/// make truth.
///
/// Inverse kinematics and gravity torques decide which commands the subject is given; what then
/// happens is the engine's, and a mistake here would make a strange program, not a wrong truth.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"

namespace handhold::lab {

class Chain {
 public:
  /// kUnsupported unless every moving joint is a hinge and all lie on the way from the world to the
  /// frame "index.tip" (or the only frame whose name ends in ".tip").
  static Result<Chain> Build(const model::Skeleton& skeleton);

  int nv() const { return static_cast<int>(links_.size()); }
  geometry::Vec3 Tip(const Eigen::VectorXd& q) const;
  /// Lowest joint centre beyond the first joint, and the tip: what must stay above the plate.
  double LowestPoint(const Eigen::VectorXd& q) const;
  Eigen::Matrix3Xd TipJacobian(const Eigen::VectorXd& q) const;
  /// Torques that hold the finger still under gravity (0, 0, -9.81).
  Eigen::VectorXd GravityTorque(const Eigen::VectorXd& q) const;
  /// +1 where a positive angle flexes (moves what lies along +X down), else -1.
  const Eigen::VectorXd& flexion_sign() const { return flexion_sign_; }
  geometry::Vec3 wrist() const { return joint_frames_at_zero_.front(); }
  int tip_frame() const { return tip_frame_; }
  const Eigen::VectorXd& lower() const { return lower_; }
  const Eigen::VectorXd& upper() const { return upper_; }

  /// Turns the first joint of `q` until the tip is at height z_m. kInvalid when it cannot be.
  Result<Eigen::VectorXd> TurnWristToHeight(Eigen::VectorXd q, double z_m) const;
  /// The angles nearest to `q_near` (each joint weighted by `ease`: high moves more) whose tip lies
  /// at x_m and z_m; y is left free, since hinges that flex hardly move it. kInvalid when out of
  /// reach.
  Result<Eigen::VectorXd> Reach(const Eigen::VectorXd& q_near, const Eigen::VectorXd& q_start,
                                double x_m, double z_m, const Eigen::VectorXd& ease) const;

 private:
  struct Link {
    geometry::RigidTransform X_PJ, X_JcB;  // X_PB(q) = X_PJ Rot(axis, q) X_JcB; welded bodies
                                           // folded in
    geometry::Vec3 axis = geometry::Vec3::UnitY();
    geometry::MassProperties mass;  // in B
  };
  struct Pose {
    std::vector<geometry::Vec3> p_W, axis_W, com_W;
    geometry::Vec3 tip_W = geometry::Vec3::Zero();
  };
  Pose Compute(const Eigen::VectorXd& q) const;

  std::vector<Link> links_;
  geometry::RigidTransform X_Root_;
  geometry::Vec3 p_BTip_ = geometry::Vec3::Zero();
  std::vector<geometry::Vec3> joint_frames_at_zero_;
  Eigen::VectorXd flexion_sign_, lower_, upper_;
  int tip_frame_ = -1;
};

}  // namespace handhold::lab

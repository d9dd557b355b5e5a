/// A Skeleton's bodies and joints in a World: joint frames composed here, so that the engine shares
/// nothing with model/kinematics.
///
/// Fixed joints weld: a welded body is part of its parent's engine body, or of the fixed world. q
/// and v as in database/model/skeleton.h. Pinned by
/// tests/synthesis/world/skeleton_in_world_test.cc.
#pragma once

#include <memory>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "synthesis/world/world.h"

namespace handhold::synthesis {

struct SkeletonInWorldOptions {
  bool colliders = true;  ///< every shape of every body
  /// Of two hands give each its number. A hand that meets itself (Hand(n, true)) does not where two
  /// bodies are joined, or overlap when it is added, at q = 0: they would push each other apart for
  /// ever.
  ColliderMask mask = ColliderMask::Hand();
  geometry::RigidTransform X_WRoot = {};  ///< pose of the skeleton's world
};

class SkeletonInWorld {
 public:
  /// Adds everything at q = 0. `world` must outlive this. kInvalid names a moving body without
  /// mass.
  static Result<SkeletonInWorld> Add(const model::Skeleton& skeleton, World* world,
                                     const SkeletonInWorldOptions& options = {});

  /// Puts all bodies at q, at rest.
  Status SetConfiguration(const Eigen::VectorXd& q);
  /// Gives all bodies the velocities that v means where they are now.
  Status SetVelocities(const Eigen::VectorXd& v);
  /// Springs on every degree of freedom towards the configuration q_target (nq entries) and its
  /// velocity v_target (nv), with stiffness and damping per degree of freedom (nv, in v-space; N m
  /// and rad, for the last three of a free joint N and m). Give targets of the end of the step.
  ///   - hinge, universal: JointDrive
  ///   - ball: BallDrive with diagonal K and B; for others call World::SetBallDrive with
  ///     engine_joint
  ///   - free: a soft root, whose three linear springs must be alike; with all six stiffnesses and
  ///     dampings 0 it is left free. Where its body is kinematic it is moved to the target instead,
  ///     whatever the springs.
  /// kUnsupported: a free joint on another body, or unlike linear springs.
  Status SetDrives(const Eigen::VectorXd& q_target, const Eigen::VectorXd& v_target,
                   const Eigen::VectorXd& stiffness, const Eigen::VectorXd& damping);
  /// The skeleton's own limits on all its hinges, universal joints and balls; none until called.
  Status SetLimits();
  /// q and v now, from the engine's angles (hinges, universal joints) and poses (balls, free
  /// bodies).
  Eigen::VectorXd q() const;
  Eigen::VectorXd v() const;
  /// Pose of a skeleton body, from the engine body that carries it.
  geometry::RigidTransform X_WB(int body) const;
  int engine_body(int body) const { return parts_[static_cast<size_t>(body)].engine_body; }
  /// Joint index in the World of a skeleton body's joint; of a free joint to the fixed world its
  /// soft root. -1: fixed, or free on another body.
  int engine_joint(int body) const { return parts_[static_cast<size_t>(body)].engine_joint; }
  const model::Skeleton& skeleton() const { return *skeleton_; }

 private:
  struct Part {
    int engine_body = kFixedBody;
    int engine_joint = -1;
    geometry::RigidTransform X_EB;  ///< of the skeleton body in its engine body (in W for the fixed
                                    ///< world)
  };
  Status DriveRoot(int body, const Eigen::VectorXd& q_target, const Eigen::VectorXd& v_target,
                   const Eigen::VectorXd& stiffness, const Eigen::VectorXd& damping);
  Status AddColliders(const SkeletonInWorldOptions& options);
  std::vector<geometry::RigidTransform> Compose(const Eigen::VectorXd& q) const;

  std::shared_ptr<const model::Skeleton> skeleton_;
  World* world_ = nullptr;
  geometry::RigidTransform X_WRoot_;
  std::vector<Part> parts_;
};

}  // namespace handhold::synthesis

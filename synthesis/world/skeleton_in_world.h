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
  bool colliders = true;                  ///< every shape of every body, in group kHand
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
  /// Springs on every degree of freedom (v-space, nv entries each); see JointDrive. Ball joints:
  /// kUnsupported.
  Status SetDrives(const Eigen::VectorXd& target_rad, const Eigen::VectorXd& target_rate_rad_per_s,
                   const Eigen::VectorXd& stiffness_Nm_per_rad,
                   const Eigen::VectorXd& damping_Nms_per_rad);
  /// q and v now, from the engine's angles (hinges, universal joints) and poses (balls, free
  /// bodies).
  Eigen::VectorXd q() const;
  Eigen::VectorXd v() const;
  /// Pose of a skeleton body, from the engine body that carries it.
  geometry::RigidTransform X_WB(int body) const;
  int engine_body(int body) const { return parts_[static_cast<size_t>(body)].engine_body; }
  /// Joint index in the World of a skeleton body's joint, -1: fixed or free.
  int engine_joint(int body) const { return parts_[static_cast<size_t>(body)].engine_joint; }
  const model::Skeleton& skeleton() const { return *skeleton_; }

 private:
  struct Part {
    int engine_body = kFixedBody;
    int engine_joint = -1;
    geometry::RigidTransform X_EB;  ///< of the skeleton body in its engine body (in W for the fixed
                                    ///< world)
  };
  std::vector<geometry::RigidTransform> Compose(const Eigen::VectorXd& q) const;

  std::shared_ptr<const model::Skeleton> skeleton_;
  World* world_ = nullptr;
  geometry::RigidTransform X_WRoot_;
  std::vector<Part> parts_;
};

}  // namespace handhold::synthesis

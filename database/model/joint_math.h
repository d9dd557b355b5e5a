/// The motion of one joint as a function of its coordinates: shared by kinematics and dynamics.
#pragma once

#include "database/geometry/rotation.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"

namespace handhold::model::internal {

/// X_JpJc of a joint at `q` (its own nq() coordinates; conventions in skeleton.h). Quaternions are
/// used as they are: the caller keeps them unit.
template <typename S>
geometry::RigidTransformT<S> JointPose(const Joint& joint, const S* q) {
  geometry::RigidTransformT<S> X;
  switch (joint.type) {
    case JointType::kFixed:
      break;
    case JointType::kHinge:
      X.R = geometry::AxisAngle<S>(joint.axes[0].template cast<S>(), q[0]);
      break;
    case JointType::kUniversal:
      X.R = geometry::AxisAngle<S>(joint.axes[0].template cast<S>(), q[0]) *
            geometry::AxisAngle<S>(joint.axes[1].template cast<S>(), q[1]);
      break;
    case JointType::kBall:
      X.R = geometry::FromQuaternion<S>(q[0], q[1], q[2], q[3]);
      break;
    case JointType::kFree:
      X.p = geometry::Vec3T<S>(q[0], q[1], q[2]);
      X.R = geometry::FromQuaternion<S>(q[3], q[4], q[5], q[6]);
      break;
  }
  return X;
}

}  // namespace handhold::model::internal

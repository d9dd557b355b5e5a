/// What each joint of a hand carries: composite mass, centre and inertia from the bodies' present
/// poses, and the torques that carry it along with the palm.
///
/// Pollard & Zordan 2005: I of eq. 3, and tau_ARM + tau_G of eq. 2. Pinned by
/// tests/synthesis/grasp_control/outboard_test.cc against inverse dynamics (model/dynamics).
#pragma once

#include <span>
#include <vector>

#include "database/geometry/transform.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// Of a body's joint: all that lies outboard of it, itself included, as one rigid body, in W.
struct Outboard {
  double mass_kg = 0.0;
  geometry::Vec3 com_W = geometry::Vec3::Zero();
  geometry::Mat3 I_com_W = geometry::Mat3::Zero();  ///< about com
  geometry::Vec3 joint_W = geometry::Vec3::Zero();  ///< the joint's anchor
  geometry::Mat3 R_WJc = geometry::Mat3::Identity();

  geometry::Mat3 AboutJoint_W() const;  ///< I of eq. 3
  geometry::Mat3 AboutJoint_Jc() const;
};

/// One per body of `skeleton` (0, the world: empty), from the poses of its bodies. Cost: O(bodies),
/// some 3 us for hand57; allocates only when *out is too short.
void ComputeOutboard(const model::Skeleton& skeleton,
                     std::span<const geometry::RigidTransform> X_WB, std::vector<Outboard>* out);

/// Motion of the palm as a rigid body, in W.
struct PalmMotion {
  geometry::Vec3 p_W = geometry::Vec3::Zero();  ///< a point of it
  geometry::Vec3 omega_W = geometry::Vec3::Zero(), alpha_W = geometry::Vec3::Zero();
  geometry::Vec3 a_W = geometry::Vec3::Zero();  ///< acceleration of that point
};

/// tau_ARM + tau_G on a joint's child, about the joint, in W: the torque that carries its composite
/// rigidly with the palm against gravity,
///   (c - p) x m (a_c - g) + I_c alpha + omega x I_c omega,
/// equal to inverse dynamics with the fingers at rest in the palm (the test). Either part alone:
/// palm motion zero, or g zero.
geometry::Vec3 CarryingTorque_W(const Outboard& outboard, const PalmMotion& palm,
                                const geometry::Vec3& g_W);

}  // namespace handhold::synthesis

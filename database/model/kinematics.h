/// Where the bodies of a Skeleton are, how they move, and the Jacobians between joints and points.
///
/// Templated on the scalar so that automatic differentiation passes through: instantiated for
/// double; include kinematics_inl.h for any other scalar with the arithmetic, sin and cos
/// (ceres::Jet, Eigen::AutoDiffScalar). KinematicsData is scratch: made once for a skeleton, then
/// nothing here allocates. Not thread-safe: one per thread.
///
/// Twists are (omega, v) as in geometry/transform.h. Signs pinned by
/// tests/database/model/kinematics_test.cc.
#pragma once

#include <type_traits>
#include <vector>

#include <Eigen/Core>

#include "database/geometry/transform.h"
#include "database/model/skeleton.h"

namespace handhold::model {

/// Vector of scalars S, and how functions here take one: any contiguous vector of S, S not deduced
/// from it (it is deduced from the data argument), so that a plain Eigen::VectorXd can be passed.
template <typename S>
using VectorT = Eigen::Matrix<S, Eigen::Dynamic, 1>;
template <typename S>
using ConstVectorRef = std::type_identity_t<Eigen::Ref<const VectorT<S>>>;
template <typename S>
using VectorRef = std::type_identity_t<Eigen::Ref<VectorT<S>>>;

template <typename S>
struct KinematicsDataT {
  explicit KinematicsDataT(const Skeleton& skeleton);

  std::vector<geometry::RigidTransformT<S>> X_WB;  ///< pose of every body
  /// Twists in world coordinates (omega; v of the point at the world's origin), column per
  /// velocity: J of Kry & Pai eq. 4.
  Eigen::Matrix<S, 6, Eigen::Dynamic> J_W;
  std::vector<geometry::Vec6T<S>> V_WB;  ///< spatial velocity of every body, world coordinates, at
                                         ///< the world's origin
  std::vector<geometry::Vec6T<S>> A_WB;  ///< its time derivative
};
using KinematicsData = KinematicsDataT<double>;

/// Fills X_WB. `q` has skeleton.nq() entries; quaternions must have unit length to rounding.
template <typename S>
void ComputePoses(const Skeleton& skeleton, const ConstVectorRef<S>& q, KinematicsDataT<S>* data);

/// Fills X_WB and J_W.
template <typename S>
void ComputeJacobian(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                     KinematicsDataT<S>* data);

/// Fills V_WB and A_WB (without gravity) from q, v and the accelerations `a` = dv/dt; also poses
/// and Jacobian.
template <typename S>
void ComputeVelocities(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                       const ConstVectorRef<S>& v, const ConstVectorRef<S>& a,
                       KinematicsDataT<S>* data);

/// Point Jacobian J_i = Gamma(r) J S_i (Kry & Pai eq. 4): velocity in W of the point of `body` that
/// is at p_W now. 3 x nv. After ComputeJacobian.
template <typename S>
void PointJacobian(const Skeleton& skeleton, const KinematicsDataT<S>& data, int body,
                   const std::type_identity_t<geometry::Vec3T<S>>& p_W,
                   std::type_identity_t<Eigen::Ref<Eigen::Matrix<S, 3, Eigen::Dynamic>>> J);

/// tau += J_i^T f (eq. 2): joint torques of a force f_onHand_W (newtons, acting on the hand) on
/// `body` at p_W. A table that pushes up at a finger pointing along +X gives a negative, extending
/// torque at its flexion joints. After ComputeJacobian.
template <typename S>
void AddForceTorques(const Skeleton& skeleton, const KinematicsDataT<S>& data, int body,
                     const std::type_identity_t<geometry::Vec3T<S>>& p_W,
                     const std::type_identity_t<geometry::Vec3T<S>>& f_onHand_W, VectorRef<S> tau);

/// World positions of all markers, in order of skeleton.markers(). After ComputePoses. Allocates
/// only when *p_WM is too short.
template <typename S>
void MarkerPositions(const Skeleton& skeleton, const KinematicsDataT<S>& data,
                     std::vector<geometry::Vec3T<S>>* p_WM);

/// Pose of a named frame. After ComputePoses.
template <typename S>
geometry::RigidTransformT<S> FramePose(const Skeleton& skeleton, const KinematicsDataT<S>& data,
                                       int frame);

}  // namespace handhold::model

/// Forces and accelerations of a Skeleton: inverse dynamics (RNEA), mass matrix (CRBA), gravity,
/// bias, forward dynamics.
///
/// M(q) dv/dt + h(q, v) = tau + sum J^T f. tau and dv/dt live in v-space (skeleton.h). DynamicsData
/// is scratch, one per thread; nothing allocates after its construction. Oracle: MuJoCo 4,
/// tests/database/model/dynamics_test.cc.
#pragma once

#include <Eigen/Core>

#include "database/geometry/inertia.h"
#include "database/model/kinematics.h"
#include "database/model/skeleton.h"

namespace handhold::model {

template <typename S>
struct DynamicsDataT {
  explicit DynamicsDataT(const Skeleton& skeleton);
  ~DynamicsDataT();
  DynamicsDataT(DynamicsDataT&&) noexcept;
  struct Impl;
  std::unique_ptr<Impl> impl;
};
using DynamicsData = DynamicsDataT<double>;

template <typename S>
using VectorT = Eigen::Matrix<S, Eigen::Dynamic, 1>;

/// tau = M(q) a + h(q, v), h holding velocity terms and -gravity: what the joints must give (RNEA).
/// `gravity_W` in m/s^2, (0, 0, -9.81).
template <typename S>
void InverseDynamics(const Skeleton& skeleton, const Eigen::Ref<const VectorT<S>>& q,
                     const Eigen::Ref<const VectorT<S>>& v, const Eigen::Ref<const VectorT<S>>& a,
                     const geometry::Vec3& gravity_W, DynamicsDataT<S>* data,
                     Eigen::Ref<VectorT<S>> tau);
/// M(q), symmetric nv x nv (CRBA).
template <typename S>
void MassMatrix(const Skeleton& skeleton, const Eigen::Ref<const VectorT<S>>& q,
                DynamicsDataT<S>* data,
                Eigen::Ref<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>> M);
/// tau that holds the hand still against gravity: InverseDynamics at v = a = 0.
template <typename S>
void GravityTorque(const Skeleton& skeleton, const Eigen::Ref<const VectorT<S>>& q,
                   const geometry::Vec3& gravity_W, DynamicsDataT<S>* data,
                   Eigen::Ref<VectorT<S>> tau);
/// dv/dt from joint torques tau (including any J^T f).
template <typename S>
void ForwardDynamics(const Skeleton& skeleton, const Eigen::Ref<const VectorT<S>>& q,
                     const Eigen::Ref<const VectorT<S>>& v, const Eigen::Ref<const VectorT<S>>& tau,
                     const geometry::Vec3& gravity_W, DynamicsDataT<S>* data,
                     Eigen::Ref<VectorT<S>> a);
/// Mass, centre and inertia, in the world, of all bodies outboard of `body`'s joint (itself
/// included) at q.
geometry::MassProperties OutboardMass(const Skeleton& skeleton, const Eigen::VectorXd& q, int body,
                                      DynamicsData* data);

}  // namespace handhold::model

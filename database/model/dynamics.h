/// Forces and accelerations of a Skeleton: inverse dynamics (RNEA), mass matrix (CRBA), gravity,
/// bias, forward dynamics (ABA).
///
///   M(q) dv/dt + h(q, v) = tau + sum J^T f
///
/// tau and dv/dt live in v-space (skeleton.h); f and J as in kinematics.h. Templated like
/// kinematics.h: instantiated for double, dynamics_inl.h for other scalars. DynamicsData is
/// scratch, made once for a skeleton and kept by one thread; nothing allocates after its
/// construction (dynamics_test.cc counts). All are O(bodies) except the mass matrix, which is
/// O(bodies x depth) plus the nv^2 entries. Algorithms: Featherstone, Rigid Body Dynamics
/// Algorithms, 2008. Oracle: MuJoCo 4, tests/database/model/mujoco_test.cc; speed:
/// model.inverse_dynamics and model.mass_matrix in tests/bench.
#pragma once

#include <memory>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/model/kinematics.h"
#include "database/model/skeleton.h"

namespace handhold::model {

template <typename S>
struct DynamicsDataT {
  /// Copies what it needs: the skeleton may die first. Bodies joined by fixed joints are merged
  /// into one.
  explicit DynamicsDataT(const Skeleton& skeleton);
  ~DynamicsDataT();
  DynamicsDataT(DynamicsDataT&&) noexcept;
  DynamicsDataT& operator=(DynamicsDataT&&) noexcept;
  struct Impl;
  std::unique_ptr<Impl> impl;
};
using DynamicsData = DynamicsDataT<double>;

/// tau = M(q) a + h(q, v), h holding velocity terms and -gravity: what the joints must give (RNEA).
/// `gravity_W` in m/s^2, (0, 0, -9.81) on earth.
template <typename S>
void InverseDynamics(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                     const ConstVectorRef<S>& v, const ConstVectorRef<S>& a,
                     const geometry::Vec3& gravity_W, DynamicsDataT<S>* data, VectorRef<S> tau);

/// h(q, v): InverseDynamics at a = 0.
template <typename S>
void BiasForces(const Skeleton& skeleton, const ConstVectorRef<S>& q, const ConstVectorRef<S>& v,
                const geometry::Vec3& gravity_W, DynamicsDataT<S>* data, VectorRef<S> tau);

/// tau that holds the hand still against gravity: InverseDynamics at v = a = 0.
template <typename S>
void GravityTorque(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                   const geometry::Vec3& gravity_W, DynamicsDataT<S>* data, VectorRef<S> tau);

/// M(q), symmetric nv x nv, every entry written (CRBA). Positive definite when every leaf body has
/// mass and inertia.
template <typename S>
void MassMatrix(
    const Skeleton& skeleton, const ConstVectorRef<S>& q, DynamicsDataT<S>* data,
    std::type_identity_t<Eigen::Ref<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>> M);

/// dv/dt from joint torques tau (including any J^T f), into `a`. kInvalid, with the joint and its
/// body named and `a` untouched, where M is singular at this q: a joint with no mass outboard, or
/// joints that turn the same mass about one line (a posture that locks massless links), or a q that
/// is not finite. Numbers of v and tau that are not finite go through to `a`.
template <typename S>
Status ForwardDynamics(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                       const ConstVectorRef<S>& v, const ConstVectorRef<S>& tau,
                       const geometry::Vec3& gravity_W, DynamicsDataT<S>* data, VectorRef<S> a);

/// Mass, centre and inertia (about that centre), in world coordinates, of all bodies outboard of
/// `body`'s joint, itself included, at q: I of Pollard & Zordan 2005, eq. 3. Mass 0 when none of
/// them has any.
geometry::MassProperties OutboardMass(const Skeleton& skeleton, const ConstVectorRef<double>& q,
                                      int body, DynamicsData* data);

}  // namespace handhold::model

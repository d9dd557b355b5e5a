#include "database/model/dynamics.h"

#include "database/model/dynamics_inl.h"

namespace handhold::model {

template struct DynamicsDataT<double>;
template void InverseDynamics<double>(const Skeleton&, const ConstVectorRef<double>&,
                                      const ConstVectorRef<double>&, const ConstVectorRef<double>&,
                                      const geometry::Vec3&, DynamicsData*, VectorRef<double>);
template void BiasForces<double>(const Skeleton&, const ConstVectorRef<double>&,
                                 const ConstVectorRef<double>&, const geometry::Vec3&,
                                 DynamicsData*, VectorRef<double>);
template void GravityTorque<double>(const Skeleton&, const ConstVectorRef<double>&,
                                    const geometry::Vec3&, DynamicsData*, VectorRef<double>);
template void MassMatrix<double>(const Skeleton&, const ConstVectorRef<double>&, DynamicsData*,
                                 Eigen::Ref<Eigen::MatrixXd>);
template Status ForwardDynamics<double>(const Skeleton&, const ConstVectorRef<double>&,
                                        const ConstVectorRef<double>&,
                                        const ConstVectorRef<double>&, const geometry::Vec3&,
                                        DynamicsData*, VectorRef<double>);

geometry::MassProperties OutboardMass(const Skeleton& skeleton, const ConstVectorRef<double>& q,
                                      int body, DynamicsData* data) {
  DynamicsData::Impl& impl = *data->impl;
  internal::CheckSizes<double>(skeleton, q.size(), skeleton.nv(), impl);
  CHECK_GE(body, 1);
  CHECK_LT(body, skeleton.body_count());
  ComputePoses(skeleton, q, &impl.kinematics);
  geometry::MassProperties total;
  for (int b = body; b < skeleton.body_count(); ++b) {
    const size_t i = static_cast<size_t>(b);
    const int parent = skeleton.body(b).parent;
    impl.outboard[i] = b == body || (parent >= body && impl.outboard[static_cast<size_t>(parent)]);
    if (!impl.outboard[i]) continue;
    const geometry::MassProperties& m = skeleton.body(b).mass;
    total.mass_kg += m.mass_kg;
    total.p_BCom += m.mass_kg * (impl.kinematics.X_WB[i] * m.p_BCom);
  }
  if (total.mass_kg == 0) return {};
  total.p_BCom /= total.mass_kg;
  for (int b = body; b < skeleton.body_count(); ++b) {
    const size_t i = static_cast<size_t>(b);
    if (!impl.outboard[i]) continue;
    const geometry::MassProperties m =
        geometry::Transformed(impl.kinematics.X_WB[i], skeleton.body(b).mass);
    const geometry::Vec3 r = m.p_BCom - total.p_BCom;
    total.I_BCom_B +=
        m.I_BCom_B + m.mass_kg * (r.squaredNorm() * geometry::Mat3::Identity() - r * r.transpose());
  }
  return total;
}

}  // namespace handhold::model

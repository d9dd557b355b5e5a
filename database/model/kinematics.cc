#include "database/model/kinematics.h"

#include "database/model/kinematics_inl.h"

namespace handhold::model {

template struct KinematicsDataT<double>;
template void ComputePoses<double>(const Skeleton&, const ConstVectorRef<double>&, KinematicsData*);
template void ComputeJacobian<double>(const Skeleton&, const ConstVectorRef<double>&,
                                      KinematicsData*);
template void ComputeVelocities<double>(const Skeleton&, const ConstVectorRef<double>&,
                                        const ConstVectorRef<double>&,
                                        const ConstVectorRef<double>&, KinematicsData*);
template void PointJacobian<double>(const Skeleton&, const KinematicsData&, int,
                                    const geometry::Vec3&, Eigen::Ref<Eigen::Matrix3Xd>);
template void AddForceTorques<double>(const Skeleton&, const KinematicsData&, int,
                                      const geometry::Vec3&, const geometry::Vec3&,
                                      VectorRef<double>);
template void MarkerPositions<double>(const Skeleton&, const KinematicsData&,
                                      std::vector<geometry::Vec3>*);
template geometry::RigidTransform FramePose<double>(const Skeleton&, const KinematicsData&, int);

}  // namespace handhold::model

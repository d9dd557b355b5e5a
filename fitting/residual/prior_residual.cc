#include "fitting/residual/prior_residual.h"

#include "database/base/check.h"
#include "database/geometry/rotation.h"

namespace handhold::fitting {

using model::JointType;

PriorResidual::PriorResidual(const model::Skeleton& skeleton, const Eigen::VectorXd& sd)
    : PoseResidual(skeleton, skeleton.nv()),
      weight_(sd.cwiseInverse()),
      q_0_(skeleton.ZeroConfiguration()) {
  CHECK_EQ(sd.size(), skeleton.nv());
  CHECK(sd.size() == 0 || sd.minCoeff() > 0);
}

bool PriorResidual::EvaluateTangent(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> r,
                                    RowMajorMatrix* J_v) const {
  const Eigen::VectorXd difference = skeleton().Difference(q_0_, q);
  r = weight_.cwiseProduct(difference);
  if (J_v == nullptr) return true;
  J_v->diagonal() = weight_;
  for (int b = 1; b < skeleton().body_count(); ++b) {
    const JointType type = skeleton().body(b).joint.type;
    if (type != JointType::kBall && type != JointType::kFree) continue;
    const int iv = skeleton().v_index(b);
    const geometry::Vec3 w = difference.segment<3>(iv);
    J_v->block<3, 3>(iv, iv) =
        weight_.segment<3>(iv).asDiagonal() * geometry::LeftJacobianInverse(-w);
    if (type == JointType::kFree) {
      // R_0^T R = Exp(w).
      J_v->block<3, 3>(iv + 3, iv + 3) =
          weight_.segment<3>(iv + 3).asDiagonal() * geometry::Exp<double>(w);
    }
  }
  return true;
}

}  // namespace handhold::fitting

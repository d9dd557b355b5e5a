#include "fitting/residual/marker_residual.h"

#include <limits>

#include "database/base/check.h"

namespace handhold::fitting {
namespace {

geometry::Vec3 PointVelocity(const model::KinematicsData& data, int dof,
                             const geometry::Vec3& p_W) {
  const auto twist = data.J_W.col(dof);
  return geometry::Vec3(twist.tail<3>()) + geometry::Vec3(twist.head<3>()).cross(p_W);
}

}  // namespace

MarkerResidual::MarkerResidual(const model::Skeleton& skeleton, double marker_sd_m)
    : PoseResidual(skeleton, 3 * static_cast<int>(skeleton.markers().size())),
      weight_(1.0 / marker_sd_m),
      z_WM_(Eigen::Matrix3Xd::Constant(3, static_cast<Eigen::Index>(skeleton.markers().size()),
                                       std::numeric_limits<double>::quiet_NaN())),
      data_(skeleton),
      columns_(3, skeleton.nv()) {
  CHECK_GT(marker_sd_m, 0);
  for (const model::MarkerAttachment& marker : skeleton.markers()) {
    dofs_.emplace_back();
    for (int j = 0; j < skeleton.nv(); ++j) {
      if (skeleton.DofMovesBody(j, marker.body)) dofs_.back().push_back(j);
    }
  }
}

void MarkerResidual::SetMeasured(const Eigen::Matrix3Xd& z_WM) {
  CHECK_EQ(z_WM.cols(), z_WM_.cols());
  z_WM_ = z_WM;
}

bool MarkerResidual::EvaluateTangent(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> r,
                                     RowMajorMatrix* J_v) const {
  if (J_v != nullptr) {
    model::ComputeJacobian(skeleton(), q, &data_);
  } else {
    model::ComputePoses(skeleton(), q, &data_);
  }
  for (Eigen::Index m = 0; m < z_WM_.cols(); ++m) {
    const model::MarkerAttachment& marker = skeleton().markers()[static_cast<size_t>(m)];
    const geometry::Vec3 p_W = data_.X_WB[static_cast<size_t>(marker.body)] * marker.p_BM;
    if (!z_WM_.col(m).allFinite()) {
      r.segment<3>(3 * m).setZero();
      continue;
    }
    r.segment<3>(3 * m) = weight_ * (p_W - z_WM_.col(m));
    if (J_v == nullptr) continue;
    for (const int j : dofs_[static_cast<size_t>(m)])
      J_v->block<3, 1>(3 * m, j) = weight_ * PointVelocity(data_, j, p_W);
  }
  return true;
}

double MarkerResidual::AddNormal(const Eigen::VectorXd& q, Eigen::MatrixXd* H,
                                 Eigen::VectorXd* g) const {
  model::ComputeJacobian(skeleton(), q, &data_);
  double sum = 0.0;
  for (Eigen::Index m = 0; m < z_WM_.cols(); ++m) {
    if (!z_WM_.col(m).allFinite()) continue;
    const model::MarkerAttachment& marker = skeleton().markers()[static_cast<size_t>(m)];
    const geometry::Vec3 p_W = data_.X_WB[static_cast<size_t>(marker.body)] * marker.p_BM;
    const geometry::Vec3 r = weight_ * (p_W - z_WM_.col(m));
    const std::vector<int>& dofs = dofs_[static_cast<size_t>(m)];
    for (size_t a = 0; a < dofs.size(); ++a) {
      columns_.col(static_cast<Eigen::Index>(a)) = weight_ * PointVelocity(data_, dofs[a], p_W);
      const auto column = columns_.col(static_cast<Eigen::Index>(a));
      (*g)[dofs[a]] += column.dot(r);
      for (size_t b = 0; b <= a; ++b)
        (*H)(dofs[a], dofs[b]) += column.dot(columns_.col(static_cast<Eigen::Index>(b)));
    }
    sum += r.squaredNorm();
  }
  return sum;
}

double MarkerResidual::SquaredNorm(const Eigen::VectorXd& q) const {
  model::ComputePoses(skeleton(), q, &data_);
  double sum = 0.0;
  for (Eigen::Index m = 0; m < z_WM_.cols(); ++m) {
    if (!z_WM_.col(m).allFinite()) continue;
    const model::MarkerAttachment& marker = skeleton().markers()[static_cast<size_t>(m)];
    sum += (weight_ * (data_.X_WB[static_cast<size_t>(marker.body)] * marker.p_BM - z_WM_.col(m)))
               .squaredNorm();
  }
  return sum;
}

void MarkerResidual::Residuals(const Eigen::VectorXd& q, Eigen::Matrix3Xd* r_m) const {
  model::ComputePoses(skeleton(), q, &data_);
  r_m->resize(3, z_WM_.cols());
  for (Eigen::Index m = 0; m < z_WM_.cols(); ++m) {
    const model::MarkerAttachment& marker = skeleton().markers()[static_cast<size_t>(m)];
    r_m->col(m) = data_.X_WB[static_cast<size_t>(marker.body)] * marker.p_BM - z_WM_.col(m);
  }
}

}  // namespace handhold::fitting

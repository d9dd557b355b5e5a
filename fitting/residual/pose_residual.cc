#include "fitting/residual/pose_residual.h"

#include "database/geometry/rotation.h"

namespace handhold::fitting {
namespace {

using model::JointType;

/// d (quaternion * exp(w)) / dw at w = 0.
Eigen::Matrix<double, 4, 3> QuaternionPlus(const double* q) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  Eigen::Matrix<double, 4, 3> m;
  m << -x, -y, -z, w, -z, y, z, w, -x, -y, x, w;
  return 0.5 * m;
}

/// Visits the joints: scalar coordinates, quaternions and free positions with their places in q and
/// v.
template <typename OnScalar, typename OnQuaternion, typename OnPosition>
void ForEachJoint(const model::Skeleton& s, OnScalar scalar, OnQuaternion quaternion,
                  OnPosition position) {
  for (int b = 1; b < s.body_count(); ++b) {
    const int iq = s.q_index(b), iv = s.v_index(b);
    switch (s.body(b).joint.type) {
      case JointType::kFixed:
        break;
      case JointType::kUniversal:
        scalar(iq + 1, iv + 1);
        [[fallthrough]];
      case JointType::kHinge:
        scalar(iq, iv);
        break;
      case JointType::kBall:
        quaternion(iq, iv);
        break;
      case JointType::kFree:
        quaternion(iq + 3, iv);
        position(iq, iv + 3);
        break;
    }
  }
}

}  // namespace

RowMajorMatrix PlusJacobian(const model::Skeleton& skeleton, const Eigen::VectorXd& q) {
  RowMajorMatrix m = RowMajorMatrix::Zero(skeleton.nq(), skeleton.nv());
  ForEachJoint(
      skeleton, [&](int iq, int iv) { m(iq, iv) = 1; },
      [&](int iq, int iv) { m.block<4, 3>(iq, iv) = QuaternionPlus(q.data() + iq); },
      [&](int iq, int iv) {
        m.block<3, 3>(iq, iv) =
            geometry::FromQuaternion(q[iq + 3], q[iq + 4], q[iq + 5], q[iq + 6]);
      });
  return m;
}

RowMajorMatrix MinusJacobian(const model::Skeleton& skeleton, const Eigen::VectorXd& q) {
  RowMajorMatrix m = RowMajorMatrix::Zero(skeleton.nv(), skeleton.nq());
  ForEachJoint(
      skeleton, [&](int iq, int iv) { m(iv, iq) = 1; },
      [&](int iq, int iv) {
        m.block<3, 4>(iv, iq) = 4 * QuaternionPlus(q.data() + iq).transpose();
      },
      [&](int iq, int iv) {
        m.block<3, 3>(iv, iq) =
            geometry::FromQuaternion(q[iq + 3], q[iq + 4], q[iq + 5], q[iq + 6]).transpose();
      });
  return m;
}

bool SkeletonManifold::Plus(const double* x, const double* delta, double* x_plus_delta) const {
  Eigen::Map<Eigen::VectorXd>(x_plus_delta, skeleton_.nq()) =
      skeleton_.Integrate(Eigen::Map<const Eigen::VectorXd>(x, skeleton_.nq()),
                          Eigen::Map<const Eigen::VectorXd>(delta, skeleton_.nv()));
  return true;
}

bool SkeletonManifold::PlusJacobian(const double* x, double* jacobian) const {
  Eigen::Map<RowMajorMatrix>(jacobian, skeleton_.nq(), skeleton_.nv()) =
      fitting::PlusJacobian(skeleton_, Eigen::Map<const Eigen::VectorXd>(x, skeleton_.nq()));
  return true;
}

bool SkeletonManifold::Minus(const double* y, const double* x, double* y_minus_x) const {
  Eigen::Map<Eigen::VectorXd>(y_minus_x, skeleton_.nv()) =
      skeleton_.Difference(Eigen::Map<const Eigen::VectorXd>(x, skeleton_.nq()),
                           Eigen::Map<const Eigen::VectorXd>(y, skeleton_.nq()));
  return true;
}

bool SkeletonManifold::MinusJacobian(const double* x, double* jacobian) const {
  Eigen::Map<RowMajorMatrix>(jacobian, skeleton_.nv(), skeleton_.nq()) =
      fitting::MinusJacobian(skeleton_, Eigen::Map<const Eigen::VectorXd>(x, skeleton_.nq()));
  return true;
}

PoseResidual::PoseResidual(const model::Skeleton& skeleton, int rows)
    : skeleton_(skeleton),
      euclidean_(skeleton.nq() == skeleton.nv()),
      q_(skeleton.nq()),
      r_(rows),
      J_v_(rows, skeleton.nv()) {
  set_num_residuals(rows);
  mutable_parameter_block_sizes()->push_back(skeleton.nq());
}

bool PoseResidual::Evaluate(double const* const* parameters, double* residuals,
                            double** jacobians) const {
  q_ = Eigen::Map<const Eigen::VectorXd>(parameters[0], skeleton_.nq());
  const bool wanted = jacobians != nullptr && jacobians[0] != nullptr;
  if (wanted) J_v_.setZero();
  if (!EvaluateTangent(q_, r_, wanted ? &J_v_ : nullptr)) return false;
  Eigen::Map<Eigen::VectorXd>(residuals, r_.size()) = r_;
  if (!wanted) return true;
  Eigen::Map<RowMajorMatrix> J_q(jacobians[0], r_.size(), skeleton_.nq());
  if (euclidean_) {
    J_q = J_v_;
    return true;
  }
  // J_v * MinusJacobian, block by block: most of that matrix is zero.
  J_q.setZero();
  ForEachJoint(
      skeleton_, [&](int iq, int iv) { J_q.col(iq) = J_v_.col(iv); },
      [&](int iq, int iv) {
        J_q.middleCols<4>(iq).noalias() =
            J_v_.middleCols<3>(iv) * (4 * QuaternionPlus(q_.data() + iq).transpose());
      },
      [&](int iq, int iv) {
        const geometry::Mat3 R =
            geometry::FromQuaternion(q_[iq + 3], q_[iq + 4], q_[iq + 5], q_[iq + 6]);
        J_q.middleCols<3>(iq).noalias() = J_v_.middleCols<3>(iv) * R.transpose();
      });
  return true;
}

}  // namespace handhold::fitting

#include "synthesis/grasp_control/posture.h"

#include <algorithm>
#include <cmath>

#include "database/base/check.h"

namespace handhold::synthesis {

using geometry::Mat3;
using geometry::Vec3;
using model::JointType;

Mat3 ClampedToLimits(const model::Joint& ball, const Mat3& R) {
  const Vec3 now = model::SwingTwist(R);
  const Vec3 &lower = ball.lower_rad, &upper = ball.upper_rad;
  Vec3 to = now;
  to.x() = std::clamp(now.x(), lower.x(), upper.x());
  // The cone about the middle of the ranges; an infinite range bounds nothing.
  double out2 = 0.0;
  for (int k = 1; k < 3; ++k) {
    const double half = 0.5 * (upper[k] - lower[k]);
    if (!std::isfinite(half)) continue;
    const double off = (now[k] - 0.5 * (upper[k] + lower[k])) / std::max(half, 1e-6);
    out2 += off * off;
  }
  if (out2 > 1.0) {
    for (int k = 1; k < 3; ++k) {
      const double middle = 0.5 * (upper[k] + lower[k]);
      if (std::isfinite(middle)) to[k] = middle + (now[k] - middle) / std::sqrt(out2);
    }
  }
  if (to == now) return R;
  return geometry::Exp<double>(Vec3(0, to.y(), to.z())) *
         geometry::AxisAngle<double>(Vec3::UnitX(), to.x());
}

Eigen::VectorXd ClampedToLimits(const model::Skeleton& skeleton, const Eigen::VectorXd& q) {
  CHECK_EQ(q.size(), skeleton.nq());
  Eigen::VectorXd out = q;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Joint& joint = skeleton.body(b).joint;
    const int k = skeleton.q_index(b);
    if (joint.type == JointType::kBall) {
      const Mat3 R = geometry::FromQuaternion(q[k], q[k + 1], q[k + 2], q[k + 3]);
      const Mat3 clamped = ClampedToLimits(joint, R);
      if (clamped != R) out.segment<4>(k) = geometry::ToQuaternion(clamped);
    } else if (joint.type == JointType::kHinge || joint.type == JointType::kUniversal) {
      for (int axis = 0; axis < joint.nq(); ++axis)
        out[k + axis] = std::clamp(q[k + axis], joint.lower_rad[axis], joint.upper_rad[axis]);
    }
  }
  return out;
}

Eigen::VectorXd Between(const model::Skeleton& skeleton, const Eigen::VectorXd& q0,
                        const Eigen::VectorXd& q1, double s) {
  constexpr double kMostTurn_rad = 175.0 * M_PI / 180.0;
  Eigen::VectorXd v = s * skeleton.Difference(q0, q1);
  for (int b = 1; b < skeleton.body_count(); ++b) {
    if (skeleton.body(b).joint.type != JointType::kBall) continue;
    auto turn = v.segment<3>(skeleton.v_index(b));
    if (turn.norm() > kMostTurn_rad) turn *= kMostTurn_rad / turn.norm();
  }
  return skeleton.Integrate(q0, v);
}

}  // namespace handhold::synthesis

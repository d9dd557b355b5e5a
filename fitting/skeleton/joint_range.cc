#include "fitting/skeleton/joint_range.h"

#include <algorithm>
#include <cmath>

#include "database/geometry/rotation.h"

namespace handhold::fitting {
namespace {

using geometry::Vec3;
using model::JointType;

constexpr double kLeastSd_rad = 1e-3;  // a range of no width is no reason to divide by zero

int Ranges(JointType type) {
  return type == JointType::kHinge       ? 1
         : type == JointType::kUniversal ? 2
         : type == JointType::kBall      ? 3
                                         : 0;
}

}  // namespace

NarrowRanges::NarrowRanges(const model::Skeleton& skeleton)
    : weight_(Eigen::VectorXd::Zero(skeleton.nv())), middle_(Eigen::VectorXd::Zero(skeleton.nv())) {
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Joint& joint = skeleton.body(b).joint;
    for (int k = 0; k < Ranges(joint.type); ++k) {
      const double width = joint.upper_rad[k] - joint.lower_rad[k];
      if (!(width <= kNarrowRange_rad)) continue;
      const int i = skeleton.v_index(b) + k;
      weight_[i] = 1 / std::max(width / std::sqrt(12.0), kLeastSd_rad);
      middle_[i] = 0.5 * (joint.lower_rad[k] + joint.upper_rad[k]);
      any_ = true;
    }
  }
}

Eigen::VectorXd NarrowRanges::Middle(const model::Skeleton& skeleton,
                                     const Eigen::VectorXd& q) const {
  if (!any_) return q;
  Eigen::VectorXd out = q;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const JointType type = skeleton.body(b).joint.type;
    const int iq = skeleton.q_index(b), iv = skeleton.v_index(b), n = Ranges(type);
    if (n == 0 || weight_.segment(iv, n).isZero(0)) continue;
    if (type != JointType::kBall) {
      for (int k = 0; k < n; ++k) {
        if (narrow(iv + k)) out[iq + k] = middle_[iv + k];
      }
      continue;
    }
    Vec3 angles =
        model::SwingTwist(geometry::FromQuaternion<double>(q[iq], q[iq + 1], q[iq + 2], q[iq + 3]));
    for (int k = 0; k < 3; ++k) {
      if (narrow(iv + k)) angles[k] = middle_[iv + k];
    }
    const geometry::Mat3 R = geometry::Exp<double>(Vec3(0, angles[1], angles[2])) *
                             geometry::Exp<double>(Vec3(angles[0], 0, 0));
    out.segment<4>(iq) = geometry::ToQuaternion(R);
  }
  return out;
}

}  // namespace handhold::fitting

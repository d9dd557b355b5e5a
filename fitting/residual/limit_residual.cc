#include "fitting/residual/limit_residual.h"

#include <algorithm>
#include <cmath>

#include "database/base/check.h"

namespace handhold::fitting {
namespace {

using model::JointType;

double Outside(double q, double lower, double upper) {
  return q > upper ? q - upper : q < lower ? q - lower : 0.0;
}

/// Twist about x and the swing's rotation vector (y, z), of the quaternion w x y z = swing * twist.
template <typename S>
void SwingTwist(const S* q, S* twist, S* swing_y, S* swing_z) {
  using std::atan2;
  using std::sqrt;
  const S sign = q[0] < S(0) ? S(-1) : S(1);
  const S w = sign * q[0], x = sign * q[1], y = sign * q[2], z = sign * q[3];
  *twist = S(2) * atan2(x, w);
  const S length = sqrt(w * w + x * x);  // cos of half the swing
  // swing = q * conj(twist): its y and z parts.
  const S c = w / length, s = x / length;
  const S y_swing = c * y - s * z, z_swing = c * z + s * y;
  const S sine = sqrt(y_swing * y_swing + z_swing * z_swing + S(1e-30));
  const S scale = S(2) * atan2(sine, length) / sine;
  *swing_y = scale * y_swing;
  *swing_z = scale * z_swing;
}

/// The way outside the elliptic cone.
template <typename S>
S SwingExcess(const S& y, const S& z, const model::Joint& joint) {
  using std::sqrt;
  const double finite = 1e6;  // stands for a limit that is not there
  double middle[2], half[2];
  for (int i = 0; i < 2; ++i) {
    const double lo = std::max(joint.lower_rad[i + 1], -finite),
                 hi = std::min(joint.upper_rad[i + 1], finite);
    middle[i] = 0.5 * (lo + hi);
    half[i] = std::max(0.5 * (hi - lo), 1e-6);
  }
  const S a = (y - S(middle[0])) / S(half[0]), b = (z - S(middle[1])) / S(half[1]);
  const S e = sqrt(a * a + b * b + S(1e-30));
  return e > S(1) ? (e - S(1)) * S(std::min(half[0], half[1])) : S(0);
}

}  // namespace

LimitResidual::LimitResidual(const model::Skeleton& skeleton, double limit_sd_rad)
    : PoseResidual(skeleton, skeleton.nv()), weight_(1.0 / limit_sd_rad) {
  CHECK_GT(limit_sd_rad, 0);
}

bool LimitResidual::EvaluateTangent(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> r,
                                    RowMajorMatrix* J_v) const {
  r.setZero();
  for (int b = 1; b < skeleton().body_count(); ++b) {
    const model::Joint& joint = skeleton().body(b).joint;
    const int iq = skeleton().q_index(b), iv = skeleton().v_index(b);
    if (joint.type == JointType::kHinge || joint.type == JointType::kUniversal) {
      for (int k = 0; k < joint.nv(); ++k) {
        const double out = Outside(q[iq + k], joint.lower_rad[k], joint.upper_rad[k]);
        r[iv + k] = weight_ * out;
        if (J_v != nullptr && out != 0) (*J_v)(iv + k, iv + k) = weight_;
      }
    } else if (joint.type == JointType::kBall && J_v == nullptr) {
      const double quaternion[4] = {q[iq], q[iq + 1], q[iq + 2], q[iq + 3]};
      double twist, swing_y, swing_z;
      SwingTwist(quaternion, &twist, &swing_y, &swing_z);
      r[iv] = weight_ * Outside(twist, joint.lower_rad[0], joint.upper_rad[0]);
      r[iv + 1] = weight_ * SwingExcess(swing_y, swing_z, joint);
    } else if (joint.type == JointType::kBall) {
      using Jet = ceres::Jet<double, 3>;
      // q (+) v to first order: q + 1/2 q (0, v).
      const double w = q[iq], x = q[iq + 1], y = q[iq + 2], z = q[iq + 3];
      Jet jet[4] = {Jet(w), Jet(x), Jet(y), Jet(z)};
      jet[0].v << -0.5 * x, -0.5 * y, -0.5 * z;
      jet[1].v << 0.5 * w, -0.5 * z, 0.5 * y;
      jet[2].v << 0.5 * z, 0.5 * w, -0.5 * x;
      jet[3].v << -0.5 * y, 0.5 * x, 0.5 * w;
      Jet twist, swing_y, swing_z;
      SwingTwist(jet, &twist, &swing_y, &swing_z);
      const double out = Outside(twist.a, joint.lower_rad[0], joint.upper_rad[0]);
      const Jet excess = SwingExcess(swing_y, swing_z, joint);
      r[iv] = weight_ * out;
      r[iv + 1] = weight_ * excess.a;
      if (out != 0) J_v->block<1, 3>(iv, iv) = weight_ * twist.v.transpose();
      J_v->block<1, 3>(iv + 1, iv) = weight_ * excess.v.transpose();
    }
  }
  return true;
}

}  // namespace handhold::fitting

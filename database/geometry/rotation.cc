#include "database/geometry/rotation.h"

#include <Eigen/SVD>

#include <algorithm>

namespace handhold::geometry {

Eigen::Vector4d ToQuaternion(const Mat3& R) {
  Eigen::Quaterniond q(R);
  q.normalize();
  if (q.w() < 0) q.coeffs() = -q.coeffs();
  return {q.w(), q.x(), q.y(), q.z()};
}

Vec3 Log(const Mat3& R) {
  // Through the quaternion, whose vector part keeps full relative precision at every angle: half
  // the angle is atan2(|v|, w), well conditioned from 0 to pi.
  const Eigen::Vector4d q = ToQuaternion(R);
  const Vec3 v = q.tail<3>();
  const double n = v.stableNorm();
  if (n < 1e-12) return 2.0 * v;
  Vec3 w = (2.0 * std::atan2(n, q[0]) / n) * v;
  if (q[0] == 0.0) {
    Eigen::Index largest;
    w.cwiseAbs().maxCoeff(&largest);
    if (w[largest] < 0) w = -w;
  }
  return w;
}

// The closed forms below lose digits to cancellation for small angles (t - sin t keeps none at 1e-5
// rad), so below 1 rad the series are summed: their terms fall faster than t^2 / 40 each.

Mat3 LeftJacobian(const Vec3& w) {
  const double t2 = w.squaredNorm();
  const Mat3 k = Skew<double>(w);
  double a, b;  // J_l = I + a [w] + b [w]^2, a = (1 - cos t)/t^2, b = (t - sin t)/t^3
  if (t2 < 1.0) {
    // a = sum (-t^2)^n / (2n + 2)!, b = sum (-t^2)^n / (2n + 3)!, by Horner from n = 8.
    a = b = 0.0;
    for (int n = 8; n >= 0; --n) {
      a = (1.0 - t2 * a) / ((2.0 * n + 1.0) * (2.0 * n + 2.0));
      b = (1.0 - t2 * b) / ((2.0 * n + 2.0) * (2.0 * n + 3.0));
    }
  } else {
    const double t = std::sqrt(t2);
    const double half = std::sin(0.5 * t);
    a = 2.0 * half * half / t2;
    b = (t - std::sin(t)) / (t2 * t);
  }
  return Mat3::Identity() + a * k + b * k * k;
}

Mat3 LeftJacobianInverse(const Vec3& w) {
  const double t2 = w.squaredNorm();
  const Mat3 k = Skew<double>(w);
  double c;  // J_l^-1 = I - [w]/2 + c [w]^2, c = (1 - (t/2) cot(t/2)) / t^2
  if (t2 < 1.0) {
    // c = sum |B_2n| t^(2n-2) / (2n)!, B the Bernoulli numbers.
    constexpr double kCoefficients[] = {1.0 / 12.0,
                                        1.0 / 720.0,
                                        1.0 / 30240.0,
                                        1.0 / 1209600.0,
                                        1.0 / 47900160.0,
                                        691.0 / 1307674368000.0,
                                        1.0 / 74724249600.0,
                                        3617.0 / 10670622842880000.0,
                                        43867.0 / 5109094217170944000.0,
                                        174611.0 / 802857662698291200000.0};
    c = 0.0;
    for (int n = 9; n >= 0; --n) c = c * t2 + kCoefficients[n];
  } else {
    const double half = 0.5 * std::sqrt(t2);
    c = (1.0 - half * std::cos(half) / std::sin(half)) / t2;
  }
  return Mat3::Identity() - 0.5 * k + c * k * k;
}

Mat3 NearestRotation(const Mat3& M) {
  // Eigen's decomposition of such input leaves its answer unset.
  if (!M.allFinite()) return Mat3::Identity();
  const Eigen::JacobiSVD<Mat3> svd(M, Eigen::ComputeFullU | Eigen::ComputeFullV);
  if (!(svd.singularValues()[1] > 1e-14 * std::max(1e-300, svd.singularValues()[0])))
    return Mat3::Identity();
  Mat3 d = Mat3::Identity();
  d(2, 2) = (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0 ? -1.0 : 1.0;
  return svd.matrixU() * d * svd.matrixV().transpose();
}

}  // namespace handhold::geometry

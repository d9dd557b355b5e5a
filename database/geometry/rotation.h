/// Rotations in space: exponential, logarithm and their Jacobians, exact near 0 and near pi, for
/// any scalar.
///
/// A rotation is its 3x3 matrix R_AB: it takes coordinates in B to coordinates in A, v_A = R_AB *
/// v_B. Templates accept double and automatic-differentiation scalars. Quaternions are scalar-first
/// (w, x, y, z) wherever they are stored or printed. Angles are radians, positive by the right
/// hand. Nothing here allocates or fails: NaN in is NaN out, and preconditions are stated, not
/// checked, as these are called millions of times. Pinned by
/// tests/database/geometry/rotation_test.cc.
#pragma once

#include <cmath>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace handhold::geometry {

template <typename S>
using Vec3T = Eigen::Matrix<S, 3, 1>;
template <typename S>
using Mat3T = Eigen::Matrix<S, 3, 3>;
using Vec3 = Vec3T<double>;
using Mat3 = Mat3T<double>;

/// [v]: the matrix of the cross product, Skew(v) * u = v x u. Antisymmetric, of v's unit.
template <typename S>
Mat3T<S> Skew(const Vec3T<S>& v) {
  Mat3T<S> m;
  m << S(0), -v.z(), v.y(), v.z(), S(0), -v.x(), -v.y(), v.x(), S(0);
  return m;
}

/// R = exp([w]): the rotation by |w| radians about w. Smooth through 0, also in its derivatives.
/// Below 1e-4 rad by series (the branch is taken on the value, so that derivatives follow it);
/// orthonormal to a few 1e-16 up to |w| of 1e150, beyond which its square overflows to NaN.
template <typename S>
Mat3T<S> Exp(const Vec3T<S>& w) {
  using std::cos;  // or, found by their argument, those of an automatic-differentiation scalar
  using std::sin;
  using std::sqrt;
  const S angle2 = w.squaredNorm();
  S a, b;  // R = I + a [w] + b [w]^2, a = sin(t)/t, b = (1 - cos t)/t^2
  if (angle2 < S(1e-8)) {
    a = S(1) - angle2 / S(6) * (S(1) - angle2 / S(20));
    b = S(0.5) - angle2 / S(24) * (S(1) - angle2 / S(30));
  } else {
    const S angle = sqrt(angle2);
    const S half = sin(angle * S(0.5));
    a = sin(angle) / angle;
    b = S(2) * half * half / angle2;
  }
  const Mat3T<S> k = Skew<S>(w);
  return Mat3T<S>::Identity() + a * k + b * (k * k);
}

/// w with Exp(w) = R and |w| <= pi. At |w| = pi, where +w and -w are the same rotation, the one
/// whose largest component is positive. R must be a rotation to rounding; the result is as accurate
/// as R at every angle: a few 1e-16 rad, and in proportion to |w| where R is close to the identity.
Vec3 Log(const Mat3& R);

/// Left Jacobian of Exp: Exp(w + dw) = Exp(J_l(w) dw) Exp(w) to first order. The right one is
/// J_l(-w) = J_l(w)^T.
Mat3 LeftJacobian(const Vec3& w);
/// Inverse of LeftJacobian: Log(Exp(dw) Exp(w)) = w + J_l^-1(w) dw to first order, for |w| < pi.
/// Infinite at |w| = 2 pi. Precondition: |w| < 2 pi.
Mat3 LeftJacobianInverse(const Vec3& w);

/// Rotation by `angle_rad` about the unit vector `axis` (Rodrigues). Precondition: `axis` has
/// length 1; a longer one gives no rotation. 1 - cos is formed from the half angle, so that small
/// angles keep their digits.
template <typename S>
Mat3T<S> AxisAngle(const Vec3T<S>& axis, const S& angle_rad) {
  using std::cos;
  using std::sin;
  const S half = sin(angle_rad * S(0.5));
  const Mat3T<S> k = Skew<S>(axis);
  return Mat3T<S>::Identity() + sin(angle_rad) * k + (S(2) * half * half) * (k * k);
}

/// The rotation of the unit quaternion (w, x, y, z). No normalisation: q must have length 1 to
/// rounding.
template <typename S>
Mat3T<S> FromQuaternion(const S& w, const S& x, const S& y, const S& z) {
  return Eigen::Quaternion<S>(w, x, y, z).toRotationMatrix();
}

/// (w, x, y, z) of length 1 with w >= 0: of the two that mean R the nearer to the identity. R must
/// be a rotation to rounding.
Eigen::Vector4d ToQuaternion(const Mat3& R);

/// The rotation nearest to M in Frobenius norm (det +1), by singular values; for what a file or a
/// sum of rotations made not quite orthonormal. M must have rank >= 2, else the identity is
/// returned.
Mat3 NearestRotation(const Mat3& M);

}  // namespace handhold::geometry

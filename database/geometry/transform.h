/// Rigid transforms, twists and wrenches, with frames in their names (Drake's monogram; README.md
/// of this module).
///
/// X_AB is the pose of frame B in frame A: p_A = X_AB * p_B. Twists are (omega, v) and wrenches
/// (torque, force), in this order, as in Kry & Pai 2006, section 6.1: rad/s and m/s, N m and N. A
/// twist's v is the velocity of the body's point that is at the frame's origin now, and a wrench's
/// torque is about that origin. Nothing here allocates or fails; automatic differentiation passes
/// through. Pinned by tests/database/geometry/transform_test.cc.
#pragma once

#include <Eigen/Core>

#include "database/geometry/rotation.h"

namespace handhold::geometry {

template <typename S>
using Vec6T = Eigen::Matrix<S, 6, 1>;
template <typename S>
using Mat6T = Eigen::Matrix<S, 6, 6>;
using Vec6 = Vec6T<double>;
using Mat6 = Mat6T<double>;

/// The pose X_AB of frame B in frame A; the identity by default. An aggregate that trusts its
/// owner: R must be a rotation to rounding (readers check it, shape_json.h). Products keep it one
/// to rounding, 1e-16 each.
template <typename S>
struct RigidTransformT {
  Mat3T<S> R = Mat3T<S>::Identity();  ///< R_AB
  Vec3T<S> p = Vec3T<S>::Zero();      ///< p_AB: origin of B, in A, metres

  static RigidTransformT Identity() { return {}; }
  static RigidTransformT Translation(const Vec3T<S>& p) { return {Mat3T<S>::Identity(), p}; }

  /// X_AC = X_AB * X_BC.
  RigidTransformT operator*(const RigidTransformT& X_BC) const {
    return {R * X_BC.R, R * X_BC.p + p};
  }
  /// p_A = X_AB * p_B: a point, not a direction (for a direction use R).
  Vec3T<S> operator*(const Vec3T<S>& p_B) const { return R * p_B + p; }
  /// X_BA, by the transpose: exact for a rotation, wrong for anything else.
  RigidTransformT Inverse() const { return {R.transpose(), -(R.transpose() * p)}; }

  /// The same pose for another scalar; derivatives of an automatic-differentiation scalar are 0.
  template <typename T>
  RigidTransformT<T> Cast() const {
    return {R.template cast<T>(), p.template cast<T>()};
  }
};
using RigidTransform = RigidTransformT<double>;

/// Ad_AB of Kry & Pai section 6.1: takes a twist (omega, v of the point at the origin) from frame B
/// to frame A.
template <typename S>
Mat6T<S> Adjoint(const RigidTransformT<S>& X_AB) {
  Mat6T<S> ad = Mat6T<S>::Zero();
  ad.template topLeftCorner<3, 3>() = X_AB.R;
  ad.template bottomRightCorner<3, 3>() = X_AB.R;
  ad.template bottomLeftCorner<3, 3>() = Skew<S>(X_AB.p) * X_AB.R;
  return ad;
}

/// Takes a wrench (torque about the origin, force) from frame B to frame A: the inverse transpose
/// of Adjoint(X_AB). (The text copy of the paper lost the inverse in "j_w = Ad^-T i_w"; power F^T V
/// is the same in both frames: the test.)
template <typename S>
Vec6T<S> TransformWrench(const RigidTransformT<S>& X_AB, const Vec6T<S>& w_B) {
  Vec6T<S> w_A;
  w_A.template tail<3>() = X_AB.R * w_B.template tail<3>();
  w_A.template head<3>() = X_AB.R * w_B.template head<3>() + X_AB.p.cross(w_A.template tail<3>());
  return w_A;
}

/// Gamma(r) of Kry & Pai section 6.1: the velocity of the point r is Gamma(r) * twist, v + omega x
/// r, and a force f at r is the wrench Gamma(r)^T * f, (r x f, f). r, twist and f in one frame.
template <typename S>
Eigen::Matrix<S, 3, 6> Gamma(const Vec3T<S>& r) {
  Eigen::Matrix<S, 3, 6> g;
  g.template leftCols<3>() = -Skew<S>(r);
  g.template rightCols<3>().setIdentity();
  return g;
}

/// [phi] of Kry & Pai section 6.1: the spatial cross product for twists, [phi1] phi2 = d/dt of phi2
/// carried along phi1. For wrenches it is -[phi]^T: power F^T V stays what it is.
template <typename S>
Mat6T<S> SpatialCross(const Vec6T<S>& twist) {
  Mat6T<S> m = Mat6T<S>::Zero();
  const Mat3T<S> w = Skew<S>(Vec3T<S>(twist.template head<3>()));
  m.template topLeftCorner<3, 3>() = w;
  m.template bottomRightCorner<3, 3>() = w;
  m.template bottomLeftCorner<3, 3>() = Skew<S>(Vec3T<S>(twist.template tail<3>()));
  return m;
}

}  // namespace handhold::geometry

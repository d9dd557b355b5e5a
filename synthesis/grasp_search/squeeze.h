/// How a grasp squeezes: forces at its contacts that balance, and the joint torques that make them.
///
/// Shares first (the thumb presses three times as hard as a finger: it meets several), by
/// nonnegative least squares over cone edges; what that leaves unbalanced is then taken up exactly
/// by the least further forces (SolveLeastForce). Pinned by
/// tests/synthesis/grasp_search/squeeze_test.cc.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "database/model/kinematics.h"
#include "synthesis/contact/force_feasibility.h"
#include "synthesis/grasp_search/closing.h"

namespace handhold::synthesis {

struct SqueezeOptions {
  double total_N = 40.0;        ///< sum of normal forces
  double thumb_share = 3.0;     ///< of a finger's
  double friction_scale = 0.7;  ///< of the friction there is
  double length_m = 0.05;
};
template <typename A>
void Visit(A& a, SqueezeOptions& o) {
  a.Field("total_N", o.total_N);
  a.Field("thumb_share", o.thumb_share);
  a.Field("friction_scale", o.friction_scale);
  a.Field("length_m", o.length_m);
}

struct Squeeze {
  std::vector<geometry::Vec3> f_onObject_P;  ///< N, per contact
  /// |unbalanced wrench| (torque / length) per newton of total_N: 0 where it balances.
  double unbalanced = 0.0;
};

/// Contacts in P; torques about `origin_P`.
Squeeze BalanceSqueeze(const std::vector<SkinContact>& contacts, const geometry::Vec3& origin_P,
                       double friction, const SqueezeOptions& options);

/// nv: torques with which the joints press so on the object, J^T f_onObject; the root's six are 0
/// (whoever holds the hand takes them, and balanced forces ask nothing of it). `data` is of
/// ComputeJacobian at the grasp, the world being P.
Eigen::VectorXd SqueezeTorques(const model::Skeleton& skeleton, const model::KinematicsData& data,
                               const std::vector<SkinContact>& contacts, const Squeeze& squeeze);

}  // namespace handhold::synthesis

#include "synthesis/grasp_control/setpoints.h"

#include <cmath>
#include <string>

#include "synthesis/grasp_control/posture.h"

namespace handhold::synthesis {

Eigen::VectorXd SqueezeTarget(const model::Skeleton& skeleton, const Eigen::VectorXd& q_open,
                              const Eigen::VectorXd& q, double alpha) {
  return ClampedToLimits(skeleton, Between(skeleton, q_open, q, 1.0 + alpha));
}

Result<artefact::SetpointSet> SetpointsOf(const model::Skeleton& skeleton,
                                          const artefact::Grasp& grasp) {
  if (grasp.q.size() != skeleton.nq() || grasp.q_open.size() != skeleton.nq()) {
    return Error{ErrorCode::kInvalid,
                 "grasp '" + grasp.name + "': setpoints need q and q_open of " + skeleton.name() +
                     ", " + std::to_string(skeleton.nq()) + " entries each; it has " +
                     std::to_string(grasp.q.size()) + " and " +
                     std::to_string(grasp.q_open.size())};
  }
  if (grasp.q_squeeze.size() != 0 && grasp.q_squeeze.size() != skeleton.nq()) {
    return Error{ErrorCode::kInvalid,
                 "grasp '" + grasp.name + "': q_squeeze is not of " + skeleton.name()};
  }
  const Eigen::VectorXd squeeze = grasp.q_squeeze.size() != 0
                                      ? grasp.q_squeeze
                                      : SqueezeTarget(skeleton, grasp.q_open, grasp.q, 1.0);
  const Eigen::VectorXd closed = Between(skeleton, grasp.q_open, squeeze, 0.5);
  artefact::SetpointSet set;
  set.skeleton_name = grasp.skeleton_name;
  set.skeleton_hash = grasp.skeleton_hash;
  set.dof_names = skeleton.dof_names();
  set.q_neutral = ClampedToLimits(skeleton, Between(skeleton, grasp.q_open, closed, 0.5));
  // Eq. 14 at rest.
  const auto at_rest = [&](const Eigen::VectorXd& q) {
    return Between(skeleton, set.q_neutral, q, 2.0);
  };
  const Eigen::VectorXd open = at_rest(grasp.q_open);
  set.setpoints = {{"neutral", set.q_neutral, {}}, {"open", open, {}},
                   {"close", at_rest(closed), {}}, {"release", open, {}},
                   {"relax", set.q_neutral, {}},   {"neutral again", set.q_neutral, {}}};
  return set;
}

Status CheckSetpoints(const model::Skeleton& skeleton, const artefact::SetpointSet& set) {
  const auto invalid = [](const std::string& what) {
    return Error{ErrorCode::kInvalid, "setpoints: " + what};
  };
  if (set.setpoints.size() != kSetpointCount) {
    return invalid("there are " + std::to_string(set.setpoints.size()) + ", not " +
                   std::to_string(kSetpointCount));
  }
  if (set.q_neutral.size() != skeleton.nq() || !set.q_neutral.allFinite())
    return invalid("the neutral pose is not one of " + skeleton.name());
  for (const artefact::Setpoint& s : set.setpoints) {
    if (s.q.size() != skeleton.nq() || !s.q.allFinite() ||
        (s.rate_rad_per_s.size() != 0 && s.rate_rad_per_s.size() != skeleton.nv()) ||
        !s.rate_rad_per_s.allFinite()) {
      return invalid("'" + s.name + "' is not a pose of " + skeleton.name());
    }
  }
  if (!(set.stiffness_per_s2 > 0) || !(set.damping_per_s >= 0) ||
      !(set.limit_stiffness_per_s2 >= 0) || !std::isfinite(set.stiffness_per_s2) ||
      !std::isfinite(set.damping_per_s) || !std::isfinite(set.limit_stiffness_per_s2)) {
    return invalid("stiffness must be > 0, damping and limit stiffness >= 0, all finite");
  }
  if (!(set.near_m < set.approach_m) || !(set.approach_m < set.begin_m))
    return invalid("the distances must rise: near < approach < begin");
  return {};
}

}  // namespace handhold::synthesis

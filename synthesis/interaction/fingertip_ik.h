/// Joint angles that bring chosen points of a hand to places in the world: damped least squares
/// with a posture to stay near and joint limits.
///
/// Hinge and universal limits are held exactly; a ball's are not looked at. Deterministic: same
/// input, same bits. Pinned by tests/synthesis/interaction/scripted_reference_test.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// A point of the hand and where it shall be.
struct FingertipGoal {
  std::string name;  ///< for messages: "thumb.tip"
  int body = 0;
  geometry::Vec3 p_B = geometry::Vec3::Zero();
  geometry::Vec3 p_W = geometry::Vec3::Zero();
};

struct IkOptions {
  /// lambda of dq = J^T (J J^T + lambda^2 I)^-1 e. Far below the lever of a finger (50 mm), so that
  /// it acts near stretched fingers only: the pull to the rest posture leaves an error of some
  /// lambda^2 / lever^2 of the joints' distance from rest.
  double damping_m = 1e-4;
  double reached_m = 1e-4;  ///< a goal further away than this after the last step is not reached
  double largest_step_rad = 0.2;  ///< of any velocity, per iteration; m for a free root
  int iterations = 200;
  double settled = 1e-9;  ///< a step smaller than this in every entry ends the search
};

/// Moves *q (where the search begins) to the posture that reaches the goals and is otherwise near
/// `q_rest`: what is left of the motion after the goals pulls there. Velocities with `locked` (nv;
/// empty: none) keep their place. Errors: kInvalid for sizes that do not fit, numbers that are not
/// finite, and goals that cannot be reached, naming each with its distance.
Status ReachFingertips(const model::Skeleton& skeleton, std::span<const FingertipGoal> goals,
                       const Eigen::VectorXd& q_rest, const std::vector<char>& locked,
                       const IkOptions& options, Eigen::VectorXd* q);

template <typename A>
void Visit(A& a, IkOptions& o) {
  a.Field("damping_m", o.damping_m);
  a.Field("reached_m", o.reached_m);
  a.Field("largest_step_rad", o.largest_step_rad);
  a.Field("iterations", o.iterations);
  a.Field("settled", o.settled);
}

}  // namespace handhold::synthesis

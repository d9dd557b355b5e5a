/// The joint torques of a grasping hand: passive, active, and what carries it along with the arm
/// (Pollard & Zordan 2005).
///
///   tau   = tau_P + tau_A + tau_ARM + tau_G                                             (eq. 1)
///   tau_P = I (k_S (neutral - theta) + k_JL (limit - theta) - k_D theta')               (eq. 3)
///   tau_A = I (k_S (des - theta) + k_D (des' - theta')),  des = B P_S, des' = B P_D     (eqs. 5-9)
///
/// per joint, errors of balls as rotation vectors in the child's joint frame, I the inertia of all
/// that lies outboard (outboard.h). Passive and active pull alike: the hand rests in the middle of
/// neutral and des, pulled with twice the gains.
///
/// Two forms of the same law. Explicit: torques of the step's beginning, as the paper has it;
/// stable at the paper's 0.2 ms with Table 1. Implicit: springs and dampers of the step's
/// end in the engine's own solution, stable at any step (1 to 4 ms are meant). After 0.5 s of
/// closing on a held prop they agree within 3 degrees at every joint (the test).
///
/// Strength. With Table 1's gains a hand holds about 10 g: inertias of fingers are small, and
/// those of fingertips next to nothing. `gain_factor` 10 and `inertia_floor_kgm2` 1e-5 hold 100 g
/// in every direction; both depart from the paper and are named in results. Pinned by
/// tests/synthesis/grasp_control/controller_test.cc.
#pragma once

#include <vector>

#include "database/artefact/setpoint_set.h"
#include "database/base/result.h"
#include "synthesis/grasp_control/hand_world.h"
#include "synthesis/grasp_control/state_machine.h"

namespace handhold::synthesis {

enum class ControlForm { kImplicit, kExplicit };

struct ControllerOptions {
  ControlForm form = ControlForm::kImplicit;
  /// On k_S and k_JL; k_D gets its root, so that the motion is as damped as before. 1: the paper's.
  double gain_factor = 1.0;
  double inertia_floor_kgm2 = 0.0;  ///< added to I of the springs alone; 0: the paper's
  /// Where the springs rest (middle of neutral and des) is drawn within the joint limits, so that
  /// they do not fight the limits' own springs. Off: the paper's.
  bool rest_within_limits = false;
  bool passive = true, active = true;
  bool limit_springs = true;
  bool compensate_arm = true, compensate_gravity = true;

  /// The paper as it is.
  static ControllerOptions Paper() { return {.form = ControlForm::kExplicit}; }
  /// What holds things: ten times Table 1, floor, rest within limits.
  static ControllerOptions Strong() {
    return {.gain_factor = 10.0, .inertia_floor_kgm2 = 1e-5, .rest_within_limits = true};
  }
};

class GraspController {
 public:
  /// For hand `hand` of `world`, whose skeleton as loaded the setpoints are of. kInvalid as
  /// CheckSetpoints, and for a factor or floor that is not >= 0 and finite.
  static Result<GraspController> Create(HandWorld* world, int hand, const model::Skeleton& skeleton,
                                        const artefact::SetpointSet& setpoints,
                                        const ControllerOptions& options = {});

  /// Torques (explicit) or drives (implicit) for the next step, from the world's present state.
  /// After MovePalm and SetGravity of that step.
  Status Apply(const Blend& blend);

  const ControllerOptions& options() const { return options_; }
  /// Where the springs rested in the last Apply: q of world->hand(); its root means nothing.
  const Eigen::VectorXd& rest() const { return rest_; }

 private:
  GraspController() = default;
  Status ApplyBall(int body, const Outboard& outboard);
  Status ApplyAxes(int body, const Outboard& outboard);
  void Desire(const Blend& blend);

  HandWorld* world_ = nullptr;
  int hand_ = 0;
  ControllerOptions options_;
  double stiffness_ = 0.0, damping_ = 0.0, limit_stiffness_ = 0.0;
  Eigen::VectorXd neutral_;    ///< of world->hand()
  Eigen::MatrixXd P_S_, P_D_;  ///< nv x 6: setpoints as vectors about neutral; rates
  Eigen::VectorXd rest_, rate_;
};

}  // namespace handhold::synthesis

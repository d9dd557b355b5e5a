/// One step of interaction synthesis (Kry & Pai 2006, section 7): compliant hands in quasi-static
/// balance meet fixed bodies, free ones, bodies on pivots and each other through one contact
/// problem (synthesis/contact).
///
/// Pure computation on values: contacts in, forces and the next configuration out. Frames:
/// everything in the world W unless the name says otherwise. Forces act on the hand. Pinned by
/// tests/synthesis/interaction/step_test.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "synthesis/contact/contact_problem.h"
#include "synthesis/contact/contact_set.h"
#include "synthesis/contact/motion_model.h"

namespace handhold::synthesis {

struct StepOptions {
  double step_s = 0.002;  ///< h
  /// Linear compliance of the skeleton's root, the same in all directions (section 6.2): makes G
  /// full rank. 0: none, as for a hand whose root is a free joint with a compliance of its own.
  double root_compliance_m_per_N = 1e-6;
  geometry::Vec3 gravity_W = geometry::Vec3(0, 0, -9.81);  ///< on free bodies; the hand's weight is
                                                           ///< in its reference
  bool limits = false;  ///< joint limits as rows of the problem: forces hold the joints within them
  SolveOptions solve = {};
};

/// What the hand is doing at one instant: the references before and after the step, and how it
/// yields.
struct HandStep {
  Eigen::VectorXd q;                      ///< theta^k
  Eigen::VectorXd q_reference;            ///< theta_r^k
  Eigen::VectorXd q_reference_next;       ///< theta_r^{k+1}
  Eigen::VectorXd compliance_rad_per_Nm;  ///< C^{k+1}, its diagonal, nv
  /// Joint time constants T = damping x compliance, nv; empty or 0 is the paper's quasi-static
  /// form. With T > 0 the joints obey theta + T theta' = theta_r + T theta_r' + C tau, implicitly
  /// (CompliantStep).
  Eigen::VectorXd time_constant_s;
};

struct HandForce {
  geometry::Vec3 f_onHand_W = geometry::Vec3::Zero();  ///< f_i^{k+1}; of a contact between two
                                                       ///< bodies: on its side a
  double slip_m_per_s = 0.0;  ///< tangential speed of the hand's point against the object's, over
                              ///< the step
};

struct StepResult {
  Eigen::VectorXd q;                      ///< theta^{k+1} of the first hand
  std::vector<Eigen::VectorXd> q_others;  ///< of the others
  std::vector<HandForce> forces;          ///< one per contact given
  /// |theta_err| of eq. 7 at the start of the step: how far theta^k was from balance under the last
  /// forces at these contacts and limits, both taken anew at theta^k; with a time constant, theta -
  /// theta_r + T (theta' - theta_r') - C J^T f. The step feeds it back (section 7.1.3, last
  /// paragraph), so it does not accumulate. Of several hands the largest.
  double equilibrium_residual_rad = 0.0;
  ContactSummary solve;
};

/// A bearing that leaves a body one way to move: turning about the line through p_W along axis_W
/// (unit), against viscous friction. One column of motion (PivotBody).
struct Pivot {
  geometry::Vec3 p_W = geometry::Vec3::Zero();
  geometry::Vec3 axis_W = geometry::Vec3::UnitZ();
  double damping_Nms_per_rad = 0.0;
};

/// A hand of a stepper with several.
struct SteppedHand {
  const model::Skeleton* skeleton = nullptr;  ///< must outlive the stepper
  double root_compliance_m_per_N = 0.0;       ///< as StepOptions's; 0: none
};

/// The hands, their scratch and the little state that survives a step. One per replay; not
/// thread-safe.
class InteractionStepper {
 public:
  /// One hand, on the root compliance of the options.
  InteractionStepper(const model::Skeleton& skeleton, const StepOptions& options);
  /// Hands 0, 1, ... are trees 0, 1, ... of ContactSide; at least one. The options' root compliance
  /// is not looked at.
  InteractionStepper(std::span<const SteppedHand> hands, const StepOptions& options);
  InteractionStepper(const InteractionStepper&) = delete;  ///< its models point into it
  InteractionStepper& operator=(const InteractionStepper&) = delete;

  /// Bearings of the bodies of the next steps, one per body; nullopt: it is free. Before the first
  /// step, or after Reset. A body on a pivot is taken (pose, rate about the axis, mass, wrench) at
  /// the first step; then its state is the stepper's, and what Step is given of it is written over.
  void SetPivots(std::vector<std::optional<Pivot>> pivots) { pivots_ = std::move(pivots); }

  /// Advances hand and bodies by one step. `contacts` were found at hand.q and the bodies' poses;
  /// sides: Link(tree, body of the skeleton), Body(index into `bodies`), Fixed. When nobody solves
  /// the problem the forces are admissible but not in balance, and `solve` says so. Errors:
  /// kInvalid for inputs that are not finite or do not fit the skeleton, for bodies whose mass is
  /// not physical (geometry::CheckMass), pivots without a unit axis and contacts whose surface is
  /// none; nothing has moved then.
  Result<StepResult> Step(const HandStep& hand, std::span<const Contact> contacts,
                          std::span<MovingBody> bodies) {
    return Step({&hand, 1}, contacts, bodies);
  }
  /// The same for several hands, one HandStep each.
  Result<StepResult> Step(std::span<const HandStep> hands, std::span<const Contact> contacts,
                          std::span<MovingBody> bodies) {
    StepResult result;
    HANDHOLD_TRY(Step(hands, contacts, bodies, &result));
    return result;
  }
  /// The same into a result that is used again: nothing is allocated once everything has grown to
  /// the largest set of contacts. After an error the result is as it was.
  Status Step(std::span<const HandStep> hands, std::span<const Contact> contacts,
              std::span<MovingBody> bodies, StepResult* result);

  /// Poses of the hand's bodies after the last step, its root's displacement included: where to
  /// find the next contacts.
  std::span<const geometry::RigidTransform> X_WB(int hand = 0) const {
    return hands_[static_cast<size_t>(hand)]->tree.X_WB();
  }
  /// Puts a hand somewhere without a step.
  void SetConfiguration(const Eigen::VectorXd& q, int hand = 0) {
    hands_[static_cast<size_t>(hand)]->tree.SetConfiguration(q);
  }

  /// Forgets forces, root displacements and pivots' angles: before another take.
  void Reset();

 private:
  struct Hand {
    Hand(const SteppedHand& hand, int tree, const StepOptions& options);
    const model::Skeleton& skeleton;
    CompliantTree tree;
    CompliantStep step;
    Eigen::VectorXd bend_before;   ///< theta^{k-1} - theta_r^{k-1}; empty before the first step
    Eigen::VectorXd limit_torque;  ///< what the limits carried in the last step, dofs; empty:
                                   ///< nothing
    Eigen::VectorXd bend, torque, off_balance;  ///< scratch
  };
  struct Body {
    std::optional<FreeBody> free;
    std::optional<PivotBody> pivot;
  };
  void MakeBodies(std::span<const MovingBody> bodies);
  double OffBalance(int model, const HandStep& step, Hand* hand) const;

  StepOptions options_;
  std::vector<std::unique_ptr<Hand>> hands_;
  std::vector<std::optional<Pivot>> pivots_;
  std::vector<Body> bodies_;
  std::vector<MotionModel*> models_;
  ContactPoses poses_;
  ContactMemory memory_;
  ContactProblem problem_;
};

template <typename A>
void Visit(A& a, StepOptions& o) {
  a.Field("step_s", o.step_s);
  a.Field("root_compliance_m_per_N", o.root_compliance_m_per_N);
  a.Field("gravity_W", o.gravity_W);
  a.Field("limits", o.limits);
  a.Field("solve", o.solve);
}

}  // namespace handhold::synthesis

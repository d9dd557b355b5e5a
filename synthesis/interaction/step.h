/// One step of interaction synthesis (Kry & Pai 2006, section 7): a compliant hand in quasi-static
/// balance meets fixed and free bodies through one linear complementarity problem.
///
/// Pure computation on values: contacts in, forces and the next configuration out. Frames:
/// everything in the world W unless the name says otherwise. Forces act on the hand. Pinned by
/// tests/synthesis/interaction/step_test.cc.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/inertia.h"
#include "database/model/kinematics.h"
#include "database/model/skeleton.h"
#include "synthesis/contact/hand_contacts.h"
#include "synthesis/contact/lcp.h"
#include "synthesis/contact/motion_model.h"

namespace handhold::synthesis {

struct StepOptions {
  double step_s = 0.002;  ///< h
  int sides = 8;          ///< tangent directions per contact, 2m of section 7.1.1; even, >= 4
  /// Linear compliance of the skeleton's root, the same in all directions (section 6.2): makes G
  /// full rank.
  double root_compliance_m_per_N = 1e-6;
  geometry::Vec3 gravity_W = geometry::Vec3(0, 0, -9.81);  ///< on free bodies; the hand's weight is
                                                           ///< in its reference
  LcpOptions lcp;
};

/// What the hand is doing at one instant: the references before and after the step, and how it
/// yields.
struct HandStep {
  Eigen::VectorXd q;                      ///< theta^k
  Eigen::VectorXd q_reference;            ///< theta_r^k
  Eigen::VectorXd q_reference_next;       ///< theta_r^{k+1}
  Eigen::VectorXd compliance_rad_per_Nm;  ///< C^{k+1}, its diagonal, nv
  /// Joint time constant T = damping x compliance; 0 is the paper's quasi-static form. With T > 0
  /// the joints obey theta + T theta' = theta_r + T theta_r' + C tau, implicitly: with a = T / (T +
  /// h) the compliance becomes C (1 - a) and the reference theta_r^{k+1} + a (theta^k - theta_r^k).
  double time_constant_s = 0.0;
};

struct HandForce {
  geometry::Vec3 f_onHand_W = geometry::Vec3::Zero();  ///< f_i^{k+1}
  double slip_m_per_s = 0.0;  ///< tangential speed of the hand's point against the object's, over
                              ///< the step
};

struct StepResult {
  Eigen::VectorXd q;              ///< theta^{k+1}
  std::vector<HandForce> forces;  ///< one per contact given
  /// |theta_err| of eq. 7 at the start of the step: how far theta^k was from balance under the last
  /// forces at these contacts, both taken anew at theta^k; with a time constant, theta - theta_r +
  /// T (theta' - theta_r') - C J^T f. The step feeds it back (section 7.1.3, last paragraph), so it
  /// does not accumulate.
  double equilibrium_residual_rad = 0.0;
  LcpSummary lcp;
};

/// Scratch and the little state that survives a step. One per replay; not thread-safe.
class InteractionStepper {
 public:
  InteractionStepper(const model::Skeleton& skeleton, StepOptions options);

  /// Advances hand and bodies by one step. `contacts` were found at hand.q and the bodies' poses.
  /// When the LCP is not solved, the hand keeps the forces of contacts that persist (by feature)
  /// and the summary says so. Errors: kInvalid for inputs that are not finite or do not fit the
  /// skeleton.
  Result<StepResult> Step(const HandStep& hand, const HandContactSet& contacts,
                          std::span<MovingBody> bodies);

  /// Forgets forces and root displacement: before another take.
  void Reset();

 private:
  void Assemble(const HandStep& hand, const HandContactSet& contacts,
                std::span<const MovingBody> bodies);
  void AddBodyMotion(const HandContactSet& contacts, std::span<const MovingBody> bodies);
  void BuildLcp(const HandContactSet& contacts);
  void AdvanceBodies(const HandContactSet& contacts, std::span<MovingBody> bodies);

  const model::Skeleton& skeleton_;
  StepOptions options_;
  model::KinematicsData kinematics_;
  geometry::Vec3 root_offset_W_ = geometry::Vec3::Zero();  ///< displacement of the compliant root,
                                                           ///< root compliance x total force
  struct Memory {                                          ///< of a contact, from the step before
    int feature = 0;
    geometry::Vec3 f_onHand_W = geometry::Vec3::Zero();
    geometry::Vec3 slip_W = geometry::Vec3::Zero();  ///< tangential motion over the step
  };
  const Memory* Remember(int feature) const;
  std::vector<Memory> memory_;
  Eigen::VectorXd bend_before_;  ///< theta^{k-1} - theta_r^{k-1}; empty before the first step
  // Of the step in progress: stacked 3 rows per contact.
  Eigen::MatrixXd J_;  ///< block column of J_i (eq. 4)
  Eigen::VectorXd effective_compliance_, q_target_, dq_;
  Eigen::MatrixXd G_;  ///< J C J^T (eq. 5) - U_phi, plus root compliance
  Eigen::VectorXd u_;  ///< motion of the contact points when all forces are 0
  Eigen::MatrixXd D_, M_;
  Eigen::VectorXd q_lcp_, z_, f_;
  LcpWorkspace lcp_workspace_;
};

}  // namespace handhold::synthesis

/// Replays a captured interaction trajectory against a scene it never touched (Kry & Pai 2006,
/// sections 6 and 7).
///
/// Each hand follows theta_r(t) and yields by C(t); fixed props of any shape, free rigid bodies,
/// bodies on pivots, other hands and, where asked, the hand itself push back, with friction. Two
/// forms: the paper's quasi-static one with eq. 1's reference, and one with the joints' time
/// constant, which cures the first 50 ms of contact and wants the dynamic (or true) reference.
/// Never mix them: eq. 1's reference has absorbed the damping. Pinned by
/// tests/synthesis/interaction/replay_test.cc, scene_replay_test.cc and tests/end_to_end_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/motion.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/contact/contact_finder.h"
#include "synthesis/interaction/grip_adjustment.h"
#include "synthesis/interaction/step.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns this step.
inline constexpr int kReplayVersion = 9;

/// Series of the motions made here: |theta_err| of Kry & Pai eq. 7, the contact problem's
/// residual in newtons (ContactSummary::residual_N), 1 where a step's problem was not solved, and 1
/// where Gauss-Seidel solved it, Lemke's method having failed or not been asked.
inline constexpr const char* kEquilibriumResidual = "equilibrium_residual";
inline constexpr const char* kLcpResidual = "lcp_residual";
inline constexpr const char* kLcpUnsolved = "lcp_unsolved";
inline constexpr const char* kLcpFallback = "lcp_fallback";
/// Only where the grip adjusts itself: what the first hand's fingers'
/// compliances were scaled by in the step; of other hands with ".NAME" behind.
inline constexpr const char* kGripScale = "grip_compliance_scale";

/// Steps of a motion made here whose problem was not solved, those that the fallback solved, and
/// the motion's largest eq.-7 residual, rad.
int UnsolvedSteps(const artefact::Motion& motion);
int FallbackSteps(const artefact::Motion& motion);
double LargestResidual_rad(const artefact::Motion& motion);

enum class ReplayForm {
  kQuasiStatic,  ///< q_reference, T = 0
  kDamped,       ///< q_reference_dynamic with the trajectory's time constant
};

/// Holds an object by the line through p_P along axis_P (unit), which stands still in the world; it
/// turns about it by the right-hand rule, against viscous friction.
struct ReplayPivot {
  geometry::Vec3 p_P = geometry::Vec3::Zero();
  geometry::Vec3 axis_P = geometry::Vec3::UnitZ();
  double damping_Nms_per_rad = 0.0;
};

struct ReplayObject {
  model::Prop prop;
  geometry::RigidTransform X_WP;                ///< at the start
  geometry::Vec6 V_P = geometry::Vec6::Zero();  ///< initial spatial velocity, body coordinates; on
                                                ///< a pivot its rate about the axis counts
  std::optional<ReplayPivot> pivot = {};        ///< empty: free
  std::string name = {};                        ///< in the motion; empty: the prop's
};

struct ReplayScene {
  struct FixedProp {
    model::Prop prop;
    geometry::RigidTransform X_WP;
    std::string name = {};  ///< in the motion; empty: the prop's
  };
  std::vector<FixedProp> fixed;
  std::vector<ReplayObject> objects;  ///< what moves; each needs a mass that geometry::CheckMass
                                      ///< passes
};

/// One hand of a replay with several, or with a wish of its own.
struct ReplayHand {
  const model::Skeleton* skeleton = nullptr;                    ///< never null
  const artefact::InteractionTrajectory* trajectory = nullptr;  ///< never null
  /// Time constants per velocity, nv, instead of the trajectory's one for all joints; NaN: that
  /// one; empty: that one for all. Only in the damped form.
  Eigen::VectorXd time_constant_s = {};
  /// Spring under the skeleton's base; empty: as StepOptions says. 0 for a free root, which yields
  /// by a compliance of its own.
  std::optional<double> root_compliance_m_per_N = {};
  /// Whether its own parts touch each other (thumb against finger). Parts that overlap when the
  /// replay begins are how the hand is drawn: they never do.
  bool meet_self = false;
};

struct ReplayOptions {
  ReplayForm form = ReplayForm::kQuasiStatic;
  TimeRange range;                ///< of the trajectory; empty (0 length): all of it
  double friction = -1.0;         ///< for every surface; negative: each prop's own
  double compliance_scale = 1.0;  ///< on every joint: for the halved and doubled replays
  /// Shapes further apart than this are no contact. It must exceed the fastest approach in one
  /// step.
  double margin_m = 5e-3;
  /// Of surfaces whose prop says no compliance: soft enough for every step to have one answer.
  double stiffness_N_per_m = SurfaceLaw{}.stiffness_N_per_m;
  StepOptions step;
  GripOptions grip;  ///< on contacts with the scene's objects
  /// Called now and then with the share done; false cancels.
  std::function<bool(double)> progress;
};

/// A touch whose force exceeds this many times the captured one's is a jam: the hand is caught on
/// something, and what it does there hangs on compliances that no capture showed.
inline constexpr double kJamForce = 2.0;

/// A hand that begins deeper in a surface than this is not a hand that came to touch it.
inline constexpr double kDeepestBegin_m = 5e-4;

/// kInvalid, with the range that there is, where less than a step of the trajectory lies in
/// options.range.
Status CheckRange(const artefact::InteractionTrajectory& trajectory, const ReplayOptions& options);

/// One frame per step, from the first hand's first frame to the last one's last (or what
/// options.range leaves); a hand whose trajectory begins later or ends earlier stands still. Every
/// hand begins at its reference, so it must begin free of what it touches. Hands are named as
/// their trajectories say ("R", "R.2").
/// Errors: kUnidentifiable when a joint that contact loads has no compliance (naming the joints and
/// the assumption that would help), kInvalid for what does not fit together or begins more than
/// kDeepestBegin_m inside a surface, kNotConverged when the hand is thrown out of balance by more
/// than 0.3 rad (a mesh with a hole, an absurd compliance) or an object's state is not finite (it
/// is named), kCancelled.
/// With moving objects the motion has the grip's curves besides (grip_traces.h).
Result<artefact::Motion> ReplayInteraction(const model::Skeleton& skeleton,
                                           const artefact::InteractionTrajectory& trajectory,
                                           const ReplayScene& scene, const ReplayOptions& options);
/// The same with several hands: at least one.
Result<artefact::Motion> ReplayInteraction(std::span<const ReplayHand> hands,
                                           const ReplayScene& scene, const ReplayOptions& options);

/// Where a moving object of the scene stands at the start in the world's axes: its bearing.
Pivot PivotInWorld(const ReplayObject& object);

}  // namespace handhold::synthesis

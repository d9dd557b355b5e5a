/// Plays hands along their interaction trajectories on a stage (database/artefact/stage.h) that
/// they never touched (Kry & Pai 2006, sections 6 and 7): the compliant mover, made from a stage.
///
/// Each hand follows theta_r(t) and yields by C(t); fixed props of any shape, free rigid bodies,
/// bodies on pivots, other hands and, where asked, the hand itself push back, with friction. Two
/// forms: the paper's quasi-static one with eq. 1's reference, and one with the joints' time
/// constant, which cures the first 50 ms of contact and wants the dynamic (or true) reference.
/// Never mix them: eq. 1's reference has absorbed the damping. Pinned by
/// tests/synthesis/interaction/replay_test.cc, scene_replay_test.cc and tests/end_to_end_test.cc.
#pragma once

#include <functional>

#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/motion.h"
#include "database/artefact/stage.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/model/skeleton.h"
#include "synthesis/contact/contact_finder.h"
#include "synthesis/interaction/grip_adjustment.h"
#include "synthesis/interaction/step.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns this step.
inline constexpr int kReplayVersion = 10;

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

struct ReplayOptions {
  ReplayForm form = ReplayForm::kQuasiStatic;
  TimeRange range;                ///< of the trajectory; empty (0 length): all of it
  double compliance_scale = 1.0;  ///< on every joint: for the halved and doubled replays
  /// Shapes further apart than this are no contact. It must exceed the fastest approach in one
  /// step.
  double margin_m = 5e-3;
  /// Of surfaces that say no compliance: soft enough for every step to have one answer.
  double stiffness_N_per_m = SurfaceLaw{}.stiffness_N_per_m;
  StepOptions step;  ///< gravity is the stage's
  GripOptions grip;  ///< on contacts with things that are not fixed
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
/// hand begins at its reference, so it must begin free of what it touches.
/// Errors: kInvalid for a stage that is not playable (CheckPlayable), without a hand, or of a hand
/// without a trajectory; kUnsupported for things that slide or follow a track; kUnidentifiable when
/// a joint that contact loads has no compliance (naming the joints and the assumption that would
/// help), kInvalid for what does not fit together or begins more than kDeepestBegin_m inside a
/// surface, kNotConverged when the hand is thrown out of balance by more than 0.3 rad (a mesh with
/// a hole, an absurd compliance) or a thing's state is not finite (it is named), kCancelled. With
/// things that move the motion has the grip's curves besides (grip_traces.h).
Result<artefact::Motion> ReplayInteraction(const artefact::Stage& stage,
                                           const ReplayOptions& options);
/// The same with this hand alone, named as its trajectory says ("R").
Result<artefact::Motion> ReplayInteraction(const model::Skeleton& skeleton,
                                           const artefact::InteractionTrajectory& trajectory,
                                           artefact::Stage stage, const ReplayOptions& options);

/// A hand of a stage that follows this trajectory: both are copied.
artefact::StageHand Following(const model::Skeleton& skeleton,
                              const artefact::InteractionTrajectory& trajectory);

}  // namespace handhold::synthesis

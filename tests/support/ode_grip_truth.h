/// Truth for grips: the same scripted program, hand and props as a replay's, in the engine, with
/// the engine's bodies, joints and colliders; none of synthesis/{contact, interaction}'s steps or
/// contacts.
///
/// The hand weighs nothing (its weight is cancelled body by body) but has its inertia; every joint
/// is a spring 1 / C and a damper T / C towards the program, a free root is a soft root. Surfaces
/// are springs of 5000 N/m with 4 N s/m. What a replay of it must be given as its reference is
/// what the hand does without contact (OdeFreeRun), not the program: a hand with inertia trails.
/// The grip's hook (synthesis::GripAdjuster) watches the engine's contacts and scales its springs.
/// A body on a pivot hangs on the engine's hinge, with viscous friction at the end of the step.
#pragma once

#include <limits>

#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/motion.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "synthesis/interaction/replay.h"
#include "synthesis/world/world_types.h"

namespace handhold::testing {

struct OdeGripOptions {
  double step_s = 2e-4;    ///< of the engine
  double sample_s = 2e-3;  ///< of frames, and of the grip's hook; a multiple of step_s
  /// Of every prop's surface; the friction is the prop's own.
  synthesis::ContactLaw law = {.stiffness_N_per_m = 5000, .damping_Ns_per_m = 4};
  synthesis::GripOptions grip = {};
  double end_s = std::numeric_limits<double>::infinity();  ///< of the program, not further
  /// No truth, but what tells a collider from a solver: the engine's bodies, joints and friction
  /// with the contacts that a replay would find (one nearest point per bone, exact depth and
  /// normal) instead of its own colliders'.
  bool replay_contacts = false;
  bool limits = false;  ///< the skeleton's joint limits, hard, in the engine too
};

/// `program` (its dynamic reference, C and T) with the reference that a replay needs: what the
/// engine's hand does with nothing to touch. One frame per sample.
Result<artefact::InteractionTrajectory> OdeFreeRun(const model::Skeleton& hand,
                                                   const artefact::InteractionTrajectory& program,
                                                   const OdeGripOptions& options = {});

/// The program with the stage's things and pivots, its hands left out: one frame per sample, things
/// that stand before those that move. One row per frame and pair of bodies that pressed each other:
/// the mean force and slip over the sample, the force-weighted normal; the hook observes the same.
Result<artefact::Motion> OdeGripRun(const model::Skeleton& hand,
                                    const artefact::InteractionTrajectory& program,
                                    const artefact::Stage& stage,
                                    const OdeGripOptions& options = {});

/// Normal force of every frame on a hand's body from what it touches, N.
std::vector<double> NormalForce_N(const artefact::Motion& motion, int body);

}  // namespace handhold::testing

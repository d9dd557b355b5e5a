/// The states of a grasp by distance, and how each blends the setpoints (Pollard & Zordan 2005,
/// Figure 3, eqs. 6-12, 15-16).
///
/// Distance is that of the hand from where it grips: the gap of its palm to the object less the
/// gap in the example's grip (ours; the paper does not say how it measured). It falls while the
/// hand reaches and rises when it retreats:
///
///   NEUTRAL --D2--> OPENING_I --D1--> CLOSING --D0--> GRIPPING
///   NEUTRAL <--D2-- RELAXING <--D1-- OPENING_II <--D0-- RELEASING <-- release, or the wrist
///   retreats
///
/// A person takes over by a command at any time and gives back with kAutomatic. Pinned by
/// tests/synthesis/grasp_control/state_machine_test.cc.
#pragma once

#include <array>
#include <string_view>

#include "database/artefact/setpoint_set.h"
#include "synthesis/grasp_control/setpoints.h"

namespace handhold::synthesis {

enum class GraspState {
  kNeutral,
  kOpeningI,
  kClosing,
  kGripping,
  kReleasing,
  kOpeningII,
  kRelaxing,
  kNeutralAgain,  ///< NEUTRAL of the way out: the last setpoint
};
std::string_view GraspStateName(GraspState state);  ///< "neutral", "opening", "closing", ...

/// What a person wants, whatever the distance.
enum class GraspCommand { kAutomatic, kNeutral, kOpen, kClose, kRelease };

/// One weight per setpoint; they sum to 1. alpha takes from open what it adds to close.
using Blend = std::array<double, kSetpointCount>;

struct StateMachineOptions {
  double near_m = 0.0, approach_m = 0.05, begin_m = 0.3;  ///< D0, D1, D2
  /// Ours: a state is left backwards only this far beyond the distance that entered it, so that a
  /// wavering wrist does not waver the hand.
  double hysteresis_m = 0.005;
  /// "To keep the hand from contacting the object too quickly, setpoint B[1] was set to 1 during
  /// the closing state of the grasps" (section 7). False: eq. 11, as the handshake has it.
  bool open_while_closing = true;
};

class GraspStateMachine {
 public:
  explicit GraspStateMachine(const StateMachineOptions& options = {}) : options_(options) {}

  /// Follows the distance through as many states as it takes; under a command the state stays.
  GraspState Advance(double distance_m);
  /// kRelease from GRIPPING leaves it for RELEASING even without retreat; kAutomatic follows the
  /// distance again from where the command left the hand; others hold their setpoint.
  void Command(GraspCommand command);

  GraspState state() const { return state_; }
  GraspCommand command() const { return command_; }
  /// B at the last distance (Figure 3; GRIPPING: eqs. 15, 16).
  Blend blend(double alpha) const;

 private:
  StateMachineOptions options_;
  GraspState state_ = GraspState::kNeutral;
  GraspCommand command_ = GraspCommand::kAutomatic;
  double distance_m_ = 1e9;
};

}  // namespace handhold::synthesis

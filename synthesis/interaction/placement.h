/// Puts an object where a grip expects it: the hand closes on it until every fingertip carries
/// something, the same joint motion runs backwards, and the object stays where the fingers pushed
/// it (Kry & Pai 2006, section 8.3).
///
/// What it cures: an object that stands nearer to one side than to the other (the first finger
/// pushes it until the last one touches), and a part of a yaw. What it cannot: an offset along the
/// faces that are gripped (nothing pushes that way), height, the last degrees of a yaw (fingertips
/// are round), a grip that is wrong for the object. An object that is pushed higher up than half
/// its width over the table's friction tips instead of sliding and falls back: nothing is won. One
/// that the fingers leave tilted is set upright. The figures of the rounds say how far it got.
/// Pinned by tests/synthesis/interaction/placement_test.cc.
#pragma once

#include <string>
#include <vector>

#include "database/artefact/stage.h"
#include "database/base/result.h"
#include "synthesis/interaction/replay.h"

namespace handhold::synthesis {

struct PlacementOptions {
  int rounds = 2;         ///< of closing and reversing
  double touch_N = 0.02;  ///< what a fingertip carries when it touches
  /// Bodies that must touch ("thumb.dst"). Only fingertips: another phalanx that grazes would end
  /// the closing early. Empty: the bodies of frames "*.tip" that carry touch_N anywhere in the
  /// replay of the object as it stands.
  std::vector<std::string> tips = {};
  double settle_s = 0.2;  ///< open again, before the object's pose is taken
  bool upright = true;    ///< tilt and height as at first: only yaw and shift on the table are kept
};

/// One closing.
struct PlacementRound {
  Duration touched;       ///< from the trajectory's begin until all fingertips touched
  double spread_s = 0.0;  ///< between the first and the last fingertip's first touch
  double shift_m = 0.0;   ///< of the object until then: what the fingers pushed
  double turn_rad = 0.0;  ///< the same of its rotation
};

struct PlacedObject {
  geometry::RigidTransform X_WP;       ///< of the object, after the last round
  std::vector<std::string> tips;       ///< the bodies that had to touch
  std::vector<PlacementRound> rounds;  ///< as it stood at first, ..., and at last as placed: one
                                       ///< more than the rounds that moved it
};

/// Of the free thing `thing` of the stage, which lies on something, by the stage's first hand.
/// `options` as the replay's that follows (range included); its grip adjustment is not used.
/// Errors: as ReplayInteraction's; kInvalid for options that are no sense or tips that the hand has
/// not; kNotConverged, naming them, where fingertips never touch.
Result<PlacedObject> PlaceObject(const artefact::Stage& stage, const std::string& thing,
                                 const ReplayOptions& options,
                                 const PlacementOptions& placement = {});

template <typename A>
void Visit(A& a, PlacementOptions& o) {
  a.Field("rounds", o.rounds);
  a.Field("touch_N", o.touch_N);
  a.Field("tips", o.tips);
  a.Field("settle_s", o.settle_s);
  a.Field("upright", o.upright);
}
template <typename A>
void Visit(A& a, PlacementRound& r) {
  a.Field("touched_ns", r.touched);
  a.Field("spread_s", r.spread_s);
  a.Field("shift_m", r.shift_m);
  a.Field("turn_rad", r.turn_rad);
}
template <typename A>
void Visit(A& a, PlacedObject& p) {
  a.Field("X_WP", p.X_WP);
  a.Field("tips", p.tips);
  a.Field("rounds", p.rounds);
}

}  // namespace handhold::synthesis

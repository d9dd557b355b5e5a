/// What became of an object that a hand should hold: the typed verdict of a motion, from its
/// contact rows and poses alone, whatever method made it.
///
/// Pinned by tests/synthesis/evaluate/verdict_test.cc, and on lifted and dropped boxes by
/// tests/synthesis/interaction/grip_test.cc.
#pragma once

#include <string>

#include "database/artefact/motion.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns verdicts.
inline constexpr int kVerdictVersion = 2;

struct VerdictOptions {
  std::string object;  ///< by its name in the motion; empty: the only one that moves
  /// When hands alone should carry it; empty (0 length): from the first frame to the last.
  TimeRange hold;
  /// How far the object may move in the hand's first body while it is held, and how far it may
  /// turn. A held object sways with the fingers: a 120 g box some 2 mm and 1 degree.
  double slide_m = 5e-3;
  double turn_rad = 0.26;
  /// No touch with a hand, or a touch with something else, that is shorter than this is a drop.
  double flicker_s = 0.02;
  /// More than this on the object's touches with hands together is a jam; 0: nobody asked for a
  /// force.
  double jam_force_N = 0.0;
  /// Series of the motion that is 1 where a step was not solved; empty or not there: all were.
  std::string unsolved = "lcp_unsolved";
  double lost_share = 0.05;  ///< of unsolved steps in the hold beyond which nothing can be said
};

/// The first that fits, in this order: lost (too many unsolved steps), dropped (in the hold no hand
/// touches the object, or something does that stands: a thing that does not move, or one that lies
/// on such; what the object itself carries does not count), jammed, slipped, held (`when` is the
/// hold's end). Over the hold alone; `cause` names object and figure. `hand` is the skeleton of the
/// motion's first hand. Errors: kInvalid when no object moves, several do and none is named, the
/// name is not there, the hold lies outside the motion, or the skeleton is another.
Result<artefact::Verdict> JudgeHold(const model::Skeleton& hand, const artefact::Motion& motion,
                                    const VerdictOptions& options);

template <typename A>
void Visit(A& a, VerdictOptions& o) {
  a.Field("object", o.object);
  a.Field("hold_ns", o.hold);
  a.Field("slide_m", o.slide_m);
  a.Field("turn_rad", o.turn_rad);
  a.Field("flicker_s", o.flicker_s);
  a.Field("jam_force_N", o.jam_force_N);
  a.Field("unsolved", o.unsolved);
  a.Field("lost_share", o.lost_share);
}

}  // namespace handhold::synthesis

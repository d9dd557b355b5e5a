/// A scripted hand that turns a thing by finger gaiting: two pairs of fingers hold a ball in turn,
/// each turning it while the other lets go and swings back (Kry & Pai 2006, section 8.2: a light
/// bulb turned by what was captured on a ball).
///
/// Thumb with middle finger, and index with ring finger, from above about the vertical through the
/// ball's middle. What comes out is as PinchReference's (scripted_reference.h). Pinned by
/// tests/synthesis/interaction/gaiting_reference_test.cc.
#pragma once

#include <Eigen/Core>

#include "database/artefact/about.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"
#include "synthesis/interaction/fingertip_ik.h"

namespace handhold::synthesis {

/// The ball that the reference is made on.
struct GaitingPlace {
  geometry::Vec3 p_W = geometry::Vec3::Zero();      ///< its middle
  geometry::Vec3 axis_W = geometry::Vec3::UnitX();  ///< unit, horizontal: towards the thumb,
                                                    ///< halfway through a stroke
  double radius_m = 0.0335;
};

/// Between two keys all goes by minimum jerk.
struct GaitingOptions {
  int strokes = 6;  ///< thumb and middle finger make the first, index and ring the next
  double swing_rad = 0.3141593;  ///< of the tips' middles to either side: 18 degrees
  /// Index and ring finger stand this far from the middle finger's place, to its two sides.
  double spread_rad = 0.95;
  double clearance_m = 0.008;  ///< skin of the fingertips to the ball when open
  double depth_m = 0.012;      ///< how far the closed reference lies inside it
  double wait_s = 0.1;         ///< open, before anything moves
  double change_s = 0.25;      ///< to close a pair, and to open one
  double stroke_s = 0.9;
  double frame_s = 0.004;
  double time_constant_s = 0.014;
  double compliance_scale = 1.0;
  IkOptions ik = {};
};

/// When stroke `n` (from 0) turns the ball, clip time.
TimeRange GaitingStroke(const GaitingOptions& options, int n);

/// How far a round thing of `radius_m` on a pivot turns when tips of `tip_radius_m` roll on it
/// without slipping: their middles go round at radius_m + tip_radius_m and their skin keeps its
/// direction, so that it turns (R + r) / R times as far as they go round, 2 swing per stroke.
double GaitingTurn(const GaitingOptions& options, double radius_m, double tip_radius_m);

/// kInvalid for a place or options that are no sense, a skeleton that does not fit (TipHand), and
/// places that the fingers do not reach.
Result<artefact::InteractionTrajectory> GaitingReference(const model::Skeleton& skeleton,
                                                         const GaitingPlace& place,
                                                         const GaitingOptions& options);

template <typename A>
void Visit(A& a, GaitingPlace& p) {
  a.Field("p_W", p.p_W);
  a.Field("axis_W", p.axis_W);
  a.Field("radius_m", p.radius_m);
}
template <typename A>
void Visit(A& a, GaitingOptions& o) {
  a.Field("strokes", o.strokes,
          artefact::About{.help = "of gaiting, 36 degrees each",
                          .word = "strokes",
                          .value = "N",
                          .least = 1,
                          .most = 100});
  a.Field("swing_rad", o.swing_rad);
  a.Field("spread_rad", o.spread_rad);
  a.Field("clearance_m", o.clearance_m);
  a.Field("depth_m", o.depth_m);
  a.Field("wait_s", o.wait_s);
  a.Field("change_s", o.change_s);
  a.Field("stroke_s", o.stroke_s);
  a.Field("frame_s", o.frame_s);
  a.Field("time_constant_s", o.time_constant_s);
  a.Field("compliance_scale", o.compliance_scale);
  a.Field("ik", o.ik);
}

}  // namespace handhold::synthesis

/// Interaction trajectories that nobody captured: a program of fingertip places, made joint angles
/// by inverse kinematics, with planted compliances.
///
/// What comes out is an artefact::InteractionTrajectory like a fitted one, for either form of the
/// replay (the reference is exact, so both references are the same), with every compliance marked
/// as assumed. Pinned by tests/synthesis/interaction/scripted_reference_test.cc; lifted with in
/// grip_test.cc there.
#pragma once

#include <Eigen/Core>

#include "database/artefact/about.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/interaction/fingertip_ik.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns scripted references.
inline constexpr int kScriptedReferenceVersion = 2;

/// Two faces to pinch.
struct PinchPlace {
  geometry::Vec3 p_W = geometry::Vec3::Zero();      ///< in the middle between them
  geometry::Vec3 axis_W = geometry::Vec3::UnitX();  ///< unit, horizontal: from the fingers' face to
                                                    ///< the thumb's
  double width_m = 0.0;                             ///< distance of the faces
};

/// Across the prop's bounding box, from above: of its two most horizontal axes the one with the
/// shorter extent (of equals the first), `above_middle_m` above the box's middle. kInvalid for a
/// prop without shapes.
Result<PinchPlace> PinchAcross(const model::Prop& prop, const geometry::RigidTransform& X_WP,
                               double above_middle_m);

/// Measured on the prop's surface instead of its bounding box: where two faces look along the
/// world's X or Y within 18 degrees, at most `most_m` apart; of such places, 5 mm from each other,
/// the nearest to its centre of mass (of one without mass, its box's middle; of what is taller than
/// 6 cm, to 3 cm below its top, for a palm is above it), of equals the narrowest. 12 mm above the
/// prop's lowest point at least, 8 mm below its highest, 30 mm aside at the most. kNotFound where
/// there is no such place.
Result<PinchPlace> PinchBetweenFaces(const model::Prop& prop, const geometry::RigidTransform& X_WP,
                                     double most_m = 0.09);

/// Which fingers a scripted hand grips with, always from above.
enum class ScriptedGrip {
  kPinch,   ///< thumb against index and middle finger
  kTripod,  ///< the same three round the place's middle, each towards it
  kPower,   ///< thumb against all four fingers
};

/// A grip from above. Between two keys all goes by minimum jerk.
struct PinchOptions {
  ScriptedGrip grip = ScriptedGrip::kPinch;
  double clearance_m = 0.018;      ///< skin of the fingertips to the faces when open
  double depth_m = 0.012;          ///< how far the closed reference lies inside each face
  double finger_spacing_m = 0.02;  ///< from finger to finger, along the face
  double lift_m = 0.1;
  double wait_s = 0.1;  ///< open, before anything moves
  double close_s = 0.6;
  double settle_s = 0.1;  ///< closed, before the lift
  double lift_s = 0.8;    ///< and as long for putting down
  double hold_s = 2.0;
  double open_s = 0.6;
  bool opens_in_the_air = false;  ///< instead of putting down
  double frame_s = 0.004;
  double time_constant_s = 0.014;  ///< of every joint; planted, as the compliances are
  double compliance_scale = 1.0;
  IkOptions ik = {};
};

/// When the lifted object should hang from the hand alone: from the end of the lift to the
/// beginning of the putting down, clip time.
TimeRange PinchHold(const PinchOptions& options);

/// Planted compliances of a whole hand, nv; rad/Nm, a free root's linear ones m/N. kInvalid, naming
/// the joints, for velocities that have none.
Result<Eigen::VectorXd> PlantedCompliance(const model::Skeleton& skeleton);

/// The hand's wrist is put where its natural pinch meets the place from above, then only the
/// fingers close and only the root lifts. `skeleton` needs a free root at the world and the frames
/// thumb.tip, index.tip ... of the fingers that grip, each the middle of a capsule's round end.
/// skeleton_hash and provenance are the caller's. Errors: kInvalid for a place or options that are
/// no sense, a skeleton that does not fit, and places that the fingers do not reach.
Result<artefact::InteractionTrajectory> PinchReference(const model::Skeleton& skeleton,
                                                       const PinchPlace& place,
                                                       const PinchOptions& options);

template <typename A>
void Visit(A& a, PinchPlace& p) {
  a.Field("p_W", p.p_W);
  a.Field("axis_W", p.axis_W);
  a.Field("width_m", p.width_m);
}
template <typename A>
void Visit(A& a, PinchOptions& o) {
  using artefact::About;
  a.Choice("grip", o.grip, {"pinch", "tripod", "power"});
  a.Field("clearance_m", o.clearance_m);
  a.Field("depth_m", o.depth_m);
  a.Field("finger_spacing_m", o.finger_spacing_m);
  a.Field("lift_m", o.lift_m,
          About{.help = "how high", .word = "lift", .value = "M", .least = -1, .most = 1});
  a.Field("wait_s", o.wait_s);
  a.Field("close_s", o.close_s);
  a.Field("settle_s", o.settle_s);
  a.Field("lift_s", o.lift_s,
          About{.help = "of lifting, and of putting down",
                .word = "lift-time",
                .value = "TIME",
                .least = 0.01,
                .most = 60});
  a.Field("hold_s", o.hold_s,
          About{.help = "between lifting and putting down",
                .word = "hold",
                .value = "TIME",
                .least = 0.01,
                .most = 600});
  a.Field("open_s", o.open_s);
  a.Field(
      "opens_in_the_air", o.opens_in_the_air,
      About{.help = "open in the air after the hold, instead of putting down", .word = "let-go"});
  a.Field("frame_s", o.frame_s);
  a.Field("time_constant_s", o.time_constant_s);
  a.Field("compliance_scale", o.compliance_scale);
  a.Field("ik", o.ik);
}

}  // namespace handhold::synthesis

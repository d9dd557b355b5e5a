/// Protocol P1: does a grasp hold its object against a push along each of six directions? And the
/// lift from a table. Published as DexGraspBench's "fc" and "tabletop" settings; every number of it
/// is a described default here, and stands in the result with the engine's.
///
/// Departures from the publication: the grasp starts closed (no pregrasp stage) and settled, as the
/// scene forms it, and the engine is the scene's; a test's figures say both. Pinned by
/// tests/synthesis/evaluate/p1_test.cc on a scene whose answers are known, and by
/// tests/synthesis/regrasp on hands.
#pragma once

#include <array>
#include <string>

#include "database/artefact/grasp.h"
#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "synthesis/evaluate/grasp_fault.h"
#include "synthesis/evaluate/grasp_scene.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns protocols.
inline constexpr int kP1Version = 1;

struct P1Options {
  double mass_kg = 0.1;
  double friction = 0.6;
  double acceleration_m_per_s2 = 10.0;  ///< the push is mass x this, along +-X, +-Y, +-Z of W
  double hold_s = 2.0;                  ///< how long each push lasts
  double shift_m = 0.05;                ///< of the centre of mass, more is a failure
  double turn_rad = 15.0 * 3.14159265358979323846 / 180.0;
  double depth_m = 0.01;      ///< hand in object or in itself at the start, more is a failure
  bool stop_at_first = true;  ///< at the first direction that fails; the others are then not tried
};

/// One direction's push. Where it failed, how far it had come by then.
struct P1Push {
  geometry::Vec3 direction_W = geometry::Vec3::Zero();
  bool tried = false;
  GraspFault fault = GraspFault::kNone;
  double shift_m = 0.0, turn_rad = 0.0;  ///< the largest
  double creep_m_per_s = 0.0;            ///< mean speed of the shift over the push's last half
  double held_s = 0.0;                   ///< until the failure; else hold_s
};

struct P1Result {
  GraspFault fault = GraspFault::kNone;  ///< of the first failure
  std::string engine;
  GraspDepths depths;
  std::array<P1Push, 6> pushes;  ///< +X, -X, +Y, -Y, +Z, -Z
  bool passed() const { return fault == GraspFault::kNone; }
  int held() const;  ///< directions that were tried and held
  /// max over tried directions of shift / its limit and turn / its limit: below 1 it held. The
  /// larger the nearer to a failure: what grasps are ranked by.
  double worst = 0.0;
  std::string cause;  ///< in words with figures; empty: passed
};

/// kInvalid: the scene's mass or friction is not the protocol's. An engine that gives up is a fault
/// of the grasp (kLost), not an error.
Result<P1Result> RunP1(const P1Options& options, GraspScene* scene);

/// With every figure of the protocol: what was asked ("mass_kg", "friction",
/// "acceleration_m_per_s2", "hold_s", limits) and what came ("held", "shift_m", "turn_rad",
/// "creep_m_per_s", "depth_m", "self_depth_m", "worst").
artefact::GraspTest ToGraspTest(const P1Options& options, const P1Result& result);

/// The hand rises with the object from a table and holds it.
struct LiftOptions {
  double gravity_m_per_s2 = 9.81;  ///< downwards, of the scene: checked by nobody else
  double rise_m = 0.1;
  double rise_s = 0.4;
  double hold_s = 2.0;
  double shift_m = 0.05;  ///< of the centre of mass, against where the rise should have brought it
  double turn_rad = 15.0 * 3.14159265358979323846 / 180.0;
  double depth_m = 0.01;
};
struct LiftResult {
  GraspFault fault = GraspFault::kNone;
  std::string engine, cause;
  GraspDepths depths;
  double rose_m = 0.0;                   ///< of the centre of mass, at the end
  double shift_m = 0.0, turn_rad = 0.0;  ///< the largest after the rise, against the hand
  double held_s = 0.0;                   ///< from the start to the failure or the end
  bool passed() const { return fault == GraspFault::kNone; }
};
/// The scene starts with the hand closed round an object that lies on its table, gravity in it.
Result<LiftResult> RunLift(const LiftOptions& options, GraspScene* scene);
artefact::GraspTest ToGraspTest(const LiftOptions& options, const LiftResult& result,
                                double mass_kg, double friction);

template <typename A>
void Visit(A& a, P1Options& o) {
  a.Field("mass_kg", o.mass_kg);
  a.Field("friction", o.friction);
  a.Field("acceleration_m_per_s2", o.acceleration_m_per_s2);
  a.Field("hold_s", o.hold_s);
  a.Field("shift_m", o.shift_m);
  a.Field("turn_rad", o.turn_rad);
  a.Field("depth_m", o.depth_m);
  a.Field("stop_at_first", o.stop_at_first);
}
template <typename A>
void Visit(A& a, LiftOptions& o) {
  a.Field("gravity_m_per_s2", o.gravity_m_per_s2);
  a.Field("rise_m", o.rise_m);
  a.Field("rise_s", o.rise_s);
  a.Field("hold_s", o.hold_s);
  a.Field("shift_m", o.shift_m);
  a.Field("turn_rad", o.turn_rad);
  a.Field("depth_m", o.depth_m);
}

}  // namespace handhold::synthesis

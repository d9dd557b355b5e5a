/// What a grasp is worth before anything moves: depth on the exact surface, which fingers touch,
/// force closure, how much it could carry, and the static metrics of human-hand grasps (P4).
///
/// From hand, posture and prop alone; no engine. Contacts are all places where a capsule or sphere
/// of the hand is nearer to the prop than `touch_m`. Pinned by
/// tests/synthesis/evaluate/grasp_metrics_test.cc against counted voxels, spheres whose depth is
/// known and two-finger grips whose margin is a formula.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/base/result.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns these figures.
inline constexpr int kGraspMetricsVersion = 1;

struct GraspMetricsOptions {
  double touch_m = 2e-3;         ///< nearer than this is a contact (P1's contact number)
  double finger_touch_m = 4e-3;  ///< a finger touches (P4)
  double clip_m = 10e-3;         ///< distances of fingers are clipped here (P1's contact distance)
  double friction = 0.6;
  double mass_kg = 0.1;
  double max_total_N = 20.0;   ///< sum of normal forces the margin may use
  double voxel_m = 5e-3;       ///< P4's pitch for the volume
  double fine_voxel_m = 1e-3;  ///< and a converged one beside it; 0: not computed
};

/// In the margin's words: what the contacts could carry with forces chosen for it.
struct GraspMargin {
  /// The largest acceleration, along the worst of the six axes of O, that the contacts can give the
  /// object (force at its centre of mass, no moment) with max_total_N of normal force; 0: some
  /// direction cannot be had at all.
  double acceleration_m_per_s2 = 0.0;
  /// The least friction coefficient with which all six directions can still be had at
  /// P1's 10 m/s^2 within max_total_N; infinity: not even with twice `friction`.
  double friction = 0.0;
};

/// One part of the hand: "thumb", "index", ..., "palm" (with the four fingers' metacarpals): what
/// its
struct FingerDistance {
  std::string finger;
  double distance_m = 0.0;  ///< of its nearest shape to the object, negative: overlapping
};

struct GraspMetrics {
  std::vector<artefact::GraspContact> contacts;  ///< nearest point of each hand shape within
                                                 ///< touch_m
  double depth_m = 0.0;       ///< deepest overlap with the exact surfaces of the prop; 0: none
  double self_depth_m = 0.0;  ///< with itself; bodies joined or overlapping at q = 0 left out
  std::vector<FingerDistance> fingers;  ///< by name
  int contact_number = 0;               ///< bodies within touch_m
  double contact_distance_m = 0.0;      ///< mean over fingers (no palm) of the clipped distance
  double contact_spread_m = 0.0;        ///< most less least of them ("consistency")
  double epsilon = 0.0;                 ///< Ferrari-Canny, L1, round cones, torques by mean radius
  double dfc = 0.0;                     ///< |sum of unit normal wrenches| / n
  GraspMargin margin;
  int fingers_touching = 0;     ///< within finger_touch_m (P4), palm left out
  double volume_m3 = 0.0;       ///< of hand inside the prop, counted at voxel_m (P4)
  double fine_volume_m3 = 0.0;  ///< the same at fine_voxel_m
};

/// `q`: nq; X_PH: pose of the skeleton's world in the prop's frame. kUnsupported names a hand shape
/// that is neither sphere nor capsule.
Result<GraspMetrics> MeasureGrasp(const model::Skeleton& hand, const Eigen::VectorXd& q,
                                  const geometry::RigidTransform& X_PH, const model::Prop& prop,
                                  const GraspMetricsOptions& options = {});

/// By the names that scores are stored under: "depth_m", "self_depth_m", "contact_number",
/// "contact_distance_m", "contact_spread_m", "epsilon", "dfc", "margin_acceleration_m_per_s2",
/// "margin_friction", "fingers_touching", "penetration_volume_m3", "penetration_volume_fine_m3".
std::map<std::string, double> ScoresOf(const GraspMetrics& metrics);

template <typename A>
void Visit(A& a, GraspMetricsOptions& o) {
  a.Field("touch_m", o.touch_m);
  a.Field("finger_touch_m", o.finger_touch_m);
  a.Field("clip_m", o.clip_m);
  a.Field("friction", o.friction);
  a.Field("mass_kg", o.mass_kg);
  a.Field("max_total_N", o.max_total_N);
  a.Field("voxel_m", o.voxel_m);
  a.Field("fine_voxel_m", o.fine_voxel_m);
}

}  // namespace handhold::synthesis

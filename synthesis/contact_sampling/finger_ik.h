/// One finger to one contact without entering the object, the table or its neighbours: the
/// kinematic test of Ye & Liu 2012 (section 4.3).
///
/// Eqs. 1-3, with what the paper does in an outer loop (find the deepest penetration, pose a new
/// problem) as rows of the same least-squares problem, and one finger at a time. Everything in the
/// object's frame O. Allocates nothing. Pinned by
/// tests/synthesis/contact_sampling/finger_chain_test.cc.
#pragma once

#include <optional>
#include <span>

#include <Eigen/Core>

#include "database/geometry/transform.h"
#include "synthesis/contact/distance_grid.h"
#include "synthesis/contact_sampling/finger_chain.h"

namespace handhold::synthesis {

/// A plane of the environment where the object is now: free where normal . p >= offset.
struct PlaneInObject {
  geometry::Vec3 normal_O = geometry::Vec3::UnitZ();
  double offset_m = 0.0;
};

/// A capsule of another finger.
struct FingerObstacle {
  geometry::Vec3 a_O = geometry::Vec3::Zero(), b_O = geometry::Vec3::Zero();
  double radius_m = 0.0;
  int finger = 0;
};

/// What is round a finger at one frame.
struct FingerScene {
  const DistanceGrid* grid = nullptr;
  std::span<const PlaneInObject> planes;
  std::span<const FingerObstacle> obstacles;
};

/// A guiding point p~: a material point of the last link on a point of the object. A material point
/// and not the capsule's axis, which would hide a slip of radius times rotation.
struct GuidingPoint {
  geometry::Vec3 p_L = geometry::Vec3::Zero();        ///< p~.h, on the last link's skin
  geometry::Vec3 p_O = geometry::Vec3::Zero();        ///< p~.o
  geometry::Vec3 normal_O = geometry::Vec3::UnitZ();  ///< unit, out of the object at p_O
};

struct FingerGoal {
  std::optional<GuidingPoint> touch;
  FingerVector rest;         ///< angles it is drawn to
  double rest_sd_rad = 1.5;  ///< how weakly
};

struct FingerIkOptions {
  double touch_sd_m = 0.2e-3;
  double depth_sd_m = 0.3e-3;  ///< of object and planes
  double neighbour_sd_m = 0.5e-3;
  double clearance_m = 0.0;  ///< kept from the object by what is not to touch
  double coupling = 0.65;    ///< DIP over PIP flexion, weakly: what tendons do
  double coupling_sd_rad = 0.6;
  double nail_sd = 0.15;  ///< of the cosine between nail and surface, eq. 2
  int felt_points = 3;    ///< of each capsule's axis, kept out of object and planes; 2 at least
  int max_iterations = 10;
};

struct FingerAnswer {
  FingerVector q;
  FingerPose pose;
  double touch_error_m = 0.0;  ///< of the guiding point, where there is one
  double depth_m = 0.0;        ///< deepest of its felt points in the object; 0: none
  double plane_depth_m = 0.0;
  double overlap_m = 0.0;  ///< with the obstacle it is deepest in
  int overlaps = -1;       ///< that obstacle's finger
};

/// J^T J, J^T r and r^T r of one finger's rows, each divided by its standard deviation.
struct FingerNormal {
  Eigen::Matrix<double, kMostAxes, kMostAxes> A =
      Eigen::Matrix<double, kMostAxes, kMostAxes>::Zero();
  Eigen::Matrix<double, kMostAxes, 1> g = Eigen::Matrix<double, kMostAxes, 1>::Zero();
  double cost = 0.0;

  /// A row r with slope along_O . d(point)/dq, of a point that the first `axes` angles move.
  void AddPoint(const FingerPose& pose, int axes, const geometry::Vec3& p_O,
                const geometry::Vec3& along_O, double r, double sd);
  /// A row r that depends on the angles by `J`.
  void Add(const Eigen::Matrix<double, kMostAxes, 1>& J, double r, double sd);
};

/// Adds all rows at answer->q; pose and depths go into the answer.
void AddFingerRows(const Finger& finger, const geometry::RigidTransform& X_OR,
                   const FingerScene& scene, const FingerGoal& goal, const FingerIkOptions& options,
                   FingerNormal* rows, FingerAnswer* answer);

/// Least squares from q_from, no angle further than step_rad from it (eq. 3) nor beyond its limits.
void SolveFinger(const Finger& finger, const geometry::RigidTransform& X_OR,
                 const FingerScene& scene, const FingerGoal& goal, const FingerVector& q_from,
                 double step_rad, const FingerIkOptions& options, FingerAnswer* answer);

/// Where the finger's last capsule is nearest to the object.
struct TipTouch {
  GuidingPoint point;
  double gap_m = 0.0;       ///< negative: depth
  double cos_palmar = 0.0;  ///< between the pad's way out of the finger and the way into the object
};
TipTouch TouchOfTip(const Finger& finger, const FingerPose& pose, const DistanceGrid& grid);

}  // namespace handhold::synthesis

/// Where a palm goes: poses at times, and smoothly between them. A stored track, a scripted reach
/// or what somebody moves live are all this.
///
/// Pinned by tests/synthesis/grasp_control/palm_path_test.cc.
#pragma once

#include <vector>

#include "database/base/result.h"
#include "database/geometry/transform.h"

namespace handhold::synthesis {

struct PalmPath {
  std::vector<double> times_s;  ///< rising
  std::vector<geometry::RigidTransform> X_WPalm;

  /// At rest before the first and after the last pose. In between it goes on from each pose as its
  /// neighbours say (velocities by central differences, 0 at the ends), with continuous velocity.
  /// Precondition: CheckPath.
  geometry::RigidTransform At(double t_s) const;
};

/// kInvalid: no pose, as many times as poses, rising, finite.
Status CheckPath(const PalmPath& path);

/// From `away` to `grip` by a minimum-jerk curve of `reach_s`, 40 poses; it begins at `begin_s`.
PalmPath Reach(const geometry::RigidTransform& away, const geometry::RigidTransform& grip,
               double begin_s, double reach_s);
/// `path`, then from its last pose to `next` in the same manner.
void Append(const geometry::RigidTransform& next, double wait_s, double move_s, PalmPath* path);

}  // namespace handhold::synthesis

/// A pose track smoothed in time, for Jacobians and for inertia: never for the angles that
/// compliance is fitted to.
///
/// Filtering fitted angles at 20 Hz costs 70 % of the compliance of a middle joint (reference
/// study, "Traps"); inside J(theta) 25 to 60 Hz is right. Test: contact_fit_test.cc,
/// dynamic_estimator_test.cc.
#pragma once

#include <Eigen/Core>

#include "database/artefact/pose_track.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

struct SmoothPoses {
  Eigen::MatrixXd q;     ///< nq x frames
  Eigen::MatrixXd v, a;  ///< nv x frames: velocity and acceleration (skeleton.h), by differences of
                         ///< the smoothed pose
};

/// Zero-phase low-pass of the deviation (in v-space) from the middle frame of each run without
/// gaps. A run is broken where frames lie more than 1.5 periods apart. Fails with kInvalid when the
/// cutoff does not fit the frame rate. Derivatives of ball and free joints neglect the curvature of
/// rotation vectors: exact for hinges, second order in the deviation for balls.
Result<SmoothPoses> SmoothPoseTrack(const model::Skeleton& skeleton,
                                    const artefact::PoseTrack& pose, double cutoff_Hz);

}  // namespace handhold::fitting

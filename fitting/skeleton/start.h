/// Where a hand is before anything is known of it: poses to begin from for markers anywhere in the
/// laboratory, and the template in its place and size.
///
/// Internal to the skeleton and pose fits; tested through them.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "database/model/skeleton.h"
#include "fitting/skeleton/pose_solver.h"

namespace handhold::fitting {

/// Open, relaxed and half closed: angles about "flex" and, in between, whatever limits demand.
std::vector<Eigen::VectorXd> StartPoses(const model::Skeleton& skeleton);

/// `q` with a free root (of body 1) laid onto the markers: by those of what moves as one with body
/// 1 where they show its whole pose, else by all. As it is where there is no free root, or too few
/// markers.
Eigen::VectorXd WithRootOnMarkers(const model::Skeleton& skeleton, const Eigen::VectorXd& q,
                                  const Eigen::Matrix3Xd& p_WM);

/// The pose nearest to the markers that is reached from any of the start poses; its marker RMS in
/// `rms_m`. `solver` should be a patient one (StartSolverOptions).
Eigen::VectorXd ColdPose(const model::Skeleton& skeleton, const Eigen::Matrix3Xd& p_WM,
                         PoseSolver* solver, double* rms_m);
PoseSolverOptions StartSolverOptions();

/// A template moved to where `frames` (one column per marker, NaN: missing) show the hand, and made
/// as large.
struct PlacedTemplate {
  model::Skeleton skeleton;
  double scale = 1.0;
  bool moved = false;  ///< its fixed base was
  double rms_m = 0.0;  ///< of the markers, each frame in its best pose
};
/// A base fixed in the world is laid where the frames want it; a free one needs no place. The scale
/// is the best of a few between 0.85 and 1.17.
PlacedTemplate PlaceTemplate(const model::Skeleton& skeleton,
                             const std::vector<Eigen::Matrix3Xd>& frames);

}  // namespace handhold::fitting

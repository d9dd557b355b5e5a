/// Lengths that a person can check on a fitted hand, with what the fit knows of them. Internal to
/// the skeleton fit.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "database/model/skeleton.h"
#include "fitting/residual/calibration_residual.h"
#include "fitting/skeleton/skeleton_fit.h"

namespace handhold::fitting {

/// Length of the segment from `body`'s joint to `p_B`, across the joint's axis where it has one:
/// independent of the origin's place on the axis.
double AcrossAxis(const model::Skeleton& skeleton, int body, const geometry::Vec3& p_B);

/// Between each joint and the next towards the world, bodies that move as one taken together;
/// within the base of a hand that is free, where no joint is a landmark, between neighbouring
/// joints on it. Then each end segment, to its tip frame: `tip` from contact where that is seen,
/// the others as the template has them. `calibration` is about the fitted hand (change 0) and
/// `covariance` of its parameters. `undetermined` decides which rest on the prior.
std::vector<SegmentLength> ListLengths(const CalibrationModel& calibration,
                                       const model::Skeleton& original, int tip, bool tip_seen,
                                       const Eigen::MatrixXd& covariance,
                                       const std::vector<std::string>& undetermined);

}  // namespace handhold::fitting

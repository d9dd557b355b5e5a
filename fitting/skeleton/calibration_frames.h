/// The frames that a skeleton is fitted to: markers that are all seen, spread over the poses of the
/// clip, and, where the fingertip rests on a known surface, the axis of the measured wrench.
/// Internal to the skeleton fit.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "fitting/signal/touch.h"

namespace handhold::fitting {

/// One frame of the adjustment; `contact` set: the fingertip rests on the surface.
struct CalibrationFrame {
  Timestamp t;
  Eigen::Matrix3Xd z_WM;
  Eigen::VectorXd q;
  bool contact = false;
  geometry::Vec3 foot_W = geometry::Vec3::Zero(),
                 axis_W = geometry::Vec3::UnitZ();  ///< a point of the wrench axis, and its
                                                    ///< direction (force on the hand)
  double normal_N = 0.0;
};

/// Frames of `ranges` in which every marker of the skeleton is seen, four times as many as `wanted`
/// at the most, evenly in time; `q` is left empty. Fails as the clip's reads do.
Result<std::vector<CalibrationFrame>> ReadCalibrationFrames(
    const recording::ClipSource& clip, const std::vector<const recording::StreamInfo*>& streams,
    const model::Skeleton& skeleton, const std::vector<TimeRange>& ranges, int wanted);

/// Sets `q` by the template's lengths, then keeps the `wanted` frames that lie furthest apart in
/// pose, in their order of time.
std::vector<CalibrationFrame> PoseAndSpread(const model::Skeleton& skeleton,
                                            std::vector<CalibrationFrame> frames, int wanted);

/// Makes contacts of those frames whose normal force, zero-phase below 100 Hz, reaches
/// `threshold_N`; the others are dropped. Fails as the force's reads do.
Status AddWrench(const ForceSignal& force, double threshold_N,
                 std::vector<CalibrationFrame>* frames);

}  // namespace handhold::fitting

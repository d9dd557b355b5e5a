/// The frames that a skeleton is fitted to: markers that are seen, spread over the poses of the
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
#include "fitting/skeleton/take_noise.h"

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

/// Frames of `ranges`, four times as many as `wanted` at the most, evenly in time: those that show
/// every marker of the skeleton, or, where these are fewer than `wanted`, all that show most of
/// them (kLeastVisible). `q` is left empty; `noise`, which may be null, is shown all frames. Fails
/// as the clip's reads do.
inline constexpr double kLeastVisible = 0.6;
Result<std::vector<CalibrationFrame>> ReadCalibrationFrames(
    const recording::ClipSource& clip, const std::vector<const recording::StreamInfo*>& streams,
    const model::Skeleton& skeleton, const std::vector<TimeRange>& ranges, int wanted,
    TakeNoise* noise = nullptr);

/// Sets `q` by the template's lengths (from the zero pose where the base is fixed; where that ends
/// far from the markers, or the base is free, from the best of several starts), then keeps the
/// `wanted` frames that lie furthest apart in pose, in their order of time.
std::vector<CalibrationFrame> PoseAndSpread(const model::Skeleton& skeleton,
                                            std::vector<CalibrationFrame> frames, int wanted);

/// Makes contacts of those frames whose normal force, zero-phase below 100 Hz, reaches
/// `threshold_N`; the others are dropped. Fails as the force's reads do.
Status AddWrench(const ForceSignal& force, double threshold_N,
                 std::vector<CalibrationFrame>* frames);

}  // namespace handhold::fitting

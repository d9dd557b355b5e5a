/// Other places for the fit of a whole hand to begin from, when the first end leaves more than the
/// take's own noise: a finger may have settled with a bone centimetres too long and its neighbours
/// making up for it, and leave only a third more.
///
/// Each other start is tried on a few frames, cheaply; the best that leaves clearly less is where
/// the whole fit begins again. Internal to the skeleton fit. Test:
/// tests/fitting/skeleton/restarts_test.cc.
#pragma once

#include <optional>
#include <vector>

#include <Eigen/Core>

#include "fitting/residual/calibration_residual.h"
#include "fitting/skeleton/calibration_frames.h"
#include "fitting/skeleton/label_swaps.h"
#include "fitting/skeleton/skeleton_fit.h"

namespace handhold::fitting {

/// About `most` of the frames, evenly.
std::vector<CalibrationFrame> Some(const std::vector<CalibrationFrame>& frames, size_t most);

/// A hand fitted to a few frames.
struct QuickFit {
  Eigen::VectorXd x;
  double rms_m = 0.0;  ///< of the markers
};
/// From `x` on; none where it does not settle. `calibration` without a fingertip.
std::optional<QuickFit> FitQuickly(const CalibrationModel& calibration,
                                   const SkeletonFitOptions& options, const Eigen::VectorXd& x,
                                   const std::vector<CalibrationFrame>& frames);

/// A start from which a few frames are fitted with less than `kLessLeft` of what they leave at `x`;
/// none: there is none. `rms_of_marker_m`: of the end at `x`, by which fingers are chosen.
inline constexpr double kLessLeft = 0.93;
std::optional<Eigen::VectorXd> BetterStart(const CalibrationModel& calibration,
                                           const SkeletonFitOptions& options,
                                           const Eigen::VectorXd& x,
                                           const Eigen::VectorXd& rms_of_marker_m,
                                           const std::vector<CalibrationFrame>& frames);

/// Two markers of the finger that lies worst, on different bones, whose exchange lets a hand fit a
/// few frames with at most kLeastGain of what they leave as labelled: a hand of absurd lengths
/// follows such labels, and its template cannot tell. None: no such pair.
std::optional<LabelSwap> SwapWithinFinger(const CalibrationModel& calibration,
                                          const SkeletonFitOptions& options,
                                          const Eigen::VectorXd& rms_of_marker_m,
                                          const std::vector<CalibrationFrame>& frames);

}  // namespace handhold::fitting

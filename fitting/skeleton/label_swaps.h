/// Two labels exchanged: a hand bends its joints to follow them, and what is left over is small
/// enough to pass for skin. It does not pass against the take's own noise.
///
/// Internal to the skeleton and pose fits; tested through them.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/time.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

/// A hand that leaves more than this many times the take's own noise is asked about its labels.
inline constexpr double kSuspiciousNoiseRatio = 1.5;

/// One frame as it was measured, and the pose that was found for it.
struct LabelledFrame {
  Timestamp t;
  Eigen::Matrix3Xd z_WM;
  Eigen::VectorXd q;
  double rms_m = 0.0;  ///< that this pose leaves
};

struct LabelSwap {
  int a = 0, b = 0;                         ///< markers of the skeleton
  double rms_m = 0.0, exchanged_rms_m = 0;  ///< that the frames leave, as labelled and exchanged
};
/// "labels 'R.IND.MID.1' and 'R.IND.DST.1' are exchanged: ..."
std::string Describe(const LabelSwap& swap, const model::Skeleton& skeleton);

/// Pairs of labels that, exchanged in `frames`, let `skeleton` follow them with at most
/// `kLeastGain` of what it leaves; best first, at most three, each marker once.
inline constexpr double kLeastGain = 0.6;
std::vector<LabelSwap> FindSwaps(const model::Skeleton& skeleton,
                                 std::vector<LabelledFrame> frames);

/// Every pair of markers by what remains when it is exchanged, least first, at most `most`.
std::vector<LabelSwap> RankSwaps(const model::Skeleton& skeleton,
                                 const std::vector<LabelledFrame>& frames, size_t most);

}  // namespace handhold::fitting

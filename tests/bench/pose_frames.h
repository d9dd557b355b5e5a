/// The frames that benches of pose solvers share: a hand of ours with 30 markers that moves
/// smoothly and is seen with 0.05 mm of white noise at 500 Hz.
#pragma once

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "database/model/hand_library.h"
#include "tests/support/marker_motion.h"

namespace handhold::bench {

/// White noise of one axis of a marker, and what the solvers are told of it.
inline constexpr double kPoseNoise_m = 5e-5;

/// A hand of ours, let go, wearing its set of 30.
inline model::Skeleton FreeHand(const std::string& name) {
  auto hand = model::LoadHand(name);
  if (!hand) throw std::runtime_error(hand.error().message);
  auto worn = model::WithMarkerSet(*hand, "30");
  if (!worn) throw std::runtime_error(worn.error().message);
  return *std::move(worn);
}

/// One second. `seen[0]` is where the solvers start, at `start`; 1 to `count` are solved.
struct PoseFrames {
  Eigen::VectorXd start;
  std::vector<Eigen::Matrix3Xd> seen;  ///< p_WM, a column per marker of the skeleton
  int count = 500;

  explicit PoseFrames(const model::Skeleton& hand) {
    const test_support::SmoothMotion motion(hand, 0.4, 7);
    std::mt19937 random(8);
    std::normal_distribution<double> noise(0, kPoseNoise_m);
    start = motion.At(0);
    for (int k = 0; k <= count; ++k) {
      seen.push_back(test_support::MarkerPlaces(hand, motion.At(k / 500.0)));
      for (double& x : seen.back().reshaped()) x += noise(random);
    }
  }
};

}  // namespace handhold::bench

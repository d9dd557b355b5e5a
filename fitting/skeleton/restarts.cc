#include "fitting/skeleton/restarts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fitting/skeleton/skeleton_adjustment.h"

namespace handhold::fitting {
namespace {

using model::JointType;
using model::Skeleton;

constexpr int kMostQuickSteps = 60;
constexpr size_t kFingersAsked = 2;
constexpr double kFingerScales[] = {1.0, 0.88, 1.12};
constexpr double kHandScales[] = {0.92, 1.08};

/// Each body's finger: its ancestor next to what the hand hangs on; 0 for that itself.
std::vector<int> Fingers(const Skeleton& skeleton) {
  const JointType first = skeleton.body(1).joint.type;
  const int root = first == JointType::kFree || first == JointType::kFixed ? 1 : 0;
  std::vector<int> finger(static_cast<size_t>(skeleton.body_count()), 0);
  for (int b = root + 1; b < skeleton.body_count(); ++b) {
    const int parent = skeleton.body(b).parent;
    finger[static_cast<size_t>(b)] = parent <= root ? b : finger[static_cast<size_t>(parent)];
  }
  return finger;
}

std::vector<char> BodiesOf(const std::vector<int>& fingers, int finger) {
  std::vector<char> bodies(fingers.size(), 0);
  for (size_t b = 0; b < fingers.size(); ++b) bodies[b] = fingers[b] == finger ? 1 : 0;
  return bodies;
}

/// Fingers by the mean square of their markers, worst first.
std::vector<int> WorstFingers(const Skeleton& skeleton, const std::vector<int>& fingers,
                              const Eigen::VectorXd& rms_of_marker_m) {
  std::map<int, std::pair<double, int>> sums;
  for (size_t m = 0; m < skeleton.markers().size(); ++m) {
    const int finger = fingers[static_cast<size_t>(skeleton.markers()[m].body)];
    if (finger == 0) continue;
    auto& [sum, count] = sums[finger];
    sum += std::pow(rms_of_marker_m[static_cast<Eigen::Index>(m)], 2);
    ++count;
  }
  std::vector<std::pair<double, int>> order;
  for (const auto& [finger, sum] : sums) order.emplace_back(-sum.first / sum.second, finger);
  std::sort(order.begin(), order.end());
  std::vector<int> worst;
  for (const auto& [square, finger] : order) worst.push_back(finger);
  return worst;
}

}  // namespace

std::vector<CalibrationFrame> Some(const std::vector<CalibrationFrame>& frames, size_t most) {
  std::vector<CalibrationFrame> some;
  const size_t step = std::max<size_t>(1, frames.size() / most);
  for (size_t i = 0; i < frames.size(); i += step) some.push_back(frames[i]);
  return some;
}

std::optional<QuickFit> FitQuickly(const CalibrationModel& calibration,
                                   const SkeletonFitOptions& options, const Eigen::VectorXd& x,
                                   const std::vector<CalibrationFrame>& frames) {
  SkeletonFitOptions quick = options;
  quick.surface.reset();
  const Skeleton* at_x = calibration.TryAt(x);
  if (at_x == nullptr) return std::nullopt;
  const Skeleton hand = *at_x;
  SkeletonAdjustment adjustment(calibration, quick, 0.0);
  for (CalibrationFrame& f : PoseAndSpread(hand, frames, static_cast<int>(frames.size())))
    adjustment.Add(std::move(f));
  adjustment.StartAt(x);
  if (!adjustment.Solve(kMostQuickSteps)) return std::nullopt;
  return QuickFit{adjustment.x(), adjustment.marker_rms_m()};
}

std::optional<Eigen::VectorXd> BetterStart(const CalibrationModel& calibration,
                                           const SkeletonFitOptions& options,
                                           const Eigen::VectorXd& x,
                                           const Eigen::VectorXd& rms_of_marker_m,
                                           const std::vector<CalibrationFrame>& frames) {
  const Skeleton& skeleton = calibration.template_skeleton();
  const auto here = FitQuickly(calibration, options, x, frames);
  double least_m = here ? kLessLeft * here->rms_m : std::numeric_limits<double>::infinity();
  std::optional<Eigen::VectorXd> best;
  const auto consider = [&](const Eigen::VectorXd& start) {
    const auto found = FitQuickly(calibration, options, start, frames);
    if (!found || !(found->rms_m < least_m)) return;
    least_m = found->rms_m;
    best = found->x;
  };
  const std::vector<int> fingers = Fingers(skeleton);
  const std::vector<int> worst = WorstFingers(skeleton, fingers, rms_of_marker_m);
  for (size_t i = 0; i < std::min(kFingersAsked, worst.size()); ++i) {
    const std::vector<char> bodies = BodiesOf(fingers, worst[i]);
    for (const double scale : kFingerScales) {
      const Eigen::VectorXd scaled = calibration.ScaledBodies(bodies, scale);
      Eigen::VectorXd start = x;
      for (const Eigen::Index k : calibration.ParametersOfBodies(bodies)) start[k] = scaled[k];
      consider(start);
    }
  }
  std::vector<char> all(static_cast<size_t>(skeleton.body_count()), 1);
  all[0] = 0;
  for (const double scale : kHandScales) consider(calibration.ScaledBodies(all, scale));
  return best;
}

std::optional<LabelSwap> SwapWithinFinger(const CalibrationModel& calibration,
                                          const SkeletonFitOptions& options,
                                          const Eigen::VectorXd& rms_of_marker_m,
                                          const std::vector<CalibrationFrame>& frames) {
  const Skeleton& skeleton = calibration.template_skeleton();
  const std::vector<int> fingers = Fingers(skeleton);
  const std::vector<int> worst = WorstFingers(skeleton, fingers, rms_of_marker_m);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(calibration.size());
  const auto as_labelled = FitQuickly(calibration, options, zero, frames);
  if (worst.empty()) return std::nullopt;
  std::vector<int> markers;
  for (size_t m = 0; m < skeleton.markers().size(); ++m) {
    if (fingers[static_cast<size_t>(skeleton.markers()[m].body)] == worst[0])
      markers.push_back(static_cast<int>(m));
  }
  std::optional<LabelSwap> best;
  for (size_t i = 0; i < markers.size(); ++i) {
    for (size_t k = i + 1; k < markers.size(); ++k) {
      const int a = markers[i], b = markers[k];
      if (skeleton.markers()[static_cast<size_t>(a)].body ==
          skeleton.markers()[static_cast<size_t>(b)].body)
        continue;
      std::vector<CalibrationFrame> exchanged = frames;
      for (CalibrationFrame& f : exchanged) f.z_WM.col(a).swap(f.z_WM.col(b));
      const auto found = FitQuickly(calibration, options, zero, exchanged);
      const double as_m = as_labelled ? as_labelled->rms_m : kMostMarkerRms_m;
      if (!found || !(found->rms_m < kLeastGain * as_m)) continue;
      if (!best || found->rms_m < best->exchanged_rms_m) best = LabelSwap{a, b, as_m, found->rms_m};
    }
  }
  return best;
}

}  // namespace handhold::fitting

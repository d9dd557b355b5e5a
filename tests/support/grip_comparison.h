/// A grip in a replay against the same grip in the engine: forces of the fingers, poses of the
/// object.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "database/artefact/motion.h"
#include "database/geometry/rotation.h"
#include "database/model/skeleton.h"
#include "tests/support/ode_grip_truth.h"

namespace handhold::testing {

struct FingerComparison {
  double peak_N = 0.0;     ///< of the truth
  double rms = 0.0;        ///< of the difference, share of the peak, first touch to the end
  double first_rms = 0.0;  ///< the same over the first 150 ms
};

struct GripComparison {
  std::vector<FingerComparison> fingers;
  double median_m = 0.0, largest_m = 0.0;  ///< distance of the object's two origins
  double median_rad = 0.0, largest_rad = 0.0;
  double worst_rms = 0.0, worst_first_rms = 0.0;
};

inline double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// From the truth's first touch with a body of `fingers` (bodies of the hand) to frame `end`; both
/// have the same frames. The object is each motion's last.
inline GripComparison CompareGrips(const artefact::Motion& ours, const artefact::Motion& truth,
                                   const std::vector<int>& fingers, size_t end, double frame_s) {
  GripComparison result;
  size_t first = end;
  std::vector<std::vector<double>> f_ours, f_truth;
  for (const int body : fingers) {
    f_ours.push_back(NormalForce_N(ours, body));
    f_truth.push_back(NormalForce_N(truth, body));
    for (size_t k = 0; k < first; ++k)
      if (f_truth.back()[k] > 0.0) first = k;
  }
  const size_t early = std::min(end, first + static_cast<size_t>(std::llround(0.15 / frame_s)));
  for (size_t i = 0; i < fingers.size(); ++i) {
    FingerComparison& finger = result.fingers.emplace_back();
    double sum = 0.0, sum_first = 0.0;
    for (size_t k = first; k < end; ++k) {
      finger.peak_N = std::max(finger.peak_N, f_truth[i][k]);
      const double d = f_ours[i][k] - f_truth[i][k];
      sum += d * d;
      if (k < early) sum_first += d * d;
    }
    finger.rms = std::sqrt(sum / static_cast<double>(end - first)) / finger.peak_N;
    finger.first_rms = std::sqrt(sum_first / static_cast<double>(early - first)) / finger.peak_N;
    result.worst_rms = std::max(result.worst_rms, finger.rms);
    result.worst_first_rms = std::max(result.worst_first_rms, finger.first_rms);
  }
  std::vector<double> apart_m, apart_rad;
  for (size_t k = first; k < end; ++k) {
    const geometry::RigidTransform &a = ours.objects.back().pose(k),
                                   &b = truth.objects.back().pose(k);
    apart_m.push_back((a.p - b.p).norm());
    apart_rad.push_back(geometry::Log(geometry::Mat3(a.R.transpose() * b.R)).norm());
  }
  result.median_m = MedianOf(apart_m);
  result.median_rad = MedianOf(apart_rad);
  result.largest_m = *std::max_element(apart_m.begin(), apart_m.end());
  result.largest_rad = *std::max_element(apart_rad.begin(), apart_rad.end());
  return result;
}

/// Whether the motion's last object stands more than half of 10 cm above where it began.
inline bool Lifted(const artefact::Motion& motion, size_t frame) {
  const artefact::MotionObject& object = motion.objects.back();
  return object.pose(frame).p.z() - object.pose(0).p.z() > 0.05;
}

/// How far the object slid in the hand: its motion against the hand's first moving body (the palm
/// of a hand with a free root), from frame to frame; less what fingers yield, which is a few mm.
inline double SlideAlong(const artefact::Motion& motion, const model::Skeleton& hand, size_t from,
                         size_t to) {
  const int q = hand.q_index(1);
  const auto against = [&](size_t k) -> double {
    return motion.objects.back().pose(k).p.z() -
           motion.hands.front().q(q + 2, static_cast<Eigen::Index>(k));
  };
  return against(from) - against(to);
}

/// Of one body of the hand: friction to normal force between two frames, and the mean normal force.
struct GripRatio {
  double median = 0.0, largest = 0.0, normal_N = 0.0;
};
inline GripRatio RatioOf(const artefact::Motion& motion, int body, size_t from, size_t to) {
  GripRatio result;
  std::vector<double> ratios;
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Side& side = motion.touches[static_cast<size_t>(row.touch)].a;
    const auto frame = static_cast<size_t>(row.frame);
    if (!side.is_hand() || side.body != body || frame < from || frame > to) continue;
    const double normal_N = row.f_onA_W.dot(row.normal_W);
    if (normal_N < 0.01) continue;
    ratios.push_back((row.f_onA_W - normal_N * row.normal_W).norm() / normal_N);
    result.normal_N += normal_N;
  }
  if (ratios.empty()) return result;
  result.normal_N /= static_cast<double>(ratios.size());
  result.largest = *std::max_element(ratios.begin(), ratios.end());
  result.median = MedianOf(ratios);
  return result;
}

}  // namespace handhold::testing

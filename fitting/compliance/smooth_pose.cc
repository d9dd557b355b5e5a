#include "fitting/compliance/smooth_pose.h"

#include <algorithm>
#include <span>
#include <vector>

#include "fitting/signal/low_pass.h"
#include "fitting/signal/series.h"

namespace handhold::fitting {

Result<SmoothPoses> SmoothPoseTrack(const model::Skeleton& skeleton,
                                    const artefact::PoseTrack& pose, double cutoff_Hz) {
  const auto frames = static_cast<size_t>(pose.frame_count());
  SmoothPoses out;
  out.q = pose.q;
  out.v.setZero(skeleton.nv(), pose.q.cols());
  out.a.setZero(skeleton.nv(), pose.q.cols());
  if (frames < 3) return out;
  std::vector<int64_t> steps;
  for (size_t k = 1; k < frames; ++k) steps.push_back((pose.times[k] - pose.times[k - 1]).ns());
  std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2),
                   steps.end());
  const Duration period = Duration::Nanoseconds(steps[steps.size() / 2]);
  size_t begin = 0;
  while (begin < frames) {
    size_t end = begin + 1;
    while (end < frames && pose.times[end] - pose.times[end - 1] < period * 3 / 2) ++end;
    const auto first = static_cast<Eigen::Index>(begin),
               count = static_cast<Eigen::Index>(end - begin);
    const Eigen::VectorXd middle = pose.q.col(first + count / 2);
    Eigen::MatrixXd deviation(count, skeleton.nv());  // one column per dof, so that a series is
                                                      // contiguous
    for (Eigen::Index k = 0; k < count; ++k)
      deviation.row(k) = skeleton.Difference(middle, pose.q.col(first + k)).transpose();
    const std::span times(pose.times.data() + begin, end - begin);
    for (Eigen::Index j = 0; j < skeleton.nv(); ++j) {
      HANDHOLD_ASSIGN(const std::vector<double> smooth,
                      LowPass(std::span(deviation.col(j).data(), static_cast<size_t>(count)),
                              1.0 / period.seconds(), {.cutoff_Hz = cutoff_Hz}));
      const std::vector<double> v = Derivative(times, smooth);
      const std::vector<double> a = Derivative(times, v);
      for (Eigen::Index k = 0; k < count; ++k) {
        const auto i = static_cast<size_t>(k);
        deviation(k, j) = smooth[i];
        out.v(j, first + k) = count > 2 ? v[i] : 0.0;
        out.a(j, first + k) = count > 2 ? a[i] : 0.0;
      }
    }
    for (Eigen::Index k = 0; k < count; ++k)
      out.q.col(first + k) = skeleton.Integrate(middle, deviation.row(k).transpose());
    begin = end;
  }
  return out;
}

}  // namespace handhold::fitting

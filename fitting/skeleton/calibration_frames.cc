#include "fitting/skeleton/calibration_frames.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fitting/signal/missing.h"
#include "fitting/skeleton/marker_map.h"
#include "fitting/skeleton/pose_solver.h"
#include "fitting/skeleton/start.h"

namespace handhold::fitting {
namespace {

using geometry::Vec3;
using recording::SampleWindow;

/// Further than this from the markers no template's lengths explain: the pose is another one.
constexpr double kFarOff_m = 0.03;

/// Frames `step` apart with at least `least` markers.
Result<std::vector<CalibrationFrame>> ReadFrames(
    const recording::ClipSource& clip, const std::vector<const recording::StreamInfo*>& streams,
    const model::Skeleton& skeleton, const std::vector<TimeRange>& ranges, Duration step,
    Eigen::Index least, TakeNoise* noise) {
  std::vector<CalibrationFrame> frames;
  for (const recording::StreamInfo* stream : streams) {
    const std::vector<int> channel = MapMarkers(*stream, skeleton).channel;
    const TimeRange extent = clip.Extent(stream->id);
    for (const TimeRange& range : ranges) {
      Timestamp next = std::max(range.begin, extent.begin);
      const Timestamp stop = std::min(range.end, extent.end);
      while (next < stop) {
        const TimeRange chunk{next, std::min(next + Duration::Seconds(5), stop)};
        HANDHOLD_ASSIGN(const SampleWindow window, clip.Read(stream->id, chunk));
        for (int i = 0; i < window.count(); ++i) {
          if (window.times[static_cast<size_t>(i)] < next && noise == nullptr) continue;
          CalibrationFrame frame;
          frame.t = window.times[static_cast<size_t>(i)];
          frame.z_WM.setConstant(3, static_cast<Eigen::Index>(channel.size()), kMissing);
          Eigen::Index visible = 0;
          for (size_t m = 0; m < channel.size(); ++m) {
            for (int c = 0; c < 3 && channel[m] >= 0; ++c)
              frame.z_WM(c, static_cast<Eigen::Index>(m)) = window.value(channel[m] + c, i);
            visible += frame.z_WM.col(static_cast<Eigen::Index>(m)).allFinite();
          }
          if (noise != nullptr) noise->Add(frame.t, frame.z_WM);
          if (frame.t < next || visible < least) continue;
          frames.push_back(std::move(frame));
          next = window.times[static_cast<size_t>(i)] + step;
        }
        next = std::max(next, chunk.end);
      }
    }
  }
  return frames;
}

}  // namespace

Result<std::vector<CalibrationFrame>> ReadCalibrationFrames(
    const recording::ClipSource& clip, const std::vector<const recording::StreamInfo*>& streams,
    const model::Skeleton& skeleton, const std::vector<TimeRange>& ranges, int wanted,
    TakeNoise* noise) {
  Duration total;
  for (const TimeRange& r : ranges) total += r.length();
  const Duration step = std::max(total / std::max(1, 4 * wanted), Duration::Milliseconds(2));
  const auto all = static_cast<Eigen::Index>(skeleton.markers().size());
  HANDHOLD_ASSIGN(std::vector<CalibrationFrame> frames,
                  ReadFrames(clip, streams, skeleton, ranges, step, all, noise));
  if (static_cast<int>(frames.size()) >= wanted) return frames;
  const auto most = static_cast<Eigen::Index>(std::ceil(kLeastVisible * static_cast<double>(all)));
  return ReadFrames(clip, streams, skeleton, ranges, step, most, nullptr);
}

std::vector<CalibrationFrame> PoseAndSpread(const model::Skeleton& skeleton,
                                            std::vector<CalibrationFrame> frames, int wanted) {
  PoseSolver solver(skeleton, {.marker_sd_m = 2e-3, .limit_sd_rad = 0.2, .prior_sd_rad = 1.0});
  PoseSolver patient(skeleton, StartSolverOptions());
  Eigen::VectorXd q = skeleton.ZeroConfiguration();
  double other_m = 0.0;
  if (!frames.empty() && skeleton.body(1).joint.type == model::JointType::kFree)
    q = ColdPose(skeleton, frames.front().z_WM, &patient, &other_m);
  for (CalibrationFrame& f : frames) {
    const PoseSolution& s = solver.Solve(f.z_WM, q, PoseMethod::kFast);
    if (s.converged) q = s.q;
    const double rms_m = MarkerRms_m(s);
    if (!s.converged || rms_m > kFarOff_m) {
      const Eigen::VectorXd other = ColdPose(skeleton, f.z_WM, &patient, &other_m);
      if (!s.converged || other_m < 0.7 * rms_m) q = other;
    }
    f.q = q;
  }
  if (static_cast<int>(frames.size()) <= wanted) return frames;
  // Farthest point first: each next frame is the one least like those taken.
  std::vector<double> distance(frames.size(), std::numeric_limits<double>::infinity());
  std::vector<char> taken(frames.size(), 0);
  size_t at = 0;
  for (int k = 0; k < wanted; ++k) {
    taken[at] = 1;
    size_t farthest = 0;
    for (size_t i = 0; i < frames.size(); ++i) {
      distance[i] =
          std::min(distance[i], skeleton.Difference(frames[at].q, frames[i].q).squaredNorm());
      if (taken[i] == 0 && distance[i] >= distance[farthest]) farthest = i;
    }
    at = farthest;
  }
  std::vector<CalibrationFrame> chosen;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (taken[i] != 0) chosen.push_back(std::move(frames[i]));
  }
  return chosen;
}

Status AddWrench(const ForceSignal& force, double threshold_N,
                 std::vector<CalibrationFrame>* frames) {
  std::vector<Timestamp> times;
  for (const CalibrationFrame& f : *frames) times.push_back(f.t);
  std::vector<CalibrationFrame> kept;
  HANDHOLD_ASSIGN(const WrenchWindow wrench, force.ReadAt(times, 100.0));
  for (size_t i = 0; i < frames->size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const Vec3 f = wrench.f_onHand_W.col(k), m = wrench.m_onHand_W.col(k);
    if (!(wrench.normal_N[k] >= threshold_N)) continue;
    CalibrationFrame frame = std::move((*frames)[i]);
    frame.contact = true;
    frame.axis_W = f.normalized();
    frame.foot_W = f.cross(m) / f.squaredNorm();
    frame.normal_N = wrench.normal_N[k];
    kept.push_back(std::move(frame));
  }
  *frames = std::move(kept);
  return {};
}

}  // namespace handhold::fitting

/// Joint coordinates of a known hand, frame by frame, from labelled markers: what the hand did.
///
/// Per frame the sum of squares of marker residuals (residual/marker_residual.h), one-sided joint
/// limits (residual/limit_residual.h) and a weak pull towards the previous frame
/// (residual/prior_residual.h) is minimised. The pull only decides what the visible markers do not:
/// such coordinates are reported as not determined, unless the joint's range is so narrow that it
/// is information by itself (joint_range.h): those are told apart, too. What a hand leaves over is
/// judged against the take's own noise (take_noise.h): far beyond it, exchanged labels are looked
/// for and named. Tests: tests/fitting/skeleton/{pose_fit,whole_hand}_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/about.h"
#include "database/artefact/pose_track.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "fitting/skeleton/pose_solver.h"

namespace handhold::fitting {

inline constexpr int kPoseFitVersion = 3;
/// Markers further than this from the hand, RMS: here and in the fit of a skeleton a warning.
inline constexpr double kTellMarkerRms_m = 7e-4;

struct PoseFitOptions {
  std::string marker_stream = {};       ///< empty: the clip's first marker stream, all its epochs
  std::optional<TimeRange> range = {};  ///< clip time; empty: all
  PoseMethod method = PoseMethod::kCeres;
  PoseSolverOptions solver = {};  ///< solver.marker_sd_m is the starting value when estimate_noise
  bool estimate_noise = true;     ///< marker noise from the residuals of this take; information is
                                  ///< scaled by it
  /// Markers of the skeleton that the fit must do without, and what it then says of them: how far
  /// from where they were measured it puts them (artefact::PoseSummary::left_out).
  std::vector<std::string> leave_out = {};
  /// A marker further than this from its modelled place is left out of its frame and the frame
  /// solved again (ghosts, swaps).
  double outlier_m = 0.005;
  /// Frames within this of a contact keep their whole information matrix; others its diagonal.
  Duration whole_information = Duration::Milliseconds(150);
  /// Contacts, clip time; empty: found from the clip's force sensors (touch.h), if it has any.
  std::vector<TimeRange> contacts = {};
  /// Called every few seconds of clip with the share done; false cancels (kCancelled).
  std::function<bool(double)> progress = {};
};

struct PoseFit {
  artefact::PoseTrack track;  ///< provenance left to the caller
  artefact::PoseSummary summary;
};

/// Fails with kNotFound (no marker stream), kUnidentifiable (no frame determines the hand; says
/// which dofs and markers), kInvalid. Cost: about 0.3 ms per frame of a 57-dof hand (kCeres), half
/// of that (kFast). Memory: the track.
Result<PoseFit> FitPose(const recording::ClipSource& clip, const model::Skeleton& skeleton,
                        const PoseFitOptions& options = {});

template <typename A>
void Visit(A& a, PoseFitOptions& o) {
  using artefact::About;
  a.Field("marker_stream", o.marker_stream);
  a.Field("range_ns", o.range, About{.help = "clip time"});
  a.Choice("method", o.method, {"ceres", "fast"},
           About{.help = "Gauss-Newton instead of ceres::Solve (the same minimum to 1e-6 rad; it "
                         "may end in another where markers are few)",
                 .word = "fast",
                 .flag = "fast"});
  a.Field("solver", o.solver);
  a.Field("estimate_noise", o.estimate_noise);
  a.Field("leave_out", o.leave_out,
          About{.help = "fit without it and say how far off it is predicted", .value = "MARKER"});
  a.Field("outlier_m", o.outlier_m);
  a.Field("whole_information_ns", o.whole_information);
  a.Field("contacts_ns", o.contacts);
  a.Skip(o.progress);
}

}  // namespace handhold::fitting

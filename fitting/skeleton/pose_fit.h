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

#include "database/artefact/pose_track.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "fitting/skeleton/pose_solver.h"

namespace handhold::fitting {

inline constexpr int kPoseFitVersion = 2;
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
  /// from where they were measured it puts them (PoseFitSummary::left_out).
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

/// How far a marker lies from where the hand puts it, over its frames.
struct MarkerAgreement {
  std::string marker;
  int frames = 0;
  double rms_m = 0.0, median_m = 0.0, p95_m = 0.0;
};

struct PoseFitSummary {
  int frames = 0;  ///< read
  int fitted = 0;
  double marker_sd_m = 0.0;   ///< one axis: as estimated, or as given
  double marker_rms_m = 0.0;  ///< |measured - modelled|, over markers and frames
  double marker_p99_m = 0.0;
  double take_sd_m = 0.0;  ///< one axis, from jumps between frames alone (take_noise.h)
  std::vector<MarkerAgreement> markers;   ///< those that were used, in the skeleton's order
  std::vector<MarkerAgreement> left_out;  ///< PoseFitOptions::leave_out
  int outliers = 0;                       ///< marker samples left out
  int frames_at_limit = 0;
  int frames_not_converged = 0;    ///< absent from the track
  int frames_underdetermined = 0;  ///< at least one coordinate not determined
  /// Coordinates that rest on their narrow range alone in some frames, with the sd that means:
  /// "R.index.dip.rot: its range alone, +-2.9 degrees, in 100 % of frames".
  std::vector<std::string> held_by_range;
  std::vector<std::string> exchanged_labels;    ///< each pair, in words; also among the issues
  std::vector<std::string> unmodelled_markers;  ///< in the stream, not on the skeleton: ignored
  Issues issues;              ///< stretches not determined, naming times, dofs and missing markers
  std::string Brief() const;  ///< one line
};

struct PoseFit {
  artefact::PoseTrack track;  ///< provenance left to the caller
  PoseFitSummary summary;
};

/// Fails with kNotFound (no marker stream), kUnidentifiable (no frame determines the hand; says
/// which dofs and markers), kInvalid. Cost: about 0.3 ms per frame of a 57-dof hand (kCeres), half
/// of that (kFast). Memory: the track.
Result<PoseFit> FitPose(const recording::ClipSource& clip, const model::Skeleton& skeleton,
                        const PoseFitOptions& options = {});

}  // namespace handhold::fitting

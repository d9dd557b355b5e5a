/// Joint coordinates over time, fitted to markers, with what the data said about them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/base/issue.h"
#include "database/base/time.h"

namespace handhold::artefact {

/// How far a marker lies from where the hand puts it, over its frames.
struct MarkerAgreement {
  std::string marker;
  int frames = 0;
  double rms_m = 0.0, median_m = 0.0, p95_m = 0.0;
};

/// What the fit of poses says about itself.
struct PoseSummary {
  int frames = 0;  ///< read
  int fitted = 0;
  double marker_sd_m = 0.0;   ///< one axis: as estimated, or as given
  double marker_rms_m = 0.0;  ///< |measured - modelled|, over markers and frames
  double marker_p99_m = 0.0;
  double take_sd_m = 0.0;                 ///< one axis, from jumps between frames alone
  std::vector<MarkerAgreement> markers;   ///< those that were used, in the skeleton's order
  std::vector<MarkerAgreement> left_out;  ///< those that the fit was told to do without
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

struct PoseTrack {
  Provenance provenance;
  PoseSummary summary;
  std::string hand;                    ///< "R"; empty: the only one of the take
  std::string skeleton_hash;           ///< of the Skeleton the coordinates belong to
  std::vector<std::string> dof_names;  ///< nv names, in order
  std::vector<Timestamp> times;  ///< clip time of every frame, ascending; frames that could not be
                                 ///< fitted are absent
  Eigen::MatrixXd q;             ///< nq x frames
  /// Information (inverse covariance, rad^-2) of each velocity coordinate: the diagonal, nv x
  /// frames. 0: not determined in that frame.
  Eigen::MatrixXd information_diagonal;
  /// The whole information matrix (nv x nv), for frames near a contact; key: frame index.
  std::map<int, Eigen::MatrixXd> information;
  std::vector<std::string> marker_names;
  /// |measured - modelled| of each marker, metres, markers x frames; NaN where the marker was
  /// missing.
  Eigen::MatrixXd marker_residual_m;
  /// True where a one-sided limit residual was active, nv x frames.
  Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic> at_limit;

  int frame_count() const { return static_cast<int>(times.size()); }
};

template <typename A>
void Visit(A& a, MarkerAgreement& m) {
  a.Field("marker", m.marker);
  a.Field("frames", m.frames);
  a.Field("rms_m", m.rms_m);
  a.Field("median_m", m.median_m);
  a.Field("p95_m", m.p95_m);
}
template <typename A>
void Visit(A& a, PoseSummary& s) {
  a.Field("frames", s.frames);
  a.Field("fitted", s.fitted);
  a.Field("marker_sd_m", s.marker_sd_m);
  a.Field("marker_rms_m", s.marker_rms_m);
  a.Field("marker_p99_m", s.marker_p99_m);
  a.Field("take_sd_m", s.take_sd_m);
  a.Field("markers", s.markers);
  a.Field("left_out", s.left_out);
  a.Field("outliers", s.outliers);
  a.Field("frames_at_limit", s.frames_at_limit);
  a.Field("frames_not_converged", s.frames_not_converged);
  a.Field("frames_underdetermined", s.frames_underdetermined);
  a.Field("held_by_range", s.held_by_range);
  a.Field("exchanged_labels", s.exchanged_labels);
  a.Field("unmodelled_markers", s.unmodelled_markers);
  a.Field("issues", s.issues);
}
template <typename A>
void Visit(A& a, PoseTrack& t) {
  a.Skip(t.provenance);
  a.Field("summary", t.summary);
  a.Field("hand", t.hand);
  a.Field("skeleton_hash", t.skeleton_hash);
  a.Field("dof_names", t.dof_names);
  a.Field("times", t.times);
  a.Field("q", t.q);
  a.Field("information_diagonal", t.information_diagonal);
  a.Field("information", t.information);
  a.Field("marker_names", t.marker_names);
  a.Field("marker_residual_m", t.marker_residual_m);
  a.Field("at_limit", t.at_limit);
}

}  // namespace handhold::artefact

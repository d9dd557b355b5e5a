/// Joint coordinates over time, fitted to markers, with what the data said about them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/base/time.h"

namespace handhold::artefact {

struct PoseTrack {
  Provenance provenance;
  /// What the fit said about itself (canonical JSON: brief, issues, figures), kept with its result.
  std::string summary_json = "{}";
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

}  // namespace handhold::artefact

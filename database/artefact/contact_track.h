/// Where, when and how hard the hand touched: contact points, forces on the hand, joint torques,
/// onsets with intervals.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/base/time.h"
#include "database/geometry/rotation.h"

namespace handhold::artefact {

/// One touch, from onset to release.
struct ContactPhase {
  int body = 0;         ///< of the skeleton, that touches
  std::string surface;  ///< the prop or sensor touched
  Timestamp onset;      ///< clip time, found on the unfiltered force at its own rate
  Duration onset_sd;    ///< half-width of its 68 % interval
  Timestamp release;
  Duration release_sd;
  double peak_force_N = 0.0;
  std::string task;  ///< "exploring", "scratching": from the clip's events or its info
};

/// Sampled at the pose track's times.
struct ContactTrack {
  Provenance provenance;
  /// What the fit said about itself (canonical JSON: brief, issues, figures), kept with its result.
  std::string summary_json = "{}";
  std::vector<Timestamp> times;
  Eigen::Matrix3Xd f_onHand_W;  ///< N, zero-phase low-passed; the force that acts on the hand
  Eigen::Matrix3Xd p_WC;        ///< contact point, m; NaN: missing (below the force threshold)
  Eigen::Matrix3Xd normal_W;  ///< outward normal of the touched surface at the contact point; NaN:
                              ///< missing
  Eigen::VectorXd point_offset_m;  ///< distance between the wrench's point and the fitted fingertip
                                   ///< surface; NaN: missing
  Eigen::MatrixXd tau_Nm;  ///< nv x frames: J^T f (eqs. 2 and 4), plus inertia and gravity where
                           ///< asked for
  std::vector<int> phase;  ///< index into phases, or -1: free
  std::vector<ContactPhase> phases;
  /// RMS share of tau that inertia and gravity make up, per dof, when that option was computed;
  /// else empty.
  Eigen::VectorXd inertia_share;
};

}  // namespace handhold::artefact

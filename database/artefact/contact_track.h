/// Where, when and how hard a hand touched: touches with their onsets, contact rows, and the joint
/// torques that follow from all of them.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/artefact/touch.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::artefact {

/// What the fit of contacts says about itself.
struct ContactSummary {
  int touches = 0;
  int knocks = 0;  ///< disturbances that are not touches
  double onset_sd_median_s = 0.0;
  double peak_force_N = 0.0;
  double point_offset_p95_m = 0.0;  ///< wrench's point to the site's fitted skin; NaN: no point
  /// The site's skin that touches, from the wrench's axis, NaN: no point. The mean over touches,
  /// each by its own frames: sensor, surface or hand are off by that much ...
  double axis_shift_m = 0.0;
  double axis_left_rms_m = 0.0;  ///< ... and what is left of single touches about that (RMS)
  double torsion_p95_Nm = 0.0;   ///< moment along the force that no single frictional point carries
  Issues issues;                 ///< touches outside the pose track, points off the surface, ...
  std::string Brief() const;
};

/// Something that stood still and was touched.
struct TouchedThing {
  std::string name;       ///< that sides of touches name
  std::string prop;       ///< its prop's name
  std::string prop_hash;  ///< artefact of the prop
  geometry::RigidTransform X_WT;
};

/// The contacts of one hand of a take, sampled at its pose track's times.
struct ContactTrack {
  Provenance provenance;
  ContactSummary summary;
  std::string hand;           ///< "R"; empty: the only one
  std::string skeleton_hash;  ///< of the Skeleton that dof names and sides' bodies belong to
  std::vector<std::string> dof_names;  ///< nv names, in order
  std::vector<Timestamp> times;
  std::vector<TouchedThing> things;
  std::vector<Touch> touches;    ///< by onset; touches of several sensors may overlap
  std::vector<ContactRow> rows;  ///< none outside touches; forces zero-phase low-passed
  /// nv x frames: the sum over all rows of J^T f (Kry & Pai eqs. 2 and 4), plus inertia and gravity
  /// where asked for.
  Eigen::MatrixXd tau_Nm;
  /// RMS share of tau that inertia and gravity make up, per dof, when that was computed; else
  /// empty.
  Eigen::VectorXd inertia_share;
};

/// The one touch of every frame, -1: free. For what reads one touch at a time (the compliance
/// estimators). kUnsupported names two touches that overlap.
Result<std::vector<int>> TouchOfFrame(const ContactTrack& track);

/// The rows laid out over frames, for what shows one touch at a time: a column per frame; force 0
/// and everything else NaN without a row. kUnsupported as TouchOfFrame.
struct ContactFrames {
  std::vector<int> touch;  ///< -1: free
  Eigen::Matrix3Xd f_onHand_W, p_WC, normal_W;
  Eigen::VectorXd offset_m;
};
Result<ContactFrames> LaidOut(const ContactTrack& track);

template <typename A>
void Visit(A& a, ContactSummary& s) {
  a.Field("touches", s.touches);
  a.Field("knocks", s.knocks);
  a.Field("onset_sd_median_s", s.onset_sd_median_s);
  a.Field("peak_force_N", s.peak_force_N);
  a.Field("point_offset_p95_m", s.point_offset_p95_m);
  a.Field("axis_shift_m", s.axis_shift_m);
  a.Field("axis_left_rms_m", s.axis_left_rms_m);
  a.Field("torsion_p95_Nm", s.torsion_p95_Nm);
  a.Field("issues", s.issues);
}
template <typename A>
void Visit(A& a, TouchedThing& t) {
  a.Field("name", t.name);
  a.Field("prop", t.prop);
  a.Field("prop_hash", t.prop_hash);
  a.Field("X_WT", t.X_WT);
}
template <typename A>
void Visit(A& a, ContactTrack& t) {
  a.Skip(t.provenance);
  a.Field("summary", t.summary);
  a.Field("hand", t.hand);
  a.Field("skeleton_hash", t.skeleton_hash);
  a.Field("dof_names", t.dof_names);
  a.Field("times", t.times);
  a.Field("things", t.things);
  a.Field("touches", t.touches);
  a.Field("rows", t.rows);
  a.Field("tau_Nm", t.tau_Nm);
  a.Field("inertia_share", t.inertia_share);
}

}  // namespace handhold::artefact

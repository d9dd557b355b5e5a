/// The pose of a thing over time, as fitted to its markers or as a device gave it.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/artefact/provenance.h"
#include "database/base/issue.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"

namespace handhold::artefact {

/// What the fit of a thing's pose says about itself.
struct ObjectSummary {
  int frames = 0;
  int fitted = 0;
  double marker_rms_m = 0.0;  ///< |measured - modelled|; NaN: no markers were used
  Issues issues;
};

struct ObjectTrack {
  Provenance provenance;
  ObjectSummary summary;
  std::string thing;  ///< of the take
  std::string prop;   ///< its model; empty: none
  std::string prop_hash;
  std::vector<Timestamp> times;  ///< frames that could not be fitted are absent
  std::vector<geometry::RigidTransform> X_WT;
  Eigen::VectorXd residual_m;  ///< RMS over the markers of each frame; empty: no markers
  /// 36 x frames: the 6 x 6 covariance, by columns, of (rotation rad, place m) in the thing's own
  /// axes; empty: not known.
  Eigen::MatrixXd covariance;
};

template <typename A>
void Visit(A& a, ObjectSummary& s) {
  a.Field("frames", s.frames);
  a.Field("fitted", s.fitted);
  a.Field("marker_rms_m", s.marker_rms_m);
  a.Field("issues", s.issues);
}
template <typename A>
void Visit(A& a, ObjectTrack& t) {
  a.Skip(t.provenance);
  a.Field("summary", t.summary);
  a.Field("thing", t.thing);
  a.Field("prop", t.prop);
  a.Field("prop_hash", t.prop_hash);
  a.Field("times", t.times);
  a.Field("X_WT", t.X_WT);
  a.Field("residual_m", t.residual_m);
  a.Field("covariance", t.covariance);
}

}  // namespace handhold::artefact

/// Where and how hard the hand touched a known surface, and the joint torques that follow (Kry &
/// Pai eqs. 2 and 4).
///
/// The sensor measures a wrench; a single touch without torsion lies on its axis, so the contact
/// point is where that axis meets the known surface. The fitted fingertip, which had no part in
/// that, checks it. Signs: forces here act on the hand (recording::ForceOnHand). Tests:
/// tests/fitting/compliance/contact_fit_test.cc.
#pragma once

#include <string>
#include <vector>

#include "database/artefact/about.h"
#include "database/artefact/contact_track.h"
#include "database/artefact/pose_track.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "fitting/signal/touch.h"

namespace handhold::fitting {

inline constexpr int kContactFitVersion = 5;
/// A wrench's point further than this (p95) from the fitted fingertip is a warning.
inline constexpr double kTellPointOffset_m = 2e-3;

struct ContactFitOptions {
  std::string force_sensor;  ///< empty: the clip's only one
  std::string site;          ///< of the skeleton, that touches; empty: its only one
  TouchOptions touch;
  double threshold_N = 0.3;      ///< contact points are missing below this normal force
  double cutoff_Hz = 300.0;      ///< zero-phase, of the force
  double pose_cutoff_Hz = 40.0;  ///< zero-phase, of the angles inside J (and of their derivatives):
                                 ///< never of the fitted angles
  /// Subtracts M a + h - g(onset) from eq. 2's torque: what inertia and the change of gravity's
  /// lever take of it before it reaches the joints' springs (h holds gravity; g(onset) is what the
  /// hand held before). Its share is reported as inertia_share either way.
  bool correct_inertia_and_gravity = false;
  geometry::Vec3 gravity_W = {0, 0, -9.81};
};

struct ContactFit {
  artefact::ContactTrack track;      ///< with the summary; provenance left to the caller
  artefact::ContactSummary summary;  ///< the same
};

/// `X_WP`: where the prop stands. Each touch's task is the text of the "stroke" event it began in,
/// else of the "take" event, else the clip's task. Outside touches there are no rows and the torque
/// is 0; the torque is that of the whole wrench, so that it does not fail where a weak force leaves
/// the point open. Fails with kNotFound, kInvalid (no pressed frame has a point on the surface
/// among others; the surface stands within the finger), or as reading failed. No touch is an
/// answer, not a failure.
Result<ContactFit> FitContact(const recording::ClipSource& clip, const model::Skeleton& skeleton,
                              const artefact::PoseTrack& pose, const model::Prop& surface,
                              const geometry::RigidTransform& X_WP,
                              const ContactFitOptions& options = {});

template <typename A>
void Visit(A& a, ContactFitOptions& o) {
  using artefact::About;
  a.Field(
      "force_sensor", o.force_sensor,
      About{
          .help = "force sensor; default: the clip's only one", .word = "sensor", .value = "NAME"});
  a.Field("site", o.site,
          About{.help = "part of the hand that touched: R.index.pad; default: its only one",
                .value = "NAME"});
  a.Field("touch", o.touch);
  a.Field("threshold_N", o.threshold_N);
  a.Field("cutoff_Hz", o.cutoff_Hz);
  a.Field("pose_cutoff_Hz", o.pose_cutoff_Hz);
  a.Field("correct_inertia_and_gravity", o.correct_inertia_and_gravity,
          About{.help = "take inertia and gravity out of the torques (their share is told)",
                .word = "inertia"});
  a.Field("gravity_W", o.gravity_W);
}

}  // namespace handhold::fitting

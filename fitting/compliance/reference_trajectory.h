/// The interaction trajectory of Kry & Pai 2006, section 3.4: what the hand meant to do, and how it
/// gives way.
///
/// theta_r = theta - C tau (eq. 1), and beside it theta_r = theta - d with d from the dynamics of
/// deviation.h. Do not mix: the first has absorbed damping and wants quasi-static replay; the
/// second wants the damped one. Free of contact both are theta. Between contact touches the C of
/// the nearest touch holds. Tests: tests/fitting/compliance/dynamic_estimator_test.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "database/artefact/contact_track.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/pose_track.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

inline constexpr int kReferenceTrajectoryVersion = 4;

struct ReferenceTrajectoryOptions {
  std::string estimator = "dynamic";  ///< whose compliances are used: "dynamic" or "paper"
  /// Compliances taken for refused joints, by dof name, rad/Nm: marked `assumed` in the result. A
  /// refused joint without one keeps NaN compliance, and its theta_r is theta.
  std::map<std::string, double> assume_compliance;
  /// The same for dofs that are not named there, with some other hand's values (Table1Exploring):
  /// each is held to what the refused fit leaves open for this hand and task (HeldToBounds).
  std::map<std::string, double> assume_within_bounds;
  double compliance_factor = 1.0;  ///< on every compliance: 0.5 and 2 for sensitivity
  double assumed_factor = 1.0;     ///< on assumed ones only
  Duration extrapolation = Duration::Milliseconds(50);  ///< Fig. 3's check: this long after the
                                                        ///< onset ...
  Duration extrapolation_from = Duration::Milliseconds(60);  ///< ... against a quadratic through
                                                             ///< this long before it
  Duration settle = Duration::Milliseconds(150);  ///< the dynamic deviation is followed this long
                                                  ///< after a release
  /// Zero-phase low-pass of both references, once theta and torque have been put together; 0: none.
  /// No hand means more than this; the markers' noise does.
  double cutoff_Hz = 50.0;
};

struct ReferenceTrajectoryFit {
  artefact::InteractionTrajectory trajectory;  ///< provenance left to the caller
  artefact::ReferenceSummary summary;
};

/// `fits`: those of all estimators and tasks; all are kept in the result. Fails with kInvalid
/// (times of pose and contact differ; an assumed dof does not exist, with the nearest name; no fit
/// of the estimator asked for).
Result<ReferenceTrajectoryFit> MakeInteractionTrajectory(
    const model::Skeleton& skeleton, const artefact::PoseTrack& pose,
    const artefact::ContactTrack& contact, const std::vector<artefact::ComplianceFit>& fits,
    const ReferenceTrajectoryOptions& options = {});

/// `value`, or the nearest end of the refused joint's 95 % interval when that excludes it: a fit
/// too imprecise for an answer may still contradict what another hand's value says.
double HeldToBounds(const artefact::JointCompliance& refused, double value);

/// Table 1 of the paper, exploring: what `--assume-compliance` takes by default for dofs whose
/// names begin with wrist, mp, pip, dip (after any "R.index." prefix; mcp counts as mp), flexion
/// only. Empty for others.
std::map<std::string, double> Table1Exploring(const model::Skeleton& skeleton);

template <typename A>
void Visit(A& a, ReferenceTrajectoryOptions& o) {
  a.Field("estimator", o.estimator);
  a.Field("assume_compliance_rad_per_Nm", o.assume_compliance);
  a.Field("assume_within_bounds_rad_per_Nm", o.assume_within_bounds);
  a.Field("compliance_factor", o.compliance_factor);
  a.Field("assumed_factor", o.assumed_factor);
  a.Field("extrapolation_ns", o.extrapolation);
  a.Field("extrapolation_from_ns", o.extrapolation_from);
  a.Field("settle_ns", o.settle);
  a.Field("cutoff_Hz", o.cutoff_Hz);
}

}  // namespace handhold::fitting

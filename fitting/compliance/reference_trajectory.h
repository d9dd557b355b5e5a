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

using ReferenceTrajectoryOptions = artefact::ReferenceOptions;

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

}  // namespace handhold::fitting

/// How an open hand comes to a prop: placed along a direction until little is left, and from where
/// it comes without running into it. Pinned by tests/synthesis/grasp_control/approach_test.cc.
#pragma once

#include <Eigen/Core>

#include "database/artefact/grasp.h"
#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// How far away a reach begins, and what ClosedIn leaves between hand and prop.
inline constexpr double kReachFrom_m = 0.32, kReachClearance_m = 2e-3;

/// The first body that hangs on the world: the palm.
int PalmOf(const model::Skeleton& hand);
/// X_WB of a body.
geometry::RigidTransform PoseOfBody(const model::Skeleton& hand, const Eigen::VectorXd& q,
                                    int body);

/// The mirrored hand's grasp: everything reflected in the plane y = 0 of P. `hand`: the one that
/// the grasp is of.
artefact::Grasp MirroredGrasp(const model::Skeleton& hand, artefact::Grasp grasp);

/// The palm's pose where the open hand, coming from kReachFrom_m away along the palm's normal (its
/// z), has kReachClearance_m left; `X_PPalm` is where it is headed. It goes no farther past that
/// than it came.
Result<geometry::RigidTransform> ClosedIn(const model::Skeleton& hand,
                                          const Eigen::VectorXd& q_open, const model::Prop& prop,
                                          geometry::RigidTransform X_PPalm);

/// From where the open hand comes without running into the prop: the palm's normal, else the least
/// tilted from it that stays 1 mm clear on the last 8 cm, else the clearest. Unit, in the palm's
/// frame.
Result<geometry::Vec3> ClearWay(const model::Skeleton& hand, const Eigen::VectorXd& q_open,
                                const model::Prop& prop, const geometry::RigidTransform& X_PPalm);

}  // namespace handhold::synthesis

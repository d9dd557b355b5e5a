/// Postures of a skeleton, apart from any simulation: within limits, and between two others.
///
/// Pinned by tests/synthesis/grasp_control/posture_test.cc.
#pragma once

#include <Eigen/Core>

#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// Nearest within the skeleton's limits: hinges clamped, twist clamped, swing drawn to the rim of
/// the cone along the line to its middle. A free root is left as it is.
Eigen::VectorXd ClampedToLimits(const model::Skeleton& skeleton, const Eigen::VectorXd& q);
/// R_JpJc of a ball joint likewise.
geometry::Mat3 ClampedToLimits(const model::Joint& ball, const geometry::Mat3& R);

/// From q0 on the way to q1, and beyond it for s > 1, joint by joint: Integrate(q0, s
/// Difference(q0, q1)). A turn of a ball beyond half a turn is cut at 175 degrees.
Eigen::VectorXd Between(const model::Skeleton& skeleton, const Eigen::VectorXd& q0,
                        const Eigen::VectorXd& q1, double s);

}  // namespace handhold::synthesis

/// Skeleton::Integrate and Difference into the caller's memory: for steps that must not allocate.
///
/// The same numbers to the bit. Pinned by tests/database/model/skeleton_test.cc.
#pragma once

#include <Eigen/Core>

#include "database/model/skeleton.h"

namespace handhold::model {

/// `out` (nq) = q moved along v for 1 unit; it may be q itself.
void IntegrateInto(const Skeleton& skeleton, const Eigen::Ref<const Eigen::VectorXd>& q,
                   const Eigen::Ref<const Eigen::VectorXd>& v, Eigen::Ref<Eigen::VectorXd> out);
/// `out` (nv) = the v that takes q0 to q1.
void DifferenceInto(const Skeleton& skeleton, const Eigen::Ref<const Eigen::VectorXd>& q0,
                    const Eigen::Ref<const Eigen::VectorXd>& q1, Eigen::Ref<Eigen::VectorXd> out);

}  // namespace handhold::model

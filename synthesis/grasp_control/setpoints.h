/// The setpoints of a grasp from one example of it: an open hand and the hand in contact.
///
/// Pollard & Zordan 2005, section 5.1, for a hand at rest: there eq. 14 reads theta_DES = 2 theta -
/// theta_NEUTRAL, since passive and active springs pull alike. Pinned by
/// tests/synthesis/grasp_control/setpoints_test.cc.
#pragma once

#include "database/artefact/grasp.h"
#include "database/artefact/setpoint_set.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// Places of setpoints in SetpointSet::setpoints, in order of Figure 3 (section 8 of the paper
/// names seven for its six).
enum SetpointPlace { kNeutral, kOpen, kClose, kRelease, kRelax, kNeutralAgain, kSetpointCount };

/// Where the springs of passive and active controller together rest while they grip with alpha:
/// q + alpha (q - q_open), drawn within the limits. Of a grasp with q_open and q it is q_squeeze.
Eigen::VectorXd SqueezeTarget(const model::Skeleton& skeleton, const Eigen::VectorXd& q_open,
                              const Eigen::VectorXd& q, double alpha);

/// Six setpoints with which the controller rests at q_open when open and at q_squeeze when it grips
/// with alpha 1; with alpha 0 half way between the two, which is q as far as no limit cut the
/// squeeze, and in between and beyond along the same line. Without q_squeeze that of SqueezeTarget.
/// Neutral is half way from open to alpha 0: the mean pose of the example. Release is open, relax
/// is neutral; distances are Table 1's for grasps, gains the paper's. kInvalid: the grasp has no
/// q_open, or another skeleton's q.
Result<artefact::SetpointSet> SetpointsOf(const model::Skeleton& skeleton,
                                          const artefact::Grasp& grasp);

/// kInvalid where sizes, count, gains (> 0), distances (near < approach < begin) or numbers that
/// are not finite do not fit the skeleton.
Status CheckSetpoints(const model::Skeleton& skeleton, const artefact::SetpointSet& set);

}  // namespace handhold::synthesis

/// The curves of a grip: what each part of a hand presses an object with, and how near it is to
/// slipping (Kry & Pai 2006, figures 13 and 14).
///
/// Series of the motion, by hand and body: "normal_force.R.thumb.dst" in N (0 where it does not
/// touch) and "friction_ratio.R.thumb.dst", friction to normal force (0 where the force is below
/// kTraced_N: the paper looks at no ratio there). A slip is where the ratio meets the surface's
/// coefficient. Pinned by tests/synthesis/interaction/grip_traces_test.cc.
#pragma once

#include <span>

#include "database/artefact/motion.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

inline constexpr const char* kNormalForce = "normal_force";
inline constexpr const char* kFrictionRatio = "friction_ratio";
inline constexpr double kTraced_N = 0.2;

/// Adds two series for every body of a hand whose force on things that move reaches kTraced_N in
/// some frame, from the motion's contact rows alone; bodies in order, hand by hand. `skeletons`:
/// of the motion's hands, in their order.
void AddGripTraces(std::span<const model::Skeleton* const> skeletons, artefact::Motion* motion);

}  // namespace handhold::synthesis

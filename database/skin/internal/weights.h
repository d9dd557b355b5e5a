/// Which joints a point of the skin follows, and how much.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "database/skin/internal/field.h"

namespace handhold::skin::internal {

/// A half joint between bone `outer` and the bone it bends in.
struct HalfJoint {
  int outer = 0;
};

/// Bones that bend in another one and carry a half joint: phalanges of a hand; every bone of
/// another tree or an arm that has a joint that moves.
std::vector<HalfJoint> HalfJointsOf(const model::Skeleton& skeleton, const Anatomy& anatomy);

/// Shares of the bones, then of the half joints, at p: not negative, their sum is 1.
///
/// At a bone's joint J with bisector m of the two axes u = S((p - J) . m / (0.9 r)), S a quintic
/// step from -1 to 1 (1.25 r at the knuckles): what is beyond goes outward. Between digits
/// exp(-d / 4 mm) decides; what no digit takes goes to palm and metacarpals by exp(-d / 3 mm) of
/// the distances of their contact shapes. Of two bones that share, the lesser share of each goes to
/// their half joint.
std::vector<double> SharesAt(const Field& field, const Anatomy& anatomy,
                             const std::vector<HalfJoint>& halves, const geometry::Vec3& p_R);

/// The four largest shares as whole parts of 65,535, heaviest first.
void Quantize(const std::vector<double>& shares, std::array<std::uint16_t, 4>* joint,
              std::array<std::uint16_t, 4>* weight);

}  // namespace handhold::skin::internal

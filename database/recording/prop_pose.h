/// Where the clip's prop stood in the laboratory, among the clip's own properties: what contact
/// needs to know of a fixed surface, and what the operator measured.
///
/// Property "prop_pose": "x y z" or "x y z qw qx qy qz": X_WP, metres, unit quaternion. Pinned by
/// tests/database/recording/prop_pose_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/recording/clip.h"

namespace handhold::recording {

inline constexpr char kPropPoseProperty[] = "prop_pose";

/// Three numbers (no rotation) or seven, parted by spaces or commas. The quaternion is made unit
/// when it is within 1e-3 of it. kInvalid says what was expected.
Result<geometry::RigidTransform> ParsePose(std::string_view text);
/// What ParsePose reads back to the same bits of p, and to rounding of R.
std::string FormatPose(const geometry::RigidTransform& X_WP);

/// Empty: the clip does not say. kInvalid, naming the clip, when what it says is no pose.
Result<std::optional<geometry::RigidTransform>> PropPose(const ClipInfo& info);

}  // namespace handhold::recording

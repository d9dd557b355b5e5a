/// A pose in words, as people type it and as a command line takes it: "x y z" or
/// "x y z qw qx qy qz", metres and a unit quaternion. Pinned by
/// tests/database/recording/pose_text_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "database/base/result.h"
#include "database/geometry/transform.h"

namespace handhold::recording {

/// Three numbers (no rotation) or seven, parted by spaces or commas. The quaternion is made unit
/// when it is within 1e-3 of it. kInvalid says what was expected.
Result<geometry::RigidTransform> ParsePose(std::string_view text);
/// What ParsePose reads back to the same bits of p, and to rounding of R.
std::string FormatPose(const geometry::RigidTransform& X);

}  // namespace handhold::recording

#include "database/recording/pose_text.h"

#include <charconv>
#include <cmath>
#include <vector>

namespace handhold::recording {
namespace {

using geometry::RigidTransform;

Error NoPose(std::string_view text) {
  return {ErrorCode::kInvalid,
          "'" + std::string(text) +
              "' is no pose: expected \"x y z\" in metres, or \"x y z qw qx qy qz\" with a unit "
              "quaternion"};
}

}  // namespace

Result<RigidTransform> ParsePose(std::string_view text) {
  std::vector<double> n;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == ',' || *at == '\t') {
      ++at;
      continue;
    }
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value)) return NoPose(text);
    n.push_back(value);
    at = next;
  }
  if (n.size() != 3 && n.size() != 7) return NoPose(text);
  RigidTransform X = RigidTransform::Translation({n[0], n[1], n[2]});
  if (n.size() == 7) {
    Eigen::Quaterniond q(n[3], n[4], n[5], n[6]);
    if (std::abs(q.norm() - 1.0) > 1e-3) return NoPose(text);
    X.R = q.normalized().toRotationMatrix();
  }
  return X;
}

std::string FormatPose(const RigidTransform& X) {
  const Eigen::Quaterniond q(X.R);
  std::string text;
  for (const double value : {X.p.x(), X.p.y(), X.p.z(), q.w(), q.x(), q.y(), q.z()}) {
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    text += (text.empty() ? "" : " ") + std::string(digits, end);
  }
  return text;
}

}  // namespace handhold::recording

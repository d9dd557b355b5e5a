/// How far a ball joint is outside its limits, by brute force.
#pragma once

#include <algorithm>
#include <cmath>

#include "database/model/skeleton.h"

namespace handhold::testing {

/// Way outside the twist limits or the elliptic cone of database/model/skeleton.h, rad; 0 or less:
/// inside. The cone's rim is walked: no formula to share with the engine's.
inline double OutsideBallLimits(const geometry::Mat3& R, const geometry::Vec3& lower,
                                const geometry::Vec3& upper) {
  const geometry::Vec3 s = model::SwingTwist(R);
  const geometry::Vec3 middle = 0.5 * (lower + upper), half = 0.5 * (upper - lower);
  const double y = s.y() - middle.y(), z = s.z() - middle.z();
  double nearest = HUGE_VAL, at = 0;
  const auto try_angle = [&](double angle) {
    const double d = std::hypot(y - half.y() * std::cos(angle), z - half.z() * std::sin(angle));
    if (d < nearest) nearest = d, at = angle;
  };
  for (int i = 0; i < 256; ++i) try_angle(i * M_PI / 128);
  for (double step = M_PI / 128; step > 1e-7; step *= 0.5) {
    const double angle = at;
    try_angle(angle + step), try_angle(angle - step);
  }
  const bool inside = std::hypot(y / half.y(), z / half.z()) <= 1;
  return std::max(std::abs(s.x() - middle.x()) - half.x(), inside ? -nearest : nearest);
}

}  // namespace handhold::testing

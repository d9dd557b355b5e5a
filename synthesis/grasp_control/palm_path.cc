#include "synthesis/grasp_control/palm_path.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace handhold::synthesis {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

namespace {

constexpr int kPosesPerMove = 40;

RigidTransform Mixed(const RigidTransform& a, const RigidTransform& b, double s) {
  return {a.R * geometry::Exp<double>(s * geometry::Log(a.R.transpose() * b.R)),
          a.p + s * (b.p - a.p)};
}

}  // namespace

Status CheckPath(const PalmPath& path) {
  if (path.times_s.empty() || path.times_s.size() != path.X_WPalm.size())
    return Error{ErrorCode::kInvalid, "a palm's path needs as many times as poses, one at least"};
  for (size_t i = 0; i < path.times_s.size(); ++i) {
    if (!std::isfinite(path.times_s[i]) || (i > 0 && !(path.times_s[i] > path.times_s[i - 1])) ||
        !path.X_WPalm[i].p.allFinite() || !path.X_WPalm[i].R.allFinite()) {
      return Error{
          ErrorCode::kInvalid,
          "a palm's path: times must rise and poses be finite (pose " + std::to_string(i) + ")"};
    }
  }
  return {};
}

RigidTransform PalmPath::At(double t_s) const {
  if (t_s <= times_s.front()) return X_WPalm.front();
  if (t_s >= times_s.back()) return X_WPalm.back();
  const auto next =
      static_cast<size_t>(std::upper_bound(times_s.begin(), times_s.end(), t_s) - times_s.begin());
  const size_t i = next - 1;
  const double span = times_s[next] - times_s[i], u = (t_s - times_s[i]) / span;
  // Velocities at both ends: (omega in the pose's own axes, v).
  const auto velocity = [&](size_t k) -> std::pair<Vec3, Vec3> {
    if (k == 0 || k + 1 == times_s.size()) return {Vec3::Zero(), Vec3::Zero()};
    const double dt = times_s[k + 1] - times_s[k - 1];
    return {geometry::Log(X_WPalm[k - 1].R.transpose() * X_WPalm[k + 1].R) / dt,
            (X_WPalm[k + 1].p - X_WPalm[k - 1].p) / dt};
  };
  const auto [w0, v0] = velocity(i);
  const auto [w1, v1] = velocity(next);
  const RigidTransform a{X_WPalm[i].R * geometry::Exp<double>(Vec3(u * span * w0)),
                         X_WPalm[i].p + u * span * v0};
  const RigidTransform b{X_WPalm[next].R * geometry::Exp<double>(Vec3((u - 1) * span * w1)),
                         X_WPalm[next].p + (u - 1) * span * v1};
  return Mixed(a, b, u * u * (3 - 2 * u));
}

void Append(const RigidTransform& next, double wait_s, double move_s, PalmPath* path) {
  const RigidTransform from = path->X_WPalm.back();
  double begin = path->times_s.back();
  if (wait_s > 0) {
    begin += wait_s;
    path->times_s.push_back(begin);
    path->X_WPalm.push_back(from);
  }
  for (int i = 1; i <= kPosesPerMove; ++i) {
    const double u = static_cast<double>(i) / kPosesPerMove;
    path->times_s.push_back(begin + u * move_s);
    path->X_WPalm.push_back(Mixed(from, next, u * u * u * (10 - 15 * u + 6 * u * u)));
  }
}

PalmPath Reach(const RigidTransform& away, const RigidTransform& grip, double begin_s,
               double reach_s) {
  PalmPath path{{begin_s}, {away}};
  Append(grip, 0.0, reach_s, &path);
  return path;
}

}  // namespace handhold::synthesis

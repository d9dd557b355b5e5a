#include "synthesis/contact_sampling/finger_ik.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace handhold::synthesis {

using geometry::RigidTransform;
using geometry::Vec3;

namespace {

using FingerMatrix = Eigen::Matrix<double, kMostAxes, kMostAxes>;
using FingerFull = Eigen::Matrix<double, kMostAxes, 1>;

}  // namespace

void FingerNormal::Add(const FingerFull& J, double r, double sd) {
  const double w = 1.0 / (sd * sd);
  A.noalias() += (w * J) * J.transpose();
  g += (w * r) * J;
  cost += w * r * r;
}

void FingerNormal::AddPoint(const FingerPose& pose, int axes, const Vec3& p_O, const Vec3& along_O,
                            double r, double sd) {
  FingerFull J = FingerFull::Zero();
  for (int k = 0; k < axes; ++k) {
    const auto i = static_cast<size_t>(k);
    J[k] = along_O.dot(pose.axis_O[i].cross(p_O - pose.at_O[i]));
  }
  Add(J, r, sd);
}

void AddFingerRows(const Finger& finger, const RigidTransform& X_OR, const FingerScene& scene,
                   const FingerGoal& goal, const FingerIkOptions& o, FingerNormal* rows,
                   FingerAnswer* answer) {
  FingerPose& pose = answer->pose;
  const FingerVector& q = answer->q;
  PoseFinger(finger, X_OR, q, &pose);
  answer->depth_m = answer->plane_depth_m = answer->overlap_m = answer->touch_error_m = 0.0;
  answer->overlaps = -1;
  if (goal.touch) {
    // Eq. 1, and eq. 2: the nail looks away from the surface.
    const int last = finger.last_link(), axes = finger.links[static_cast<size_t>(last)].axes;
    const Vec3 p = pose.Point(last, goal.touch->p_L), off = p - goal.touch->p_O;
    for (int i = 0; i < 3; ++i) rows->AddPoint(pose, axes, p, Vec3::Unit(i), off[i], o.touch_sd_m);
    answer->touch_error_m = off.norm();
    const Vec3 nail = pose.X_OL[static_cast<size_t>(last)].R.col(2);
    const double c = nail.dot(goal.touch->normal_O);
    if (c < 0) {
      FingerFull J = FingerFull::Zero();
      for (int k = 0; k < axes; ++k)
        J[k] = goal.touch->normal_O.dot(pose.axis_O[static_cast<size_t>(k)].cross(nail));
      rows->Add(J, c, o.nail_sd);
    }
  }
  const double clear = goal.touch ? 0.0 : o.clearance_m;
  for (const FingerCapsule& capsule : finger.capsules) {
    if (capsule.link < finger.first_felt()) continue;
    const int axes = finger.links[static_cast<size_t>(capsule.link)].axes;
    const Vec3 a = pose.Point(capsule.link, capsule.a_L), b = pose.Point(capsule.link, capsule.b_L);
    for (int i = 0; i < o.felt_points; ++i) {
      const Vec3 p = a + (static_cast<double>(i) / (o.felt_points - 1)) * (b - a);
      Vec3 slope;
      const double d = scene.grid->At(p, &slope) - capsule.radius_m;
      answer->depth_m = std::max(answer->depth_m, -d);
      if (d < clear) rows->AddPoint(pose, axes, p, slope, d - clear, o.depth_sd_m);
      for (const PlaneInObject& plane : scene.planes) {
        const double h = plane.normal_O.dot(p) - plane.offset_m - capsule.radius_m;
        answer->plane_depth_m = std::max(answer->plane_depth_m, -h);
        if (h < 0) rows->AddPoint(pose, axes, p, plane.normal_O, h, o.depth_sd_m);
      }
    }
    const double half = 0.5 * (b - a).norm() + capsule.radius_m;
    for (const FingerObstacle& other : scene.obstacles) {
      const double reach = half + 0.5 * (other.b_O - other.a_O).norm() + other.radius_m;
      if ((0.5 * (a + b - other.a_O - other.b_O)).squaredNorm() > reach * reach) continue;
      double s, t;
      const double apart = NearestOfSegments(a, b, other.a_O, other.b_O, &s, &t);
      const double d = apart - capsule.radius_m - other.radius_m;
      if (d >= 0 || !(apart > 0)) continue;
      const Vec3 p = a + s * (b - a);
      const Vec3 away = (p - other.a_O - t * (other.b_O - other.a_O)) / apart;
      rows->AddPoint(pose, axes, p, away, d, o.neighbour_sd_m);
      if (-d <= answer->overlap_m) continue;
      answer->overlap_m = -d;
      answer->overlaps = other.finger;
    }
  }
  for (int k = 0; k < finger.count(); ++k) {
    const double r = q[k] - goal.rest[k], w = 1.0 / (goal.rest_sd_rad * goal.rest_sd_rad);
    rows->A(k, k) += w;
    rows->g[k] += w * r;
    rows->cost += w * r * r;
  }
  if (finger.pip >= 0) {
    FingerFull J = FingerFull::Zero();
    J[finger.dip] = 1.0;
    J[finger.pip] = -o.coupling;
    rows->Add(J, q[finger.dip] - o.coupling * q[finger.pip], o.coupling_sd_rad);
  }
}

namespace {

/// The damped step with angles at a bound that it pushes against held there.
FingerVector BoundedStep(const FingerNormal& rows, double damping, const FingerVector& q,
                         const FingerVector& low, const FingerVector& high) {
  const Eigen::Index n = q.size();
  FingerVector step = FingerVector::Zero(n);
  std::array<bool, kMostAxes> held{};
  for (int pass = 0; pass < 3; ++pass) {
    FingerMatrix A = rows.A;
    FingerFull g = rows.g;
    for (Eigen::Index k = 0; k < kMostAxes; ++k) {
      if (k >= n) {
        A(k, k) = 1.0;
        continue;
      }
      if (held[static_cast<size_t>(k)]) {
        g += step[k] * rows.A.col(k);  // moved that far already
        A.row(k).setZero();
        A.col(k).setZero();
        A(k, k) = 1.0;
      } else {
        A(k, k) *= 1.0 + damping;
      }
    }
    for (Eigen::Index k = 0; k < n; ++k) {
      if (held[static_cast<size_t>(k)]) g[k] = -step[k];
    }
    const FingerFull x = A.ldlt().solve(-g);
    bool more = false;
    for (Eigen::Index k = 0; k < n; ++k) {
      if (held[static_cast<size_t>(k)]) continue;
      step[k] = std::clamp(q[k] + x[k], low[k], high[k]) - q[k];
      if (step[k] != x[k] && std::abs(step[k] - x[k]) > 1e-12) {
        held[static_cast<size_t>(k)] = true;
        more = true;
      }
    }
    if (!more) break;
  }
  return step;
}

}  // namespace

void SolveFinger(const Finger& finger, const RigidTransform& X_OR, const FingerScene& scene,
                 const FingerGoal& goal, const FingerVector& q_from, double step_rad,
                 const FingerIkOptions& options, FingerAnswer* answer) {
  const int n = finger.count();
  FingerVector low(n), high(n);
  for (int k = 0; k < n; ++k) {
    const FingerAxis& axis = finger.axes[static_cast<size_t>(k)];
    const double from = std::clamp(q_from[k], axis.lower_rad, axis.upper_rad);
    low[k] = std::max(axis.lower_rad, from - step_rad);
    high[k] = std::min(axis.upper_rad, from + step_rad);
  }
  answer->q = q_from.cwiseMax(low).cwiseMin(high);
  FingerNormal rows;
  AddFingerRows(finger, X_OR, scene, goal, options, &rows, answer);
  double damping = 1e-4;
  int refused = 0;
  for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
    const FingerVector step = BoundedStep(rows, damping, answer->q, low, high);
    if (step.cwiseAbs().maxCoeff() < 3e-5) break;
    FingerAnswer trial;
    trial.q = answer->q + step;
    FingerNormal at_trial;
    AddFingerRows(finger, X_OR, scene, goal, options, &at_trial, &trial);
    if (at_trial.cost < rows.cost) {
      const bool done = rows.cost - at_trial.cost < 0.01 * rows.cost;
      rows = at_trial;
      *answer = trial;
      damping = std::max(1e-6, 0.2 * damping);
      if (done) break;
    } else {
      damping *= 100;
      if (++refused == 4) break;
    }
  }
}

TipTouch TouchOfTip(const Finger& finger, const FingerPose& pose, const DistanceGrid& grid) {
  const FingerCapsule& tip = finger.capsules[static_cast<size_t>(finger.tip)];
  const RigidTransform& X_OL = pose.X_OL[static_cast<size_t>(tip.link)];
  const Vec3 a = X_OL * tip.a_L, b = X_OL * tip.b_L;
  constexpr int kSteps = 6;
  double distance[kSteps + 1];
  int best = 0;
  for (int i = 0; i <= kSteps; ++i) {
    distance[i] = grid.At(a + (static_cast<double>(i) / kSteps) * (b - a));
    if (distance[i] <= distance[best]) best = i;
  }
  double at = best;
  if (best > 0 && best < kSteps) {  // the middle of a parabola through three
    const double bend = distance[best - 1] - 2 * distance[best] + distance[best + 1];
    if (bend > 0)
      at += std::clamp(0.5 * (distance[best - 1] - distance[best + 1]) / bend, -0.5, 0.5);
  }
  const Vec3 p = a + (at / kSteps) * (b - a);
  TipTouch touch;
  Vec3 slope;
  const double d = grid.At(p, &slope);
  const double length = slope.norm();
  touch.point.normal_O = length > 1e-9 ? Vec3(slope / length) : Vec3(Vec3::UnitZ());
  touch.gap_m = d - tip.radius_m;
  const Vec3 skin = p - tip.radius_m * touch.point.normal_O;
  touch.point.p_O = skin - touch.gap_m * touch.point.normal_O;
  touch.point.p_L = X_OL.Inverse() * skin;
  touch.cos_palmar = X_OL.R.col(2).dot(touch.point.normal_O);
  return touch;
}

}  // namespace handhold::synthesis

#include "synthesis/contact_sampling/required_load.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <variant>

#include <Eigen/Dense>

namespace handhold::synthesis {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;
using geometry::Vec6;

namespace {

constexpr int kRimPoints = 24;
constexpr int kMostSupports = 8;  // of one plane

/// Corners of the prop that may touch a plane, in O: of what is round enough of them.
std::vector<Vec3> CornersOf(const model::Prop& prop) {
  std::vector<Vec3> out;
  const auto add_mesh = [&](const RigidTransform& X, const geometry::MeshTree& tree) {
    for (const Vec3& v : tree.mesh().vertices) out.push_back(X * v);
  };
  for (const model::PropShape& s : prop.shapes) {
    if (const auto* box = std::get_if<geometry::Box>(&s.shape)) {
      for (int i = 0; i < 8; ++i) {
        const Vec3 sign(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
        out.push_back(s.X_PS * Vec3(sign.cwiseProduct(box->size_m)));
      }
    } else if (const auto* cylinder = std::get_if<geometry::Cylinder>(&s.shape)) {
      for (int i = 0; i < 2 * kRimPoints; ++i) {
        const double a = std::numbers::pi * (i / 2) / (0.5 * kRimPoints);
        out.push_back(s.X_PS * Vec3(cylinder->radius_m * std::cos(a),
                                    cylinder->radius_m * std::sin(a),
                                    (i % 2 ? 0.5 : -0.5) * cylinder->length_m));
      }
    } else if (const auto* hull = std::get_if<geometry::ConvexHull>(&s.shape)) {
      add_mesh(s.X_PS, *hull->surface);
    } else if (const auto* mesh = std::get_if<geometry::TriangleMesh>(&s.shape)) {
      add_mesh(s.X_PS, *mesh->surface);
    }
  }
  return out;
}

/// The lowest points of spheres and capsules along `down`, in O.
void AddRoundPoints(const model::Prop& prop, const Vec3& down_O, std::vector<Vec3>* out) {
  for (const model::PropShape& s : prop.shapes) {
    double radius = 0, half = 0;
    if (const auto* sphere = std::get_if<geometry::Sphere>(&s.shape)) {
      radius = sphere->radius_m;
    } else if (const auto* capsule = std::get_if<geometry::Capsule>(&s.shape)) {
      radius = capsule->radius_m;
      half = 0.5 * capsule->length_m;
    } else {
      continue;
    }
    out->push_back(s.X_PS * Vec3(0, 0, half) + radius * down_O);
    if (half > 0) out->push_back(s.X_PS * Vec3(0, 0, -half) + radius * down_O);
  }
}

/// Those of `near` that lie furthest out in the plane, in eight directions.
std::vector<Vec3> SpreadInPlane(const std::vector<Vec3>& near, const Vec3& normal) {
  if (near.size() <= kMostSupports) return near;
  const Vec3 t1 = normal.unitOrthogonal(), t2 = normal.cross(t1);
  std::vector<size_t> chosen;
  for (int k = 0; k < kMostSupports; ++k) {
    const double a = 2 * std::numbers::pi * k / kMostSupports;
    const Vec3 way = std::cos(a) * t1 + std::sin(a) * t2;
    size_t best = 0;
    for (size_t i = 1; i < near.size(); ++i) {
      if (near[i].dot(way) > near[best].dot(way)) best = i;
    }
    if (std::find(chosen.begin(), chosen.end(), best) == chosen.end()) chosen.push_back(best);
  }
  std::vector<Vec3> out;
  for (const size_t i : chosen) out.push_back(near[i]);
  return out;
}

/// Velocity and acceleration of a frame, from a parabola through its neighbours weighted by a
/// Gaussian: at the ends, too, without the bias of a one-sided mean.
struct Derivatives {
  Vec3 v_W = Vec3::Zero(), a_W = Vec3::Zero();          ///< of the centre of mass
  Vec3 omega_O = Vec3::Zero(), alpha_O = Vec3::Zero();  ///< in the object's axes
};

Derivatives Differentiate(const HandTask& task, const Vec3& p_OCom, int t, double smoothing_s) {
  const double h = task.step_s();
  const int reach = std::max(2, static_cast<int>(std::ceil(3 * smoothing_s / h)));
  const RigidTransform& X_t = task.X_WO[static_cast<size_t>(t)];
  const Vec3 c_t = X_t * p_OCom;
  Mat3 M = Mat3::Zero();
  Eigen::Matrix<double, 3, 6> b = Eigen::Matrix<double, 3, 6>::Zero();
  for (int s = std::max(0, t - reach); s <= std::min(task.frame_count() - 1, t + reach); ++s) {
    const RigidTransform& X_s = task.X_WO[static_cast<size_t>(s)];
    const double dt = (s - t) * h, z = dt / std::max(smoothing_s, 0.5 * h);
    const double w = std::exp(-0.5 * z * z);
    const Vec3 basis(1.0, dt, 0.5 * dt * dt);
    Eigen::Matrix<double, 6, 1> y;
    // The logarithm of the turn since t has the angular velocity and acceleration at t as its
    // derivatives: what it lacks begins with the third order.
    y << X_s * p_OCom - c_t, geometry::Log(X_t.R.transpose() * X_s.R);
    M += w * basis * basis.transpose();
    b += w * basis * y.transpose();
  }
  const Eigen::Matrix<double, 3, 6> fit = M.ldlt().solve(b);
  return {fit.row(1).head<3>(), fit.row(2).head<3>(), fit.row(1).tail<3>(), fit.row(2).tail<3>()};
}

}  // namespace

double TorqueLengthOf(const model::Prop& prop) {
  return std::max(1e-3, 0.25 * model::BoundsOf(prop).diagonal_m());
}

std::vector<FrameLoad> RequiredLoads(const HandTask& task, const LoadOptions& options) {
  geometry::MassProperties mass = task.prop.mass;
  if (mass.mass_kg > 0) {
    mass = geometry::WithTotalMass(mass, task.mass_kg);
  } else {  // a fixed prop says no inertia: that of its box
    const geometry::Bounds box = model::BoundsOf(task.prop);
    const Vec3 size2 = (box.max - box.min).cwiseAbs2();
    mass.mass_kg = task.mass_kg;
    mass.p_BCom = box.centre();
    mass.I_BCom_B = (task.mass_kg / 12.0 * (Vec3::Constant(size2.sum()) - size2)).asDiagonal();
  }
  const std::vector<Vec3> corners = CornersOf(task.prop);
  const double length_m = TorqueLengthOf(task.prop);
  std::vector<FrameLoad> loads(static_cast<size_t>(task.frame_count()));
  ForceWorkspace workspace;
  ForceAnswer answer;
  std::vector<Vec3> points, near;
  for (int t = 0; t < task.frame_count(); ++t) {
    FrameLoad& load = loads[static_cast<size_t>(t)];
    const RigidTransform& X_WO = task.X_WO[static_cast<size_t>(t)];
    const Derivatives d = Differentiate(task, mass.p_BCom, t, options.smoothing_s);
    const bool slow =
        d.v_W.norm() < options.rest_speed_m_per_s && d.omega_O.norm() < options.rest_rate_rad_per_s;
    for (const SupportPlane& plane : task.supports) {
      points = corners;
      AddRoundPoints(task.prop, -(X_WO.R.transpose() * plane.normal_W), &points);
      near.clear();
      for (const Vec3& p_O : points) {
        if (std::abs(plane.normal_W.dot(X_WO * p_O) - plane.height_m) <= options.support_within_m)
          near.push_back(p_O);
      }
      const Vec3 normal_O = X_WO.R.transpose() * plane.normal_W;
      for (const Vec3& p_O : SpreadInPlane(near, normal_O)) {
        ForceContact contact{p_O, normal_O, plane.friction, options.support_weight, std::nullopt};
        const Vec3 v_O = X_WO.R.transpose() * d.v_W + d.omega_O.cross(p_O - mass.p_BCom);
        const Vec3 slip = v_O - normal_O * normal_O.dot(v_O);
        // The object slides over the plane: the plane over the object the other way.
        if (!slow && slip.norm() > options.slides_above_m_per_s) contact.slides_O = -slip;
        load.supports.push_back(contact);
      }
    }
    load.at_rest = slow && load.supports.size() >= 3;
    const Vec3 a_W = load.at_rest ? Vec3(Vec3::Zero()) : d.a_W;
    const Vec3 omega = load.at_rest ? Vec3(Vec3::Zero()) : d.omega_O;
    const Vec3 alpha = load.at_rest ? Vec3(Vec3::Zero()) : d.alpha_O;
    const Vec3 f_O = mass.mass_kg * (X_WO.R.transpose() * (a_W - task.gravity_W));
    const Vec3 tau_O = mass.I_BCom_B * alpha + omega.cross(mass.I_BCom_B * omega);
    load.w_O << tau_O + mass.p_BCom.cross(f_O), f_O;
    SolveLeastForce(load.supports, load.w_O, {.length_m = length_m}, &workspace, &answer);
    load.needs_hand = answer.outcome != ForceOutcome::kBalanced;
  }
  return loads;
}

std::vector<FrameRange> HeldPieces(const std::vector<FrameLoad>& loads, int max_pause,
                                   int least_frames) {
  std::vector<FrameRange> pieces;
  for (int t = 0; t < static_cast<int>(loads.size()); ++t) {
    if (!loads[static_cast<size_t>(t)].needs_hand) continue;
    if (!pieces.empty() && t - pieces.back().last <= max_pause + 1) {
      pieces.back().last = t;
    } else {
      pieces.push_back({t, t});
    }
  }
  std::erase_if(pieces, [&](const FrameRange& r) { return r.count() < least_frames; });
  return pieces;
}

}  // namespace handhold::synthesis

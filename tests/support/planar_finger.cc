#include "tests/support/planar_finger.h"

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace handhold::test_support {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// Absolute link angles from joint angles.
Joints Absolute(const Joints& theta) {
  Joints phi;
  double sum = 0;
  for (int i = 0; i < 4; ++i) phi[i] = sum += theta[i];
  return phi;
}

/// Jacobian of a point `along` metres out on link `link`, 2 x 4.
Eigen::Matrix<double, 2, 4> PointJacobian(const PlanarFinger& f, const Joints& phi, int link,
                                          double along) {
  Eigen::Matrix<double, 2, 4> j = Eigen::Matrix<double, 2, 4>::Zero();
  for (int k = 0; k <= link; ++k) {
    const double l = k < link ? f.length_m[static_cast<size_t>(k)] : along;
    const Eigen::Vector2d d(-l * std::sin(phi[k]), l * std::cos(phi[k]));
    for (int i = 0; i <= k; ++i) j.col(i) += d;
  }
  return j;
}

double Inertia(const PlanarFinger& f, size_t i) {
  return f.mass_kg[i] *
         (f.body_length_m[i] * f.body_length_m[i] / 12 + f.radius_m[i] * f.radius_m[i] / 4);
}

}  // namespace

Eigen::Vector2d PlanarFinger::Tip(const Joints& theta) const {
  const Joints phi = Absolute(theta);
  Eigen::Vector2d p = Eigen::Vector2d::Zero();
  for (int i = 0; i < 4; ++i)
    p += length_m[static_cast<size_t>(i)] * Eigen::Vector2d(std::cos(phi[i]), std::sin(phi[i]));
  return p;
}

Eigen::Matrix<double, 2, 4> PlanarFinger::ContactJacobian(const Joints& theta) const {
  Eigen::Matrix<double, 2, 4> j = PointJacobian(*this, Absolute(theta), 3, length_m[3]);
  // The lowest point lies tip_radius below the centre: omega (about -y) x (0, -r) = (omega r, 0).
  j.row(0).array() += tip_radius_m;
  return j;
}

Eigen::Matrix4d PlanarFinger::MassMatrix(const Joints& theta) const {
  const Joints phi = Absolute(theta);
  Eigen::Matrix4d m = Eigen::Matrix4d::Zero();
  for (int i = 0; i < 4; ++i) {
    const auto s = static_cast<size_t>(i);
    const auto j = PointJacobian(*this, phi, i, 0.5 * body_length_m[s]);
    m += mass_kg[s] * j.transpose() * j;
    m.topLeftCorner(i + 1, i + 1).array() += Inertia(*this, s);
  }
  return m;
}

Joints PlanarFinger::VelocityTerms(const Joints& theta, const Joints& rate) const {
  const Joints phi = Absolute(theta), spin = Absolute(rate);
  Joints h = Joints::Zero();
  Eigen::Vector2d joint_acceleration = Eigen::Vector2d::Zero();
  for (int i = 0; i < 4; ++i) {
    const auto s = static_cast<size_t>(i);
    const Eigen::Vector2d inward =
        -spin[i] * spin[i] * Eigen::Vector2d(std::cos(phi[i]), std::sin(phi[i]));
    const Eigen::Vector2d a = joint_acceleration + 0.5 * body_length_m[s] * inward;
    h += mass_kg[s] * PointJacobian(*this, phi, i, 0.5 * body_length_m[s]).transpose() * a;
    joint_acceleration += length_m[s] * inward;
  }
  return h;
}

Eigen::Matrix4d Impedance::Stiffness() const {
  const Joints root = compliance_rad_per_Nm.cwiseInverse().cwiseSqrt();
  Eigen::Matrix4d k = root.cwiseAbs2().asDiagonal();
  for (Eigen::Index i = 0; i < 3; ++i)
    k(i, i + 1) = k(i + 1, i) = -coupling[static_cast<size_t>(i)] * root[i] * root[i + 1];
  return k;
}

Eigen::Matrix4d Impedance::Damping() const {
  const Joints root = time_constant_s.cwiseSqrt();
  return root.asDiagonal() * Stiffness() * root.asDiagonal();
}

Run Simulate(const PlanarFinger& finger, const Impedance& impedance, const Program& program,
             const Plate* plate, double duration_s) {
  const int per_sample = 3;
  Run run;
  run.step_s = 1.0 / 7000;
  const double h = run.step_s / per_sample;
  const Eigen::Matrix4d stiffness = impedance.Stiffness(), damping = impedance.Damping();
  Joints theta, rate, goal, goal_rate;
  program(0, &theta, &rate);
  double anchor = 0;
  bool touching = false;
  Eigen::Vector2d force = Eigen::Vector2d::Zero();
  const int samples = static_cast<int>(duration_s / run.step_s);
  for (int k = 0; k < samples; ++k) {
    run.theta.push_back(theta);
    run.force.push_back(force);
    for (int sub = 0; sub < per_sample; ++sub) {
      const double t = k * run.step_s + (sub + 1) * h;
      Eigen::Matrix<double, 2, 4> jacobian = finger.ContactJacobian(theta);
      force.setZero();
      if (plate != nullptr) {
        const Eigen::Vector2d tip = finger.Tip(theta), velocity = jacobian * rate;
        const double depth = plate->height_m - (tip.y() - finger.tip_radius_m);
        const double normal =
            depth > 0 ? std::max(0.0, plate->stiffness * depth - plate->damping * velocity.y())
                      : 0.0;
        if (normal > 0) {
          if (!touching) anchor = tip.x();
          if (run.onset_s < 0) run.onset_s = t - h;
          run.release_s = t;
          // An anchor holds by a spring and is dragged along when the cone is left.
          const double bound = plate->friction * normal;
          double tangential = plate->stiffness * (anchor - tip.x()) - plate->damping * velocity.x();
          if (std::abs(tangential) > bound) {
            tangential = std::copysign(bound, tangential);
            anchor = tip.x() + (tangential + plate->damping * velocity.x()) / plate->stiffness;
          }
          force << tangential, normal;
        }
        touching = normal > 0;
      }
      program(t, &goal, &goal_rate);
      const Eigen::Matrix4d mass = finger.MassMatrix(theta);
      Eigen::Matrix4d a = mass;
      a += h * damping + h * h * stiffness;
      const Joints b =
          mass * rate + h * (jacobian.transpose() * force - finger.VelocityTerms(theta, rate) +
                             stiffness * (goal - theta) + damping * goal_rate);
      rate = a.ldlt().solve(b);
      theta += h * rate;
    }
  }
  return run;
}

Stroke DrawStroke(const PlanarFinger& finger, const Impedance& impedance, const Plate& plate,
                  const Joints& posture_deg, double speed_m_per_s, double force_N,
                  std::mt19937* random) {
  std::uniform_real_distribution<double> unit(-1, 1);
  Stroke stroke;
  Joints touch = posture_deg * kPi / 180;
  for (int i = 1; i < 4; ++i) touch[i] += unit(*random) * 8 * kPi / 180;
  for (int i = 0; i < 60; ++i) {  // turn the wrist until the tip stands on the plate
    const double gap = finger.Tip(touch).y() - finger.tip_radius_m - plate.height_m;
    touch[0] -= gap / finger.Tip(touch).x();
  }
  stroke.touch = touch;
  const Eigen::Matrix<double, 2, 4> j = finger.ContactJacobian(touch);
  const double softness = (j * impedance.compliance_rad_per_Nm.asDiagonal() * j.transpose())(1, 1);
  const double clearance = 0.008, depth = force_N * softness, sweep = unit(*random) * 0.02;
  // Motion shared out like a compliant chain, with joint variety on top.
  const Eigen::Matrix<double, 4, 2> spread =
      impedance.compliance_rad_per_Nm.asDiagonal() * j.transpose() *
      (j * impedance.compliance_rad_per_Nm.asDiagonal() * j.transpose() +
       1e-6 * Eigen::Matrix2d::Identity())
          .inverse();
  const Joints wobble = Joints(unit(*random), unit(*random), unit(*random), unit(*random)) * 0.01;
  const Joints phase = Joints(unit(*random), unit(*random), unit(*random), unit(*random)) * kPi;
  const double travel = clearance + depth;
  // z(t) = -travel/2 (1 - cos(w t)): the speed where it has gone down by `clearance` is travel/2 w
  // sin(w t).
  const double at = std::acos(1 - 2 * clearance / travel);
  const double w = speed_m_per_s / (0.5 * travel * std::sin(at));
  const double down_s = kPi / w, start_s = 0.15, hold_s = 0.25;
  stroke.program = [=](double t, Joints* position, Joints* rate) {
    double z = clearance, zv = 0;
    const double u = t - start_s;
    const double v = u - down_s - hold_s;
    if (u > 0 && u < down_s) {
      z = clearance - 0.5 * travel * (1 - std::cos(w * u));
      zv = -0.5 * travel * w * std::sin(w * u);
    } else if (u >= down_s && v < 0) {
      z = clearance - travel;
    } else if (v >= 0 && v < down_s) {
      z = clearance - 0.5 * travel * (1 + std::cos(w * v));
      zv = 0.5 * travel * w * std::sin(w * v);
    }
    const double total = 2 * down_s + hold_s + 0.3, s = std::clamp(t / total, 0.0, 1.0);
    const double x = sweep * (10 * s * s * s - 15 * s * s * s * s + 6 * s * s * s * s * s);
    const double xv = sweep * 30 * s * s * (1 - s) * (1 - s) / total;
    *position = touch + spread * Eigen::Vector2d(x, z);
    *rate = spread * Eigen::Vector2d(xv, zv);
    for (int i = 0; i < 4; ++i) {
      const double f = 2 * kPi * (0.7 + 0.3 * i);
      (*position)[i] += wobble[i] * std::sin(f * t + phase[i]);
      (*rate)[i] += wobble[i] * f * std::cos(f * t + phase[i]);
    }
  };
  return stroke;
}

}  // namespace handhold::test_support

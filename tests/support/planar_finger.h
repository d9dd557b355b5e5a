/// A planar finger that meets a plate, integrated by its own code: truth for tests of fitting,
/// sharing nothing with what they test.
///
/// Links move in the x-z plane, z up; angle j turns everything outboard of joint j, positive lifts
/// the tip (axis (0, -1, 0)). Joint torque -K (theta - c) - B (theta' - c'), no gravity (as if
/// held). The plate answers along z with a one-sided spring and damper, and along x by Coulomb
/// friction from a stick-slip anchor. Steps of 48 us, springs and dampers of the joints implicit.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <vector>

#include <Eigen/Core>

namespace handhold::test_support {

constexpr int kFingerJoints = 4;
using Joints = Eigen::Vector4d;

struct PlanarFinger {
  std::array<double, 4> length_m{0.080, 0.045, 0.026, 0.014};  ///< last: to the centre of the
                                                               ///< fingertip
  std::array<double, 4> body_length_m{0.080, 0.045, 0.026, 0.020};
  std::array<double, 4> mass_kg{0.1225, 0.00875, 0.0042, 0.0021};
  std::array<double, 4> radius_m{0.015, 0.008, 0.0075, 0.006};
  double tip_radius_m = 0.006;

  Eigen::Vector2d Tip(const Joints& theta) const;  ///< x, z of the fingertip's centre
  /// Of the fingertip's lowest point as a material point, 2 x 4.
  Eigen::Matrix<double, 2, 4> ContactJacobian(const Joints& theta) const;
  Eigen::Matrix4d MassMatrix(const Joints& theta) const;
  Joints VelocityTerms(const Joints& theta, const Joints& rate) const;  ///< h in M a + h = torque
};

struct Impedance {
  Joints compliance_rad_per_Nm{0.3488, 0.9882, 0.6715, 2.0052};  ///< Table 1, exploring
  Joints time_constant_s = Joints::Constant(0.014);
  /// Elastic, of joints i and i + 1: K(i, i + 1) = -share sqrt(K(i, i) K(i + 1, i + 1)).
  std::array<double, 3> coupling{};

  Eigen::Matrix4d Stiffness() const;  ///< K, its diagonal 1 / compliance
  Eigen::Matrix4d Damping() const;    ///< sqrt(T_i T_j) K(i, j)
};

struct Plate {
  double height_m = -0.075, stiffness = 5000, damping = 4, friction = 0.5;
};

/// theta_r(t) and its rate.
using Program = std::function<void(double t, Joints* position, Joints* rate)>;

struct Run {
  double step_s = 0.0;  ///< of what follows: 1/7000 s, three steps of the integration
  std::vector<Joints> theta;
  std::vector<Eigen::Vector2d> force;       ///< on the hand, x and z
  double onset_s = -1.0, release_s = -1.0;  ///< first and last contact
};

/// Integrates from rest on the program. `plate` null: free of contact.
Run Simulate(const PlanarFinger& finger, const Impedance& impedance, const Program& program,
             const Plate* plate, double duration_s);

/// A stroke: the tip, 8 mm above the plate in a posture drawn around `posture_deg`, goes down
/// through it at `speed` to the depth of `force_N` (by the static endpoint compliance) while it
/// sweeps, then lifts. Lasts about 0.9 s; wrist height makes it meet the plate.
struct Stroke {
  Joints touch;  ///< commanded posture at the plate
  Program program;
};
Stroke DrawStroke(const PlanarFinger& finger, const Impedance& impedance, const Plate& plate,
                  const Joints& posture_deg, double speed_m_per_s, double force_N,
                  std::mt19937* random);

inline Joints ExploringPosture() { return {-3, -19, -27, -14}; }
inline Joints ScratchingPosture() { return {-8, -32, -35, -12}; }
inline Joints CurledPosture() { return {-5, -45, -45, -25}; }
inline Joints StraightPosture() { return {-20, -14, -4, -3}; }

}  // namespace handhold::test_support

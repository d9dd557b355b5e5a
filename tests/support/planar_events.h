/// Contact events of the planar finger (planar_finger.h) as the pooled fit takes them: plain
/// numbers, noise on the angles, force and mass matrix as wrong as told.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "fitting/compliance/pooled_fit.h"
#include "tests/support/planar_finger.h"

namespace handhold::test_support {

struct FingerWorld {
  PlanarFinger finger;
  Impedance impedance;
  double angle_sd = 4e-4;      ///< of each joint angle, per frame: what 0.05 mm markers give
  double inertia_error = 1.0;  ///< mass matrix handed to the fit, over the true one
  double force_late_s = 0.0;
  std::vector<Joints> postures = {ExploringPosture(), ScratchingPosture(), CurledPosture()};
  int seed = 1;
  /// Of the palm as it is, over that of `finger`, which the fit is told of.
  double palm_error = 1.0;
  bool tell_palm = true;  ///< hand the palm's part of the mass matrix to the fit
};

inline std::vector<fitting::ComplianceEvent> MakeEvents(const FingerWorld& world, int count) {
  std::mt19937 random(static_cast<unsigned>(world.seed));
  std::normal_distribution<double> white(0, 1);
  std::uniform_real_distribution<double> speed(0.05, 0.2), force(0.7, 2.0);
  std::vector<fitting::ComplianceEvent> events;
  PlanarFinger as_it_is = world.finger;
  as_it_is.mass_kg[0] *= world.palm_error;
  PlanarFinger palm_twice = world.finger;
  palm_twice.mass_kg[0] *= 2;
  for (int e = 0; e < count; ++e) {
    const auto stroke = DrawStroke(world.finger, world.impedance, {},
                                   world.postures[static_cast<size_t>(e) % world.postures.size()],
                                   speed(random), force(random), &random);
    const Plate plate;
    const auto run = Simulate(as_it_is, world.impedance, stroke.program, &plate, 0.5);
    if (run.onset_s < 0.12 || run.onset_s > 0.38) continue;
    fitting::ComplianceEvent event;
    event.touch = e;
    const auto onset = static_cast<int>(run.onset_s / run.step_s);
    // Torque every 0.5 ms from 20 ms before the onset; the recorded force may carry a late clock.
    event.tau_begin_s = -0.02;
    const int steps = 210;
    event.tau_Nm.resize(4, steps);
    for (int k = 0; k < steps; ++k) {
      const double t = run.onset_s + event.tau_begin_s + k * event.tau_step_s - world.force_late_s;
      const auto i = static_cast<size_t>(std::lround(t / run.step_s));
      Eigen::Vector2d f = run.force[i];
      if (f.y() > 0) f += Eigen::Vector2d(white(random), white(random)) * 0.006;
      event.tau_Nm.col(k) = world.finger.ContactJacobian(run.theta[i]).transpose() * f;
    }
    event.mass =
        world.inertia_error * world.finger.MassMatrix(run.theta[static_cast<size_t>(onset)]);
    if (world.tell_palm) {
      event.palm_mass =
          world.inertia_error * palm_twice.MassMatrix(run.theta[static_cast<size_t>(onset)]) -
          event.mass;
    }
    const int frames = 85;
    event.frame_s.resize(frames);
    event.theta_rad.resize(4, frames);
    for (int k = 0; k < frames; ++k) {
      event.frame_s[k] = -0.1 + 0.002 * k;
      const auto i =
          static_cast<size_t>(std::lround((run.onset_s + event.frame_s[k]) / run.step_s));
      for (int j = 0; j < 4; ++j)
        event.theta_rad(j, k) = run.theta[i][j] + world.angle_sd * white(random);
      event.information.push_back(Eigen::Matrix4d::Identity() / (world.angle_sd * world.angle_sd));
    }
    events.push_back(std::move(event));
  }
  return events;
}

/// A loose prior of the references.
inline fitting::PooledOptions LoosePrior() {
  fitting::PooledOptions options;
  // A loose prior that falls with degree; free movement here is smooth.
  options.prior_variance.resize(4, 10);
  for (int k = 0; k < 10; ++k)
    options.prior_variance.col(k).setConstant(
        std::pow(0.03 * std::pow(0.45, std::max(0, k - 2)), 2));
  return options;
}

}  // namespace handhold::test_support

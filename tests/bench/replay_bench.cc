// chain.replay: seconds of interaction replayed per second, one finger at 500 Hz on the plate with
// friction, one core. The reference presses and strokes most of the time, so that contact is the
// rule.
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "synthesis/interaction/replay.h"
#include "tests/support/bench.h"

namespace {

using namespace handhold;

constexpr double kSeconds = 4.0;

/// The finger bent over the plate, dipping and sweeping by sines of its joints.
artefact::InteractionTrajectory Stroking(const model::Skeleton& hand) {
  const int frames = static_cast<int>(kSeconds * 500) + 1;
  artefact::InteractionTrajectory t;
  t.dof_names = hand.dof_names();
  t.q_reference.resize(4, frames);
  for (int k = 0; k < frames; ++k) {
    const double s = k / 500.0, dip = std::sin(2 * std::numbers::pi * 1.1 * s),
                 sweep = std::sin(2 * std::numbers::pi * 0.7 * s);
    t.times.push_back(Timestamp::FromSeconds(s));
    t.q_reference.col(k) << 0.05 + 0.06 * dip, 0.35 + 0.10 * sweep, 0.50 + 0.10 * sweep,
        0.25 + 0.05 * dip;
  }
  t.q = t.q_reference_dynamic = t.q_reference;
  t.compliance_rad_per_Nm = Eigen::Vector4d(0.3488, 0.9882, 0.6715, 2.0052).replicate(1, frames);
  t.time_constant_s = Eigen::VectorXd::Constant(frames, 0.014);
  return t;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    const model::Skeleton hand = model::LoadHand("finger4").value();
    const artefact::InteractionTrajectory trajectory = Stroking(hand);
    model::KinematicsData data(hand);
    double highest = -1;
    Timestamp begin;  // where the finger is free of the plate, as a replay must begin
    for (Eigen::Index k = 0; k < trajectory.q.cols() / 2; ++k) {
      model::ComputePoses<double>(hand, trajectory.q.col(k), &data);
      const double height = model::FramePose<double>(hand, data, hand.FindFrame("index.tip")).p.z();
      if (height > highest) highest = height, begin = trajectory.times[static_cast<size_t>(k)];
    }
    artefact::Stage scene;
    scene.Add(artefact::Placed(model::LoadLibraryProp("flat_plate").value(),
                               geometry::RigidTransform::Translation({0.12, 0, highest - 0.012})));
    synthesis::ReplayOptions options;
    options.form = synthesis::ReplayForm::kDamped;
    options.range = {begin, trajectory.times.back() + Duration::Milliseconds(1)};
    const double seconds = (trajectory.times.back() - begin).seconds();
    artefact::Motion motion;
    const Sample speed = Repeat(9, [&] {
      return seconds / Seconds([&] {
               motion = synthesis::ReplayInteraction(hand, trajectory, scene, options).value();
             });
    });
    if (synthesis::UnsolvedSteps(motion) != 0) throw std::runtime_error("an LCP was not solved");
    if (static_cast<double>(motion.rows.size()) < 0.5 * static_cast<double>(motion.times.size()))
      throw std::runtime_error("the finger touches for less than half of the time");
    reporter.Report("chain.replay", {.value = speed,
                                     .unit = "x real time",
                                     .better = Better::kHigher,
                                     .goal = Goal::SpeedAtLeast(50)});
  });
}

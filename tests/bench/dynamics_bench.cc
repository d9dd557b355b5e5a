// Inverse dynamics and mass matrix of hand57 against MuJoCo 4, one thread, alternately, over the
// same random states.
#include "tests/support/dynamics_bench.h"
#include "tests/support/mujoco_tree.h"

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    const handhold::model::Skeleton hand = handhold::testing::MovingHand57();
    handhold::testing::MujocoTree peer(hand);
    using State = DynamicsState<std::vector<double>>;
    const auto states = AgreedStates<std::vector<double>>(hand, [&](State* s) {
      peer.SetState(s->q, s->v, s->a, kBenchGravity);
      s->peer = peer.RawState();
      return DynamicsAnswer{peer.InverseDynamics(), peer.MassMatrix()};
    });
    ReportDynamics(
        reporter, hand, states, "", "MuJoCo 4.0.0", Goal::RatioAtLeast(0.7),
        [&](const State& s) {
          peer.SetRawState(s.peer);
          peer.RunInverseDynamics();
        },
        [&](const State& s) {
          peer.SetRawState(s.peer);
          peer.RunMassMatrix();
        });
  });
}

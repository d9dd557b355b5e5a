// Inverse dynamics and mass matrix of hand57 against MuJoCo 4, one thread, alternately, over the
// same random states.
#include <random>
#include <stdexcept>
#include <vector>

#include "database/model/dynamics.h"
#include "tests/support/bench.h"
#include "tests/support/moving_hand.h"
#include "tests/support/mujoco_tree.h"
#include "tests/support/random_skeleton.h"

namespace {

using handhold::model::Skeleton;
namespace model = handhold::model;

struct State {
  Eigen::VectorXd q, v, a;
  std::vector<double> peer;
};

const Eigen::Vector3d kGravity(0, 0, -9.81);
constexpr int kStates = 512;

std::vector<State> MakeStates(const Skeleton& hand, handhold::testing::MujocoTree* peer) {
  std::mt19937 rng(57);
  model::DynamicsData data(hand);
  Eigen::VectorXd tau(hand.nv());
  Eigen::MatrixXd M(hand.nv(), hand.nv());
  std::vector<State> states;
  for (int i = 0; i < kStates; ++i) {
    State s{handhold::testing::RandomConfiguration(rng, hand),
            handhold::testing::RandomVelocity(rng, hand, 5.0),
            handhold::testing::RandomVelocity(rng, hand, 50.0),
            {}};
    peer->SetState(s.q, s.v, s.a, kGravity);
    s.peer = peer->RawState();
    model::InverseDynamics(hand, s.q, s.v, s.a, kGravity, &data, tau);
    model::MassMatrix(hand, s.q, &data, M);
    const Eigen::VectorXd tau_peer = peer->InverseDynamics();
    const Eigen::MatrixXd M_peer = peer->MassMatrix();
    if (!((tau - tau_peer).cwiseAbs().maxCoeff() <= 1e-9 * tau_peer.cwiseAbs().maxCoeff()) ||
        !((M - M_peer).cwiseAbs().maxCoeff() <= 1e-9 * M_peer.cwiseAbs().maxCoeff())) {
      throw std::runtime_error("MuJoCo and we disagree: nothing to time");
    }
    states.push_back(std::move(s));
  }
  return states;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    const Skeleton hand = handhold::testing::MovingHand57();
    handhold::testing::MujocoTree peer(hand);
    const std::vector<State> states = MakeStates(hand, &peer);
    model::DynamicsData data(hand);
    Eigen::VectorXd tau(hand.nv());
    Eigen::MatrixXd M(hand.nv(), hand.nv());
    constexpr int kRounds = 20;
    const auto per_call = [&](auto&& call) {
      return 1e6 / (kRounds * kStates) * Seconds([&] {
               for (int round = 0; round < kRounds; ++round) {
                 for (const State& s : states) call(s);
               }
             });
    };
    const auto report = [&](const char* mark, auto&& ours, auto&& theirs) {
      if (!reporter.wants(mark)) return;
      const auto [own, other] =
          RepeatBoth(15, [&] { return per_call(ours); }, [&] { return per_call(theirs); });
      reporter.Report(mark, {.value = own,
                             .unit = "us/call",
                             .peer = "MuJoCo 4.0.0",
                             .peer_value = other,
                             .goal = Goal::RatioAtLeast(0.7)});
    };
    report(
        "model.inverse_dynamics",
        [&](const State& s) { model::InverseDynamics(hand, s.q, s.v, s.a, kGravity, &data, tau); },
        [&](const State& s) {
          peer.SetRawState(s.peer);
          peer.RunInverseDynamics();
        });
    report(
        "model.mass_matrix", [&](const State& s) { model::MassMatrix(hand, s.q, &data, M); },
        [&](const State& s) {
          peer.SetRawState(s.peer);
          peer.RunMassMatrix();
        });
  });
}

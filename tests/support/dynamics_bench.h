/// What benches of the dynamics share: states of hand57 on which a peer and we agree, and the two
/// marks timed over them, alternately, one thread. The peers are programs of their own
/// (tests/bench/dynamics_bench.cc, pinocchio_bench.cc).
#pragma once

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "database/model/dynamics.h"
#include "tests/support/bench.h"
#include "tests/support/moving_hand.h"
#include "tests/support/random_skeleton.h"

namespace handhold::bench {

inline const Eigen::Vector3d kBenchGravity(0, 0, -9.81);

/// A random state; `peer` is the same one as the peer keeps it.
template <typename PeerState>
struct DynamicsState {
  Eigen::VectorXd q, v, a;
  PeerState peer;
};

struct DynamicsAnswer {
  Eigen::VectorXd tau;
  Eigen::MatrixXd M;  ///< whole
};

/// 512 states. `ask_peer(state)` fills state.peer and answers what the peer computes; throws where
/// it and we differ by more than 1e-9 of the largest entry: then there is nothing to time.
template <typename PeerState, typename AskPeer>
std::vector<DynamicsState<PeerState>> AgreedStates(const model::Skeleton& hand,
                                                   const AskPeer& ask_peer) {
  const auto agree = [](const Eigen::MatrixXd& ours, const Eigen::MatrixXd& theirs) {
    return (ours - theirs).cwiseAbs().maxCoeff() <= 1e-9 * theirs.cwiseAbs().maxCoeff();
  };
  std::mt19937 rng(57);
  model::DynamicsData data(hand);
  DynamicsAnswer own{Eigen::VectorXd(hand.nv()), Eigen::MatrixXd(hand.nv(), hand.nv())};
  std::vector<DynamicsState<PeerState>> states;
  for (int i = 0; i < 512; ++i) {
    DynamicsState<PeerState> s{testing::RandomConfiguration(rng, hand),
                               testing::RandomVelocity(rng, hand, 5.0),
                               testing::RandomVelocity(rng, hand, 50.0),
                               {}};
    const DynamicsAnswer other = ask_peer(&s);
    model::InverseDynamics(hand, s.q, s.v, s.a, kBenchGravity, &data, own.tau);
    model::MassMatrix(hand, s.q, &data, own.M);
    if (!agree(own.tau, other.tau) || !agree(own.M, other.M))
      throw std::runtime_error("the peer and we disagree: nothing to time");
    states.push_back(std::move(s));
  }
  return states;
}

/// Reports "model.inverse_dynamics" and "model.mass_matrix", each with `suffix`, against the peer's
/// two calls.
template <typename PeerState, typename PeerInverseDynamics, typename PeerMassMatrix>
void ReportDynamics(Reporter& reporter, const model::Skeleton& hand,
                    const std::vector<DynamicsState<PeerState>>& states, const std::string& suffix,
                    const std::string& peer, const Goal& goal,
                    const PeerInverseDynamics& peer_inverse_dynamics,
                    const PeerMassMatrix& peer_mass_matrix) {
  using State = DynamicsState<PeerState>;
  model::DynamicsData data(hand);
  Eigen::VectorXd tau(hand.nv());
  Eigen::MatrixXd M(hand.nv(), hand.nv());
  constexpr int kRounds = 20;
  const auto per_call = [&](auto&& call) {
    return 1e6 / (kRounds * static_cast<double>(states.size())) * Seconds([&] {
             for (int round = 0; round < kRounds; ++round) {
               for (const State& s : states) call(s);
             }
           });
  };
  const auto report = [&](const std::string& mark, auto&& ours, auto&& theirs) {
    if (!reporter.wants(mark)) return;
    const auto [own, other] =
        RepeatBoth(15, [&] { return per_call(ours); }, [&] { return per_call(theirs); });
    reporter.Report(
        mark, {.value = own, .unit = "us/call", .peer = peer, .peer_value = other, .goal = goal});
  };
  report(
      "model.inverse_dynamics" + suffix,
      [&](const State& s) {
        model::InverseDynamics(hand, s.q, s.v, s.a, kBenchGravity, &data, tau);
      },
      peer_inverse_dynamics);
  report(
      "model.mass_matrix" + suffix, [&](const State& s) { model::MassMatrix(hand, s.q, &data, M); },
      peer_mass_matrix);
}

}  // namespace handhold::bench

// Inverse dynamics and mass matrix of hand57 against Pinocchio 4, as dynamics_bench.cc does against
// MuJoCo. A program of its own: PyPI's libpinocchio is built for 16-byte alignment and falls over
// in a program with AVX flags. Reported only; the goal is held against MuJoCo.
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>

#include <random>
#include <stdexcept>
#include <vector>

#include "database/model/dynamics.h"
#include "tests/support/bench.h"
#include "tests/support/moving_hand.h"
#include "tests/support/random_skeleton.h"

namespace {

namespace model = handhold::model;
using model::Skeleton;

pinocchio::SE3 Placement(const handhold::geometry::RigidTransform& X) { return {X.R, X.p}; }

/// A tree of ball joints. Bodies of Pinocchio start at their joint, as ours do after X_JcB.
pinocchio::Model PinocchioModel(const Skeleton& hand) {
  pinocchio::Model out;
  out.gravity.linear(Eigen::Vector3d(0, 0, -9.81));
  std::vector<pinocchio::JointIndex> joint_of(static_cast<size_t>(hand.body_count()), 0);
  for (int b = 1; b < hand.body_count(); ++b) {
    const model::Body& body = hand.body(b);
    if (body.joint.type != model::JointType::kBall) throw std::runtime_error("ball joints only");
    const auto parent = static_cast<size_t>(body.parent);
    const pinocchio::SE3 X_PJp =
        Placement(body.parent == 0 ? body.joint.X_PJp : hand.X_JcB(body.parent) * body.joint.X_PJp);
    const auto joint =
        out.addJoint(joint_of[parent], pinocchio::JointModelSpherical(), X_PJp, body.name);
    out.appendBodyToJoint(
        joint, pinocchio::Inertia(body.mass.mass_kg, body.mass.p_BCom, body.mass.I_BCom_B),
        Placement(hand.X_JcB(b)));
    joint_of[static_cast<size_t>(b)] = joint;
  }
  return out;
}

struct State {
  Eigen::VectorXd q, v, a;
  Eigen::VectorXd q_peer;  // quaternions as Pinocchio orders them: x, y, z, w
};

constexpr int kStates = 512;
const Eigen::Vector3d kGravity(0, 0, -9.81);

bool Agree(const Eigen::MatrixXd& ours, const Eigen::MatrixXd& theirs) {
  return (ours - theirs).cwiseAbs().maxCoeff() <= 1e-9 * theirs.cwiseAbs().maxCoeff();
}

std::vector<State> MakeStates(const Skeleton& hand, const pinocchio::Model& peer) {
  std::mt19937 rng(57);
  model::DynamicsData data(hand);
  pinocchio::Data peer_data(peer);
  Eigen::VectorXd tau(hand.nv());
  Eigen::MatrixXd M(hand.nv(), hand.nv());
  std::vector<State> states;
  for (int i = 0; i < kStates; ++i) {
    State s{handhold::testing::RandomConfiguration(rng, hand),
            handhold::testing::RandomVelocity(rng, hand, 5.0),
            handhold::testing::RandomVelocity(rng, hand, 50.0),
            {}};
    s.q_peer = s.q;
    for (int k = 0; k < s.q.size(); k += 4) {
      s.q_peer.segment<4>(k) << s.q[k + 1], s.q[k + 2], s.q[k + 3], s.q[k];
    }
    model::InverseDynamics(hand, s.q, s.v, s.a, kGravity, &data, tau);
    model::MassMatrix(hand, s.q, &data, M);
    pinocchio::rnea(peer, peer_data, s.q_peer, s.v, s.a);
    pinocchio::crba(peer, peer_data, s.q_peer);
    const Eigen::MatrixXd upper = peer_data.M.triangularView<Eigen::Upper>();
    const Eigen::MatrixXd whole = upper.selfadjointView<Eigen::Upper>();
    if (!Agree(tau, peer_data.tau) || !Agree(M, whole)) {
      throw std::runtime_error("Pinocchio and we disagree: nothing to time");
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
    const pinocchio::Model peer = PinocchioModel(hand);
    const std::vector<State> states = MakeStates(hand, peer);
    model::DynamicsData data(hand);
    pinocchio::Data peer_data(peer);
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
                             .peer = "Pinocchio 4.1.0",
                             .peer_value = other,
                             .goal = Goal::None()});
    };
    report(
        "model.inverse_dynamics.pinocchio",
        [&](const State& s) { model::InverseDynamics(hand, s.q, s.v, s.a, kGravity, &data, tau); },
        [&](const State& s) { pinocchio::rnea(peer, peer_data, s.q_peer, s.v, s.a); });
    // Pinocchio fills the upper triangle, we the whole matrix; each is timed as its users get it.
    report(
        "model.mass_matrix.pinocchio",
        [&](const State& s) { model::MassMatrix(hand, s.q, &data, M); },
        [&](const State& s) { pinocchio::crba(peer, peer_data, s.q_peer); });
  });
}

// Inverse dynamics and mass matrix of hand57 against Pinocchio 4, as dynamics_bench.cc does against
// MuJoCo. A program of its own: PyPI's libpinocchio is built for 16-byte alignment and falls over
// in a program with AVX flags. Reported only; the goal is held against MuJoCo.
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>

#include <stdexcept>
#include <vector>

#include "tests/support/dynamics_bench.h"

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

}  // namespace

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    const Skeleton hand = handhold::testing::MovingHand57();
    const pinocchio::Model peer = PinocchioModel(hand);
    pinocchio::Data data(peer);
    // The peer's state: q with quaternions as Pinocchio orders them, x, y, z, w.
    using State = DynamicsState<Eigen::VectorXd>;
    const auto states = AgreedStates<Eigen::VectorXd>(hand, [&](State* s) {
      s->peer = s->q;
      for (int k = 0; k < s->q.size(); k += 4)
        s->peer.segment<4>(k) << s->q[k + 1], s->q[k + 2], s->q[k + 3], s->q[k];
      pinocchio::rnea(peer, data, s->peer, s->v, s->a);
      pinocchio::crba(peer, data, s->peer);
      const Eigen::MatrixXd upper = data.M.triangularView<Eigen::Upper>();
      return DynamicsAnswer{data.tau, upper.selfadjointView<Eigen::Upper>()};
    });
    // Pinocchio fills the upper triangle, we the whole matrix; each is timed as its users get it.
    ReportDynamics(
        reporter, hand, states, ".pinocchio", "Pinocchio 4.1.0", Goal::None(),
        [&](const State& s) { pinocchio::rnea(peer, data, s.peer, s.v, s.a); },
        [&](const State& s) { pinocchio::crba(peer, data, s.peer); });
  });
}

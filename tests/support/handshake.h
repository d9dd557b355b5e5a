/// Two right hands, one smaller, in a handshake with planted setpoints (Table 1's row of Pollard &
/// Zordan 2005): postures and place were found by a random search of 2400 tries over ten numbers.
#pragma once

#include <memory>
#include <string>

#include "tests/support/grasping_hand.h"

namespace handhold::testing {

struct Handshake {
  model::Skeleton large = model::LoadHand("hand57").value(),
                  small = model::ScaledUniformly(large, 0.85).value();
  artefact::SetpointSet of_large = Setpoints(large), of_small = Setpoints(small);
  std::unique_ptr<synthesis::HandWorld> world;
  std::unique_ptr<synthesis::GraspController> first, second;
  geometry::RigidTransform X_WFirst, X_WSecond;  ///< palms at the start

  explicit Handshake(const synthesis::ControllerOptions& options, bool quick = true) {
    using geometry::Vec3;
    world = synthesis::HandWorld::Create(
                {.stepper = quick ? synthesis::Stepper::kQuick : synthesis::Stepper::kExact,
                 .skin_friction = 0.6})
                .value();
    CHECK_EQ(world->AddHand(large).value(), 0);
    CHECK_EQ(world->AddHand(small).value(), 1);
    // Thumbs up, palms towards each other.
    geometry::RigidTransform a, b;
    a.R.col(0) = Vec3(1, 0, 0), a.R.col(1) = Vec3(0, 0, 1), a.R.col(2) = Vec3(0, -1, 0);
    b.R.col(0) = Vec3(-1, 0, 0), b.R.col(1) = Vec3(0, 0, 1), b.R.col(2) = Vec3(0, 1, 0);
    a.R = geometry::AxisAngle<double>(Vec3::UnitY(), 0.29) * a.R;
    b.R = geometry::AxisAngle<double>(Vec3::UnitY(), -0.29) * b.R;
    b.p = Vec3(0.115, 0.045, 0.001);
    CHECK(world->SetHand(0, world->Placed(0, of_large.setpoints[1].q, a)));
    CHECK(world->SetHand(1, world->Placed(1, of_small.setpoints[1].q, b)));
    X_WFirst = world->X_WPalm(0), X_WSecond = world->X_WPalm(1);
    const auto control = [&](int hand, const model::Skeleton& s, const artefact::SetpointSet& set) {
      return std::make_unique<synthesis::GraspController>(
          synthesis::GraspController::Create(world.get(), hand, s, set, options).value());
    };
    first = control(0, large, of_large), second = control(1, small, of_small);
  }

  static artefact::SetpointSet Setpoints(const model::Skeleton& hand) {
    const auto pose = [&](double fingers, double thumb) {
      Eigen::VectorXd v = Eigen::VectorXd::Zero(hand.nv());
      const auto add = [&](const std::string& dof, double angle) {
        v[hand.FindDof("R." + dof)] += angle;
      };
      for (const std::string finger : {"index", "middle", "ring", "little"}) {
        add(finger + ".mcp.flex", fingers * 1.16);
        add(finger + ".pip.flex", fingers * 0.41);
        add(finger + ".dip.flex", fingers * 0.205);
      }
      add("thumb.cmc.abd", 0.29), add("thumb.cmc.rot", -0.17);
      add("thumb.cmc.flex", 0.16 + 0.36 * thumb);
      add("thumb.mcp.flex", 0.6 * thumb), add("thumb.ip.flex", 0.5 * thumb);
      return synthesis::ClampedToLimits(hand, hand.Integrate(hand.ZeroConfiguration(), v));
    };
    artefact::SetpointSet set;
    set.skeleton_name = hand.name();
    set.dof_names = hand.dof_names();
    set.stiffness_per_s2 = 300, set.damping_per_s = 60;  // Table 1, handshake
    set.approach_m = 0.09, set.begin_m = 0.2, set.alpha = 0.5;
    set.q_neutral = pose(0.3, 0.2);
    const Eigen::VectorXd open = pose(0.1, 0.0);
    set.setpoints = {{"neutral", set.q_neutral, {}}, {"open", open, {}},
                     {"close", pose(1, 1), {}},      {"release", open, {}},
                     {"relax", set.q_neutral, {}},   {"neutral again", set.q_neutral, {}}};
    return set;
  }

  Status Step(double h_s) {
    const synthesis::Blend grip = GraspingHand::Gripping(0.5);
    HANDHOLD_TRY(first->Apply(grip));
    HANDHOLD_TRY(second->Apply(grip));
    return world->Step(h_s);
  }
  /// Contacts of the first hand with the second, and the sum of their normal forces.
  std::pair<int, double> Touch() const {
    std::pair<int, double> out{0, 0.0};
    for (const synthesis::HandContact& c : world->Contacts()) {
      if (c.hand == 0 && c.other_hand == 1) ++out.first, out.second += c.f_onHand_W.dot(c.normal_W);
    }
    return out;
  }
};

}  // namespace handhold::testing

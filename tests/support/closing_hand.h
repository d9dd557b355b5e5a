/// A HandWorld with one hand, palm down along +X, and a free cylinder under its fingers: what tests
/// and marks of grasp control close and hold.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "database/base/check.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "synthesis/grasp_control/hand_world.h"
#include "synthesis/grasp_control/posture.h"

namespace handhold::testing {

/// Along Y of P, its middle at P.
inline model::Prop CylinderProp(double diameter_m, double length_m, double mass_kg,
                                double friction) {
  model::Prop prop;
  prop.name = "cylinder";
  prop.friction = friction;
  prop.source = "test";
  const geometry::RigidTransform X_PS{
      geometry::AxisAngle<double>(geometry::Vec3::UnitX(), M_PI / 2), geometry::Vec3::Zero()};
  const geometry::Cylinder shape{diameter_m / 2, length_m};
  prop.shapes.push_back({"cylinder", X_PS, shape, ""});
  prop.mass = geometry::WithTotalMass(
      geometry::Transformed(X_PS, geometry::MassOf(shape, 1000.0).value()), mass_kg);
  return prop;
}

/// Share of the flexion of every finger, of hands named as ours: q as loaded.
inline Eigen::VectorXd Flexed(const model::Skeleton& hand, double share) {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(hand.nv());
  const auto flex = [&](const std::string& dof, double angle) {
    const int k = hand.FindDof(dof);
    if (k >= 0) v[k] += share * angle;
  };
  for (const std::string finger : {"index", "middle", "ring", "little"}) {
    for (const std::string side : {"R.", "L."}) {
      flex(side + finger + ".mcp.flex", 1.3);
      flex(side + finger + ".pip.flex", 1.3);
      flex(side + finger + ".dip.flex", 0.9);
    }
  }
  for (const std::string side : {"R.", "L."}) {
    flex(side + "thumb.cmc.flex", 0.4);
    flex(side + "thumb.mcp.flex", 0.9);
    flex(side + "thumb.ip.flex", 0.9);
  }
  return hand.Integrate(hand.ZeroConfiguration(), v);
}

struct ClosingHand {
  std::unique_ptr<synthesis::HandWorld> world;
  Eigen::VectorXd q_closed;
  synthesis::PullGains gains;

  explicit ClosingHand(const std::string& hand, const synthesis::HandWorldOptions& options = {},
                       const geometry::RigidTransform& X_WP = geometry::RigidTransform::Translation(
                           geometry::Vec3(0.095, -0.01, -0.042)),
                       double diameter_m = 0.04) {
    world = synthesis::HandWorld::Create(options).value();
    const model::Skeleton skeleton = model::LoadHand(hand).value();
    CHECK_EQ(world->AddHand(skeleton).value(), 0);
    CHECK_EQ(world
                 ->AddProp(artefact::Placed(CylinderProp(diameter_m, 0.14, 0.1, 0.6), X_WP,
                                            artefact::StageThing::Is::kFree))
                 .value(),
             0);
    q_closed = world->Placed(0, Flexed(skeleton, 1.0), {});
  }
  Status Run(double seconds, double h_s = 2e-3) {
    for (double t = 0; t < seconds - 0.5 * h_s; t += h_s) {
      HANDHOLD_TRY(world->Pull(0, q_closed, {}, gains));
      HANDHOLD_TRY(world->Step(h_s));
    }
    return {};
  }
  /// Closes with the prop held (most of the time), lets it go and settles.
  Status Close(double seconds, bool hold = true) {
    if (hold) HANDHOLD_TRY(world->HoldProp(0, true));
    HANDHOLD_TRY(Run(0.6 * seconds));
    if (hold) HANDHOLD_TRY(world->HoldProp(0, false));
    return Run(0.4 * seconds);
  }
};

}  // namespace handhold::testing

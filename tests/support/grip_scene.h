/// hand57 with implicit ball drives closing on a free capsule, in a World: what tests and marks of
/// whole hands run. No gravity; the palm is fixed, palm down along +X.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "database/base/check.h"
#include "database/model/dynamics.h"
#include "database/model/hand_library.h"
#include "synthesis/world/skeleton_in_world.h"
#include "synthesis/world/world.h"

namespace handhold::testing {

struct GripOptions {
  synthesis::Stepper stepper = synthesis::Stepper::kExact;
  int quick_iterations = 50;
  bool object = true;
  bool limits = false;
  double closing = 1.0;  ///< share of the flexion that the drives pull to
};

/// What a grip is made of, apart from any engine.
struct GripPlan {
  model::Skeleton hand = model::LoadHand("hand57").value();
  Eigen::VectorXd q_target;
  /// Per joint (by body), the same for its three axes: N m/rad and N m s/rad.
  std::vector<double> stiffness, damping;
  // Capsule along Y.
  double object_radius_m = 0.02, object_length_m = 0.10, object_mass_kg = 0.1, friction = 0.6;
  geometry::Vec3 p_WObject = {0.095, -0.01, -0.042};

  explicit GripPlan(double closing = 1.0) : q_target(hand.ZeroConfiguration()) {
    model::DynamicsData data(hand);
    Eigen::VectorXd v = Eigen::VectorXd::Zero(hand.nv());
    const auto flex = [&](const std::string& dof, double angle) {
      const int k = hand.FindDof(dof);
      CHECK_GE(k, 0);
      v[k] = closing * angle;
    };
    for (const std::string finger : {"index", "middle", "ring", "little"}) {
      flex("R." + finger + ".mcp.flex", 1.3);
      flex("R." + finger + ".pip.flex", 1.3);
      flex("R." + finger + ".dip.flex", 0.9);
    }
    flex("R.thumb.cmc.flex", 0.4);
    flex("R.thumb.mcp.flex", 0.9);
    flex("R.thumb.ip.flex", 0.9);
    stiffness.assign(static_cast<size_t>(hand.body_count()), 0.0);
    damping = stiffness;
    // Inertia outboard of the joint, about it, at rest: the mean of its three axes; gains ten times
    // those of Pollard & Zordan's table 1, with a floor for the fingertips.
    for (int b = 1; b < hand.body_count(); ++b) {
      if (hand.body(b).joint.type != model::JointType::kBall) continue;
      const geometry::MassProperties m = model::OutboardMass(hand, q_target, b, &data);
      model::KinematicsData kinematics(hand);
      model::ComputePoses(hand, q_target, &kinematics);
      const geometry::Vec3 r = m.p_BCom - kinematics.X_WB[static_cast<size_t>(b)].p;
      const double inertia = (m.I_BCom_B.trace() + 2 * m.mass_kg * r.squaredNorm()) / 3 + 1e-5;
      stiffness[static_cast<size_t>(b)] = 4000 * inertia;
      damping[static_cast<size_t>(b)] = 316 * inertia;
    }
    q_target = hand.Integrate(q_target, v);
  }
};

struct GripScene {
  GripPlan plan;
  std::unique_ptr<synthesis::World> world;
  std::unique_ptr<synthesis::SkeletonInWorld> hand;
  int object = -1;
  Eigen::VectorXd stiffness, damping, rest;

  explicit GripScene(const GripOptions& options = {})
      : GripScene(options, GripPlan(options.closing)) {}
  GripScene(const GripOptions& options, const GripPlan& given) : plan(given) {
    using namespace synthesis;
    world = std::move(World::Create({.gravity_W = geometry::Vec3::Zero(),
                                     .stepper = options.stepper,
                                     .quick_iterations = options.quick_iterations}))
                .value();
    hand = std::make_unique<SkeletonInWorld>(
        SkeletonInWorld::Add(plan.hand, world.get(), {.mask = ColliderMask::Hand(0, true)})
            .value());
    if (options.limits) CHECK(hand->SetLimits());
    if (options.object) {
      const geometry::Capsule shape{plan.object_radius_m, plan.object_length_m};
      const geometry::RigidTransform X_BS{
          geometry::AxisAngle<double>(geometry::Vec3::UnitX(), M_PI / 2), geometry::Vec3::Zero()};
      geometry::MassProperties mass = geometry::MassOf(shape, 1000.0).value();
      mass = geometry::WithTotalMass(geometry::Transformed(X_BS, mass), plan.object_mass_kg);
      object = world->AddBody("object", mass, geometry::RigidTransform::Translation(plan.p_WObject))
                   .value();
      world
          ->AddCollider({.name = "object",
                         .body = object,
                         .X_BS = X_BS,
                         .shape = shape,
                         .law = ContactLaw{5000, 5, plan.friction}})
          .value();
    }
    stiffness = damping = rest = Eigen::VectorXd::Zero(plan.hand.nv());
    for (int b = 1; b < plan.hand.body_count(); ++b) {
      if (plan.hand.body(b).joint.type != model::JointType::kBall) continue;
      stiffness.segment<3>(plan.hand.v_index(b))
          .setConstant(plan.stiffness[static_cast<size_t>(b)]);
      damping.segment<3>(plan.hand.v_index(b)).setConstant(plan.damping[static_cast<size_t>(b)]);
    }
  }

  /// One implicit step towards the closed hand.
  Status Step(double h_s) {
    HANDHOLD_TRY(hand->SetDrives(plan.q_target, rest, stiffness, damping));
    return world->Step(h_s);
  }
  /// Contacts of the last step: with the object, and of the hand with itself.
  std::pair<int, int> Contacts() const {
    int with_object = 0;
    for (const auto& c : world->contacts())
      with_object += object >= 0 && (c.body_a == object || c.body_b == object);
    return {with_object, static_cast<int>(world->contacts().size()) - with_object};
  }
};

}  // namespace handhold::testing

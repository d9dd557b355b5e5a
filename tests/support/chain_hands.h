/// Small hands for tests of contact: chains of hinges along X that bend downwards, with a round
/// tip.
#pragma once

#include <string>
#include <vector>

#include "database/geometry/inertia.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::testing {

/// A chain of hinges about +Y (positive: the tip goes down), segments along X of the given lengths;
/// the last one ends in a sphere of radius `tip_radius_m` centred on its end. The base stands at
/// `p_WBase`.
inline model::Skeleton ChainHand(const std::vector<double>& lengths_m, double tip_radius_m,
                                 const geometry::Vec3& p_WBase = geometry::Vec3::Zero()) {
  model::SkeletonDraft draft;
  draft.name = "chain";
  draft.side = "right";
  draft.source = "test";
  for (size_t i = 0; i < lengths_m.size(); ++i) {
    model::Body body;
    body.name = "segment" + std::to_string(i);
    body.parent = static_cast<int>(i);
    body.joint.type = model::JointType::kHinge;
    body.joint.name = "joint" + std::to_string(i);
    body.joint.dof_names = {"flex"};
    body.joint.axes[0] = geometry::Vec3::UnitY();
    body.joint.X_PJp = geometry::RigidTransform::Translation(
        i == 0 ? p_WBase : geometry::Vec3(lengths_m[i - 1], 0, 0));
    body.mass.mass_kg = 0.01;
    body.mass.p_BCom = geometry::Vec3(lengths_m[i] / 2, 0, 0);
    body.mass.I_BCom_B = 1e-6 * geometry::Mat3::Identity();
    if (i + 1 == lengths_m.size()) {
      model::BodyShape tip;
      tip.name = "tip";
      tip.X_BS = geometry::RigidTransform::Translation(geometry::Vec3(lengths_m[i], 0, 0));
      tip.shape = geometry::Sphere{tip_radius_m};
      body.shapes.push_back(tip);
    }
    draft.bodies.push_back(body);
  }
  return model::Skeleton::Build(draft).value();
}

/// A plate of 0.4 x 0.4 m whose top is the plane z = 0 of the prop.
inline model::Prop Plate(double friction, double surface_compliance_m_per_N) {
  model::Prop prop;
  prop.name = "plate";
  prop.friction = friction;
  prop.surface_compliance_m_per_N = surface_compliance_m_per_N;
  model::PropShape shape;
  shape.name = "plate";
  shape.shape = geometry::Box{geometry::Vec3(0.4, 0.4, 0.02)};
  shape.X_PS = geometry::RigidTransform::Translation(geometry::Vec3(0, 0, -0.01));
  prop.shapes.push_back(shape);
  return prop;
}

}  // namespace handhold::testing

/// A skeleton at rest as bones with flesh, and which of them are palm, metacarpals and fingers.
///
/// Bodies without shapes (the second axis of a joint) are no bones: their children belong to the
/// next bone inward. A hand is known by the names of our own hands: a body "palm" and at least two
/// bodies "*.prx" outward of it. Anything else is a plain tree.
#pragma once

#include <string>
#include <vector>

#include "database/geometry/shape.h"
#include "database/model/skeleton.h"

namespace handhold::skin::internal {

/// A solid at rest, in the root's frame R.
struct Flesh {
  geometry::Shape shape;
  geometry::RigidTransform X_RS;
  geometry::RigidTransform X_SR;
};

Flesh Round(const geometry::Vec3& a_R, const geometry::Vec3& b_R, double radius_m);

/// Metres outside the solid, negative inside, and the gradient: a unit vector.
struct Distance {
  double d = 0;
  geometry::Vec3 gradient = geometry::Vec3::UnitZ();
};
Distance DistanceTo(const Flesh& flesh, const geometry::Vec3& p_R);

struct Bone {
  enum class Part { kOther, kPalm, kMetacarpal, kThumbMetacarpal, kPhalanx };
  int body = 0;
  int inner = -1;  ///< the bone it bends in; -1: none
  Part part = Part::kOther;
  int digit = -1;                                   ///< of a phalanx: which
  geometry::Vec3 joint_R = geometry::Vec3::Zero();  ///< where it bends
  geometry::Vec3 axis_R = geometry::Vec3::UnitX();  ///< unit, along the bone
  double radius_m = 0;               ///< of its first shape; a quarter of its box where it has none
  std::vector<Flesh> shapes = {};    ///< its contact shapes
  std::vector<Flesh> fillings = {};  ///< flesh where there is no contact shape
};

struct Anatomy {
  std::vector<Bone> bones;  ///< inner before outer
  int palm = -1;            ///< a bone; -1: no hand that we know
  bool wrist_ends = false;  ///< nothing inward of the palm
  /// Bones of each digit from the knuckle on, neighbours beside each other; the thumb first.
  std::vector<std::vector<int>> digits;
  bool has_thumb = false;
  double scale = 1.0;  ///< of thickness: hand27 has 1
  Eigen::VectorXd q_rest;
  std::vector<geometry::RigidTransform> X_RB;  ///< bodies at rest; [0] is the world
};

/// `skeleton` is a right hand, or of no side.
Anatomy Dissect(const model::Skeleton& skeleton);

}  // namespace handhold::skin::internal

/// Nails: rounded patches on the back of the last bones of a hand's digits.
#pragma once

#include "database/geometry/mesh.h"
#include "database/skin/internal/anatomy.h"

namespace handhold::skin::internal {

struct Nail {
  int bone = 0;  ///< it is rigid to this one
  geometry::Mesh mesh = {};
  std::vector<geometry::Vec3> normals = {};
};

/// One per digit whose last shape is a capsule or a sphere; none where there is no hand.
std::vector<Nail> NailsOf(const Anatomy& anatomy);

}  // namespace handhold::skin::internal

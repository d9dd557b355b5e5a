/// The zero surface of a field as triangles.
#pragma once

#include "database/geometry/mesh.h"
#include "database/skin/internal/field.h"

namespace handhold::skin::internal {

/// Marching tetrahedra on a cubic grid of `step_m`, each cube cut into six along its diagonal:
/// always closed, every edge with two triangles; four times as many as wanted, to be collapsed.
geometry::Mesh March(const Field& field, double step_m);

/// Spreads the vertices evenly over the surface, `rounds` times.
void Relax(const Field& field, int rounds, geometry::Mesh* mesh);

/// Moves the vertices onto the surface: `steps` Newton steps along the gradient.
void Settle(const Field& field, int steps, geometry::Mesh* mesh);

}  // namespace handhold::skin::internal

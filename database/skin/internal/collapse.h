/// Fewer triangles for the same surface: edges collapse where it costs least (quadric error metric,
/// Garland & Heckbert 1997).
#pragma once

#include <vector>

#include "database/geometry/mesh.h"

namespace handhold::skin::internal {

/// A closed mesh of at most `triangles` triangles, or of as many as are left when no more edge may
/// collapse: none whose neighbours meet elsewhere, too (the surface would no longer be one), or
/// that turns a triangle over. Ties go to the edge of the lower vertices: same mesh, same bytes.
/// `weight`, one per vertex or none: how much an error counts there. Precondition: every edge has
/// two triangles.
geometry::Mesh Collapse(const geometry::Mesh& mesh, int triangles,
                        const std::vector<double>& weight = {});

}  // namespace handhold::skin::internal

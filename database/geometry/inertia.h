/// Mass, centre of mass and inertia: of shapes, of bodies made of several, moved and scaled.
///
/// Inertia is always about the centre of mass and in the axes of the frame named; it is the matrix
/// I with angular momentum h = I * omega, so products of inertia carry the minus sign: I_xy =
/// -integral of x y dm. Pinned by tests/database/geometry/inertia_test.cc.
#pragma once

#include <span>

#include "database/base/result.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"

namespace handhold::geometry {

/// Mass properties of a body B in its frame. All zero by default: a massless body.
struct MassProperties {
  double mass_kg = 0;
  Vec3 p_BCom = Vec3::Zero();    ///< centre of mass, metres
  Mat3 I_BCom_B = Mat3::Zero();  ///< about the centre of mass, in the axes of B, kg m^2
};

/// Finite, mass > 0, inertia symmetric, positive definite and physical (no principal moment exceeds
/// the sum of the other two, none is below 1e-12 of the largest); kInvalid says which of these
/// fails. A point mass and an infinitely thin rod fail, and are told so: nothing can be simulated
/// with them.
Status CheckMass(const MassProperties& m);

/// The same body described in frame A, given its pose X_AB.
MassProperties Transformed(const RigidTransform& X_AB, const MassProperties& m_B);

/// Several bodies fixed together, all described in the same frame. Parts of negative mass (holes)
/// are allowed as long as the total is positive; the sum of massless parts is massless.
MassProperties Composed(std::span<const MassProperties> parts);

/// The same body with all lengths times `factor` at the same density: mass grows with factor^3,
/// inertia with factor^5.
MassProperties ScaledLengths(const MassProperties& m, double factor);

/// The same body with its mass replaced, inertia in proportion. Precondition: m.mass_kg > 0.
MassProperties WithTotalMass(MassProperties m, double mass_kg);

/// M of Kry & Pai eq. 3, w = M dphi/dt - [phi]^T M phi: the 6x6 inertia about the origin of B, rows
/// (torque, force), columns (angular, linear), as twists and wrenches are ordered in transform.h.
Mat6 SpatialInertia(const MassProperties& m);

/// What to do with a mesh whose volume is not defined (open, or faces that disagree).
enum class OpenMesh {
  kRefuse,   ///< error kInvalid with the mesh report: the default
  kUseHull,  ///< take the convex hull's volume; the caller decided so by name
};

/// Volume times `density_kg_m3` of a solid shape in its frame S. Meshes by volume integrals over
/// their closed surface.
Result<MassProperties> MassOf(const Shape& shape, double density_kg_m3,
                              OpenMesh open = OpenMesh::kRefuse);

}  // namespace handhold::geometry

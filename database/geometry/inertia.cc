#include "database/geometry/inertia.h"

#include <Eigen/Eigenvalues>

#include <cmath>
#include <string>

#include "database/base/check.h"
#include "database/base/units.h"

namespace handhold::geometry {
namespace {

/// m (|r|^2 1 - r r^T): what a point mass at r adds to the inertia about the origin.
Mat3 PointInertia(double mass_kg, const Vec3& r) {
  return mass_kg * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
}

MassProperties Centred(double mass_kg, const Vec3& moments) {
  return {mass_kg, Vec3::Zero(), moments.asDiagonal()};
}

MassProperties MassOf(const Sphere& s, double density) {
  const double m = density * 4.0 / 3.0 * kPi * std::pow(s.radius_m, 3);
  return Centred(m, Vec3::Constant(0.4 * m * s.radius_m * s.radius_m));
}

MassProperties MassOf(const Box& s, double density) {
  const double m = density * s.size_m.prod();
  const Vec3 sq = s.size_m.cwiseAbs2();
  return Centred(m, m / 12.0 * Vec3(sq.y() + sq.z(), sq.z() + sq.x(), sq.x() + sq.y()));
}

MassProperties MassOf(const Cylinder& s, double density) {
  const double r2 = s.radius_m * s.radius_m;
  const double m = density * kPi * r2 * s.length_m;
  const double across = m * (3.0 * r2 + s.length_m * s.length_m) / 12.0;
  return Centred(m, {across, across, 0.5 * m * r2});
}

MassProperties MassOf(const Capsule& s, double density) {
  // A cylinder and two hemispheres; a hemisphere's centre lies 3/8 r from its flat side, and about
  // that flat side's centre its moments are those of half a sphere.
  const double r = s.radius_m, r2 = r * r, l = s.length_m;
  const double m_cylinder = density * kPi * r2 * l;
  const double m_caps = density * 4.0 / 3.0 * kPi * r2 * r;
  const double across =
      m_cylinder * (3.0 * r2 + l * l) / 12.0 + m_caps * (0.4 * r2 + 0.25 * l * l + 0.375 * l * r);
  return Centred(m_cylinder + m_caps, {across, across, 0.5 * m_cylinder * r2 + 0.4 * m_caps * r2});
}

/// Sums signed tetrahedra (origin, a, b, c) over the surface: first volume and centre, then second
/// moments about the centre, so that a mesh far from its origin loses no digits.
Result<MassProperties> MassOfClosed(const Mesh& mesh, double density) {
  const auto each = [&](const Vec3& origin, auto visit) {
    for (const auto& t : mesh.triangles) {
      const Vec3 a = mesh.vertices[t[0]] - origin, b = mesh.vertices[t[1]] - origin,
                 c = mesh.vertices[t[2]] - origin;
      visit(a, b, c, a.dot(b.cross(c)) / 6.0);
    }
  };
  const Bounds bounds = BoundsOf(mesh);
  double volume = 0;
  Vec3 moment = Vec3::Zero();
  each(bounds.centre(), [&](const Vec3& a, const Vec3& b, const Vec3& c, double v) {
    volume += v;
    moment += 0.25 * v * (a + b + c);
  });
  if (!(volume > 1e-12 * std::pow(bounds.diagonal_m(), 3))) {
    return Error{ErrorCode::kInvalid,
                 "the mesh encloses no volume: it is flat, or inside out (turn it over)"};
  }
  const Vec3 com = bounds.centre() + moment / volume;
  Mat3 second = Mat3::Zero();  // integral of x x^T over the volume
  each(com, [&](const Vec3& a, const Vec3& b, const Vec3& c, double v) {
    const Vec3 s = a + b + c;
    second +=
        v / 20.0 * (s * s.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
  });
  return MassProperties{density * volume, com,
                        density * (second.trace() * Mat3::Identity() - second)};
}

Result<MassProperties> MassOf(const ConvexHull& s, double density) {
  return MassOfClosed(s.surface->mesh(), density);
}

Result<MassProperties> MassOfMesh(const TriangleMesh& s, double density, OpenMesh open) {
  const MeshTree& tree = *s.surface;
  if (tree.report().watertight()) return MassOfClosed(tree.mesh(), density);
  if (open == OpenMesh::kRefuse) {
    return Error{ErrorCode::kInvalid,
                 "the mesh has no defined volume (" + tree.report().Summary() +
                     "): repair it, or ask for its convex hull's volume (OpenMesh::kUseHull)"};
  }
  HANDHOLD_ASSIGN(const ConvexHull hull, MakeConvexHull(tree.mesh().vertices));
  return MassOf(hull, density);
}

}  // namespace

Status CheckMass(const MassProperties& m) {
  const auto bad = [](const std::string& what) {
    return Error{ErrorCode::kInvalid, "mass properties: " + what};
  };
  if (!std::isfinite(m.mass_kg) || !m.p_BCom.allFinite() || !m.I_BCom_B.allFinite())
    return bad("a value is not finite");
  if (!(m.mass_kg > 0))
    return bad("mass must be positive, not " + std::to_string(m.mass_kg) + " kg");
  const double scale = m.I_BCom_B.cwiseAbs().maxCoeff();
  if (!((m.I_BCom_B - m.I_BCom_B.transpose()).cwiseAbs().maxCoeff() <= 1e-12 * scale))
    return bad("inertia is not symmetric");
  const Vec3 principal =
      Eigen::SelfAdjointEigenSolver<Mat3>(m.I_BCom_B, Eigen::EigenvaluesOnly).eigenvalues();
  // The moments of a thread 10 um thick and 20 cm long differ by 1e8.
  if (!(principal[1] > 1e-12 * principal[2])) {
    return bad("inertia is not positive definite: a point has none; give the body its size");
  }
  if (!(principal[0] > 1e-12 * principal[2])) {
    return bad(
        "inertia is not positive definite: that of an infinitely thin rod, or less; give it its "
        "thickness (m r^2 / 2 about its length)");
  }
  if (principal[2] > (principal[0] + principal[1]) * (1 + 1e-9)) {
    return bad("no body has this inertia: one principal moment exceeds the sum of the other two");
  }
  return {};
}

MassProperties Transformed(const RigidTransform& X_AB, const MassProperties& m_B) {
  return {m_B.mass_kg, X_AB * m_B.p_BCom, X_AB.R * m_B.I_BCom_B * X_AB.R.transpose()};
}

MassProperties Composed(std::span<const MassProperties> parts) {
  MassProperties total;
  for (const MassProperties& p : parts) {
    total.mass_kg += p.mass_kg;
    total.p_BCom += p.mass_kg * p.p_BCom;
  }
  if (total.mass_kg == 0) return {};
  total.p_BCom /= total.mass_kg;
  for (const MassProperties& p : parts)
    total.I_BCom_B += p.I_BCom_B + PointInertia(p.mass_kg, p.p_BCom - total.p_BCom);
  return total;
}

MassProperties ScaledLengths(const MassProperties& m, double factor) {
  CHECK_GT(factor, 0.0);
  const double f3 = factor * factor * factor;
  return {f3 * m.mass_kg, factor * m.p_BCom, f3 * factor * factor * m.I_BCom_B};
}

MassProperties WithTotalMass(MassProperties m, double mass_kg) {
  CHECK_GT(m.mass_kg, 0.0);
  m.I_BCom_B *= mass_kg / m.mass_kg;
  m.mass_kg = mass_kg;
  return m;
}

Mat6 SpatialInertia(const MassProperties& m) {
  const Mat3 c = Skew<double>(m.p_BCom);
  Mat6 M;
  M.topLeftCorner<3, 3>() = m.I_BCom_B + PointInertia(m.mass_kg, m.p_BCom);
  M.topRightCorner<3, 3>() = m.mass_kg * c;
  M.bottomLeftCorner<3, 3>() = -m.mass_kg * c;
  M.bottomRightCorner<3, 3>() = m.mass_kg * Mat3::Identity();
  return M;
}

Result<MassProperties> MassOf(const Shape& shape, double density_kg_m3, OpenMesh open) {
  HANDHOLD_TRY(CheckShape(shape));
  if (!(std::isfinite(density_kg_m3) && density_kg_m3 > 0)) {
    return Error{ErrorCode::kInvalid,
                 "density must be positive, not " + std::to_string(density_kg_m3) + " kg/m^3"};
  }
  return std::visit(
      [&](const auto& s) -> Result<MassProperties> {
        if constexpr (std::is_same_v<std::decay_t<decltype(s)>, TriangleMesh>) {
          return MassOfMesh(s, density_kg_m3, open);
        } else {
          return MassOf(s, density_kg_m3);
        }
      },
      shape);
}

}  // namespace handhold::geometry

/// Nearest point, winding number and ray hit of a triangle mesh by looking at every triangle, in
/// extended precision: the truth that database/geometry/mesh_tree.h is held against.
///
/// Shares no code and no method with the tree: a triangle's distance is the least over its plane
/// (where the foot is inside by Gram coordinates), its three edges and its corners; inside is told
/// by adding solid angles. Header-only, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "database/geometry/mesh.h"

namespace handhold::support {

/// Wide enough for good triangles; needles need Quad (slow), whose rounding vanishes beside a
/// double's.
using Real = long double;
#if defined(__SIZEOF_FLOAT128__)
using Quad = __float128;
#else
using Quad = long double;
#endif

using Vec = Eigen::Matrix<Real, 3, 1>;

template <typename S>
struct Triple {
  S x, y, z;

  static Triple Of(const geometry::Vec3& v) { return {S(v.x()), S(v.y()), S(v.z())}; }
  Triple operator-(const Triple& o) const { return {x - o.x, y - o.y, z - o.z}; }
  Triple operator*(S s) const { return {x * s, y * s, z * s}; }
  S Dot(const Triple& o) const { return x * o.x + y * o.y + z * o.z; }
  Triple Cross(const Triple& o) const {
    return {y * o.z - z * o.y, z * o.x - x * o.z, x * o.y - y * o.x};
  }
};

/// Squared distance from p to the segment a b.
template <typename S>
S SegmentDistance2(const Triple<S>& p, const Triple<S>& a, const Triple<S>& b) {
  const Triple<S> e = b - a;
  const S length2 = e.Dot(e);
  S best = std::min((p - a).Dot(p - a), (p - b).Dot(p - b));
  if (length2 > 0) {
    const S t = (p - a).Dot(e) / length2;
    if (t > 0 && t < 1) {
      const Triple<S> r = p - a - e * t;
      best = std::min(best, r.Dot(r));
    }
  }
  return best;
}

/// Squared distance from p to the triangle a b c. Every candidate is the distance to a point of it,
/// so never too small.
template <typename S>
S TriangleDistance2(const Triple<S>& p, const Triple<S>& a, const Triple<S>& b,
                    const Triple<S>& c) {
  S best =
      std::min({SegmentDistance2(p, a, b), SegmentDistance2(p, b, c), SegmentDistance2(p, c, a)});
  const Triple<S> u = b - a, v = c - a, n = u.Cross(v);
  const S n2 = n.Dot(n);
  if (n2 > 0) {
    // Barycentric coordinates of the foot as ratios of signed areas.
    const Triple<S> r = p - a;
    const S beta = r.Cross(v).Dot(n) / n2, gamma = u.Cross(r).Dot(n) / n2;
    if (beta >= 0 && gamma >= 0 && beta + gamma <= 1) {
      const Triple<S> d = r - u * beta - v * gamma;
      best = std::min(best, d.Dot(d));
    }
  }
  return best;
}

/// Distance from p to the surface.
template <typename S = Real>
double BruteDistance(const geometry::Mesh& mesh, const geometry::Vec3& p) {
  using T = Triple<S>;
  S best = S(std::numeric_limits<double>::infinity());
  for (const auto& t : mesh.triangles) {
    best =
        std::min(best, TriangleDistance2(T::Of(p), T::Of(mesh.vertices[t[0]]),
                                         T::Of(mesh.vertices[t[1]]), T::Of(mesh.vertices[t[2]])));
  }
  return static_cast<double>(std::sqrt(static_cast<long double>(best)));
}

/// Generalised winding number: solid angles by the angles of spherical triangles (Girard), not by
/// the arctangent the tree uses.
inline double BruteWinding(const geometry::Mesh& mesh, const geometry::Vec3& p) {
  Real sum = 0;
  const Vec q = p.cast<Real>();
  for (const auto& t : mesh.triangles) {
    const Vec a = mesh.vertices[t[0]].cast<Real>() - q, b = mesh.vertices[t[1]].cast<Real>() - q,
              c = mesh.vertices[t[2]].cast<Real>() - q;
    const Real orientation = a.dot(b.cross(c));
    if (orientation == 0) continue;
    const auto dihedral = [](const Vec& at, const Vec& x, const Vec& y) {
      const Vec m = at.cross(x), n = at.cross(y);
      return std::atan2(m.cross(n).norm(), m.dot(n));
    };
    const Real excess =
        dihedral(a, b, c) + dihedral(b, c, a) + dihedral(c, a, b) - std::acos(Real(-1));
    sum += orientation > 0 ? excess : -excess;
  }
  return static_cast<double>(sum / (4 * std::acos(Real(-1))));
}

/// Distance along the unit direction to the first triangle, by solving for the barycentric
/// coordinates.
inline std::optional<double> BruteRay(const geometry::Mesh& mesh, const geometry::Vec3& origin,
                                      const geometry::Vec3& direction) {
  std::optional<double> best;
  const Vec o = origin.cast<Real>(), d = direction.cast<Real>();
  for (const auto& t : mesh.triangles) {
    const Vec a = mesh.vertices[t[0]].cast<Real>(), u = mesh.vertices[t[1]].cast<Real>() - a,
              v = mesh.vertices[t[2]].cast<Real>() - a;
    const Real det = u.dot(d.cross(v));
    if (det == 0) continue;
    const Vec r = o - a;
    const Real beta = r.dot(d.cross(v)) / det, gamma = d.dot(r.cross(u)) / det,
               s = v.dot(r.cross(u)) / det;
    if (beta < 0 || gamma < 0 || beta + gamma > 1 || s < 0) continue;
    if (!best || static_cast<double>(s) < *best) best = static_cast<double>(s);
  }
  return best;
}

}  // namespace handhold::support

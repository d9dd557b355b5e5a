#include "database/geometry/mesh_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "database/base/check.h"
#include "database/base/units.h"
#include "database/geometry/internal/bvh.h"
#include "database/geometry/internal/segment.h"
#include "database/geometry/internal/topology.h"

namespace handhold::geometry {

using internal::Bvh;
using internal::Feature;

struct MeshTree::Impl {
  Mesh mesh;
  MeshReport report;
  Bounds bounds;
  bool turned_over = false;
  Bvh bvh;
  internal::NearestKernel kernel = nullptr;
  // Angle-weighted pseudo-normals, not unit; zero where only triangles without area meet.
  std::vector<Vec3> face_normals;                 // unit
  std::vector<std::array<Vec3, 3>> edge_normals;  // [triangle][corner]: the edge from that corner
                                                  // to the next
  std::vector<std::array<std::uint32_t, 3>> corners;  // place of each corner
  std::vector<Vec3> vertex_normals;                   // by place
  // Bit i of untrusted[t]: feature i of triangle t also belongs to a triangle without area, whose
  // normal is missing from the sums above, so that their side cannot be trusted.
  std::vector<std::uint8_t> untrusted;
  // Bit i of at_rim[t]: feature i of triangle t is an edge that has not two triangles that agree,
  // or the corner of one. Empty of watertight meshes.
  std::vector<std::uint8_t> at_rim;

  Vec3 PseudoNormal(std::uint32_t t, Feature feature) const {
    switch (feature) {
      case Feature::kFace:
        return face_normals[t];
      case Feature::kEdgeAB:
        return edge_normals[t][0];
      case Feature::kEdgeBC:
        return edge_normals[t][1];
      case Feature::kEdgeCA:
        return edge_normals[t][2];
      case Feature::kVertexA:
        return vertex_normals[corners[t][0]];
      case Feature::kVertexB:
        return vertex_normals[corners[t][1]];
      case Feature::kVertexC:
        return vertex_normals[corners[t][2]];
    }
    return Vec3::Zero();
  }
  bool Trusts(std::uint32_t t, Feature feature) const {
    return (untrusted[t] >> static_cast<unsigned>(feature) & 1u) == 0;
  }
  bool AtRim(std::uint32_t t, Feature feature) const {
    return !at_rim.empty() && (at_rim[t] >> static_cast<unsigned>(feature) & 1u) != 0;
  }
  void ComputeNormals();
};

namespace {

double AngleBetween(const Vec3& u, const Vec3& v) {
  return std::atan2(u.cross(v).norm(), u.dot(v));
}

Vec3 UnitOr(const Vec3& v, const Vec3& fallback) {
  const double n = v.stableNorm();
  return n > 0 ? Vec3(v / n) : fallback;
}

/// Solid angle of a triangle seen from the origin, over 4 pi (Van Oosterom, Strackee 1983):
/// positive seen from behind.
double SolidAngleFraction(const Vec3& a, const Vec3& b, const Vec3& c) {
  const double la = a.norm(), lb = b.norm(), lc = c.norm();
  const double denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
  return std::atan2(a.dot(b.cross(c)), denominator) / (2.0 * kPi);
}

/// Depth-first over children by increasing bound. `bound(lo, hi)` is a lower bound (scaled) of what
/// a box can hold or a value above `limit()`; `leaf(position)` visits a triangle.
template <typename BoundOf, typename Limit, typename Leaf>
void Walk(const Bvh& bvh, BoundOf bound, Limit limit, Leaf leaf) {
  struct Entry {
    std::int32_t child;
    double bound;
  };
  std::array<Entry, 512> stack;  // see Traverse in nearest_kernel.inc
  int size = 0;
  stack[size++] = {0, 0.0};
  while (size > 0) {
    const Entry top = stack[--size];
    if (top.bound > limit()) continue;
    if (top.child < 0) {
      const internal::Leaf8& l = bvh.leaves[~top.child];
      for (std::uint32_t i = l.first; i < l.first + l.count; ++i) leaf(i);
      continue;
    }
    const internal::Node8& node = bvh.nodes[top.child];
    const int begin = size;
    for (int i = 0; i < 8 && node.child[i] != internal::kNoChild; ++i) {
      const double b = bound(Vec3(node.lo[0][i], node.lo[1][i], node.lo[2][i]),
                             Vec3(node.hi[0][i], node.hi[1][i], node.hi[2][i]));
      if (b > limit()) continue;
      int at = size++;
      for (; at > begin && stack[at - 1].bound < b; --at) stack[at] = stack[at - 1];
      stack[at] = {node.child[i], b};
    }
  }
}

/// A ray sheared so that it runs along +z from the origin: Woop, Benthin, Wald 2013. Neighbours
/// compute their common edge alike, so no ray slips between them.
class ShearedRay {
 public:
  ShearedRay(const Vec3& origin, const Vec3& direction) : origin_(origin) {
    direction.cwiseAbs().maxCoeff(&z_);
    x_ = (z_ + 1) % 3;
    y_ = (z_ + 2) % 3;
    shear_ = Vec3(direction[x_], direction[y_], 1.0) / direction[z_];
  }

  /// Distance in units of the direction's length; false when missed.
  bool Hit(const std::array<Vec3, 3>& triangle, double& t) const {
    const Vec3 a = Sheared(triangle[0]), b = Sheared(triangle[1]), c = Sheared(triangle[2]);
    const double u = Edge(c, b), v = Edge(a, c), w = Edge(b, a);
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return false;
    const double determinant = u + v + w;
    if (determinant == 0) return false;
    t = (u * a.z() + v * b.z() + w * c.z()) / determinant * shear_.z();
    return true;
  }

 private:
  /// x and y sheared, z only moved: t scales it once at the end.
  Vec3 Sheared(const Vec3& p) const {
    const Vec3 q = p - origin_;
    return {q[x_] - shear_.x() * q[z_], q[y_] - shear_.y() * q[z_], q[z_]};
  }
  static double Edge(const Vec3& p, const Vec3& q) {
    const double e = p.x() * q.y() - p.y() * q.x();
    if (e != 0) return e;
    const long double exact =
        static_cast<long double>(p.x()) * q.y() - static_cast<long double>(p.y()) * q.x();
    return exact > 0 ? 1e-300 : exact < 0 ? -1e-300 : 0.0;
  }

  Vec3 origin_, shear_;
  Eigen::Index x_, y_, z_;
};

}  // namespace

void MeshTree::Impl::ComputeNormals() {
  const internal::Places places = internal::FindPlaces(mesh.vertices);
  const std::size_t n = mesh.triangles.size();
  const auto bit = [](Feature f) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(f));
  };
  constexpr std::array kEdges{Feature::kEdgeAB, Feature::kEdgeBC, Feature::kEdgeCA};
  constexpr std::array kCorners{Feature::kVertexA, Feature::kVertexB, Feature::kVertexC};
  std::vector<char> spoiled(places.count, 0);  // places at which a triangle without area has a
                                               // corner
  std::vector<char> rim(places.count, 0);
  untrusted.assign(n, 0);
  if (!report.watertight()) at_rim.assign(n, 0);
  face_normals.assign(n, Vec3::Zero());
  edge_normals.assign(n, {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()});
  vertex_normals.assign(places.count, Vec3::Zero());
  corners.resize(n);
  for (std::size_t t = 0; t < n; ++t) {
    const auto& v = mesh.triangles[t];
    const std::array<Vec3, 3> p{mesh.vertices[v[0]], mesh.vertices[v[1]], mesh.vertices[v[2]]};
    for (int k = 0; k < 3; ++k) corners[t][k] = places.of_vertex[v[k]];
    if (internal::IsZeroArea(p[0], p[1], p[2])) {
      untrusted[t] |= bit(Feature::kFace);
      for (const std::uint32_t place : corners[t]) spoiled[place] = 1;
      continue;
    }
    face_normals[t] = (p[1] - p[0]).cross(p[2] - p[0]).stableNormalized();
    for (int k = 0; k < 3; ++k) {
      vertex_normals[corners[t][k]] +=
          AngleBetween(p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]) * face_normals[t];
    }
  }
  const auto edges = internal::SortedEdges(mesh, places);
  internal::ForEachEdge(edges, [&](std::size_t begin, std::size_t end) {
    Vec3 sum = Vec3::Zero();
    bool whole = true;
    for (std::size_t i = begin; i < end; ++i) {
      sum += face_normals[edges[i].triangle];
      whole &= (untrusted[edges[i].triangle] & bit(Feature::kFace)) == 0;
    }
    for (std::size_t i = begin; i < end; ++i) {
      edge_normals[edges[i].triangle][edges[i].corner] = sum;
      if (!whole) untrusted[edges[i].triangle] |= bit(kEdges[edges[i].corner]);
    }
    if (at_rim.empty() || (end - begin == 2 && edges[begin].forward != edges[begin + 1].forward))
      return;
    rim[edges[begin].lo] = rim[edges[begin].hi] = 1;
    for (std::size_t i = begin; i < end; ++i)
      at_rim[edges[i].triangle] |= bit(kEdges[edges[i].corner]);
  });
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (spoiled[corners[t][k]]) untrusted[t] |= bit(kCorners[k]);
      if (rim[corners[t][k]]) at_rim[t] |= bit(kCorners[k]);
    }
  }
}

MeshTree::MeshTree(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MeshTree::~MeshTree() = default;

Result<std::shared_ptr<const MeshTree>> MeshTree::Build(Mesh mesh) {
  HANDHOLD_TRY(CheckMesh(mesh));
  auto impl = std::make_unique<Impl>();
  impl->mesh = std::move(mesh);
  impl->report = InspectMesh(impl->mesh);
  impl->bounds = BoundsOf(impl->mesh);
  if (impl->report.watertight() && impl->report.signed_volume_m3 < 0) {
    impl->mesh = TurnedOver(std::move(impl->mesh));
    impl->report.signed_volume_m3 = -impl->report.signed_volume_m3;
    impl->turned_over = true;
  }
  impl->ComputeNormals();
  impl->bvh = internal::BuildBvh(impl->mesh);
  impl->kernel = internal::AvailableKernels().back().kernel;
  return std::shared_ptr<const MeshTree>(new MeshTree(std::move(impl)));
}

const Mesh& MeshTree::mesh() const { return impl_->mesh; }
const MeshReport& MeshTree::report() const { return impl_->report; }
const Bounds& MeshTree::bounds() const { return impl_->bounds; }
bool MeshTree::turned_over() const { return impl_->turned_over; }

NearestPoint MeshTree::ClosestUnsigned(const Vec3& p_M, double max_distance_m) const {
  if (!p_M.allFinite() || !(max_distance_m >= 0)) return {};
  const internal::BvhNearest best =
      internal::NearestInBvh(impl_->bvh, impl_->kernel, p_M, max_distance_m);
  if (!best.found) return {};
  return {std::sqrt(best.nearest.distance2), p_M + best.nearest.p, best.triangle};
}

SignedNearestPoint MeshTree::Closest(const Vec3& p_M, double max_distance_m) const {
  return Signed(p_M, max_distance_m, false);
}

SignedNearestPoint MeshTree::ClosestBySurface(const Vec3& p_M, double max_distance_m) const {
  return Signed(p_M, max_distance_m, true);
}

SignedNearestPoint MeshTree::Signed(const Vec3& p_M, double max_distance_m, bool by_surface) const {
  CHECK(p_M.allFinite());
  const internal::BvhNearest best =
      internal::NearestInBvh(impl_->bvh, impl_->kernel, p_M, max_distance_m);
  if (!best.found) return {.distance_m = std::numeric_limits<double>::infinity()};
  const Vec3& offset = best.nearest.p;
  const double distance = std::sqrt(best.nearest.distance2);
  const Vec3 pseudo = impl_->PseudoNormal(best.triangle, best.nearest.feature);
  SignedNearestPoint out{distance, p_M + offset, UnitOr(pseudo, Vec3::UnitZ()), best.triangle,
                         SignBasis::kPseudoNormal};
  bool inside = offset.dot(pseudo) > 0;
  const Feature feature = best.nearest.feature;
  const bool closed =
      by_surface ? !impl_->AtRim(best.triangle, feature) : impl_->report.watertight();
  if (!closed || !impl_->Trusts(best.triangle, feature)) {
    inside = WindingNumber(p_M) > 0.5;
    out.sign_basis = SignBasis::kWindingNumber;
  }
  if (inside) out.distance_m = -distance;
  if (distance > 1e-9 * impl_->bounds.diagonal_m()) {
    out.normal_M = (inside ? 1.0 : -1.0) * offset.stableNormalized();
  }
  return out;
}

SegmentNearest MeshTree::ClosestToSegment(const Vec3& a_M, const Vec3& b_M,
                                          double max_distance_m) const {
  CHECK(a_M.allFinite() && b_M.allFinite());
  const Bvh& bvh = impl_->bvh;
  const Vec3 a = bvh.Scaled(a_M), b = bvh.Scaled(b_M), middle = 0.5 * (a + b);
  const Vec3 lo = a.cwiseMin(b), hi = a.cwiseMax(b);
  const double length2 = (b - a).squaredNorm();
  const double slack = internal::kSlack * (1 + middle.norm() + (b - a).norm());
  SegmentNearest best;
  double best2 = std::numeric_limits<double>::infinity();
  // The middle's own distance, found by the faster search, is an upper bound to start from.
  const double from_middle =
      ClosestUnsigned(0.5 * (a_M + b_M), max_distance_m + 0.5 * (b_M - a_M).norm()).distance_m;
  if (!std::isfinite(from_middle)) return best;
  double limit = std::min(from_middle, max_distance_m) * bvh.scale + slack;
  const auto bound = [&](const Vec3& box_lo, const Vec3& box_hi) {
    const double by_box = (box_lo - hi).cwiseMax(lo - box_hi).cwiseMax(0.0).norm();
    // A slanting segment fills little of its own box: its distance to the sphere around the other
    // box bounds it too.
    const Vec3 to_centre = 0.5 * (box_lo + box_hi) - a;
    const double t = length2 > 0 ? std::clamp(to_centre.dot(b - a) / length2, 0.0, 1.0) : 0.0;
    const double by_sphere = (to_centre - t * (b - a)).norm() - 0.5 * (box_hi - box_lo).norm();
    return std::max(by_box, by_sphere);
  };
  Walk(
      bvh, bound, [&] { return limit; },
      [&](std::uint32_t position) {
        const std::array<Vec3, 3>& c = bvh.corners[position];
        Bounds box;
        for (const Vec3& corner : c) box.Include(bvh.Scaled(corner));
        if (bound(box.min, box.max) > limit) return;
        const internal::SegmentPair near =
            internal::NearestSegmentTriangle(a_M, b_M, c[0], c[1], c[2]);
        if (near.distance2 < best2) {
          best2 = near.distance2;
          best = {std::sqrt(best2), near.t, near.q, bvh.triangles[position]};
          limit = std::min(best.distance_m, max_distance_m) * bvh.scale + slack;
        }
      });
  if (best.distance_m > max_distance_m) return {};
  return best;
}

std::optional<RayHit> MeshTree::CastRay(const Vec3& origin_M, const Vec3& direction_M,
                                        double max_distance_m) const {
  CHECK(origin_M.allFinite() && direction_M.allFinite() && !direction_M.isZero(0));
  const Bvh& bvh = impl_->bvh;
  const Vec3 direction = direction_M.stableNormalized(), origin = bvh.Scaled(origin_M);
  const ShearedRay ray(origin_M, direction);
  std::optional<RayHit> best;
  double best_t = max_distance_m;
  // Boxes were rounded to single precision, and the slab test rounds in proportion to how far away
  // the origin is.
  const double slack = internal::kSlack + 1e-14 * origin.norm();
  constexpr double kMissed = std::numeric_limits<double>::infinity();
  const auto bound = [&](const Vec3& lo, const Vec3& hi) {
    double enter = 0, leave = std::numeric_limits<double>::max();
    for (int k = 0; k < 3; ++k) {
      const double to_lo = lo[k] - slack - origin[k], to_hi = hi[k] + slack - origin[k];
      if (direction[k] == 0) {
        if (to_lo > 0 || to_hi < 0) return kMissed;
        continue;
      }
      const double t1 = to_lo / direction[k], t2 = to_hi / direction[k];
      enter = std::max(enter, std::min(t1, t2));
      leave = std::min(leave, std::max(t1, t2));
    }
    // The quotients round too: a ray that grazes a box is let in.
    return enter <= leave * (1 + 1e-14) + slack ? enter : kMissed;
  };
  const auto limit = [&] {
    const double scaled = best_t * bvh.scale + slack;
    return std::isfinite(scaled) ? scaled : std::numeric_limits<double>::max();
  };
  Walk(bvh, bound, limit, [&](std::uint32_t position) {
    double t = 0;
    const std::uint32_t triangle = bvh.triangles[position];
    if (!ray.Hit(bvh.corners[position], t) || t < 0 || t > best_t) return;
    if (best && t == best_t && triangle > best->triangle) return;
    best_t = t;
    best = RayHit{t, origin_M + t * direction, UnitOr(impl_->face_normals[triangle], -direction),
                  triangle};
  });
  return best;
}

double MeshTree::WindingNumber(const Vec3& p_M) const {
  CHECK(p_M.allFinite());
  const Bvh& bvh = impl_->bvh;
  double sum = 0;
  std::array<std::int32_t, 512> stack;
  int size = 0;
  stack[size++] = 0;
  while (size > 0) {
    const std::int32_t child = stack[--size];
    if (child < 0) {
      const internal::Leaf8& leaf = bvh.leaves[~child];
      for (std::uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i) {
        const std::array<Vec3, 3>& c = bvh.corners[i];
        sum += SolidAngleFraction(c[0] - p_M, c[1] - p_M, c[2] - p_M);
      }
      continue;
    }
    const Bvh::Dipole& dipole = bvh.dipoles[child];
    const Vec3 r = dipole.centre - p_M;
    const double distance = r.norm();
    if (distance > 3 * dipole.radius_m) {
      sum += dipole.area.dot(r) / (4 * kPi * distance * distance * distance);
      continue;
    }
    for (const std::int32_t c : bvh.nodes[child].child) {
      if (c != internal::kNoChild) stack[size++] = c;
    }
  }
  return sum;
}

}  // namespace handhold::geometry

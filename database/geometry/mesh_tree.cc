#include "database/geometry/mesh_tree.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "database/base/check.h"
#include "database/base/units.h"
#include "database/geometry/internal/segment.h"
#include "database/geometry/internal/topology.h"
#include "database/geometry/internal/triangle.h"

namespace handhold::geometry {

using internal::Feature;

struct MeshTree::Impl {
  Mesh mesh;
  MeshReport report;
  Bounds bounds;
  bool turned_over = false;
  std::vector<Vec3> face_normals;                     // unit, zero for triangles without area
  std::vector<std::array<Vec3, 3>> edge_normals;      // [triangle][corner]: of the edge from that
                                                      // corner to the next; not unit
  std::vector<std::array<std::uint32_t, 3>> corners;  // place of each corner
  std::vector<Vec3> vertex_normals;                   // by place; angle-weighted, not unit

  std::array<Vec3, 3> Triangle(std::size_t t) const {
    const auto& v = mesh.triangles[t];
    return {mesh.vertices[v[0]], mesh.vertices[v[1]], mesh.vertices[v[2]]};
  }
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

}  // namespace

void MeshTree::Impl::ComputeNormals() {
  const internal::Places places = internal::FindPlaces(mesh.vertices);
  const std::size_t n = mesh.triangles.size();
  face_normals.assign(n, Vec3::Zero());
  edge_normals.assign(n, {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()});
  vertex_normals.assign(places.count, Vec3::Zero());
  corners.resize(n);
  for (std::size_t t = 0; t < n; ++t) {
    for (int k = 0; k < 3; ++k) corners[t][k] = places.of_vertex[mesh.triangles[t][k]];
    const auto p = Triangle(t);
    if (internal::IsZeroArea(p[0], p[1], p[2])) continue;
    face_normals[t] = (p[1] - p[0]).cross(p[2] - p[0]).stableNormalized();
    for (int k = 0; k < 3; ++k) {
      vertex_normals[corners[t][k]] +=
          AngleBetween(p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]) * face_normals[t];
    }
  }
  const auto edges = internal::SortedEdges(mesh, places);
  internal::ForEachEdge(edges, [&](std::size_t begin, std::size_t end) {
    Vec3 sum = Vec3::Zero();
    for (std::size_t i = begin; i < end; ++i) sum += face_normals[edges[i].triangle];
    for (std::size_t i = begin; i < end; ++i)
      edge_normals[edges[i].triangle][edges[i].corner] = sum;
  });
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
  return std::shared_ptr<const MeshTree>(new MeshTree(std::move(impl)));
}

const Mesh& MeshTree::mesh() const { return impl_->mesh; }
const MeshReport& MeshTree::report() const { return impl_->report; }
const Bounds& MeshTree::bounds() const { return impl_->bounds; }
bool MeshTree::turned_over() const { return impl_->turned_over; }

NearestPoint MeshTree::ClosestUnsigned(const Vec3& p_M, double max_distance_m) const {
  NearestPoint best;
  double best2 = max_distance_m * max_distance_m;
  for (std::size_t t = 0; t < impl_->mesh.triangles.size(); ++t) {
    const auto v = impl_->Triangle(t);
    const auto near = internal::NearestOnTriangle(v[0] - p_M, v[1] - p_M, v[2] - p_M);
    if (near.distance2 < best2 || (near.distance2 == best2 && best.distance_m > 1e308)) {
      best2 = near.distance2;
      best = {std::sqrt(near.distance2), p_M + near.p, static_cast<std::uint32_t>(t)};
    }
  }
  return best;
}

SignedNearestPoint MeshTree::Closest(const Vec3& p_M) const {
  CHECK(p_M.allFinite());
  const NearestPoint nearest = ClosestUnsigned(p_M);
  const auto v = impl_->Triangle(nearest.triangle);
  const auto near = internal::NearestOnTriangle(v[0] - p_M, v[1] - p_M, v[2] - p_M);
  const Vec3 pseudo = impl_->PseudoNormal(nearest.triangle, near.feature);
  const double side = -near.p.dot(pseudo);
  SignedNearestPoint out{nearest.distance_m, nearest.p_M, UnitOr(pseudo, Vec3::UnitZ()),
                         nearest.triangle, SignBasis::kPseudoNormal};
  bool inside = side < 0;
  if (!impl_->report.watertight() || pseudo.isZero(0)) {
    inside = WindingNumber(p_M) > 0.5;
    out.sign_basis = SignBasis::kWindingNumber;
  }
  if (inside) out.distance_m = -out.distance_m;
  if (nearest.distance_m > 1e-9 * impl_->bounds.diagonal_m()) {
    out.normal_M = (inside ? 1.0 : -1.0) * near.p / nearest.distance_m;
  }
  return out;
}

SegmentNearest MeshTree::ClosestToSegment(const Vec3& a_M, const Vec3& b_M) const {
  SegmentNearest best;
  double best2 = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < impl_->mesh.triangles.size(); ++t) {
    const auto v = impl_->Triangle(t);
    const auto near = internal::NearestSegmentTriangle(a_M, b_M, v[0], v[1], v[2]);
    if (near.distance2 < best2) {
      best2 = near.distance2;
      best = {std::sqrt(near.distance2), near.t, near.q, static_cast<std::uint32_t>(t)};
    }
  }
  return best;
}

double MeshTree::WindingNumber(const Vec3& p_M) const {
  double sum = 0;
  for (std::size_t t = 0; t < impl_->mesh.triangles.size(); ++t) {
    const auto v = impl_->Triangle(t);
    sum += SolidAngleFraction(v[0] - p_M, v[1] - p_M, v[2] - p_M);
  }
  return sum;
}

}  // namespace handhold::geometry

#include "synthesis/regrasp/surface_sample.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <Eigen/Eigenvalues>

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

/// Round the unit sphere, evenly.
Vec3 OnSphere(CandidateRandom* random) {
  const double z = random->Between(-1.0, 1.0), turn = random->Between(0.0, 2.0 * M_PI);
  const double r = std::sqrt(std::max(0.0, 1.0 - z * z));
  return {r * std::cos(turn), r * std::sin(turn), z};
}

struct AreaOf {
  double operator()(const geometry::Sphere& s) const { return 4 * M_PI * s.radius_m * s.radius_m; }
  double operator()(const geometry::Capsule& s) const {
    return 2 * M_PI * s.radius_m * (2 * s.radius_m + s.length_m);
  }
  double operator()(const geometry::Box& s) const {
    const Vec3& d = s.size_m;
    return 2 * (d.x() * d.y() + d.y() * d.z() + d.z() * d.x());
  }
  double operator()(const geometry::Cylinder& s) const {
    return 2 * M_PI * s.radius_m * (s.radius_m + s.length_m);
  }
  double operator()(const geometry::ConvexHull& s) const { return s.surface->report().area_m2; }
  double operator()(const geometry::TriangleMesh& s) const { return s.surface->report().area_m2; }
};

struct PointOn {
  CandidateRandom* random;
  Vec3 operator()(const geometry::Sphere& s) const { return s.radius_m * OnSphere(random); }
  Vec3 operator()(const geometry::Capsule& s) const {
    const double caps = 2 * s.radius_m, share = caps / (caps + s.length_m);
    if (random->Unit() < share) {
      const Vec3 p = s.radius_m * OnSphere(random);
      return p + Vec3(0, 0, p.z() < 0 ? -0.5 * s.length_m : 0.5 * s.length_m);
    }
    const double turn = random->Between(0.0, 2.0 * M_PI);
    return {s.radius_m * std::cos(turn), s.radius_m * std::sin(turn),
            random->Between(-0.5, 0.5) * s.length_m};
  }
  Vec3 operator()(const geometry::Box& s) const {
    const Vec3& d = s.size_m;
    const double areas[3] = {d.y() * d.z(), d.z() * d.x(), d.x() * d.y()};
    double at = random->Unit() * (areas[0] + areas[1] + areas[2]);
    Eigen::Index axis = 0;
    while (axis < 2 && at >= areas[axis]) at -= areas[axis++];
    Vec3 p(random->Between(-0.5, 0.5) * d.x(), random->Between(-0.5, 0.5) * d.y(),
           random->Between(-0.5, 0.5) * d.z());
    p[axis] = (random->Unit() < 0.5 ? -0.5 : 0.5) * d[axis];
    return p;
  }
  Vec3 operator()(const geometry::Cylinder& s) const {
    const double turn = random->Between(0.0, 2.0 * M_PI);
    const Vec3 out(std::cos(turn), std::sin(turn), 0);
    if (random->Unit() < s.radius_m / (s.radius_m + s.length_m)) {
      const double r = s.radius_m * std::sqrt(random->Unit());
      return r * out + Vec3(0, 0, random->Unit() < 0.5 ? -0.5 : 0.5) * s.length_m;
    }
    return s.radius_m * out + Vec3(0, 0, random->Between(-0.5, 0.5) * s.length_m);
  }
  Vec3 operator()(const geometry::ConvexHull& s) const { return OnMesh(s.surface->mesh()); }
  Vec3 operator()(const geometry::TriangleMesh& s) const { return OnMesh(s.surface->mesh()); }

  /// By a walk of accepted areas: no table is kept, since shapes of one prop alternate.
  Vec3 OnMesh(const geometry::Mesh& mesh) const {
    const auto corner = [&](size_t t, size_t i) { return mesh.vertices[mesh.triangles[t][i]]; };
    const auto doubled = [&](size_t t) {
      return (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0)).norm();
    };
    double sum = 0.0;
    for (size_t t = 0; t < mesh.triangles.size(); ++t) sum += doubled(t);
    double at = random->Unit() * sum;
    size_t t = 0;
    while (t + 1 < mesh.triangles.size() && at >= doubled(t)) at -= doubled(t++);
    double u = random->Unit(), v = random->Unit();
    if (u + v > 1.0) u = 1.0 - u, v = 1.0 - v;
    return corner(t, 0) + u * (corner(t, 1) - corner(t, 0)) + v * (corner(t, 2) - corner(t, 0));
  }
};

}  // namespace

Result<std::vector<PropSurfacePoint>> SampleSurface(const model::Prop& prop, int count,
                                                    std::uint64_t seed) {
  const auto invalid = [&](const char* what) {
    return Error{ErrorCode::kInvalid, "prop '" + prop.name + "' " + what};
  };
  if (prop.shapes.empty()) return invalid("has no shapes");
  CandidateRandom random(seed, 0);
  std::vector<double> areas;
  double sum = 0.0;
  for (const model::PropShape& s : prop.shapes) {
    areas.push_back(std::visit(AreaOf(), s.shape));
    sum += areas.back();
  }
  std::vector<PropSurfacePoint> out;
  for (int tries = 0; tries < 20 * count && static_cast<int>(out.size()) < count; ++tries) {
    double at = random.Unit() * sum;
    size_t i = 0;
    while (i + 1 < areas.size() && at >= areas[i]) at -= areas[i++];
    const model::PropShape& s = prop.shapes[i];
    const Vec3 p_S = std::visit(PointOn{&random}, s.shape);
    const Vec3 p_P = s.X_PS * p_S;
    bool hidden = false;
    for (size_t k = 0; k < prop.shapes.size() && !hidden; ++k) {
      if (k == i) continue;
      const model::PropShape& other = prop.shapes[k];
      hidden = geometry::SignedDistance(other.shape, other.X_PS.Inverse() * p_P).distance_m < -1e-6;
    }
    if (hidden) continue;
    out.push_back({p_P, s.X_PS.R * geometry::SignedDistance(s.shape, p_S).normal_S});
  }
  if (out.empty()) return invalid("shows no surface: every shape lies in another");
  return out;
}

double ThicknessAt(const model::Prop& prop, const PropSurfacePoint& sample, double most_m) {
  // Sphere tracing from the inside: no surface is nearer than the depth.
  double went = 1e-4;
  for (int i = 0; i < 200 && went < most_m; ++i) {
    const Vec3 p_P = sample.p_P - went * sample.normal_P;
    double depth = -1.0;
    for (const model::PropShape& s : prop.shapes)
      depth =
          std::max(depth, -geometry::SignedDistance(s.shape, s.X_PS.Inverse() * p_P).distance_m);
    if (depth <= 0.0) return went;
    went += std::max(depth, 1e-4);
  }
  return std::min(went, most_m);
}

std::optional<Vec3> RunsAlong(std::span<const PropSurfacePoint> surface, const Vec3& p_P,
                              const Vec3& normal_P, double radius_m, double ratio) {
  Vec3 x = normal_P.unitOrthogonal(), y = normal_P.cross(x);
  Eigen::Matrix2d square = Eigen::Matrix2d::Zero();
  Eigen::Vector2d mean = Eigen::Vector2d::Zero();
  double count = 0.0;
  for (const PropSurfacePoint& s : surface) {
    const Vec3 from = s.p_P - p_P;
    if (from.norm() > radius_m) continue;
    const Eigen::Vector2d in_plane(from.dot(x), from.dot(y));
    square += in_plane * in_plane.transpose();
    mean += in_plane;
    count += 1.0;
  }
  if (count < 3.0) return std::nullopt;
  mean /= count;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> eigen(square / count -
                                                             mean * mean.transpose());
  const Eigen::Vector2d spread = eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt();
  if (spread[1] < ratio * spread[0]) return std::nullopt;
  const Eigen::Vector2d along = eigen.eigenvectors().col(1);
  return Vec3(along[0] * x + along[1] * y);
}

}  // namespace handhold::synthesis

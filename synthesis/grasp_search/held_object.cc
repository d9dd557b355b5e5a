#include "synthesis/grasp_search/held_object.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <variant>

#include "database/base/check.h"
#include "database/base/names.h"
#include "database/base/random.h"

namespace handhold::synthesis {
namespace {

using geometry::Mesh;
using geometry::MeshTree;
using geometry::RigidTransform;
using geometry::Vec3;

/// A surface of revolution about Z from a profile of (radius, z), from the lowest point up.
Mesh Revolved(const std::vector<std::pair<double, double>>& profile, int around) {
  Mesh mesh;
  for (const auto& [r, z] : profile) {
    for (int k = 0; k < around; ++k) {
      const double a = 2 * M_PI * k / around;
      mesh.vertices.emplace_back(r * std::cos(a), r * std::sin(a), z);
    }
  }
  const auto at = [&](size_t ring, int k) {
    return static_cast<std::uint32_t>(ring * static_cast<size_t>(around) +
                                      static_cast<size_t>(k % around));
  };
  for (size_t ring = 0; ring + 1 < profile.size(); ++ring) {
    for (int k = 0; k < around; ++k) {
      if (profile[ring].first > 0)
        mesh.triangles.push_back({at(ring, k), at(ring, k + 1), at(ring + 1, k)});
      if (profile[ring + 1].first > 0)
        mesh.triangles.push_back({at(ring + 1, k), at(ring, k + 1), at(ring + 1, k + 1)});
    }
  }
  return geometry::WeldVertices(mesh);
}

Mesh Tessellated(const geometry::Shape& shape) {
  constexpr int kAround = 32, kHalf = 8;
  std::vector<std::pair<double, double>> profile;
  const auto cap = [&](double r, double z, bool upper) {
    for (int i = 0; i <= kHalf; ++i) {
      const double a = M_PI / 2 * i / kHalf;
      if (upper) {
        profile.emplace_back(i == kHalf ? 0.0 : r * std::cos(a), z + r * std::sin(a));
      } else {
        profile.emplace_back(i == 0 ? 0.0 : r * std::sin(a), z - r * std::cos(a));
      }
    }
  };
  if (const auto* s = std::get_if<geometry::Sphere>(&shape)) {
    cap(s->radius_m, 0, false);
    profile.pop_back();
    cap(s->radius_m, 0, true);
  } else if (const auto* c = std::get_if<geometry::Capsule>(&shape)) {
    cap(c->radius_m, -c->length_m / 2, false);
    cap(c->radius_m, c->length_m / 2, true);
  } else if (const auto* y = std::get_if<geometry::Cylinder>(&shape)) {
    const double h = y->length_m / 2;
    profile = {{0, -h}, {y->radius_m, -h}, {y->radius_m, h}, {0, h}};
  } else if (const auto* b = std::get_if<geometry::Box>(&shape)) {
    Mesh box;
    for (int i = 0; i < 8; ++i) {
      box.vertices.push_back(
          0.5 * b->size_m.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
    }
    box.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                     {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    return box;
  }
  return Revolved(profile, kAround);
}

Vec3 FaceNormal(const Mesh& mesh, std::uint32_t t, double* area = nullptr) {
  const auto& v = mesh.triangles[t];
  const Vec3 n =
      (mesh.vertices[v[1]] - mesh.vertices[v[0]]).cross(mesh.vertices[v[2]] - mesh.vertices[v[0]]);
  const double length = n.norm();
  if (area != nullptr) *area = 0.5 * length;
  return length > 0 ? Vec3(n / length) : Vec3::UnitZ();
}

}  // namespace

Result<HeldObject> HeldObject::Build(const model::Prop& prop, const GraspPlace& place) {
  HeldObject object;
  object.name_ = prop.name;
  object.friction_ = prop.friction;
  if (!place.region.empty()) {
    std::vector<std::string> names;
    for (const model::GraspRegion& r : prop.grasp_regions) {
      names.push_back(r.name);
      if (r.name != place.region) continue;
      object.balls_.push_back({r.p_P, r.radius_m});
      object.approach_P_ = r.approach_P;
    }
    if (object.balls_.empty()) {
      return Error{ErrorCode::kNotFound, "prop '" + prop.name + "' has no region '" + place.region +
                                             "'" + DidYouMean(place.region, names)};
    }
  }
  if (place.approach_P.norm() > 0.5) object.approach_P_ = place.approach_P;
  if (place.point_P) object.balls_.push_back({*place.point_P, place.radius_m});
  for (const model::PropShape& shape : prop.shapes) {
    Part part;
    part.X_PS = shape.X_PS;
    part.shape = shape.shape;
    if (const auto* mesh = std::get_if<geometry::TriangleMesh>(&shape.shape)) {
      part.skin = mesh->surface;
      part.mesh = part.skin.get();
    } else if (const auto* hull = std::get_if<geometry::ConvexHull>(&shape.shape)) {
      part.skin = hull->surface;
      part.mesh = part.skin.get();
    } else {
      HANDHOLD_ASSIGN(part.skin, MeshTree::Build(Tessellated(shape.shape)));
    }
    const geometry::MeshReport& report = part.skin->report();
    object.watertight_ &= report.watertight();
    part.by_surface = report.inconsistent_edges == 0;
    const geometry::Bounds b = part.skin->bounds();
    for (int i = 0; i < 8; ++i) {
      object.bounds_.Include(part.X_PS * Vec3(i & 1 ? b.max.x() : b.min.x(),
                                              i & 2 ? b.max.y() : b.min.y(),
                                              i & 4 ? b.max.z() : b.min.z()));
    }
    object.parts_.push_back(std::move(part));
  }
  if (object.parts_.empty())
    return Error{ErrorCode::kUnsupported, "prop '" + prop.name + "' has no shape to hold"};
  if (!place.faces.empty()) {
    const size_t count = object.parts_[0].skin->mesh().triangles.size();
    if (object.parts_.size() != 1 || object.parts_[0].mesh == nullptr)
      return Error{ErrorCode::kInvalid,
                   "faces can be named of a prop that is one mesh; '" + prop.name + "' has " +
                       std::to_string(object.parts_.size()) +
                       (object.parts_.size() == 1 ? " shape" : " shapes") + ", and no mesh alone"};
    object.face_in_.assign(count, 0);
    for (const std::uint32_t f : place.faces) {
      if (f >= count)
        return Error{ErrorCode::kInvalid, "prop '" + prop.name + "' has no face " +
                                              std::to_string(f) + ", only " +
                                              std::to_string(count)};
      object.face_in_[f] = 1;
    }
  }
  for (Part& part : object.parts_) {
    const Mesh& mesh = part.skin->mesh();
    double sum = 0.0;
    part.area.reserve(mesh.triangles.size());
    for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
      double area = 0.0;
      FaceNormal(mesh, t, &area);
      // A triangle of a ball's neighbourhood is sampled and its points then tested.
      bool in = object.face_in_.empty() || object.face_in_[t] != 0;
      for (const Ball& ball : object.balls_) {
        geometry::Bounds box;
        for (const std::uint32_t v : mesh.triangles[t]) box.Include(part.X_PS * mesh.vertices[v]);
        in &=
            (box.min - ball.p_P).cwiseMax(ball.p_P - box.max).cwiseMax(0.0).norm() <= ball.radius_m;
      }
      sum += in ? area : 0.0;
      part.area.push_back(sum);
    }
  }
  return object;
}

HeldObject::Answer HeldObject::ClosestOf(const Part& part, const Vec3& p_P,
                                         double max_distance_m) const {
  Answer out;
  const Vec3 p_S = part.X_PS.R.transpose() * (p_P - part.X_PS.p);
  if (part.mesh == nullptr) {
    const geometry::SurfacePoint near = geometry::SignedDistance(part.shape, p_S);
    if (std::abs(near.distance_m) > max_distance_m) return out;
    return {near.distance_m, part.X_PS * near.p_S, part.X_PS.R * near.normal_S};
  }
  const geometry::SignedNearestPoint near = part.by_surface
                                                ? part.mesh->ClosestBySurface(p_S, max_distance_m)
                                                : part.mesh->Closest(p_S, max_distance_m);
  if (!std::isfinite(near.distance_m)) return out;
  return {near.distance_m, part.X_PS * near.p_M, part.X_PS.R * near.normal_M};
}

HeldObject::Answer HeldObject::Closest(const Vec3& p_P, double max_distance_m) const {
  if (parts_.size() == 1) return ClosestOf(parts_[0], p_P, max_distance_m);
  Answer best;
  for (const Part& part : parts_) {
    // Outside, only what is nearer than the best matters; inside, all that are as deep.
    const double bound = best.distance_m < 0
                             ? max_distance_m
                             : std::min(max_distance_m, std::max(best.distance_m, 0.05));
    const Answer answer = ClosestOf(part, p_P, bound);
    if (answer.distance_m < best.distance_m) best = answer;
  }
  return best;
}

bool HeldObject::InPlace(const Vec3& p_P) const {
  for (const Ball& ball : balls_) {
    if ((p_P - ball.p_P).norm() > ball.radius_m) return false;
  }
  if (!face_in_.empty()) {
    const Part& part = parts_[0];
    const geometry::NearestPoint near =
        part.skin->ClosestUnsigned(part.X_PS.R.transpose() * (p_P - part.X_PS.p));
    if (face_in_[near.triangle] == 0) return false;
  }
  return true;
}

size_t HeldObject::triangle_count() const {
  size_t count = 0;
  for (const Part& part : parts_) count += part.skin->mesh().triangles.size();
  return count;
}

std::vector<SurfaceSample> HeldObject::Sample(int count, std::uint64_t seed) const {
  std::vector<SurfaceSample> samples;
  double total = 0.0;
  for (const Part& part : parts_) total += part.area.back();
  if (!(total > 0.0)) return samples;
  Random random(seed);
  const double far = bounds_.diagonal_m();
  for (int tries = 0; tries < 20 * count && static_cast<int>(samples.size()) < count; ++tries) {
    double at = random.Unit() * total;
    const Part* part = &parts_.front();
    for (const Part& p : parts_) {
      part = &p;
      if (at < p.area.back()) break;
      at -= p.area.back();
    }
    const auto found = std::upper_bound(part->area.begin(), part->area.end(), at);
    const auto t = static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(
        found - part->area.begin(), static_cast<std::ptrdiff_t>(part->area.size()) - 1));
    const Mesh& mesh = part->skin->mesh();
    double u = random.Unit(), v = random.Unit();
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const auto& corner = mesh.triangles[t];
    const Vec3 p_S = mesh.vertices[corner[0]] +
                     u * (mesh.vertices[corner[1]] - mesh.vertices[corner[0]]) +
                     v * (mesh.vertices[corner[2]] - mesh.vertices[corner[0]]);
    SurfaceSample s;
    s.p_P = part->X_PS * p_S;
    const Vec3 n_S = FaceNormal(mesh, t);
    s.normal_P = part->X_PS.R * n_S;
    bool in = true;
    for (const Ball& ball : balls_) in &= (s.p_P - ball.p_P).norm() <= ball.radius_m;
    if (!in) continue;
    // Under another part's surface nobody reaches it.
    if (parts_.size() > 1 && Closest(s.p_P + 1e-4 * s.normal_P, 1e-3).distance_m < 0) continue;
    // Through the union: the far wall of the part that is left last.
    Vec3 from = s.p_P - 1e-5 * s.normal_P;
    for (int walls = 0; walls < static_cast<int>(parts_.size()) + 1; ++walls) {
      double farthest = 0.0;
      for (const Part& other : parts_) {
        const auto hit = other.skin->CastRay(other.X_PS.R.transpose() * (from - other.X_PS.p),
                                             -(other.X_PS.R.transpose() * s.normal_P), far);
        const double back = hit ? -hit->normal_M.dot(other.X_PS.R.transpose() * s.normal_P) : 0.0;
        if (hit && back > 0 && hit->distance_m > farthest) {
          farthest = hit->distance_m;
          s.far_wall = back;
        }
        if (parts_.size() > 1 && hit && farthest > 0) continue;
      }
      if (!(farthest > 0)) break;
      s.thickness_m = (s.p_P - from).norm() + farthest;
      if (parts_.size() == 1) break;
      from = s.p_P - (s.thickness_m + 1e-5) * s.normal_P;
      if (!(Closest(from, 1e-3).distance_m < 0)) break;
    }
    // Bends least: of 8 tangents the one along which the surface stays nearest to its tangent
    // plane.
    Vec3 t1 = s.normal_P.cross(std::abs(s.normal_P.z()) < 0.9 ? Vec3::UnitZ() : Vec3::UnitX());
    t1.normalize();
    const Vec3 t2 = s.normal_P.cross(t1);
    const double reach = std::clamp(0.5 * s.thickness_m, 0.006, 0.03);
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 8; ++k) {
      const double a = M_PI * k / 8;
      const Vec3 along = std::cos(a) * t1 + std::sin(a) * t2;
      double bend = 0.0;
      for (const double side : {-reach, reach})
        bend += std::min(std::abs(Closest(s.p_P + side * along, reach).distance_m), reach);
      if (bend < least - 1e-6) {
        least = bend;
        s.along_P = along;
      }
    }
    samples.push_back(s);
  }
  return samples;
}

geometry::Mesh Coarsened(const geometry::Mesh& mesh, double cell_m) {
  CHECK_GT(cell_m, 0.0);
  std::map<std::array<long, 3>, std::uint32_t> cells;
  std::vector<std::uint32_t> of(mesh.vertices.size());
  std::vector<Vec3> sum;
  std::vector<double> count;
  for (size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3& p = mesh.vertices[i];
    const std::array<long, 3> key{std::lround(std::floor(p.x() / cell_m)),
                                  std::lround(std::floor(p.y() / cell_m)),
                                  std::lround(std::floor(p.z() / cell_m))};
    const auto [at, fresh] = cells.emplace(key, static_cast<std::uint32_t>(sum.size()));
    if (fresh) {
      sum.push_back(Vec3::Zero());
      count.push_back(0);
    }
    of[i] = at->second;
    sum[of[i]] += p;
    count[of[i]] += 1;
  }
  geometry::Mesh out;
  for (size_t i = 0; i < sum.size(); ++i) out.vertices.push_back(sum[i] / count[i]);
  // A triangle and its mirror image cancel: what is left of a part thinner than a cell.
  std::map<std::array<std::uint32_t, 3>, int> turned;
  const auto sorted = [](std::array<std::uint32_t, 3> t, bool* odd) {
    *odd = false;
    for (const auto& [i, j] : {std::pair{0, 1}, {1, 2}, {0, 1}}) {
      if (t[static_cast<size_t>(i)] > t[static_cast<size_t>(j)]) {
        std::swap(t[static_cast<size_t>(i)], t[static_cast<size_t>(j)]);
        *odd = !*odd;
      }
    }
    return t;
  };
  for (const auto& t : mesh.triangles) {
    const std::array<std::uint32_t, 3> c{of[t[0]], of[t[1]], of[t[2]]};
    if (c[0] == c[1] || c[1] == c[2] || c[0] == c[2]) continue;
    bool odd = false;
    const auto key = sorted(c, &odd);
    turned[key] += odd ? -1 : 1;
  }
  for (const auto& [t, net] : turned) {
    for (int i = 0; i < std::abs(net); ++i) {
      out.triangles.push_back(net > 0 ? t : std::array<std::uint32_t, 3>{t[1], t[0], t[2]});
    }
  }
  return geometry::WeldVertices(out);
}

geometry::Mesh Proxy(const geometry::Mesh& mesh, int triangles) {
  double fine = 0.0, coarse = geometry::BoundsOf(mesh).diagonal_m();
  geometry::Mesh best = mesh;
  for (int i = 0; i < 24 && static_cast<int>(mesh.triangles.size()) > triangles; ++i) {
    const double cell = fine > 0 ? std::sqrt(fine * coarse) : coarse / 4;
    geometry::Mesh tried = Coarsened(mesh, cell);
    if (static_cast<int>(tried.triangles.size()) > triangles) {
      fine = cell;
    } else {
      coarse = cell;
      best = std::move(tried);
      if (static_cast<int>(best.triangles.size()) > triangles * 9 / 10) break;
    }
  }
  return best;
}

geometry::Mesh Subdivided(const geometry::Mesh& given) {
  const geometry::Mesh mesh = geometry::WeldVertices(given);
  geometry::Mesh out;
  out.vertices = mesh.vertices;
  std::unordered_map<std::uint64_t, std::uint32_t> middles;
  const auto middle = [&](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t key = (static_cast<std::uint64_t>(std::min(a, b)) << 32) | std::max(a, b);
    const auto [at, fresh] = middles.emplace(key, static_cast<std::uint32_t>(out.vertices.size()));
    if (fresh) out.vertices.push_back(0.5 * (mesh.vertices[a] + mesh.vertices[b]));
    return at->second;
  };
  for (const auto& [a, b, c] : mesh.triangles) {
    const std::uint32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
    for (const auto& t : {std::array{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}})
      out.triangles.push_back(t);
  }
  return out;
}

}  // namespace handhold::synthesis

// geometry.closest_point: unsigned nearest points on the Stanford dragon (202,520 faces), half the
// queries near the surface and half in twice its box, one thread, against Embree 3's point query
// (single precision) and FCL 0.7's sphere-mesh distance.
#include <embree3/rtcore.h>
#include <fcl/fcl.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "database/geometry/mesh_io.h"
#include "database/geometry/mesh_tree.h"
#include "tests/support/bench.h"

namespace {

using handhold::geometry::Bounds;
using handhold::geometry::Mesh;
using handhold::geometry::Vec3;
using namespace handhold::bench;

const int kQueries = Brief() ? 400 : 20000;

std::vector<Vec3> Queries(const Mesh& mesh, const Bounds& box) {
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> unit(0, 1), side(-1, 1);
  const auto vector = [&] {
    const double x = side(rng), y = side(rng), z = side(rng);
    return Vec3(x, y, z);
  };
  std::vector<Vec3> out;
  for (int i = 0; i < kQueries; ++i) {
    if (i % 2 == 0) {
      // Within 1 % of the diagonal of a random point of the surface.
      const auto& t = mesh.triangles[rng() % mesh.triangles.size()];
      double u = unit(rng), v = unit(rng);
      if (u + v > 1) u = 1 - u, v = 1 - v;
      const Vec3 &a = mesh.vertices[t[0]], &b = mesh.vertices[t[1]], &c = mesh.vertices[t[2]];
      out.push_back(a + u * (b - a) + v * (c - a) +
                    0.01 * box.diagonal_m() / std::sqrt(3.0) * vector());
    } else {
      out.push_back(box.centre() + (box.max - box.min).cwiseProduct(vector()));
    }
  }
  return out;
}

/// Ericson's nearest point of a triangle, in single precision, as Embree's own tutorial has it: the
/// peer's user function.
struct F3 {
  float x, y, z;
};
F3 operator-(F3 a, F3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
F3 Along(F3 a, float s, F3 b) { return {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
float Dot(F3 a, F3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

F3 NearestOnTriangle(F3 p, F3 a, F3 b, F3 c) {
  const F3 ab = b - a, ac = c - a, ap = p - a;
  const float d1 = Dot(ab, ap), d2 = Dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return a;
  const F3 bp = p - b;
  const float d3 = Dot(ab, bp), d4 = Dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return b;
  const F3 cp = p - c;
  const float d5 = Dot(ab, cp), d6 = Dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return c;
  const float vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return Along(a, d1 / (d1 - d3), ab);
  const float vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return Along(a, d2 / (d2 - d6), ac);
  const float va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
    return Along(b, (d4 - d3) / ((d4 - d3) + (d5 - d6)), c - b);
  const float scale = 1 / (va + vb + vc);
  return Along(Along(a, vb * scale, ab), vc * scale, ac);
}

class Embree {
 public:
  explicit Embree(const Mesh& mesh)
      : device_(rtcNewDevice("threads=1")), scene_(rtcNewScene(device_)) {
    RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    vertices_ = static_cast<F3*>(rtcSetNewGeometryBuffer(
        geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, sizeof(F3), mesh.vertices.size()));
    for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
      const Eigen::Vector3f v = mesh.vertices[i].cast<float>();
      vertices_[i] = {v.x(), v.y(), v.z()};
    }
    indices_ = static_cast<std::uint32_t*>(
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                3 * sizeof(std::uint32_t), mesh.triangles.size()));
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) indices_[3 * i + k] = mesh.triangles[i][k];
    }
    rtcSetGeometryPointQueryFunction(geometry, Visit);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene_, geometry);
    rtcReleaseGeometry(geometry);
    rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_HIGH);
    rtcCommitScene(scene_);
  }
  ~Embree() {
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  Embree(const Embree&) = delete;
  Embree& operator=(const Embree&) = delete;

  float Distance(const Vec3& p) {
    RTCPointQuery query{static_cast<float>(p.x()), static_cast<float>(p.y()),
                        static_cast<float>(p.z()), 0, std::numeric_limits<float>::infinity()};
    RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    rtcPointQuery(scene_, &query, &context, nullptr, this);
    return query.radius;
  }

 private:
  static bool Visit(RTCPointQueryFunctionArguments* args) {
    const Embree& self = *static_cast<const Embree*>(args->userPtr);
    const std::uint32_t* t = self.indices_ + 3 * static_cast<std::size_t>(args->primID);
    const F3 p{args->query->x, args->query->y, args->query->z};
    const F3 r =
        NearestOnTriangle(p, self.vertices_[t[0]], self.vertices_[t[1]], self.vertices_[t[2]]) - p;
    const float d = std::sqrt(Dot(r, r));
    if (d >= args->query->radius) return false;
    args->query->radius = d;
    return true;
  }

  RTCDevice device_;
  RTCScene scene_;
  F3* vertices_ = nullptr;
  std::uint32_t* indices_ = nullptr;
};

class Fcl {
 public:
  explicit Fcl(const Mesh& mesh) {
    auto model = std::make_shared<fcl::BVHModel<fcl::OBBRSSd>>();
    std::vector<fcl::Triangle> triangles;
    for (const auto& t : mesh.triangles) triangles.emplace_back(t[0], t[1], t[2]);
    model->beginModel();
    model->addSubModel(mesh.vertices, triangles);
    model->endModel();
    mesh_ = std::make_unique<fcl::CollisionObjectd>(model);
    sphere_ = std::make_unique<fcl::CollisionObjectd>(std::make_shared<fcl::Sphered>(kRadius_m));
  }

  double Distance(const Vec3& p) {
    sphere_->setTranslation(p);
    fcl::DistanceRequestd request;
    fcl::DistanceResultd result;
    request.gjk_solver_type = fcl::GJKSolverType::GST_INDEP;
    return fcl::distance(sphere_.get(), mesh_.get(), request, result) + kRadius_m;
  }

 private:
  static constexpr double kRadius_m = 1e-9;  // FCL knows no points
  std::unique_ptr<fcl::CollisionObjectd> mesh_, sphere_;
};

void Run(Reporter& reporter) {
  const std::string path =
      std::string(HANDHOLD_PREFIX) +
      (Brief() ? "/oracles/npm/meshes/dragon_res4.ply" : "/oracles/npm/meshes/dragon_res2.ply");
  const auto file = handhold::geometry::ReadMeshFile(path, {.metres_per_unit = 1.0, .weld = false});
  if (!file) throw std::runtime_error(file.error().message + " (tools/setup installs it)");
  if (!Brief() && file->mesh.triangles.size() != 202520)
    throw std::runtime_error(path + ": not the mesh this mark is defined on");
  std::shared_ptr<const handhold::geometry::MeshTree> tree;
  const double build_s =
      Seconds([&] { tree = handhold::geometry::MeshTree::Build(file->mesh).value(); });
  Embree embree(tree->mesh());
  Fcl fcl(tree->mesh());
  reporter.Note("tree built in " + FormatNumber(1e3 * build_s) + " ms");

  const double diagonal = tree->bounds().diagonal_m();
  const std::vector<Vec3> queries = Queries(tree->mesh(), tree->bounds());
  for (const Vec3& p : queries) {
    const double ours = tree->ClosestUnsigned(p).distance_m;
    if (!(std::abs(ours - static_cast<double>(embree.Distance(p))) < 1e-5 * diagonal)) {
      throw std::runtime_error("Embree answers another distance");
    }
  }
  // FCL's iteration stops short at times; count, and fail when it is more than a few.
  int differ = 0;
  for (std::size_t i = 0; i < queries.size(); i += 20) {
    differ += !(std::abs(tree->ClosestUnsigned(queries[i]).distance_m - fcl.Distance(queries[i])) <
                1e-5 * diagonal);
  }
  if (differ > 10)
    throw std::runtime_error("FCL answers another distance in " + std::to_string(differ) +
                             " of 1000 queries");
  reporter.Note("FCL differs in " + std::to_string(differ) + " of 1000 queries");

  const auto time = [&](auto distance, std::size_t from, std::size_t step) {
    double sum = 0;
    std::size_t n = 0;
    const double seconds = Seconds([&] {
      for (std::size_t i = from; i < queries.size(); i += step, ++n) sum += distance(queries[i]);
    });
    Keep(sum);
    return 1e9 * seconds / static_cast<double>(n);
  };
  const auto ours = [&](const Vec3& p) { return tree->ClosestUnsigned(p).distance_m; };
  const auto embrees = [&](const Vec3& p) { return static_cast<double>(embree.Distance(p)); };
  const auto fcls = [&](const Vec3& p) { return fcl.Distance(p); };

  const auto report = [&](const std::string& name, std::size_t from, std::size_t step, Goal goal) {
    if (!reporter.wants(name)) return;
    const auto [a, b] = RepeatBoth(
        11, [&] { return time(ours, from, step); }, [&] { return time(embrees, from, step); });
    reporter.Report(name, {.value = a,
                           .unit = "ns/query",
                           .peer = "Embree 3.13.5 rtcPointQuery",
                           .peer_value = b,
                           .goal = goal});
  };
  report("geometry.closest_point", 0, 1, Goal::RatioAtLeast(0.8));
  report("geometry.closest_point.near", 0, 2, Goal::None());
  report("geometry.closest_point.far", 1, 2, Goal::None());
  if (reporter.wants("geometry.closest_point.fcl")) {
    const auto [a, b] =
        RepeatBoth(5, [&] { return time(ours, 0, 1); }, [&] { return time(fcls, 0, 1); });
    reporter.Report("geometry.closest_point.fcl", {.value = a,
                                                   .unit = "ns/query",
                                                   .peer = "FCL 0.7.0 sphere-mesh distance",
                                                   .peer_value = b,
                                                   .goal = Goal::RatioAtLeast(4.0)});
  }
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv, HANDHOLD_BENCH_MARKS, Run); }

#include "database/geometry/internal/bvh.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>

#include "database/base/check.h"

namespace handhold::geometry::internal {
namespace {

constexpr std::size_t kLeafSize = 8;
constexpr int kMedianDepth = 40;  // below it ranges are halved, so that no tree is deeper than 64
                                  // levels

struct Box {
  float lo[3] = {FLT_MAX, FLT_MAX, FLT_MAX};
  float hi[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};

  void Include(const Box& b) {
    for (int k = 0; k < 3; ++k) {
      lo[k] = std::min(lo[k], b.lo[k]);
      hi[k] = std::max(hi[k], b.hi[k]);
    }
  }
  float Area() const {
    const float x = hi[0] - lo[0], y = hi[1] - lo[1], z = hi[2] - lo[2];
    return x < 0 ? 0.0f : x * y + y * z + z * x;
  }
  float Centre(int k) const { return 0.5f * (lo[k] + hi[k]); }
};

struct Range {
  std::size_t begin, end;
  Box box;
  std::size_t size() const { return end - begin; }
};

/// Leaves needed for n triangles: what a split is charged for.
float Leaves(std::size_t n) { return static_cast<float>((n + kLeafSize - 1) / kLeafSize); }

class Builder {
 public:
  Builder(const Mesh& mesh, Bvh& bvh)
      : mesh_(mesh), bvh_(bvh), boxes_(mesh.triangles.size()), order_(mesh.triangles.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    for (std::size_t t = 0; t < boxes_.size(); ++t) {
      for (const std::uint32_t v : mesh.triangles[t]) {
        const Vec3 p = bvh.Scaled(mesh.vertices[v]);
        for (int k = 0; k < 3; ++k) {
          boxes_[t].lo[k] = std::min(boxes_[t].lo[k], static_cast<float>(p[k]));
          boxes_[t].hi[k] = std::max(boxes_[t].hi[k], static_cast<float>(p[k]));
        }
      }
    }
  }

  void Run() { BuildNode(Bounded(0, order_.size()), 0); }

 private:
  Range Bounded(std::size_t begin, std::size_t end) const {
    Range r{begin, end, {}};
    for (std::size_t i = begin; i < end; ++i) r.box.Include(boxes_[order_[i]]);
    return r;
  }

  void SortBy(int axis, std::size_t begin, std::size_t end) {
    std::sort(order_.begin() + static_cast<std::ptrdiff_t>(begin),
              order_.begin() + static_cast<std::ptrdiff_t>(end),
              [&](std::uint32_t i, std::uint32_t j) {
                const float x = boxes_[i].Centre(axis), y = boxes_[j].Centre(axis);
                return x != y ? x < y : i < j;
              });
  }

  /// Small ranges: every split that leaves full leaves on the left, along every axis.
  std::size_t SplitSorted(const Range& r) {
    float best = FLT_MAX;
    int best_axis = 0;
    std::size_t best_at = r.begin + kLeafSize;
    std::vector<float> right(r.size() + 1, 0.0f);
    for (int axis = 0; axis < 3; ++axis) {
      SortBy(axis, r.begin, r.end);
      Box box;
      for (std::size_t i = r.size(); i > 0; --i) {
        box.Include(boxes_[order_[r.begin + i - 1]]);
        right[i - 1] = box.Area();
      }
      box = {};
      for (std::size_t i = 1; i < r.size(); ++i) {
        box.Include(boxes_[order_[r.begin + i - 1]]);
        if (i % kLeafSize != 0) continue;
        const float cost = box.Area() * Leaves(i) + right[i] * Leaves(r.size() - i);
        if (cost < best) {
          best = cost;
          best_axis = axis;
          best_at = r.begin + i;
        }
      }
    }
    SortBy(best_axis, r.begin, r.end);
    return best_at;
  }

  /// Large ranges: 32 bins of centres along every axis. Answers r.begin when all centres coincide.
  std::size_t SplitBinned(const Range& r) {
    constexpr int kBins = 32;
    float best = FLT_MAX, best_lo = 0, best_width = 0;
    int best_axis = -1, best_bin = 0;
    for (int axis = 0; axis < 3; ++axis) {
      float lo = FLT_MAX, hi = -FLT_MAX;
      for (std::size_t i = r.begin; i < r.end; ++i) {
        const float c = boxes_[order_[i]].Centre(axis);
        lo = std::min(lo, c);
        hi = std::max(hi, c);
      }
      const float width = hi - lo;
      if (!(width > 0)) continue;
      Box bins[kBins];
      std::size_t counts[kBins] = {};
      for (std::size_t i = r.begin; i < r.end; ++i) {
        const Box& b = boxes_[order_[i]];
        const int bin = Bin(b.Centre(axis), lo, width, kBins);
        bins[bin].Include(b);
        ++counts[bin];
      }
      float right_area[kBins];
      Box box;
      for (int bin = kBins - 1; bin > 0; --bin) {
        box.Include(bins[bin]);
        right_area[bin] = box.Area();
      }
      box = {};
      std::size_t n = 0;
      for (int bin = 1; bin < kBins; ++bin) {
        box.Include(bins[bin - 1]);
        n += counts[bin - 1];
        const float cost = box.Area() * Leaves(n) + right_area[bin] * Leaves(r.size() - n);
        if (n > 0 && n < r.size() && cost < best) {
          best = cost;
          best_axis = axis;
          best_bin = bin;
          best_lo = lo;
          best_width = width;
        }
      }
    }
    if (best_axis < 0) return r.begin;
    const auto middle = std::partition(
        order_.begin() + static_cast<std::ptrdiff_t>(r.begin),
        order_.begin() + static_cast<std::ptrdiff_t>(r.end), [&](std::uint32_t t) {
          return Bin(boxes_[t].Centre(best_axis), best_lo, best_width, kBins) < best_bin;
        });
    return static_cast<std::size_t>(middle - order_.begin());
  }

  static int Bin(float centre, float lo, float width, int bins) {
    return std::clamp(static_cast<int>((centre - lo) / width * static_cast<float>(bins)), 0,
                      bins - 1);
  }

  std::size_t Split(const Range& r, int depth) {
    std::size_t at = r.begin;
    if (depth < kMedianDepth) at = r.size() <= 8 * kLeafSize ? SplitSorted(r) : SplitBinned(r);
    return at == r.begin || at == r.end ? r.begin + r.size() / 2 : at;
  }

  std::int32_t BuildNode(const Range& whole, int depth) {
    std::vector<Range> parts{whole};
    while (parts.size() < 8) {
      // Opening the largest box removes most of what queries would visit in vain.
      std::size_t widest = parts.size();
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].size() <= kLeafSize) continue;
        if (widest == parts.size() || parts[i].box.Area() > parts[widest].box.Area()) widest = i;
      }
      if (widest == parts.size()) break;
      const Range r = parts[widest];
      const std::size_t at = Split(r, depth);
      parts[widest] = Bounded(r.begin, at);
      parts.push_back(Bounded(at, r.end));
    }
    const std::size_t index = bvh_.nodes.size();
    bvh_.nodes.emplace_back();
    for (std::size_t i = 0; i < 8; ++i) {
      const bool used = i < parts.size();
      for (int k = 0; k < 3; ++k) {
        bvh_.nodes[index].lo[k][i] =
            used ? parts[i].box.lo[k] : std::numeric_limits<float>::infinity();
        bvh_.nodes[index].hi[k][i] =
            used ? parts[i].box.hi[k] : -std::numeric_limits<float>::infinity();
      }
      std::int32_t child = kNoChild;
      if (used)
        child = parts[i].size() <= kLeafSize ? ~AddLeaf(parts[i]) : BuildNode(parts[i], depth + 1);
      bvh_.nodes[index].child[i] = child;
    }
    return static_cast<std::int32_t>(index);
  }

  std::int32_t AddLeaf(const Range& r) {
    Leaf8 leaf;
    leaf.first = static_cast<std::uint32_t>(bvh_.corners.size());
    leaf.count = static_cast<std::uint32_t>(r.size());
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const std::uint32_t t = order_[std::min(r.begin + lane, r.end - 1)];
      const auto& v = mesh_.triangles[t];
      const std::array<Vec3, 3> p{mesh_.vertices[v[0]], mesh_.vertices[v[1]], mesh_.vertices[v[2]]};
      if (lane < r.size()) {
        bvh_.corners.push_back(p);
        bvh_.triangles.push_back(t);
      }
      const Vec3 a = bvh_.Scaled(p[0]), ab = (p[1] - p[0]) * bvh_.scale,
                 ac = (p[2] - p[0]) * bvh_.scale;
      // A normal whose own rounding would show in single precision is as good as none.
      const Vec3 cross = ab.cross(ac);
      const double longest2 =
          std::max({ab.squaredNorm(), ac.squaredNorm(), (ac - ab).squaredNorm()});
      const Vec3 n = cross.norm() > 1e-7 * longest2 ? Vec3(cross.normalized()) : Vec3::Zero();
      for (int k = 0; k < 3; ++k) {
        leaf.a[k][lane] = static_cast<float>(a[k]);
        leaf.ab[k][lane] = static_cast<float>(ab[k]);
        leaf.ac[k][lane] = static_cast<float>(ac[k]);
        leaf.n[k][lane] = static_cast<float>(n[k]);
      }
    }
    bvh_.leaves.push_back(leaf);
    return static_cast<std::int32_t>(bvh_.leaves.size() - 1);
  }

  const Mesh& mesh_;
  Bvh& bvh_;
  std::vector<Box> boxes_;
  std::vector<std::uint32_t> order_;
};

/// Children come after their parent, so backwards every child is ready before it is needed.
void ComputeDipoles(Bvh& bvh) {
  bvh.dipoles.resize(bvh.nodes.size());
  std::vector<double> total_area(bvh.nodes.size(), 0.0);
  for (std::size_t n = bvh.nodes.size(); n-- > 0;) {
    Bvh::Dipole& d = bvh.dipoles[n];
    Vec3 mean = Vec3::Zero(), plain = Vec3::Zero();
    double area = 0, parts = 0;
    const auto each = [&](auto visit_node, auto visit_triangle) {
      for (const std::int32_t child : bvh.nodes[n].child) {
        if (child == kNoChild) continue;
        if (child >= 0) {
          visit_node(static_cast<std::size_t>(child));
          continue;
        }
        const Leaf8& leaf = bvh.leaves[~child];
        for (std::uint32_t i = leaf.first; i < leaf.first + leaf.count; ++i)
          visit_triangle(bvh.corners[i]);
      }
    };
    const auto add = [&](const Vec3& centre, const Vec3& area_vector, double weight) {
      d.area += area_vector;
      mean += weight * centre;
      area += weight;
      plain += centre;
      parts += 1;
    };
    each([&](std::size_t c) { add(bvh.dipoles[c].centre, bvh.dipoles[c].area, total_area[c]); },
         [&](const std::array<Vec3, 3>& p) {
           const Vec3 vector = 0.5 * (p[1] - p[0]).cross(p[2] - p[0]);
           add((p[0] + p[1] + p[2]) / 3.0, vector, vector.norm());
         });
    total_area[n] = area;
    d.centre = area > 0 ? Vec3(mean / area) : Vec3(plain / parts);
    each(
        [&](std::size_t c) {
          d.radius_m = std::max(
              d.radius_m, (bvh.dipoles[c].centre - d.centre).norm() + bvh.dipoles[c].radius_m);
        },
        [&](const std::array<Vec3, 3>& p) {
          for (const Vec3& q : p) d.radius_m = std::max(d.radius_m, (q - d.centre).norm());
        });
  }
}

struct Query : NearestQuery {
  const Bvh* bvh = nullptr;
  Vec3 point;
  double slack = 0;
  double best2 = 0;
  BvhNearest best;

  void Tighten() {
    const double b = std::sqrt(best2) * bvh->scale + slack;
    const double squared = b * b * (1 + 1e-6);
    bound = squared < FLT_MAX ? static_cast<float>(squared) : FLT_MAX;
  }
  void Measure(std::uint32_t position) {
    const std::array<Vec3, 3>& c = bvh->corners[position];
    const TriangleNearest near = NearestOnTriangle(c[0] - point, c[1] - point, c[2] - point);
    const std::uint32_t triangle = bvh->triangles[position];
    if (near.distance2 > best2 ||
        (near.distance2 == best2 && best.found && triangle > best.triangle))
      return;
    const bool nearer = near.distance2 < best2;
    best = {near, triangle, true};
    best2 = near.distance2;
    if (nearer) Tighten();
  }
  static void MeasureOf(NearestQuery& query, std::uint32_t position) {
    static_cast<Query&>(query).Measure(position);
  }
};

}  // namespace

Bvh BuildBvh(const Mesh& mesh) {
  CHECK_LT(mesh.triangles.size(), std::size_t{1} << 28);
  Bvh bvh;
  const Bounds bounds = BoundsOf(mesh);
  const double half = 0.5 * (bounds.max - bounds.min).maxCoeff();
  bvh.origin = bounds.centre();
  bvh.scale = half > 1e-150 ? 1.0 / half : 1.0;
  Builder(mesh, bvh).Run();
  ComputeDipoles(bvh);
  return bvh;
}

BvhNearest NearestInBvh(const Bvh& bvh, NearestKernel kernel, const Vec3& p,
                        double max_distance_m) {
  Query query;
  query.bvh = &bvh;
  query.point = p;
  query.nodes = bvh.nodes.data();
  query.leaves = bvh.leaves.data();
  query.measure = Query::MeasureOf;
  query.best2 = max_distance_m * max_distance_m;
  const Vec3 scaled = bvh.Scaled(p);
  const double size = scaled.norm();
  if (!(size < 1e6)) {
    // So far away that single precision rules nothing out.
    for (std::uint32_t i = 0; i < bvh.corners.size(); ++i) query.Measure(i);
    return query.best;
  }
  query.slack = kSlack * (1 + size);
  for (int k = 0; k < 3; ++k) query.p[k] = static_cast<float>(scaled[k]);
  query.Tighten();
  kernel(query);
  return query.best;
}

std::vector<NamedKernel> AvailableKernels() {
  std::vector<NamedKernel> kernels{{"baseline", NearestBaseline}};
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  if (kNearestAvx2 != nullptr && __builtin_cpu_supports("avx2"))
    kernels.push_back({"avx2", kNearestAvx2});
#endif
  return kernels;
}

}  // namespace handhold::geometry::internal

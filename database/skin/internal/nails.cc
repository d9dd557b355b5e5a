#include "database/skin/internal/nails.h"

#include <array>
#include <cmath>

namespace handhold::skin::internal {
namespace {

using geometry::Vec3;

constexpr int kAround = 20;
/// Rings of a nail from its middle to its rim: place, 0 to 1, and height above the flesh.
struct Ring {
  double place, height_m;
};
constexpr std::array<Ring, 4> kRings = {
    {{0.45, 0.0005}, {0.80, 0.00045}, {0.94, 0.00015}, {1.0, -0.0007}}};
constexpr double kHalfWidth_deg = 44.0, kThumbHalfWidth_deg = 50.0;
constexpr double kBegin = 0.40, kEnd = 0.93;  ///< along the last bone to its very tip
constexpr double kCorner = 0.55;              ///< 0: round, 1: square

/// The unit circle made squarer.
Eigen::Vector2d Rounded(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  const double power = 2.0 / (2.0 + 4.0 * kCorner);
  return {std::copysign(std::pow(std::abs(c), power), c),
          std::copysign(std::pow(std::abs(s), power), s)};
}

struct NailBed {
  Flesh flesh;
  geometry::RigidTransform X_RB;
  double begin_m, end_m, half_width_rad, scale;

  /// On the flesh, (u, v) in the square from -1 to 1: u along the finger, v across. Returns the
  /// place and the way out.
  std::pair<Vec3, Vec3> At(const Eigen::Vector2d& uv) const {
    const double x = 0.5 * (begin_m + end_m) + 0.5 * (end_m - begin_m) * uv.x();
    const double a = half_width_rad * uv.y();
    const Vec3 middle = X_RB * Vec3(x, 0, 0);
    const Vec3 out = X_RB.R * Vec3(0, std::sin(a), std::cos(a));
    // Straight out from the axis to where the flesh ends.
    double low = 0.0, high = 0.1 * scale;
    for (int i = 0; i < 50; ++i) {
      const double at = 0.5 * (low + high);
      (DistanceTo(flesh, middle + at * out).d < 0.0 ? low : high) = at;
    }
    const Vec3 p = middle + low * out;
    return {p, DistanceTo(flesh, p).gradient};
  }
};

Nail MakeNail(const NailBed& bed, int bone) {
  Nail nail{.bone = bone};
  const auto add = [&](const Eigen::Vector2d& uv, double height_m) {
    const auto [p, out] = bed.At(uv);
    nail.mesh.vertices.push_back(p + height_m * bed.scale * out);
    nail.normals.push_back(out);
  };
  add({0, 0}, kRings.front().height_m);
  for (const Ring& ring : kRings)
    for (int k = 0; k < kAround; ++k)
      add(ring.place * Rounded(2.0 * M_PI * k / kAround), ring.height_m);
  const auto at = [](size_t ring, int k) {
    return static_cast<std::uint32_t>(1 + static_cast<int>(ring) * kAround + k % kAround);
  };
  // u along the bone, v to +y, out along +z: u cross v points out.
  for (int k = 0; k < kAround; ++k) nail.mesh.triangles.push_back({0, at(0, k), at(0, k + 1)});
  for (size_t r = 0; r + 1 < kRings.size(); ++r)
    for (int k = 0; k < kAround; ++k) {
      nail.mesh.triangles.push_back({at(r, k), at(r + 1, k), at(r + 1, k + 1)});
      nail.mesh.triangles.push_back({at(r, k), at(r + 1, k + 1), at(r, k + 1)});
    }
  return nail;
}

}  // namespace

std::vector<Nail> NailsOf(const Anatomy& anatomy) {
  std::vector<Nail> nails;
  for (size_t d = 0; d < anatomy.digits.size(); ++d) {
    const int last = anatomy.digits[d].back();
    const Bone& bone = anatomy.bones[static_cast<size_t>(last)];
    const Flesh& flesh = bone.shapes.front();
    const geometry::RigidTransform& X_RB = anatomy.X_RB[static_cast<size_t>(bone.body)];
    double reach_m = 0.0;
    if (const auto* capsule = std::get_if<geometry::Capsule>(&flesh.shape)) {
      for (const double side : {-0.5, 0.5})
        reach_m = std::max(
            reach_m, (X_RB.Inverse() * (flesh.X_RS * Vec3(0, 0, side * capsule->length_m))).x());
    } else if (std::holds_alternative<geometry::Sphere>(flesh.shape)) {
      reach_m = (X_RB.Inverse() * flesh.X_RS.p).x();
    } else {
      continue;
    }
    const double tip_m = reach_m + bone.radius_m;
    const bool thumb = d == 0 && anatomy.has_thumb;
    nails.push_back(
        MakeNail({.flesh = flesh,
                  .X_RB = X_RB,
                  .begin_m = kBegin * tip_m,
                  .end_m = kEnd * tip_m,
                  .half_width_rad = (thumb ? kThumbHalfWidth_deg : kHalfWidth_deg) * M_PI / 180.0,
                  .scale = anatomy.scale},
                 last));
  }
  return nails;
}

}  // namespace handhold::skin::internal

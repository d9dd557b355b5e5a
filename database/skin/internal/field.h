/// The field whose zero surface is the skin at rest: contact shapes that grow together.
///
/// smin_k(a, b) = min(a, b) - k/4 max(0, 1 - |a - b| / k)^2: a union whose seam is filled over a
/// length k; where the two differ by k or more it is the smaller one, to the bit. Every blend of
/// distances has a gradient no longer than 1, so the surface is at least |field| away.
#pragma once

#include <vector>

#include "database/skin/internal/anatomy.h"

namespace handhold::skin::internal {

class Field {
 public:
  /// `anatomy` must outlive the field.
  explicit Field(const Anatomy& anatomy);

  Distance At(const geometry::Vec3& p_R) const;
  /// Of one digit alone, from its knuckle on: how near a point is to it.
  Distance Digit(size_t digit, const geometry::Vec3& p_R) const;
  /// A box around the surface.
  geometry::Bounds Box() const;

 private:
  Distance Own(const Bone& bone, const geometry::Vec3& p_R, double blend_m) const;
  Distance Tree(int bone, const geometry::Vec3& p_R) const;
  Distance Hand(const geometry::Vec3& p_R) const;

  /// Nothing of a bone and what hangs on it is nearer than this: what cannot matter is not asked.
  struct Ball {
    geometry::Vec3 middle_R = geometry::Vec3::Zero();
    double radius_m = 0;

    double AtLeast(const geometry::Vec3& p_R) const { return (p_R - middle_R).norm() - radius_m; }
  };
  Ball BallAround(const std::vector<int>& bones) const;

  const Anatomy& anatomy_;
  std::vector<std::vector<int>> outer_;        ///< of each bone
  std::vector<std::pair<Flesh, Flesh>> webs_;  ///< between neighbouring fingers
  std::vector<Ball> tree_balls_, digit_balls_;
};

Distance SmoothMin(const Distance& a, const Distance& b, double blend_m);

}  // namespace handhold::skin::internal

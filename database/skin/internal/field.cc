#include "database/skin/internal/field.h"

#include <algorithm>
#include <cmath>

namespace handhold::skin::internal {
namespace {

using geometry::Vec3;

// Lengths over which flesh blends, of a hand of scale 1.
constexpr double kPalm_m = 0.010, kThumb_m = 0.006, kFinger_m = 0.002, kWeb_m = 0.014,
                 kKnuckle_m = 0.004;
constexpr double kWebReach = 0.38;     ///< of the proximal phalanx
constexpr double kWebRadius = 0.92;    ///< of its radius
constexpr double kWristCut_m = 0.035;  ///< behind the palm's origin
constexpr double kWristRim_m = 0.006;  ///< over which the cut is rounded
constexpr double kFar = 1e9;

const Distance& Nearer(const Distance& a, const Distance& b) { return b.d < a.d ? b : a; }

/// The first part of a bone's first shape, a little thinner.
Flesh WebOf(const Bone& bone) {
  const Flesh& shape = bone.shapes.front();
  double half_m = 0.0;
  if (const auto* capsule = std::get_if<geometry::Capsule>(&shape.shape))
    half_m = 0.5 * capsule->length_m;
  Vec3 a = shape.X_RS * Vec3(0, 0, -half_m), b = shape.X_RS * Vec3(0, 0, half_m);
  if ((b - bone.joint_R).squaredNorm() < (a - bone.joint_R).squaredNorm()) std::swap(a, b);
  return Round(a, a + kWebReach * (b - a), kWebRadius * bone.radius_m);
}

void Include(const Bone& bone, geometry::Bounds* box) {
  for (const auto* list : {&bone.shapes, &bone.fillings})
    for (const Flesh& flesh : *list) {
      const geometry::Bounds own = geometry::BoundsOf(flesh.shape);
      for (int corner = 0; corner < 8; ++corner)
        box->Include(flesh.X_RS * Vec3((corner & 1) != 0 ? own.max.x() : own.min.x(),
                                       (corner & 2) != 0 ? own.max.y() : own.min.y(),
                                       (corner & 4) != 0 ? own.max.z() : own.min.z()));
    }
}

}  // namespace

Distance SmoothMin(const Distance& a, const Distance& b, double blend_m) {
  const double h = 1.0 - std::abs(a.d - b.d) / blend_m;
  const Distance& low = a.d < b.d ? a : b;
  if (!(h > 0.0)) return low;
  const Distance& high = a.d < b.d ? b : a;
  return {low.d - 0.25 * blend_m * h * h, (1.0 - 0.5 * h) * low.gradient + 0.5 * h * high.gradient};
}

Field::Field(const Anatomy& anatomy) : anatomy_(anatomy), outer_(anatomy.bones.size()) {
  for (size_t i = 0; i < anatomy.bones.size(); ++i) {
    // What hangs on a part of the hand hangs on the palm: Hand takes the parts themselves.
    const bool part_of_hand = anatomy.palm >= 0 && anatomy.bones[i].part != Bone::Part::kOther &&
                              anatomy.bones[i].part != Bone::Part::kPalm;
    int inner = anatomy.bones[i].inner;
    if (inner < 0 || part_of_hand) continue;
    if (anatomy.palm >= 0 && anatomy.bones[static_cast<size_t>(inner)].part != Bone::Part::kOther)
      inner = anatomy.palm;
    outer_[static_cast<size_t>(inner)].push_back(static_cast<int>(i));
  }
  for (size_t d = anatomy.has_thumb ? 1 : 0; d + 1 < anatomy.digits.size(); ++d)
    webs_.emplace_back(WebOf(anatomy.bones[static_cast<size_t>(anatomy.digits[d][0])]),
                       WebOf(anatomy.bones[static_cast<size_t>(anatomy.digits[d + 1][0])]));
  for (const std::vector<int>& digit : anatomy.digits) digit_balls_.push_back(BallAround(digit));
  for (size_t i = 0; i < anatomy.bones.size(); ++i) {
    std::vector<int> all = {static_cast<int>(i)};
    for (size_t k = i + 1; k < anatomy.bones.size(); ++k)
      if (std::find(all.begin(), all.end(), anatomy.bones[k].inner) != all.end())
        all.push_back(static_cast<int>(k));
    tree_balls_.push_back(BallAround(all));
  }
}

Field::Ball Field::BallAround(const std::vector<int>& bones) const {
  geometry::Bounds box;
  double blends_m = 2.0 * kPalm_m * anatomy_.scale;  // a blend bulges by a quarter of its length
  for (const int i : bones) {
    const Bone& bone = anatomy_.bones[static_cast<size_t>(i)];
    Include(bone, &box);
    blends_m += 0.25 * bone.radius_m;
  }
  return {box.centre(), 0.5 * box.diagonal_m() + blends_m};
}

Distance Field::Own(const Bone& bone, const Vec3& p_R, double blend_m) const {
  Distance all = DistanceTo(bone.shapes.front(), p_R);
  for (size_t i = 1; i < bone.shapes.size(); ++i)
    all = SmoothMin(all, DistanceTo(bone.shapes[i], p_R), blend_m);
  for (const Flesh& filling : bone.fillings)
    all = SmoothMin(all, DistanceTo(filling, p_R), blend_m);
  return all;
}

Distance Field::Digit(size_t digit, const Vec3& p_R) const {
  const double blend_m = kFinger_m * anatomy_.scale;
  Distance all{kFar};
  for (const int i : anatomy_.digits[digit])
    all = SmoothMin(all, Own(anatomy_.bones[static_cast<size_t>(i)], p_R, blend_m), blend_m);
  return all;
}

Distance Field::Hand(const Vec3& p_R) const {
  const double s = anatomy_.scale;
  Distance palm = Own(anatomy_.bones[static_cast<size_t>(anatomy_.palm)], p_R, kPalm_m * s);
  for (const Bone& bone : anatomy_.bones)
    if (bone.part == Bone::Part::kMetacarpal)
      palm = SmoothMin(palm, Own(bone, p_R, kPalm_m * s), kPalm_m * s);
  for (const Bone& bone : anatomy_.bones)
    if (bone.part == Bone::Part::kThumbMetacarpal)
      palm = SmoothMin(palm, Own(bone, p_R, kThumb_m * s), kThumb_m * s);
  Distance outer{kFar};
  for (size_t d = 0; d < anatomy_.digits.size(); ++d)
    if (digit_balls_[d].AtLeast(p_R) < std::min(outer.d, palm.d + kKnuckle_m * s))
      outer = Nearer(outer, Digit(d, p_R));
  for (const auto& [a, b] : webs_)
    outer = Nearer(outer, SmoothMin(DistanceTo(a, p_R), DistanceTo(b, p_R), kWeb_m * s));
  Distance hand = SmoothMin(palm, outer, kKnuckle_m * s);
  if (!anatomy_.wrist_ends) return hand;
  // A smooth maximum with the half space in front of the cut: the rim is round.
  const geometry::RigidTransform& X_RB =
      anatomy_.X_RB[static_cast<size_t>(anatomy_.bones[static_cast<size_t>(anatomy_.palm)].body)];
  const Vec3 back = -X_RB.R.col(0);
  const Distance behind{back.dot(p_R - X_RB.p) - kWristCut_m * s, back};
  const Distance cut =
      SmoothMin({-hand.d, -hand.gradient}, {-behind.d, -behind.gradient}, kWristRim_m * s);
  return {-cut.d, -cut.gradient};
}

Distance Field::Tree(int i, const Vec3& p_R) const {
  const Bone& bone = anatomy_.bones[static_cast<size_t>(i)];
  const Distance own = i == anatomy_.palm ? Hand(p_R) : Own(bone, p_R, 0.5 * bone.radius_m);
  Distance all = own;
  for (const int outer : outer_[static_cast<size_t>(i)]) {
    const Bone& next = anatomy_.bones[static_cast<size_t>(outer)];
    const double blend_m =
        (next.part == Bone::Part::kPhalanx ? 0.25 : 0.5) * std::min(bone.radius_m, next.radius_m);
    if (tree_balls_[static_cast<size_t>(outer)].AtLeast(p_R) >= own.d + blend_m) continue;
    all = Nearer(all, SmoothMin(own, Tree(outer, p_R), blend_m));
  }
  return all;
}

Distance Field::At(const Vec3& p_R) const {
  Distance all{kFar};
  for (size_t i = 0; i < anatomy_.bones.size(); ++i)
    if (anatomy_.bones[i].inner < 0 && tree_balls_[i].AtLeast(p_R) < all.d)
      all = Nearer(all, Tree(static_cast<int>(i), p_R));
  return all;
}

geometry::Bounds Field::Box() const {
  geometry::Bounds box;
  double thickest_m = 0.0;
  for (const Bone& bone : anatomy_.bones) {
    Include(bone, &box);
    thickest_m = std::max(thickest_m, bone.radius_m);
  }
  const Vec3 blends = Vec3::Constant(0.5 * thickest_m + kWeb_m * anatomy_.scale);
  box.min -= blends, box.max += blends;
  return box;
}

}  // namespace handhold::skin::internal

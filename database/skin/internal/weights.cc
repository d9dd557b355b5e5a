#include "database/skin/internal/weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace handhold::skin::internal {
namespace {

using geometry::Vec3;

constexpr double kBetweenDigits_m = 0.004, kInPalm_m = 0.003;
constexpr double kBendOver = 0.9, kKnuckleOver = 1.25;  ///< of the radius, to each side of a joint

/// 0 at -1 and before, 1 at 1 and after, with two derivatives that vanish at both.
double Step(double x) {
  const double t = std::clamp(0.5 * (x + 1.0), 0.0, 1.0);
  return t * t * t * (t * (6.0 * t - 15.0) + 10.0);
}

bool InPalm(const Bone& bone) {
  return bone.part == Bone::Part::kPalm || bone.part == Bone::Part::kMetacarpal ||
         bone.part == Bone::Part::kThumbMetacarpal;
}

double DistanceToBone(const Bone& bone, const Vec3& p_R) {
  double least = DistanceTo(bone.shapes.front(), p_R).d;
  for (const Flesh& flesh : bone.shapes) least = std::min(least, DistanceTo(flesh, p_R).d);
  if (bone.part == Bone::Part::kPalm)
    for (const Flesh& flesh : bone.fillings) least = std::min(least, DistanceTo(flesh, p_R).d);
  return least;
}

/// How much of p is beyond the joint of a bone.
double Beyond(const Anatomy& anatomy, const Bone& bone, const Vec3& p_R) {
  const Bone& inner = anatomy.bones[static_cast<size_t>(bone.inner)];
  Vec3 across = bone.axis_R + inner.axis_R;
  if (across.norm() < 0.1) across = bone.axis_R;
  const double over = bone.part == Bone::Part::kPhalanx && InPalm(inner) ? kKnuckleOver : kBendOver;
  return Step((p_R - bone.joint_R).dot(across.normalized()) / (over * bone.radius_m));
}

/// Shares of siblings among each other: by distance, on the scale of `over_m`.
std::vector<double> ByDistance(std::vector<double> distance_m, double over_m) {
  if (distance_m.empty()) return distance_m;
  const double least = *std::min_element(distance_m.begin(), distance_m.end());
  double sum = 0.0;
  for (double& d : distance_m) sum += d = std::exp((least - d) / over_m);
  for (double& d : distance_m) d /= sum;
  return distance_m;
}

class Sharer {
 public:
  Sharer(const Field& field, const Anatomy& anatomy, const Vec3& p_R)
      : field_(field), anatomy_(anatomy), p_R_(p_R), outer_(anatomy.bones.size()) {
    for (size_t i = 0; i < anatomy.bones.size(); ++i) {
      // The digits and what is beyond hang on the palm; metacarpals are part of it.
      int inner = anatomy.bones[i].inner;
      while (inner >= 0 && inner != anatomy.palm &&
             InPalm(anatomy.bones[static_cast<size_t>(inner)]))
        inner = anatomy.bones[static_cast<size_t>(inner)].inner;
      if (inner >= 0 && (static_cast<int>(i) == anatomy.palm || !InPalm(anatomy.bones[i])))
        outer_[static_cast<size_t>(inner)].push_back(i);
    }
    shares_.assign(anatomy.bones.size(), 0.0);
  }

  std::vector<double> Run() {
    std::vector<size_t> roots;
    std::vector<double> distances_m;
    for (size_t i = 0; i < anatomy_.bones.size(); ++i)
      if (anatomy_.bones[i].inner < 0) roots.push_back(i), distances_m.push_back(Reach(i));
    const std::vector<double> part = ByDistance(distances_m, kBetweenDigits_m * anatomy_.scale);
    for (size_t i = 0; i < roots.size(); ++i) Give(roots[i], part[i]);
    return std::move(shares_);
  }

 private:
  /// How near p is to a bone and all that hangs on it.
  double Reach(size_t bone) const {
    double least = DistanceToBone(anatomy_.bones[bone], p_R_);
    if (static_cast<int>(bone) == anatomy_.palm)
      for (const Bone& other : anatomy_.bones)
        if (InPalm(other)) least = std::min(least, DistanceToBone(other, p_R_));
    for (const size_t next : outer_[bone]) least = std::min(least, Reach(next));
    return least;
  }

  void Give(size_t bone, double share) {
    if (share <= 0.0) return;
    std::vector<double> distances_m;
    for (const size_t next : outer_[bone]) {
      const Bone& child = anatomy_.bones[next];
      distances_m.push_back(child.digit >= 0 && static_cast<int>(bone) == anatomy_.palm
                                ? field_.Digit(static_cast<size_t>(child.digit), p_R_).d
                                : Reach(next));
    }
    const std::vector<double> part = ByDistance(distances_m, kBetweenDigits_m * anatomy_.scale);
    double left = share;
    for (size_t i = 0; i < outer_[bone].size(); ++i) {
      const size_t next = outer_[bone][i];
      const double given = share * part[i] * Beyond(anatomy_, anatomy_.bones[next], p_R_);
      left -= given;
      Give(next, given);
    }
    Keep(bone, std::max(0.0, left));
  }

  void Keep(size_t bone, double share) {
    if (static_cast<int>(bone) != anatomy_.palm) {
      shares_[bone] += share;
      return;
    }
    std::vector<size_t> sharing;
    std::vector<double> distances_m;
    for (size_t i = 0; i < anatomy_.bones.size(); ++i)
      if (InPalm(anatomy_.bones[i]))
        sharing.push_back(i), distances_m.push_back(DistanceToBone(anatomy_.bones[i], p_R_));
    const std::vector<double> part = ByDistance(distances_m, kInPalm_m * anatomy_.scale);
    for (size_t i = 0; i < sharing.size(); ++i) shares_[sharing[i]] += share * part[i];
  }

  const Field& field_;
  const Anatomy& anatomy_;
  const Vec3& p_R_;
  std::vector<std::vector<size_t>> outer_;
  std::vector<double> shares_;
};

}  // namespace

std::vector<HalfJoint> HalfJointsOf(const model::Skeleton& skeleton, const Anatomy& anatomy) {
  std::vector<HalfJoint> halves;
  for (size_t i = 0; i < anatomy.bones.size(); ++i) {
    const Bone& bone = anatomy.bones[i];
    if (bone.inner < 0 || bone.part == Bone::Part::kMetacarpal ||
        bone.part == Bone::Part::kThumbMetacarpal)
      continue;
    bool moves = false;
    for (int b = bone.body; b != anatomy.bones[static_cast<size_t>(bone.inner)].body;
         b = skeleton.body(b).parent)
      moves |= skeleton.body(b).joint.nv() > 0;
    if (moves) halves.push_back({static_cast<int>(i)});
  }
  return halves;
}

std::vector<double> SharesAt(const Field& field, const Anatomy& anatomy,
                             const std::vector<HalfJoint>& halves, const Vec3& p_R) {
  std::vector<double> shares = Sharer(field, anatomy, p_R).Run();
  for (const HalfJoint& half : halves) {
    double& outer = shares[static_cast<size_t>(half.outer)];
    double& inner =
        shares[static_cast<size_t>(anatomy.bones[static_cast<size_t>(half.outer)].inner)];
    const double lesser = std::min(outer, inner);
    outer -= lesser, inner -= lesser;
    shares.push_back(2.0 * lesser);
  }
  return shares;
}

void Quantize(const std::vector<double>& shares, std::array<std::uint16_t, 4>* joint,
              std::array<std::uint16_t, 4>* weight) {
  std::vector<std::uint16_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint16_t a, std::uint16_t b) { return shares[a] > shares[b]; });
  order.resize(std::min<size_t>(4, order.size()));
  double sum = 0.0;
  for (const std::uint16_t i : order) sum += shares[i];
  int left = 65535;
  *joint = {}, *weight = {};
  for (size_t k = 1; k < order.size(); ++k) {
    const int part = static_cast<int>(std::lround(65535.0 * shares[order[k]] / sum));
    if (part == 0) break;  // joint 0 with weight 0: what readers expect of an unused place
    (*joint)[k] = order[k], (*weight)[k] = static_cast<std::uint16_t>(part);
    left -= part;
  }
  (*joint)[0] = order[0], (*weight)[0] = static_cast<std::uint16_t>(left);
}

}  // namespace handhold::skin::internal

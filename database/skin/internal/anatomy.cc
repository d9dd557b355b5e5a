#include "database/skin/internal/anatomy.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "database/model/kinematics.h"

namespace handhold::skin::internal {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using model::Skeleton;

constexpr double kDegree = 0.017453292519943295;
/// Mean radius of hand27's phalanges: the lengths of the recipe are for such a hand.
constexpr double kPhalanx_m = 0.0965 / 12.0;
constexpr double kFilling = 0.92;    ///< of the radius beside it: stays below the contact shapes
constexpr double kForearm_m = 0.05;  ///< how far the wrist runs back

/// Positive: to the thumb's side.
struct Spread {
  std::string_view digit;
  double abd_deg;
};
constexpr Spread kSpread[] = {{"index", 6}, {"ring", -6}, {"little", -13}};
constexpr std::pair<std::string_view, double> kBend[] = {{"prx", 5}, {"mid", 10}, {"dst", 6}};

std::string_view After(std::string_view name, char c) {
  const size_t at = name.rfind(c);
  return at == std::string_view::npos ? std::string_view() : name.substr(at + 1);
}
std::string_view Before(std::string_view name, char c) { return name.substr(0, name.find(c)); }

Eigen::VectorXd RestOf(const Skeleton& skeleton) {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(skeleton.nv());
  const auto turn = [&](const model::Joint& joint, std::string_view dof, double angle_deg) {
    const int k = skeleton.FindDof(joint.name + "." + std::string(dof));
    if (k >= 0) v[k] = angle_deg * kDegree;
  };
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Body& body = skeleton.body(b);
    const std::string_view digit = Before(body.name, '.'), part = After(body.name, '.');
    if (digit == "thumb") continue;
    for (const auto& [name, angle_deg] : kBend)
      if (part == name) turn(body.joint, "flex", angle_deg);
    for (const Spread& spread : kSpread)
      if (part == "prx" && digit == spread.digit) turn(body.joint, "abd", spread.abd_deg);
  }
  return skeleton.Integrate(skeleton.ZeroConfiguration(), v);
}

double RadiusOf(const geometry::Shape& shape) {
  if (const auto* capsule = std::get_if<geometry::Capsule>(&shape)) return capsule->radius_m;
  if (const auto* sphere = std::get_if<geometry::Sphere>(&shape)) return sphere->radius_m;
  if (const auto* cylinder = std::get_if<geometry::Cylinder>(&shape)) return cylinder->radius_m;
  const geometry::Bounds box = geometry::BoundsOf(shape);
  return 0.5 * (box.max - box.min).minCoeff();
}

/// The point of a shape's middle line that is nearest to p.
Vec3 NearestInside(const Flesh& flesh, const Vec3& p_R) {
  double half_m = 0.0;
  if (const auto* c = std::get_if<geometry::Capsule>(&flesh.shape)) half_m = 0.5 * c->length_m;
  if (const auto* c = std::get_if<geometry::Cylinder>(&flesh.shape))
    half_m = std::max(0.0, 0.5 * c->length_m - c->radius_m);
  const double z = std::clamp((flesh.X_SR * p_R).z(), -half_m, half_m);
  return flesh.X_RS * Vec3(0, 0, z);
}

const Flesh& Nearest(const std::vector<Flesh>& shapes, const Vec3& p_R) {
  return *std::min_element(shapes.begin(), shapes.end(), [&](const Flesh& a, const Flesh& b) {
    return DistanceTo(a, p_R).d < DistanceTo(b, p_R).d;
  });
}

void AddBones(const Skeleton& skeleton, Anatomy* anatomy) {
  std::vector<int> bone_of(static_cast<size_t>(skeleton.body_count()), -1);
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Body& body = skeleton.body(b);
    const int inner = bone_of[static_cast<size_t>(body.parent)];
    bone_of[static_cast<size_t>(b)] = inner;
    if (body.shapes.empty()) continue;
    const RigidTransform& X_RB = anatomy->X_RB[static_cast<size_t>(b)];
    Bone bone{.body = b, .inner = inner, .joint_R = X_RB.p, .axis_R = X_RB.R.col(0)};
    for (const model::BodyShape& placed : body.shapes) {
      const RigidTransform X_RS = X_RB * placed.X_BS;
      bone.shapes.push_back({placed.shape, X_RS, X_RS.Inverse()});
    }
    bone.radius_m = RadiusOf(body.shapes.front().shape);
    bone_of[static_cast<size_t>(b)] = static_cast<int>(anatomy->bones.size());
    anatomy->bones.push_back(std::move(bone));
  }
}

bool IsPhalanx(const std::string& body) {
  const std::string_view part = After(body, '.');
  return part == "prx" || part == "mid" || part == "dst";
}

/// How thick the fingers are, against hand27's; 1 where there are none.
double ScaleOf(const Skeleton& skeleton, const std::vector<Bone>& bones) {
  double sum_m = 0.0;
  int phalanges = 0;
  for (const Bone& bone : bones) {
    const std::string& name = skeleton.body(bone.body).name;
    if (IsPhalanx(name) && Before(name, '.') != "thumb") sum_m += bone.radius_m, ++phalanges;
  }
  return phalanges > 0 ? sum_m / phalanges / kPhalanx_m : 1.0;
}

void NameParts(const Skeleton& skeleton, Anatomy* anatomy) {
  std::vector<Bone>& bones = anatomy->bones;
  const auto name = [&](int bone) -> const std::string& {
    return skeleton.body(bones[static_cast<size_t>(bone)].body).name;
  };
  const int count = static_cast<int>(bones.size());
  int palm = -1;
  for (int i = 0; i < count; ++i)
    if (name(i) == "palm") palm = i;
  std::vector<std::vector<int>> digits;
  for (int i = 0; i < count && palm >= 0; ++i) {
    if (After(name(i), '.') != "prx") continue;
    int at = bones[static_cast<size_t>(i)].inner;
    while (at > palm) at = bones[static_cast<size_t>(at)].inner;
    if (at == palm) digits.push_back({i});
  }
  anatomy->scale = ScaleOf(skeleton, bones);
  if (digits.size() < 2) {
    for (int i = 0; i < count; ++i)
      if (IsPhalanx(name(i))) bones[static_cast<size_t>(i)].part = Bone::Part::kPhalanx;
    return;
  }
  anatomy->palm = palm;
  anatomy->wrist_ends = bones[static_cast<size_t>(palm)].inner < 0;
  bones[static_cast<size_t>(palm)].part = Bone::Part::kPalm;
  std::stable_partition(digits.begin(), digits.end(), [&](const std::vector<int>& digit) {
    return Before(name(digit[0]), '.') == "thumb";
  });
  anatomy->has_thumb = Before(name(digits[0][0]), '.') == "thumb";
  for (size_t d = 0; d < digits.size(); ++d) {
    const bool thumb = d == 0 && anatomy->has_thumb;
    for (int i = bones[static_cast<size_t>(digits[d][0])].inner; i != palm;
         i = bones[static_cast<size_t>(i)].inner)
      bones[static_cast<size_t>(i)].part =
          thumb ? Bone::Part::kThumbMetacarpal : Bone::Part::kMetacarpal;
    for (int i = digits[d][0]; i < count; ++i) {
      if (i != digits[d].back() && bones[static_cast<size_t>(i)].inner != digits[d].back())
        continue;
      if (i != digits[d].back()) digits[d].push_back(i);
      Bone& bone = bones[static_cast<size_t>(i)];
      bone.part = Bone::Part::kPhalanx;
      bone.digit = static_cast<int>(d);
    }
  }
  anatomy->digits = std::move(digits);
}

/// Flesh between a bone's joint and shapes that begin away from it; and a joint that lies beyond
/// its shapes (a forearm that turns along itself) moves to where they begin.
void FillJoints(Anatomy* anatomy) {
  for (Bone& bone : anatomy->bones) {
    if (bone.inner < 0) continue;
    Bone& inner = anatomy->bones[static_cast<size_t>(bone.inner)];
    const double radius_m = kFilling * std::min(bone.radius_m, inner.radius_m);
    const Flesh& first = Nearest(bone.shapes, bone.joint_R);
    if ((first.X_RS.p - bone.joint_R).dot(bone.axis_R) < -0.5 * bone.radius_m) {
      Vec3 start = first.X_RS.p;
      for (const double side : {-1.0, 1.0}) {
        const Vec3 end = NearestInside(first, first.X_RS.p + side * bone.axis_R);
        if ((end - start).dot(bone.axis_R) < 0) start = end;
      }
      bone.joint_R = start;
      continue;
    }
    const Flesh& last = Nearest(inner.shapes, bone.joint_R);
    if (bone.part != Bone::Part::kPalm && DistanceTo(first, bone.joint_R).d > -0.9 * bone.radius_m)
      bone.fillings.push_back(Round(bone.joint_R, NearestInside(first, bone.joint_R), radius_m));
    if (DistanceTo(last, bone.joint_R).d > -0.9 * inner.radius_m)
      inner.fillings.push_back(Round(NearestInside(last, bone.joint_R), bone.joint_R, radius_m));
  }
}

/// Round bones that run back from the ends and the middle of the palm's first shape.
void AddWrist(Anatomy* anatomy) {
  Bone& palm = anatomy->bones[static_cast<size_t>(anatomy->palm)];
  const Flesh& carpus = palm.shapes.front();
  const RigidTransform X_BR = anatomy->X_RB[static_cast<size_t>(palm.body)].Inverse();  // the
                                                                                        // palm's
                                                                                        // own axes
  const double radius_m = 0.93 * palm.radius_m;
  for (const double side : {-1.0, 0.0, 1.0}) {
    const Vec3 from = X_BR * NearestInside(carpus, carpus.X_RS * Vec3(0, 0, side));
    const Vec3 to(from.x() - kForearm_m * anatomy->scale, 0.85 * from.y(), from.z());
    palm.fillings.push_back(Round(X_BR.Inverse() * from, X_BR.Inverse() * to, radius_m));
  }
}

}  // namespace

Flesh Round(const Vec3& a_R, const Vec3& b_R, double radius_m) {
  const Vec3 along = b_R - a_R;
  RigidTransform X_RS = RigidTransform::Translation(0.5 * (a_R + b_R));
  if (along.norm() > 0.0)
    X_RS.R = Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), along).toRotationMatrix();
  return {geometry::Capsule{radius_m, along.norm()}, X_RS, X_RS.Inverse()};
}

Distance DistanceTo(const Flesh& flesh, const Vec3& p_R) {
  const Vec3 p_S = flesh.X_SR * p_R;
  if (const auto* capsule = std::get_if<geometry::Capsule>(&flesh.shape)) {
    const double half_m = 0.5 * capsule->length_m;
    const Vec3 out(p_S.x(), p_S.y(), p_S.z() - std::clamp(p_S.z(), -half_m, half_m));
    const double length_m = out.norm();
    return {length_m - capsule->radius_m,
            flesh.X_RS.R * (length_m > 0.0 ? Vec3(out / length_m) : Vec3::UnitX())};
  }
  const geometry::SurfacePoint nearest = geometry::SignedDistance(flesh.shape, p_S);
  return {nearest.distance_m, flesh.X_RS.R * nearest.normal_S};
}

Anatomy Dissect(const Skeleton& skeleton) {
  Anatomy anatomy;
  anatomy.q_rest = RestOf(skeleton);
  model::KinematicsData data(skeleton);
  model::ComputePoses<double>(skeleton, anatomy.q_rest, &data);
  const RigidTransform X_RW = data.X_WB.size() > 1 ? data.X_WB[1].Inverse() : RigidTransform();
  for (const RigidTransform& X_WB : data.X_WB) anatomy.X_RB.push_back(X_RW * X_WB);
  AddBones(skeleton, &anatomy);
  NameParts(skeleton, &anatomy);
  FillJoints(&anatomy);
  if (anatomy.palm >= 0) AddWrist(&anatomy);
  return anatomy;
}

}  // namespace handhold::skin::internal

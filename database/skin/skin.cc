#include "database/skin/skin.h"

#include <utility>

#include "database/base/check.h"
#include "database/model/hand_library.h"
#include "database/skin/internal/anatomy.h"
#include "database/skin/internal/collapse.h"
#include "database/skin/internal/field.h"
#include "database/skin/internal/nails.h"
#include "database/skin/internal/surface.h"
#include "database/skin/internal/weights.h"

namespace handhold::skin {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kGrid_m = 0.003;
constexpr int kRelax = 12, kSettle = 3;
constexpr double kNear_m = 0.005, kHandCounts = 16.0;

Vec3 Reflected(const Vec3& p) { return {p.x(), -p.y(), p.z()}; }

RigidTransform Reflected(const RigidTransform& X) {
  const Vec3 mirror(1, -1, 1);
  return {mirror.asDiagonal() * X.R * mirror.asDiagonal(), Reflected(X.p)};
}

void Mirror(const model::Skeleton& right, Skin* skin) {
  for (Vec3& p : skin->p_R) p = Reflected(p);
  for (Vec3& n : skin->normal_R) n = Reflected(n);
  for (auto& triangle : skin->triangles) std::swap(triangle[1], triangle[2]);
  for (SkinJoint& joint : skin->joints) {
    joint.X_RJ_rest = Reflected(joint.X_RJ_rest);
    joint.X_inner_rest = Reflected(joint.X_inner_rest);
  }
  skin->q_rest = model::MirrorConfiguration(right, skin->q_rest);
}

/// On an arm the hand is what touches: errors there count more. None where all is hand.
std::vector<double> WhereErrorsCount(const internal::Anatomy& anatomy,
                                     const std::vector<Vec3>& vertices) {
  std::vector<double> weight;
  if (anatomy.palm < 0 || anatomy.wrist_ends) return weight;
  for (const Vec3& p : vertices) {
    bool hand = false;
    for (const internal::Bone& bone : anatomy.bones)
      if (bone.part != internal::Bone::Part::kOther)
        for (const internal::Flesh& flesh : bone.shapes)
          hand |= internal::DistanceTo(flesh, p).d < kNear_m;
    weight.push_back(hand ? kHandCounts : 1.0);
  }
  return weight;
}

/// Joints of bodies, then half joints.
void AddJoints(const model::Skeleton& skeleton, const internal::Anatomy& anatomy,
               const std::vector<internal::HalfJoint>& halves, Skin* skin) {
  const auto pose = [&](int body) { return anatomy.X_RB[static_cast<size_t>(body)]; };
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const int inner = skeleton.body(b).parent;
    skin->joints.push_back({.name = skeleton.body(b).name,
                            .body = b,
                            .inner = inner,
                            .X_RJ_rest = pose(b),
                            .X_inner_rest = pose(inner).Inverse() * pose(b)});
  }
  for (const internal::HalfJoint& half : halves) {
    const internal::Bone& outer = anatomy.bones[static_cast<size_t>(half.outer)];
    const int inner = anatomy.bones[static_cast<size_t>(outer.inner)].body;
    skin->joints.push_back({.name = skeleton.body(outer.body).name + "-half",
                            .body = outer.body,
                            .inner = inner,
                            .half = true,
                            .X_RJ_rest = pose(outer.body),
                            .X_inner_rest = pose(inner).Inverse() * pose(outer.body)});
  }
}

void AddWeights(const model::Skeleton& skeleton, const internal::Field& field,
                const internal::Anatomy& anatomy, const std::vector<internal::HalfJoint>& halves,
                Skin* skin) {
  const auto bodies = static_cast<size_t>(skeleton.body_count()) - 1;
  for (const Vec3& p : skin->p_R) {
    const std::vector<double> shares = internal::SharesAt(field, anatomy, halves, p);
    std::vector<double> of_joints(bodies + halves.size(), 0.0);
    for (size_t i = 0; i < anatomy.bones.size(); ++i)
      of_joints[static_cast<size_t>(anatomy.bones[i].body) - 1] = shares[i];
    for (size_t i = 0; i < halves.size(); ++i)
      of_joints[bodies + i] = shares[anatomy.bones.size() + i];
    internal::Quantize(of_joints, &skin->joint.emplace_back(), &skin->weight.emplace_back());
  }
}

void AddNails(const internal::Anatomy& anatomy, Skin* skin) {
  for (const internal::Nail& nail : internal::NailsOf(anatomy)) {
    const auto base = static_cast<std::uint32_t>(skin->p_R.size());
    const int body = anatomy.bones[static_cast<size_t>(nail.bone)].body;
    for (size_t v = 0; v < nail.mesh.vertices.size(); ++v) {
      skin->p_R.push_back(nail.mesh.vertices[v]);
      skin->normal_R.push_back(nail.normals[v]);
      skin->joint.push_back({static_cast<std::uint16_t>(body - 1), 0, 0, 0});
      skin->weight.push_back({65535, 0, 0, 0});
    }
    for (const auto& [a, b, c] : nail.mesh.triangles)
      skin->triangles.push_back({base + a, base + b, base + c});
  }
}

}  // namespace

Result<Skin> MakeSkin(const model::Skeleton& skeleton, const SkinOptions& options) {
  if (skeleton.draft().side == "left") {
    const model::Skeleton right = model::Mirrored(skeleton);
    HANDHOLD_ASSIGN(Skin skin, MakeSkin(right, options));
    Mirror(right, &skin);
    return skin;
  }
  const internal::Anatomy anatomy = internal::Dissect(skeleton);
  if (anatomy.bones.empty())
    return Error{ErrorCode::kInvalid,
                 "skeleton '" + skeleton.name() + "' has no shapes to grow a skin from"};
  const internal::Field field(anatomy);
  geometry::Mesh mesh = internal::March(field, kGrid_m * anatomy.scale);
  internal::Relax(field, kRelax, &mesh);
  mesh = internal::Collapse(mesh, options.triangles, WhereErrorsCount(anatomy, mesh.vertices));
  internal::Settle(field, kSettle, &mesh);

  Skin skin;
  skin.q_rest = anatomy.q_rest;
  skin.p_R = std::move(mesh.vertices);
  skin.triangles = std::move(mesh.triangles);
  for (const Vec3& p : skin.p_R) skin.normal_R.push_back(field.At(p).gradient.normalized());
  std::vector<internal::HalfJoint> halves;
  if (options.half_joints) halves = internal::HalfJointsOf(skeleton, anatomy);
  AddJoints(skeleton, anatomy, halves, &skin);
  if (skin.joints.size() > 65535)
    return Error{ErrorCode::kInvalid, "skeleton '" + skeleton.name() + "' has too many joints"};
  AddWeights(skeleton, field, anatomy, halves, &skin);
  skin.first_nail_vertex = skin.p_R.size();
  skin.first_nail_triangle = skin.triangles.size();
  if (options.nails) AddNails(anatomy, &skin);
  return skin;
}

std::vector<RigidTransform> JointPoses(const Skin& skin, std::span<const RigidTransform> X_WB) {
  std::vector<RigidTransform> X_WJ;
  X_WJ.reserve(skin.joints.size());
  for (const SkinJoint& joint : skin.joints) {
    CHECK_LT(static_cast<size_t>(joint.body), X_WB.size());
    const RigidTransform& X_WB_outer = X_WB[static_cast<size_t>(joint.body)];
    if (!joint.half) {
      X_WJ.push_back(X_WB_outer);
      continue;
    }
    const RigidTransform& X_WB_inner = X_WB[static_cast<size_t>(joint.inner)];
    const geometry::Mat3& R0 = joint.X_inner_rest.R;
    const geometry::Mat3 R = X_WB_inner.R.transpose() * X_WB_outer.R;
    const Vec3 turned = geometry::Log(R0.transpose() * R);
    X_WJ.push_back({X_WB_inner.R * R0 * geometry::Exp<double>(0.5 * turned), X_WB_outer.p});
  }
  return X_WJ;
}

std::vector<Vec3> DeformedVertices(const Skin& skin, std::span<const RigidTransform> X_WJ) {
  CHECK_EQ(X_WJ.size(), skin.joints.size());
  std::vector<RigidTransform> X_WR;
  for (size_t j = 0; j < X_WJ.size(); ++j)
    X_WR.push_back(X_WJ[j] * skin.joints[j].X_RJ_rest.Inverse());
  std::vector<Vec3> p_W(skin.p_R.size(), Vec3::Zero());
  for (size_t v = 0; v < p_W.size(); ++v)
    for (size_t k = 0; k < 4; ++k)
      if (skin.weight[v][k] > 0)
        p_W[v] += skin.weight[v][k] / 65535.0 * (X_WR[skin.joint[v][k]] * skin.p_R[v]);
  return p_W;
}

}  // namespace handhold::skin

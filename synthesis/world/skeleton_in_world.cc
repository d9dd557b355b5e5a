#include "synthesis/world/skeleton_in_world.h"

#include <utility>

#include "database/base/check.h"

namespace handhold::synthesis {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;
using model::JointType;

/// X_JpJc: the joint's own motion at its coordinates.
RigidTransform JointMotion(const model::Joint& joint, const Eigen::VectorXd& q, int i) {
  RigidTransform X;
  switch (joint.type) {
    case JointType::kFixed:
      break;
    case JointType::kHinge:
      X.R = geometry::AxisAngle<double>(joint.axes[0], q[i]);
      break;
    case JointType::kUniversal:
      X.R = geometry::AxisAngle<double>(joint.axes[0], q[i]) *
            geometry::AxisAngle<double>(joint.axes[1], q[i + 1]);
      break;
    case JointType::kFree:
      X.p = q.segment<3>(i);
      i += 3;
      [[fallthrough]];
    case JointType::kBall:
      X.R = geometry::FromQuaternion(q[i], q[i + 1], q[i + 2], q[i + 3]);
      break;
  }
  return X;
}

}  // namespace

std::vector<RigidTransform> SkeletonInWorld::Compose(const Eigen::VectorXd& q) const {
  std::vector<RigidTransform> X_WB(static_cast<size_t>(skeleton_->body_count()));
  X_WB[0] = X_WRoot_;
  for (int i = 1; i < skeleton_->body_count(); ++i) {
    const model::Body& body = skeleton_->body(i);
    X_WB[static_cast<size_t>(i)] = X_WB[static_cast<size_t>(body.parent)] * body.joint.X_PJp *
                                   JointMotion(body.joint, q, skeleton_->q_index(i)) *
                                   body.joint.X_BJc.Inverse();
  }
  return X_WB;
}

Result<SkeletonInWorld> SkeletonInWorld::Add(const model::Skeleton& skeleton, World* world,
                                             const SkeletonInWorldOptions& options) {
  SkeletonInWorld s;
  s.skeleton_ = std::make_shared<const model::Skeleton>(skeleton);
  s.world_ = world;
  s.X_WRoot_ = options.X_WRoot;
  const int n = skeleton.body_count();
  const std::vector<RigidTransform> X_WB = s.Compose(skeleton.ZeroConfiguration());

  // Who carries whom: a welded body belongs to the nearest ancestor that moves.
  std::vector<int> carrier(static_cast<size_t>(n), 0);
  std::vector<std::vector<geometry::MassProperties>> masses(static_cast<size_t>(n));
  s.parts_.resize(static_cast<size_t>(n));
  s.parts_[0].X_EB = options.X_WRoot;
  for (int i = 1; i < n; ++i) {
    const auto u = static_cast<size_t>(i);
    const model::Body& body = skeleton.body(i);
    const bool welded = body.joint.type == JointType::kFixed;
    carrier[u] = welded ? carrier[static_cast<size_t>(body.parent)] : i;
    const int c = carrier[u];
    s.parts_[u].X_EB = c == 0 ? X_WB[u] : X_WB[static_cast<size_t>(c)].Inverse() * X_WB[u];
    if (c != 0 && body.mass.mass_kg > 0) {
      masses[static_cast<size_t>(c)].push_back(geometry::Transformed(s.parts_[u].X_EB, body.mass));
    }
  }
  for (int i = 1; i < n; ++i) {
    const auto u = static_cast<size_t>(i);
    const model::Body& body = skeleton.body(i);
    if (carrier[u] == i) {
      geometry::MassProperties mass;
      if (!masses[u].empty()) mass = geometry::Composed(masses[u]);
      HANDHOLD_ASSIGN(s.parts_[u].engine_body, world->AddBody(body.name, mass, X_WB[u]));
      const int parent = s.parts_[static_cast<size_t>(body.parent)].engine_body;
      const RigidTransform X_WJ = X_WB[static_cast<size_t>(body.parent)] * body.joint.X_PJp;
      const Vec3 axis0 = X_WJ.R * body.joint.axes[0], axis1 = X_WJ.R * body.joint.axes[1];
      const std::string& name = body.joint.name;
      int& joint = s.parts_[u].engine_joint;
      const int child = s.parts_[u].engine_body;
      if (body.joint.type == JointType::kHinge) {
        HANDHOLD_ASSIGN(joint, world->AddHinge({name, parent, child, X_WJ.p, axis0}));
      } else if (body.joint.type == JointType::kUniversal) {
        HANDHOLD_ASSIGN(joint, world->AddUniversal({name, parent, child, X_WJ.p, axis0, axis1}));
      } else if (body.joint.type == JointType::kBall) {
        HANDHOLD_ASSIGN(joint, world->AddBall({name, parent, child, X_WJ.p}));
      }
    } else {
      s.parts_[u].engine_body = s.parts_[static_cast<size_t>(carrier[u])].engine_body;
    }
    if (!options.colliders) continue;
    for (const model::BodyShape& shape : body.shapes) {
      HANDHOLD_TRY(world->AddCollider({.name = body.name + "/" + shape.name,
                                       .body = s.parts_[u].engine_body,
                                       .X_BS = s.parts_[u].X_EB * shape.X_BS,
                                       .shape = shape.shape,
                                       .group = ColliderGroup::kHand}));
    }
  }
  return s;
}

Status SkeletonInWorld::SetConfiguration(const Eigen::VectorXd& q) {
  CHECK_EQ(q.size(), skeleton_->nq());
  if (!q.allFinite())
    return Error{ErrorCode::kInvalid,
                 "skeleton " + skeleton_->name() + ": its configuration is not finite"};
  const std::vector<RigidTransform> X_WB = Compose(q);
  for (int i = 1; i < skeleton_->body_count(); ++i) {
    if (skeleton_->body(i).joint.type == JointType::kFixed) continue;
    HANDHOLD_TRY(world_->SetPose(engine_body(i), X_WB[static_cast<size_t>(i)]));
    HANDHOLD_TRY(world_->SetVelocity(engine_body(i), Vec3::Zero(), Vec3::Zero()));
  }
  return {};
}

Status SkeletonInWorld::SetDrives(const Eigen::VectorXd& target_rad,
                                  const Eigen::VectorXd& target_rate_rad_per_s,
                                  const Eigen::VectorXd& stiffness_Nm_per_rad,
                                  const Eigen::VectorXd& damping_Nms_per_rad) {
  for (const Eigen::VectorXd* v :
       {&target_rad, &target_rate_rad_per_s, &stiffness_Nm_per_rad, &damping_Nms_per_rad}) {
    CHECK_EQ(v->size(), skeleton_->nv());
  }
  for (int i = 1; i < skeleton_->body_count(); ++i) {
    const JointType type = skeleton_->body(i).joint.type;
    if (type == JointType::kFixed || type == JointType::kFree) continue;
    const int axes = type == JointType::kUniversal ? 2 : 1;
    for (int axis = 0; axis < axes; ++axis) {
      const int k = skeleton_->v_index(i) + axis;
      HANDHOLD_TRY(world_->SetDrive(engine_joint(i), axis,
                                    {target_rad[k], target_rate_rad_per_s[k],
                                     stiffness_Nm_per_rad[k], damping_Nms_per_rad[k]}));
    }
  }
  return {};
}

RigidTransform SkeletonInWorld::X_WB(int body) const {
  const Part& part = parts_[static_cast<size_t>(body)];
  return world_->X_WB(part.engine_body) * part.X_EB;
}

Eigen::VectorXd SkeletonInWorld::q() const {
  Eigen::VectorXd q = skeleton_->ZeroConfiguration();
  for (int i = 1; i < skeleton_->body_count(); ++i) {
    const model::Body& body = skeleton_->body(i);
    const int k = skeleton_->q_index(i);
    const RigidTransform X_JpJc =
        (X_WB(body.parent) * body.joint.X_PJp).Inverse() * X_WB(i) * body.joint.X_BJc;
    switch (body.joint.type) {
      case JointType::kFixed:
        break;
      case JointType::kUniversal:
        q[k + 1] = world_->angle_rad(engine_joint(i), 1);
        [[fallthrough]];
      case JointType::kHinge:
        q[k] = world_->angle_rad(engine_joint(i), 0);
        break;
      case JointType::kFree:
        q.segment<3>(k) = X_JpJc.p;
        q.segment<4>(k + 3) = geometry::ToQuaternion(X_JpJc.R);
        break;
      case JointType::kBall:
        q.segment<4>(k) = geometry::ToQuaternion(X_JpJc.R);
        break;
    }
  }
  return q;
}

Eigen::VectorXd SkeletonInWorld::v() const {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(skeleton_->nv());
  for (int i = 1; i < skeleton_->body_count(); ++i) {
    const model::Body& body = skeleton_->body(i);
    const int k = skeleton_->v_index(i);
    const RigidTransform X_WJc = X_WB(i) * body.joint.X_BJc;
    const int parent = engine_body(body.parent);
    const Vec3 omega_Jc =
        X_WJc.R.transpose() * (world_->omega_W(engine_body(i)) - world_->omega_W(parent));
    switch (body.joint.type) {
      case JointType::kFixed:
        break;
      case JointType::kUniversal:
        v[k + 1] = world_->rate_rad_per_s(engine_joint(i), 1);
        [[fallthrough]];
      case JointType::kHinge:
        v[k] = world_->rate_rad_per_s(engine_joint(i), 0);
        break;
      case JointType::kFree:
        v.segment<3>(k + 3) =
            X_WJc.R.transpose() * (world_->PointVelocity(engine_body(i), X_WJc.p) -
                                   world_->PointVelocity(parent, X_WJc.p));
        [[fallthrough]];
      case JointType::kBall:
        v.segment<3>(k) = omega_Jc;
        break;
    }
  }
  return v;
}

}  // namespace handhold::synthesis

#include "synthesis/world/skeleton_in_world.h"

#include <algorithm>
#include <string>
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
        HANDHOLD_ASSIGN(joint, world->AddBall({name, parent, child, X_WJ.p, X_WJ.R}));
      } else if (body.joint.type == JointType::kFree && parent == kFixedBody) {
        HANDHOLD_ASSIGN(joint, world->AddSoftRoot({name, child, body.joint.X_BJc}));
      }
    } else {
      s.parts_[u].engine_body = s.parts_[static_cast<size_t>(carrier[u])].engine_body;
    }
  }
  if (options.colliders) HANDHOLD_TRY(s.AddColliders(options));
  return s;
}

Status SkeletonInWorld::AddColliders(const SkeletonInWorldOptions& options) {
  struct Placed {
    int collider, body;
  };
  std::vector<Placed> placed;
  // By engine body: those that a joint holds together.
  std::vector<std::pair<int, int>> joined;
  for (int i = 1; i < skeleton_->body_count(); ++i) {
    const model::Body& body = skeleton_->body(i);
    joined.push_back(std::minmax(engine_body(i), engine_body(body.parent)));
    for (const model::BodyShape& shape : body.shapes) {
      HANDHOLD_ASSIGN(const int collider,
                      world_->AddCollider({.name = body.name + "/" + shape.name,
                                           .body = engine_body(i),
                                           .X_BS = parts_[static_cast<size_t>(i)].X_EB * shape.X_BS,
                                           .shape = shape.shape,
                                           .mask = options.mask}));
      placed.push_back({collider, engine_body(i)});
    }
  }
  if ((options.mask.is & options.mask.meets) == 0) return {};
  for (size_t i = 0; i < placed.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (placed[i].body == placed[j].body) continue;
      const std::pair<int, int> bodies = std::minmax(placed[i].body, placed[j].body);
      if (std::find(joined.begin(), joined.end(), bodies) != joined.end() ||
          world_->Overlap(placed[i].collider, placed[j].collider)) {
        world_->IgnorePair(placed[i].collider, placed[j].collider);
      }
    }
  }
  return {};
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

Status SkeletonInWorld::SetVelocities(const Eigen::VectorXd& v) {
  CHECK_EQ(v.size(), skeleton_->nv());
  for (int i = 1; i < skeleton_->body_count(); ++i) {
    const model::Body& body = skeleton_->body(i);
    const model::Joint& joint = body.joint;
    if (joint.type == JointType::kFixed) continue;
    const int k = skeleton_->v_index(i), parent = engine_body(body.parent);
    const RigidTransform X_WJp = X_WB(body.parent) * joint.X_PJp, X_WBody = X_WB(i),
                         X_WJc = X_WBody * joint.X_BJc;
    Vec3 omega = world_->omega_W(parent), v_Jc = world_->PointVelocity(parent, X_WJc.p);
    switch (joint.type) {
      case JointType::kFixed:
        break;
      case JointType::kUniversal:
        omega += X_WJc.R * joint.axes[1] * v[k + 1];
        [[fallthrough]];
      case JointType::kHinge:
        omega += X_WJp.R * joint.axes[0] * v[k];
        break;
      case JointType::kFree:
        v_Jc += X_WJc.R * v.segment<3>(k + 3);
        [[fallthrough]];
      case JointType::kBall:
        omega += X_WJc.R * v.segment<3>(k);
        break;
    }
    HANDHOLD_TRY(
        world_->SetVelocity(engine_body(i), omega, v_Jc + omega.cross(X_WBody.p - X_WJc.p)));
  }
  return {};
}

Status SkeletonInWorld::SetDrives(const Eigen::VectorXd& q_target, const Eigen::VectorXd& v_target,
                                  const Eigen::VectorXd& stiffness,
                                  const Eigen::VectorXd& damping) {
  CHECK_EQ(q_target.size(), skeleton_->nq());
  for (const Eigen::VectorXd* v : {&v_target, &stiffness, &damping})
    CHECK_EQ(v->size(), skeleton_->nv());
  for (int i = 1; i < skeleton_->body_count(); ++i) {
    const JointType type = skeleton_->body(i).joint.type;
    const int k = skeleton_->v_index(i), kq = skeleton_->q_index(i);
    if (type == JointType::kHinge || type == JointType::kUniversal) {
      const int axes = type == JointType::kUniversal ? 2 : 1;
      for (int axis = 0; axis < axes; ++axis) {
        HANDHOLD_TRY(world_->SetDrive(
            engine_joint(i), axis,
            {q_target[kq + axis], v_target[k + axis], stiffness[k + axis], damping[k + axis]}));
      }
    } else if (type == JointType::kBall) {
      HANDHOLD_TRY(world_->SetBallDrive(
          engine_joint(i), {.target_R = geometry::FromQuaternion(
                                q_target[kq], q_target[kq + 1], q_target[kq + 2], q_target[kq + 3]),
                            .target_rate_rad_per_s = v_target.segment<3>(k),
                            .stiffness_Nm_per_rad = stiffness.segment<3>(k).asDiagonal(),
                            .damping_Nms_per_rad = damping.segment<3>(k).asDiagonal()}));
    } else if (type == JointType::kFree) {
      HANDHOLD_TRY(DriveRoot(i, q_target, v_target, stiffness, damping));
    }
  }
  return {};
}

Status SkeletonInWorld::DriveRoot(int i, const Eigen::VectorXd& q_target,
                                  const Eigen::VectorXd& v_target, const Eigen::VectorXd& stiffness,
                                  const Eigen::VectorXd& damping) {
  const model::Joint& joint = skeleton_->body(i).joint;
  const int k = skeleton_->v_index(i);
  const RigidTransform X_WJc = X_WB(skeleton_->body(i).parent) * joint.X_PJp *
                               JointMotion(joint, q_target, skeleton_->q_index(i));
  if (world_->kinematic(engine_body(i)))
    return world_->MoveTo(engine_body(i), X_WJc * joint.X_BJc.Inverse());
  const auto K = stiffness.segment<6>(k), B = damping.segment<6>(k);
  const std::string what = "skeleton " + skeleton_->name() + ", joint " + joint.name;
  if (engine_joint(i) < 0) {
    return Error{ErrorCode::kUnsupported,
                 what + ": a free joint on a moving body cannot be driven"};
  }
  if (K.isZero(0.0) && B.isZero(0.0)) {
    world_->ClearDrive(engine_joint(i));
    return {};
  }
  if (K[3] != K[4] || K[3] != K[5] || B[3] != B[4] || B[3] != B[5]) {
    return Error{ErrorCode::kUnsupported,
                 what + ": the three linear springs of a soft root must be alike"};
  }
  return world_->SetSoftRoot(engine_joint(i), {.X_WF = X_WJc,
                                               .omega_W = X_WJc.R * v_target.segment<3>(k),
                                               .v_W = X_WJc.R * v_target.segment<3>(k + 3),
                                               .stiffness_N_per_m = K[3],
                                               .damping_Ns_per_m = B[3],
                                               .stiffness_Nm_per_rad = K.head<3>().asDiagonal(),
                                               .damping_Nms_per_rad = B.head<3>().asDiagonal()});
}

Status SkeletonInWorld::SetLimits() {
  for (int i = 1; i < skeleton_->body_count(); ++i) {
    const model::Joint& joint = skeleton_->body(i).joint;
    if (joint.type == JointType::kBall)
      HANDHOLD_TRY(world_->SetBallLimits(engine_joint(i), joint.lower_rad, joint.upper_rad));
    if (joint.type != JointType::kHinge && joint.type != JointType::kUniversal) continue;
    const int axes = joint.type == JointType::kUniversal ? 2 : 1;
    for (int axis = 0; axis < axes; ++axis) {
      HANDHOLD_TRY(
          world_->SetLimits(engine_joint(i), axis, joint.lower_rad[axis], joint.upper_rad[axis]));
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

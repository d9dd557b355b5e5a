#include "tests/support/mujoco_hand.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "database/base/check.h"
#include "database/exchange/mjcf.h"
#include "database/model/kinematics.h"
#include "synthesis/grasp_control/outboard.h"

namespace handhold::testing {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

Result<std::string> MjcfOf(const model::Skeleton& hand, const model::Prop& prop,
                           const artefact::Grasp& grasp, const synthesis::HandSceneOptions& options,
                           const std::vector<geometry::Mesh>& convex_pieces) {
  exchange::MjcfGrasp scene;
  scene.hand = &hand;
  scene.prop = &prop;
  scene.X_WH = grasp.X_PH;
  scene.q = grasp.q;
  scene.q_squeeze = grasp.q_squeeze;
  scene.friction = options.friction;
  scene.convex_pieces = convex_pieces;
  scene.step_s = options.step_s;
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, grasp.q, &data);
  std::vector<synthesis::Outboard> outboard;
  synthesis::ComputeOutboard(hand, data.X_WB, &outboard);
  scene.stiffness = scene.damping = Eigen::VectorXd::Zero(hand.nv());
  for (int b = 1; b < hand.body_count(); ++b) {
    const model::Joint& joint = hand.body(b).joint;
    if (joint.type == model::JointType::kFree) continue;
    const Mat3 I = outboard[static_cast<size_t>(b)].AboutJoint_Jc() +
                   options.inertia_floor_kgm2 * Mat3::Identity();
    for (int axis = 0; axis < joint.nv(); ++axis) {
      const Vec3 a =
          joint.type == model::JointType::kBall ? Vec3(Vec3::Unit(axis)) : joint.axes[axis];
      scene.stiffness[hand.v_index(b) + axis] = options.stiffness_per_s2 * a.dot(I * a);
      scene.damping[hand.v_index(b) + axis] = options.damping_per_s * a.dot(I * a);
    }
  }
  scene.prop_mass = prop.mass;
  if (!geometry::CheckMass(scene.prop_mass)) {
    std::vector<geometry::MassProperties> parts;
    for (const model::PropShape& shape : prop.shapes) {
      HANDHOLD_ASSIGN(const auto part,
                      geometry::MassOf(shape.shape, 1000.0, geometry::OpenMesh::kUseHull));
      parts.push_back(geometry::Transformed(shape.X_PS, part));
    }
    scene.prop_mass = geometry::Composed(parts);
  }
  scene.prop_mass = geometry::WithTotalMass(scene.prop_mass, options.mass_kg);
  return exchange::WriteMjcf(scene);
}

struct MujocoHand::Impl {
  mjModel* m = nullptr;
  mjData* d = nullptr;
  mjData* formed = nullptr;
  int prop = -1, prop_qpos = 0, prop_dof = 0;
  ~Impl() {
    mj_deleteData(formed);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  bool OfProp(int geom) const { return m->geom_bodyid[geom] == prop; }
};

MujocoHand::MujocoHand(const std::string& mjcf, const synthesis::HandSceneOptions& options)
    : options_(options), impl_(std::make_unique<Impl>()) {
  mjVFS vfs;
  mj_defaultVFS(&vfs);
  CHECK_EQ(mj_addBufferVFS(&vfs, "grasp.xml", mjcf.data(), static_cast<int>(mjcf.size())), 0);
  char error[1000] = "";
  impl_->m = mj_loadXML("grasp.xml", &vfs, error, sizeof error);
  mj_deleteVFS(&vfs);
  if (impl_->m == nullptr) std::fprintf(stderr, "MuJoCo: %s\n", error);
  CHECK(impl_->m != nullptr);
  impl_->d = mj_makeData(impl_->m);
  impl_->formed = mj_makeData(impl_->m);
  impl_->prop = mj_name2id(impl_->m, mjOBJ_BODY, "prop");
  CHECK_GE(impl_->prop, 0);
  const int joint = impl_->m->body_jntadr[impl_->prop];
  impl_->prop_qpos = impl_->m->jnt_qposadr[joint];
  impl_->prop_dof = impl_->m->jnt_dofadr[joint];
  mj_resetDataKeyframe(impl_->m, impl_->d, 0);
  mj_forward(impl_->m, impl_->d);
}
MujocoHand::~MujocoHand() = default;

double MujocoHand::step_s() const { return impl_->m->opt.timestep; }
double MujocoHand::mass_kg() const { return impl_->m->body_mass[impl_->prop]; }
int MujocoHand::actuators() const { return static_cast<int>(impl_->m->nu); }
double MujocoHand::TotalMass() const { return mj_getTotalmass(impl_->m); }

RigidTransform MujocoHand::BodyPose(const std::string& name) const {
  const int b = mj_name2id(impl_->m, mjOBJ_BODY, name.c_str());
  CHECK_GE(b, 0);
  RigidTransform X;
  for (int i = 0; i < 3; ++i) {
    X.p[i] = impl_->d->xpos[3 * b + i];
    for (int k = 0; k < 3; ++k) X.R(i, k) = impl_->d->xmat[9 * b + 3 * i + k];
  }
  return X;
}

synthesis::GraspFault MujocoHand::Form() {
  using synthesis::GraspFault;
  mjModel* const m = impl_->m;
  mjData* const d = impl_->d;
  mj_resetDataKeyframe(m, d, 0);
  const std::vector<double> still(d->qpos + impl_->prop_qpos, d->qpos + impl_->prop_qpos + 7);
  const auto steps = [&](double seconds) {
    return static_cast<int>(std::lround(seconds / step_s()));
  };
  for (int k = 0; k < steps(options_.hold_s); ++k) {
    mj_step(m, d);
    std::copy(still.begin(), still.end(), d->qpos + impl_->prop_qpos);
    std::fill_n(d->qvel + impl_->prop_dof, 6, 0.0);
  }
  mj_forward(m, d);
  if (hand_contacts() == 0) return GraspFault::kNotTouched;
  const Vec3 before = X_WO() * p_OCom();
  for (int k = 0; k < steps(options_.settle_s); ++k) mj_step(m, d);
  mj_forward(m, d);
  const double went = (X_WO() * p_OCom() - before).norm();
  if (!std::isfinite(went)) return GraspFault::kLost;
  if (hand_contacts() < options_.min_contacts || went > options_.loose_m) return GraspFault::kLoose;
  depths_ = {};
  for (int c = 0; c < d->ncon; ++c) {
    if (impl_->OfProp(d->contact[c].geom[0]) || impl_->OfProp(d->contact[c].geom[1]))
      depths_.object_m = std::max(depths_.object_m, -d->contact[c].dist);
  }
  mj_copyData(impl_->formed, m, d);
  return GraspFault::kNone;
}

Status MujocoHand::Restart() {
  mj_copyData(impl_->d, impl_->m, impl_->formed);
  return {};
}

Status MujocoHand::Step(const Vec3& f_onObject_W, double rise_m) {
  if (rise_m != 0.0) return Error{ErrorCode::kUnsupported, "the palm is fixed"};
  for (int i = 0; i < 3; ++i) impl_->d->xfrc_applied[6 * impl_->prop + i] = f_onObject_W[i];
  mj_step(impl_->m, impl_->d);
  if (!X_WO().p.allFinite()) return Error{ErrorCode::kNotConverged, "MuJoCo diverged"};
  return {};
}

RigidTransform MujocoHand::X_WO() const {
  const double* q = impl_->d->qpos + impl_->prop_qpos;
  return {geometry::FromQuaternion(q[3], q[4], q[5], q[6]), Vec3(q[0], q[1], q[2])};
}

Vec3 MujocoHand::p_OCom() const {
  const double* p = impl_->m->body_ipos + 3 * impl_->prop;
  return {p[0], p[1], p[2]};
}

int MujocoHand::hand_contacts() const {
  int n = 0;
  for (int c = 0; c < impl_->d->ncon; ++c) {
    const auto& contact = impl_->d->contact[c];
    n += contact.dist < 0 && impl_->OfProp(contact.geom[0]) != impl_->OfProp(contact.geom[1]);
  }
  return n;
}

}  // namespace handhold::testing

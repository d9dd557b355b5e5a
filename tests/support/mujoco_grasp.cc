#include "tests/support/mujoco_grasp.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstdio>
#include <variant>

#include "database/base/check.h"

namespace handhold::test_support {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

std::string Numbers(const Vec3& v) {
  char text[100];
  std::snprintf(text, sizeof text, "%.12g %.12g %.12g", v.x(), v.y(), v.z());
  return text;
}

std::string Place(const RigidTransform& X) {
  const Eigen::Quaterniond q(X.R);
  char text[160];
  std::snprintf(text, sizeof text, " pos='%s' quat='%.12g %.12g %.12g %.12g'", Numbers(X.p).c_str(),
                q.w(), q.x(), q.y(), q.z());
  return text;
}

constexpr char kSkin[] =
    " condim='4' solref='0.005 1' solimp='0.5 0.99 0.0001' contype='1' conaffinity='2'";

/// A body with its children. The root (body 1) hangs without a joint in a mocap-free fixed body.
std::string BodyXml(const model::Skeleton& s, int index, const std::string& friction) {
  const model::Body& body = s.body(index);
  const RigidTransform X = s.X_JcB(body.parent) * body.joint.X_PJp;
  std::string out = "<body name='b" + std::to_string(index) + "'" + Place(X) + ">";
  if (body.joint.type == model::JointType::kHinge ||
      body.joint.type == model::JointType::kUniversal) {
    for (int k = 0; k < body.joint.nv(); ++k) {
      out += "<joint name='j" + std::to_string(s.v_index(index) + k) + "' type='hinge' axis='" +
             Numbers(body.joint.axes[k]) + "' damping='0' armature='0.0001'/>";
    }
  }
  out += "<inertial pos='0 0 0' mass='0.05' diaginertia='2e-5 2e-5 2e-5'/>";
  for (const model::BodyShape& shape : body.shapes) {
    const auto* capsule = std::get_if<geometry::Capsule>(&shape.shape);
    if (capsule == nullptr) continue;
    char size[60];
    std::snprintf(size, sizeof size, "%.12g %.12g", capsule->radius_m,
                  std::max(1e-6, 0.5 * capsule->length_m));
    out += "<geom type='capsule' size='" + std::string(size) + "'" +
           Place(s.X_JcB(index) * shape.X_BS) + kSkin + friction + "/>";
  }
  for (int b = index + 1; b < s.body_count(); ++b) {
    if (s.body(b).parent == index) out += BodyXml(s, b, friction);
  }
  return out + "</body>";
}

}  // namespace

struct MujocoGrasp::Impl {
  mjModel* m = nullptr;
  mjData* d = nullptr;
  int nv = 0;
  int object = 0;  // body
  Vec3 base = Vec3::Zero();
  std::vector<double> qpos, qvel, act, ctrl;
};

MujocoGrasp::MujocoGrasp(const model::Skeleton& hand, const std::vector<std::string>& pieces,
                         const MujocoGraspOptions& options)
    : options_(options), impl_(std::make_unique<Impl>()) {
  char text[200];
  std::snprintf(text, sizeof text, " friction='%g 0.02 0.0001'", options.friction);
  const std::string friction = text;
  std::string xml =
      "<mujoco><compiler angle='radian'/><option timestep='0.004' integrator='implicitfast' "
      "cone='elliptic' impratio='10' noslip_iterations='2' gravity='0 0 0'/><asset>";
  for (size_t i = 0; i < pieces.size(); ++i) {
    xml += "<mesh name='m" + std::to_string(i) + "' inertia='convex' file='" + pieces[i] + "'/>";
  }
  xml += "</asset><worldbody>";
  // The root is a mocap body: it is put where the grasp has it.
  std::string root = BodyXml(hand, 1, friction);
  const size_t at = root.find('>');
  root = root.substr(0, at) + " mocap='true'" + root.substr(at);
  // A mocap body has no inertia of its own to say, and no joints below may hang on it: MuJoCo lets
  // them.
  xml += root;
  xml += "<body name='object'><freejoint name='object'/>";
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::snprintf(text, sizeof text, "' mass='%.12g' condim='4' contype='2' conaffinity='1'",
                  options.mass_kg / static_cast<double>(pieces.size()));
    xml += "<geom type='mesh' mesh='m" + std::to_string(i) + text + friction + "/>";
  }
  xml += "</body></worldbody><actuator>";
  for (int dof = 6; dof < hand.nv(); ++dof) {
    std::snprintf(text, sizeof text,
                  "<position name='a%d' joint='j%d' kp='%g' kv='%g' forcerange='-%g %g'/>", dof,
                  dof, options.kp_Nm_per_rad, options.damping_Nms_per_rad, options.most_Nm,
                  options.most_Nm);
    xml += text;
  }
  xml += "</actuator></mujoco>";
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(xml.c_str(), nullptr, error, sizeof error);
  if (spec == nullptr) std::fprintf(stderr, "MuJoCo: %s\n%s\n", error, xml.c_str());
  CHECK(spec != nullptr);
  impl_->m = mj_compile(spec, nullptr);
  if (impl_->m == nullptr) std::fprintf(stderr, "MuJoCo: %s\n", mjs_getError(spec));
  CHECK(impl_->m != nullptr);
  mj_deleteSpec(spec);
  impl_->d = mj_makeData(impl_->m);
  impl_->nv = hand.nv();
  impl_->object = mj_name2id(impl_->m, mjOBJ_BODY, "object");
}

MujocoGrasp::~MujocoGrasp() {
  mj_deleteData(impl_->d);
  mj_deleteModel(impl_->m);
}

bool MujocoGrasp::Form(const artefact::Grasp& grasp) {
  mjModel* m = impl_->m;
  mjData* d = impl_->d;
  mj_resetData(m, d);
  for (int k = 0; k < 3; ++k) d->mocap_pos[k] = grasp.q[k];
  for (int k = 0; k < 4; ++k) d->mocap_quat[k] = grasp.q[3 + k];
  for (int dof = 6; dof < impl_->nv; ++dof) {
    const int joint = mj_name2id(m, mjOBJ_JOINT, ("j" + std::to_string(dof)).c_str());
    const int servo = mj_name2id(m, mjOBJ_ACTUATOR, ("a" + std::to_string(dof)).c_str());
    d->qpos[m->jnt_qposadr[joint]] = grasp.q[dof + 1];
    d->ctrl[servo] = grasp.q[dof + 1];
  }
  mj_forward(m, d);
  depths_ = {};
  for (int i = 0; i < d->ncon; ++i)
    depths_.object_m = std::max(depths_.object_m, -d->contact[i].dist);
  const int steps = static_cast<int>(options_.squeeze_s / step_s() + 0.5);
  for (int i = 0; i < steps; ++i) {
    // Ten targets of ten steps, as published.
    const double share = (1.0 + i / (steps / 10)) / 10.0;
    for (int dof = 6; dof < impl_->nv; ++dof) {
      const int servo = mj_name2id(m, mjOBJ_ACTUATOR, ("a" + std::to_string(dof)).c_str());
      d->ctrl[servo] =
          grasp.q[dof + 1] + share * grasp.tau_squeeze_Nm[dof] / options_.kp_Nm_per_rad;
    }
    mj_step(m, d);
  }
  impl_->qpos.assign(d->qpos, d->qpos + m->nq);
  impl_->qvel.assign(d->qvel, d->qvel + m->nv);
  impl_->ctrl.assign(d->ctrl, d->ctrl + m->nu);
  const RigidTransform X = X_WO();
  return (X * p_OCom() - p_OCom()).norm() < options_.shift_m &&
         geometry::Log(X.R).norm() < options_.turn_rad && hand_contacts() > 0;
}

Status MujocoGrasp::Restart() {
  std::ranges::copy(impl_->qpos, impl_->d->qpos);
  std::ranges::copy(impl_->qvel, impl_->d->qvel);
  std::ranges::copy(impl_->ctrl, impl_->d->ctrl);
  std::fill_n(impl_->d->qacc_warmstart, impl_->m->nv, 0.0);
  std::fill_n(impl_->d->xfrc_applied, 6 * impl_->m->nbody, 0.0);
  mj_forward(impl_->m, impl_->d);
  return {};
}

Status MujocoGrasp::Step(const Vec3& f_onObject_W, double /*rise_m*/) {
  for (int k = 0; k < 3; ++k) impl_->d->xfrc_applied[6 * impl_->object + k] = f_onObject_W[k];
  mj_step(impl_->m, impl_->d);
  return {};
}

RigidTransform MujocoGrasp::X_WO() const {
  const double* p = impl_->d->xpos + 3 * impl_->object;
  const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> R(impl_->d->xmat +
                                                                         9 * impl_->object);
  return {R, Vec3(p[0], p[1], p[2])};
}

Vec3 MujocoGrasp::p_OCom() const {
  const double* p = impl_->m->body_ipos + 3 * impl_->object;
  return {p[0], p[1], p[2]};
}

int MujocoGrasp::hand_contacts() const {
  int count = 0;
  for (int i = 0; i < impl_->d->ncon; ++i) count += impl_->d->contact[i].dist < 0;
  return count;
}

}  // namespace handhold::test_support

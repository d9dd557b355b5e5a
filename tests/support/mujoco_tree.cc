#include "tests/support/mujoco_tree.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "database/base/check.h"
#include "database/geometry/inertia.h"

namespace handhold::testing {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;
using model::Body;
using model::JointType;
using model::Skeleton;

std::string Numbers(std::initializer_list<double> values) {
  std::string out;
  char text[40];
  for (double v : values) {
    std::snprintf(text, sizeof text, "%.17g ", v);
    out += text;
  }
  return out;
}

/// MuJoCo's own free joint only where its world coordinates are ours.
bool IsOwnFree(const Body& body) {
  return body.joint.type == JointType::kFree && body.parent == 0 &&
         body.joint.X_PJp.R == Mat3::Identity() && body.joint.X_PJp.p == Vec3::Zero();
}

std::string JointXml(const Body& body, int index) {
  const auto named = [&](const char* what, int k) {
    return std::string(" name='") + what + std::to_string(k) + "_" + std::to_string(index) + "'";
  };
  const auto hinge = [&](const Vec3& axis, int k) {
    return "<joint type='hinge'" + named("h", k) + " axis='" +
           Numbers({axis.x(), axis.y(), axis.z()}) + "'/>";
  };
  std::string out;
  switch (body.joint.type) {
    case JointType::kFixed:
      return "";
    case JointType::kHinge:
      return hinge(body.joint.axes[0], 0);
    case JointType::kUniversal:
      return hinge(body.joint.axes[0], 0) + hinge(body.joint.axes[1], 1);
    case JointType::kFree:
      if (IsOwnFree(body)) return "<freejoint" + named("f", 0) + "/>";
      for (int k = 0; k < 3; ++k) {
        const Vec3 axis = Vec3::Unit(k);
        out += "<joint type='slide'" + named("s", k) + " axis='" +
               Numbers({axis.x(), axis.y(), axis.z()}) + "'/>";
      }
      [[fallthrough]];
    case JointType::kBall:
      return out + "<joint type='ball'" + named("b", 0) + "/>";
  }
  return "";
}

std::string BodyXml(const Skeleton& skeleton, int index) {
  const Body& body = skeleton.body(index);
  // Parent's MuJoCo frame is its joint's child frame.
  const RigidTransform X = skeleton.X_JcB(body.parent) * body.joint.X_PJp;
  const Eigen::Quaterniond q(X.R);
  std::string out = "<body name='" + std::to_string(index) + "' pos='" +
                    Numbers({X.p.x(), X.p.y(), X.p.z()}) + "' quat='" +
                    Numbers({q.w(), q.x(), q.y(), q.z()}) + "'>" + JointXml(body, index);
  const geometry::MassProperties m = geometry::Transformed(skeleton.X_JcB(index), body.mass);
  if (m.mass_kg > 0) {
    const Mat3& I = m.I_BCom_B;
    out += "<inertial pos='" + Numbers({m.p_BCom.x(), m.p_BCom.y(), m.p_BCom.z()}) + "' mass='" +
           Numbers({m.mass_kg}) + "' fullinertia='" +
           Numbers({I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)}) + "'/>";
  }
  for (int child = index + 1; child < skeleton.body_count(); ++child) {
    if (skeleton.body(child).parent == index) out += BodyXml(skeleton, child);
  }
  return out + "</body>";
}

}  // namespace

struct MujocoTree::Impl {
  const Skeleton skeleton;
  mjModel* m = nullptr;
  mjData* d = nullptr;
  Eigen::MatrixXd T;
  Eigen::VectorXd bias;  ///< dT/dt v
  std::vector<double> dense;

  explicit Impl(const Skeleton& s) : skeleton(s) {}
  int JointId(const char* kind, int k, int body) const {
    const std::string name = kind + std::to_string(k) + "_" + std::to_string(body);
    const int id = mj_name2id(m, mjOBJ_JOINT, name.c_str());
    CHECK_GE(id, 0);
    return id;
  }
  void Kinematics() {
    mj_kinematics(m, d);
    mj_comPos(m, d);
  }
  void SetBody(int b, const Eigen::VectorXd& q, const Eigen::VectorXd& v);
};

void MujocoTree::Impl::SetBody(int b, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const Body& body = skeleton.body(b);
  const int iq = skeleton.q_index(b), iv = skeleton.v_index(b);
  const auto angle = [&](int id, int k) {
    d->qpos[m->jnt_qposadr[id]] = q[iq + k];
    T(m->jnt_dofadr[id], iv + k) = 1;
  };
  switch (body.joint.type) {
    case JointType::kFixed:
      return;
    case JointType::kUniversal:
      angle(JointId("h", 1, b), 1);
      [[fallthrough]];
    case JointType::kHinge:
      angle(JointId("h", 0, b), 0);
      return;
    case JointType::kBall: {
      const int id = JointId("b", 0, b);
      for (int k = 0; k < 4; ++k) d->qpos[m->jnt_qposadr[id] + k] = q[iq + k];
      for (int k = 0; k < 3; ++k) T(m->jnt_dofadr[id] + k, iv + k) = 1;
      return;
    }
    case JointType::kFree:
      break;
  }
  const Mat3 R = geometry::FromQuaternion<double>(q[iq + 3], q[iq + 4], q[iq + 5], q[iq + 6]);
  const Vec3 w = v.segment<3>(iv), lin = v.segment<3>(iv + 3);
  const Vec3 rate = R * w.cross(lin);
  const bool own = IsOwnFree(body);
  for (int k = 0; k < 3; ++k) {
    const int id = own ? JointId("f", 0, b) : JointId("s", k, b);
    const int offset = own ? k : 0;
    d->qpos[m->jnt_qposadr[id] + offset] = q[iq + k];
    T.block(m->jnt_dofadr[id] + offset, iv + 3, 1, 3) = R.row(k);
    bias[m->jnt_dofadr[id] + offset] = rate[k];
  }
  const int id = own ? JointId("f", 0, b) : JointId("b", 0, b);
  for (int k = 0; k < 4; ++k) d->qpos[m->jnt_qposadr[id] + (own ? 3 : 0) + k] = q[iq + 3 + k];
  for (int k = 0; k < 3; ++k) T(m->jnt_dofadr[id] + (own ? 3 : 0) + k, iv + k) = 1;
}

MujocoTree::MujocoTree(const Skeleton& skeleton) : impl_(std::make_unique<Impl>(skeleton)) {
  std::string xml =
      "<mujoco><compiler angle='radian' inertiafromgeom='false' balanceinertia='false' "
      "boundmass='0' boundinertia='0'/><option><flag contact='disable' constraint='disable'/>"
      "</option><worldbody>";
  for (int b = 1; b < skeleton.body_count(); ++b) {
    if (skeleton.body(b).parent == 0) xml += BodyXml(skeleton, b);
  }
  xml += "</worldbody></mujoco>";
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(xml.c_str(), nullptr, error, sizeof error);
  if (spec == nullptr) {
    std::fprintf(stderr, "MuJoCo: %s\n%s\n", error, xml.c_str());
    std::abort();
  }
  impl_->m = mj_compile(spec, nullptr);
  if (impl_->m == nullptr) {
    std::fprintf(stderr, "MuJoCo: %s\n%s\n", mjs_getError(spec), xml.c_str());
    std::abort();
  }
  mj_deleteSpec(spec);
  impl_->d = mj_makeData(impl_->m);
  CHECK_EQ(static_cast<int>(impl_->m->nv), skeleton.nv());
  impl_->dense.resize(static_cast<size_t>(skeleton.nv() * skeleton.nv()));
}

MujocoTree::~MujocoTree() {
  mj_deleteData(impl_->d);
  mj_deleteModel(impl_->m);
}

void MujocoTree::SetState(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                          const Eigen::VectorXd& a, const Eigen::Vector3d& gravity_W) {
  const int nv = impl_->skeleton.nv();
  impl_->T = Eigen::MatrixXd::Zero(nv, nv);
  impl_->bias = Eigen::VectorXd::Zero(nv);
  for (int b = 1; b < impl_->skeleton.body_count(); ++b) impl_->SetBody(b, q, v);
  for (int k = 0; k < 3; ++k) impl_->m->opt.gravity[k] = gravity_W[k];
  Eigen::Map<Eigen::VectorXd>(impl_->d->qvel, nv) = impl_->T * v;
  Eigen::VectorXd qacc = impl_->bias;
  if (a.size() > 0) qacc += impl_->T * a;
  Eigen::Map<Eigen::VectorXd>(impl_->d->qacc, nv) = qacc;
}

void MujocoTree::Simulate(double step_s, int steps) {
  impl_->m->opt.timestep = step_s;
  impl_->m->opt.integrator = mjINT_RK4;
  for (int i = 0; i < steps; ++i) mj_step(impl_->m, impl_->d);
  impl_->Kinematics();
}

void MujocoTree::RunInverseDynamics() {
  impl_->Kinematics();
  mj_comVel(impl_->m, impl_->d);
  mj_rne(impl_->m, impl_->d, 1, impl_->d->qfrc_inverse);
}

void MujocoTree::RunMassMatrix() {
  impl_->Kinematics();
  mj_crb(impl_->m, impl_->d);
  mj_fullM(impl_->m, impl_->d, impl_->dense.data());
}

Eigen::VectorXd MujocoTree::InverseDynamics() {
  RunInverseDynamics();
  return impl_->T.transpose() *
         Eigen::Map<Eigen::VectorXd>(impl_->d->qfrc_inverse, impl_->skeleton.nv());
}

Eigen::MatrixXd MujocoTree::MassMatrix() {
  RunMassMatrix();
  const int nv = impl_->skeleton.nv();
  return impl_->T.transpose() * Eigen::Map<Eigen::MatrixXd>(impl_->dense.data(), nv, nv) * impl_->T;
}

Eigen::VectorXd MujocoTree::ForwardDynamics(const Eigen::VectorXd& tau) {
  const int nv = impl_->skeleton.nv();
  const Eigen::MatrixXd T_inverse = impl_->T.inverse();
  Eigen::Map<Eigen::VectorXd>(impl_->d->qfrc_applied, nv) = T_inverse.transpose() * tau;
  mj_forward(impl_->m, impl_->d);
  return T_inverse * (Eigen::Map<Eigen::VectorXd>(impl_->d->qacc, nv) - impl_->bias);
}

std::vector<double> MujocoTree::RawState() const {
  const mjModel& m = *impl_->m;
  const mjData& d = *impl_->d;
  std::vector<double> state(d.qpos, d.qpos + m.nq);
  state.insert(state.end(), d.qvel, d.qvel + m.nv);
  state.insert(state.end(), d.qacc, d.qacc + m.nv);
  return state;
}

void MujocoTree::SetRawState(const std::vector<double>& state) {
  const mjModel& m = *impl_->m;
  std::copy_n(state.data(), m.nq, impl_->d->qpos);
  std::copy_n(state.data() + m.nq, m.nv, impl_->d->qvel);
  std::copy_n(state.data() + m.nq + m.nv, m.nv, impl_->d->qacc);
}

Eigen::Vector3d MujocoTree::BodyOrigin(int body) const {
  const int id = mj_name2id(impl_->m, mjOBJ_BODY, std::to_string(body).c_str());
  const double *p = impl_->d->xpos + 3 * id, *R = impl_->d->xmat + 9 * id;
  const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> R_WJ(R);
  return Eigen::Vector3d(p[0], p[1], p[2]) + R_WJ * impl_->skeleton.X_JcB(body).p;
}

Eigen::Matrix3d MujocoTree::BodyRotation(int body) const {
  const int id = mj_name2id(impl_->m, mjOBJ_BODY, std::to_string(body).c_str());
  const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> R_WJ(impl_->d->xmat +
                                                                            9 * id);
  return R_WJ * impl_->skeleton.X_JcB(body).R;
}

}  // namespace handhold::testing

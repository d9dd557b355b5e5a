#include "synthesis/world/world.h"

#include <cmath>
#include <numbers>

#include "database/base/check.h"
#include "synthesis/world/engine.h"

namespace handhold::synthesis {
namespace {

using geometry::Vec3;
using internal::Guard;
using internal::JointData;
using internal::JointKind;
using internal::ToVec;

// ODE's parameter groups: a joint's second axis is dParam...2.
int Group(int axis) { return axis == 0 ? 0 : static_cast<int>(dParamGroup2); }

void SetParam(const JointData& joint, int axis, int parameter, double value) {
  if (joint.kind == JointKind::kHinge) {
    dJointSetHingeParam(joint.id, parameter, value);
  } else {
    dJointSetUniversalParam(joint.id, parameter + Group(axis), value);
  }
}

double GetParam(const JointData& joint, int axis, int parameter) {
  return joint.kind == JointKind::kHinge
             ? dJointGetHingeParam(joint.id, parameter)
             : dJointGetUniversalParam(joint.id, parameter + Group(axis));
}

// A universal joint of ODE has its axis 1 in the first body, our child, and axis 2 in the second,
// our parent: the reverse of ours.
int OdeAxis(const JointData& joint, int axis) {
  return joint.kind == JointKind::kUniversal ? 1 - axis : axis;
}

// Both stops before each step: ODE accepts lo > hi and then lets the joint hang limp.
void SetStops(const JointData& joint, int ode_axis, double lo, double hi) {
  SetParam(joint, ode_axis, dParamLoStop, lo);
  SetParam(joint, ode_axis, dParamHiStop, hi);
  CHECK_EQ(GetParam(joint, ode_axis, dParamLoStop), lo);
  CHECK_EQ(GetParam(joint, ode_axis, dParamHiStop), hi);
}

/// The anchor as the first body, our child, has it: where the joint's force acts on it.
Vec3 ChildAnchor(const JointData& joint) {
  dVector3 p;
  if (joint.kind == JointKind::kHinge) dJointGetHingeAnchor(joint.id, p);
  if (joint.kind == JointKind::kUniversal) dJointGetUniversalAnchor(joint.id, p);
  if (joint.kind == JointKind::kBall) dJointGetBallAnchor(joint.id, p);
  return ToVec(p);
}

}  // namespace

World::World(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
World::~World() = default;

Result<std::unique_ptr<World>> World::Create(const WorldOptions& options) {
  HANDHOLD_TRY(internal::EnterEngine());
  if (!options.gravity_W.allFinite() || options.quick_iterations < 1) {
    return Error{ErrorCode::kInvalid,
                 "world: gravity must be finite and quick_iterations at least 1"};
  }
  return std::unique_ptr<World>(new World(std::make_unique<Impl>(options)));
}

Result<int> World::AddBody(const std::string& name, const geometry::MassProperties& mass_B,
                           const geometry::RigidTransform& X_WB) {
  if (Status ok = geometry::CheckMass(mass_B); !ok) {
    return ok.error().Within("body " + name + " cannot be simulated");
  }
  HANDHOLD_TRY(internal::CheckPose(X_WB, "body " + name));
  const int index = body_count();
  internal::BodyData body{name, nullptr, mass_B.p_BCom, mass_B.mass_kg};
  HANDHOLD_TRY(Guard("adding body " + name, &impl_->warnings, [&] {
    const geometry::Mat3& I = mass_B.I_BCom_B;
    dMass mass;
    dMassSetParameters(&mass, mass_B.mass_kg, 0, 0, 0, I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2),
                       I(1, 2));
    body.id = dBodyCreate(impl_->world);
    dBodySetMass(body.id, &mass);
    dBodySetGyroscopicMode(body.id, 1);
    dBodySetFiniteRotationMode(body.id, 0);
  }));
  impl_->bodies.push_back(body);
  HANDHOLD_TRY(SetPose(index, X_WB));
  return index;
}

Status World::Impl::CheckJoint(const std::string& name, int parent, int child,
                               const Vec3& p_W) const {
  CHECK(parent >= 0 && parent < static_cast<int>(bodies.size()));
  CHECK(child >= 0 && child < static_cast<int>(bodies.size()));
  if (child == kFixedBody || child == parent) {
    return Error{ErrorCode::kInvalid,
                 "joint " + name + ": its child must be a moving body other than its parent"};
  }
  if (!p_W.allFinite())
    return Error{ErrorCode::kInvalid, "joint " + name + ": its anchor is not finite"};
  return {};
}

int World::Impl::AddJoint(JointData joint) {
  joints.push_back(std::move(joint));
  JointData& j = joints.back();
  // The child first: dJointAttach(j, 0, body) would turn the signs of angle and rate.
  dJointAttach(j.id, bodies[static_cast<size_t>(j.child)].id,
               bodies[static_cast<size_t>(j.parent)].id);
  dJointSetFeedback(j.id, &j.feedback);
  return static_cast<int>(joints.size()) - 1;
}

Result<int> World::AddHinge(const HingeSpec& s) {
  HANDHOLD_TRY(impl_->CheckJoint(s.name, s.parent, s.child, s.p_W));
  if (!(std::abs(s.axis_W.norm() - 1.0) < 1e-9))
    return Error{ErrorCode::kInvalid, "joint " + s.name + ": its axis is not a unit vector"};
  int index = -1;
  HANDHOLD_TRY(Guard("adding joint " + s.name, &impl_->warnings, [&] {
    JointData joint;
    joint.name = s.name, joint.kind = JointKind::kHinge, joint.parent = s.parent,
    joint.child = s.child;
    joint.id = dJointCreateHinge(impl_->world, nullptr);
    index = impl_->AddJoint(std::move(joint));
    const dJointID id = impl_->joints.back().id;
    dJointSetHingeAnchor(id, s.p_W.x(), s.p_W.y(), s.p_W.z());
    dJointSetHingeAxis(id, s.axis_W.x(), s.axis_W.y(), s.axis_W.z());
  }));
  return index;
}

Result<int> World::AddUniversal(const UniversalSpec& s) {
  HANDHOLD_TRY(impl_->CheckJoint(s.name, s.parent, s.child, s.p_W));
  if (!(std::abs(s.axis1_W.norm() - 1.0) < 1e-9) || !(std::abs(s.axis2_W.norm() - 1.0) < 1e-9) ||
      !(std::abs(s.axis1_W.dot(s.axis2_W)) < 1e-9)) {
    return Error{ErrorCode::kInvalid,
                 "joint " + s.name + ": its axes are not unit vectors at right angles"};
  }
  int index = -1;
  HANDHOLD_TRY(Guard("adding joint " + s.name, &impl_->warnings, [&] {
    JointData joint;
    joint.name = s.name, joint.kind = JointKind::kUniversal, joint.parent = s.parent,
    joint.child = s.child;
    joint.id = dJointCreateUniversal(impl_->world, nullptr);
    index = impl_->AddJoint(std::move(joint));
    const dJointID id = impl_->joints.back().id;
    dJointSetUniversalAnchor(id, s.p_W.x(), s.p_W.y(), s.p_W.z());
    dJointSetUniversalAxis1(id, s.axis2_W.x(), s.axis2_W.y(), s.axis2_W.z());
    dJointSetUniversalAxis2(id, s.axis1_W.x(), s.axis1_W.y(), s.axis1_W.z());
  }));
  return index;
}

Result<int> World::AddBall(const BallSpec& s) {
  HANDHOLD_TRY(impl_->CheckJoint(s.name, s.parent, s.child, s.p_W));
  int index = -1;
  HANDHOLD_TRY(Guard("adding joint " + s.name, &impl_->warnings, [&] {
    JointData joint;
    joint.name = s.name, joint.kind = JointKind::kBall, joint.parent = s.parent,
    joint.child = s.child;
    joint.id = dJointCreateBall(impl_->world, nullptr);
    index = impl_->AddJoint(std::move(joint));
    dJointSetBallAnchor(impl_->joints.back().id, s.p_W.x(), s.p_W.y(), s.p_W.z());
  }));
  return index;
}

Result<int> World::AddCollider(const ColliderSpec& spec) {
  CHECK(spec.body >= 0 && spec.body < body_count());
  if (spec.law &&
      (!(spec.law->stiffness_N_per_m > 0) || !std::isfinite(spec.law->stiffness_N_per_m) ||
       !(spec.law->damping_Ns_per_m >= 0) || !std::isfinite(spec.law->damping_Ns_per_m) ||
       !(spec.law->friction >= 0) || !std::isfinite(spec.law->friction))) {
    return Error{
        ErrorCode::kInvalid,
        "collider " + spec.name + ": stiffness must be > 0, damping and friction >= 0, all finite"};
  }
  internal::ColliderData& collider = impl_->colliders.emplace_back();
  collider.name = spec.name, collider.body = spec.body, collider.law = spec.law;
  const dSpaceID space =
      spec.group == ColliderGroup::kHand ? impl_->hand_space : impl_->object_space;
  Status made;
  Status ok = Guard("adding collider " + spec.name, &impl_->warnings, [&] {
    made =
        internal::MakeGeom(spec, impl_->bodies[static_cast<size_t>(spec.body)], space, &collider);
  });
  if (!ok || !made) {
    if (collider.geom != nullptr) dGeomDestroy(collider.geom);
    impl_->colliders.pop_back();
    return ok ? made.error() : ok.error();
  }
  const int index = static_cast<int>(impl_->colliders.size()) - 1;
  dGeomSetData(collider.geom, reinterpret_cast<void*>(static_cast<intptr_t>(index)));
  return index;
}

Status World::MoveFixedCollider(int collider, const geometry::RigidTransform& X_WS) {
  CHECK(collider >= 0 && collider < static_cast<int>(impl_->colliders.size()));
  const internal::ColliderData& c = impl_->colliders[static_cast<size_t>(collider)];
  CHECK_EQ(c.body, kFixedBody);
  HANDHOLD_TRY(internal::CheckPose(X_WS, "collider " + c.name));
  return Guard("moving collider " + c.name, &impl_->warnings, [&] {
    const internal::OdeMatrix R(X_WS.R);
    dGeomSetPosition(c.geom, X_WS.p.x(), X_WS.p.y(), X_WS.p.z());
    dGeomSetRotation(c.geom, R.m);
  });
}

Status World::SetPose(int body, const geometry::RigidTransform& X_WB) {
  CHECK(body > kFixedBody && body < body_count());
  const internal::BodyData& b = impl_->bodies[static_cast<size_t>(body)];
  HANDHOLD_TRY(internal::CheckPose(X_WB, "body " + b.name));
  return Guard("placing body " + b.name, &impl_->warnings, [&] {
    const Vec3 com = X_WB * b.p_BCom;
    const internal::OdeMatrix R(X_WB.R);
    dBodySetPosition(b.id, com.x(), com.y(), com.z());
    dBodySetRotation(b.id, R.m);
  });
}

Status World::SetVelocity(int body, const Vec3& omega_W, const Vec3& v_W) {
  CHECK(body > kFixedBody && body < body_count());
  const internal::BodyData& b = impl_->bodies[static_cast<size_t>(body)];
  if (!omega_W.allFinite() || !v_W.allFinite())
    return Error{ErrorCode::kInvalid, "body " + b.name + ": its velocity is not finite"};
  const Vec3 v_com = v_W + omega_W.cross(internal::ToMat(dBodyGetRotation(b.id)) * b.p_BCom);
  dBodySetAngularVel(b.id, omega_W.x(), omega_W.y(), omega_W.z());
  dBodySetLinearVel(b.id, v_com.x(), v_com.y(), v_com.z());
  return {};
}

Status World::AddForce(int body, const Vec3& f_W, const Vec3& p_W) {
  CHECK(body > kFixedBody && body < body_count());
  const internal::BodyData& b = impl_->bodies[static_cast<size_t>(body)];
  if (!f_W.allFinite() || !p_W.allFinite())
    return Error{ErrorCode::kInvalid, "body " + b.name + ": a force on it is not finite"};
  dBodyAddForceAtPos(b.id, f_W.x(), f_W.y(), f_W.z(), p_W.x(), p_W.y(), p_W.z());
  return {};
}

Status World::AddTorque(int body, const Vec3& t_W) {
  CHECK(body > kFixedBody && body < body_count());
  const internal::BodyData& b = impl_->bodies[static_cast<size_t>(body)];
  if (!t_W.allFinite())
    return Error{ErrorCode::kInvalid, "body " + b.name + ": a torque on it is not finite"};
  dBodyAddTorque(b.id, t_W.x(), t_W.y(), t_W.z());
  return {};
}

Status World::SetDrive(int joint, int axis, const JointDrive& drive) {
  CHECK(joint >= 0 && joint < joint_count());
  JointData& j = impl_->joints[static_cast<size_t>(joint)];
  if (j.kind == JointKind::kBall)
    return Error{ErrorCode::kUnsupported,
                 "joint " + j.name + ": drives of ball joints are not supported yet"};
  CHECK(axis >= 0 && axis < j.axis_count());
  if (!std::isfinite(drive.target_rad) || !std::isfinite(drive.target_rate_rad_per_s) ||
      !std::isfinite(drive.stiffness_Nm_per_rad) || !std::isfinite(drive.damping_Nms_per_rad) ||
      !(drive.stiffness_Nm_per_rad > 0) || !(drive.damping_Nms_per_rad >= 0)) {
    return Error{
        ErrorCode::kInvalid,
        "joint " + j.name + ": a drive needs finite targets, stiffness > 0 and damping >= 0"};
  }
  const double stop = drive.target_rad + drive.damping_Nms_per_rad / drive.stiffness_Nm_per_rad *
                                             drive.target_rate_rad_per_s;
  if (!(std::abs(stop) < std::numbers::pi)) {
    return Error{ErrorCode::kInvalid, "joint " + j.name + ": its target, " + std::to_string(stop) +
                                          " rad with the rate's share, lies beyond half a turn"};
  }
  j.axes[axis].drive = drive;
  return {};
}

Status World::SetLimits(int joint, int axis, double lower_rad, double upper_rad) {
  CHECK(joint >= 0 && joint < joint_count());
  JointData& j = impl_->joints[static_cast<size_t>(joint)];
  if (j.kind == JointKind::kBall)
    return Error{ErrorCode::kUnsupported,
                 "joint " + j.name + ": limits of ball joints are not supported yet"};
  CHECK(axis >= 0 && axis < j.axis_count());
  if (!(lower_rad <= upper_rad)) {
    return Error{ErrorCode::kInvalid,
                 "joint " + j.name + ": its lower limit " + std::to_string(lower_rad) +
                     " is not below its upper limit " + std::to_string(upper_rad)};
  }
  j.axes[axis].drive.reset();
  const int ode_axis = OdeAxis(j, axis);
  // ODE takes a stop beyond half a turn for none.
  SetStops(j, ode_axis, std::max(lower_rad, -dInfinity), std::min(upper_rad, dInfinity));
  SetParam(j, ode_axis, dParamStopERP, 0.2);
  SetParam(j, ode_axis, dParamStopCFM, 1e-10);
  SetParam(j, ode_axis, dParamBounce, 0.0);
  return {};
}

void World::Impl::ApplyDrives(double h_s) {
  for (JointData& joint : joints) {
    for (int axis = 0; axis < joint.axis_count(); ++axis) {
      const std::optional<JointDrive>& drive = joint.axes[axis].drive;
      if (!drive) continue;
      const double k = drive->stiffness_Nm_per_rad, b = drive->damping_Nms_per_rad;
      const internal::SoftRow soft(k, b, h_s);
      const double stop = drive->target_rad + b / k * drive->target_rate_rad_per_s;
      const int ode_axis = OdeAxis(joint, axis);
      SetStops(joint, ode_axis, stop, stop);
      SetParam(joint, ode_axis, dParamStopERP, soft.erp);
      SetParam(joint, ode_axis, dParamStopCFM, soft.cfm);
      SetParam(joint, ode_axis, dParamBounce, 0.0);
    }
  }
}

void World::Impl::ReadBack(double h_s) {
  memory.clear();
  contacts.clear();
  for (internal::PendingContact& contact : pending) {
    contact.reading.f_onA_W = ToVec(contact.feedback.f1);
    Slip(&contact, h_s);
    contacts.push_back(contact.reading);
    memory.push_back({contact.reading, contact.fdir1_W, contact.stretch_W});
  }
  for (JointData& joint : joints) {
    joint.reading.f_onChild_W = ToVec(joint.feedback.f1);
    joint.reading.t_onChild_W =
        ToVec(joint.feedback.t1) +
        (joint.com_before_W - joint.anchor_before_W).cross(joint.reading.f_onChild_W);
  }
}

Status World::Impl::CheckFinite() const {
  for (size_t i = 1; i < bodies.size(); ++i) {
    const dBodyID id = bodies[i].id;
    if (!ToVec(dBodyGetPosition(id)).allFinite() || !ToVec(dBodyGetLinearVel(id)).allFinite() ||
        !ToVec(dBodyGetAngularVel(id)).allFinite()) {
      return Error{ErrorCode::kNotConverged,
                   "body " + bodies[i].name + " stopped being finite at " + std::to_string(time_s) +
                       " s: shorten the step or soften the springs"};
    }
  }
  return {};
}

Status World::Step(double h_s, const ContactGenerator& generator) {
  Impl& w = *impl_;
  if (w.dead) return *w.dead;
  if (!(h_s > 0) || !(h_s <= 0.1))
    return Error{ErrorCode::kInvalid,
                 "a step of " + std::to_string(h_s) + " s: it must lie in (0, 0.1]"};
  Status contacts_ok;
  Status ok = Guard("step at " + std::to_string(w.time_s) + " s", &w.warnings, [&] {
    dJointGroupEmpty(w.contact_group);
    contacts_ok = w.CollectContacts(*this, generator);
    if (!contacts_ok) return;
    w.MakeContactJoints(h_s);
    w.ApplyDrives(h_s);
    for (size_t j = 0; j < w.joints.size(); ++j) {
      w.joints[j].anchor_before_W = ChildAnchor(w.joints[j]);
      w.joints[j].com_before_W = com_W(w.joints[j].child);
    }
    if (w.options.stepper == Stepper::kExact) {
      dWorldStep(w.world, h_s);
    } else {
      dWorldQuickStep(w.world, h_s);
    }
    w.time_s += h_s;
    w.ReadBack(h_s);
  });
  if (ok && !contacts_ok) return contacts_ok;  // a generator's mistake: nothing has moved
  if (ok) ok = w.CheckFinite();
  if (!ok) w.dead = ok.error();
  return ok;
}

double World::time_s() const { return impl_->time_s; }
int World::body_count() const { return static_cast<int>(impl_->bodies.size()); }
int World::joint_count() const { return static_cast<int>(impl_->joints.size()); }
const std::string& World::body_name(int body) const {
  return impl_->bodies.at(static_cast<size_t>(body)).name;
}
double World::mass_kg(int body) const {
  return impl_->bodies.at(static_cast<size_t>(body)).mass_kg;
}
std::span<const ContactReading> World::contacts() const { return impl_->contacts; }
std::span<const std::string> World::warnings() const { return impl_->warnings; }

geometry::RigidTransform World::X_WB(int body) const {
  const internal::BodyData& b = impl_->bodies.at(static_cast<size_t>(body));
  if (b.id == nullptr) return {};
  const geometry::Mat3 R = internal::ToMat(dBodyGetRotation(b.id));
  return {R, ToVec(dBodyGetPosition(b.id)) - R * b.p_BCom};
}

Vec3 World::omega_W(int body) const {
  const dBodyID id = impl_->bodies.at(static_cast<size_t>(body)).id;
  return id == nullptr ? Vec3(Vec3::Zero()) : ToVec(dBodyGetAngularVel(id));
}

Vec3 World::com_W(int body) const {
  const dBodyID id = impl_->bodies.at(static_cast<size_t>(body)).id;
  return id == nullptr ? Vec3(Vec3::Zero()) : ToVec(dBodyGetPosition(id));
}

Vec3 World::PointVelocity(int body, const Vec3& p_W) const {
  const dBodyID id = impl_->bodies.at(static_cast<size_t>(body)).id;
  if (id == nullptr) return Vec3::Zero();
  return ToVec(dBodyGetLinearVel(id)) + omega_W(body).cross(p_W - com_W(body));
}

Vec3 World::v_W(int body) const { return PointVelocity(body, X_WB(body).p); }

double World::angle_rad(int joint, int axis) const {
  const JointData& j = impl_->joints.at(static_cast<size_t>(joint));
  CHECK(axis >= 0 && axis < j.axis_count());
  if (j.kind == JointKind::kHinge) return dJointGetHingeAngle(j.id);
  return OdeAxis(j, axis) == 0 ? dJointGetUniversalAngle1(j.id) : dJointGetUniversalAngle2(j.id);
}

double World::rate_rad_per_s(int joint, int axis) const {
  const JointData& j = impl_->joints.at(static_cast<size_t>(joint));
  CHECK(axis >= 0 && axis < j.axis_count());
  if (j.kind == JointKind::kHinge) return dJointGetHingeAngleRate(j.id);
  return OdeAxis(j, axis) == 0 ? dJointGetUniversalAngle1Rate(j.id)
                               : dJointGetUniversalAngle2Rate(j.id);
}

Vec3 World::anchor_W(int joint) const {
  const JointData& j = impl_->joints.at(static_cast<size_t>(joint));
  dVector3 p;
  // "Anchor2" is the second body's view: our parent's.
  if (j.kind == JointKind::kHinge) dJointGetHingeAnchor2(j.id, p);
  if (j.kind == JointKind::kUniversal) dJointGetUniversalAnchor2(j.id, p);
  if (j.kind == JointKind::kBall) dJointGetBallAnchor2(j.id, p);
  return ToVec(p);
}

Vec3 World::axis_W(int joint, int axis) const {
  const JointData& j = impl_->joints.at(static_cast<size_t>(joint));
  CHECK(axis >= 0 && axis < j.axis_count());
  dVector3 a;
  if (j.kind == JointKind::kHinge) {
    dJointGetHingeAxis(j.id, a);
  } else if (OdeAxis(j, axis) == 0) {
    dJointGetUniversalAxis1(j.id, a);
  } else {
    dJointGetUniversalAxis2(j.id, a);
  }
  return ToVec(a);
}

double World::drift_m(int joint) const {
  return (ChildAnchor(impl_->joints.at(static_cast<size_t>(joint))) - anchor_W(joint)).norm();
}

const JointReading& World::joint_reading(int joint) const {
  return impl_->joints.at(static_cast<size_t>(joint)).reading;
}

}  // namespace handhold::synthesis

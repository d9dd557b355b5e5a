#include "synthesis/world/world.h"

#include <algorithm>
#include <cmath>

#include "database/base/check.h"
#include "synthesis/world/engine.h"

namespace handhold::synthesis {
namespace {

using geometry::Mat3;
using geometry::Vec3;
using internal::BodyData;
using internal::Guard;
using internal::JointData;
using internal::ToVec;

/// Nothing that a hand does comes near; numbers beyond are on their way to overflow, in which ODE
/// would stop inside an assertion that names no body.
constexpr double kMaxSpeed_m_per_s = 1e4, kMaxSpin_rad_per_s = 1e6;

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
  BodyData body{.name = name, .p_BCom = mass_B.p_BCom, .mass_kg = mass_B.mass_kg};
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
  Status made;
  Status ok = Guard("adding collider " + spec.name, &impl_->warnings, [&] {
    made = internal::MakeGeom(spec, impl_->Body(spec.body), impl_->space, &collider);
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

void World::IgnorePair(int a, int b) {
  const int count = static_cast<int>(impl_->colliders.size());
  CHECK(a >= 0 && a < count && b >= 0 && b < count);
  const std::pair<int, int> pair = std::minmax(a, b);
  const auto at = std::lower_bound(impl_->ignored.begin(), impl_->ignored.end(), pair);
  if (at == impl_->ignored.end() || *at != pair) impl_->ignored.insert(at, pair);
}

bool World::Overlap(int a, int b) const {
  const int count = static_cast<int>(impl_->colliders.size());
  CHECK(a >= 0 && a < count && b >= 0 && b < count);
  dContactGeom contact;
  int found = 0;
  (void)Guard("overlap", &impl_->warnings, [&] {
    found = dCollide(impl_->colliders[static_cast<size_t>(a)].geom,
                     impl_->colliders[static_cast<size_t>(b)].geom, 1, &contact, sizeof contact);
  });
  return found > 0 && contact.depth > 0;
}

Status World::MoveFixedCollider(int collider, const geometry::RigidTransform& X_WS) {
  CHECK(collider >= 0 && collider < static_cast<int>(impl_->colliders.size()));
  const internal::ColliderData& c = impl_->colliders[static_cast<size_t>(collider)];
  CHECK_EQ(c.body, kFixedBody);
  HANDHOLD_TRY(internal::CheckPose(X_WS, "collider " + c.name));
  impl_->Forget([&](const ContactReading& r) {
    return r.collider_a == collider || r.collider_b == collider;
  });
  return Guard("moving collider " + c.name, &impl_->warnings, [&] {
    const internal::OdeMatrix R(X_WS.R);
    dGeomSetPosition(c.geom, X_WS.p.x(), X_WS.p.y(), X_WS.p.z());
    dGeomSetRotation(c.geom, R.m);
  });
}

Status World::SetPose(int body, const geometry::RigidTransform& X_WB) {
  CHECK(body > kFixedBody && body < body_count());
  const BodyData& b = impl_->bodies[static_cast<size_t>(body)];
  HANDHOLD_TRY(internal::CheckPose(X_WB, "body " + b.name));
  impl_->Forget([&](const ContactReading& r) { return r.body_a == body || r.body_b == body; });
  return Guard("placing body " + b.name, &impl_->warnings, [&] { impl_->Place(body, X_WB); });
}

void World::Impl::Place(int body, const geometry::RigidTransform& X_WB) {
  const BodyData& b = Body(body);
  const Vec3 com = X_WB * b.p_BCom;
  const internal::OdeMatrix R(X_WB.R);
  dBodySetPosition(b.id, com.x(), com.y(), com.z());
  dBodySetRotation(b.id, R.m);
}

Status World::SetVelocity(int body, const Vec3& omega_W, const Vec3& v_W) {
  CHECK(body > kFixedBody && body < body_count());
  const BodyData& b = impl_->bodies[static_cast<size_t>(body)];
  if (!omega_W.allFinite() || !v_W.allFinite())
    return Error{ErrorCode::kInvalid, "body " + b.name + ": its velocity is not finite"};
  const Vec3 v_com = v_W + omega_W.cross(internal::ToMat(dBodyGetRotation(b.id)) * b.p_BCom);
  dBodySetAngularVel(b.id, omega_W.x(), omega_W.y(), omega_W.z());
  dBodySetLinearVel(b.id, v_com.x(), v_com.y(), v_com.z());
  return {};
}

Status World::AddForce(int body, const Vec3& f_W, const Vec3& p_W) {
  CHECK(body > kFixedBody && body < body_count());
  const BodyData& b = impl_->bodies[static_cast<size_t>(body)];
  if (!f_W.allFinite() || !p_W.allFinite())
    return Error{ErrorCode::kInvalid, "body " + b.name + ": a force on it is not finite"};
  dBodyAddForceAtPos(b.id, f_W.x(), f_W.y(), f_W.z(), p_W.x(), p_W.y(), p_W.z());
  return {};
}

Status World::AddTorque(int body, const Vec3& t_W) {
  CHECK(body > kFixedBody && body < body_count());
  const BodyData& b = impl_->bodies[static_cast<size_t>(body)];
  if (!t_W.allFinite())
    return Error{ErrorCode::kInvalid, "body " + b.name + ": a torque on it is not finite"};
  dBodyAddTorque(b.id, t_W.x(), t_W.y(), t_W.z());
  return {};
}

Status World::AddJointTorque(int joint, const Vec3& t_W) {
  CHECK(joint >= 0 && joint < joint_count());
  const JointData& j = impl_->Joint(joint);
  if (!t_W.allFinite())
    return Error{ErrorCode::kInvalid, "joint " + j.name + ": a torque in it is not finite"};
  dBodyAddTorque(impl_->Body(j.child).id, t_W.x(), t_W.y(), t_W.z());
  if (dBodyID parent = impl_->Body(j.parent).id; parent != nullptr)
    dBodyAddTorque(parent, -t_W.x(), -t_W.y(), -t_W.z());
  return {};
}

Status World::SetKinematic(int body, bool kinematic) {
  CHECK(body > kFixedBody && body < body_count());
  BodyData& b = impl_->Body(body);
  if (b.kinematic == kinematic) return {};
  return Guard("body " + b.name, &impl_->warnings, [&] {
    b.kinematic = kinematic;
    b.next_X_WB.reset();
    if (kinematic) {
      dBodySetKinematic(b.id);
      dBodySetLinearVel(b.id, 0, 0, 0);
      dBodySetAngularVel(b.id, 0, 0, 0);
    } else {
      dBodySetDynamic(b.id);
    }
  });
}

bool World::kinematic(int body) const {
  CHECK(body >= kFixedBody && body < body_count());
  return impl_->Body(body).kinematic;
}

Status World::MoveTo(int body, const geometry::RigidTransform& X_WB) {
  CHECK(body > kFixedBody && body < body_count());
  BodyData& b = impl_->Body(body);
  CHECK(b.kinematic);
  HANDHOLD_TRY(internal::CheckPose(X_WB, "body " + b.name));
  b.next_X_WB = X_WB;
  return {};
}

Status World::Impl::StartKinematic(double h_s) {
  for (BodyData& b : bodies) {
    if (!b.kinematic) continue;
    Vec3 v = Vec3::Zero(), omega = Vec3::Zero();
    if (b.next_X_WB) {
      v = (*b.next_X_WB * b.p_BCom - ToVec(dBodyGetPosition(b.id))) / h_s;
      omega =
          geometry::Log(b.next_X_WB->R * internal::ToMat(dBodyGetRotation(b.id)).transpose()) / h_s;
      if (!(v.norm() <= kMaxSpeed_m_per_s)) {
        return Error{ErrorCode::kInvalid, "body " + b.name + " cannot be moved that far at " +
                                              std::to_string(time_s) + " s: it would need " +
                                              std::to_string(v.norm()) + " m/s"};
      }
    }
    dBodySetLinearVel(b.id, v.x(), v.y(), v.z());
    dBodySetAngularVel(b.id, omega.x(), omega.y(), omega.z());
  }
  return {};
}

void World::Impl::FinishKinematic() {
  for (size_t i = 0; i < bodies.size(); ++i) {
    if (!bodies[i].next_X_WB) continue;
    Place(static_cast<int>(i), *bodies[i].next_X_WB);
    bodies[i].next_X_WB.reset();
  }
}

void World::Impl::ReadBack(double h_s) {
  memory.clear();
  contacts.clear();
  for (internal::PendingContact& contact : pending) {
    contact.reading.f_onA_W = ToVec(contact.feedback.f1);
    Slip(&contact, h_s);
    contacts.push_back(contact.reading);
    const Mat3 R_BW = contact.R_WB.transpose();
    memory.push_back(
        {contact.reading, contact.p_B, R_BW * contact.fdir1_W, R_BW * contact.stretch_W});
  }
  for (JointData& joint : joints) {
    joint.reading.f_onChild_W = ToVec(joint.feedback.f1);
    joint.reading.t_onChild_W =
        ToVec(joint.feedback.t1) +
        (joint.com_before_W - joint.anchor_before_W).cross(joint.reading.f_onChild_W);
    if (joint.motor != nullptr) joint.reading.t_onChild_W += ToVec(joint.motor_feedback.t1);
    for (int m = 0; m < 2; ++m) {
      if (joint.limiter[m] != nullptr)
        joint.reading.t_onChild_W += ToVec(joint.limiter_feedback[m].t1);
    }
  }
}

Status World::Impl::CheckState() const {
  for (size_t i = 1; i < bodies.size(); ++i) {
    dBodyID id = bodies[i].id;
    const double speed = ToVec(dBodyGetLinearVel(id)).norm(),
                 spin = ToVec(dBodyGetAngularVel(id)).norm();
    const bool finite = ToVec(dBodyGetPosition(id)).allFinite() && std::isfinite(speed) &&
                        std::isfinite(spin) && internal::ToMat(dBodyGetRotation(id)).allFinite();
    if (finite && speed <= kMaxSpeed_m_per_s && spin <= kMaxSpin_rad_per_s) continue;
    return Error{ErrorCode::kNotConverged,
                 "body " + bodies[i].name +
                     (finite ? " was thrown beyond all bounds at " : " stopped being finite at ") +
                     std::to_string(time_s) + " s: shorten the step or soften the springs"};
  }
  return {};
}

// What callers added up may overflow, though each addend was finite.
Status World::Impl::CheckForces() const {
  for (size_t i = 1; i < bodies.size(); ++i) {
    dBodyID id = bodies[i].id;
    if (ToVec(dBodyGetForce(id)).allFinite() && ToVec(dBodyGetTorque(id)).allFinite()) continue;
    return Error{ErrorCode::kNotConverged, "body " + bodies[i].name +
                                               ": the forces on it add up to no finite number at " +
                                               std::to_string(time_s) + " s"};
  }
  return {};
}

/// Whom to name when ODE stopped inside: the first that is not finite, else the one with the
/// largest speed, turning counted at 0.1 m.
std::string World::Impl::FastestBody() const {
  double most = -1.0;
  std::string name = "W";
  for (size_t i = 1; i < bodies.size(); ++i) {
    dBodyID id = bodies[i].id;
    const double speed =
        ToVec(dBodyGetLinearVel(id)).norm() + 0.1 * ToVec(dBodyGetAngularVel(id)).norm();
    if (!std::isfinite(speed) || !ToVec(dBodyGetPosition(id)).allFinite()) return bodies[i].name;
    if (speed > most) most = speed, name = bodies[i].name;
  }
  return name;
}

// Limits of ball joints are curved: where the velocities of a step's end were so far from those
// foreseen that a joint ended outside, the step is taken again with the rows of where it led to.
void World::Impl::Advance(double h_s) {
  constexpr int kMostPasses = 4;
  const bool limited = std::any_of(joints.begin(), joints.end(), [](const JointData& j) {
    return j.settings.ball_limits.has_value();
  });
  before_step.clear();
  for (size_t i = 1; limited && i < bodies.size(); ++i)
    before_step.push_back(internal::ReadState(bodies[i].id));
  for (int pass = 1;; ++pass) {
    const unsigned long seed_before = seed;
    if (options.stepper == Stepper::kExact) {
      dWorldStep(world, h_s);
    } else {
      dRandSetSeed(seed);  // ODE has one generator for the whole process
      dWorldQuickStep(world, h_s);
      seed = dRandGetSeed();
    }
    if (!limited || pass == kMostPasses || !BallsPassedLimits(h_s)) return;
    for (size_t i = 1; i < bodies.size(); ++i)
      internal::WriteState(bodies[i].id, before_step[i - 1]);
    seed = seed_before;
    for (JointData& joint : joints) {
      if (joint.settings.ball_limits) ApplyLimits(&joint, h_s);
    }
  }
}

Mat3 World::Impl::RotationBefore(int body) const {
  if (body == kFixedBody) return Mat3::Identity();
  return internal::ToMat(before_step[static_cast<size_t>(body) - 1].rotation);
}

Status World::Step(double h_s, const ContactGenerator& generator) {
  Impl& w = *impl_;
  if (w.dead) return *w.dead;
  if (!(h_s > 0) || !(h_s <= 0.1))
    return Error{ErrorCode::kInvalid,
                 "a step of " + std::to_string(h_s) + " s: it must lie in (0, 0.1]"};
  Status input;  // a caller's or a generator's mistake: nothing has moved
  Status ok = w.CheckForces();
  if (!ok) {
    w.dead = ok.error();
    return ok;
  }
  ok = Guard("step at " + std::to_string(w.time_s) + " s", &w.warnings, [&] {
    dJointGroupEmpty(w.contact_group);
    if (input = w.StartKinematic(h_s); !input) return;
    if (input = w.CollectContacts(*this, generator); !input) return;
    w.MakeContactJoints(h_s);
    w.ForeseeBalls(h_s);
    if (input = w.ApplyDrives(h_s); !input) return;
    for (JointData& joint : w.joints) {
      joint.anchor_before_W = internal::ChildAnchor(joint);
      joint.com_before_W = com_W(joint.child);
    }
    w.Advance(h_s);
    w.FinishKinematic();
    w.time_s += h_s;
    w.ReadBack(h_s);
  });
  if (ok && !input) return input;
  if (!ok) {
    w.engine_failed = true;
    ok = Error{ok.error().code, "body " + w.FastestBody() + ": " + ok.error().message};
  } else {
    ok = w.CheckState();
  }
  if (!ok) w.dead = ok.error();
  return ok;
}

double World::time_s() const { return impl_->time_s; }
int World::body_count() const { return static_cast<int>(impl_->bodies.size()); }
int World::joint_count() const { return static_cast<int>(impl_->joints.size()); }
const std::string& World::body_name(int body) const {
  return impl_->bodies.at(static_cast<size_t>(body)).name;
}
Mat3 World::Impl::R_WB(int body) const {
  dBodyID id = Body(body).id;
  return id == nullptr ? Mat3(Mat3::Identity()) : internal::ToMat(dBodyGetRotation(id));
}

Vec3 World::Impl::Omega(int body) const {
  dBodyID id = Body(body).id;
  return id == nullptr ? Vec3(Vec3::Zero()) : ToVec(dBodyGetAngularVel(id));
}

double World::mass_kg(int body) const {
  return impl_->bodies.at(static_cast<size_t>(body)).mass_kg;
}
std::span<const ContactReading> World::contacts() const { return impl_->contacts; }
std::span<const std::string> World::warnings() const { return impl_->warnings; }

geometry::RigidTransform World::X_WB(int body) const {
  const BodyData& b = impl_->bodies.at(static_cast<size_t>(body));
  if (b.id == nullptr) return {};
  const geometry::Mat3 R = internal::ToMat(dBodyGetRotation(b.id));
  return {R, ToVec(dBodyGetPosition(b.id)) - R * b.p_BCom};
}

Vec3 World::omega_W(int body) const {
  CHECK(body >= kFixedBody && body < body_count());
  return impl_->Omega(body);
}

Vec3 World::com_W(int body) const {
  dBodyID id = impl_->bodies.at(static_cast<size_t>(body)).id;
  return id == nullptr ? Vec3(Vec3::Zero()) : ToVec(dBodyGetPosition(id));
}

Vec3 World::PointVelocity(int body, const Vec3& p_W) const {
  dBodyID id = impl_->bodies.at(static_cast<size_t>(body)).id;
  if (id == nullptr) return Vec3::Zero();
  return ToVec(dBodyGetLinearVel(id)) + omega_W(body).cross(p_W - com_W(body));
}

Vec3 World::v_W(int body) const { return PointVelocity(body, X_WB(body).p); }

}  // namespace handhold::synthesis

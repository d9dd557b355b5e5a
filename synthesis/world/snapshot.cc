// Saving and restoring a World.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "synthesis/world/engine.h"

namespace handhold::synthesis {
namespace {

struct SavedBody {
  std::string name;
  internal::BodyState state;
  bool kinematic;
  std::optional<geometry::RigidTransform> next_X_WB;
};
struct SavedJoint {
  internal::JointKind kind;
  internal::JointSettings settings;
  JointReading reading;
};
/// Only of colliders of the fixed world: the others go with their bodies.
struct SavedCollider {
  bool fixed;
  double position[3];
  dMatrix3 rotation;
};

bool Finite(const internal::BodyState& s) {
  const auto finite = [](const auto& values) {
    return std::all_of(std::begin(values), std::end(values),
                       [](double v) { return std::isfinite(v); });
  };
  return finite(s.position) && finite(s.quaternion) && finite(s.linear) && finite(s.angular) &&
         finite(s.force) && finite(s.torque);
}

}  // namespace

struct Snapshot::State {
  double time_s = 0.0;
  unsigned long seed = 0;
  std::vector<SavedBody> bodies;
  std::vector<SavedJoint> joints;
  std::vector<SavedCollider> colliders;
  std::vector<internal::ContactMemory> memory;
  std::vector<ContactReading> contacts;
};

double Snapshot::time_s() const { return state_ == nullptr ? 0.0 : state_->time_s; }

Snapshot World::Save() const {
  const Impl& w = *impl_;
  auto state = std::make_shared<Snapshot::State>();
  state->time_s = w.time_s, state->seed = w.seed, state->memory = w.memory,
  state->contacts = w.contacts;
  for (const internal::BodyData& b : w.bodies) {
    SavedBody saved{b.name, {}, b.kinematic, b.next_X_WB};
    if (b.id != nullptr) saved.state = internal::ReadState(b.id);
    state->bodies.push_back(std::move(saved));
  }
  for (const internal::JointData& j : w.joints)
    state->joints.push_back({j.kind, j.settings, j.reading});
  for (const internal::ColliderData& c : w.colliders) {
    SavedCollider saved{c.body == kFixedBody, {}, {}};
    if (saved.fixed) {
      std::memcpy(saved.position, dGeomGetPosition(c.geom), sizeof saved.position);
      std::memcpy(saved.rotation, dGeomGetRotation(c.geom), sizeof saved.rotation);
    }
    state->colliders.push_back(saved);
  }
  Snapshot snapshot;
  snapshot.state_ = std::move(state);
  return snapshot;
}

Status World::Restore(const Snapshot& snapshot) {
  Impl& w = *impl_;
  if (w.engine_failed) {
    return Error{ErrorCode::kInvalid,
                 "a world that failed inside the engine cannot be restored: make it anew; " +
                     w.dead->message};
  }
  const Snapshot::State* const state = snapshot.state_.get();
  bool same = state != nullptr && state->bodies.size() == w.bodies.size() &&
              state->joints.size() == w.joints.size() &&
              state->colliders.size() == w.colliders.size();
  for (size_t i = 0; same && i < w.bodies.size(); ++i)
    same = state->bodies[i].name == w.bodies[i].name;
  for (size_t j = 0; same && j < w.joints.size(); ++j)
    same = state->joints[j].kind == w.joints[j].kind;
  for (size_t i = 0; same && i < w.colliders.size(); ++i)
    same = state->colliders[i].fixed == (w.colliders[i].body == kFixedBody);
  if (!same) {
    return Error{ErrorCode::kInvalid,
                 "the snapshot is of a world with other bodies, joints or colliders"};
  }
  for (const internal::ContactMemory& m : state->memory) {
    if (m.p_B.allFinite() && m.stretch_B.allFinite() && m.fdir1_B.allFinite()) continue;
    return Error{ErrorCode::kInvalid,
                 "the snapshot is of a world that had failed: a contact's memory is not finite"};
  }
  for (const SavedBody& body : state->bodies) {
    if (Finite(body.state)) continue;
    return Error{ErrorCode::kInvalid,
                 "the snapshot is of a world that had failed: the state of body " + body.name +
                     " is not finite"};
  }
  return internal::Guard("restoring a world", &w.warnings, [&] {
    dJointGroupEmpty(w.contact_group);
    for (size_t i = 1; i < w.bodies.size(); ++i) {
      internal::BodyData& b = w.bodies[i];
      const SavedBody& saved = state->bodies[i];
      if (b.kinematic && !saved.kinematic) dBodySetDynamic(b.id);
      if (!b.kinematic && saved.kinematic) dBodySetKinematic(b.id);
      b.kinematic = saved.kinematic, b.next_X_WB = saved.next_X_WB;
      internal::WriteState(b.id, saved.state);
    }
    for (size_t j = 0; j < w.joints.size(); ++j)
      w.joints[j].settings = state->joints[j].settings,
      w.joints[j].reading = state->joints[j].reading;
    for (size_t c = 0; c < w.colliders.size(); ++c) {
      const SavedCollider& saved = state->colliders[c];
      if (!saved.fixed) continue;
      dGeomSetPosition(w.colliders[c].geom, saved.position[0], saved.position[1],
                       saved.position[2]);
      dGeomSetRotation(w.colliders[c].geom, saved.rotation);
    }
    w.pending.clear();
    w.memory = state->memory, w.contacts = state->contacts;
    w.time_s = state->time_s, w.seed = state->seed;
    w.dead.reset();
  });
}

}  // namespace handhold::synthesis

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "database/base/check.h"
#include "synthesis/world/engine.h"

namespace handhold::synthesis {
namespace {

using geometry::Vec3;
using internal::ColliderData;
using internal::ContactMemory;
using internal::PendingContact;

constexpr int kMaxContactsPerPair = 256;
/// The point of a contact in its body_b.
Vec3 BodyPoint(const std::deque<internal::BodyData>& bodies, const ContactReading& r) {
  dBodyID id = bodies[static_cast<size_t>(r.body_b)].id;
  if (id == nullptr) return r.p_W;
  return internal::ToMat(dBodyGetRotation(id)).transpose() *
         (r.p_W - internal::ToVec(dBodyGetPosition(id)));
}

/// A shorter stretch has no direction.
constexpr double kDirectionFloor_m = 1e-12;

ContactLaw LawOf(const ColliderData& a, const ColliderData& b) {
  if (a.law && b.law) return a.law->stiffness_N_per_m <= b.law->stiffness_N_per_m ? *a.law : *b.law;
  return a.law ? *a.law : b.law ? *b.law : ContactLaw{};
}

Vec3 AnyTangent(const Vec3& normal) {
  int axis;
  normal.cwiseAbs().minCoeff(&axis);
  return normal.cross(Vec3::Unit(axis)).normalized();
}

/// Along `pull` (where the friction spring will be stretched to); without one along the last
/// direction (zero: none); else anything in the plane.
Vec3 FrictionDirection(const Vec3& pull_W, const Vec3& normal_W, const Vec3& last_W) {
  if (pull_W.norm() > kDirectionFloor_m) return pull_W.normalized();
  const Vec3 t = last_W - last_W.dot(normal_W) * normal_W;
  return t.norm() > 1e-9 ? Vec3(t.normalized()) : AnyTangent(normal_W);
}

struct CollideContext {
  World::Impl* impl = nullptr;
  std::vector<std::pair<int, int>> pairs;  // collider indices, hand or moving one first
};

int IndexOf(dGeomID geom) {
  return static_cast<int>(reinterpret_cast<intptr_t>(dGeomGetData(geom)));
}

}  // namespace

// The engine's callback sees World::Impl only through this.
struct ContactCollector {
  static void Near(void* context, dGeomID g1, dGeomID g2) {
    auto* const c = static_cast<CollideContext*>(context);
    int a = IndexOf(g1), b = IndexOf(g2);
    if (!c->impl->Meet(a, b)) return;
    const int body_a = c->impl->colliders[static_cast<size_t>(a)].body;
    const int body_b = c->impl->colliders[static_cast<size_t>(b)].body;
    // The first must be a moving body: ODE turns a contact's forces round when its first body is
    // the world.
    if (body_a == kFixedBody || (body_b != kFixedBody && b < a)) std::swap(a, b);
    c->pairs.emplace_back(a, b);
  }

  static void Collide(World::Impl* impl, int ia, int ib, std::vector<dContactGeom>* found) {
    const ColliderData& a = impl->colliders[static_cast<size_t>(ia)];
    const ColliderData& b = impl->colliders[static_cast<size_t>(ib)];
    std::array<dContactGeom, kMaxContactsPerPair> raw;
    const int count =
        dCollide(a.geom, b.geom, kMaxContactsPerPair, raw.data(), sizeof(dContactGeom));
    found->assign(raw.begin(), raw.begin() + count);
    std::stable_sort(
        found->begin(), found->end(),
        [](const dContactGeom& x, const dContactGeom& y) { return x.depth > y.depth; });
    const auto keep = static_cast<size_t>(std::min(a.max_contacts, b.max_contacts));
    if (found->size() > keep) found->resize(keep);
  }
};

bool World::Impl::Meet(int ia, int ib) const {
  const ColliderData& a = colliders[static_cast<size_t>(ia)];
  const ColliderData& b = colliders[static_cast<size_t>(ib)];
  return a.body != b.body && (Body(a.body).moved_by_forces() || Body(b.body).moved_by_forces()) &&
         (a.mask.is & b.mask.meets) != 0 && (b.mask.is & a.mask.meets) != 0 &&
         !std::binary_search(ignored.begin(), ignored.end(),
                             std::pair<int, int>(std::minmax(ia, ib)));
}

Status World::Impl::CollectContacts(const World& world_view, const ContactGenerator& generator) {
  pending.clear();
  if (generator) {
    candidates.clear();
    generator(world_view, &candidates);
    for (const ContactCandidate& c : candidates) {
      const std::string what =
          "contact of body " + std::to_string(c.body_a) + " with body " + std::to_string(c.body_b);
      if (c.body_a == c.body_b || c.body_a < 0 || c.body_b < 0 ||
          c.body_a >= static_cast<int>(bodies.size()) ||
          c.body_b >= static_cast<int>(bodies.size())) {
        return Error{ErrorCode::kInvalid, what + ": not two different bodies of this world"};
      }
      if (!c.p_W.allFinite() || !std::isfinite(c.depth_m) ||
          !(std::abs(c.normal_W.norm() - 1.0) < 1e-6) || !(c.law.stiffness_N_per_m > 0) ||
          !std::isfinite(c.law.stiffness_N_per_m) || !(c.law.damping_Ns_per_m >= 0) ||
          !std::isfinite(c.law.damping_Ns_per_m) || !(c.law.friction >= 0) ||
          !std::isfinite(c.law.friction)) {
        return Error{ErrorCode::kInvalid, what +
                                              ": point, unit normal, depth, stiffness > 0, damping "
                                              "and friction >= 0 must be finite"};
      }
      if (c.depth_m <= 0 ||
          !(Body(c.body_a).moved_by_forces() || Body(c.body_b).moved_by_forces())) {
        continue;
      }
      PendingContact contact;
      contact.law = c.law;
      contact.reading = {.body_a = c.body_a,
                         .body_b = c.body_b,
                         .feature = c.feature,
                         .p_W = c.p_W,
                         .normal_W = c.normal_W.normalized(),
                         .depth_m = c.depth_m};
      if (c.body_a == kFixedBody) {
        std::swap(contact.reading.body_a, contact.reading.body_b);
        contact.reading.normal_W *= -1.0;
      }
      AddContact(std::move(contact));
    }
    return {};
  }
  CollideContext context{this, {}};
  dSpaceCollide(space, &context, &ContactCollector::Near);
  std::sort(context.pairs.begin(), context.pairs.end());
  std::vector<dContactGeom> found;
  for (const auto& [ia, ib] : context.pairs) {
    ContactCollector::Collide(this, ia, ib, &found);
    const ColliderData& a = colliders[static_cast<size_t>(ia)];
    const ColliderData& b = colliders[static_cast<size_t>(ib)];
    for (size_t k = 0; k < found.size(); ++k) {
      const dContactGeom& g = found[k];
      if (!(g.depth > 0)) continue;
      PendingContact contact;
      contact.law = LawOf(a, b);
      contact.reading = {.body_a = a.body,
                         .body_b = b.body,
                         .collider_a = ia,
                         .collider_b = ib,
                         .feature = static_cast<int>(k),
                         .p_W = internal::ToVec(g.pos),
                         .normal_W = internal::ToVec(g.normal).normalized(),
                         .depth_m = g.depth};
      AddContact(std::move(contact));
    }
  }
  return {};
}

void World::Impl::AddContact(PendingContact contact) { pending.push_back(std::move(contact)); }

void World::Impl::Forget(const std::function<bool(const ContactReading&)>& which) {
  std::erase_if(memory, [&](const ContactMemory& m) { return which(m.reading); });
}

void World::Impl::MakeContactJoints(double h_s) {
  std::vector<char> used(memory.size(), 0);
  for (PendingContact& contact : pending) {
    ContactReading& r = contact.reading;
    r.slip_W = TangentialVelocity(r);
    // Of the object; the fixed world's are no turn at all.
    contact.R_WB = R_WB(r.body_b);
    contact.p_B = BodyPoint(bodies, r);
    // The same contact a step ago: of the same pair, the nearest. A generator's feature must agree
    // as well.
    size_t best = memory.size();
    double best_distance = std::numeric_limits<double>::infinity();
    for (size_t m = 0; m < memory.size(); ++m) {
      const ContactReading& last = memory[m].reading;
      if (used[m] || last.body_a != r.body_a || last.body_b != r.body_b ||
          last.collider_a != r.collider_a || last.collider_b != r.collider_b ||
          (r.collider_a < 0 && last.feature != r.feature)) {
        continue;
      }
      const double distance = (memory[m].p_B - contact.p_B).norm();
      if (distance < best_distance) best = m, best_distance = distance;
    }
    const ContactMemory* last = nullptr;
    if (best < memory.size()) used[best] = 1, last = &memory[best];
    // The stretch turns with the object, and with the surface where the contact has moved on it.
    Vec3 last_direction_W = Vec3::Zero();
    if (last != nullptr) {
      const Vec3 stretch_W = contact.R_WB * last->stretch_B;
      const Vec3 flat = stretch_W - stretch_W.dot(r.normal_W) * r.normal_W;
      if (flat.norm() > 0.0) contact.stretch_W = flat * (stretch_W.norm() / flat.norm());
      last_direction_W = contact.R_WB * last->fdir1_B;
    }
    contact.fdir1_W =
        FrictionDirection(contact.stretch_W + h_s * r.slip_W, r.normal_W, last_direction_W);
    const Vec3 across_W = r.normal_W.cross(contact.fdir1_W);

    dContact c{};
    const internal::SoftRow soft(contact.law.stiffness_N_per_m, contact.law.damping_Ns_per_m, h_s);
    c.surface.mode = dContactSoftERP | dContactSoftCFM | dContactFDir1 | dContactMu2 |
                     dContactApprox0 | dContactMotion1 | dContactMotion2 | dContactSlip1 |
                     dContactSlip2;
    // Sideways the surface is the spring and damper that it is downwards, held by Coulomb's bound.
    // With fdir1 along the stretch the other direction carries only what turns it within a step,
    // so that the bounds of the two directions are the cone's and not a pyramid's.
    const double bound_N =
        last != nullptr ? contact.law.friction * std::max(0.0, last->reading.normal_force_N())
                        : 0.0;
    c.surface.mu = c.surface.mu2 = bound_N;
    c.surface.motion1 = -soft.erp / h_s * contact.stretch_W.dot(contact.fdir1_W);
    c.surface.motion2 = -soft.erp / h_s * contact.stretch_W.dot(across_W);
    c.surface.slip1 = c.surface.slip2 = soft.cfm;
    c.surface.soft_erp = soft.erp;
    c.surface.soft_cfm = soft.cfm;
    for (int i = 0; i < 3; ++i) {
      c.geom.pos[i] = r.p_W[i];
      c.geom.normal[i] = r.normal_W[i];
      c.fdir1[i] = contact.fdir1_W[i];
    }
    c.geom.depth = r.depth_m;
    dJointID joint = dJointCreateContact(world, contact_group, &c);
    dJointAttach(joint, bodies[static_cast<size_t>(r.body_a)].id,
                 bodies[static_cast<size_t>(r.body_b)].id);
    dJointSetFeedback(joint, &contact.feedback);
  }
}

Vec3 World::Impl::TangentialVelocity(const ContactReading& r) const {
  const auto velocity = [&](int body) -> Vec3 {
    dBodyID id = bodies[static_cast<size_t>(body)].id;
    if (id == nullptr) return Vec3::Zero();
    dVector3 v;
    dBodyGetPointVel(id, r.p_W.x(), r.p_W.y(), r.p_W.z(), v);
    return internal::ToVec(v);
  };
  const Vec3 relative = velocity(r.body_a) - velocity(r.body_b);
  return relative - relative.dot(r.normal_W) * r.normal_W;
}

// The damper acts on the stretch, not on the slip: f = -k x - b (x - x0) / h. Where the row was
// free, x is x0 + h v; where the bound held the force back, the surface has slipped by the rest.
void World::Impl::Slip(PendingContact* contact, double h_s) const {
  ContactReading& r = contact->reading;
  const Vec3 before = contact->stretch_W;
  const Vec3 friction = r.f_onA_W - r.normal_force_N() * r.normal_W;
  const double damper = contact->law.damping_Ns_per_m / h_s;
  contact->stretch_W = (damper * before - friction) / (contact->law.stiffness_N_per_m + damper);
  r.slip_W = TangentialVelocity(r) - (contact->stretch_W - before) / h_s;
}

}  // namespace handhold::synthesis

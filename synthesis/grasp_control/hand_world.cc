#include "synthesis/grasp_control/hand_world.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "database/base/check.h"
#include "database/geometry/distance.h"
#include "database/model/hand_library.h"

namespace handhold::synthesis {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;
using geometry::Vec6;
using model::JointType;

namespace {

/// Only what overlaps presses.
constexpr double kMargin_m = 1e-6;
/// A capsule on a prop: its nearest point and its ends.
constexpr int kPointsOnProp = 3;
/// Bodies of a hand this near to each other at q = 0 never meet: they would push for ever.
constexpr double kNeighbours_m = 1e-3;

// A contact's feature within a pair of engine bodies: which shape of each, and the finder's place.
constexpr int kShapeBits = 9, kPlaceBits = 12;
constexpr int kMostShapes = (1 << kShapeBits) - 1;

/// Pose of the root body in its skeleton's world, less the root's own coordinates.
RigidTransform RootAtZero(const model::Body& root) {
  return root.joint.X_PJp * root.joint.X_BJc.Inverse();
}

}  // namespace

Result<std::unique_ptr<HandWorld>> HandWorld::Create(const HandWorldOptions& options) {
  if (!(options.stiffness_N_per_m > 0) || !std::isfinite(options.stiffness_N_per_m) ||
      !(options.damping_Ns_per_m >= 0) || !std::isfinite(options.damping_Ns_per_m)) {
    return Error{ErrorCode::kInvalid,
                 "hand world: surfaces need a finite stiffness > 0 and a damping >= 0"};
  }
  std::unique_ptr<HandWorld> w(new HandWorld(options));
  HANDHOLD_ASSIGN(w->world_, World::Create({.gravity_W = Vec3::Zero(),
                                            .stepper = options.stepper,
                                            .quick_iterations = options.quick_iterations,
                                            .quick_seed = options.quick_seed}));
  w->who_.emplace_back(-1, -1);
  return w;
}

Result<std::unique_ptr<HandWorld>> HandWorld::Create(const artefact::Stage& stage,
                                                     const HandWorldOptions& options) {
  HANDHOLD_TRY(artefact::CheckPlayable(stage));
  HANDHOLD_ASSIGN(std::unique_ptr<HandWorld> w, Create(options));
  for (const artefact::StageHand& hand : stage.hands) {
    HANDHOLD_ASSIGN(const int i, w->AddHand(*hand.skeleton));
    const Eigen::VectorXd q = hand.q.size() > 0 ? hand.q : hand.skeleton->ZeroConfiguration();
    HANDHOLD_TRY(w->SetHand(i, w->Placed(i, q, hand.X_WH)));
  }
  for (const artefact::StageThing& thing : stage.things) HANDHOLD_TRY(w->AddProp(thing));
  w->SetGravity({.g_W = stage.gravity_W, .on_hands = options.gravity_on_hands});
  return w;
}

Result<int> HandWorld::AddHand(const model::Skeleton& skeleton) {
  auto part = std::make_unique<HandPart>();
  part->given = std::make_unique<model::Skeleton>(skeleton);
  int roots = 0;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    if (skeleton.body(b).parent == 0) ++roots, part->palm = b;
  }
  model::Skeleton free = skeleton;
  if (roots != 1 || skeleton.body(part->palm).joint.type != JointType::kFree) {
    HANDHOLD_ASSIGN(free, model::WithFreeBase(skeleton));
  }
  HANDHOLD_ASSIGN(SkeletonInWorld placed,
                  SkeletonInWorld::Add(free, world_.get(), {.colliders = false}));
  part->in_world = std::make_unique<SkeletonInWorld>(std::move(placed));
  if (options_.hard_limits) HANDHOLD_TRY(part->in_world->SetLimits());
  HANDHOLD_TRY(world_->SetKinematic(part->in_world->engine_body(part->palm), true));

  const int tree = hand_count(), first = finder_.collider_count();
  HANDHOLD_ASSIGN([[maybe_unused]] const auto unusable,
                  finder_.AddSkeleton(free, tree, options_.self_contact));
  for (int c = first; c < finder_.collider_count(); ++c)
    part->shapes.emplace_back(c, finder_.collider(c).side.index);
  part->X_WB.resize(static_cast<size_t>(free.body_count()));
  for (int b = 0; b < free.body_count(); ++b)
    part->X_WB[static_cast<size_t>(b)] = part->in_world->X_WB(b);
  part->X_WPalm = part->X_WB[static_cast<size_t>(part->palm)];
  who_.resize(static_cast<size_t>(world_->body_count()), {-1, -1});
  for (int b = free.body_count() - 1; b > 0; --b) {
    if (free.body(b).joint.type != JointType::kFixed)
      who_[static_cast<size_t>(part->in_world->engine_body(b))] = {tree, b};
  }
  if (options_.self_contact) IgnoreWithin(part.get(), tree);
  hands_.push_back(std::move(part));
  poses_.trees.clear();
  for (const auto& h : hands_) poses_.trees.emplace_back(h->X_WB);
  return tree;
}

// Bodies of one engine body, joined ones and those that touch at q = 0 do not meet.
void HandWorld::IgnoreWithin(HandPart* hand, int tree) {
  const model::Skeleton& s = hand->in_world->skeleton();
  const auto engine = [&](int b) { return hand->in_world->engine_body(b); };
  std::vector<std::pair<int, int>> joined;
  for (int b = 1; b < s.body_count(); ++b)
    joined.push_back(std::minmax(engine(b), engine(s.body(b).parent)));
  for (int b = 1; b < s.body_count(); ++b) {
    for (int c = 1; c < b; ++c) {
      const std::pair<int, int> pair = std::minmax(engine(b), engine(c));
      bool near = pair.first == pair.second ||
                  std::find(joined.begin(), joined.end(), pair) != joined.end();
      for (const auto& [i, body_i] : hand->shapes) {
        for (const auto& [j, body_j] : hand->shapes) {
          if (near || body_i != b || body_j != c) continue;
          const Collider &x = finder_.collider(i), &y = finder_.collider(j);
          const auto d = geometry::Distance(x.shape, hand->X_WB[static_cast<size_t>(b)] * x.X_BS,
                                            y.shape, hand->X_WB[static_cast<size_t>(c)] * y.X_BS);
          near = !d || d->distance_m < kNeighbours_m;
        }
      }
      if (near) finder_.Ignore(ContactSide::Link(tree, b), ContactSide::Link(tree, c));
    }
  }
}

Result<int> HandWorld::AddProp(const artefact::StageThing& thing) {
  using Is = artefact::StageThing::Is;
  if (thing.is != Is::kFixed && thing.is != Is::kFree) {
    return Error{ErrorCode::kUnsupported, "thing '" + thing.name + "' (" +
                                              std::string(artefact::StageIsName(thing.is)) +
                                              "): a hand world plays what is fixed or free"};
  }
  CHECK(thing.prop.there() && thing.X_WP.has_value());
  const model::Prop& prop = *thing.prop;
  HANDHOLD_TRY(model::CheckProp(prop));
  const int number = prop_count();
  auto part = std::make_unique<PropPart>();
  part->prop = prop;
  part->X_WP = *thing.X_WP;
  ContactSide side;
  if (thing.is == Is::kFixed) {
    part->fixed = static_cast<int>(poses_.fixed.size());
    side = ContactSide::Fixed(part->fixed);
    poses_.fixed.push_back(*thing.X_WP);
  } else {
    part->mass = prop.mass;
    HANDHOLD_ASSIGN(part->body, world_->AddBody(prop.name, part->mass, *thing.X_WP));
    side = ContactSide::Body(static_cast<int>(poses_.bodies.size()));
    poses_.bodies.push_back(&part->X_WP);
    who_.resize(static_cast<size_t>(world_->body_count()), {-1, -1});
    who_[static_cast<size_t>(part->body)] = {-1, number};
  }
  const SurfaceLaw law{.friction = prop.friction,
                       .stiffness_N_per_m = prop.surface_compliance_m_per_N > 0
                                                ? 1.0 / prop.surface_compliance_m_per_N
                                                : options_.stiffness_N_per_m,
                       .damping_Ns_per_m = options_.damping_Ns_per_m};
  for (const model::PropShape& shape : prop.shapes) {
    Collider collider;
    collider.side = side;
    collider.shape = shape.shape;
    collider.X_BS = shape.X_PS;
    collider.law = law;
    collider.max_points = kPointsOnProp;
    HANDHOLD_ASSIGN([[maybe_unused]] const int c, finder_.Add(std::move(collider)));
  }
  props_.push_back(std::move(part));
  return number;
}

double HandWorld::prop_mass_kg(int prop) const { return Prop(prop).mass.mass_kg; }

Eigen::VectorXd HandWorld::Placed(int i, const Eigen::VectorXd& q,
                                  const RigidTransform& X_WH) const {
  const HandPart& part = Hand(i);
  const model::Body& root = part.given->body(part.palm);
  CHECK_EQ(q.size(), part.given->nq());
  const model::Skeleton& s = hand(i);
  Eigen::VectorXd out = s.ZeroConfiguration();
  const int k = s.q_index(part.palm), given_nq = root.joint.nq();
  RigidTransform X_HPalm = RootAtZero(root);
  if (given_nq == 7) {
    const int g = part.given->q_index(part.palm);
    const RigidTransform X{geometry::FromQuaternion(q[g + 3], q[g + 4], q[g + 5], q[g + 6]),
                           q.segment<3>(g)};
    X_HPalm = root.joint.X_PJp * X * root.joint.X_BJc.Inverse();
  }
  const model::Joint& joint = s.body(part.palm).joint;
  const RigidTransform X_JpJc = joint.X_PJp.Inverse() * X_WH * X_HPalm * joint.X_BJc;
  // The root is the first body, so its coordinates come first.
  CHECK_EQ(k, 0);
  out.head<3>() = X_JpJc.p;
  out.segment<4>(3) = geometry::ToQuaternion(X_JpJc.R);
  out.tail(s.nq() - 7) = q.tail(q.size() - given_nq);
  return out;
}

Placement HandWorld::Unplaced(int i, const Eigen::VectorXd& q) const {
  const HandPart& part = Hand(i);
  const model::Skeleton& s = hand(i);
  CHECK_EQ(q.size(), s.nq());
  const model::Joint& joint = s.body(part.palm).joint;
  const RigidTransform X_JpJc{geometry::FromQuaternion(q[3], q[4], q[5], q[6]), q.head<3>()};
  const RigidTransform X_WPalm = joint.X_PJp * X_JpJc * joint.X_BJc.Inverse();
  Placement out{part.given->ZeroConfiguration(),
                X_WPalm * RootAtZero(part.given->body(part.palm)).Inverse()};
  out.q.tail(s.nq() - 7) = q.tail(s.nq() - 7);
  return out;
}

Status HandWorld::SetHand(int i, const Eigen::VectorXd& q) {
  HandPart& part = Hand(i);
  if (q.size() != hand(i).nq()) {
    return Error{ErrorCode::kInvalid, "hand " + hand(i).name() + ": a configuration has " +
                                          std::to_string(hand(i).nq()) + " entries, not " +
                                          std::to_string(q.size())};
  }
  if (part.soft) {
    world_->ClearDrive(part.in_world->engine_joint(part.palm));
    part.soft = false;
  }
  HANDHOLD_TRY(world_->SetKinematic(part.in_world->engine_body(part.palm), true));
  HANDHOLD_TRY(part.in_world->SetConfiguration(q));
  part.X_WPalm = part.in_world->X_WB(part.palm);
  part.V_W = part.A_W = Vec6::Zero();
  part.outboard_at_s = -1.0;
  return {};
}

Status HandWorld::SetProp(int i, const RigidTransform& X_WP) {
  PropPart& part = Prop(i);
  if (part.fixed >= 0) {
    poses_.fixed[static_cast<size_t>(part.fixed)] = part.X_WP = X_WP;
    return {};
  }
  HANDHOLD_TRY(world_->SetPose(part.body, X_WP));
  part.X_WP = X_WP;
  return world_->SetVelocity(part.body, Vec3::Zero(), Vec3::Zero());
}

Status HandWorld::HoldProp(int i, bool held) {
  PropPart& part = Prop(i);
  if (part.fixed >= 0) return {};
  part.held = held;
  return world_->SetKinematic(part.body, held);
}

Status HandWorld::MovePalm(int i, const RigidTransform& X_WPalm, double h_s) {
  HandPart& part = Hand(i);
  CHECK_GT(h_s, 0.0);
  Vec6 V;
  V << geometry::Log(X_WPalm.R * part.X_WPalm.R.transpose()) / h_s,
      (X_WPalm.p - part.X_WPalm.p) / h_s;
  part.A_W = (V - part.V_W) / h_s;
  part.V_W = V;
  part.X_WPalm = X_WPalm;
  part.moved = true;
  if (!part.soft) return world_->MoveTo(part.in_world->engine_body(part.palm), X_WPalm);
  SoftRootDrive drive = part.springs;
  drive.X_WF = X_WPalm * hand(i).body(part.palm).joint.X_BJc;
  drive.omega_W = V.head<3>();
  drive.v_W = V.tail<3>() + V.head<3>().cross(drive.X_WF.p - X_WPalm.p);
  return world_->SetSoftRoot(part.in_world->engine_joint(part.palm), drive);
}

Status HandWorld::SoftenPalm(int i, const SoftRootDrive& springs) {
  HandPart& part = Hand(i);
  part.springs = springs;
  part.springs.X_WF = part.X_WPalm * hand(i).body(part.palm).joint.X_BJc;
  HANDHOLD_TRY(world_->SetSoftRoot(part.in_world->engine_joint(part.palm), part.springs));
  HANDHOLD_TRY(world_->SetKinematic(part.in_world->engine_body(part.palm), false));
  part.soft = true;
  return {};
}

const std::vector<Outboard>& HandWorld::OutboardOf(int i) {
  HandPart& part = Hand(i);
  if (part.outboard_at_s != time_s()) {
    for (int b = 0; b < hand(i).body_count(); ++b)
      part.X_WB[static_cast<size_t>(b)] = part.in_world->X_WB(b);
    ComputeOutboard(hand(i), part.X_WB, &part.outboard);
    part.outboard_at_s = time_s();
  }
  return part.outboard;
}

Status HandWorld::Pull(int i, const Eigen::VectorXd& q_target, const Eigen::VectorXd& v_target,
                       const PullGains& gains) {
  const model::Skeleton& s = hand(i);
  if (q_target.size() != s.nq() || (v_target.size() != 0 && v_target.size() != s.nv())) {
    return Error{ErrorCode::kInvalid, "hand " + s.name() + ": a target has " +
                                          std::to_string(s.nq()) + " entries and its velocity " +
                                          std::to_string(s.nv()) + " or none"};
  }
  const std::vector<Outboard>& outboard = OutboardOf(i);
  for (int b = 1; b < s.body_count(); ++b) {
    const model::Joint& joint = s.body(b).joint;
    if (b == Hand(i).palm || joint.type == JointType::kFixed) continue;
    const int id = Hand(i).in_world->engine_joint(b), k = s.v_index(b), kq = s.q_index(b);
    const Outboard& o = outboard[static_cast<size_t>(b)];
    const Mat3 inertia = o.AboutJoint_Jc() + gains.inertia_floor_kgm2 * Mat3::Identity();
    if (joint.type == JointType::kBall) {
      BallDrive drive = BallDrive::OfInertia(inertia, gains.stiffness_per_s2, gains.damping_per_s);
      drive.target_R = geometry::FromQuaternion(q_target[kq], q_target[kq + 1], q_target[kq + 2],
                                                q_target[kq + 3]);
      if (v_target.size() != 0) drive.target_rate_rad_per_s = v_target.segment<3>(k);
      HANDHOLD_TRY(world_->SetBallDrive(id, drive));
      continue;
    }
    for (int axis = 0; axis < joint.nv(); ++axis) {
      const Vec3 a = o.R_WJc.transpose() * world_->axis_W(id, axis);
      const double along = a.dot(inertia * a);
      HANDHOLD_TRY(
          world_->SetDrive(id, axis,
                           {q_target[kq + axis], v_target.size() != 0 ? v_target[k + axis] : 0.0,
                            gains.stiffness_per_s2 * along, gains.damping_per_s * along}));
    }
  }
  return {};
}

void HandWorld::LetGo(int i) {
  const model::Skeleton& s = hand(i);
  for (int b = 1; b < s.body_count(); ++b) {
    if (b == Hand(i).palm || s.body(b).joint.type == JointType::kFixed) continue;
    world_->ClearDrive(Hand(i).in_world->engine_joint(b));
  }
}

int HandWorld::EngineBody(const ContactSide& side) const {
  switch (side.kind) {
    case ContactSide::Kind::kLink:
      return Hand(side.tree).in_world->engine_body(side.index);
    case ContactSide::Kind::kBody:
      for (const auto& p : props_) {
        if (p->fixed < 0 && poses_.bodies[static_cast<size_t>(side.index)] == &p->X_WP)
          return p->body;
      }
      break;
    case ContactSide::Kind::kFixed:
      break;
  }
  return kFixedBody;
}

// Numbers each shape among those of its engine body.
Status HandWorld::NumberShapes() {
  std::vector<int> count(static_cast<size_t>(world_->body_count()), 0);
  engine_.clear(), local_.clear();
  shape_of_.assign(count.size(), {});
  for (int c = 0; c < finder_.collider_count(); ++c) {
    const int body = EngineBody(finder_.collider(c).side);
    int& n = count[static_cast<size_t>(body)];
    if (n > kMostShapes) {
      return Error{ErrorCode::kUnsupported, "body " + world_->body_name(body) + " has more than " +
                                                std::to_string(kMostShapes) + " shapes"};
    }
    engine_.push_back(body), local_.push_back(n++);
    shape_of_[static_cast<size_t>(body)].push_back(c);
  }
  return {};
}

void HandWorld::Candidates(std::vector<ContactCandidate>* out) {
  for (const auto& h : hands_) {
    for (size_t b = 0; b < h->X_WB.size(); ++b) h->X_WB[b] = h->in_world->X_WB(static_cast<int>(b));
  }
  for (const auto& p : props_) {
    if (p->fixed < 0) p->X_WP = world_->X_WB(p->body);
  }
  find_status_ = finder_.Find(poses_, kMargin_m, &found_);
  if (!find_status_) return;
  for (const Contact& c : found_) {
    if (!(c.separation_m < 0)) continue;
    const auto a = static_cast<size_t>(c.feature >> 40),
               b = static_cast<size_t>(c.feature >> 16 & 0xffffff);
    ContactCandidate candidate;
    candidate.body_a = engine_[a];
    candidate.body_b = engine_[b];
    if (candidate.body_a == candidate.body_b) continue;
    candidate.feature = local_[a] << (kShapeBits + kPlaceBits) | local_[b] << kPlaceBits |
                        static_cast<int>(c.feature & ((1 << kPlaceBits) - 1));
    candidate.p_W = c.p_W;
    candidate.normal_W = c.normal_W;
    candidate.depth_m = -c.separation_m;
    candidate.law = {c.law.stiffness_N_per_m, c.law.damping_Ns_per_m, c.law.friction};
    if (c.a.kind == ContactSide::Kind::kLink && c.b.kind == ContactSide::Kind::kLink) {
      candidate.law = {options_.stiffness_N_per_m, options_.damping_Ns_per_m,
                       options_.skin_friction};
    }
    out->push_back(candidate);
  }
}

// Weights of what forces move.
Status HandWorld::AddWeight() {
  if (gravity_.g_W.isZero(0.0)) return {};
  for (int body = 1; body < world_->body_count(); ++body) {
    const auto& [hand_number, part] = who_[static_cast<size_t>(body)];
    if (part < 0 || (hand_number >= 0 && !gravity_.on_hands) || world_->kinematic(body)) continue;
    HANDHOLD_TRY(world_->AddForce(body, world_->mass_kg(body) * gravity_.g_W, world_->com_W(body)));
  }
  return {};
}

Status HandWorld::Step(double h_s) {
  if (local_.size() != static_cast<size_t>(finder_.collider_count())) HANDHOLD_TRY(NumberShapes());
  HANDHOLD_TRY(AddWeight());
  const Status stepped = world_->Step(
      h_s, [this](const World&, std::vector<ContactCandidate>* out) { Candidates(out); });
  for (const auto& h : hands_) {
    if (!h->moved) h->V_W.setZero();
    h->A_W.setZero();
    h->moved = false;
  }
  if (!stepped) return stepped;
  for (const auto& p : props_) {
    if (p->fixed < 0) p->X_WP = world_->X_WB(p->body);
  }
  return find_status_;
}

RigidTransform HandWorld::X_WPalm(int i) const { return Hand(i).in_world->X_WB(Hand(i).palm); }
RigidTransform HandWorld::X_WP(int i) const {
  return Prop(i).fixed >= 0 ? Prop(i).X_WP : world_->X_WB(Prop(i).body);
}

std::vector<HandContact> HandWorld::Contacts() const {
  std::vector<HandContact> out;
  for (const ContactReading& r : world_->contacts()) {
    const auto side = [&](int body, int local) {
      return finder_.collider(shape_of_[static_cast<size_t>(body)][static_cast<size_t>(local)])
          .side;
    };
    ContactSide a = side(r.body_a, r.feature >> (kShapeBits + kPlaceBits));
    ContactSide b = side(r.body_b, r.feature >> kPlaceBits & kMostShapes);
    if (a.kind != ContactSide::Kind::kLink) continue;
    HandContact c{.hand = a.tree,
                  .body = a.index,
                  .p_W = r.p_W,
                  .normal_W = r.normal_W,
                  .f_onHand_W = r.f_onA_W,
                  .depth_m = r.depth_m,
                  .slip_W = r.slip_W};
    if (b.kind == ContactSide::Kind::kLink) {
      c.other_hand = b.tree, c.other_body = b.index;
    } else {
      for (int p = 0; p < prop_count(); ++p) {
        if (b.fixed() ? Prop(p).fixed == b.index : Prop(p).body == r.body_b) {
          c.prop = p;
          break;
        }
      }
    }
    out.push_back(c);
  }
  return out;
}

HandWorld::Grip HandWorld::GripOn(int i, int prop) const {
  Grip grip;
  for (const HandContact& c : Contacts()) {
    if (c.hand != i || c.prop != prop) continue;
    ++grip.contacts;
    grip.normal_N += c.f_onHand_W.dot(c.normal_W);
    grip.deepest_m = std::max(grip.deepest_m, c.depth_m);
  }
  return grip;
}

Result<double> HandWorld::Gap(int i, int prop, double reach_m, bool palm_only) const {
  double least = std::numeric_limits<double>::infinity();
  const HandPart& part = Hand(i);
  const RigidTransform X_WProp = X_WP(prop);
  for (const auto& [c, body] : part.shapes) {
    if (palm_only && body != part.palm) continue;
    const Collider& x = finder_.collider(c);
    const RigidTransform X_WS = part.in_world->X_WB(body) * x.X_BS;
    for (const model::PropShape& shape : Prop(prop).prop.shapes) {
      HANDHOLD_ASSIGN(const geometry::ShapeDistance d,
                      geometry::Distance(x.shape, X_WS, shape.shape, X_WProp * shape.X_PS,
                                         std::min(reach_m, std::max(least, 0.0))));
      least = std::min(least, d.distance_m);
    }
  }
  return least;
}
Result<double> HandWorld::PalmGap(int i, int prop, double reach_m) const {
  return Gap(i, prop, reach_m, true);
}
Result<double> HandWorld::HandGap(int i, int prop, double reach_m) const {
  return Gap(i, prop, reach_m, false);
}

HandWorld::Saved HandWorld::Save() const {
  Saved saved;
  saved.world = world_->Save();
  saved.gravity = gravity_;
  for (const auto& h : hands_)
    saved.palms.push_back({h->X_WPalm, h->V_W, h->A_W, h->moved, h->soft, h->springs});
  for (const auto& p : props_) saved.held.push_back(p->held);
  for (const auto& p : props_) saved.X_WP.push_back(p->X_WP);
  return saved;
}

Status HandWorld::Restore(const Saved& saved) {
  if (saved.palms.size() != hands_.size() || saved.held.size() != props_.size()) {
    return Error{ErrorCode::kInvalid, "a snapshot of a world with other hands or props"};
  }
  HANDHOLD_TRY(world_->Restore(saved.world));
  for (size_t i = 0; i < hands_.size(); ++i) {
    HandPart& h = *hands_[i];
    const Saved::Palm& s = saved.palms[i];
    h.X_WPalm = s.X_WPalm, h.V_W = s.V_W, h.A_W = s.A_W, h.moved = s.moved, h.soft = s.soft,
    h.springs = s.springs;
    h.outboard_at_s = -1.0;
  }
  for (size_t i = 0; i < props_.size(); ++i) {
    PropPart& p = *props_[i];
    p.held = saved.held[i] != 0;
    p.X_WP = saved.X_WP[i];
    if (p.fixed >= 0) poses_.fixed[static_cast<size_t>(p.fixed)] = p.X_WP;
  }
  gravity_ = saved.gravity;
  return {};
}

}  // namespace handhold::synthesis

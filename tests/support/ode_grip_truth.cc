#include "tests/support/ode_grip_truth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "database/base/check.h"
#include "synthesis/contact/contact_finder.h"
#include "synthesis/interaction/grip_adjustment.h"
#include "synthesis/world/skeleton_in_world.h"
#include "synthesis/world/world.h"

namespace handhold::testing {
namespace {

using artefact::Motion;
using geometry::Vec3;
using synthesis::ContactReading;
using synthesis::SkeletonInWorld;
using synthesis::World;

constexpr double kGravity = 9.81;
// A replay's: where a bone lies on a face its one contact goes over from end to end.
constexpr double kGoesOver_m = 1.5e-4;

/// Whose an engine body is.
struct Owner {
  artefact::Side side;
  synthesis::ContactSide contact;
};

class Run {
 public:
  Run(const model::Skeleton& hand, const artefact::InteractionTrajectory& program,
      const OdeGripOptions& options)
      : hand_(hand), program_(program), options_(options) {
    const double length_s = (program.times.back() - program.times.front()).seconds();
    fine_ = static_cast<int>(std::llround(options.sample_s / options.step_s));
    frames_ =
        static_cast<int>(std::floor(std::min(length_s, options.end_s) / options.sample_s + 1e-6));
  }

  Status Begin() {
    HANDHOLD_ASSIGN(world_, World::Create({.gravity_W = Vec3(0, 0, -kGravity)}));
    HANDHOLD_ASSIGN(SkeletonInWorld in_world, SkeletonInWorld::Add(hand_, world_.get()));
    in_world_ = std::make_unique<SkeletonInWorld>(std::move(in_world));
    HANDHOLD_TRY(in_world_->SetConfiguration(Target(0.0)));
    if (options_.limits) HANDHOLD_TRY(in_world_->SetLimits());
    artefact::StageHand staged;
    if (!program_.hand.empty()) staged.name = program_.hand;
    artefact::MotionHand& played = motion_.Add(std::move(staged));
    played.dof_names = hand_.dof_names();
    played.q.resize(hand_.nq(), frames_ + 1);
    for (int b = 1; b < hand_.body_count(); ++b) {
      // Of welded bodies the first: the others ride on it.
      owners_.try_emplace(in_world_->engine_body(b),
                          Owner{{artefact::Side::Kind::kHand, played.name, "", b},
                                synthesis::ContactSide::Link(0, b)});
    }
    for (const auto& [body, owner] : owners_) hand_bodies_.push_back(body);
    return {};
  }

  /// What stands before what moves.
  Status AddStage(const artefact::Stage& stage) {
    for (const artefact::StageThing& thing : stage.things)
      (thing.yields() ? moving_ : standing_).push_back(&thing);
    const auto colliders = [&](const model::Prop& prop, int body,
                               const geometry::RigidTransform& X_BP) -> Status {
      synthesis::ContactLaw law = options_.law;
      law.friction = prop.friction;
      for (const model::PropShape& shape : prop.shapes) {
        HANDHOLD_ASSIGN([[maybe_unused]] const int collider,
                        world_->AddCollider({.name = prop.name + "/" + shape.name,
                                             .body = body,
                                             .X_BS = X_BP * shape.X_PS,
                                             .shape = shape.shape,
                                             .law = law}));
      }
      return {};
    };
    // Objects before fixed things: of a pair the later one is the side b.
    for (const artefact::StageThing* thing : moving_) {
      HANDHOLD_ASSIGN(const int body,
                      world_->AddBody(thing->name, thing->prop->mass, *thing->X_WP));
      HANDHOLD_TRY(colliders(*thing->prop, body, {}));
      owners_[body] = {{artefact::Side::Kind::kThing, thing->name, "", 0},
                       synthesis::ContactSide::Body(static_cast<int>(objects_.size()))};
      objects_.push_back(body);
      friction_.push_back(thing->prop->friction);
      if (thing->is == artefact::StageThing::Is::kPivot) HANDHOLD_TRY(AddPivot(*thing, body));
    }
    for (const artefact::StageThing* thing : standing_) {
      motion_.Add(*thing);
      HANDHOLD_TRY(colliders(*thing->prop, synthesis::kFixedBody, *thing->X_WP));
      // Engine contacts do not tell fixed things apart: the first stands for them all.
      owners_.try_emplace(synthesis::kFixedBody,
                          Owner{{artefact::Side::Kind::kThing, thing->name, "", 0},
                                synthesis::ContactSide::Fixed(0)});
    }
    for (const artefact::StageThing* thing : moving_) motion_.Add(*thing);
    first_object_ = standing_.size();
    return options_.replay_contacts ? AddReplayContacts() : Status();
  }

  Result<Motion> Play() {
    synthesis::GripAdjuster grip(hand_, 0, options_.grip, options_.sample_s);
    const bool adjusts = options_.grip.kind != synthesis::GripKind::kNone;
    if (adjusts)
      motion_.series.push_back({synthesis::kGripScale, "1", Eigen::VectorXd::Ones(frames_ + 1)});
    motion_.times.push_back(program_.times.front());
    motion_.hands.front().q.col(0) = in_world_->q();
    for (int k = 1; k <= frames_; ++k) {
      motion_.times.push_back(program_.times.front() +
                              Duration::FromSeconds(k * options_.sample_s));
      if (adjusts) motion_.series.back().values[k] = grip.finger_scale();
      means_.clear();
      for (int i = 1; i <= fine_; ++i)
        HANDHOLD_TRY(FineStep((k - 1) * options_.sample_s + i * options_.step_s, grip.scale()));
      motion_.hands.front().q.col(k) = in_world_->q();
      for (size_t o = 0; o < objects_.size(); ++o)
        motion_.objects[first_object_ + o].X_WP.push_back(world_->X_WB(objects_[o]));
      Record(k);
      Observe(&grip);
    }
    return std::move(motion_);
  }

 private:
  struct Mean {
    Vec3 f_onA_W = Vec3::Zero(), normal_W = Vec3::Zero(), p_W = Vec3::Zero();
    Vec3 slip_W = Vec3::Zero();  ///< m/s, the mean
  };

  size_t FrameBefore(double t_s) const {
    const Timestamp t = program_.times.front() + Duration::FromSeconds(t_s);
    const auto after = std::upper_bound(program_.times.begin(), program_.times.end(), t);
    return std::min(static_cast<size_t>(std::distance(program_.times.begin(), after)) - 1,
                    program_.times.size() - 2);
  }
  Eigen::VectorXd Target(double t_s) const {
    const size_t i = FrameBefore(t_s);
    const auto at = static_cast<Eigen::Index>(i);
    const double span = (program_.times[i + 1] - program_.times[i]).seconds();
    const double share =
        std::min(1.0, (t_s - (program_.times[i] - program_.times.front()).seconds()) / span);
    const Eigen::MatrixXd& q = program_.q_reference_dynamic;
    return hand_.Integrate(q.col(at), share * hand_.Difference(q.col(at), q.col(at + 1)));
  }

  struct Bearing {
    int joint = 0;
    double damping_Nms_per_rad = 0.0;
  };
  Status AddPivot(const artefact::StageThing& thing, int body) {
    const artefact::BearingInWorld line = artefact::BearingOf(thing);
    HANDHOLD_ASSIGN(const int joint, world_->AddHinge({.name = thing.name + "/pivot",
                                                       .child = body,
                                                       .p_W = line.p_W,
                                                       .axis_W = line.axis_W}));
    if (thing.pivot.damping_Nms_per_rad > 0.0)
      bearings_.push_back({joint, thing.pivot.damping_Nms_per_rad});
    return {};
  }
  // A drive needs a spring: one of a millionth of the damper's strength over a step, to the angle
  // of now. The engine's angles end at half a turn, targets a little before it.
  Status DampBearings() {
    for (const Bearing& b : bearings_) {
      const double most = M_PI - 1e-6;
      HANDHOLD_TRY(
          world_->SetDrive(b.joint, 0,
                           {.target_rad = std::clamp(world_->angle_rad(b.joint), -most, most),
                            .stiffness_Nm_per_rad = 1e-6 * b.damping_Nms_per_rad / options_.step_s,
                            .damping_Nms_per_rad = b.damping_Nms_per_rad}));
    }
    return {};
  }

  Status AddReplayContacts() {
    finder_ = std::make_unique<synthesis::ContactFinder>();
    HANDHOLD_ASSIGN([[maybe_unused]] const auto unusable,
                    finder_->AddSkeleton(hand_, 0, false, kGoesOver_m));
    for (size_t i = 0; i < standing_.size(); ++i) {
      const auto n = static_cast<int>(i);
      HANDHOLD_TRY(finder_->AddProp(*standing_[i]->prop, synthesis::ContactSide::Fixed(n)));
      poses_.fixed.push_back(*standing_[i]->X_WP);
    }
    for (size_t o = 0; o < moving_.size(); ++o) {
      const auto n = static_cast<int>(o);
      HANDHOLD_TRY(finder_->AddProp(*moving_[o]->prop, synthesis::ContactSide::Body(n)));
    }
    link_X_WB_.resize(static_cast<size_t>(hand_.body_count()));
    object_X_WB_.resize(moving_.size());
    poses_.trees.push_back(link_X_WB_);
    for (const geometry::RigidTransform& X : object_X_WB_) poses_.bodies.push_back(&X);
    return {};
  }
  Status Generate(std::vector<synthesis::ContactCandidate>* out) {
    for (size_t b = 0; b < link_X_WB_.size(); ++b)
      link_X_WB_[b] = in_world_->X_WB(static_cast<int>(b));
    for (size_t o = 0; o < objects_.size(); ++o) object_X_WB_[o] = world_->X_WB(objects_[o]);
    HANDHOLD_TRY(finder_->Find(poses_, 1e-3, &found_));
    const auto body = [&](const synthesis::ContactSide& side) {
      if (side.fixed()) return synthesis::kFixedBody;
      return side.kind == synthesis::ContactSide::Kind::kLink
                 ? in_world_->engine_body(side.index)
                 : objects_[static_cast<size_t>(side.index)];
    };
    for (const synthesis::Contact& c : found_) {
      if (!(c.separation_m < 0)) continue;
      const auto number = [&](int shift) { return static_cast<int>(c.feature >> shift & 0x7f); };
      synthesis::ContactLaw law = options_.law;
      law.friction = c.law.friction;
      out->push_back(
          {.body_a = body(c.a),
           .body_b = body(c.b),
           .feature = number(40) << 24 | number(16) << 16 | static_cast<int>(c.feature & 0xffff),
           .p_W = c.p_W,
           .normal_W = c.normal_W,
           .depth_m = -c.separation_m,
           .law = law});
    }
    return {};
  }
  Status StepWorld() {
    if (finder_ == nullptr) return world_->Step(options_.step_s);
    Status found;
    HANDHOLD_TRY(
        world_->Step(options_.step_s, [&](const World&, auto* out) { found = Generate(out); }));
    return found;
  }

  Status FineStep(double t_s, const Eigen::VectorXd& scale) {
    const Eigen::VectorXd before = Target(t_s - options_.step_s), target = Target(t_s);
    const auto at = static_cast<Eigen::Index>(FrameBefore(t_s));
    const Eigen::VectorXd C = program_.compliance_rad_per_Nm.col(at);
    // The damper is the program's: only the spring is scaled.
    HANDHOLD_TRY(in_world_->SetDrives(target, hand_.Difference(before, target) / options_.step_s,
                                      C.cwiseProduct(scale).cwiseInverse(),
                                      program_.time_constant_s[at] * C.cwiseInverse()));
    for (const int body : hand_bodies_) {
      HANDHOLD_TRY(world_->AddForce(body, Vec3(0, 0, kGravity * world_->mass_kg(body)),
                                    world_->com_W(body)));
    }
    HANDHOLD_TRY(DampBearings());
    HANDHOLD_TRY(StepWorld());
    const double share = options_.step_s / options_.sample_s;
    for (const ContactReading& c : world_->contacts()) {
      Mean& mean = means_[{c.body_a, c.body_b}];
      mean.f_onA_W += share * c.f_onA_W;
      mean.normal_W += c.normal_force_N() * c.normal_W;
      mean.p_W = c.p_W;
      mean.slip_W += share * c.slip_W;
    }
    return {};
  }

  void Record(int frame) {
    const size_t first = motion_.rows.size();
    for (const auto& [bodies, mean] : means_) {
      if (mean.f_onA_W.isZero(0.0)) continue;
      // The hand is side a, as in a replay.
      const bool turned = owners_.at(bodies.second).side.is_hand();
      const Owner& a = owners_.at(turned ? bodies.second : bodies.first);
      const Owner& b = owners_.at(turned ? bodies.first : bodies.second);
      artefact::ContactRow row;
      row.frame = frame;
      row.touch = motion_.TouchBetween(a.side, b.side, motion_.times[static_cast<size_t>(frame)]);
      row.f_onA_W = (turned ? -1.0 : 1.0) * mean.f_onA_W;
      row.normal_W = (turned ? -1.0 : 1.0) * mean.normal_W.normalized();
      row.p_W = mean.p_W;
      row.slip_m_per_s = mean.slip_W.norm();
      artefact::Touch& touch = motion_.touches[static_cast<size_t>(row.touch)];
      touch.peak_force_N = std::max(touch.peak_force_N, row.f_onA_W.norm());
      motion_.rows.push_back(row);
    }
    std::stable_sort(motion_.rows.begin() + static_cast<std::ptrdiff_t>(first), motion_.rows.end(),
                     [](const auto& a, const auto& b) { return a.touch < b.touch; });
  }

  /// The hook feels what the engine's contacts were over the sample.
  void Observe(synthesis::GripAdjuster* grip) const {
    std::vector<synthesis::Contact> contacts;
    std::vector<synthesis::HandForce> forces;
    for (const auto& [bodies, mean] : means_) {
      const auto o = std::find_if(objects_.begin(), objects_.end(), [&](int body) {
        return body == bodies.first || body == bodies.second;
      });
      if (o == objects_.end()) continue;
      synthesis::Contact contact;
      contact.a = owners_.at(bodies.first).contact;
      contact.b = owners_.at(bodies.second).contact;
      contact.normal_W = mean.normal_W.normalized();
      contact.law.friction = friction_[static_cast<size_t>(std::distance(objects_.begin(), o))];
      contacts.push_back(contact);
      forces.push_back({mean.f_onA_W, mean.slip_W.norm()});
    }
    grip->Observe(contacts, forces);
  }

  const model::Skeleton& hand_;
  const artefact::InteractionTrajectory& program_;
  const OdeGripOptions& options_;
  int fine_ = 0, frames_ = 0;
  std::unique_ptr<World> world_;
  std::unique_ptr<SkeletonInWorld> in_world_;
  std::vector<int> hand_bodies_, objects_;  ///< engine bodies
  std::vector<double> friction_;            ///< per object
  std::vector<Bearing> bearings_;
  std::vector<const artefact::StageThing*> standing_, moving_;  ///< in order of the engine's
  std::unique_ptr<synthesis::ContactFinder> finder_;            ///< null: the engine's colliders
  std::vector<geometry::RigidTransform> link_X_WB_, object_X_WB_;
  synthesis::ContactPoses poses_;  ///< into the two
  synthesis::ContactSet found_;
  size_t first_object_ = 0;  ///< of the motion's objects
  std::map<int, Owner> owners_;
  std::map<std::pair<int, int>, Mean> means_;
  Motion motion_;
};

}  // namespace

Result<artefact::InteractionTrajectory> OdeFreeRun(const model::Skeleton& hand,
                                                   const artefact::InteractionTrajectory& program,
                                                   const OdeGripOptions& options) {
  Run run(hand, program, options);
  HANDHOLD_TRY(run.Begin());
  HANDHOLD_ASSIGN(const Motion motion, run.Play());
  artefact::InteractionTrajectory out = program;
  out.times = motion.times;
  out.q_reference = out.q_reference_dynamic = out.q = motion.hands.front().q;
  const auto frames = static_cast<Eigen::Index>(motion.times.size());
  out.compliance_rad_per_Nm = program.compliance_rad_per_Nm.col(0).replicate(1, frames);
  out.time_constant_s = Eigen::VectorXd::Constant(frames, program.time_constant_s[0]);
  return out;
}

Result<Motion> OdeGripRun(const model::Skeleton& hand,
                          const artefact::InteractionTrajectory& program,
                          const artefact::Stage& stage, const OdeGripOptions& options) {
  Run run(hand, program, options);
  HANDHOLD_TRY(run.Begin());
  HANDHOLD_TRY(run.AddStage(stage));
  return run.Play();
}

std::vector<double> NormalForce_N(const Motion& motion, int body) {
  std::vector<double> force_N(motion.times.size(), 0.0);
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Side& side = motion.touches[static_cast<size_t>(row.touch)].a;
    if (side.is_hand() && side.body == body)
      force_N[static_cast<size_t>(row.frame)] += row.f_onA_W.dot(row.normal_W);
  }
  return force_N;
}

}  // namespace handhold::testing

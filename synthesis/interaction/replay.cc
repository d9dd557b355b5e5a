#include "synthesis/interaction/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "database/base/asked_range.h"
#include "database/base/check.h"
#include "database/model/site.h"
#include "synthesis/interaction/grip_traces.h"

namespace handhold::synthesis {

using artefact::Stage;
using artefact::StageHand;
using artefact::StageThing;

namespace {

// Healthy replays stay below 0.05 rad, on the bump too; an open mesh's inside or a joint of 1000
// rad/Nm gives 0.5 and more.
constexpr double kLost_rad = 0.3;

// Where a bone lies on a face its contact goes over from end to end, not by jumps: with jumps a
// light box crept by 0.4 mm/s. Fingertips are softer than this.
constexpr double kGoesOver_m = 1.5e-4;

// Rounding of a solved problem leaves some 1e-17 N on surfaces that are still apart: no touch.
constexpr double kNoForce_N = 1e-12;

// The trajectory between its frames.
class Sampler {
 public:
  Sampler(const StageHand& hand, const ReplayOptions& options)
      : skeleton_(*hand.skeleton),
        trajectory_(*hand.trajectory),
        time_constant_s_(hand.time_constant_s),
        reference_(options.form == ReplayForm::kDamped ? trajectory_.q_reference_dynamic
                                                       : trajectory_.q_reference) {}

  Eigen::VectorXd Reference(Timestamp t) {
    Advance(t);
    const auto i = static_cast<Eigen::Index>(frame_);
    if (t <= trajectory_.times[frame_] || frame_ + 1 >= trajectory_.times.size())
      return reference_.col(i);
    const double span =
        static_cast<double>((trajectory_.times[frame_ + 1] - trajectory_.times[frame_]).ns());
    const double share = static_cast<double>((t - trajectory_.times[frame_]).ns()) / span;
    return skeleton_.Integrate(
        reference_.col(i), share * skeleton_.Difference(reference_.col(i), reference_.col(i + 1)));
  }
  Eigen::VectorXd Compliance(Timestamp t) {
    Advance(t);
    return trajectory_.compliance_rad_per_Nm.col(static_cast<Eigen::Index>(frame_));
  }
  Eigen::VectorXd TimeConstants(Timestamp t) {
    Advance(t);
    const double T_s = trajectory_.time_constant_s.size() == 0
                           ? 0.0
                           : trajectory_.time_constant_s[static_cast<Eigen::Index>(frame_)];
    if (time_constant_s_.size() == 0) return Eigen::VectorXd::Constant(skeleton_.nv(), T_s);
    return time_constant_s_.unaryExpr(
        [&](double own_s) { return std::isnan(own_s) ? T_s : own_s; });
  }

 private:
  // Times asked for ascend: frame_ is the last frame at or before t.
  void Advance(Timestamp t) {
    while (frame_ + 1 < trajectory_.times.size() && trajectory_.times[frame_ + 1] <= t) ++frame_;
  }

  const model::Skeleton& skeleton_;
  const artefact::InteractionTrajectory& trajectory_;
  const Eigen::VectorXd& time_constant_s_;
  const Eigen::MatrixXd& reference_;
  size_t frame_ = 0;
};

Status CheckHand(const StageHand& hand, const ReplayOptions& options) {
  if (!hand.trajectory.there()) {
    return Error{ErrorCode::kInvalid,
                 "hand '" + hand.name + "' follows no trajectory: the compliant mover needs one"};
  }
  const model::Skeleton& skeleton = *hand.skeleton;
  const artefact::InteractionTrajectory& t = *hand.trajectory;
  const auto frames = static_cast<Eigen::Index>(t.times.size());
  if (frames < 2)
    return Error{ErrorCode::kInvalid, "the interaction trajectory has fewer than two frames"};
  if (t.dof_names != skeleton.dof_names()) {
    return Error{
        ErrorCode::kInvalid,
        "the interaction trajectory was fitted to another skeleton than '" + skeleton.name() + "'"};
  }
  const Eigen::MatrixXd& reference =
      options.form == ReplayForm::kDamped ? t.q_reference_dynamic : t.q_reference;
  if (reference.rows() != skeleton.nq() || reference.cols() != frames) {
    return Error{ErrorCode::kInvalid,
                 options.form == ReplayForm::kDamped
                     ? "the trajectory has no dynamic reference: run 'fit compliance' with the "
                       "dynamic estimator, or replay quasi-statically"
                     : "the trajectory's reference does not fit the skeleton"};
  }
  if (t.compliance_rad_per_Nm.rows() != skeleton.nv() || t.compliance_rad_per_Nm.cols() != frames) {
    return Error{ErrorCode::kInvalid, "the trajectory's compliance does not fit the skeleton"};
  }
  std::string unknown;
  for (int d = 0; d < skeleton.nv(); ++d) {
    if (t.compliance_rad_per_Nm.row(d).allFinite()) continue;
    unknown += (unknown.empty() ? "" : ", ") + skeleton.dof_names()[static_cast<size_t>(d)];
  }
  if (!unknown.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "the fit refused a compliance for " + unknown +
                     ": assume one by name, and the result will say so"};
  }
  if (hand.time_constant_s.size() > 0 &&
      (hand.time_constant_s.size() != skeleton.nv() ||
       (hand.time_constant_s.array() < 0.0 || hand.time_constant_s.array().isInf()).any())) {
    return Error{ErrorCode::kInvalid, "the joints' time constants do not fit '" + skeleton.name() +
                                          "', or are below 0 or infinite"};
  }
  return {};
}

/// Which things of the stage are the step's fixed ones and which its bodies, in their orders.
struct Roles {
  std::vector<size_t> fixed, bodies;
  size_t ThingOf(const ContactSide& side) const {
    return (side.fixed() ? fixed : bodies)[static_cast<size_t>(side.index)];
  }
};

Result<Roles> RolesOf(const Stage& stage) {
  Roles roles;
  for (size_t i = 0; i < stage.things.size(); ++i) {
    const StageThing& thing = stage.things[i];
    switch (thing.is) {
      case StageThing::Is::kFixed:
        roles.fixed.push_back(i);
        break;
      case StageThing::Is::kFree:
      case StageThing::Is::kPivot:
        roles.bodies.push_back(i);
        break;
      default:
        return Error{ErrorCode::kUnsupported,
                     "thing '" + thing.name + "' (" + std::string(StageIsName(thing.is)) +
                         "): the compliant mover plays what is fixed, free or on a pivot"};
    }
  }
  return roles;
}

void Record(const Stage& stage, const Roles& roles, const InteractionStepper& stepper,
            const ContactSet& contacts, const StepResult& step, int frame,
            artefact::Motion* motion) {
  // `out_W`: the surface's outward normal there.
  const auto named = [&](const ContactSide& side, const geometry::Vec3& out_W) -> artefact::Side {
    if (side.kind != ContactSide::Kind::kLink)
      return {artefact::Side::Kind::kThing, stage.things[roles.ThingOf(side)].name, "", 0};
    const auto tree = static_cast<size_t>(side.tree);
    const model::Skeleton& skeleton = *stage.hands[tree].skeleton;
    const geometry::RigidTransform& X_WB = stepper.X_WB(side.tree)[static_cast<size_t>(side.index)];
    const int site = model::SiteAt(skeleton, side.index, X_WB.R.transpose() * out_W);
    return {artefact::Side::Kind::kHand, stage.hands[tree].name,
            site < 0 ? "" : skeleton.sites()[static_cast<size_t>(site)].name, side.index};
  };
  for (size_t i = 0; i < contacts.size(); ++i) {
    const geometry::Vec3& f = step.forces[i].f_onHand_W;
    if (!(f.norm() > kNoForce_N)) continue;
    const Contact& contact = contacts[i];
    artefact::ContactRow row;
    row.frame = frame;
    // a's skin faces against the touched surface's normal.
    row.touch = motion->TouchBetween(named(contact.a, -contact.normal_W),
                                     named(contact.b, contact.normal_W),
                                     motion->times[static_cast<size_t>(frame)]);
    row.f_onA_W = f;
    row.p_W = contact.p_W;
    row.normal_W = contact.normal_W;
    row.offset_m = contact.separation_m;
    row.slip_m_per_s = step.forces[i].slip_m_per_s;
    artefact::Touch& touch = motion->touches[static_cast<size_t>(row.touch)];
    touch.peak_force_N = std::max(touch.peak_force_N, f.norm());
    motion->rows.push_back(row);
  }
}

double DistanceTo(const model::Prop& prop, const geometry::Vec3& p_P) {
  std::vector<geometry::PosedShape> shapes;
  for (const model::PropShape& s : prop.shapes) shapes.push_back({s.shape, s.X_PS});
  return geometry::SignedDistanceToUnion(shapes, p_P).point.distance_m;
}

/// Whether the middle of one of `a`'s shapes is solid and lies inside `b`: of equal things in one
/// place no corner is inside the other. (The middle of a bowl is none of it.)
bool MiddleInside(const StageThing& a, const StageThing& b) {
  if (b.prop->shapes.empty()) return false;
  const geometry::RigidTransform X_BA = b.X_WP->Inverse() * *a.X_WP;
  for (const model::PropShape& s : a.prop->shapes) {
    const geometry::Vec3 middle_A = s.X_PS * geometry::BoundsOf(s.shape).centre();
    if (DistanceTo(*a.prop, middle_A) < -kDeepestBegin_m &&
        DistanceTo(*b.prop, X_BA * middle_A) < -kDeepestBegin_m)
      return true;
  }
  return false;
}

/// Free things that begin inside one another would be thrown apart.
Status CheckApart(const ContactSet& contacts, const Stage& stage, const Roles& roles) {
  const auto is_free = [](const StageThing& thing) { return thing.is == StageThing::Is::kFree; };
  for (const StageThing& a : stage.things) {
    for (const StageThing& b : stage.things) {
      if (&a == &b || !is_free(a) || !is_free(b) || !MiddleInside(a, b)) continue;
      return Error{ErrorCode::kInvalid,
                   "'" + a.name + "' begins inside '" + b.name + "': place them apart"};
    }
  }
  for (const Contact& c : contacts) {
    if (c.a.kind == ContactSide::Kind::kLink || c.b.kind == ContactSide::Kind::kLink) continue;
    const StageThing &a = stage.things[roles.ThingOf(c.a)], &b = stage.things[roles.ThingOf(c.b)];
    if (a.is == StageThing::Is::kPivot || b.is == StageThing::Is::kPivot ||
        c.separation_m >= -kDeepestBegin_m)
      continue;
    char depth[32];
    std::snprintf(depth, sizeof depth, "%.1f mm", -1e3 * c.separation_m);
    return Error{ErrorCode::kInvalid,
                 "'" + a.name + "' begins " + depth + " inside '" + b.name + "': place them apart"};
  }
  return {};
}

/// The hand begins at its reference: within a touch that lies inside what it touches.
Status CheckBegin(const ContactSet& contacts, const Stage& stage, const Roles& roles,
                  Timestamp begin) {
  HANDHOLD_TRY(CheckApart(contacts, stage, roles));
  const Contact* deepest = nullptr;
  for (const Contact& c : contacts) {
    if (c.a.kind != ContactSide::Kind::kLink || c.b.kind == ContactSide::Kind::kLink) continue;
    if (deepest == nullptr || c.separation_m < deepest->separation_m) deepest = &c;
  }
  if (deepest == nullptr || deepest->separation_m >= -kDeepestBegin_m) return {};
  char depth[32];
  std::snprintf(depth, sizeof depth, "%.1f mm", -1e3 * deepest->separation_m);
  return Error{ErrorCode::kInvalid, "at " + FormatSeconds(begin - Timestamp()) +
                                        " the hand begins " + depth + " inside '" +
                                        stage.things[roles.ThingOf(deepest->b)].name +
                                        "': begin while it is free of it, or place it elsewhere"};
}

/// Everything that can touch: hands as trees by their numbers, things by their roles.
Status AddColliders(const Stage& stage, const Roles& roles, const ReplayOptions& options,
                    ContactFinder* finder) {
  for (size_t i = 0; i < stage.hands.size(); ++i) {
    const StageHand& hand = stage.hands[i];
    HANDHOLD_ASSIGN([[maybe_unused]] const std::vector<std::string> unusable,
                    finder->AddSkeleton(*hand.skeleton, static_cast<int>(i), stage.touches_itself,
                                        kGoesOver_m));
  }
  const auto add = [&](size_t thing, const ContactSide& side) {
    return finder->AddProp(*stage.things[thing].prop, side, -1.0, options.stiffness_N_per_m);
  };
  for (size_t i = 0; i < roles.fixed.size(); ++i)
    HANDHOLD_TRY(add(roles.fixed[i], ContactSide::Fixed(static_cast<int>(i))));
  for (size_t i = 0; i < roles.bodies.size(); ++i)
    HANDHOLD_TRY(add(roles.bodies[i], ContactSide::Body(static_cast<int>(i))));
  return {};
}

/// Parts of one hand that overlap as it begins never meet.
Status IgnoreOverlapsOfHands(const ContactPoses& poses, ContactFinder* finder) {
  ContactSet contacts;
  HANDHOLD_TRY(finder->Find(poses, 0.0, &contacts));
  for (const Contact& c : contacts) {
    if (c.a.kind == ContactSide::Kind::kLink && c.b.kind == ContactSide::Kind::kLink &&
        c.a.tree == c.b.tree)
      finder->Ignore(c.a, c.b);
  }
  return {};
}

/// Stage, frames and series of what is about to be played.
artefact::Motion Begun(const Stage& stage, int frames) {
  artefact::Motion motion;
  for (StageHand hand : stage.hands) {
    const artefact::InteractionTrajectory& trajectory = *hand.trajectory;
    for (size_t d = 0; d < trajectory.assumed.size(); ++d) {
      if (trajectory.assumed[d]) hand.assumed_dofs.push_back(hand.skeleton->dof_names()[d]);
    }
    hand.trajectory.value = nullptr;  // the motion is what became of it
    const int nq = hand.skeleton->nq();
    motion.Add(std::move(hand)).q.resize(nq, frames);
  }
  for (const StageThing& thing : stage.things) motion.Add(thing);
  motion.stage.name = stage.name;
  motion.stage.touches_itself = stage.touches_itself;
  motion.stage.sensors = stage.sensors;
  motion.stage.gravity_W = stage.gravity_W;
  motion.stage.judged = stage.judged, motion.stage.hold = stage.hold;
  for (const auto& [name, unit] :
       {std::pair{kEquilibriumResidual, "rad"}, std::pair{kLcpResidual, "N"},
        std::pair{kLcpUnsolved, "1"}, std::pair{kLcpFallback, "1"}})
    motion.series.push_back({name, unit, Eigen::VectorXd::Zero(frames)});
  return motion;
}

/// kNotConverged where hands or things are no longer anywhere.
Status CheckSane(const StepResult& result, std::span<const MovingBody> bodies, Timestamp t,
                 const Stage& stage, const Roles& roles) {
  bool finite = result.q.allFinite();
  for (const Eigen::VectorXd& q : result.q_others) finite = finite && q.allFinite();
  if (!finite || !(result.equilibrium_residual_rad < kLost_rad)) {
    return Error{ErrorCode::kNotConverged,
                 "at " + FormatSeconds(t - Timestamp()) +
                     " the hand is thrown out of balance: is the surface closed, and every "
                     "assumed compliance within reason?"};
  }
  for (size_t o = 0; o < bodies.size(); ++o) {
    const MovingBody& body = bodies[o];
    if (body.X_WB.R.allFinite() && body.X_WB.p.allFinite() && body.V_B.allFinite()) continue;
    return Error{ErrorCode::kNotConverged,
                 "at " + FormatSeconds(t - Timestamp()) + " '" +
                     stage.things[roles.bodies[o]].name +
                     "' is thrown beyond all numbers: is its mass, its first speed and its "
                     "surface within reason?"};
  }
  return {};
}

}  // namespace

int UnsolvedSteps(const artefact::Motion& motion) {
  const artefact::Series* unsolved = motion.FindSeries(kLcpUnsolved);
  return unsolved == nullptr ? 0 : static_cast<int>(unsolved->values.sum());
}

int FallbackSteps(const artefact::Motion& motion) {
  const artefact::Series* fallback = motion.FindSeries(kLcpFallback);
  return fallback == nullptr ? 0 : static_cast<int>(fallback->values.sum());
}

double LargestResidual_rad(const artefact::Motion& motion) {
  const artefact::Series* residual = motion.FindSeries(kEquilibriumResidual);
  return residual == nullptr || residual->values.size() == 0 ? 0.0 : residual->values.maxCoeff();
}

Status CheckRange(const artefact::InteractionTrajectory& trajectory, const ReplayOptions& options) {
  if (trajectory.times.empty() || options.range.length() == Duration()) return {};
  const TimeRange there{trajectory.times.front(), trajectory.times.back()};
  const std::string nothing = NothingWithin(options.range, there, "the reference trajectory goes");
  if (!nothing.empty()) return Error{ErrorCode::kInvalid, nothing};
  const Duration length =
      std::min(options.range.end, there.end) - std::max(options.range.begin, there.begin);
  if (length >= Duration::FromSeconds(options.step.step_s)) return {};
  return Error{ErrorCode::kInvalid, "only " + FormatSeconds(length) +
                                        " of the reference trajectory lie in what was asked for, "
                                        "less than a step of the replay, " +
                                        FormatSeconds(Duration::FromSeconds(options.step.step_s))};
}

artefact::StageHand Following(const model::Skeleton& skeleton,
                              const artefact::InteractionTrajectory& trajectory) {
  StageHand hand;
  if (!trajectory.hand.empty()) hand.name = trajectory.hand;
  hand.skeleton.key = skeleton.name();
  hand.skeleton.hash = trajectory.skeleton_hash;
  hand.skeleton.value = std::make_shared<const model::Skeleton>(skeleton);
  hand.trajectory.value = std::make_shared<const artefact::InteractionTrajectory>(trajectory);
  return hand;
}

Result<artefact::Motion> ReplayInteraction(const model::Skeleton& skeleton,
                                           const artefact::InteractionTrajectory& trajectory,
                                           Stage stage, const ReplayOptions& options) {
  stage.hands = {Following(skeleton, trajectory)};
  return ReplayInteraction(stage, options);
}

namespace {

/// What is played: made of a stage once, then stepped.
class Replay {
 public:
  static Result<artefact::Motion> Run(const Stage& stage, const ReplayOptions& options) {
    HANDHOLD_ASSIGN(const Roles roles, RolesOf(stage));
    Replay replay(stage, roles, options);
    HANDHOLD_TRY(replay.Begin());
    for (int k = 1; k <= replay.steps_; ++k) HANDHOLD_TRY(replay.Step(k));
    std::vector<const model::Skeleton*> skeletons;
    for (const StageHand& hand : stage.hands) skeletons.push_back(hand.skeleton.value.get());
    AddGripTraces(skeletons, &replay.motion_);
    return std::move(replay.motion_);
  }

 private:
  Replay(const Stage& stage, const Roles& roles, const ReplayOptions& options)
      : stage_(stage),
        roles_(roles),
        options_(options),
        stepper_(Stepped(stage, options), StepOf(stage, options)) {}

  static std::vector<SteppedHand> Stepped(const Stage& stage, const ReplayOptions& options) {
    std::vector<SteppedHand> stepped;
    for (const StageHand& hand : stage.hands) {
      stepped.push_back({hand.skeleton.value.get(), hand.root_compliance_m_per_N.value_or(
                                                        options.step.root_compliance_m_per_N)});
    }
    return stepped;
  }
  static StepOptions StepOf(const Stage& stage, const ReplayOptions& options) {
    StepOptions step = options.step;
    step.gravity_W = stage.gravity_W;
    return step;
  }

  /// From the first hand's first frame to the last one's last, or what is asked for of that.
  void ChooseRange() {
    TimeRange there;
    for (const StageHand& hand : stage_.hands) {
      const std::vector<Timestamp>& times = hand.trajectory->times;
      const bool first = &hand == stage_.hands.data();
      there = {first ? times.front() : std::min(there.begin, times.front()),
               first ? times.back() : std::max(there.end, times.back())};
    }
    const bool whole = options_.range.length() == Duration();
    begin_ = whole ? there.begin : std::max(options_.range.begin, there.begin);
    const Timestamp end = whole ? there.end : std::min(options_.range.end, there.end);
    steps_ = static_cast<int>((end - begin_).ns() / step_.ns());
  }

  Status Begin() {
    ChooseRange();
    motion_ = Begun(stage_, steps_ + 1);
    std::vector<std::optional<Pivot>> pivots;
    for (const size_t at : roles_.bodies) {
      const StageThing& thing = stage_.things[at];
      geometry::Vec6 V_P;
      V_P << thing.omega_P, thing.v_P;
      bodies_.push_back({thing.prop->mass, *thing.X_WP, V_P, geometry::Vec6::Zero()});
      pivots.emplace_back();
      if (thing.is != StageThing::Is::kPivot) continue;
      const artefact::BearingInWorld line = BearingOf(thing);
      pivots.back() = {line.p_W, line.axis_W, thing.pivot.damping_Nms_per_rad};
    }
    HANDHOLD_TRY(AddColliders(stage_, roles_, options_, &finder_));
    stepper_.SetPivots(pivots);
    asked_.resize(stage_.hands.size());
    for (size_t i = 0; i < stage_.hands.size(); ++i) {
      samplers_.emplace_back(stage_.hands[i], options_);
      asked_[i].q = asked_[i].q_reference_next = samplers_[i].Reference(begin_);
      stepper_.SetConfiguration(asked_[i].q, static_cast<int>(i));
      poses_.trees.push_back(stepper_.X_WB(static_cast<int>(i)));
      motion_.hands[i].q.col(0) = motion_.stage.hands[i].q = asked_[i].q;
    }
    for (const size_t at : roles_.fixed) poses_.fixed.push_back(*stage_.things[at].X_WP);
    for (const MovingBody& body : bodies_) poses_.bodies.push_back(&body.X_WB);
    if (stage_.touches_itself) HANDHOLD_TRY(IgnoreOverlapsOfHands(poses_, &finder_));
    first_grip_ = motion_.series.size();
    for (size_t i = 0; i < stage_.hands.size(); ++i) {
      grips_.emplace_back(*stage_.hands[i].skeleton, static_cast<int>(i), options_.grip,
                          options_.step.step_s);
      if (!adjusts()) continue;
      const std::string of = i == 0 ? "" : "." + stage_.hands[i].name;
      motion_.series.push_back({kGripScale + of, "1", Eigen::VectorXd::Ones(steps_ + 1)});
    }
    motion_.times.push_back(begin_);
    return {};
  }

  void Ask(int k, Timestamp t) {
    for (size_t i = 0; i < asked_.size(); ++i) {
      HandStep& asked = asked_[i];
      asked.q_reference = asked.q_reference_next;
      asked.q_reference_next = samplers_[i].Reference(t);
      asked.compliance_rad_per_Nm = options_.compliance_scale * samplers_[i].Compliance(t);
      if (options_.form == ReplayForm::kDamped)
        asked.time_constant_s = samplers_[i].TimeConstants(t);
      grips_[i].Apply(&asked);
      if (adjusts()) motion_.series[first_grip_ + i].values[k] = grips_[i].finger_scale();
    }
  }

  Status Step(int k) {
    const Timestamp t = begin_ + step_ * k;
    Ask(k, t);
    HANDHOLD_TRY(finder_.Find(poses_, options_.margin_m, &contacts_));
    if (k == 1) HANDHOLD_TRY(CheckBegin(contacts_, stage_, roles_, begin_));
    HANDHOLD_TRY(stepper_.Step(asked_, contacts_, bodies_, &result_));
    for (GripAdjuster& grip : grips_) grip.Observe(contacts_, result_.forces);
    HANDHOLD_TRY(CheckSane(result_, bodies_, t, stage_, roles_));
    motion_.times.push_back(t);
    for (size_t i = 0; i < asked_.size(); ++i) {
      asked_[i].q = i == 0 ? result_.q : result_.q_others[i - 1];
      motion_.hands[i].q.col(k) = asked_[i].q;
    }
    motion_.series[0].values[k] = result_.equilibrium_residual_rad;
    motion_.series[1].values[k] = result_.solve.residual_N;
    motion_.series[2].values[k] = result_.solve.solved() ? 0.0 : 1.0;
    motion_.series[3].values[k] = result_.solve.solved_by == SolvedBy::kGaussSeidel ? 1.0 : 0.0;
    for (size_t i = 0; i < bodies_.size(); ++i)
      motion_.objects[roles_.bodies[i]].X_WP.push_back(bodies_[i].X_WB);
    Record(stage_, roles_, stepper_, contacts_, result_, k, &motion_);
    if (options_.progress && k % 256 == 0 && !options_.progress(static_cast<double>(k) / steps_))
      return Error{ErrorCode::kCancelled, "replay cancelled"};
    return {};
  }

  bool adjusts() const { return options_.grip.kind != GripKind::kNone; }

  const Stage& stage_;
  const Roles& roles_;
  const ReplayOptions& options_;
  const Duration step_ = Duration::FromSeconds(options_.step.step_s);
  Timestamp begin_;
  int steps_ = 0;
  artefact::Motion motion_;
  size_t first_grip_ = 0;
  ContactFinder finder_;
  InteractionStepper stepper_;
  std::vector<MovingBody> bodies_;
  ContactPoses poses_;
  std::vector<Sampler> samplers_;
  std::vector<HandStep> asked_;
  std::vector<GripAdjuster> grips_;
  ContactSet contacts_;
  StepResult result_;
};

}  // namespace

Result<artefact::Motion> ReplayInteraction(const Stage& stage, const ReplayOptions& options) {
  if (stage.hands.empty()) return Error{ErrorCode::kInvalid, "no hand is on the stage"};
  HANDHOLD_TRY(CheckPlayable(stage));
  HANDHOLD_TRY(CheckGrip(options.grip));
  for (const StageHand& hand : stage.hands) HANDHOLD_TRY(CheckHand(hand, options));
  HANDHOLD_TRY(CheckRange(*stage.hands.front().trajectory, options));
  return Replay::Run(stage, options);
}

}  // namespace handhold::synthesis

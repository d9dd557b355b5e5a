#include "synthesis/interaction/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "database/base/asked_range.h"
#include "database/base/check.h"
#include "database/model/site.h"
#include "synthesis/interaction/grip_traces.h"

namespace handhold::synthesis {
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
  Sampler(const ReplayHand& hand, const ReplayOptions& options)
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

Status CheckHand(const ReplayHand& hand, const ReplayOptions& options) {
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

Status CheckObjects(const ReplayScene& scene) {
  for (const ReplayObject& object : scene.objects) {
    if (!(object.prop.mass.mass_kg > 0.0)) {
      return Error{ErrorCode::kInvalid, "object '" + object.prop.name +
                                            "' has no mass: give it one, or place it as fixed"};
    }
    if (Status s = geometry::CheckMass(object.prop.mass); !s) {
      return Error{ErrorCode::kInvalid, "object '" + object.prop.name + "': " + s.error().message};
    }
    if (object.pivot && !(std::abs(object.pivot->axis_P.norm() - 1.0) < 1e-6)) {
      return Error{ErrorCode::kInvalid,
                   "object '" + object.prop.name + "': the axis of its pivot is not of length 1"};
    }
  }
  return {};
}

void Record(std::span<const ReplayHand> hands, const InteractionStepper& stepper,
            const ContactSet& contacts, const StepResult& step, int frame, const ReplayScene& scene,
            artefact::Motion* motion) {
  // `out_W`: the surface's outward normal there.
  const auto named = [&](const ContactSide& side, const geometry::Vec3& out_W) -> artefact::Side {
    if (side.kind != ContactSide::Kind::kLink) {
      const size_t at = (side.fixed() ? 0 : scene.fixed.size()) + static_cast<size_t>(side.index);
      return {artefact::Side::Kind::kThing, motion->objects[at].name, "", 0};
    }
    const auto tree = static_cast<size_t>(side.tree);
    const model::Skeleton& skeleton = *hands[tree].skeleton;
    const geometry::RigidTransform& X_WB = stepper.X_WB(side.tree)[static_cast<size_t>(side.index)];
    const int site = model::SiteAt(skeleton, side.index, X_WB.R.transpose() * out_W);
    return {artefact::Side::Kind::kHand, motion->hands[tree].name,
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

/// A name that no thing of the motion has: "mug", "mug.2".
std::string FreeName(const artefact::Motion& motion, const std::string& wish,
                     const std::string& prop) {
  const std::string& base = wish.empty() ? prop : wish;
  std::string name = base;
  for (int n = 2; motion.FindObject(name) != nullptr; ++n) name = base + "." + std::to_string(n);
  return name;
}

std::string FreeHandName(const artefact::Motion& motion, const std::string& hand) {
  std::string name = hand;
  for (int n = 2; motion.FindHand(name) != nullptr; ++n) name = hand + "." + std::to_string(n);
  return name;
}

double DistanceTo(const model::Prop& prop, const geometry::Vec3& p_P) {
  std::vector<geometry::PosedShape> shapes;
  for (const model::PropShape& s : prop.shapes) shapes.push_back({s.shape, s.X_PS});
  return geometry::SignedDistanceToUnion(shapes, p_P).point.distance_m;
}

/// Whether the middle of one of `a`'s shapes is solid and lies inside `b`: of equal things in one
/// place no corner is inside the other. (The middle of a bowl is none of it.)
bool MiddleInside(const ReplayObject& a, const ReplayObject& b) {
  if (b.prop.shapes.empty()) return false;
  const geometry::RigidTransform X_BA = b.X_WP.Inverse() * a.X_WP;
  for (const model::PropShape& s : a.prop.shapes) {
    const geometry::Vec3 middle_A = s.X_PS * geometry::BoundsOf(s.shape).centre();
    if (DistanceTo(a.prop, middle_A) < -kDeepestBegin_m &&
        DistanceTo(b.prop, X_BA * middle_A) < -kDeepestBegin_m)
      return true;
  }
  return false;
}

/// Free things that begin inside one another would be thrown apart.
Status CheckApart(const ContactSet& contacts, const ReplayScene& scene) {
  for (const ReplayObject& a : scene.objects) {
    for (const ReplayObject& b : scene.objects) {
      if (&a == &b || a.pivot || b.pivot || !MiddleInside(a, b)) continue;
      return Error{ErrorCode::kInvalid,
                   "'" + a.prop.name + "' begins inside '" + b.prop.name + "': place them apart"};
    }
  }
  for (const Contact& c : contacts) {
    if (c.a.kind == ContactSide::Kind::kLink || c.b.kind == ContactSide::Kind::kLink) continue;
    const auto name = [&](const ContactSide& side) {
      const auto i = static_cast<size_t>(side.index);
      return side.fixed() ? scene.fixed[i].prop.name : scene.objects[i].prop.name;
    };
    const auto pivots = [&](const ContactSide& side) {
      return !side.fixed() && scene.objects[static_cast<size_t>(side.index)].pivot.has_value();
    };
    if (pivots(c.a) || pivots(c.b) || c.separation_m >= -kDeepestBegin_m) continue;
    char depth[32];
    std::snprintf(depth, sizeof depth, "%.1f mm", -1e3 * c.separation_m);
    return Error{ErrorCode::kInvalid, "'" + name(c.a) + "' begins " + depth + " inside '" +
                                          name(c.b) + "': place them apart"};
  }
  return {};
}

/// The hand begins at its reference: within a touch that lies inside what it touches.
Status CheckBegin(const ContactSet& contacts, const ReplayScene& scene, Timestamp begin) {
  HANDHOLD_TRY(CheckApart(contacts, scene));
  const Contact* deepest = nullptr;
  for (const Contact& c : contacts) {
    if (c.a.kind != ContactSide::Kind::kLink || c.b.kind == ContactSide::Kind::kLink) continue;
    if (deepest == nullptr || c.separation_m < deepest->separation_m) deepest = &c;
  }
  if (deepest == nullptr || deepest->separation_m >= -kDeepestBegin_m) return {};
  const auto index = static_cast<size_t>(deepest->b.index);
  const model::Prop& prop =
      deepest->b.fixed() ? scene.fixed[index].prop : scene.objects[index].prop;
  char depth[32];
  std::snprintf(depth, sizeof depth, "%.1f mm", -1e3 * deepest->separation_m);
  return Error{ErrorCode::kInvalid, "at " + FormatSeconds(begin - Timestamp()) +
                                        " the hand begins " + depth + " inside '" + prop.name +
                                        "': begin while it is free of it, or place it elsewhere"};
}

/// Everything that can touch: hands as trees by their numbers, fixed props and objects by theirs.
Status AddColliders(std::span<const ReplayHand> hands, const ReplayScene& scene,
                    const ReplayOptions& options, ContactFinder* finder) {
  for (size_t i = 0; i < hands.size(); ++i) {
    HANDHOLD_ASSIGN([[maybe_unused]] const std::vector<std::string> unusable,
                    finder->AddSkeleton(*hands[i].skeleton, static_cast<int>(i), hands[i].meet_self,
                                        kGoesOver_m));
  }
  for (size_t i = 0; i < scene.fixed.size(); ++i) {
    HANDHOLD_TRY(finder->AddProp(scene.fixed[i].prop, ContactSide::Fixed(static_cast<int>(i)),
                                 options.friction, options.stiffness_N_per_m));
  }
  for (size_t o = 0; o < scene.objects.size(); ++o) {
    HANDHOLD_TRY(finder->AddProp(scene.objects[o].prop, ContactSide::Body(static_cast<int>(o)),
                                 options.friction, options.stiffness_N_per_m));
  }
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

/// Frames, names and series of what is about to be played.
artefact::Motion Begun(std::span<const ReplayHand> hands, const ReplayScene& scene, int frames) {
  artefact::Motion motion;
  for (const ReplayHand& hand : hands) {
    artefact::MotionHand played;
    played.name =
        FreeHandName(motion, hand.trajectory->hand.empty() ? played.name : hand.trajectory->hand);
    played.skeleton_hash = hand.trajectory->skeleton_hash;
    played.dof_names = hand.skeleton->dof_names();
    for (size_t d = 0; d < hand.trajectory->assumed.size(); ++d) {
      if (hand.trajectory->assumed[d]) played.assumed_dofs.push_back(hand.skeleton->dof_names()[d]);
    }
    played.q.resize(hand.skeleton->nq(), frames);
    motion.hands.push_back(std::move(played));
  }
  for (const auto& fixed : scene.fixed)
    motion.objects.push_back(
        {FreeName(motion, fixed.name, fixed.prop.name), fixed.prop.name, "", {fixed.X_WP}});
  for (const ReplayObject& object : scene.objects)
    motion.objects.push_back(
        {FreeName(motion, object.name, object.prop.name), object.prop.name, "", {object.X_WP}});
  for (const auto& [name, unit] :
       {std::pair{kEquilibriumResidual, "rad"}, std::pair{kLcpResidual, "N"},
        std::pair{kLcpUnsolved, "1"}, std::pair{kLcpFallback, "1"}})
    motion.series.push_back({name, unit, Eigen::VectorXd::Zero(frames)});
  return motion;
}

/// kNotConverged where hands or things are no longer anywhere.
Status CheckSane(const StepResult& result, std::span<const MovingBody> bodies, Timestamp t,
                 const ReplayScene& scene, const artefact::Motion& motion) {
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
                     motion.objects[scene.fixed.size() + o].name +
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

Pivot PivotInWorld(const ReplayObject& object) {
  CHECK(object.pivot.has_value());
  return {object.X_WP * object.pivot->p_P, (object.X_WP.R * object.pivot->axis_P).normalized(),
          object.pivot->damping_Nms_per_rad};
}

Result<artefact::Motion> ReplayInteraction(const model::Skeleton& skeleton,
                                           const artefact::InteractionTrajectory& trajectory,
                                           const ReplayScene& scene, const ReplayOptions& options) {
  const ReplayHand hand{&skeleton, &trajectory};
  return ReplayInteraction({&hand, 1}, scene, options);
}

Result<artefact::Motion> ReplayInteraction(std::span<const ReplayHand> hands,
                                           const ReplayScene& scene, const ReplayOptions& options) {
  CHECK(!hands.empty());
  HANDHOLD_TRY(CheckObjects(scene));
  HANDHOLD_TRY(CheckGrip(options.grip));
  TimeRange there;
  for (const ReplayHand& hand : hands) {
    HANDHOLD_TRY(CheckHand(hand, options));
    const std::vector<Timestamp>& times = hand.trajectory->times;
    const bool first = &hand == hands.data();
    there = {first ? times.front() : std::min(there.begin, times.front()),
             first ? times.back() : std::max(there.end, times.back())};
  }
  HANDHOLD_TRY(CheckRange(*hands.front().trajectory, options));
  const bool whole = options.range.length() == Duration();
  const Timestamp begin = whole ? there.begin : std::max(options.range.begin, there.begin);
  const Timestamp end = whole ? there.end : std::min(options.range.end, there.end);
  const Duration step = Duration::FromSeconds(options.step.step_s);
  const int steps = static_cast<int>((end - begin).ns() / step.ns());

  artefact::Motion motion = Begun(hands, scene, steps + 1);
  std::vector<MovingBody> bodies;
  std::vector<std::optional<Pivot>> pivots;
  for (const ReplayObject& object : scene.objects) {
    bodies.push_back({object.prop.mass, object.X_WP, object.V_P, geometry::Vec6::Zero()});
    pivots.push_back(object.pivot ? std::optional(PivotInWorld(object)) : std::nullopt);
  }
  ContactFinder finder;
  HANDHOLD_TRY(AddColliders(hands, scene, options, &finder));
  std::vector<SteppedHand> stepped;
  for (const ReplayHand& hand : hands) {
    stepped.push_back({hand.skeleton, hand.root_compliance_m_per_N.value_or(
                                          options.step.root_compliance_m_per_N)});
  }
  InteractionStepper stepper(stepped, options.step);
  stepper.SetPivots(pivots);
  ContactPoses poses;
  std::vector<Sampler> samplers;
  std::vector<HandStep> asked(hands.size());
  for (size_t i = 0; i < hands.size(); ++i) {
    samplers.emplace_back(hands[i], options);
    asked[i].q = asked[i].q_reference_next = samplers[i].Reference(begin);
    stepper.SetConfiguration(asked[i].q, static_cast<int>(i));
    poses.trees.push_back(stepper.X_WB(static_cast<int>(i)));
    motion.hands[i].q.col(0) = asked[i].q;
  }
  for (const auto& fixed : scene.fixed) poses.fixed.push_back(fixed.X_WP);
  for (const MovingBody& body : bodies) poses.bodies.push_back(&body.X_WB);
  if (std::any_of(hands.begin(), hands.end(), [](const auto& hand) { return hand.meet_self; }))
    HANDHOLD_TRY(IgnoreOverlapsOfHands(poses, &finder));
  std::vector<GripAdjuster> grips;
  const bool adjusts = options.grip.kind != GripKind::kNone;
  const size_t first_grip = motion.series.size();
  for (size_t i = 0; i < hands.size(); ++i) {
    grips.emplace_back(*hands[i].skeleton, static_cast<int>(i), options.grip, options.step.step_s);
    if (!adjusts) continue;
    const std::string of = i == 0 ? "" : "." + motion.hands[i].name;
    motion.series.push_back({kGripScale + of, "1", Eigen::VectorXd::Ones(steps + 1)});
  }
  ContactSet contacts;
  StepResult result;
  motion.times.push_back(begin);
  for (int k = 1; k <= steps; ++k) {
    const Timestamp t = begin + step * k;
    for (size_t i = 0; i < hands.size(); ++i) {
      Sampler& sampler = samplers[i];
      asked[i].q_reference = asked[i].q_reference_next;
      asked[i].q_reference_next = sampler.Reference(t);
      asked[i].compliance_rad_per_Nm = options.compliance_scale * sampler.Compliance(t);
      if (options.form == ReplayForm::kDamped) asked[i].time_constant_s = sampler.TimeConstants(t);
      grips[i].Apply(&asked[i]);
      if (adjusts) motion.series[first_grip + i].values[k] = grips[i].finger_scale();
    }
    HANDHOLD_TRY(finder.Find(poses, options.margin_m, &contacts));
    if (k == 1) HANDHOLD_TRY(CheckBegin(contacts, scene, begin));
    HANDHOLD_TRY(stepper.Step(asked, contacts, bodies, &result));
    for (GripAdjuster& grip : grips) grip.Observe(contacts, result.forces);
    HANDHOLD_TRY(CheckSane(result, bodies, t, scene, motion));
    motion.times.push_back(t);
    for (size_t i = 0; i < hands.size(); ++i) {
      asked[i].q = i == 0 ? result.q : result.q_others[i - 1];
      motion.hands[i].q.col(k) = asked[i].q;
    }
    motion.series[0].values[k] = result.equilibrium_residual_rad;
    motion.series[1].values[k] = result.solve.residual_N;
    motion.series[2].values[k] = result.solve.solved() ? 0.0 : 1.0;
    motion.series[3].values[k] = result.solve.solved_by == SolvedBy::kGaussSeidel ? 1.0 : 0.0;
    for (size_t o = 0; o < bodies.size(); ++o)
      motion.objects[scene.fixed.size() + o].X_WP.push_back(bodies[o].X_WB);
    Record(hands, stepper, contacts, result, k, scene, &motion);
    if (options.progress && k % 256 == 0 && !options.progress(static_cast<double>(k) / steps)) {
      return Error{ErrorCode::kCancelled, "replay cancelled"};
    }
  }
  std::vector<const model::Skeleton*> skeletons;
  for (const ReplayHand& hand : hands) skeletons.push_back(hand.skeleton);
  AddGripTraces(skeletons, &motion);
  return motion;
}

}  // namespace handhold::synthesis

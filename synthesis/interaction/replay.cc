#include "synthesis/interaction/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "database/base/asked_range.h"
#include "database/model/site.h"

namespace handhold::synthesis {
namespace {

// Healthy replays stay below 0.05 rad, on the bump too; an open mesh's inside or a joint of 1000
// rad/Nm gives 0.5 and more.
constexpr double kLost_rad = 0.3;

// The trajectory between its frames.
class Sampler {
 public:
  Sampler(const model::Skeleton& skeleton, const artefact::InteractionTrajectory& trajectory,
          const ReplayOptions& options)
      : skeleton_(skeleton),
        trajectory_(trajectory),
        reference_(options.form == ReplayForm::kDamped ? trajectory.q_reference_dynamic
                                                       : trajectory.q_reference) {}

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
  double TimeConstant(Timestamp t) {
    Advance(t);
    return trajectory_.time_constant_s.size() == 0
               ? 0.0
               : trajectory_.time_constant_s[static_cast<Eigen::Index>(frame_)];
  }

 private:
  // Times asked for ascend: frame_ is the last frame at or before t.
  void Advance(Timestamp t) {
    while (frame_ + 1 < trajectory_.times.size() && trajectory_.times[frame_ + 1] <= t) ++frame_;
  }

  const model::Skeleton& skeleton_;
  const artefact::InteractionTrajectory& trajectory_;
  const Eigen::MatrixXd& reference_;
  size_t frame_ = 0;
};

Status CheckFits(const model::Skeleton& skeleton, const artefact::InteractionTrajectory& t,
                 const ReplayScene& scene, const ReplayOptions& options) {
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
                     ": assume one by name with --assume-compliance, and the result will say so"};
  }
  for (const ReplayObject& object : scene.objects) {
    if (!(object.prop.mass.mass_kg > 0.0)) {
      return Error{ErrorCode::kInvalid, "object '" + object.prop.name +
                                            "' has no mass: give it one, or place it as fixed"};
    }
    if (Status s = geometry::CheckMass(object.prop.mass); !s) {
      return Error{ErrorCode::kInvalid, "object '" + object.prop.name + "': " + s.error().message};
    }
  }
  return {};
}

void Record(const model::Skeleton& skeleton, std::span<const geometry::RigidTransform> X_WB,
            const ContactSet& contacts, const StepResult& step, int frame, const ReplayScene& scene,
            artefact::Motion* motion) {
  const auto thing = [&](const ContactSide& side) -> artefact::Side {
    const size_t at = (side.fixed() ? 0 : scene.fixed.size()) + static_cast<size_t>(side.index);
    return {artefact::Side::Kind::kThing, motion->objects[at].name, "", 0};
  };
  for (size_t i = 0; i < contacts.size(); ++i) {
    const geometry::Vec3& f = step.forces[i].f_onHand_W;
    if (f.norm() == 0.0) continue;
    const Contact& contact = contacts[i];
    artefact::Side a;
    if (contact.a.kind == ContactSide::Kind::kLink) {
      // The hand's skin faces against the touched surface's normal.
      const geometry::Vec3 out_B =
          -(X_WB[static_cast<size_t>(contact.a.index)].R.transpose() * contact.normal_W);
      const int site = model::SiteAt(skeleton, contact.a.index, out_B);
      a = {artefact::Side::Kind::kHand, motion->hands.front().name,
           site < 0 ? "" : skeleton.sites()[static_cast<size_t>(site)].name, contact.a.index};
    } else {
      a = thing(contact.a);
    }
    artefact::ContactRow row;
    row.frame = frame;
    row.touch =
        motion->TouchBetween(a, thing(contact.b), motion->times[static_cast<size_t>(frame)]);
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
std::string FreeName(const artefact::Motion& motion, const std::string& prop) {
  std::string name = prop;
  for (int n = 2; motion.FindObject(name) != nullptr; ++n) name = prop + "." + std::to_string(n);
  return name;
}

/// The hand begins at its reference: within a touch that lies inside what it touches.
Status CheckBegin(const ContactSet& contacts, const ReplayScene& scene, Timestamp begin) {
  const Contact* deepest = nullptr;
  for (const Contact& c : contacts) {
    if (c.a.kind != ContactSide::Kind::kLink) continue;
    if (deepest == nullptr || c.separation_m < deepest->separation_m) deepest = &c;
  }
  if (deepest == nullptr || deepest->separation_m >= -kDeepestBegin_m) return {};
  const auto index = static_cast<size_t>(deepest->b.index);
  const model::Prop& prop =
      deepest->b.fixed() ? scene.fixed[index].prop : scene.objects[index].prop;
  char depth[32];
  std::snprintf(depth, sizeof depth, "%.1f mm", -1e3 * deepest->separation_m);
  return Error{ErrorCode::kInvalid,
               "at " + FormatSeconds(begin - Timestamp()) + " the hand begins " + depth +
                   " inside '" + prop.name +
                   "': begin while it is free of it (--from), or place it elsewhere (--prop-pose)"};
}

/// Everything that can touch: the hand as tree 0, fixed props and objects by their numbers.
Status AddColliders(const model::Skeleton& skeleton, const ReplayScene& scene,
                    const ReplayOptions& options, ContactFinder* finder) {
  HANDHOLD_ASSIGN([[maybe_unused]] const std::vector<std::string> unusable,
                  finder->AddSkeleton(skeleton, 0));
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

}  // namespace

int UnsolvedSteps(const artefact::Motion& motion) {
  const artefact::Series* unsolved = motion.FindSeries(kLcpUnsolved);
  return unsolved == nullptr ? 0 : static_cast<int>(unsolved->values.sum());
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
                                        FormatSeconds(Duration::FromSeconds(options.step.step_s)) +
                                        " (--from, --to)"};
}

Result<artefact::Motion> ReplayInteraction(const model::Skeleton& skeleton,
                                           const artefact::InteractionTrajectory& trajectory,
                                           const ReplayScene& scene, const ReplayOptions& options) {
  HANDHOLD_TRY(CheckFits(skeleton, trajectory, scene, options));
  HANDHOLD_TRY(CheckGrip(options.grip));
  const bool whole = options.range.length() == Duration();
  const Timestamp begin =
      whole ? trajectory.times.front() : std::max(options.range.begin, trajectory.times.front());
  const Timestamp end =
      whole ? trajectory.times.back() : std::min(options.range.end, trajectory.times.back());
  const Duration step = Duration::FromSeconds(options.step.step_s);
  HANDHOLD_TRY(CheckRange(trajectory, options));
  const int steps = static_cast<int>((end - begin).ns() / step.ns());

  artefact::Motion motion;
  artefact::MotionHand& played = motion.hands.emplace_back();
  if (!trajectory.hand.empty()) played.name = trajectory.hand;
  played.skeleton_hash = trajectory.skeleton_hash;
  played.dof_names = skeleton.dof_names();
  for (size_t d = 0; d < trajectory.assumed.size(); ++d) {
    if (trajectory.assumed[d]) played.assumed_dofs.push_back(skeleton.dof_names()[d]);
  }
  for (const auto& fixed : scene.fixed)
    motion.objects.push_back(
        {FreeName(motion, fixed.prop.name), fixed.prop.name, "", {fixed.X_WP}});
  std::vector<MovingBody> bodies;
  for (const ReplayObject& object : scene.objects) {
    bodies.push_back({object.prop.mass, object.X_WP, object.V_P, geometry::Vec6::Zero()});
    motion.objects.push_back(
        {FreeName(motion, object.prop.name), object.prop.name, "", {object.X_WP}});
  }
  ContactFinder finder;
  HANDHOLD_TRY(AddColliders(skeleton, scene, options, &finder));
  InteractionStepper stepper(skeleton, options.step);
  ContactPoses poses;
  poses.trees.push_back(stepper.X_WB());
  for (const auto& fixed : scene.fixed) poses.fixed.push_back(fixed.X_WP);
  for (const MovingBody& body : bodies) poses.bodies.push_back(&body.X_WB);
  ContactSet contacts;
  Sampler sampler(skeleton, trajectory, options);
  HandStep hand;
  hand.q = hand.q_reference = hand.q_reference_next = sampler.Reference(begin);
  stepper.SetConfiguration(hand.q);
  Eigen::MatrixXd& q = motion.hands.front().q;
  q.resize(skeleton.nq(), steps + 1);
  for (const auto& [name, unit] : {std::pair{kEquilibriumResidual, "rad"},
                                   std::pair{kLcpResidual, "N"}, std::pair{kLcpUnsolved, "1"}})
    motion.series.push_back({name, unit, Eigen::VectorXd::Zero(steps + 1)});
  const bool adjusts = options.grip.kind != GripKind::kNone;
  if (adjusts) motion.series.push_back({kGripScale, "1", Eigen::VectorXd::Ones(steps + 1)});
  GripAdjuster grip(skeleton, 0, options.grip, options.step.step_s);
  motion.times.push_back(begin);
  q.col(0) = hand.q;
  for (int k = 1; k <= steps; ++k) {
    const Timestamp t = begin + step * k;
    hand.q_reference = hand.q_reference_next;
    hand.q_reference_next = sampler.Reference(t);
    hand.compliance_rad_per_Nm = options.compliance_scale * sampler.Compliance(t);
    if (options.form == ReplayForm::kDamped)
      hand.time_constant_s = Eigen::VectorXd::Constant(skeleton.nv(), sampler.TimeConstant(t));
    grip.Apply(&hand);
    if (adjusts) motion.series.back().values[k] = grip.finger_scale();
    HANDHOLD_TRY(finder.Find(poses, options.margin_m, &contacts));
    if (k == 1) HANDHOLD_TRY(CheckBegin(contacts, scene, begin));
    HANDHOLD_ASSIGN(const StepResult result, stepper.Step(hand, contacts, bodies));
    grip.Observe(contacts, result.forces);
    hand.q = result.q;
    if (!hand.q.allFinite() || !(result.equilibrium_residual_rad < kLost_rad)) {
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
    motion.times.push_back(t);
    q.col(k) = hand.q;
    motion.series[0].values[k] = result.equilibrium_residual_rad;
    motion.series[1].values[k] = result.solve.residual_N;
    motion.series[2].values[k] = result.solve.solved() ? 0.0 : 1.0;
    for (size_t o = 0; o < bodies.size(); ++o)
      motion.objects[scene.fixed.size() + o].X_WP.push_back(bodies[o].X_WB);
    Record(skeleton, stepper.X_WB(), contacts, result, k, scene, &motion);
    if (options.progress && k % 256 == 0 && !options.progress(static_cast<double>(k) / steps)) {
      return Error{ErrorCode::kCancelled, "replay cancelled"};
    }
  }
  return motion;
}

}  // namespace handhold::synthesis

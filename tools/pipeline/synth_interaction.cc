#include "tools/pipeline/synth_interaction.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "database/base/names.h"
#include "database/geometry/rotation.h"
#include "database/model/kinematics.h"
#include "database/recording/prop_pose.h"
#include "database/text/json_view.h"
#include "tools/pipeline/fit_compliance.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::InteractionTrajectory;
using artefact::Motion;
using artefact::ProvenanceInput;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

/// Everything a replay reads but the trajectory, which the halved and doubled replays change.
struct Scene {
  FoundSkeleton skeleton;
  FoundProp prop;
  RigidTransform X_WProp;
  std::string captured_contact;  ///< artefact: what the hand felt where it was captured
  double surface_compliance_m_per_N = 0.0;
  synthesis::ReplayForm form = synthesis::ReplayForm::kQuasiStatic;
  bool as_captured = false;  ///< the captured surface, where it stood, as rough and soft as it was
};

Result<RigidTransform> CapturedPose(const StepContext& context, const std::string& contact) {
  HANDHOLD_ASSIGN(const store::ArtefactInfo info,
                  store::ReadArtefactInfo(context.library.ArtefactPath(contact)));
  const std::string source = "parameters of " + contact;
  HANDHOLD_ASSIGN(const Json json,
                  text::ParseJson(info.provenance.parameters_json, {.source = source}));
  HANDHOLD_ASSIGN(const text::JsonView pose, text::JsonView(json, source).At("X_WSurface"));
  HANDHOLD_ASSIGN(const auto p, pose.GetFixed<3>("p_m"));
  HANDHOLD_ASSIGN(const auto R, pose.GetFixed<9>("R"));
  RigidTransform X;
  X.p = Vec3(p[0], p[1], p[2]);
  for (size_t i = 0; i < 9; ++i)
    X.R(static_cast<Eigen::Index>(i / 3), static_cast<Eigen::Index>(i % 3)) = R[i];
  return X;
}

/// The top middle of the prop's bounding box at the middle of the captured contacts.
Result<RigidTransform> UnderTheHand(const StepContext& context, const std::string& contact,
                                    const model::Prop& prop) {
  HANDHOLD_ASSIGN(const artefact::ContactTrack track,
                  store::LoadContactTrack(context.library.ArtefactPath(contact)));
  Vec3 middle = Vec3::Zero(), normal = Vec3::Zero();
  double count = 0;
  for (Eigen::Index k = 0; k < track.p_WC.cols(); ++k) {
    if (!track.p_WC.col(k).allFinite() || !track.normal_W.col(k).allFinite()) continue;
    middle += track.p_WC.col(k);
    normal += track.normal_W.col(k);
    count += 1;
  }
  if (count == 0 || normal.norm() < 1e-6 * count) {
    return Error{ErrorCode::kUnidentifiable,
                 "the captured contacts do not say where the hand is: give --prop-pose"};
  }
  geometry::Bounds bounds;
  for (const model::PropShape& shape : prop.shapes) {
    const geometry::Bounds own = geometry::BoundsOf(shape.shape);
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 p(corner & 1 ? own.max.x() : own.min.x(), corner & 2 ? own.max.y() : own.min.y(),
                   corner & 4 ? own.max.z() : own.min.z());
      bounds.Include(shape.X_PS * p);
    }
  }
  RigidTransform X;
  X.R = Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), normal.normalized()).toRotationMatrix();
  const Vec3 top(bounds.centre().x(), bounds.centre().y(), bounds.max.z());
  X.p = middle / count - X.R * top;
  return X;
}

/// Of the surface that is touched, m/N. A mesh file says nothing of it, nor of its friction.
Result<double> SurfaceCompliance(const StepContext& context, const SynthInteractionStep& step,
                                 const FoundProp& prop, const std::string& captured,
                                 std::vector<std::string>* chosen) {
  double compliance_m_per_N = prop.prop.surface_compliance_m_per_N;
  if (prop.from_mesh) {
    HANDHOLD_ASSIGN(const FoundProp touched, LoadPropArtefact(context.library, captured));
    compliance_m_per_N = touched.prop.surface_compliance_m_per_N;
  }
  if (step.surface_compliance_m_per_N >= 0) compliance_m_per_N = step.surface_compliance_m_per_N;
  char text[160];
  if (prop.from_mesh && step.friction < 0) {
    std::snprintf(text, sizeof text, "friction %g, assumed: a mesh does not say (--friction)",
                  prop.prop.friction);
    chosen->push_back(text);
  }
  if (prop.from_mesh && step.surface_compliance_m_per_N < 0) {
    std::snprintf(text, sizeof text,
                  "surface compliance %g m/N, the captured surface's: a mesh does not say "
                  "(--surface-compliance)",
                  compliance_m_per_N);
    chosen->push_back(text);
  } else if (step.surface_compliance_m_per_N < 0 && compliance_m_per_N == 0.0) {
    compliance_m_per_N = synthesis::SurfaceLaw{}.compliance_m_per_N();
    std::snprintf(text, sizeof text,
                  "surface compliance %g m/N, assumed: '%s' does not say (--surface-compliance)",
                  compliance_m_per_N, prop.prop.name.c_str());
    chosen->push_back(text);
  }
  return compliance_m_per_N;
}

std::vector<Vec3> Forces(const Motion& motion) {
  std::vector<Vec3> force(motion.times.size(), Vec3::Zero());
  for (const artefact::MotionContact& c : motion.contacts)
    force[static_cast<size_t>(c.frame)] += c.f_onHand_W;
  return force;
}

double Peak(const std::vector<Vec3>& force) {
  double peak = 0;
  for (const Vec3& f : force) peak = std::max(peak, f.norm());
  return peak;
}

int TipFrame(const model::Skeleton& hand) {
  for (size_t f = 0; f < hand.frames().size(); ++f) {
    if (hand.frames()[f].name.ends_with("tip")) return static_cast<int>(f);
  }
  return -1;
}

AssumptionReplay Difference(const model::Skeleton& hand, const Motion& a, const Motion& b,
                            double factor, std::string hash) {
  AssumptionReplay out{.factor = factor, .motion = std::move(hash)};
  const std::vector<Vec3> fa = Forces(a), fb = Forces(b);
  out.peak_force_N = Peak(fb);
  model::KinematicsData data(hand);
  const int tip = TipFrame(hand);
  double frames = 0;
  for (size_t k = 0; k < std::min(fa.size(), fb.size()); ++k) {
    if (fa[k].isZero() && fb[k].isZero()) continue;
    frames += 1;
    out.force_rms_N += (fa[k] - fb[k]).squaredNorm();
    if (tip < 0) continue;
    const auto i = static_cast<Eigen::Index>(k);
    model::ComputePoses<double>(hand, a.q.col(i), &data);
    const Vec3 p = model::FramePose<double>(hand, data, tip).p;
    model::ComputePoses<double>(hand, b.q.col(i), &data);
    out.tip_rms_m += (model::FramePose<double>(hand, data, tip).p - p).squaredNorm();
  }
  out.force_rms_N = std::sqrt(out.force_rms_N / std::max(1.0, frames));
  out.tip_rms_m = std::sqrt(out.tip_rms_m / std::max(1.0, frames));
  return out;
}

constexpr double kTellResidual_rad = 0.1;

/// Least distance of the hand's round shapes to the prop over the motion, 600 frames at the most;
/// infinity when the hand has none.
Result<double> NearestApproach(const Scene& scene, const Motion& motion) {
  const model::Skeleton& hand = scene.skeleton.skeleton;
  synthesis::ContactFinder finder;
  HANDHOLD_ASSIGN([[maybe_unused]] const std::vector<std::string> unusable,
                  finder.AddSkeleton(hand, 0));
  HANDHOLD_TRY(finder.AddProp(scene.prop.prop, synthesis::ContactSide::Fixed()));
  synthesis::ContactSet contacts;
  model::KinematicsData data(hand);
  synthesis::ContactPoses poses;
  poses.trees.push_back(data.X_WB);
  poses.fixed.push_back(scene.X_WProp);
  double nearest_m = std::numeric_limits<double>::infinity();
  const Eigen::Index frames = motion.q.cols(), step = std::max<Eigen::Index>(1, frames / 600);
  for (Eigen::Index k = 0; k < frames; k += step) {
    model::ComputePoses<double>(hand, motion.q.col(k), &data);
    HANDHOLD_TRY(finder.Find(poses, std::min(nearest_m, 100.0), &contacts));
    for (const synthesis::Contact& c : contacts) nearest_m = std::min(nearest_m, c.separation_m);
  }
  return nearest_m;
}

/// Touches that press more than kJamForce times as hard as when they were captured.
std::optional<Issue> Jams(const artefact::ContactTrack& captured, const Motion& motion) {
  const std::vector<Vec3> force = Forces(motion);
  const size_t phases = captured.phases.size();
  int jams = 0, touches = 0;
  double worst = 0, worst_N = 0;
  Timestamp at;
  for (size_t p = 0; p < phases; ++p) {
    const artefact::ContactPhase& phase = captured.phases[p];
    // On another surface a touch begins and ends elsewhere: up to halfway to its neighbours.
    const auto halfway = [](Timestamp a, Timestamp b) {
      return a + Duration::Nanoseconds((b - a).ns() / 2);
    };
    const TimeRange around{
        p == 0 ? motion.times.front() : halfway(captured.phases[p - 1].release, phase.onset),
        p + 1 == phases ? motion.times.back() + Duration::Nanoseconds(1)
                        : halfway(phase.release, captured.phases[p + 1].onset)};
    double captured_N = 0, peak_N = 0;
    for (size_t k = 0; k < captured.times.size(); ++k) {
      if (!around.Contains(captured.times[k])) continue;
      const Vec3 f = captured.f_onHand_W.col(static_cast<Eigen::Index>(k));
      if (f.allFinite()) captured_N = std::max(captured_N, f.norm());
    }
    Timestamp peak_at;
    for (size_t k = 0; k < force.size(); ++k) {
      if (!around.Contains(motion.times[k]) || force[k].norm() <= peak_N) continue;
      peak_N = force[k].norm(), peak_at = motion.times[k];
    }
    touches += peak_N > 0;
    if (!(captured_N > 0) || peak_N <= synthesis::kJamForce * captured_N) continue;
    ++jams;
    if (peak_N / captured_N > worst) worst = peak_N / captured_N, worst_N = peak_N, at = peak_at;
  }
  if (jams == 0) return std::nullopt;
  char text[400];
  std::snprintf(text, sizeof text,
                "%d of %d touches jam: they press more than %g times as hard as when they were "
                "captured, the worst %.1f times, %.3g N at %.2f s; there the hand is caught, and "
                "force and path hang on every compliance",
                jams, touches, synthesis::kJamForce, worst, worst_N, (at - Timestamp()).seconds());
  std::string what = text;
  if (!motion.assumed_dofs.empty()) {
    what += " (assumed for";
    for (const std::string& dof : motion.assumed_dofs) what += " " + dof;
    what += ")";
  }
  return Issue{"jam", Severity::kWarning, what};
}

/// What a reader of the motion must know: of the trajectory it plays between `motion`'s ends, and
/// of the motion itself.
Issues Findings(const InteractionTrajectory& played, const artefact::ContactTrack& captured,
                const Motion& motion, double nearest_m, bool as_captured) {
  Issues issues;
  // Eq. 1 made the reference from the very motion and forces that this gives back.
  if (as_captured) {
    issues.push_back(
        {"surface", motion.assumed_dofs.empty() ? Severity::kNote : Severity::kWarning,
         "the captured surface as it was captured: the replay gives back what was recorded, "
         "whatever the compliances are" +
             std::string(motion.assumed_dofs.empty() ? "" : ", assumed ones too") +
             "; it shows that the fits agree with each other, not that they are right (--prop, "
             "--prop-pose or --friction choose what was not captured)"});
  }
  // Where no pose was fitted the reference goes straight from one frame to the next.
  const Duration bridged = Duration::Milliseconds(50);
  Duration sum, longest;
  Timestamp at;
  int gaps = 0;
  for (size_t k = 1; k < played.times.size(); ++k) {
    const Duration gap = played.times[k] - played.times[k - 1];
    if (gap <= bridged || played.times[k] <= motion.times.front() ||
        played.times[k - 1] >= motion.times.back())
      continue;
    ++gaps;
    sum = sum + gap;
    if (gap > longest) longest = gap, at = played.times[k - 1];
  }
  char text[200];
  if (gaps > 0) {
    std::snprintf(text, sizeof text,
                  "%.2f s without a fitted pose are bridged by straight lines (%d gaps, the "
                  "longest %.2f s at %.2f s)",
                  sum.seconds(), gaps, longest.seconds(), (at - Timestamp()).seconds());
    issues.push_back({"reference", Severity::kWarning, text});
  }
  if (motion.equilibrium_residual_rad.size() > 0 &&
      motion.equilibrium_residual_rad.maxCoeff() > kTellResidual_rad) {
    std::snprintf(
        text, sizeof text,
        "out of balance by %.2f rad at the most, a sound replay by less than 0.05: is the "
        "surface closed, is an assumed compliance too large?",
        motion.equilibrium_residual_rad.maxCoeff());
    issues.push_back({"balance", Severity::kWarning, text});
  }
  if (motion.contacts.empty()) {
    std::string how;
    if (std::isfinite(nearest_m)) {
      std::snprintf(text, sizeof text, "; it comes no nearer than %.3g mm", 1e3 * nearest_m);
      how = text;
    }
    issues.push_back({"contact", Severity::kWarning,
                      "the hand never touches '" + motion.surface + "'" + how +
                          ": --prop-pose places it elsewhere, --from and --to choose when"});
  }
  if (const std::optional<Issue> jams = Jams(captured, motion)) issues.push_back(*jams);
  if (motion.lcp_failures > 0) {
    issues.push_back({"contact", Severity::kLoss,
                      std::to_string(motion.lcp_failures) +
                          " steps of contact were not solved; the forces before were held"});
  }
  return issues;
}

Json Summary(const InteractionTrajectory& played, const artefact::ContactTrack& captured,
             const Motion& motion, double nearest_m, bool as_captured,
             const std::vector<AssumptionReplay>& replays) {
  const std::vector<Vec3> force = Forces(motion);
  double touching = 0, sliding = 0;
  for (const Vec3& f : force) touching += !f.isZero();
  for (const artefact::MotionContact& c : motion.contacts) sliding += c.slip_m_per_s > 1e-3;
  Json list = Json::Array();
  for (const AssumptionReplay& r : replays) {
    list.Push(Json::Object({{"assumed_factor", r.factor},
                            {"motion", r.motion},
                            {"force_rms_N", r.force_rms_N},
                            {"tip_rms_m", r.tip_rms_m},
                            {"peak_force_N", r.peak_force_N}}));
  }
  const auto frames = static_cast<double>(std::max<size_t>(1, force.size()));
  return Json::Object(
      {{"frames", static_cast<int64_t>(motion.times.size())},
       {"peak_force_N", Peak(force)},
       {"contact_share", touching / frames},
       {"slip_share", sliding / static_cast<double>(std::max<size_t>(1, motion.contacts.size()))},
       {"equilibrium_residual_max_rad", motion.equilibrium_residual_rad.size() == 0
                                            ? 0.0
                                            : motion.equilibrium_residual_rad.maxCoeff()},
       {"lcp_residual_max", motion.lcp_residual.size() == 0 ? 0.0 : motion.lcp_residual.maxCoeff()},
       {"lcp_failures", motion.lcp_failures},
       {"issues", ToJson(Findings(played, captured, motion, nearest_m, as_captured))},
       {"nearest_approach_m", std::isfinite(nearest_m) ? Json(nearest_m) : Json()},
       {"assumed_replays", std::move(list)}});
}

class Maker {
 public:
  Maker(const StepContext& context, const SynthInteractionStep& step, Scene scene)
      : context_(context), step_(step), scene_(std::move(scene)) {}

  /// The motion of one trajectory; `replays` go into its summary.
  Result<StepResult> Make(
      const std::string& trajectory, std::vector<std::string> chosen,
      const std::function<Result<std::vector<AssumptionReplay>>(const Motion&)>& replays) const {
    artefact::Provenance provenance = ProvenanceOf("synth.interaction", synthesis::kReplayVersion);
    provenance.inputs = {
        {"trajectory", trajectory, ""}, scene_.skeleton.input(), scene_.prop.input()};
    HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(ParametersJson()));
    return RunStep(context_, std::move(provenance), std::move(chosen), [&]() -> Result<Motion> {
      HANDHOLD_ASSIGN(const InteractionTrajectory played,
                      store::LoadInteractionTrajectory(context_.library.ArtefactPath(trajectory)));
      HANDHOLD_ASSIGN(Motion motion, Replay(played));
      HANDHOLD_ASSIGN(const std::vector<AssumptionReplay> others, replays(motion));
      double nearest_m = std::numeric_limits<double>::infinity();  // not asked where it touches
      if (motion.contacts.empty()) {
        HANDHOLD_ASSIGN(nearest_m, NearestApproach(scene_, motion));
      }
      HANDHOLD_ASSIGN(
          const artefact::ContactTrack captured,
          store::LoadContactTrack(context_.library.ArtefactPath(scene_.captured_contact)));
      HANDHOLD_ASSIGN(motion.summary_json, Parameters(Summary(played, captured, motion, nearest_m,
                                                              scene_.as_captured, others)));
      return motion;
    });
  }

  const Scene& scene() const { return scene_; }

 private:
  Json ParametersJson() const {
    return Json::Object(
        {{"form", scene_.form == synthesis::ReplayForm::kDamped ? "damped" : "quasi-static"},
         {"X_WProp", PoseToJson(scene_.X_WProp)},
         {"friction", step_.friction < 0 ? scene_.prop.prop.friction : step_.friction},
         {"surface_compliance_m_per_N", scene_.surface_compliance_m_per_N},
         {"compliance_scale", step_.compliance_scale},
         {"range_ns", RangeToJson(step_.range)},
         {"contact_margin_m", step_.margin_m},
         {"step", ToJson(step_.step)}});
  }

  Result<Motion> Replay(const InteractionTrajectory& played) const {
    synthesis::ReplayScene scene;
    scene.fixed.push_back({scene_.prop.prop, scene_.X_WProp});
    scene.fixed.back().prop.surface_compliance_m_per_N = scene_.surface_compliance_m_per_N;
    synthesis::ReplayOptions options;
    options.form = scene_.form;
    if (step_.range) options.range = *step_.range;
    options.friction = step_.friction;
    options.compliance_scale = step_.compliance_scale;
    options.margin_m = step_.margin_m;
    // Nought was asked for, or is what the surface says: rigid.
    if (scene_.surface_compliance_m_per_N == 0.0)
      options.stiffness_N_per_m = synthesis::kRigid_N_per_m;
    options.step = step_.step;
    options.progress = [&](double share) {
      return Report(context_, share, "synth.interaction").has_value();
    };
    return synthesis::ReplayInteraction(scene_.skeleton.skeleton, played, scene, options);
  }

  const StepContext& context_;
  const SynthInteractionStep& step_;
  Scene scene_;
};

/// The refused joints' values by dof, rad/Nm.
struct Assumed {
  std::map<std::string, double> given;          ///< by the user: as they are
  std::map<std::string, double> within_bounds;  ///< Table 1's, held to what the fit leaves open

  bool Has(const std::string& dof) const {
    return given.contains(dof) || within_bounds.contains(dof);
  }
};

/// kUnidentifiable names the joints that have no value.
Result<Assumed> Assumptions(const SynthInteractionStep& step, const model::Skeleton& hand,
                            const InteractionTrajectory& fitted, std::vector<std::string>* chosen) {
  for (const auto& [dof, value] : step.assume_compliance) {
    if (hand.FindDof(dof) >= 0) continue;
    return Error{ErrorCode::kInvalid,
                 "--assume-compliance: no joint '" + dof + "'" + DidYouMean(dof, hand.dof_names())};
  }
  for (const auto& [dof, value] : step.assume_compliance) {
    if (!fitted.compliance_rad_per_Nm.row(hand.FindDof(dof)).allFinite()) continue;
    chosen->push_back(dof + ": the fit answered it, what was to be assumed is not used");
  }
  std::map<std::string, double> table1;
  if (step.assume_table1) table1 = fitting::Table1Exploring(hand);
  Assumed used;
  std::string missing;
  for (int d = 0; d < hand.nv(); ++d) {
    if (fitted.compliance_rad_per_Nm.row(d).allFinite()) continue;
    const std::string& dof = hand.dof_names()[static_cast<size_t>(d)];
    if (const auto given = step.assume_compliance.find(dof);
        given != step.assume_compliance.end()) {
      used.given.insert(*given);
    } else if (const auto general = table1.find(dof); general != table1.end()) {
      used.within_bounds.insert(*general);
    } else {
      missing += (missing.empty() ? "" : ", ") + dof;
    }
  }
  if (missing.empty()) return used;
  return Error{ErrorCode::kUnidentifiable, "the fit refused a compliance for " + missing +
                                               ": assume one by name, --assume-compliance " +
                                               missing.substr(0, missing.find(',')) +
                                               "=0.7 (rad/Nm), and the result will say so"};
}

/// Of every joint that is given a value, by the tasks in which `estimator` refused it.
std::vector<AssumedValue> ValuesOf(const std::vector<artefact::ComplianceFit>& fits,
                                   const std::string& estimator, const Assumed& assumed,
                                   const std::vector<std::string>& dofs) {
  std::vector<AssumedValue> values;
  for (const std::string& dof : dofs) {
    const auto given = assumed.given.find(dof);
    const bool named = given != assumed.given.end();
    const double asked = named ? given->second : assumed.within_bounds.at(dof);
    const size_t before = values.size();
    for (const artefact::ComplianceFit& fit : fits) {
      if (fit.estimator != estimator) continue;
      for (const artefact::JointCompliance& joint : fit.joints) {
        if (joint.compliance_rad_per_Nm || joint.dof != dof) continue;
        values.push_back({dof, fit.task, named ? asked : fitting::HeldToBounds(joint, asked), asked,
                          joint.lower_rad_per_Nm, joint.upper_rad_per_Nm});
      }
    }
    if (values.size() == before) values.push_back({dof, "", asked, asked});
  }
  return values;
}

std::string Said(const AssumedValue& value) {
  char text[240];
  std::snprintf(text, sizeof text, "%s%s%s: compliance %.4g rad/Nm assumed (refused by the fit",
                value.dof.c_str(), value.task.empty() ? "" : ", ", value.task.c_str(),
                value.compliance_rad_per_Nm);
  std::string line = text;
  if (value.compliance_rad_per_Nm != value.asked_rad_per_Nm) {
    std::snprintf(text, sizeof text, ", whose 95 %% interval excludes Table 1's %.4g",
                  value.asked_rad_per_Nm);
    line += text;
  } else if (value.asked_rad_per_Nm < value.lower_rad_per_Nm ||
             value.asked_rad_per_Nm > value.upper_rad_per_Nm) {
    std::snprintf(text, sizeof text,
                  ", whose 95 %% interval, %.4g to %.4g, excludes it: taken since it was named",
                  value.lower_rad_per_Nm, value.upper_rad_per_Nm);
    line += text;
  }
  return line + ")";
}

}  // namespace

Result<SynthInteractionResult> SynthInteractionStep::Run(const StepContext& context) const {
  std::vector<std::string> chosen;
  store::ArtefactInfo fitted;
  if (trajectory.empty()) {
    HANDHOLD_ASSIGN(const FoundClip found, FindClip(context, clip));
    HANDHOLD_ASSIGN(fitted, FindResult(context, "", "interaction_trajectory", found,
                                       "fit compliance", &chosen));
  } else {
    HANDHOLD_ASSIGN(fitted, FindArtefact(context.library, trajectory, "interaction_trajectory"));
  }
  HANDHOLD_ASSIGN(const ProvenanceInput hand, RequireInput(fitted, "skeleton"));
  HANDHOLD_ASSIGN(const ProvenanceInput contact, RequireInput(fitted, "contact"));
  HANDHOLD_ASSIGN(const ProvenanceInput surface, RequireInput(fitted, "surface"));
  HANDHOLD_ASSIGN(const InteractionTrajectory base,
                  store::LoadInteractionTrajectory(context.library.ArtefactPath(fitted.hash)));
  HANDHOLD_ASSIGN(FoundSkeleton skeleton, LoadSkeletonArtefact(context.library, hand.hash));
  if (range) {
    synthesis::ReplayOptions asked;
    asked.range = *range, asked.step = this->step;
    HANDHOLD_TRY(synthesis::CheckRange(base, asked));
  }
  Scene scene{
      .skeleton = std::move(skeleton), .prop = {}, .X_WProp = {}, .captured_contact = contact.hash};
  if (prop.empty()) {
    HANDHOLD_ASSIGN(scene.prop, LoadPropArtefact(context.library, surface.hash));
    chosen.push_back("prop '" + scene.prop.prop.name + "' (the captured surface)");
  } else {
    HANDHOLD_ASSIGN(scene.prop, FindProp(context, prop, metres_per_unit, &chosen));
  }
  if (X_WProp) {
    scene.X_WProp = *X_WProp;
  } else if (scene.prop.from_mesh) {
    HANDHOLD_ASSIGN(scene.X_WProp, UnderTheHand(context, contact.hash, scene.prop.prop));
    chosen.push_back("pose \"" + recording::FormatPose(scene.X_WProp) +
                     "\": its top under the middle of the captured contacts");
  } else {
    HANDHOLD_ASSIGN(scene.X_WProp, CapturedPose(context, contact.hash));
  }
  HANDHOLD_ASSIGN(scene.surface_compliance_m_per_N,
                  SurfaceCompliance(context, *this, scene.prop, surface.hash, &chosen));
  HANDHOLD_ASSIGN(const RigidTransform stood, CapturedPose(context, contact.hash));
  scene.as_captured =
      scene.prop.hash == surface.hash && PoseToJson(scene.X_WProp) == PoseToJson(stood) &&
      (friction < 0 || friction == scene.prop.prop.friction) && compliance_scale == 1.0 &&
      (surface_compliance_m_per_N < 0 ||
       scene.surface_compliance_m_per_N == scene.prop.prop.surface_compliance_m_per_N);
  const bool dynamic = base.q_reference_dynamic.cols() > 0;
  scene.form = form == Form::kDamped || (form == Form::kBest && dynamic)
                   ? synthesis::ReplayForm::kDamped
                   : synthesis::ReplayForm::kQuasiStatic;
  if (form == Form::kBest) {
    chosen.push_back(dynamic ? "damped replay with the dynamic reference"
                             : "quasi-static replay (the fit gave no dynamic reference)");
  }
  HANDHOLD_ASSIGN(const auto assumed, Assumptions(*this, scene.skeleton.skeleton, base, &chosen));

  SynthInteractionResult result;
  std::string played = fitted.hash;
  const auto assume = [&](double factor) -> Result<std::string> {
    HANDHOLD_ASSIGN(const StepResult made,
                    (AssumeComplianceStep{.trajectory = fitted.hash,
                                          .assume_compliance = assumed.given,
                                          .assume_within_bounds = assumed.within_bounds,
                                          .assumed_factor = factor}
                         .Run(context)));
    return made.hash;
  };
  for (const std::string& dof : scene.skeleton.skeleton.dof_names()) {
    if (assumed.Has(dof)) result.assumed_dofs.push_back(dof);
  }
  const bool assumes = !result.assumed_dofs.empty();
  if (assumes) {
    HANDHOLD_ASSIGN(played, assume(1.0));
    HANDHOLD_ASSIGN(const fitting::ReferenceTrajectoryOptions options, ReferenceOptionsOf(fitted));
    result.assumed = ValuesOf(base.fits, options.estimator, assumed, result.assumed_dofs);
    for (const AssumedValue& value : result.assumed) chosen.push_back(Said(value));
  }
  const Maker maker(context, *this, std::move(scene));
  const auto none = [](const Motion&) -> Result<std::vector<AssumptionReplay>> {
    return std::vector<AssumptionReplay>();
  };
  const auto others = [&](const Motion& motion) -> Result<std::vector<AssumptionReplay>> {
    std::vector<AssumptionReplay> list;
    if (!assumes || !replay_assumed) return list;
    for (const double factor : {0.5, 2.0}) {
      HANDHOLD_ASSIGN(const std::string other, assume(factor));
      HANDHOLD_ASSIGN(const StepResult made, maker.Make(other, {}, none));
      HANDHOLD_ASSIGN(const Motion changed,
                      store::LoadMotion(context.library.ArtefactPath(made.hash)));
      list.push_back(
          Difference(maker.scene().skeleton.skeleton, motion, changed, factor, made.hash));
    }
    return list;
  };
  HANDHOLD_ASSIGN(static_cast<StepResult&>(result), maker.Make(played, std::move(chosen), others));
  if (context.dry_run && !result.reused) return result;
  HANDHOLD_ASSIGN(const Motion motion,
                  store::LoadMotion(context.library.ArtefactPath(result.hash)));
  HANDHOLD_ASSIGN(result.replays, ReadAssumptionReplays(motion));
  return result;
}

Result<std::vector<AssumptionReplay>> ReadAssumptionReplays(const artefact::Motion& motion) {
  HANDHOLD_ASSIGN(const Json json,
                  text::ParseJson(motion.summary_json, {.source = "summary of a motion"}));
  const text::JsonView view(json, "summary of a motion");
  HANDHOLD_ASSIGN(const auto items, view.GetItems("assumed_replays"));
  std::vector<AssumptionReplay> list;
  for (const text::JsonView& item : items) {
    AssumptionReplay& r = list.emplace_back();
    HANDHOLD_ASSIGN(r.factor, item.Get<double>("assumed_factor"));
    HANDHOLD_ASSIGN(r.motion, item.Get<std::string>("motion"));
    HANDHOLD_ASSIGN(r.force_rms_N, item.Get<double>("force_rms_N"));
    HANDHOLD_ASSIGN(r.tip_rms_m, item.Get<double>("tip_rms_m"));
    HANDHOLD_ASSIGN(r.peak_force_N, item.Get<double>("peak_force_N"));
  }
  return list;
}

}  // namespace handhold::pipeline

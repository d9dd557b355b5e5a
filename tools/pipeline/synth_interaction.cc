#include "tools/pipeline/synth_interaction.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "database/base/names.h"
#include "database/geometry/rotation.h"
#include "database/model/kinematics.h"
#include "database/recording/pose_text.h"
#include "database/text/json_view.h"
#include "fitting/compliance/steps.h"
#include "synthesis/interaction/retarget.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/grip_script.h"
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
  FoundSkeleton skeleton;                      ///< that plays
  std::optional<FoundSkeleton> captured_hand;  ///< where another plays
  std::optional<ProvenanceInput> lender;
  FoundProp prop;
  RigidTransform X_WProp;
  std::string captured_contact;  ///< artefact: what the hand felt where it was captured
  double surface_compliance_m_per_N = 0.0;
  synthesis::ReplayForm form = synthesis::ReplayForm::kQuasiStatic;
  bool as_captured = false;  ///< the captured surface, where it stood, as rough and soft as it was
};

/// Where the captured surface stood.
Result<RigidTransform> CapturedPose(const StepContext& context, const std::string& contact) {
  HANDHOLD_ASSIGN(const artefact::ContactTrack track,
                  store::Load<artefact::ContactTrack>(context.library.ArtefactPath(contact)));
  if (!track.things.empty()) return track.things.front().X_WT;
  return Error{ErrorCode::kCorrupt, "contact track " + ShortHash(contact) +
                                        " does not say where the touched surface stood"};
}

/// The top middle of the prop's bounding box at the middle of the captured contacts.
Result<RigidTransform> UnderTheHand(const StepContext& context, const std::string& contact,
                                    const model::Prop& prop) {
  HANDHOLD_ASSIGN(const artefact::ContactTrack track,
                  store::Load<artefact::ContactTrack>(context.library.ArtefactPath(contact)));
  Vec3 middle = Vec3::Zero(), normal = Vec3::Zero();
  double count = 0;
  for (const artefact::ContactRow& row : track.rows) {
    if (!row.p_W.allFinite() || !row.normal_W.allFinite()) continue;
    middle += row.p_W;
    normal += row.normal_W;
    count += 1;
  }
  if (count == 0 || normal.norm() < 1e-6 * count) {
    return Error{ErrorCode::kUnidentifiable,
                 "the captured contacts do not say where the hand is: give --prop-pose"};
  }
  const geometry::Bounds bounds = model::BoundsOf(prop);
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

Eigen::Matrix3Xd Forces(const Motion& motion) {
  return artefact::ForceOnHand(motion.touches, motion.rows, motion.times.size());
}

double Peak(const Eigen::Matrix3Xd& force) {
  return force.cols() == 0 ? 0.0 : force.colwise().norm().maxCoeff();
}

/// The sites that touch in either motion.
std::vector<int> TouchingSites(const model::Skeleton& hand, const Motion& a, const Motion& b) {
  std::vector<int> sites;
  for (const Motion* motion : {&a, &b}) {
    for (const artefact::Touch& touch : motion->touches) {
      const int site = hand.FindSite(touch.a.site);
      if (site >= 0 && std::find(sites.begin(), sites.end(), site) == sites.end())
        sites.push_back(site);
    }
  }
  return sites;
}

artefact::MotionVariant Difference(const model::Skeleton& hand, const Motion& a, const Motion& b,
                                   double factor, std::string hash) {
  artefact::MotionVariant out{.factor = factor, .motion = std::move(hash)};
  const Eigen::Matrix3Xd fa = Forces(a), fb = Forces(b);
  out.peak_force_N = Peak(fb);
  model::KinematicsData data(hand);
  const std::vector<int> sites = TouchingSites(hand, a, b);
  const auto places = [&](const Motion& motion, Eigen::Index k) {
    model::ComputePoses<double>(hand, motion.hands.front().q.col(k), &data);
    Eigen::Matrix3Xd p(3, static_cast<Eigen::Index>(sites.size()));
    for (size_t i = 0; i < sites.size(); ++i) {
      const model::ContactSite& site = hand.sites()[static_cast<size_t>(sites[i])];
      p.col(static_cast<Eigen::Index>(i)) = data.X_WB[static_cast<size_t>(site.body)] * site.p_BS;
    }
    return p;
  };
  double frames = 0;
  for (Eigen::Index k = 0; k < std::min(fa.cols(), fb.cols()); ++k) {
    if (fa.col(k).isZero() && fb.col(k).isZero()) continue;
    frames += 1;
    out.force_rms_N += (fa.col(k) - fb.col(k)).squaredNorm();
    if (!sites.empty())
      out.site_rms_m += (places(a, k) - places(b, k)).colwise().squaredNorm().mean();
  }
  out.force_rms_N = std::sqrt(out.force_rms_N / std::max(1.0, frames));
  out.site_rms_m = std::sqrt(out.site_rms_m / std::max(1.0, frames));
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
  const Eigen::MatrixXd& q = motion.hands.front().q;
  const Eigen::Index frames = q.cols(), step = std::max<Eigen::Index>(1, frames / 600);
  for (Eigen::Index k = 0; k < frames; k += step) {
    model::ComputePoses<double>(hand, q.col(k), &data);
    HANDHOLD_TRY(finder.Find(poses, std::min(nearest_m, 100.0), &contacts));
    for (const synthesis::Contact& c : contacts) nearest_m = std::min(nearest_m, c.separation_m);
  }
  return nearest_m;
}

/// From the motion itself, before it has a summary.
ReplayFigures Measured(const Motion& motion) {
  ReplayFigures figures;
  const Eigen::Matrix3Xd force = Forces(motion);
  double touching = 0, sliding = 0;
  for (Eigen::Index k = 0; k < force.cols(); ++k) touching += !force.col(k).isZero();
  for (const artefact::ContactRow& row : motion.rows) sliding += row.slip_m_per_s > 1e-3;
  figures.peak_force_N = Peak(force);
  figures.contact_share = touching / static_cast<double>(std::max<Eigen::Index>(1, force.cols()));
  figures.slip_share = sliding / static_cast<double>(std::max<size_t>(1, motion.rows.size()));
  figures.equilibrium_residual_max_rad = synthesis::LargestResidual_rad(motion);
  if (const artefact::Series* residual = motion.FindSeries(synthesis::kLcpResidual))
    figures.lcp_residual_max = residual->values.maxCoeff();
  figures.lcp_failures = synthesis::UnsolvedSteps(motion);
  return figures;
}

/// Touches that press more than kJamForce times as hard as when they were captured.
std::optional<Issue> Jams(const artefact::ContactTrack& captured, const Motion& motion) {
  const Eigen::Matrix3Xd force = Forces(motion);
  const Eigen::Matrix3Xd felt =
      artefact::ForceOnHand(captured.touches, captured.rows, captured.times.size());
  const size_t count = captured.touches.size();
  int jams = 0, touches = 0;
  double worst = 0, worst_N = 0;
  Timestamp at;
  for (size_t p = 0; p < count; ++p) {
    const artefact::Touch& touch = captured.touches[p];
    // On another surface a touch begins and ends elsewhere: up to halfway to its neighbours.
    const auto halfway = [](Timestamp a, Timestamp b) {
      return a + Duration::Nanoseconds((b - a).ns() / 2);
    };
    const TimeRange around{
        p == 0 ? motion.times.front() : halfway(captured.touches[p - 1].release, touch.onset),
        p + 1 == count ? motion.times.back() + Duration::Nanoseconds(1)
                       : halfway(touch.release, captured.touches[p + 1].onset)};
    double captured_N = 0, peak_N = 0;
    for (size_t k = 0; k < captured.times.size(); ++k) {
      if (!around.Contains(captured.times[k])) continue;
      const Vec3 f = felt.col(static_cast<Eigen::Index>(k));
      if (f.allFinite()) captured_N = std::max(captured_N, f.norm());
    }
    Timestamp peak_at;
    for (size_t k = 0; k < motion.times.size(); ++k) {
      const double f_N = force.col(static_cast<Eigen::Index>(k)).norm();
      if (!around.Contains(motion.times[k]) || f_N <= peak_N) continue;
      peak_N = f_N, peak_at = motion.times[k];
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
  if (!motion.hands.front().assumed_dofs.empty()) {
    what += " (assumed for";
    for (const std::string& dof : motion.hands.front().assumed_dofs) what += " " + dof;
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
        {"surface",
         motion.hands.front().assumed_dofs.empty() ? Severity::kNote : Severity::kWarning,
         "the captured surface as it was captured: the replay gives back what was recorded, "
         "whatever the compliances are" +
             std::string(motion.hands.front().assumed_dofs.empty() ? "" : ", assumed ones too") +
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
  const ReplayFigures figures = Measured(motion);
  if (figures.equilibrium_residual_max_rad > kTellResidual_rad) {
    std::snprintf(
        text, sizeof text,
        "out of balance by %.2f rad at the most, a sound replay by less than 0.05: is the "
        "surface closed, is an assumed compliance too large?",
        figures.equilibrium_residual_max_rad);
    issues.push_back({"balance", Severity::kWarning, text});
  }
  if (motion.rows.empty()) {
    std::string how;
    if (std::isfinite(nearest_m)) {
      std::snprintf(text, sizeof text, "; it comes no nearer than %.3g mm", 1e3 * nearest_m);
      how = text;
    }
    issues.push_back({"contact", Severity::kWarning,
                      "the hand never touches '" + motion.objects.front().prop + "'" + how +
                          ": --prop-pose places it elsewhere, --from and --to choose when"});
  }
  if (const std::optional<Issue> jams = Jams(captured, motion)) issues.push_back(*jams);
  if (figures.lcp_failures > 0) {
    issues.push_back({"contact", Severity::kLoss,
                      std::to_string(figures.lcp_failures) +
                          " steps of contact were not solved: their forces are within the cones of "
                          "friction but not in balance"});
  }
  return issues;
}

artefact::MotionSummary Summary(const InteractionTrajectory& played,
                                const artefact::ContactTrack& captured, const Motion& motion,
                                double nearest_m, bool as_captured,
                                std::vector<artefact::MotionVariant> variants) {
  const ReplayFigures f = Measured(motion);
  artefact::MotionSummary summary;
  summary.figures = {{"peak_force_N", f.peak_force_N},
                     {"contact_share", f.contact_share},
                     {"slip_share", f.slip_share},
                     {"equilibrium_residual_max_rad", f.equilibrium_residual_max_rad},
                     {"lcp_residual_max", f.lcp_residual_max},
                     {"lcp_failures", f.lcp_failures}};
  if (std::isfinite(nearest_m)) summary.figures["nearest_approach_m"] = nearest_m;
  summary.variants = std::move(variants);
  summary.issues = Findings(played, captured, motion, nearest_m, as_captured);
  return summary;
}

class Maker {
 public:
  Maker(const StepContext& context, const SynthInteractionStep& step, Scene scene)
      : context_(context), step_(step), scene_(std::move(scene)) {}

  /// The motion of one trajectory; `replays` go into its summary.
  Result<StepResult> Make(
      const std::string& trajectory, std::vector<std::string> chosen,
      const std::function<Result<std::vector<artefact::MotionVariant>>(const Motion&)>& replays)
      const {
    artefact::Provenance provenance = ProvenanceOf("synth.interaction", synthesis::kReplayVersion);
    provenance.inputs = {
        {"trajectory", trajectory, ""}, scene_.skeleton.input(), scene_.prop.input()};
    if (scene_.lender) provenance.inputs.push_back(*scene_.lender);
    HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(ParametersJson()));
    return RunStep(context_, std::move(provenance), std::move(chosen), [&]() -> Result<Motion> {
      HANDHOLD_ASSIGN(InteractionTrajectory played, store::Load<artefact::InteractionTrajectory>(
                                                        context_.library.ArtefactPath(trajectory)));
      if (scene_.captured_hand) {
        HANDHOLD_ASSIGN(played, synthesis::OntoHand(scene_.captured_hand->skeleton, played,
                                                    scene_.skeleton.skeleton));
      }
      HANDHOLD_ASSIGN(Motion motion, Replay(played));
      HANDHOLD_ASSIGN(std::vector<artefact::MotionVariant> others, replays(motion));
      double nearest_m = std::numeric_limits<double>::infinity();  // not asked where it touches
      if (motion.rows.empty()) {
        HANDHOLD_ASSIGN(nearest_m, NearestApproach(scene_, motion));
      }
      HANDHOLD_ASSIGN(const artefact::ContactTrack captured,
                      store::Load<artefact::ContactTrack>(
                          context_.library.ArtefactPath(scene_.captured_contact)));
      motion.objects.front().prop_hash = scene_.prop.hash;
      motion.hands.front().skeleton_hash = scene_.skeleton.hash;
      motion.summary =
          Summary(played, captured, motion, nearest_m, scene_.as_captured, std::move(others));
      return motion;
    });
  }

  const Scene& scene() const { return scene_; }

 private:
  Json ParametersJson() const {
    return Json::Object(
        {{"form", scene_.form == synthesis::ReplayForm::kDamped ? "damped" : "quasi-static"},
         {"X_WProp", artefact::ToJson(scene_.X_WProp)},
         {"friction", step_.friction < 0 ? scene_.prop.prop.friction : step_.friction},
         {"surface_compliance_m_per_N", scene_.surface_compliance_m_per_N},
         {"compliance_scale", step_.compliance_scale},
         {"range_ns", artefact::ToJson(step_.range)},
         {"contact_margin_m", step_.margin_m},
         {"step", artefact::ToJson(step_.step)}});
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
Result<Assumed> Assumptions(const std::map<std::string, double>& named, bool assume_table1,
                            const model::Skeleton& hand, const InteractionTrajectory& fitted,
                            std::vector<std::string>* chosen) {
  for (const auto& [dof, value] : named) {
    if (hand.FindDof(dof) >= 0) continue;
    return Error{ErrorCode::kInvalid,
                 "--assume-compliance: no joint '" + dof + "'" + DidYouMean(dof, hand.dof_names())};
  }
  for (const auto& [dof, value] : named) {
    if (!fitted.compliance_rad_per_Nm.row(hand.FindDof(dof)).allFinite()) continue;
    chosen->push_back(dof + ": the fit answered it, what was to be assumed is not used");
  }
  std::map<std::string, double> table1;
  if (assume_table1) table1 = fitting::Table1Exploring(hand);
  Assumed used;
  std::string missing;
  for (int d = 0; d < hand.nv(); ++d) {
    if (fitted.compliance_rad_per_Nm.row(d).allFinite()) continue;
    const std::string& dof = hand.dof_names()[static_cast<size_t>(d)];
    if (const auto given = named.find(dof); given != named.end()) {
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
  if (const auto itself = FindArtefact(context.library, clip, "interaction_trajectory");
      trajectory.empty() && itself) {
    fitted = *itself;
  } else if (trajectory.empty()) {
    HANDHOLD_ASSIGN(const FoundClip found, FindClip(context, clip));
    HANDHOLD_ASSIGN(fitted, FindResult(context, "", "interaction_trajectory", found,
                                       "fit compliance", &chosen));
  } else {
    HANDHOLD_ASSIGN(fitted, FindArtefact(context.library, trajectory, "interaction_trajectory"));
  }
  HANDHOLD_ASSIGN(const ProvenanceInput fitted_hand, RequireInput(fitted, "skeleton"));
  HANDHOLD_ASSIGN(const ProvenanceInput contact, RequireInput(fitted, "contact"));
  HANDHOLD_ASSIGN(const ProvenanceInput surface, RequireInput(fitted, "surface"));
  HANDHOLD_ASSIGN(const InteractionTrajectory base, store::Load<artefact::InteractionTrajectory>(
                                                        context.library.ArtefactPath(fitted.hash)));
  HANDHOLD_ASSIGN(FoundSkeleton skeleton, LoadSkeletonArtefact(context.library, fitted_hand.hash));
  if (range) {
    synthesis::ReplayOptions asked;
    asked.range = *range, asked.step = this->step;
    HANDHOLD_TRY(synthesis::CheckRange(base, asked));
  }
  Scene scene{.skeleton = std::move(skeleton),
              .captured_hand = {},
              .lender = {},
              .prop = {},
              .X_WProp = {},
              .captured_contact = contact.hash};
  if (!hand.key.empty() || hand.scale != 1.0) {
    HandChoice choice = hand;
    if (choice.key.empty()) choice.key = scene.skeleton.hash;
    HANDHOLD_ASSIGN(FoundSkeleton other, FindSkeleton(context, choice, &chosen));
    scene.captured_hand = std::exchange(scene.skeleton, std::move(other));
    // Whether it has the same joints is known before anything is computed.
    HANDHOLD_TRY(synthesis::OntoHand(scene.captured_hand->skeleton, base, scene.skeleton.skeleton));
  }
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
      scene.prop.hash == surface.hash &&
      artefact::ToJson(scene.X_WProp) == artefact::ToJson(stood) &&
      (friction < 0 || friction == scene.prop.prop.friction) && compliance_scale == 1.0 &&
      (surface_compliance_m_per_N < 0 ||
       scene.surface_compliance_m_per_N == scene.prop.prop.surface_compliance_m_per_N) &&
      !scene.captured_hand;
  const bool dynamic = base.q_reference_dynamic.cols() > 0;
  scene.form = form == Form::kDamped || (form == Form::kBest && dynamic)
                   ? synthesis::ReplayForm::kDamped
                   : synthesis::ReplayForm::kQuasiStatic;
  if (form == Form::kBest) {
    chosen.push_back(dynamic ? "damped replay with the dynamic reference"
                             : "quasi-static replay (the fit gave no dynamic reference)");
  }
  std::map<std::string, double> named = assume_compliance;
  if (!borrow.empty()) {
    InteractionTrajectory lent = base;
    HANDHOLD_ASSIGN(const Borrowed borrowed, Borrow(context, borrow, &lent, &chosen));
    scene.lender = borrowed.lender;
    named.insert(borrowed.compliance_rad_per_Nm.begin(), borrowed.compliance_rad_per_Nm.end());
  }
  HANDHOLD_ASSIGN(const auto assumed,
                  Assumptions(named, assume_table1, scene.skeleton.skeleton, base, &chosen));

  SynthInteractionResult result;
  std::string played = fitted.hash;
  const auto assume = [&](double factor) -> Result<std::string> {
    HANDHOLD_ASSIGN(const StepResult made,
                    RunStep(context, fitting::AssumeComplianceStep{
                                         .trajectory = fitted.hash,
                                         .assume_compliance = assumed.given,
                                         .assume_within_bounds = assumed.within_bounds,
                                         .assumed_factor = factor}));
    return made.hash;
  };
  for (const std::string& dof : scene.skeleton.skeleton.dof_names()) {
    if (assumed.Has(dof)) result.assumed_dofs.push_back(dof);
  }
  const bool assumes = !result.assumed_dofs.empty();
  if (assumes) {
    HANDHOLD_ASSIGN(played, assume(1.0));
    result.assumed = ValuesOf(base.fits, base.made_with.estimator, assumed, result.assumed_dofs);
    for (const AssumedValue& value : result.assumed) chosen.push_back(Said(value));
  }
  const Maker maker(context, *this, std::move(scene));
  const auto none = [](const Motion&) -> Result<std::vector<artefact::MotionVariant>> {
    return std::vector<artefact::MotionVariant>();
  };
  const auto others = [&](const Motion& motion) -> Result<std::vector<artefact::MotionVariant>> {
    std::vector<artefact::MotionVariant> list;
    if (!assumes || !replay_assumed) return list;
    for (const double factor : {0.5, 2.0}) {
      HANDHOLD_ASSIGN(const std::string other, assume(factor));
      HANDHOLD_ASSIGN(const StepResult made, maker.Make(other, {}, none));
      HANDHOLD_ASSIGN(const Motion changed,
                      store::Load<artefact::Motion>(context.library.ArtefactPath(made.hash)));
      list.push_back(
          Difference(maker.scene().skeleton.skeleton, motion, changed, factor, made.hash));
    }
    return list;
  };
  HANDHOLD_ASSIGN(static_cast<StepResult&>(result), maker.Make(played, std::move(chosen), others));
  if (context.dry_run && !result.reused) return result;
  HANDHOLD_ASSIGN(const Motion motion,
                  store::Load<artefact::Motion>(context.library.ArtefactPath(result.hash)));
  result.replays = motion.summary.variants;
  return result;
}

ReplayFigures FiguresOf(const Motion& motion) {
  const std::map<std::string, double>& said = motion.summary.figures;
  const auto figure = [&](const char* name) {
    const auto found = said.find(name);
    return found == said.end() ? 0.0 : found->second;
  };
  ReplayFigures figures;
  figures.peak_force_N = figure("peak_force_N");
  figures.contact_share = figure("contact_share");
  figures.slip_share = figure("slip_share");
  figures.equilibrium_residual_max_rad = figure("equilibrium_residual_max_rad");
  figures.lcp_residual_max = figure("lcp_residual_max");
  figures.lcp_failures = static_cast<int>(figure("lcp_failures"));
  if (said.contains("nearest_approach_m"))
    figures.nearest_approach_m = figure("nearest_approach_m");
  return figures;
}

}  // namespace handhold::pipeline

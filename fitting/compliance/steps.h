/// Steps "fit.contact", "fit.compliance" and "fit.assume": where the hand touched, how its joints
/// give way by both estimators side by side, and the same with values taken for refused joints
/// (contact_fit.h, {paper,dynamic}_estimator.h, reference_trajectory.h).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "database/artefact/contact_track.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/pose_track.h"
#include "database/model/prop.h"
#include "database/recording/clip.h"
#include "database/step/about.h"
#include "database/step/given.h"
#include "database/step/work.h"
#include "fitting/compliance/contact_fit.h"
#include "fitting/compliance/dynamic_estimator.h"
#include "fitting/compliance/paper_estimator.h"
#include "fitting/compliance/reference_trajectory.h"

namespace handhold::fitting {

/// Touches are found from the force; what they belong to ("exploring", "scratching") is what the
/// operator's events of the clip say.
struct FitContactStep {
  static constexpr step::Title kStep{
      "fit.contact", kContactFitVersion,
      "find where, when and how hard the hand touched, and the joint torques of it"};
  step::Given<recording::ClipSource> clip = {};
  step::Given<artefact::PoseTrack> pose = {};
  step::Given<step::Hand> skeleton = {};
  step::Given<model::Prop> surface = {};
  std::optional<geometry::RigidTransform> X_WSurface = {};  ///< empty: as the take says
  std::string thing = {};  ///< of the take, that was touched; empty: as the take says
  ContactFitOptions options = {};
};
template <typename A>
void Visit(A& a, FitContactStep& s) {
  using artefact::About;
  using step::Role;
  using step::Unsaid;
  a.Input("clip", s.clip, Role{.help = "name, id, or the beginning of an id", .first = true});
  a.Input("pose", s.pose,
          Role{.help = "pose track; default: the clip's newest", .unsaid = Unsaid::kNewest});
  a.Input("skeleton", s.skeleton, Role{.unsaid = Unsaid::kOf, .of = "pose"});
  a.Input("surface", s.surface,
          Role{.help = "what was touched: a prop of ours, a .json prop or a .stl, .obj, .ply mesh; "
                       "default: the clip's prop",
               .unsaid = Unsaid::kTake});
  a.Field(
      "X_WSurface", s.X_WSurface,
      About{.help = "where it stood: \"x y z [qw qx qy qz]\", metres; default: as the clip says",
            .word = "surface-pose",
            .value = "POSE"});
  a.Field("thing", s.thing);
  a.Inline(s.options);
}

/// The sensor, the site, what was touched and where it stood.
Status Complete(FitContactStep& s, step::Work& work);
Status Check(const FitContactStep& s);
Result<artefact::ContactTrack> Compute(const FitContactStep& s, step::Work& work);

/// Where issues of a result are that say what its take lacks.
inline constexpr const char* kOfTheTake = "the take";

/// The fits of both estimators with discards and refusals, C per frame (NaN where refused: nothing
/// is assumed here), theta_r by eq. 1 and, when the dynamic estimator answered, by the dynamics.
///
/// Where the data determine nothing at all, every joint is refused with the estimator's reason and
/// theta_r is theta: that, too, is kept. A clip without any touch is kUnidentifiable.
struct FitComplianceStep {
  /// Any of the three that is raised raises it.
  static constexpr step::Title kStep{
      "fit.compliance",
      kReferenceTrajectoryVersion + kPaperEstimatorVersion + kDynamicEstimatorVersion,
      "fit how the joints give way, by two estimators, and what the hand meant to do"};
  step::Given<recording::ClipSource> clip = {};
  step::Given<artefact::ContactTrack> contact = {};
  step::Given<step::Hand> skeleton = {};
  step::Given<artefact::PoseTrack> pose = {};
  step::Given<model::Prop> surface = {};
  PaperEstimatorOptions paper = {};
  DynamicEstimatorOptions dynamic = {};
  ReferenceTrajectoryOptions reference = {};  ///< assumes nothing: AssumeComplianceStep does
};
template <typename A>
void Visit(A& a, FitComplianceStep& s) {
  using step::Role;
  using step::Unsaid;
  a.Input("clip", s.clip, Role{.help = "name, id, or the beginning of an id", .first = true});
  a.Input("contact", s.contact,
          Role{.help = "contact track; default: the clip's newest", .unsaid = Unsaid::kNewest});
  a.Input("skeleton", s.skeleton, Role{.unsaid = Unsaid::kOf, .of = "contact"});
  a.Input("pose", s.pose, Role{.unsaid = Unsaid::kOf, .of = "contact"});
  a.Input("surface", s.surface, Role{.unsaid = Unsaid::kOf, .of = "contact"});
  a.Field("paper", s.paper);
  a.Field("dynamic", s.dynamic);
  a.Field("reference", s.reference);
}

Status Check(const FitComplianceStep& s);
/// What the take lacks is told before anything is computed, and kept as issues of kOfTheTake.
Result<artefact::InteractionTrajectory> Compute(const FitComplianceStep& s, step::Work& work);

/// A trajectory whose refused joints are given a compliance by name. The same fits, refusals
/// included; `assumed` marks the joints, and theta_r is made again with the values.
struct AssumeComplianceStep {
  static constexpr step::Title kStep{"fit.assume", kReferenceTrajectoryVersion + 1,
                                     "give refused joints of a trajectory a compliance by name"};
  step::Given<artefact::InteractionTrajectory> trajectory = {};
  step::Given<step::Hand> skeleton = {};
  step::Given<artefact::PoseTrack> pose = {};
  step::Given<artefact::ContactTrack> contact = {};
  step::Given<model::Prop> surface = {};
  std::map<std::string, double> assume_compliance = {};  ///< by dof, rad/Nm, used where refused
  /// The same, held to what the refused fit leaves open (HeldToBounds).
  std::map<std::string, double> assume_within_bounds = {};
  double assumed_factor = 1.0;  ///< on the assumed values: 0.5 and 2 show what hangs on them
};
template <typename A>
void Visit(A& a, AssumeComplianceStep& s) {
  using artefact::About;
  using step::Role;
  using step::Unsaid;
  a.Input("trajectory", s.trajectory, Role{.help = "of 'fit compliance'", .first = true});
  a.Input("skeleton", s.skeleton, Role{.unsaid = Unsaid::kOf, .of = "trajectory"});
  a.Input("pose", s.pose, Role{.unsaid = Unsaid::kOf, .of = "trajectory"});
  a.Input("contact", s.contact, Role{.unsaid = Unsaid::kOf, .of = "trajectory"});
  a.Input("surface", s.surface, Role{.unsaid = Unsaid::kOf, .of = "trajectory"});
  a.Field("assume_compliance_rad_per_Nm", s.assume_compliance,
          About{.help = "of a joint, where it was refused", .value = "DOF=VALUE"});
  a.Field(
      "assume_within_bounds_rad_per_Nm", s.assume_within_bounds,
      About{.help = "the same, held to what the refused fit leaves open", .value = "DOF=VALUE"});
  a.Field("assumed_factor", s.assumed_factor, About{.help = "on the assumed values", .least = 0.0});
}

Result<artefact::InteractionTrajectory> Compute(const AssumeComplianceStep& s, step::Work& work);

}  // namespace handhold::fitting

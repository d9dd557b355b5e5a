/// Steps "fit.skeleton" and "fit.pose": the subject's hand from a range of motion, and joint angles
/// of a clip, frame by frame (skeleton_fit.h, pose_fit.h).
#pragma once

#include <optional>
#include <string>

#include "database/artefact/pose_track.h"
#include "database/model/prop.h"
#include "database/recording/clip.h"
#include "database/step/about.h"
#include "database/step/given.h"
#include "database/step/work.h"
#include "fitting/skeleton/pose_fit.h"
#include "fitting/skeleton/skeleton_fit.h"

namespace handhold::fitting {

struct FitSkeletonStep {
  static constexpr step::Title kStep{"fit.skeleton", kSkeletonFitVersion,
                                     "fit the subject's hand to a range of motion"};
  step::Given<recording::ClipSource> clip = {};
  step::Given<step::Hand> template_hand = {};
  /// Where it touches, when that is another clip.
  step::Given<recording::ClipSource> contact_clip = {};
  /// What the fingertip touches, so that contact shows the end segment; left out: markers only.
  step::Given<model::Prop> surface = {};
  std::optional<geometry::RigidTransform> X_WSurface = {};  ///< empty: as the take says
  std::string force_sensor = {};                            ///< that feels it; empty: the only one
  /// options.range empty: the clip's event of kind "take" with text "range_of_motion", else all.
  /// options.surface is set by Compute.
  SkeletonFitOptions options = {};
};
template <typename A>
void Visit(A& a, FitSkeletonStep& s) {
  using artefact::About;
  using step::Role;
  using step::Unsaid;
  a.Input("clip", s.clip, Role{.help = "name, id, or the beginning of an id", .first = true});
  a.Input("template", s.template_hand,
          Role{.help = "hand to begin from: one of ours, a .json file or an artefact; default: by "
                       "the clip's markers",
               .unsaid = Unsaid::kMarkers});
  a.Input("contact_clip", s.contact_clip,
          Role{.help = "where the fingertip touches the surface, when it is another clip",
               .word = "contact-clip",
               .needed = false});
  a.Input("surface", s.surface,
          Role{.help = "what was touched: a prop of ours, a .json prop or a .stl, .obj, .ply mesh; "
                       "none: markers alone; default: the clip's prop",
               .unsaid = Unsaid::kTake,
               .of = "contact_clip",
               .needed = false});
  a.Field(
      "X_WSurface", s.X_WSurface,
      About{.help = "where it stood: \"x y z [qw qx qy qz]\", metres; default: as the clip says",
            .word = "surface-pose",
            .value = "POSE"});
  a.Field("force_sensor", s.force_sensor);
  a.Inline(s.options);
}

/// The range of motion by its event, where the surface stood.
Status Complete(FitSkeletonStep& s, step::Work& work);
Status Check(const FitSkeletonStep& s);
/// The summary of the hand is a SkeletonFitSummary, with its line in words ("brief").
Result<step::Hand> Compute(const FitSkeletonStep& s, step::Work& work);

struct FitPoseStep {
  static constexpr step::Title kStep{"fit.pose", kPoseFitVersion,
                                     "fit joint angles to the markers of a clip, frame by frame"};
  step::Given<recording::ClipSource> clip = {};
  step::Given<step::Hand> skeleton = {};
  PoseFitOptions options = {};  ///< its progress is Compute's
};
template <typename A>
void Visit(A& a, FitPoseStep& s) {
  a.Input("clip", s.clip, step::Role{.help = "name, id, or the beginning of an id", .first = true});
  a.Input("skeleton", s.skeleton,
          step::Role{.help = "artefact, hand of ours or .json file; default: the newest fitted to "
                             "this clip, else for its subject",
                     .unsaid = step::Unsaid::kNewest});
  a.Inline(s.options);
}

Status Check(const FitPoseStep& s);
Result<artefact::PoseTrack> Compute(const FitPoseStep& s, step::Work& work);

}  // namespace handhold::fitting

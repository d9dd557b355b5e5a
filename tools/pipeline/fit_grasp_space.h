/// Step "fit.grasp-space": a low-dimensional space of hand shapes, from the library's pose tracks
/// or from scripted types (fitting/grasp_space/grasp_space_fit.h,
/// synthesis/grasp_search/preshape.h). It joins two rooms that do not know each other, so it stands
/// here; its Compute knows no library.
#pragma once

#include <string>
#include <vector>

#include "database/artefact/contact_track.h"
#include "database/artefact/grasp_space.h"
#include "database/artefact/object_track.h"
#include "database/artefact/pose_track.h"
#include "database/model/prop.h"
#include "database/recording/clip.h"
#include "database/step/about.h"
#include "database/step/given.h"
#include "database/step/work.h"
#include "fitting/grasp_space/grasp_space_fit.h"
#include "synthesis/grasp_search/preshape.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// A stretch of poses that is fitted; empty: the whole track.
struct TypedSpan {
  std::optional<TimeRange> span;
  std::string type;  ///< Feix's name; empty: none
};
template <typename A>
void Visit(A& a, TypedSpan& s) {
  a.Field("span_ns", s.span);
  a.Field("type", s.type);
}

/// What is fitted of one pose track, by hashes of the inputs.
struct GraspTake {
  std::string pose, skeleton;
  std::vector<std::string> contacts;  ///< tracks of its touches
  std::vector<std::string> objects;   ///< tracks of the things of its clip
  std::vector<TypedSpan> spans;
};
template <typename A>
void Visit(A& a, GraspTake& t) {
  a.Field("pose", t.pose);
  a.Field("skeleton", t.skeleton);
  a.Field("contacts", t.contacts);
  a.Field("objects", t.objects);
  a.Field("spans", t.spans);
}

/// The result is an artefact::GraspSpace. Captured: of every clip, its newest pose track; where
/// people labelled spans with a grasp type (`clip label`), those spans with that type (under a name
/// of a coarser taxonomy: without one; overlapping spans of one type are one), else (no type asked
/// for) the found events' spans or the whole track. Poses in which the hand touches a thing
/// (contact tracks of that pose track, the newest per sensor) bring the thing's primitive as
/// templates. Scripted: a hand of ours. The two are never mixed: exactly one of clips and
/// `scripted`.
struct FitGraspSpaceStep {
  static constexpr step::Title kStep{
      "fit.grasp-space", fitting::kGraspSpaceFitVersion + synthesis::kPreshapeVersion,
      "fit a space of hand shapes: principal components, mixture, threshold"};
  step::Many<recording::ClipSource> clip = {};
  step::Many<artefact::PoseTrack> pose = {};
  step::Many<artefact::ContactTrack> contact = {};
  step::Many<artefact::ObjectTrack> object = {};
  /// Of the pose tracks, the first is the space's; of scripts the one that is said.
  step::Many<step::Hand> skeleton = {};
  step::Many<model::Prop> prop = {};  ///< that were touched
  bool scripted = false;
  std::vector<std::string> types = {};  ///< of any taxonomy; empty: all
  std::vector<GraspTake> takes = {};    ///< found by PrepareStep where nothing is said
  int seed = 1;                         ///< of scripts and of the mixture
  synthesis::PreshapeOptions preshape = {};
  fitting::TakePosesOptions poses = {};
  fitting::GraspSpaceOptions options = {};
};
template <typename A>
void Visit(A& a, FitGraspSpaceStep& s) {
  using artefact::About;
  using step::Role;
  a.Input("clip", s.clip,
          Role{.help = "of which clips the fitted poses are taken", .needed = false});
  a.Input("pose", s.pose, Role{.needed = false});
  a.Input("contact", s.contact, Role{.needed = false});
  a.Input("object", s.object, Role{.needed = false});
  a.Input("skeleton", s.skeleton,
          Role{.help = "of scripts: a hand of ours, a .json file or an artefact; default: hand27",
               .needed = false});
  a.Input("prop", s.prop, Role{.needed = false});
  a.Field("scripted", s.scripted,
          About{.help = "of 26 scripted types on primitives instead; the result says so"});
  a.Field("types", s.types,
          About{.help = "only spans labelled so ('clip label'), or scripts of it: a name of Feix, "
                        "Cutkosky or Schlesinger",
                .word = "type",
                .value = "TYPE"});
  a.Field("takes", s.takes);
  a.Field(
      "seed", s.seed,
      About{
          .help = "the same seed gives the same bits", .value = "N", .least = 1, .most = 1000000});
  a.Field("preshape", s.preshape);
  a.Field("poses", s.poses);
  a.Field("options", s.options);
}

/// Finds the takes that the query (or the clips) mean, with their labels and touches, and names
/// them as inputs.
Status PrepareStep(const StepContext& context, FitGraspSpaceStep* step,
                   std::vector<std::string>* chosen);
/// Too few poses are refused before anything is fitted.
Status Check(const FitGraspSpaceStep& step);
Result<artefact::GraspSpace> Compute(const FitGraspSpaceStep& step, step::Work& work);

/// A stretch of a clip with its grasp type, as labelled.
struct LabelledSpan {
  TimeRange span;
  std::string feix;  ///< empty: the label names a coarser taxonomy only
  std::string taxonomy, type, author;
  std::optional<double> confidence = {};  ///< that its author gave it
};
/// A label's own entry, and that of its author's confidence in it, in the ledger.
inline constexpr const char* kConfidenceSuffix = ".confidence";
/// What holds now of a clip, by time.
Result<std::vector<LabelledSpan>> GraspLabels(const store::Library& library,
                                              const std::string& clip_id);

}  // namespace handhold::pipeline

/// Step "fit.grasp-space": a low-dimensional space of hand shapes, from the library's pose tracks
/// or from scripted types (fitting/grasp_space/grasp_space_fit.h,
/// synthesis/grasp_search/preshape.h).
#pragma once

#include <string>
#include <vector>

#include "fitting/grasp_space/grasp_space_fit.h"
#include "synthesis/grasp_search/preshape.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// The result is an artefact::GraspSpace. Captured: of every clip that the query finds, its newest
/// pose track; where people labelled spans with a grasp type (`clip label`), those spans with that
/// type (under a name of a coarser taxonomy: without one; overlapping spans of one type are one),
/// else (no type asked for) the found events' spans or the whole track. Poses in which the hand
/// touches a thing (contact tracks of that pose track, the newest per sensor) bring the thing's
/// primitive as templates. Inputs: clips, pose tracks, contact tracks, tracks of things. Scripted:
/// a hand of ours. The two are never mixed: exactly one of `query` and `scripted`.
struct FitGraspSpaceStep {
  std::string query = {};
  bool scripted = false;
  HandChoice hand = {};                 ///< scripted only; empty: the default hand
  std::vector<std::string> types = {};  ///< of any taxonomy; empty: all
  synthesis::PreshapeOptions preshape = {};
  fitting::TakePosesOptions poses = {};
  fitting::GraspSpaceOptions options = {};

  Result<StepResult> Run(const StepContext& context) const;
};

/// Feix names of what people typed ("tripod", "schlesinger:palmar"), each once. kNotFound with near
/// names.
Result<std::vector<std::string>> FeixTypes(const std::vector<std::string>& names);

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

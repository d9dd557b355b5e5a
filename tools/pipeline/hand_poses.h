/// Questions about stored hand shapes: which are like this one, and which grasp type it looks like.
#pragma once

#include <string>
#include <vector>

#include "database/base/time.h"
#include "database/store/library.h"
#include "fitting/grasp_space/pose_index.h"
#include "fitting/grasp_space/type_models.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

struct LikeRow {
  std::string clip, clip_id, pose;  ///< pose: artefact
  Timestamp time;
  double rms_rad = 0.0;
  std::string label;  ///< grasp type that people gave there; empty: none
};
struct LikeResult {
  std::vector<LikeRow> rows;
  size_t shapes = 0;  ///< compared with
  Timestamp time;     ///< of the frame asked about: the nearest one that was fitted
};

/// The nearest shapes of all newest pose tracks, of clips that are not withdrawn, of hands with the
/// same joints (either side): exact. kNotFound: the clip has no pose track, or none within 0.5 s of
/// the time. `clips`: only those of these ids; empty: all.
Result<LikeResult> FindLikePoses(const StepContext& context, const std::string& clip, Duration at,
                                 int limit, const std::vector<std::string>& clips = {});

struct LabelSuggestion {
  std::vector<fitting::TypeGuess> guesses;  ///< most likely first
  std::string space;                        ///< artefact that the models are of
  int frames = 0;                           ///< of the span, averaged
  bool scripted = false;
};
/// What the newest grasp space (or `space`) says of a clip's span. kNotFound: no pose track, no
/// space.
Result<LabelSuggestion> SuggestLabel(const StepContext& context, const std::string& clip,
                                     const TimeRange& span, const std::string& taxonomy,
                                     const std::string& space = "");

}  // namespace handhold::pipeline

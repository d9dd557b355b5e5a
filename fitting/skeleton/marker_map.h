/// Which channels of a marker stream are a skeleton's markers. Internal to the skeleton and pose
/// fits and to the dry runs of their steps; tested through them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"

namespace handhold::fitting {

struct MarkerMap {
  std::vector<int> channel;          ///< first channel of each skeleton marker, -1: not there
  std::vector<std::string> unknown;  ///< in the stream, not on the skeleton
};

/// By name; "subject:marker" also by what stands after the colon.
MarkerMap MapMarkers(const recording::StreamInfo& stream, const model::Skeleton& skeleton);

/// Those of the skeleton that none of `streams` has.
std::vector<std::string> MissingMarkers(const std::vector<const recording::StreamInfo*>& streams,
                                        const model::Skeleton& skeleton);

/// kNotFound, naming what is missing, when `streams` have fewer than half of the skeleton's
/// markers between them: that is another hand's recording, and its joints would be guesses.
Status CheckWorn(const std::vector<const recording::StreamInfo*>& streams,
                 const model::Skeleton& skeleton);

/// kNotFound, with near names, when the skeleton wears no marker of one of `names`.
Status CheckLeftOut(const std::vector<std::string>& names, const model::Skeleton& skeleton);

/// kInvalid, with what there is, when nothing of `streams` (in order of time) lies in `range`.
Status CheckRange(const recording::ClipSource& clip,
                  const std::vector<const recording::StreamInfo*>& streams,
                  const std::optional<TimeRange>& range);

}  // namespace handhold::fitting

/// Options, poses and findings as JSON: parameters of provenance (every option, defaults included)
/// and summaries kept beside results. Internal to the pipeline.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/interaction_trajectory.h"
#include "database/base/issue.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"
#include "database/text/json.h"
#include "fitting/compliance/contact_fit.h"
#include "fitting/compliance/dynamic_estimator.h"
#include "fitting/compliance/paper_estimator.h"
#include "fitting/compliance/reference_trajectory.h"
#include "fitting/skeleton/pose_fit.h"
#include "fitting/skeleton/skeleton_fit.h"
#include "synthesis/interaction/replay.h"

namespace handhold::pipeline {

/// {"p_m": [x, y, z], "R": [row by row]}.
text::Json PoseToJson(const geometry::RigidTransform& X);
/// [begin_ns, end_ns] or null.
text::Json RangeToJson(const std::optional<TimeRange>& range);
text::Json ToJson(const Issues& issues);
text::Json ToJson(const std::map<std::string, double>& values);

text::Json ToJson(const fitting::SkeletonFitOptions& o);  ///< without the surface: an input
text::Json ToJson(const fitting::SkeletonFitSummary& s);
text::Json ToJson(const fitting::PoseFitOptions& o);
text::Json ToJson(const fitting::PoseFitSummary& s);
text::Json ToJson(const fitting::ContactFitOptions& o);
text::Json ToJson(const fitting::ContactFitSummary& s);
text::Json ToJson(const fitting::PaperEstimatorOptions& o);
text::Json ToJson(const fitting::DynamicEstimatorOptions& o);
text::Json ToJson(const fitting::DynamicEstimatorSummary& s);
text::Json ToJson(const fitting::ReferenceTrajectoryOptions& o);
text::Json ToJson(const fitting::ReferenceTrajectorySummary& s);
text::Json ToJson(const synthesis::StepOptions& o);

/// Canonical JSON; an option that is not finite is the caller's mistake and is named.
Result<std::string> Parameters(const text::Json& json);

}  // namespace handhold::pipeline

/// What a take lacks for compliances, told before they are fitted: strokes in the air, touches,
/// postures.
///
/// A take can be made again while the subject is there; a fit that refuses half an hour later is no
/// help. Tests: tests/fitting/compliance/take_advice_test.cc.
#pragma once

#include "database/artefact/contact_track.h"
#include "database/artefact/pose_track.h"
#include "database/base/issue.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "fitting/compliance/dynamic_estimator.h"

namespace handhold::fitting {

/// Below these, and DoubtRule::enough_air_strokes, a take is told what it lacks. Brief subjects
/// with 8 + 8 strokes lose PIP in exploring and widen wrist and MP by a half; whole ones with 24 of
/// each task answer all but DIP.
struct TakeNeeds {
  int touches_per_task = 20;
  /// Of the angles at the onsets, of the finger's joint that varies most: postures tell PIP from
  /// DIP.
  double posture_sd_rad = 0.07;
  double touches_too_close = 0.2;  ///< share of touches whose window another contact's end spoils
};

/// One kWarning per thing that is missing, the gravest first; empty: nothing. Precondition: pose
/// and contact share their times. Reads no samples.
Issues AdviseOnTake(const recording::ClipSource& clip, const model::Skeleton& skeleton,
                    const artefact::PoseTrack& pose, const artefact::ContactTrack& contact,
                    const DynamicEstimatorOptions& options = {}, const TakeNeeds& needs = {});

}  // namespace handhold::fitting

/// Turns a clip and what was fitted to it into ReportData: every figure of the page is computed
/// here, in this run.
///
/// Anything but the clip may be absent; what is absent is named in ReportData::missing. With
/// `truth` the fits are compared with what was planted and the hand is replayed on the surfaces
/// that were never recorded. Tests: tests/tools/report/fill_test.cc.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "database/artefact/contact_track.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/pose_track.h"
#include "database/artefact/provenance.h"
#include "database/base/result.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "tools/lab/truth.h"
#include "tools/report/report_data.h"

namespace handhold::report {

/// Not owned; must outlive the call.
struct ReportSources {
  const recording::ClipSource* clip = nullptr;  ///< required
  const model::Skeleton* skeleton = nullptr;  ///< the fitted one, which pose and trajectory belong
                                              ///< to
  const artefact::PoseTrack* pose = nullptr;
  const artefact::ContactTrack* contact = nullptr;
  artefact::ContactFrames contact_frames;  ///< of `contact`: laid out by FillReport
  /// Every estimator's fits; those of the trajectory when it is given and this is empty.
  std::vector<artefact::ComplianceFit> fits;
  const artefact::InteractionTrajectory* trajectory = nullptr;
  const model::Prop* surface = nullptr;  ///< that was touched
  geometry::RigidTransform X_WSurface;
  const lab::Truth* truth = nullptr;
  std::string truth_name;  ///< for people: its directory
  /// What the library answered to `peak(normal_force) > X N within 0.2 s of contact_on`, X at the
  /// quarters of the planted peaks: strokes of this clip by number.
  struct Answer {
    double more_than_N = 0.0;
    std::set<int64_t> strokes;
  };
  std::vector<Answer> answers;  ///< empty: not asked
  struct Step {
    artefact::Provenance provenance;
    std::string hash;
  };
  std::vector<Step> steps;
  std::vector<std::string> commands;  ///< that made this, in order
};

struct ReportOptions {
  int picture_width = 620, picture_height = 380;
  bool pictures = true;
  int max_strokes = 0;          ///< of each replay; 0: all. Fewer are said so on the page
  bool planted_replays = true;  ///< criterion 9's replay with planted values, too
  std::string tool = "handhold";
  Timestamp made_utc;
  /// Share done and what is being done; false cancels.
  std::function<bool(double, std::string_view)> progress;
};

/// Fails with kInvalid when sources do not belong together (a truth that does not fit the clip, a
/// pose of another hand), kCancelled, or as reading failed.
Result<ReportData> FillReport(const ReportSources& sources, const ReportOptions& options = {});

}  // namespace handhold::report

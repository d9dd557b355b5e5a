/// Finds in a library what a report of a clip is made of, and follows the lineage of its newest
/// result, so that everything on one page belongs together.
///
/// Nothing is fitted here. What is not there stays null; a result that is there and cannot be read
/// is an error. Tests: tests/tools/report/load_test.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/pipeline/step.h"
#include "tools/report/fill.h"

namespace handhold::report {

/// Owns what `sources` points at; not copyable, and `sources` is valid as long as it lives.
class LoadedReport {
 public:
  LoadedReport() = default;
  LoadedReport(LoadedReport&&) = default;
  LoadedReport& operator=(LoadedReport&&) = default;

  ReportSources sources() const;
  std::vector<std::string> chosen;  ///< what was picked where nothing was said, for stderr

  // Null where the library, or the lineage of the result chosen, has none.
  std::unique_ptr<recording::ClipSource> clip;
  std::unique_ptr<model::Skeleton> skeleton;
  std::unique_ptr<artefact::PoseTrack> pose;
  std::unique_ptr<artefact::ContactTrack> contact;
  std::unique_ptr<artefact::InteractionTrajectory> trajectory;
  std::unique_ptr<model::Prop> surface;
  geometry::RigidTransform X_WSurface;  ///< where the surface stood in the capture
  std::unique_ptr<lab::Truth> truth;
  std::string truth_directory;
  std::vector<ReportSources::Answer> answers;  ///< of the library, where truth knows better
  std::vector<ReportSources::Step> steps;
  std::vector<std::string> commands;
};

/// `clip`: id, beginning of one, or name. `trajectory`: artefact; empty: the clip's newest, else
/// the newest contact track or pose track that there is. `truth_directory`: as `lab make` wrote it;
/// empty: none. kNotFound without such a clip.
Result<LoadedReport> LoadReport(const pipeline::StepContext& context, const std::string& clip,
                                const std::string& trajectory, const std::string& truth_directory);

}  // namespace handhold::report

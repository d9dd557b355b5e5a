/// Scripted interaction trajectories as JSON files, and those that ship (schemas/references) by
/// name.
///
/// The file keeps what cannot be derived: a frame where something moves, angles to a millionth of a
/// radian, one compliance per velocity, one time constant. schemas/references/README.md is the
/// form. Pinned by tests/database/artefact/reference_file_test.cc.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "database/artefact/interaction_trajectory.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"

namespace handhold::artefact {

struct ReferenceFile {
  std::string name;    ///< "pinch_box_3x5x7"
  std::string source;  ///< who made it, and how
  /// The skeleton of ours that it is for, "hand27"; its mirror image where trajectory.hand is "L".
  std::string hand;
  std::string prop;                       ///< the prop of ours that it is for: "box_3x5x7"
  geometry::RigidTransform X_WProp = {};  ///< where that stands
  TimeRange hold = {};  ///< when hands alone should carry it; empty (0 length): they never should
  /// Whole: both references, dof names and planted compliances; skeleton_hash and provenance are
  /// the caller's.
  InteractionTrajectory trajectory = {};
};

/// kNotFound, kCorrupt, kVersion, or kInvalid with the member that is missing or wrong.
Result<ReferenceFile> LoadReferenceFile(const std::filesystem::path& path);
/// Frames that differ from both their neighbours by less than rounding are left out.
Status SaveReferenceFile(const ReferenceFile& reference, const std::filesystem::path& path);

/// The one of ours called `name`; kNotFound names near ones.
Result<ReferenceFile> LoadLibraryReference(const std::string& name);
/// Names that LoadLibraryReference takes, sorted.
Result<std::vector<std::string>> ReferenceNames();

}  // namespace handhold::artefact

/// Artefacts as tables that any program reads: CSV with units in the header.
#pragma once

#include <string>

#include "database/base/result.h"
#include "database/store/library.h"

namespace handhold::pipeline {

/// What `info` holds, as CSV. Numbers read back to the same bits; what is not known is empty.
///   pose_track              a line per frame: time_s, every coordinate, its sd where it is known
///   object_track            a line per frame: time_s, place, quaternion w x y z, residual
///   contact_track           a line per contact row: time_s, touch, sides, sensor, task, force on
///                           side a, moment, point, normal, offset, the joint torques of its frame
///   interaction_trajectory  a line per frame: time_s, captured and reference coordinates,
///                           compliances, time constant
///   motion                  a line per frame (export_motion.h); of `contacts`: its contact rows
///   any other               a line per member: its path, its value
/// kInvalid where `contacts` is asked of a kind without contact rows.
Result<std::string> ArtefactToCsv(const store::Library& library, const store::ArtefactInfo& info,
                                  bool contacts = false);

}  // namespace handhold::pipeline

/// Writes clips as C3D: floating point, Intel order, or 16-bit integers when asked.
///
/// C3D knows one rate of points, one integer multiple of it for everything analog, and one time
/// axis. Marker streams of one rate become points (residual and, from a stream "c3d/cameras", the
/// camera mask kept), force transducers become platforms of type 2 (calibrated, the reaction on the
/// hand, as C3D has it) and, where they were recorded as counts, those too as analog channels
/// "<sensor>.raw.<channel>"; analog channels and pressure cells become analog channels, rigid
/// bodies the ROTATION group, events the EVENT group. Samples are placed on the points' time axis
/// by the nearest sample; a device whose clock drifts against it is repeated or dropped a sample
/// here and there, which is counted. Whatever C3D cannot hold is an issue; kLoss when it is data,
/// kNote when it is said of them (subject, properties, quality).
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/recording/clip.h"

namespace handhold::exchange {

struct C3dWriteOptions {
  /// 16 bits per value: rounds, and says how much. Positions are at most 0.5 mm off, or
  /// kUnsupported.
  bool as_integers = false;
  std::vector<std::string> streams = {};  ///< by name; empty: all
  bool dry_run = false;                   ///< say what would be lost, write nothing
  /// Corners of force platforms, m, as C3D numbers them, by stream: what a sensor does not say of
  /// itself. Those that do not stand as their sensor does are not used.
  std::map<std::string, std::array<geometry::Vec3, 4>> corners_m = {};
  /// Asked every 2 s of the clip or sooner; false ends with kCancelled and leaves nothing behind.
  std::function<bool()> proceed = {};
};

struct ExportReport {
  std::vector<std::string> streams;  ///< that the file holds
  int64_t frames = 0;                ///< of points, or rows
  int64_t bytes = 0;                 ///< of the file; 0 in a dry run
  Issues issues;
};

/// kInvalid, with the nearest name, for the first of `names` that no stream of the clip has.
Status CheckStreamNames(const recording::ClipSource& clip, const std::vector<std::string>& names);

/// Fails with kInvalid (a stream that there is not, nothing to write, the file exists), kIo, or
/// what reading the clip says. The file appears whole or not at all. Memory: 2 s of
/// the clip, or 4 MB where that is more.
Result<ExportReport> WriteC3d(const recording::ClipSource& clip, const std::string& path,
                              const C3dWriteOptions& options = {});

}  // namespace handhold::exchange

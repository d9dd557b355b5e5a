/// The rig file: which devices stand in the laboratory, where, and what a take with them must hold.
///
/// TOML, checked against schemas/exchange/rig.schema.json; a wrong key is named with line, path and
/// the nearest right one. Reading it opens nothing: MakeSources builds the drivers, their Probe
/// looks for the devices. Units are in the keys ("offset_mm", "delay_ms") and SI inside. Guide with
/// one real wiring: capture/README.md.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/source/source.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/recording/clip.h"

namespace handhold::capture {

/// Where a force sensor stands and what is touched on it; what the device cannot know of itself.
struct RigSensor {
  std::string name;  ///< "plate"; of the source where the device gives none
  geometry::RigidTransform X_WS;
  geometry::Vec3 normal_S = geometry::Vec3::UnitZ();  ///< outward unit normal of the touched
                                                      ///< surface
  double sign = 1.0;                                  ///< -1: the device reports the reaction
  double full_scale_N = 0.0;                          ///< 0: as the device says
};

struct RigSource {
  std::string name;  ///< streams are "NAME/..."; unique in the rig
  enum class Kind { kVicon, kNetFt, kPlayback } kind = Kind::kVicon;
  std::string host;      ///< vicon, net_ft
  int port = 0;          ///< 0: the protocol's own
  std::string clip;      ///< playback: path of a .clip file; tools open it
  double speed = 1.0;    ///< playback
  double rate_Hz = 0.0;  ///< net_ft: asked of the device; 0: as it is set
  /// Constant delay from the physical instant to the earliest receipt, and its uncertainty: not
  /// observable from arrivals (clock_map.h).
  Duration delay, delay_sd;
  std::vector<std::string> required_streams;  ///< names without the source's; empty: all announced
  bool required = true;  ///< false: the take may start and go on without this source
  std::vector<RigSensor> sensors;
};

/// Limits beyond which health turns red; 0 or less: the built-in default (health.h).
struct RigLimits {
  double last_sample_age_s = 0.0;
  double jitter_p99_s = 0.0;
  double rate_error_fraction = 0.0;
  double visible_fraction = 0.0;
  double clock_residual_p99_s = 0.0;
  double ring_fill_fraction = 0.0;
  double disk_left_s = 0.0;
};

struct Rig {
  std::string name;
  std::string path;  ///< it was read from; provenance
  std::string text;  ///< of the file, verbatim: stored beside the samples
  std::vector<RigSource> sources;
  RigLimits limits;
  // Defaults of takes; verbs override them.
  std::string subject;  ///< a pseudonym
  std::string session, task, prop;
  Duration pre_roll, stop_after;  ///< 0: none
};

Result<Rig> ParseRig(std::string_view toml, const std::string& source_name);
Result<Rig> ReadRig(const std::string& path);

/// Opens a clip for a playback source: the tools' store::ClipReader, a test's Clip in memory.
using OpenClipSource =
    std::function<Result<std::shared_ptr<const recording::ClipSource>>(const std::string& path)>;

/// One driver per source, not yet probed or started. kUnsupported names a driver that this build
/// lacks.
Result<std::vector<std::unique_ptr<Source>>> MakeSources(const Rig& rig,
                                                         const OpenClipSource& open_clip = {});

}  // namespace handhold::capture

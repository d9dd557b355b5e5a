/// The rig file: which devices stand in the laboratory, where, and what a take with them must hold.
///
/// TOML, checked against schemas/exchange/rig.schema.json (which is built into the program); every
/// wrong key is named with line, path and the nearest right one. Reading it opens nothing:
/// make_sources.h builds the drivers, their Probe looks for the devices. Units are in the keys
/// ("position_mm", "delay_ms") and SI inside. Guide with one real wiring: capture/README.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/source/vicon_source.h"
#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/recording/clip.h"

namespace handhold::capture {

/// What a force sensor is mounted on and what is touched on it; what the device cannot know of
/// itself.
struct RigSensor {
  std::string name;        ///< "plate"; of the source where the device gives none
  std::string mounted_on;  ///< a thing of the rig; empty: the laboratory
  geometry::RigidTransform X_MS;
  geometry::Vec3 normal_S = geometry::Vec3::UnitZ();  ///< outward unit normal of the touched
                                                      ///< surface
  double sign = 1.0;                                  ///< -1: the device reports the reaction
  double full_scale_N = 0.0;                          ///< 0: as the device says
};

struct RigSource {
  std::string name;  ///< streams are "NAME/..."; unique in the rig
  enum class Kind { kVicon, kNetFt, kPlayback } kind = Kind::kVicon;
  std::string host;  ///< vicon, net_ft
  int port = 0;      ///< vicon, net_ft (of RDT); 0: the protocol's own
  // vicon
  ViconAxis x = ViconAxis::kForward, y = ViconAxis::kLeft, z = ViconAxis::kUp;
  bool unlabelled = true, devices = true;
  // net_ft
  int http_port = 0;     ///< 0: the protocol's own
  double rate_Hz = 0.0;  ///< asked of the device; 0: as it is set
  bool buffered = false, bias_on_start = false;
  // playback
  std::string clip;  ///< path of a .clip file, from the rig file's folder; tools open it
  double speed = 1.0;
  bool loop = false;
  /// Constant delay from the physical instant to the earliest receipt, beyond what the device
  /// reports, and its uncertainty: not observable from arrivals (clock_map.h).
  Duration delay, delay_sd;
  /// Names without the source's (of playback: whole names); empty: all announced.
  std::vector<std::string> required_streams;
  bool required = true;  ///< false: the take may start and go on without this source
  std::vector<RigSensor> sensors;
  int line = 0;  ///< of the file, for messages
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
  std::string session, task;
  std::vector<recording::Thing> things;  ///< checked: recording::CheckThings
  Duration pre_roll, stop_after;         ///< 0: none

  /// What `--rig` says for it: its path, or the name of a built-in one.
  std::string Word() const;
  const RigSource* Find(std::string_view source) const;  ///< null when there is none
  /// A take's beginning: subject, session, task and things.
  recording::ClipInfo TakeInfo() const;
};

/// `source_name` begins the messages: "lab.toml:12: /source/0: unknown key 'adress': did you mean
/// ..."; kInvalid lists every breach of the schema, at most 20, or the first thing wrong beyond it
/// (a name used twice, a normal that is no unit vector, a rotation that is none).
Result<Rig> ParseRig(std::string_view toml, const std::string& source_name);
Result<Rig> ReadRig(const std::string& path);

/// The rigs of schemas/rigs, built into the program: "demo" (the simulated laboratory on loopback)
/// and "lab" (a real wiring, to copy).
std::vector<std::string> BuiltInRigNames();
/// Its TOML; empty when there is none of that name.
std::string_view BuiltInRigText(std::string_view name);
/// What `--rig` says: a file when there is one of that path, else a built-in rig. kNotFound names
/// what there is.
Result<Rig> FindRig(const std::string& path_or_name);

std::string_view RigSourceKindName(RigSource::Kind kind);  ///< as in the file: "net_ft"

}  // namespace handhold::capture

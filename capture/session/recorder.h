/// Records a take: from armed sources to a clip that is safely stored, with nothing lost in
/// silence.
///
/// sources (a thread each) -> one lock-free ring per source (15 s) -> encoder thread ->
/// store::ClipWriter. A source's thread only copies into its ring: when the ring is full the loss
/// is counted and becomes a Gap of cause kRingOverflow. States go configured -> checked -> armed ->
/// recording -> stored (-> armed again); a call in the wrong state is kInvalid and changes nothing.
/// The public functions are called from one controlling thread; Health() and Acknowledge() from
/// any.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capture/session/health.h"
#include "capture/source/source.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/recording/clip.h"

namespace handhold::capture {

/// What the recorder needs to know of a source beyond what the device says.
struct RecordedSource {
  std::unique_ptr<Source> source;
  bool required = true;
  std::vector<std::string> required_streams;  ///< full stream names; empty: all announced at Check
  Duration delay, delay_sd;                   ///< into ClockMap::constant_delay_ns
  /// Pose, normal, sign, full scale over what the device says, by sensor name.
  std::vector<recording::ForceSensor> sensor_overrides;
};

struct RecorderOptions {
  HealthLimits limits;
  /// At least this much of every stream: as long as the disk (or the machine) may stand still.
  /// 9 MB per second of 60 markers at 1 kHz, 24 x 2 kHz and two 7 kHz force sensors.
  Duration ring = Duration::Seconds(15);
  Duration probe_timeout = Duration::Seconds(5);
  Duration pre_roll;    ///< kept while armed, begins the take
  Duration stop_after;  ///< 0: until Stop
  /// Stalls the encoder before a commit, for this long: fault injection only.
  std::function<Duration()> injected_stall = {};
  std::string vfs;  ///< tests: an SQLite VFS that fails
  /// The host clock, by which sources stamp their packets too; tests and soak runs bring their own.
  std::function<Timestamp()> now = HostNow;
  /// Bytes left on the disk of a path; tests bring their own.
  std::function<int64_t(const std::string& path)> free_bytes = {};
};

/// One source or stream as Check found it.
struct CheckLine {
  std::string source, stream;  ///< stream empty: of the source
  bool ok = false;
  bool required = true;
  std::string text;                       ///< what was found, or cause and fix
  ErrorCode code = ErrorCode::kNotFound;  ///< when not ok; kBusy: another program holds the device
};

/// Where takes go: the tools give the library's functions; capture does not choose a library.
struct TakeTarget {
  /// Completes id, name and take number, and says where the file goes. Never an existing file.
  std::function<Result<std::pair<recording::ClipInfo, std::string>>(recording::ClipInfo)> new_take;
  /// Where the files will be, for the disk time left before the first take; may be empty. Where it
  /// exists, Arm tries whether anything can be written there.
  std::string directory = {};
  /// After the clip is closed: catalogue it. May be empty.
  std::function<Status(const recording::ClipInfo&, const std::string& path)> stored = {};
};

struct TakeResult {
  recording::ClipInfo info;
  std::string path;
  Duration length;
  bool closed = false;   ///< compacted and verified; false: what reached the disk is kept as it
                         ///< was recorded, `page` says what is left to do
  bool readable = true;  ///< the file was opened again when all was done
  recording::QualityRecord quality;
  std::vector<recording::Gap> gaps;
  /// One page for the operator: streams, losses, clocks, and whether to keep it.
  std::string page;
};

class Recorder {
 public:
  static Result<std::unique_ptr<Recorder>> Make(std::vector<RecordedSource> sources,
                                                TakeTarget target, RecorderOptions options);
  virtual ~Recorder() = default;  ///< stops sources; a take in progress is closed in order

  /// Probes every source. Lines in the order of the rig; state becomes checked when every required
  /// one is ok. `cancelled`, asked often in the calling thread, ends it within a second:
  /// kCancelled.
  virtual Result<std::vector<CheckLine>> Check(const std::function<bool()>& cancelled = {}) = 0;
  /// The streams that the last Check found, of all sources.
  virtual std::vector<recording::StreamInfo> FoundStreams() const = 0;
  /// Refused while takes could not be stored (kIo, with the folder). Starts the sources; samples
  /// flow through the rings and the newest `pre_roll` of them is kept.
  virtual Status Arm() = 0;
  /// Begins a take with what the pre-roll holds. Refused, naming what is missing, while a required
  /// stream is not flowing.
  virtual Status Start(recording::ClipInfo info) = 0;
  /// Ends the take, drains, fits clocks, writes quality, compacts, catalogues. Back in armed after.
  /// `storing`: told the share of the compaction that is done, from this thread.
  virtual Result<TakeResult> Stop(const std::function<void(double share)>& storing = {}) = 0;
  /// True when stop_after has passed, or the file cannot be written and a ring is three quarters
  /// full: call Stop.
  virtual bool wants_stop() const = 0;
  virtual Status Disarm() = 0;  ///< stops the sources; state checked

  /// An event of the running take at host time `at` (default: now). Kept when recording only.
  virtual Status Mark(recording::Event event, Timestamp at_host) = 0;
  virtual HealthSnapshot Health() const = 0;
  /// Clears stickiness of what is red now, here and in the quality record (acknowledged = true).
  virtual void Acknowledge() = 0;
};

}  // namespace handhold::capture

/// Writes one clip file: what Append acknowledged survives a killed process and, synced, a power
/// cut.
///
/// One writer per file, called by one thread. The writer encodes and commits; it does not buffer
/// beyond the chunk in progress and starts no thread but its checkpointer's. Format:
/// schemas/README.md.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/recording/clip.h"

namespace handhold::store {

struct ClipWriterOptions {
  Duration chunk = Duration::Milliseconds(100);     ///< length of a chunk while recording
  Duration compacted_chunk = Duration::Seconds(2);  ///< after Close
  bool lossless = false;                            ///< ignore quanta: keep every bit (imports)
  /// An import or a derived result: chunks of `compacted_chunk` are written directly into
  /// `<path>.part`, which becomes `path`, synced, at Close; nothing is durable before that, and
  /// nothing is left behind without it.
  bool already_complete = false;
  bool is_artefact = false;  ///< a derived result, not a recording
  std::string vfs;           ///< tests: an SQLite VFS that fails; empty: the system's
};

/// What is safe: every sample of the stream with index < durable_index is on disk.
struct Durable {
  int stream_id = 0;
  int64_t durable_index = 0;
  Timestamp newest_host;  ///< host receive time of the newest durable packet
};

/// How the file behind a recording is doing; for health records.
struct WriterHealth {
  int64_t log_bytes = 0;    ///< of the write-ahead log; normally below 16 MB
  std::string log_held_by;  ///< when it cannot be emptied: the processes that read the clip, by id;
                            ///< else empty
  int64_t commits = 0;
  Duration worst_commit;  ///< since the writer was created
};

class ClipWriter {
 public:
  /// Creates the file; fails with kBusy when it exists (takes never overwrite) or is held by
  /// another writer (a lock on
  /// `<path>-lock`, which a killed process loses).
  static Result<std::unique_ptr<ClipWriter>> Create(const std::string& path,
                                                    const recording::ClipInfo& info,
                                                    const ClipWriterOptions& options);
  virtual ~ClipWriter() = default;

  /// Adds a stream (or the next epoch of one: the epoch is set to the number of streams of that
  /// name before it); info.id is set by the writer and returned. Durable when it returns, as are
  /// all of these but gaps and clock pairs, which are committed with the next samples.
  virtual Result<int> AddStream(const recording::StreamInfo& info) = 0;
  virtual Status AddForceSensor(const recording::ForceSensor& sensor) = 0;
  virtual Status AddEvent(const recording::Event& event) = 0;
  /// A gap whose clip_begin and clip_end are both 0 is placed in time at Close, under the map known
  /// then.
  virtual Status AddGap(const recording::Gap& gap) = 0;
  virtual Status AddClockPairs(int stream_id, std::span<const recording::ClockPair> pairs) = 0;
  /// What AddClockPairs took with counters in [begin, end), committed or not: a fit to fewer of
  /// them looks again where it matters. Precondition: the stream's counters ascend. Some
  /// milliseconds.
  virtual Result<std::vector<recording::ClockPair>> ClockPairs(int stream_id, int64_t begin,
                                                               int64_t end) = 0;
  /// Sets or replaces the fitted map of a stream (again at close, when it is known best). Without
  /// one, readers use an offset from the earliest raw pair.
  virtual Status SetClockMap(int stream_id, const recording::ClockMap& map) = 0;
  virtual Status SetQuality(const recording::QualityRecord& quality) = 0;
  virtual Status SetInfo(const recording::ClipInfo& info) = 0;
  /// A named byte string beside the samples (artefacts: their JSON); at most 32 MB. Replaces one of
  /// the same name.
  virtual Status PutDocument(const std::string& name, std::span<const uint8_t> data) = 0;

  /// Takes samples. When the stream that led the last commit has a chunk's length of them again (or
  /// another one has half as much more), what all streams hold is encoded and committed in one
  /// transaction before this returns: one sync per 0.1 s whatever the number of streams, and no
  /// stream lags another. A stream with clock pairs leads again after half a chunk of the host's
  /// time at the soonest, however fast its samples come. On error nothing of this block was taken:
  /// pass it again later (a full disk). kInvalid: its shape does not fit the stream, its counter
  /// runs backwards, or first_index is not the next index. A counter jump that no AddGap named
  /// (same first missing counter) is recorded as a gap of cause kDeviceSkipped.
  virtual Status Append(const recording::SampleBlock& block) = 0;
  /// Commits what has been taken: chunks that are due (after an error) and, when `partial`,
  /// unfinished ones too.
  virtual Status Commit(bool partial) = 0;
  virtual Result<std::vector<Durable>> durable() const = 0;
  virtual WriterHealth health() const = 0;

  /// Compacts into a second file of 2 s chunks, re-reads and compares every value, then puts it in
  /// the first one's place by rename: at every instant one whole file exists under the name. Writes
  /// zone maps and digests; one file remains, readable from read-only media. Readers that watch the
  /// recording go on in what they have open; a read transaction from before the last commit is
  /// waited for 5 s, then kBusy names its process. After an error (that, or a full disk) the
  /// recording is still there and Close may be called again. A writer destroyed without
  /// Close leaves a file that opens as it is; FinishClip closes it later.
  ///
  /// `progress` is told the share of the compaction that is done, 0 .. 1 and ascending, some times
  /// per second of recording; from this thread.
  virtual Status Close(const std::function<void(double share)>& progress = {}) = 0;
};

/// Closes a recording whose writer died: what Close would have done, marked `recovered`. kBusy
/// while its writer lives.
Status FinishClip(const std::string& path, const ClipWriterOptions& options = {});

/// Writes any source as a clip: imports, synthetic takes. Stream ids of the clip are 1, 2, ... in
/// the source's order. `documents` are put beside the samples.
Status WriteClip(const recording::ClipSource& clip, const std::string& path,
                 const ClipWriterOptions& options,
                 const std::map<std::string, std::vector<uint8_t>>& documents = {});

}  // namespace handhold::store

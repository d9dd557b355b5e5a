/// Writes one clip file: what Append acknowledged survives a killed process and, synced, a power
/// cut.
///
/// One writer per file, called by one thread. The writer encodes and commits; it does not buffer
/// beyond the chunk in progress and starts no thread but its checkpointer's. Format:
/// schemas/README.md.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "database/base/result.h"
#include "database/recording/clip.h"

namespace handhold::store {

struct ClipWriterOptions {
  Duration chunk = Duration::Milliseconds(100);     ///< length of a chunk while recording
  Duration compacted_chunk = Duration::Seconds(2);  ///< after Close
  bool lossless = false;                            ///< ignore quanta: keep every bit (imports)
  bool already_complete = false;  ///< an import: write 2 s blobs directly, sync once at Close
};

/// What is safe: every sample of the stream with index < durable_index is on disk.
struct Durable {
  int stream_id = 0;
  int64_t durable_index = 0;
  Timestamp newest_host;  ///< host receive time of the newest durable packet
};

class ClipWriter {
 public:
  /// Creates the file; fails with kBusy when it exists (takes never overwrite) or is held by
  /// another writer.
  static Result<std::unique_ptr<ClipWriter>> Create(const std::string& path,
                                                    const recording::ClipInfo& info,
                                                    const ClipWriterOptions& options);
  virtual ~ClipWriter() = default;

  /// Adds a stream (or the next epoch of one); info.id is set by the writer and returned.
  virtual Result<int> AddStream(const recording::StreamInfo& info) = 0;
  virtual Status AddForceSensor(const recording::ForceSensor& sensor) = 0;
  virtual Status AddEvent(const recording::Event& event) = 0;
  virtual Status AddGap(const recording::Gap& gap) = 0;
  virtual Status AddClockPairs(int stream_id, std::span<const recording::ClockPair> pairs) = 0;
  /// Sets or replaces the fitted map of a stream (again at close, when it is known best).
  virtual Status SetClockMap(int stream_id, const recording::ClockMap& map) = 0;
  virtual Status SetQuality(const recording::QualityRecord& quality) = 0;
  virtual Status SetInfo(const recording::ClipInfo& info) = 0;

  /// Takes samples; those that fill a chunk are encoded and committed before it returns.
  virtual Status Append(const recording::SampleBlock& block) = 0;
  /// Commits all complete chunks and, when `partial`, the unfinished ones too.
  virtual Status Commit(bool partial) = 0;
  virtual Result<std::vector<Durable>> durable() const = 0;

  /// Compacts to 2 s chunks (originals dropped only after a verified re-read), writes digests,
  /// checkpoints, leaves one read-only file. A writer destroyed without Close leaves a file that
  /// opens as it is: `recovered` in its info.
  virtual Status Close() = 0;
};

/// Writes any source as a clip: imports, synthetic takes.
Status WriteClip(const recording::ClipSource& clip, const std::string& path,
                 const ClipWriterOptions& options);

}  // namespace handhold::store

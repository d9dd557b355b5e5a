/// A recording in somebody else's format, read forward once in bounded memory: what importing needs
/// of any format.
///
/// Everything but the samples (and gaps at the end) is known after opening; the samples then come
/// as blocks, ready for store::ClipWriter::Append or recording::Clip::Append. What could not be
/// kept, or was guessed, is in issues(): reading goes on. An ImportSource is used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/recording/clip.h"

namespace handhold::exchange {

/// Takes a block; an error ends the reading and is what ForEachBlock returns. The block is reused:
/// copy what is to outlive the call.
using BlockVisitor = std::function<Status(const recording::SampleBlock&)>;

class ImportSource {
 public:
  virtual ~ImportSource() = default;

  /// "c3d", "csv", "qtm-tsv": the format found.
  virtual std::string_view format() const = 0;
  /// Name, start and what the file says of its making. `subject` is empty: a file may hold a
  /// person's name, a clip may not; who imports gives the pseudonym.
  virtual const recording::ClipInfo& info() const = 0;
  /// Ids are 1, 2, ... in order.
  virtual const std::vector<recording::StreamInfo>& streams() const = 0;
  /// Device time to clip time, exact.
  virtual const recording::ClockMap& clock_map(int stream_id) const = 0;
  virtual const std::vector<recording::ForceSensor>& force_sensors() const { return none_; }
  virtual const std::vector<recording::Event>& events() const { return no_events_; }
  /// What the file says is missing. Those at the end, of samples that it promises and does not
  /// hold, may only be known, and appended, after ForEachBlock.
  virtual const std::vector<recording::Gap>& gaps() const { return no_gaps_; }
  virtual const recording::QualityRecord& quality() const { return no_quality_; }
  /// What of the file fits no stream, kept beside the samples, by name.
  virtual const std::map<std::string, std::vector<uint8_t>>& documents() const {
    return no_documents_;
  }
  /// What was found so far; complete after ForEachBlock.
  virtual const Issues& issues() const = 0;
  /// Bytes of the file, for progress and throughput.
  virtual int64_t bytes() const = 0;

  /// All samples from the beginning, in order of time, streams interleaved in spans of at most
  /// `span` (and at least one sample). May be called again. Memory: bounded by the implementation,
  /// not by the file.
  virtual Status ForEachBlock(Duration span, const BlockVisitor& visit) = 0;

 private:
  std::vector<recording::ForceSensor> none_;
  std::vector<recording::Event> no_events_;
  std::vector<recording::Gap> no_gaps_;
  recording::QualityRecord no_quality_;
  std::map<std::string, std::vector<uint8_t>> no_documents_;
};

/// The gap that is left where a file promises `count` > 0 samples more than it holds, from counter
/// `first_missing` on; placed by the stream's clock, in clips that begin at host time 0. A promise
/// beyond 100 years is cut to that.
recording::Gap GapAtEnd(const recording::StreamInfo& stream, const recording::ClockMap& clock,
                        int64_t first_missing, int64_t count);

/// The whole file in memory: for short takes and tests.
Result<recording::Clip> ReadWhole(ImportSource& source);

}  // namespace handhold::exchange

/// One take being written: records of the rings become blocks, gaps and clock pairs of a clip file.
///
/// Used by one thread at a time, which may stall in it for as long as the disk does. A call that
/// fails took nothing: it may be made again with the same record.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/clock/clock_fit.h"
#include "capture/session/ring.h"
#include "capture/session/ring_sink.h"
#include "database/base/result.h"
#include "database/recording/clip.h"
#include "database/store/clip_writer.h"

namespace handhold::capture {

/// What the take needs to know of a source.
struct TakeSource {
  std::string name;
  Duration delay, delay_sd;
};

/// How much slower than its nominal rate a device samples, by when its packets come. A packet may
/// be late: the least late of each fifth of a second counts, and the median of how these move, so
/// that a stall or a burst changes nothing. Pinned by tests/capture/session/take_pace_test.cc.
class Pace {
 public:
  /// `nominal_s`: the instant that a sample would have at the nominal rate; `late_s`: how much
  /// later its packet came. Ascending; one thread, no allocation.
  void Add(double nominal_s, double late_s);
  /// Seconds lost per nominal second; 0 until a second has been seen.
  double slope() const { return slope_; }
  /// How late a packet that was not held up would be there, at this slope.
  double LeastLate(double nominal_s) const;

 private:
  struct Least {
    double nominal_s = 0.0, late_s = 0.0;
  };
  static constexpr size_t kSlices = 64;  ///< the newest 13 s
  std::array<Least, kSlices> slices_{};
  size_t count_ = 0;  ///< closed ones and the open one, since the beginning
  double opened_s_ = 0.0;
  double slope_ = 0.0;
};

class Take {
 public:
  /// Samples whose instant lies in [begin, end) on the host clock belong to the take.
  Take(std::unique_ptr<store::ClipWriter> writer, std::vector<TakeSource> sources, Timestamp begin,
       Timestamp end);

  /// The streams of `source` are these from here on. A stream that is as before goes on; one whose
  /// channels or whose sensor changed (another calibration) begins its next epoch. No two sources
  /// share a stream's name. `sensors`: with stream ids of the announcement (1 + index).
  Status Streams(size_t source, const RingSink::Announcement& announcement,
                 const std::vector<recording::ForceSensor>& sensors);
  /// kRefused: samples of the take that its file cannot hold (noted, a gap where it can be one).
  enum class Taken { kYes, kNotTheTakes, kRefused };
  Result<Taken> Samples(size_t source, const RingRecord& record);
  /// Before Samples of the same record: what its stream misses up to it and no gap told. Sources
  /// tell of the streams that they have; this one was not announced meanwhile. Stored as a gap;
  /// returns how many samples, and 0 when the call is made again.
  Result<int64_t> UntoldGap(size_t source, const RingRecord& record);
  /// How many of the missing samples are the take's.
  Result<int64_t> Gap(size_t source, const RingRecord& record);
  /// The source's own word that its clock starts anew: the map gets a segment there.
  void ClockReset(size_t source, const RingRecord& record);
  Status Event(const recording::Event& event) { return writer_->AddEvent(event); }
  /// Commits what has waited for 0.1 s although no stream has filled a chunk: the streams fell
  /// silent.
  Status CommitWhatWaits(Timestamp now);

  void Note(std::string text) { notes_.push_back(std::move(text)); }  ///< a line of the page
  /// Streams whose first sample came more than a second after the begin, and by how much: no gap
  /// can say it, since nobody knows the counter that the begin would have had.
  std::vector<std::pair<std::string, Duration>> LateBegins() const;
  /// From `end` on nothing is taken any more.
  void EndAt(Timestamp end) { end_ = std::min(end_, end); }
  /// Whether of a stream that flowed within 0.5 s of the end more than its last packet is not here:
  /// the next one, which is on its way or never comes, says whether its samples are late (then they
  /// are taken) or lost.
  bool AwaitsMore() const;
  /// Streams that fell silent before the end, by more than a packet, get a gap up to it. Returns
  /// how long, by name.
  Result<std::vector<std::pair<std::string, int64_t>>> AddTrailingGaps();
  /// Fits and stores the clock map of every stream as known now, so that a recorder that dies
  /// leaves true times. Cost: some milliseconds per stream, and a sync.
  Status FitClocks();
  /// Ends the take: clock maps of every stream, quality; everything is on disk when it returns.
  /// Compaction is ClipWriter::Close.
  Status Finish(const recording::QualityRecord& quality);

  Timestamp begin() const { return begin_; }
  Timestamp end() const { return end_; }
  store::ClipWriter& writer() { return *writer_; }
  std::unique_ptr<store::ClipWriter> TakeWriter() { return std::move(writer_); }
  /// Newest received minus newest committed, of the stream where it is longest.
  Duration durable_age() const;
  /// Samples that the writer took and that are not on disk, by stream.
  std::vector<std::pair<std::string, int64_t>> uncommitted() const;
  int64_t bytes_taken() const { return bytes_taken_; }
  /// What could not be placed otherwise: refused blocks, by cause.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Of a stream, under the name it has in the clip.
  struct ClockSummary {
    std::string stream;
    recording::ClockMap map;
    std::vector<ClockBreak> breaks;
  };
  const std::vector<ClockSummary>& clocks() const { return clocks_; }

 private:
  /// A device clock as one stream sees it; its epochs share it.
  struct Track {
    explicit Track(recording::Rate r) : rate(r) {}
    /// The whole take: 11 minutes in slices of 20 ms, 8 hours in slices of 0.6 s or 1.3 s.
    ClockPairThinner thinner{Duration::Milliseconds(20), 16384,
                             ClockPairThinner::WhenFull::kCoarsen};
    std::vector<ToldBreak> told_breaks;
    recording::Rate rate;
  };
  struct Stream {
    size_t source = 0;
    recording::StreamInfo info;  ///< as written
    recording::SampleBlock block;
    bool any = false;  ///< samples of it are in the take
    int64_t next_counter = 0;
    int64_t told_to = 0;  ///< gaps are told up to here
    int64_t newest_host_ns = 0;
    Timestamp begins;          ///< instant of its first packet
    Timestamp next_due;        ///< instant of next_counter, by the newest packet
    Duration packet;           ///< how much the newest packet held
    int64_t goes_on_at = -1;   ///< first counter received after the end; -1: none
    bool starts_anew = false;  ///< its clock: the next packet says when the next is due
    Pace pace;
    std::vector<recording::ForceSensor> sensors;  ///< told to the writer, ids of the file
    std::shared_ptr<Track> track;
    Stream* previous = nullptr;  ///< the epoch before whose counters it goes on with; null: none
  };

  /// A sensor of this name was told for the stream; null: none.
  static const recording::ForceSensor* SensorOf(const Stream& stream, const std::string& name);
  Result<Stream*> AddStream(size_t source, recording::StreamInfo info);
  Stream* Find(size_t source, int number);
  Timestamp InstantOf(size_t source, const RingRecord& record) const;
  bool Holds(size_t source, const RingRecord& record, Stream& stream) const;
  static Timestamp DueAt(const Stream& stream, int64_t counter);
  /// How long before the end a sample may be due that nobody misses: the packet that the end cuts.
  static Duration Slack(const Stream& stream);
  /// Nothing is known of its samples that were due well before the end.
  bool Silent(const Stream& stream) const;
  int64_t MissingAtEnd(const Stream& stream, int64_t first) const;
  bool IsNewest(const Stream& stream) const;
  /// Places found breaks of a clock to the packet, by the raw pairs that are in the file.
  void LocateBreaks(const Track& track, ClockFit* fit);
  void NoteOnce(const std::string& text);
  void NoteTime(size_t source, const RingRecord& record, Stream* stream);

  std::unique_ptr<store::ClipWriter> writer_;
  const std::vector<TakeSource> sources_;
  const Timestamp begin_;
  Timestamp end_;
  std::vector<std::unique_ptr<Stream>> streams_;  ///< by id - 1
  std::vector<std::map<int, Stream*>> numbers_;   ///< per source: its stream number -> stream
  Timestamp oldest_waiting_;
  int64_t commits_seen_ = 0;
  int64_t bytes_taken_ = 0;
  std::vector<std::string> notes_;
  std::vector<ClockSummary> clocks_;
};

}  // namespace handhold::capture

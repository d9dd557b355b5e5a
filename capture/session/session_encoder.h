/// The working half of the recorder: empties the rings, writes the take, measures.
///
/// Two threads of its own: the encoder, which may stall in the disk, and the watch, which does not,
/// so that a stall is seen while it lasts. The controlling thread calls the rest; a call may wait
/// for the encoder's pass to end. The lock is never taken by a source's thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capture/session/feed.h"
#include "capture/session/health_board.h"
#include "capture/session/recorder.h"
#include "capture/session/take.h"

namespace handhold::capture {

class SessionEncoder {
 public:
  SessionEncoder(std::vector<std::unique_ptr<Feed>>* feeds, const RecorderOptions& options,
                 std::string directory);
  ~SessionEncoder() { Stop(); }

  void Start();
  void Stop();  ///< joins; no take may be running

  /// The instant a take begins at when it is started now: of the oldest kept sample within the
  /// pre-roll, or now. From here on the rings let nothing go, so that what comes while the take's
  /// file is made (a slow disk: seconds) belongs to it; until BeginTake, or LetGo when there will
  /// be none.
  Timestamp TakeBegin();
  void LetGo();
  /// From here on records belong to the take, what is kept of the pre-roll first.
  Status BeginTake(std::unique_ptr<Take> take, const std::string& path, const std::string& name);
  /// Takes in what the rings hold up to now, completes the take (all but its compaction) and hands
  /// it over. What the disk did not accept within `patience` is in `lost`.
  struct Ended {
    std::unique_ptr<Take> take;
    recording::QualityRecord quality;
    std::vector<StreamFigures> figures;
    std::vector<std::pair<std::string, SourceHealth>> sources;
    std::vector<std::string> notes;
    std::map<std::string, int64_t> unwritten;  ///< of the rings' samples, by stream
    Timestamp end;
  };
  Ended EndTake(Duration patience);

  Status Mark(recording::Event event, Timestamp at_host);
  /// Why streams of `names` of the feed do not flow; empty: all do.
  std::string NotFlowing(const Feed& feed, const std::vector<std::string>& names);
  HealthSnapshot Health() const;
  void Acknowledge();
  bool wants_stop() const;

 private:
  void EncoderLoop();
  void WatchLoop();
  /// Everything that the rings hold now, or up to some ten thousand records of each.
  void Pass();
  /// Up to `until`, or without one as far as a pass goes. On an error the record is not consumed.
  Status Drain(Feed& feed, const RecordRing::Position* until);
  Status Handle(Feed& feed, const RingRecord& record);
  Status HandleStreams(Feed& feed, const RingRecord& record, Take* take);
  void HandleState(Feed& feed, const RingRecord& record);
  /// While armed: what is older than the pre-roll may be overwritten, and what would leave new
  /// samples less than a quarter of the ring.
  void ReleaseOld(Feed& feed, Timestamp now);
  Status WriteEvents();
  /// Every 10 s of a take: quality, and more and more seldom the clock maps.
  void WriteQuality(Timestamp now);
  /// The file cannot be written, or can again: seen in health, and by wants_stop when the rings
  /// will not hold what comes for long.
  void NoteTrouble(const Status& status);
  /// What the rings hold up to `until` is lost: into the figures and the notes.
  void CountUnwritten(Feed& feed, const RecordRing::Position& until, Ended& ended);
  /// What the writer took and could not commit is lost: into the figures and the notes.
  void CountUncommitted(Ended& ended);
  /// Takes in what was held up on its way when the take ended, at most 0.5 s.
  Status WaitForTheLate();
  /// Copies what the watch needs; with the work lock.
  void PublishFigures();
  /// One look at everything; without the work lock.
  void Judge(Timestamp now);
  double DiskLeft_s(const std::string& path, double bytes_per_second, int64_t bytes) const;
  static SourceHealth Since(const SourceHealth& now, const SourceHealth& then);

  std::vector<std::unique_ptr<Feed>>& feeds_;
  const RecorderOptions options_;
  const std::string directory_;

  std::thread encoder_, watch_;
  std::atomic<bool> stop_{false};

  mutable std::mutex work_;  ///< guards feeds and take: held by the encoder for a pass
  /// The end that was asked for: known to an encoder that waits for the disk with the work lock.
  std::atomic<int64_t> end_ns_{INT64_MAX};
  std::unique_ptr<Take> take_;
  bool keep_all_ = false;  ///< a take is about to begin
  StreamNames names_, sensor_names_;
  Timestamp quality_written_, clocks_due_, figures_made_;

  mutable std::mutex events_mutex_;
  std::vector<recording::Event> events_;

  /// What the encoder last measured.
  struct Published {
    struct Stream {
      StreamFigures figures;
      NewestSample newest;
      size_t feed = 0;
      int number = 0;
    };
    std::vector<Stream> streams;
    std::vector<std::pair<bool, std::string>> states;  ///< per feed
    std::vector<Timestamp> armed_at;
    Duration durable_age;
    Timestamp take_begin, take_end;
    double nominal_bytes_per_second = 0;
    bool in_take = false;
  };
  mutable std::mutex published_mutex_;
  Published published_;
  std::string trouble_, take_name_, path_;
  Timestamp trouble_since_;
  std::atomic<double> fullest_{0.0};  ///< share of a ring unread, at the watch's last look

  mutable std::mutex health_mutex_;
  HealthBoard board_;
  HealthSnapshot snapshot_;
};

}  // namespace handhold::capture

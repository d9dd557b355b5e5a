/// A source's Sink that writes into a ring: what does not fit is counted, and said as a gap of
/// cause kRingOverflow as soon as there is room. Nothing but samples is ever lost for want of room:
/// gaps, clock resets and the newest state wait, and samples go on only behind them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "capture/session/ring.h"
#include "capture/source/source.h"

namespace handhold::capture {

/// Bytes that a second of these streams takes in a ring, at their nominal rates and one packet per
/// sample (the most costly case). Ragged streams are taken for 64 points a sample.
double RingBytesPerSecond(std::span<const recording::StreamInfo> streams);

class RingSink final : public Sink {
 public:
  /// `length`: of every announced stream the ring holds at least this much. `now`: the host clock
  /// of the session. `source`: asked for its sensors at each announcement, in its own thread.
  explicit RingSink(Duration length, std::function<Timestamp()> now = HostNow,
                    const Source* source = nullptr);

  // The source's thread.
  int OnStreams(std::span<const recording::StreamInfo> streams) override;
  void OnSamples(const SampleView& samples) noexcept override;
  void OnGap(int stream, int64_t first, int64_t count, recording::GapCause cause) noexcept override;
  void OnClockReset(int stream, int64_t first_counter) noexcept override;
  void OnState(bool connected, std::string_view text) noexcept override;

  // The encoder's thread.
  /// Where its first record is or will be.
  RecordRing::Position begin() const { return {first_.get(), 0}; }
  /// The `index`-th announcement: its streams, the number of the first of them, and the sensors as
  /// they were then (a device that returns may have another calibration).
  struct Announcement {
    int base = 0;
    std::vector<recording::StreamInfo> streams;
    std::vector<recording::ForceSensor> sensors;
  };
  const Announcement& announcement(int index) const;

  // Any thread.
  /// Receive time of the newest sample of `stream` that the source has delivered, ns; 0: none yet.
  /// A sample that found no room counts as delivered.
  int64_t newest_host_ns(int stream) const;
  /// Samples that found no room, of all streams, since the beginning.
  int64_t overflowed_samples() const { return overflowed_.load(std::memory_order_relaxed); }
  /// Gaps, resets and states that still wait for room: 0 once the ring has said everything.
  int waiting() const { return waiting_.load(std::memory_order_acquire); }
  /// Clock resets of all streams that were told; each arrives, but that resets of a stream without
  /// a sample between them arrive as the last of them.
  int64_t resets_told() const { return resets_.load(std::memory_order_relaxed); }
  /// Largest share of the ring unread since the last call, of what samples may use; what is kept as
  /// pre-roll does not count.
  double TakeFullest();
  /// Where the next record will be written.
  RecordRing::Position end() const;

 private:
  static constexpr int kWaitingGaps = 16;
  static constexpr size_t kMostStateText = 512;
  struct Missing {
    int64_t first = 0, end = 0;
    recording::GapCause cause = recording::GapCause::kRingOverflow;
  };
  /// What the producer keeps per stream. A fixed list of gaps; when it is full the last one grows
  /// over what lies between.
  struct StreamState {
    Missing missing[kWaitingGaps];
    int missing_count = 0;
    /// A reset that waits, by its first counter; no sample of any stream is written while one does,
    /// so that of several only the last bounds samples.
    int64_t reset_counter = 0;
    bool reset_waits = false;
    std::atomic<int64_t> newest_host_ns{0};
  };
  struct WaitingState {
    bool waits = false, connected = false;
    size_t length = 0;
    char text[kMostStateText];
  };

  void Miss(int stream, int64_t first, int64_t count, recording::GapCause cause) noexcept;
  /// Writes what waits into the ring; false: some of it still waits for room.
  bool SayWaiting(bool at_once) noexcept;
  bool SayWaitingOf(int stream) noexcept;
  bool WriteGap(int stream, const Missing& gap) noexcept;
  bool WriteReset(int stream, int64_t first_counter) noexcept;
  bool WriteState(bool connected, std::string_view text) noexcept;
  void NoteFill() noexcept;

  const Duration length_;
  const std::function<Timestamp()> now_;
  const Source* const source_;
  std::unique_ptr<RecordRing> first_;
  std::atomic<RecordRing*> ring_;  ///< where the producer writes

  mutable std::mutex mutex_;  ///< guards the lists below; never taken on the sample path
  std::vector<std::unique_ptr<RecordRing>> larger_;
  std::vector<std::unique_ptr<Announcement>> announcements_;
  std::vector<std::unique_ptr<StreamState>> owned_;
  std::vector<StreamState*> states_;  ///< of the producer: by stream number
  WaitingState waiting_state_;        ///< of the producer: the newest that found no room

  std::atomic<int64_t> overflowed_{0}, resets_{0};
  std::atomic<int> waiting_{0};
  std::atomic<uint32_t> fullest_permille_{0};
};

}  // namespace handhold::capture

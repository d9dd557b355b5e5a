/// Fits a device's clock to the recording machine's from the arrival times of its packets.
///
/// A packet can come late but never early, so the true map lies along the lower edge of (device
/// time, receive time):
///   host_ns - latency_ns = offset + (1 + rate_error) device_ns + delay,   delay >= 0.
/// The fit is the line under all points that minimises their mean distance to it: the edge of their
/// lower convex hull above the mean device time. One late packet, or a thousand, do not move it.
/// The least delay itself is constant and cannot be observed: it is a rig entry
/// (ClockMap::constant_delay_ns). Breaks of the clock (steps, resets) are found and start new
/// segments. Pinned by tests/capture/clock/clock_fit_test.cc; marks: tools/bench capture.clock.
#pragma once

#include <span>
#include <vector>

#include "database/base/result.h"
#include "database/recording/clock_map.h"

namespace handhold::capture {

struct ClockFitOptions {
  /// Long takes get one line per this much time, joined at their ends: crystals wander with
  /// temperature.
  Duration piece = Duration::Seconds(120);
  /// A lasting shift of the lower edge by more than this is a break of the device's clock.
  Duration least_step = Duration::Microseconds(400);
  /// Lateness must last this long to be a break; shorter, it is a delay (a stall, a burst) and
  /// moves nothing. Earliness is a break at once: nothing arrives before it was sent. Lateness that
  /// lasts longer and then ends on the line from before it was a delay all the same (a starved
  /// machine, a reader that fell behind), unless a source told of a break: a clock that steps
  /// forward and back by the same amount within least_step is not told from that. Neither is
  /// earliness a break by which times would run backwards from one sample to the next: then what
  /// was before it was late, from the beginning.
  Duration confirm = Duration::Seconds(2);
  /// No crystal is further off than this: bounds the tolerance while a segment is young, and every
  /// fitted rate.
  double largest_rate_error = 300e-6;
  /// Fewer pairs, or less than a second of them, may all have been late: they claim no better than
  /// least_step and largest_rate_error.
  size_t few_pairs = 50;
};

/// A reset that the source saw: the device's clock starts anew at sample `counter`.
struct ToldBreak {
  int64_t counter = 0;
  int64_t device_ns = 0;  ///< its device time, on the scale of the pairs'
};

/// A place where the device's clock did not run on evenly, found or told.
struct ClockBreak {
  int64_t counter = 0;         ///< told: as told; found: of the first pair after it
  int64_t device_ns = 0;       ///< its device time: the new segment holds from here
  int64_t counter_before = 0;  ///< of the last pair before it
  int64_t step_ns = 0;  ///< (host - device) after minus before: + when the device's clock lost time
  bool told = false;
};

struct ClockFit {
  recording::ClockMap map;
  std::vector<ClockBreak> breaks;
};

/// Pairs in order of receipt, device times ascending (sources keep counters ascending over a reset
/// and tell of it: each of `told_breaks`, ascending, begins a segment; of those without a pair
/// between them, the last). Errors: kUnidentifiable when fewer than two device times are known (the
/// rate is not determined), kInvalid when device times do not ascend.
Result<ClockFit> FitClock(std::span<const recording::ClockPair> pairs,
                          const ClockFitOptions& options = {},
                          std::span<const ToldBreak> told_breaks = {});

class ClockPairThinner;
/// Of thinned pairs: what was missing between those that were not kept is known to it.
Result<ClockFit> FitClock(const ClockPairThinner& thinner, const ClockFitOptions& options = {},
                          std::span<const ToldBreak> told_breaks = {});

/// Places a found break of a fit to thinned pairs to the packet: with those alone, all that came in
/// its slice of time may be on the wrong side of it. `between`: every pair with a counter in
/// (counter_before, counter] of break `which`, in order. The new segment begins at the first of
/// them that lies nearer to it or, when the clock lost time, after the last that lies nearer to the
/// one before: packets come late, never early.
void LocateBreak(std::span<const recording::ClockPair> between, size_t which, ClockFit* fit);

/// How far `map` may be off at device time `device_ns`, ns, net of the constant delay: two standard
/// deviations of its segment's offset and rate together. The live quality number; that it covers
/// the truth is a test.
double ClockUncertaintyNs(const recording::ClockMap& map, int64_t device_ns);

/// Thins pairs for a fit without moving it: of every slice of device time the least late packet
/// stays. Bounded work and memory for live use: one pair per slice, and at least the newest
/// `capacity` slices, or (kCoarsen) the whole of the time in slices made twice as long whenever
/// they are too many. One thread; allocates only in the constructor.
class ClockPairThinner {
 public:
  enum class WhenFull { kDropOldest, kCoarsen };
  explicit ClockPairThinner(Duration slice = Duration::Milliseconds(20), size_t capacity = 32768,
                            WhenFull when_full = WhenFull::kDropOldest);
  /// `covers`: device time from the packet's first sample to its last.
  void Add(const recording::ClockPair& pair, Duration covers = Duration()) noexcept;
  /// The clock starts anew at `counter`: pairs from there on share no slice with those before, so
  /// that every told break with a packet between it and the next has one here. Ascending; of more
  /// than kMostBreaks, the first.
  void Break(int64_t counter) noexcept;
  static constexpr size_t kMostBreaks = 256;
  /// Kept pairs in order, the open slice's included. Valid until the next Add.
  std::span<const recording::ClockPair> pairs() const;
  /// Of each kept pair: the most device time from one sample to the next since the kept one before.
  std::span<const int64_t> steps_ns() const { return steps_ns_; }
  int64_t added() const { return added_; }

 private:
  /// Whether a pair after `kept` is of its slice.
  bool SharesSlice(const recording::ClockPair& kept, const recording::ClockPair& pair) const;
  void Coarsen() noexcept;

  int64_t slice_ns_;
  size_t capacity_;
  WhenFull when_full_;
  std::vector<recording::ClockPair> kept_;  ///< at most 2 x capacity
  std::vector<int64_t> steps_ns_;           ///< as many
  std::vector<int64_t> breaks_;             ///< counters, ascending
  int64_t waiting_step_ns_ = 0;             ///< since kept_.back()
  int64_t newest_ns_ = 0;                   ///< of the last sample added
  int64_t added_ = 0;
};

}  // namespace handhold::capture

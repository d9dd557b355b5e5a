/// What goes wrong in a rehearsal, and when: a deterministic script in device time, resolved to
/// sample indices.
///
/// Faults are placed by index, never by wall clock, so that what a slow machine does late is still
/// exactly what was scripted: a test compares MissingRanges() with the gaps that a recorder
/// reports, sample for sample.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::capture {

enum class FaultKind {
  kStall,  ///< nothing is sent for `length`; then the server goes on at the live sample: a gap
  kHold,  ///< nothing is sent for `length`; then everything comes in a burst: no gap, no time shift
  kLose,  ///< `count` packets are made and never sent
  kDuplicate,  ///< `count` packets are sent twice (datagrams only)
  kRestart,  ///< connections end, nobody listens for `length`, then counters start anew: the clock
             ///< is reset
  kDisconnect,   ///< connections end, nobody listens for `length`; counters go on
  kOcclude,      ///< markers `first` .. `first + count - 1` are not seen for `length`
  kSwap,         ///< markers `first` and `second` exchange labels for `length`
  kGhost,        ///< `count` unlabelled points that are not there appear for `length`
  kHideSubject,  ///< subject `first` disappears from the stream for `length`: channels change twice
  kSaturate,     ///< the force sensor reports saturation for `length`
};

std::string_view FaultKindName(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kStall;
  Duration at{};  ///< device time: 0 is sample 0
  Duration length{};
  int count = 1;
  int first = 0;
  int second = 0;
  bool operator==(const Fault&) const = default;
};

/// One fault per line; '#' starts a comment. TIME is a number and a unit (s, ms, us):
///   at TIME stall|hold|restart|disconnect|saturate TIME
///   at TIME lose|duplicate COUNT
///   at TIME occlude TIME marker FIRST [COUNT]
///   at TIME swap TIME markers FIRST SECOND
///   at TIME ghost TIME COUNT
///   at TIME hide TIME subject FIRST
/// The error names the line and the word that does not fit.
Result<std::vector<Fault>> ParseFaultScript(std::string_view text);

/// Sample indices [begin, end).
struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t count() const { return end - begin; }
  bool Contains(int64_t i) const { return begin <= i && i < end; }
  bool operator==(const IndexRange&) const = default;
};

/// A script at one sampling rate. Immutable: shared by threads.
class FaultTimeline {
 public:
  FaultTimeline(std::span<const Fault> faults, double rate_hz);

  /// Samples never sent while the connection lives (stall, lose), ascending, merged.
  const std::vector<IndexRange>& MissingRanges() const { return missing_; }
  bool Missing(int64_t i) const;
  /// The index whose instant sample `i` is sent at: the end of the hold that covers it, or `i`.
  int64_t SendIndex(int64_t i) const;
  bool Duplicated(int64_t i) const { return Within(FaultKind::kDuplicate, i) != nullptr; }
  bool Saturated(int64_t i) const { return Within(FaultKind::kSaturate, i) != nullptr; }
  bool Occluded(int64_t i, int marker) const;
  /// The marker whose position is sent under the label of `marker`.
  int SwappedWith(int64_t i, int marker) const;
  int Ghosts(int64_t i) const;
  bool Hidden(int64_t i, int subject) const;
  /// The absence (restart or disconnect) that covers sample `i`, or null.
  const IndexRange* Away(int64_t i) const;
  /// The index at which the latest restart before `i` ended: the device counts from there; 0
  /// without a restart.
  int64_t CounterBase(int64_t i) const;

 private:
  struct Span {
    Fault fault;
    IndexRange range;
  };
  const Span* Within(FaultKind kind, int64_t i) const;

  std::vector<Span> spans_;
  std::vector<IndexRange> missing_;
};

}  // namespace handhold::capture

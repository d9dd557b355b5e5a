/// The list of health figures with their limits, worst values and stickiness: what Health() shows
/// and what the clip keeps as its quality record.
///
/// Pure: knows no thread and no clock. Pinned by tests/capture/session/health_board_test.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/session/health.h"
#include "capture/session/stream_meter.h"

namespace handhold::capture {

class HealthBoard {
 public:
  explicit HealthBoard(HealthLimits limits) : limits_(limits) {}

  /// A stream's figures, and how long ago its newest sample was received.
  void JudgeStream(const StreamFigures& figures, double age_s, Timestamp clip);
  /// `fill`: the largest share of the source's ring in use since the last look.
  void JudgeRing(std::string_view source, double fill, Timestamp clip);
  void JudgeDisk(double disk_left_s, Timestamp clip);

  /// What is red stays in the record, marked as seen; it turns red again when it was well in
  /// between; what is counted (lost and saturated samples), when there are more.
  void Acknowledge();
  /// Everything well and unseen: a take begins.
  void Clear() { entries_.clear(); }
  std::vector<recording::QualityItem> items() const;
  const HealthLimits& limits() const { return limits_; }

 private:
  struct Entry {
    recording::QualityItem item;
    bool beyond = false;
    double acknowledged_value = 0.0;  ///< when it was last acknowledged
  };
  struct Verdict {
    double value = 0.0, threshold = 0.0;
    bool beyond = false;
    enum class Worse { kHigh, kLow, kFar } worse = Worse::kHigh;
    std::string cause;
    bool counted = false;  ///< since the take's begin: it never falls
    double nominal = 0.0;  ///< kFar: on either side of it; the threshold is the worst value's
  };
  static bool IsWorse(const Verdict& verdict, double than);
  void Set(std::string_view stream, std::string_view what, const Verdict& verdict, Timestamp clip);

  HealthLimits limits_;
  std::vector<Entry> entries_;
};

/// Which part of its samples' time a stream's clock map cannot be trusted in: known no better than
/// 5 ms (95 %), running faster or slower than any device's (1000 ppm), or, for a second at most,
/// from one packet. What bridges an outage (no pairs) counts not. 0 .. 1.
double UntrustedShare(const recording::ClockMap& map, Duration length);
struct JudgedClock {
  std::string stream;
  recording::ClockMap map;
  bool required = true;
};

/// Whether to keep the take, from its items, figures and clocks, and why. Not one to keep: a
/// required stream lost more than 5 % of its samples, is silent at the end, or its times are
/// worthless in more than 5 % of the take (`length`); the worst of it is named. What is so of
/// another stream is said after it, one sentence a device, and condemns nothing.
recording::QualityRecord JudgeTake(std::vector<recording::QualityItem> items,
                                   std::span<const StreamFigures> figures,
                                   std::span<const JudgedClock> clocks, Duration length);

}  // namespace handhold::capture

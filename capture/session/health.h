/// Live health: per stream and for the machine, a few numbers with limits, sticky once red.
///
/// Computed by the encoder's side from what it already counts, about 5 times a second; read by any
/// thread as a copy. The same numbers become the clip's recording::QualityRecord. Each figure has
/// an injected fault that turns it red and no other: tests/capture/session/health_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture/session/stream_meter.h"
#include "database/base/time.h"
#include "database/recording/quality.h"

namespace handhold::capture {

struct HealthLimits {
  double last_sample_age_s = 0.5;
  double jitter_p99_s = 5e-3;
  double rate_error_fraction = 0.01;  ///< of the nominal rate, beyond the clock's own error
  double visible_fraction = 0.5;      ///< of markers, over the last second
  double clock_residual_p99_s = 3e-3;
  double ring_fill_fraction = 0.5;
  double disk_left_s = 600;
  int64_t lost_samples = 0;       ///< red beyond
  int64_t saturated_samples = 0;  ///< red beyond
};

enum class SessionState { kConfigured, kChecked, kArmed, kRecording, kStored };
std::string_view SessionStateName(SessionState state);

struct SourceStatus {
  std::string name;
  bool connected = false, required = true;
  std::string text;  ///< the last OnState: cause and fix
};

/// How well a stream's times are known while it is recorded. No limit: what is red of a clock is
/// its residual, and a take is judged by its whole map.
struct ClockStatus {
  std::string stream;
  double uncertainty_s = 0.0;  ///< at its newest packet, 95 %
};

/// Everything a person watching wants, copied at one instant.
struct HealthSnapshot {
  SessionState state = SessionState::kConfigured;
  Timestamp host;         ///< when it was made, CLOCK_MONOTONIC
  Duration recorded;      ///< of the take so far, pre-roll included
  Duration durable_age;   ///< newest received minus newest committed
  int64_t bytes = 0;      ///< of the clip file
  std::string take;       ///< its name while recording and after
  std::string trouble;    ///< the file cannot be written, and why; empty: all is well
  bool watching = false;  ///< whoever asks records nothing: armed is "watching" then
  std::vector<SourceStatus> sources;
  std::vector<ClockStatus> clocks;            ///< of streams that came for 5 s
  std::vector<NewestSample> newest;           ///< of every stream that was announced
  std::vector<recording::QualityItem> items;  ///< current value, worst, threshold, red, cause

  std::string_view state_word() const {
    return watching && state == SessionState::kArmed ? "watching" : SessionStateName(state);
  }
  bool red() const {
    if (!trouble.empty()) return true;
    for (const auto& i : items)
      if (i.red && !i.acknowledged) return true;
    return false;
  }
};

}  // namespace handhold::capture

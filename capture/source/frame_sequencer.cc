#include "capture/source/frame_sequencer.h"

#include <algorithm>
#include <cmath>

#include "capture/source/counter.h"

namespace handhold::capture {
namespace {
constexpr double kReconnectTolerance_s = 0.2;
constexpr double kQueueTolerance_s = 5.0;
}  // namespace

FrameVerdict FrameSequencer::Next(uint32_t frame_number, Timestamp host, bool reconnected) {
  FrameVerdict verdict;
  if (!started_) {
    started_ = true;
    // The first number is kept, so that counter / rate is the server's own time and analog samples
    // share it.
    last_counter_ = frame_number;
  } else {
    int64_t steps = CounterSteps(last_number_, frame_number);
    if (steps == 0 && !reconnected) return {.accept = false};
    const double elapsed = std::max(0.0, (host - due_.DueAt(last_counter_)).seconds());
    const double ahead_s = static_cast<double>(steps) / rate_hz_ - elapsed;
    verdict.clock_reset =
        steps <= 0 || (reconnected ? std::abs(ahead_s) > kReconnectTolerance_s + 1e-3 * elapsed
                                   : ahead_s > kQueueTolerance_s);
    if (verdict.clock_reset) steps = std::max<int64_t>(1, std::llround(elapsed * rate_hz_));
    verdict.gap = steps - 1;
    last_counter_ += steps;
  }
  verdict.counter = last_counter_;
  last_number_ = frame_number;
  if (verdict.clock_reset) {
    due_.Restart(verdict.counter, host);
  } else {
    due_.Note(verdict.counter, host);
  }
  return verdict;
}

}  // namespace handhold::capture

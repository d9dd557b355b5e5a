#include <algorithm>
#include <utility>

#include "capture/clock/clock_fit.h"
#include "database/base/check.h"

namespace handhold::capture {
namespace {

using recording::ClockPair;

int64_t Lateness(const ClockPair& p) { return p.host_ns - p.latency_ns - p.device_ns; }

}  // namespace

ClockPairThinner::ClockPairThinner(Duration slice, size_t capacity, WhenFull when_full)
    : slice_ns_(slice.ns()), capacity_(capacity), when_full_(when_full) {
  CHECK_GT(slice_ns_, 0);
  CHECK_GT(capacity_, 1u);
  kept_.reserve(2 * capacity_);
  steps_ns_.reserve(2 * capacity_);
  // Fewer than half of what coarsening is to leave: it comes to an end.
  breaks_.reserve(std::min(kMostBreaks, capacity_ / 2));
}

void ClockPairThinner::Break(int64_t counter) noexcept {
  if (breaks_.size() < breaks_.capacity() && (breaks_.empty() || breaks_.back() < counter))
    breaks_.push_back(counter);
}

bool ClockPairThinner::SharesSlice(const ClockPair& kept, const ClockPair& pair) const {
  if (kept.device_ns / slice_ns_ != pair.device_ns / slice_ns_) return false;
  const auto next = std::upper_bound(breaks_.begin(), breaks_.end(), kept.counter);
  return next == breaks_.end() || *next > pair.counter;
}

void ClockPairThinner::Add(const ClockPair& pair, Duration covers) noexcept {
  if (added_++ > 0) waiting_step_ns_ = std::max(waiting_step_ns_, pair.device_ns - newest_ns_);
  newest_ns_ = pair.device_ns + covers.ns();
  if (!kept_.empty() && SharesSlice(kept_.back(), pair)) {
    if (Lateness(pair) >= Lateness(kept_.back())) return;
    kept_.back() = pair;
    steps_ns_.back() = std::max(steps_ns_.back(), std::exchange(waiting_step_ns_, 0));
    return;
  }
  if (kept_.size() == 2 * capacity_) {
    if (when_full_ == WhenFull::kDropOldest) {
      kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(capacity_));
      steps_ns_.erase(steps_ns_.begin(),
                      steps_ns_.begin() + static_cast<std::ptrdiff_t>(capacity_));
    } else {
      Coarsen();
    }
  }
  kept_.push_back(pair);
  steps_ns_.push_back(std::exchange(waiting_step_ns_, 0));
}

void ClockPairThinner::Coarsen() noexcept {
  while (kept_.size() > capacity_) {
    slice_ns_ *= 2;
    // In place: of kept_[0, i) never more than i are kept.
    size_t out = 0;
    int64_t waiting = 0;  // the step into pairs that were not kept
    for (size_t i = 0; i < kept_.size(); ++i) {
      const ClockPair pair = kept_[i];
      const int64_t step = std::max(waiting, steps_ns_[i]);
      const bool shares = out > 0 && SharesSlice(kept_[out - 1], pair);
      if (shares && Lateness(pair) >= Lateness(kept_[out - 1])) {
        waiting = step;
        continue;
      }
      const size_t at = shares ? out - 1 : out++;
      steps_ns_[at] = shares ? std::max(steps_ns_[at], step) : step;
      kept_[at] = pair;
      waiting = 0;
    }
    waiting_step_ns_ = std::max(waiting_step_ns_, waiting);
    kept_.resize(out);
    steps_ns_.resize(out);
  }
}

std::span<const ClockPair> ClockPairThinner::pairs() const { return kept_; }

}  // namespace handhold::capture

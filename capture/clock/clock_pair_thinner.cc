#include <algorithm>

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

void ClockPairThinner::Add(const ClockPair& pair) noexcept {
  ++added_;
  if (!kept_.empty() && SharesSlice(kept_.back(), pair)) {
    if (Lateness(pair) < Lateness(kept_.back())) kept_.back() = pair;
    return;
  }
  if (kept_.size() == 2 * capacity_) {
    if (when_full_ == WhenFull::kDropOldest) {
      kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(capacity_));
    } else {
      Coarsen();
    }
  }
  kept_.push_back(pair);
}

void ClockPairThinner::Coarsen() noexcept {
  while (kept_.size() > capacity_) {
    slice_ns_ *= 2;
    // In place: of kept_[0, i) never more than i are kept.
    size_t out = 0;
    for (const ClockPair& pair : kept_) {
      if (out > 0 && SharesSlice(kept_[out - 1], pair)) {
        if (Lateness(pair) < Lateness(kept_[out - 1])) kept_[out - 1] = pair;
      } else {
        kept_[out++] = pair;
      }
    }
    kept_.resize(out);
  }
}

std::span<const ClockPair> ClockPairThinner::pairs() const { return kept_; }

}  // namespace handhold::capture

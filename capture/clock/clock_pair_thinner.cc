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
}

void ClockPairThinner::Add(const ClockPair& pair) noexcept {
  ++added_;
  if (kept_.size() == 2 * capacity_ && pair.device_ns / slice_ns_ != slice_index_) {
    if (when_full_ == WhenFull::kDropOldest) {
      kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(capacity_));
    } else {
      Coarsen();
    }
  }
  Keep(pair);
}

void ClockPairThinner::Keep(const ClockPair& pair) noexcept {
  const int64_t slice = pair.device_ns / slice_ns_;
  if (!kept_.empty() && slice == slice_index_) {
    if (Lateness(pair) < Lateness(kept_.back())) kept_.back() = pair;
    return;
  }
  slice_index_ = slice;
  kept_.push_back(pair);
}

void ClockPairThinner::Coarsen() noexcept {
  while (kept_.size() > capacity_) {
    slice_ns_ *= 2;
    const size_t count = kept_.size();
    // In place: of kept_[0, i) never more than i are kept.
    size_t out = 0;
    for (size_t i = 0; i < count; ++i) {
      const ClockPair pair = kept_[i];
      const int64_t slice = pair.device_ns / slice_ns_;
      if (out > 0 && kept_[out - 1].device_ns / slice_ns_ == slice) {
        if (Lateness(pair) < Lateness(kept_[out - 1])) kept_[out - 1] = pair;
      } else {
        kept_[out++] = pair;
      }
    }
    kept_.resize(out);
    slice_index_ = kept_.back().device_ns / slice_ns_;
  }
}

std::span<const ClockPair> ClockPairThinner::pairs() const { return kept_; }

}  // namespace handhold::capture

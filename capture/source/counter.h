/// Device counters made 64 bits wide and ascending, across wraps of 32 bits, and when they are due.
#pragma once

#include <algorithm>
#include <cstdint>

#include "database/base/time.h"

namespace handhold::capture {

/// Steps from `from` to `to` on a 32-bit circle, the short way: negative when `to` lies behind.
/// 0xffffffff -> 1 is 2.
inline int64_t CounterSteps(uint32_t from, uint32_t to) { return static_cast<int32_t>(to - from); }

/// When a device's samples are due on the host's clock, by the least late packet so far: the
/// measure of how late or how impossibly early a packet is, for which the packet before it will not
/// do: that one may have been late itself. Good to 0.1 % of the time since.
class DueClock {
 public:
  explicit DueClock(double rate_hz) : rate_hz_(rate_hz) {}

  /// Sample `counter` was received at `host`. Counters ascend.
  void Note(int64_t counter, Timestamp host) {
    const Duration slack = Duration::OfSamples(counter - counter_, rate_hz_ / kSlack);
    host_ = started_ ? std::min(host, DueAt(counter) + slack) : host;
    counter_ = counter;
    started_ = true;
  }
  /// The device's clock starts anew: `counter` was received at `host`, whatever was before.
  void Restart(int64_t counter, Timestamp host) {
    started_ = false;
    Note(counter, host);
  }
  void SetRate(double rate_hz) { rate_hz_ = rate_hz; }
  /// Precondition: something was noted.
  Timestamp DueAt(int64_t counter) const {
    return host_ + Duration::OfSamples(counter - counter_, rate_hz_);
  }

 private:
  /// Crystals differ by less than a tenth of this.
  static constexpr double kSlack = 1e-3;

  double rate_hz_;
  bool started_ = false;
  int64_t counter_ = 0;
  Timestamp host_;
};

}  // namespace handhold::capture

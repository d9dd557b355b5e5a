/// Receive stamps of the kernel, which are on CLOCK_REALTIME, brought to CLOCK_MONOTONIC.
///
/// The real-time clock may be stepped (chrony, a virtual machine) while datagrams wait. A stamp
/// from before a forward step would make its datagram early by the step, which the clock fits take
/// for a break at once: nothing arrives before it was sent. So where the distance of the two clocks
/// has moved, what was received up to then counts as received when it was read: late, which moves
/// nothing. Pure. Pinned by tests/capture/wire/socket_test.cc.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "database/base/time.h"

namespace handhold::capture::wire {

class StampClock {
 public:
  /// `stamp_ns` and `real_ns` on CLOCK_REALTIME, both clocks read now. One call per datagram, in
  /// the order of receipt.
  Timestamp MonotonicOf(int64_t stamp_ns, int64_t real_ns, Timestamp now) {
    const int64_t distance_ns = real_ns - now.ns();
    const int64_t moved_ns = std::abs(distance_ns - distance_ns_);
    // Slewing moves it by 0.5 ms a second at most.
    if (!started_ || moved_ns > kStep_ns + (now - read_).ns() / 1000) not_before_ = now;
    if (!started_) not_before_ = now - kLongestWait;
    started_ = true;
    distance_ns_ = distance_ns;
    read_ = now;
    const Timestamp received = now - Duration::Nanoseconds(real_ns - stamp_ns);
    return received < not_before_ || received > now ? now : received;
  }

 private:
  static constexpr int64_t kStep_ns = 1'000'000;
  static constexpr Duration kLongestWait = Duration::Seconds(10);

  bool started_ = false;
  int64_t distance_ns_ = 0;
  Timestamp read_, not_before_;
};

}  // namespace handhold::capture::wire

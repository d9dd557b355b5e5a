/// Ends what a thread waits for on the wire before its deadline: Ctrl-C while devices are asked.
///
/// A flag of the calling thread, so that no function between the one who may cancel and the one who
/// waits has to carry it.
#pragma once

#include <atomic>

#include "database/base/time.h"

namespace handhold::capture::wire {

/// While it lives, every wait of this thread in capture/wire ends within 20 ms once `flag` is true,
/// as if its deadline had passed. Does not nest.
class CancelScope {
 public:
  explicit CancelScope(const std::atomic<bool>& flag);  ///< must outlive the scope
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
};

/// How often a waiting thread looks at its flag.
inline constexpr Duration kCancelPeriod = Duration::Milliseconds(20);

/// The flag of this thread; outside of every scope one that is never true.
const std::atomic<bool>& CancelFlag();

}  // namespace handhold::capture::wire

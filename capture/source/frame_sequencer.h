/// Frame numbers of a motion capture server made into sample counters and gaps, through wraps and
/// restarts.
///
/// TCP keeps order and loses nothing, so a step above 1 is a frame the server skipped or a buffer
/// dropped, and a step back is a server that counts anew. Pure and without allocation.
#pragma once

#include <cstdint>

#include "capture/source/counter.h"
#include "database/base/time.h"

namespace handhold::capture {

struct FrameVerdict {
  bool accept = true;        ///< false: this frame was delivered before
  int64_t counter = 0;       ///< ascending through wraps and restarts
  int64_t gap = 0;           ///< frames missing before this one
  bool clock_reset = false;  ///< the server numbers anew: the gap is the host clock's estimate
};

class FrameSequencer {
 public:
  explicit FrameSequencer(double rate_hz) : rate_hz_(rate_hz), due_(rate_hz) {}

  /// `reconnected`: the first frame of a new connection. Then the number must agree with the host's
  /// clock to 0.2 s, or the server is taken to count anew: one that begins at 0 disagrees by at
  /// least the time that it was away. The host's clock is compared with the least late frames, not
  /// with the last one, which may have waited in a queue. Within a connection any step forward of
  /// up to 5 s beyond the host's clock is believed.
  FrameVerdict Next(uint32_t frame_number, Timestamp host, bool reconnected);
  void SetRate(double rate_hz) {
    rate_hz_ = rate_hz;
    due_.SetRate(rate_hz);
  }

 private:
  double rate_hz_;
  bool started_ = false;
  uint32_t last_number_ = 0;
  int64_t last_counter_ = 0;
  DueClock due_;
};

}  // namespace handhold::capture

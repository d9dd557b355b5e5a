/// A recording as a live Source, at any speed: rehearsal, tests, soak runs faster than real time.
///
/// Streams, channels, counters and gaps are the recording's; times are made new, and rates with
/// them: at speed 20 what was sampled at 500 Hz is announced, sampled and stamped at 10 kHz, so
/// that a consumer cannot tell it from a device. Unpaced, rates stay the recording's, and no clock
/// runs at them: not for takes. The clip is read in windows, in bounded memory, in the source's own
/// thread.
#pragma once

#include <memory>
#include <string>

#include "capture/source/source.h"
#include "database/recording/clip.h"

namespace handhold::capture {

struct PlaybackOptions {
  std::string name{};  ///< of the device in the rig
  double speed = 1.0;  ///< 2: twice as fast; 0: unpaced, as fast as the sink takes it
  bool loop = false;   ///< begin again at the end; counters go on, by the length of the clip
  Duration window = Duration::Milliseconds(20);  ///< of clip time per read: the largest block
};

/// `clip` is read by the source's thread only, from Start to Stop; Probe reads its description.
std::unique_ptr<Source> MakePlaybackSource(std::shared_ptr<const recording::ClipSource> clip,
                                           PlaybackOptions options);

}  // namespace handhold::capture

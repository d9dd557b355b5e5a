/// From a rig file to drivers: one Source per entry, with what the recorder must know beside what
/// the devices say.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capture/session/recorder.h"
#include "capture/session/rig.h"
#include "database/base/result.h"
#include "database/recording/clip.h"

namespace handhold::capture {

/// Opens a clip for a playback source: the tools' store::ClipReader, a test's Clip in memory.
using OpenClipSource =
    std::function<Result<std::shared_ptr<const recording::ClipSource>>(const std::string& path)>;

/// In the order of the rig, not yet probed or started: nothing touches the network. kUnsupported
/// names a driver that this build lacks; kInvalid an axis mapping that is left-handed. A rig with a
/// playback source needs `open_clip` (CHECKed).
Result<std::vector<RecordedSource>> MakeSources(const Rig& rig,
                                                const OpenClipSource& open_clip = {});

/// The recorder's limits with the rig's in their place where it states them.
HealthLimits LimitsOf(const RigLimits& limits);

}  // namespace handhold::capture

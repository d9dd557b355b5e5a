/// Which marker streams and which force sensor a fit reads; what the clip has where it is not
/// there.
///
/// The fits ask it, and tools/pipeline asks it first, so that a dry run refuses what the fit would.
/// Pinned by tests/fitting/signal/find_stream_test.cc.
#pragma once

#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/recording/clip.h"

namespace handhold::fitting {

/// All epochs of the marker stream `name`; empty: of the clip's only one. kNotFound names the
/// clip's streams, kInvalid a stream that holds no markers, or those there are when several could
/// be meant.
Result<std::vector<const recording::StreamInfo*>> FindMarkerStreams(
    const recording::ClipSource& clip, const std::string& name);

/// The force sensor `name`, with a stream in the clip; empty: the clip's only one. kNotFound names
/// the clip's force sensors, or its streams where it has none; kInvalid when several could be
/// meant.
Result<const recording::ForceSensor*> FindForceSensor(const recording::ClipSource& clip,
                                                      const std::string& name);

}  // namespace handhold::fitting

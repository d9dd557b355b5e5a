/// Reads C3D with ezc3d, the reader that most other programs build on: for comparison, not by
/// default (README.md, Decisions).
///
/// ezc3d holds the whole file as objects and can be made to crash or to ask for gigabytes, so it
/// runs in a child process with limits of memory and time. The child rewrites what ezc3d says as a
/// plain C3D file (Intel, floating point, analog values scaled) in the temporary folder, which our
/// reader then reads: what ezc3d does not say, our reader cannot add.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "database/exchange/c3d_reader.h"

namespace handhold::exchange {

struct ChildLimits {
  int64_t memory_bytes = 0;  ///< resident; 0: 256 MB and 20 times the file
  Duration time;             ///< of the wall clock; 0: 20 s and 1 s per MB
};

/// kCorrupt with ezc3d's words when it refuses or dies; kTimeout and kUnsupported when it met a
/// limit. Not for use from several threads while one of them holds a lock that malloc needs: the
/// child is forked.
Result<std::unique_ptr<ImportSource>> OpenWithEzc3d(const std::string& path,
                                                    const C3dReadOptions& options = {},
                                                    const ChildLimits& limits = {});

/// Reads the file with both readers and says where they differ: one issue per stream, kNote where
/// they agree, kWarning where not. Memory: both recordings whole.
Issues CrossCheckC3d(const std::string& path, const C3dReadOptions& options = {},
                     const ChildLimits& limits = {});

namespace internal {
/// Runs `work` in a forked child that writes to the file descriptor it is given, a temporary file
/// already unlinked; answers that descriptor. `work` returns an empty text, or why it failed.
Result<int> RunLimited(const std::function<std::string(int file)>& work, const ChildLimits& limits);
}  // namespace internal

}  // namespace handhold::exchange

/// Parts of a computation, each in a process of its own: the one place that forks.
///
/// What holds a world (ODE) works in parallel by process, never by thread. A part that fails ends
/// all, with its own error code; one that is killed is counted, and what it had sent stays. Pinned
/// by tests/tools/pipeline/process_pool_test.cc.
#pragma once

#include "database/step/work.h"

namespace handhold::pipeline {

/// A step::PartRunner. The parts ignore Ctrl-C: the caller decides.
Result<int> RunInProcesses(const step::Parts& parts);

}  // namespace handhold::pipeline

/// Counts heap allocations of the calling thread, to prove that a path makes none.
#pragma once

#include <cstddef>

namespace handhold::testing {

/// Allocations (malloc, new, Eigen) of this thread since the program began. Link
/// allocation_counter.cc.
size_t AllocationsOfThisThread();

}  // namespace handhold::testing

/// Counts heap allocations of the calling thread, to prove that a path makes none. Compile
/// allocation_counter.cc into the test: it replaces the global operator new.
#pragma once

#include <cstdint>

namespace handhold::test {

/// Allocations made by this thread since it began.
int64_t ThreadAllocations();

}  // namespace handhold::test

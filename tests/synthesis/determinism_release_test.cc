// determinism_test.cc in the other build type: optimised, without sanitizers.
#include <gtest/gtest.h>

#include "tests/support/golden_trace.h"

namespace handhold::testing::determinism_release_test {
namespace {

TEST(DeterminismOptimised, TheCompliantMoverGivesTheSameBits) { ExpectCompliantTraceKept(); }
TEST(DeterminismOptimised, TheEngineGivesTheSameBits) { ExpectEngineTraceKept(); }

}  // namespace
}  // namespace handhold::testing::determinism_release_test

// The same bits on every build (synthesis/DETERMINISM.md). This runs in one build type,
// determinism_release_test.cc in another.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden_trace.h"

namespace handhold::testing::determinism_test {
namespace {

TEST(Determinism, TheCompliantMoverGivesTheSameBits) { ExpectCompliantTraceKept(); }
TEST(Determinism, TheEngineGivesTheSameBits) { ExpectEngineTraceKept(); }

// Canaries: one bit of one value is found, by its step and name, and changes the hash.
TEST(Determinism, OneBitIsFoundAndNamed) {
  const Trace trace{{"a", "b"}, {{0.0, 1.0}, {2.0, 3.0}, {4.0, 5.0}}};
  EXPECT_EQ(FirstDifference(trace, trace), "");
  Trace other = trace;
  other.steps[1][1] = std::nextafter(3.0, 4.0);
  other.steps[2][0] = 7.0;
  EXPECT_THAT(FirstDifference(trace, other), ::testing::StartsWith("step 1: b is 3"));
  EXPECT_NE(HashOf(trace), HashOf(other));
  other = trace;
  other.steps[0][0] = -0.0;
  EXPECT_THAT(FirstDifference(trace, other), ::testing::StartsWith("step 0: a is -0"));
  other = trace;
  other.steps.pop_back();
  EXPECT_NE(FirstDifference(trace, other), "");
}

}  // namespace
}  // namespace handhold::testing::determinism_test

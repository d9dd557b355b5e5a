#include "capture/source/frame_sequencer.h"

#include <gtest/gtest.h>

namespace handhold::capture::frame_sequencer_test {
namespace {

Timestamp At(double s) { return Timestamp::FromSeconds(100.0 + s); }

TEST(FrameSequencer, CountsPlacesGapsAndKeepsTheServersNumbers) {
  FrameSequencer sequencer(500);
  EXPECT_EQ(sequencer.Next(1000, At(0), false).counter, 1000);
  EXPECT_EQ(sequencer.Next(1001, At(0.002), false).gap, 0);
  const FrameVerdict v = sequencer.Next(1152, At(0.304), false);
  EXPECT_EQ(v.gap, 150);
  EXPECT_EQ(v.counter, 1152);
  EXPECT_FALSE(v.clock_reset);
  EXPECT_FALSE(sequencer.Next(1152, At(0.305), false).accept);
}

TEST(FrameSequencer, WrapsAt32Bits) {
  FrameSequencer sequencer(500);
  EXPECT_EQ(sequencer.Next(0xfffffffe, At(0), false).counter, 0xfffffffeLL);
  EXPECT_EQ(sequencer.Next(0xffffffff, At(0.002), false).counter, 0xffffffffLL);
  const FrameVerdict v = sequencer.Next(0x00000001, At(0.006), false);
  EXPECT_EQ(v.counter, 0x100000001LL);
  EXPECT_EQ(v.gap, 1);
  EXPECT_FALSE(v.clock_reset);
}

// What a server says of its rate may be wrong, by a damaged packet or by malice.
TEST(FrameSequencer, SurvivesAnyRate) {
  for (const double rate_hz : {1e-300, 1e-8, 1.0, 135e6}) {
    FrameSequencer sequencer(500);
    int64_t last = sequencer.Next(0, At(0), false).counter;
    sequencer.SetRate(rate_hz);
    uint32_t id = 0;
    for (const uint32_t steps : {0x7fffffffu, 1u, 0x80000000u, 0xffffffffu, 5u}) {
      id += steps;
      const FrameVerdict v = sequencer.Next(id, At(0.01), steps == 5u);
      EXPECT_GT(v.counter, last) << rate_hz;
      last = v.counter;
    }
  }
}

TEST(FrameSequencer, ABurstAfterAHoldIsNoGapAndNoReset) {
  FrameSequencer sequencer(500);
  sequencer.Next(0, At(0), false);
  for (uint32_t id = 1; id <= 100; ++id) {
    const FrameVerdict v = sequencer.Next(id, At(0.2), false);
    EXPECT_EQ(v.gap, 0);
    EXPECT_FALSE(v.clock_reset);
  }
}

TEST(FrameSequencer, AReconnectionThatCountsOnIsAnExactGap) {
  FrameSequencer sequencer(500);
  sequencer.Next(5000, At(0), false);
  const FrameVerdict v = sequencer.Next(5000 + 400, At(0.803), true);
  EXPECT_EQ(v.gap, 399);
  EXPECT_FALSE(v.clock_reset);
}

TEST(FrameSequencer, ARestartIsPlacedByTheHostClockWithoutATimeShift) {
  FrameSequencer sequencer(500);
  sequencer.Next(5000, At(0), false);
  const FrameVerdict v = sequencer.Next(20, At(1.5), true);
  EXPECT_TRUE(v.clock_reset);
  EXPECT_EQ(v.counter, 5750);
  EXPECT_EQ(v.gap, 749);
  EXPECT_EQ(sequencer.Next(21, At(1.502), false).counter, 5751);
}

TEST(FrameSequencer, ARestartSoonAfterTheStartIsSeenThoughItNumbersHigher) {
  FrameSequencer sequencer(500);
  sequencer.Next(10, At(0), false);
  const FrameVerdict v = sequencer.Next(100, At(0.7), true);  // away 0.5 s, then 0.2 s from 0
  EXPECT_TRUE(v.clock_reset);
  EXPECT_EQ(v.counter, 360);
}

TEST(FrameSequencer, AServerThatCountsAnewWithinAConnectionIsSeen) {
  FrameSequencer sequencer(500);
  sequencer.Next(5000, At(0), false);
  const FrameVerdict v = sequencer.Next(0, At(0.1), false);
  EXPECT_TRUE(v.clock_reset);
  EXPECT_EQ(v.counter, 5050);
  const FrameVerdict jump = sequencer.Next(1'000'000, At(0.2), false);
  EXPECT_TRUE(jump.clock_reset);
  EXPECT_EQ(jump.counter, 5100);
}

// The queue was 0.3 s behind when the connection broke: what was read last had been due long
// before.
TEST(FrameSequencer, AReconnectionAfterAStallIsComparedWithTheLeastLateFrames) {
  FrameSequencer sequencer(500);
  for (uint32_t id = 5000; id <= 5500; ++id)
    sequencer.Next(id, At(0.002 * (id - 5000)), false);  // in time up to 1 s
  for (uint32_t id = 5501; id <= 5600; ++id) sequencer.Next(id, At(1.5), false);  // due by 1.2 s
  FrameSequencer restarted = sequencer;
  const FrameVerdict v = sequencer.Next(6000, At(2.0), true);  // counted on
  EXPECT_FALSE(v.clock_reset);
  EXPECT_EQ(v.gap, 399);
  const FrameVerdict anew = restarted.Next(20, At(2.0), true);
  EXPECT_TRUE(anew.clock_reset);
  EXPECT_NEAR(static_cast<double>(anew.gap), 399, 1);
}

}  // namespace
}  // namespace handhold::capture::frame_sequencer_test

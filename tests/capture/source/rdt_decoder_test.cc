#include "capture/source/rdt_decoder.h"

#include <vector>

#include <gmock/gmock.h>

namespace handhold::capture::rdt_decoder_test {
namespace {

using ::testing::ElementsAre;
using Kind = RdtVerdict::Kind;

// The bytes of tests/capture/simulator/rdt_codec_test.cc, written by hand from the record table of
// ATI 9620-05.
constexpr std::array<uint8_t, 36> kGolden = {
    0x00, 0x00, 0x00, 0x2A, 0x01, 0x02, 0x03, 0x04, 0x80, 0x02, 0x00, 0x00,
    0x00, 0x0F, 0x42, 0x40, 0xFF, 0xF0, 0xBD, 0xC0, 0x00, 0x00, 0x00, 0x01,
    0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x80, 0x00, 0x00, 0x00,
};

TEST(RdtDecoder, ReadsTheGoldenRecord) {
  RdtRecords records;
  ASSERT_EQ(DecodeRdtDatagram(kGolden, records), 1);
  EXPECT_EQ(records[0].rdt_sequence, 42u);
  EXPECT_EQ(records[0].ft_sequence, 16909060u);
  EXPECT_EQ(records[0].status, 0x80020000u);
  EXPECT_THAT(records[0].counts, ElementsAre(1000000, -1000000, 1, -1, INT32_MAX, INT32_MIN));
}

TEST(RdtDecoder, TakesWholeRecordsOnlyAndAtMostForty) {
  RdtRecords records;
  const std::vector<uint8_t> bytes(41 * 36, 0);
  const std::span<const uint8_t> all(bytes);
  EXPECT_EQ(DecodeRdtDatagram(all.first(40 * 36), records), 40);
  EXPECT_EQ(DecodeRdtDatagram(all, records), -1);
  EXPECT_EQ(DecodeRdtDatagram(all.first(35), records), -1);
  EXPECT_EQ(DecodeRdtDatagram(all.first(37), records), -1);
  EXPECT_EQ(DecodeRdtDatagram(all.first(0), records), -1);
}

TEST(RdtRequest, IsTheTableOfTheManual) {
  EXPECT_THAT(EncodeRdtRequest(wire::rdt::kRealTime, 0), ElementsAre(0x12, 0x34, 0, 2, 0, 0, 0, 0));
  EXPECT_THAT(EncodeRdtRequest(wire::rdt::kBias, 0x01020304),
              ElementsAre(0x12, 0x34, 0, 0x42, 1, 2, 3, 4));
}

/// Feeds records at their true instants.
class Device {
 public:
  explicit Device(double rate_hz) : rate_hz_(rate_hz), sequencer(rate_hz) {}
  RdtVerdict Send(uint32_t rdt, uint32_t ft, double at_s) {
    return sequencer.Next({.rdt_sequence = rdt, .ft_sequence = ft}, Timestamp::FromSeconds(at_s));
  }
  /// Record number n of a run that numbers from 1 and began at ft 1, at its instant.
  RdtVerdict Regular(uint32_t n) { return Send(n, n, n / rate_hz_); }

 private:
  double rate_hz_;

 public:
  RdtSequencer sequencer;
};

TEST(RdtSequencer, CountsAndPlacesGaps) {
  Device device(7000);
  for (uint32_t n = 1; n <= 100; ++n) {
    const RdtVerdict v = device.Regular(n);
    EXPECT_EQ(v.kind, Kind::kAccept);
    EXPECT_EQ(v.counter, n - 1);
    EXPECT_EQ(v.gap, 0);
  }
  const RdtVerdict after = device.Regular(104);
  EXPECT_EQ(after.gap, 3);
  EXPECT_EQ(after.counter, 103);
  EXPECT_FALSE(after.new_run);
}

TEST(RdtSequencer, DropsWhatItHasAndTellsLateOnesApart) {
  Device device(7000);
  for (uint32_t n = 1; n <= 10; ++n) device.Regular(n);
  EXPECT_EQ(device.Regular(10).kind, Kind::kDuplicate);
  EXPECT_EQ(device.Regular(7).kind, Kind::kDuplicate);
  EXPECT_EQ(device.Regular(13).gap, 2);
  EXPECT_EQ(device.Regular(12).kind, Kind::kLate);
  EXPECT_EQ(device.Regular(12).kind, Kind::kDuplicate);
  EXPECT_EQ(device.Regular(14).counter, 13);
}

TEST(RdtSequencer, WrapsBothCounters) {
  Device device(7000);
  EXPECT_EQ(device.Send(0xfffffffe, 0xffffffff, 0).counter, 0);
  EXPECT_EQ(device.Send(0xffffffff, 0x00000000, 1 / 7e3).counter, 1);
  EXPECT_EQ(device.Send(0x00000000, 0x00000001, 2 / 7e3).counter, 2);
  const RdtVerdict v = device.Send(0x00000003, 0x00000004, 5 / 7e3);
  EXPECT_EQ(v.counter, 5);
  EXPECT_EQ(v.gap, 2);
  EXPECT_FALSE(v.new_run);
}

TEST(RdtSequencer, ANewRequestIsBridgedByTheSensorsOwnClockExactly) {
  Device device(7000);
  for (uint32_t n = 1; n <= 7000; ++n) device.Regular(n);
  // Asked again: rdt_sequence starts at 1, ft_sequence has gone on by 351.
  const RdtVerdict v = device.Send(1, 7351, 1.0501);
  EXPECT_EQ(v.kind, Kind::kAccept);
  EXPECT_TRUE(v.new_run);
  EXPECT_FALSE(v.clock_reset);
  EXPECT_EQ(v.gap, 350);
  EXPECT_EQ(v.counter, 7350);
  EXPECT_EQ(device.Send(2, 7352, 1.0502).counter, 7351);
}

TEST(RdtSequencer, ANewRequestBelowTheInternalRateCountsRecords) {
  Device device(1000);
  for (uint32_t n = 1; n <= 1000; ++n) device.Send(n, 7 * n, n / 1e3);
  const RdtVerdict v = device.Send(1, 7 * 1051, 1.051);
  EXPECT_EQ(v.gap, 50);
  EXPECT_FALSE(v.clock_reset);
}

TEST(RdtSequencer, ARestartIsPlacedByTheHostClock) {
  Device device(7000);
  for (uint32_t n = 1; n <= 70'000; ++n) device.Regular(n);
  // Off at 10 s; on again 1.5 s later with both counters from the start.
  const RdtVerdict v = device.Send(1, 1, 11.5);
  EXPECT_TRUE(v.clock_reset);
  EXPECT_EQ(v.counter, 70'000 - 1 + 10'500);
  EXPECT_EQ(v.gap, 10'499);
  EXPECT_EQ(device.Send(2, 2, 11.5 + 1 / 7e3).counter, v.counter + 1);
}

TEST(RdtSequencer, ARestartThatNumbersHigherIsSeenAllTheSame) {
  Device device(7000);
  for (uint32_t n = 1; n <= 100; ++n) device.Regular(n);
  // 2 s later numbers have jumped by 10 million: neither clock knows of it.
  const RdtVerdict v = device.Send(10'000'000, 3'000'000'000u, 2.0);
  EXPECT_TRUE(v.clock_reset);
  EXPECT_NEAR(static_cast<double>(v.counter), 14'000, 2);
}

// Both counters agree, in one request, and the host's clock knows nothing of it.
TEST(RdtSequencer, NoJumpIsBelievedThatIsAheadOfTheHostsClock) {
  for (const uint32_t jump : {8'000u, 100'000'000u, 2'000'000'000u}) {
    Device device(7000);
    for (uint32_t n = 1; n <= 7000; ++n) device.Regular(n);
    const RdtVerdict v = device.Send(7001 + jump, 7001 + jump, 7001 / 7e3);
    EXPECT_EQ(v.kind, Kind::kAccept);
    EXPECT_TRUE(v.clock_reset) << jump;
    EXPECT_EQ(v.counter, 7000) << jump;
    EXPECT_EQ(device.Send(7002 + jump, 7002 + jump, 7002 / 7e3).counter, 7001) << jump;
  }
  // A true loss is one, however long: the host's clock has gone on, too.
  for (const uint32_t lost : {8'000u, 700'000u}) {
    Device device(7000);
    for (uint32_t n = 1; n <= 7000; ++n) device.Regular(n);
    const RdtVerdict v = device.Send(7001 + lost, 7001 + lost, (7001 + lost) / 7e3);
    EXPECT_FALSE(v.clock_reset) << lost;
    EXPECT_EQ(v.gap, lost);
  }
}

TEST(RdtSequencer, ABurstAfterAHoldIsNoGap) {
  Device device(7000);
  for (uint32_t n = 1; n <= 100; ++n) device.Regular(n);
  for (uint32_t n = 101; n <= 1600; ++n) {
    const RdtVerdict v = device.Send(n, n, 0.23);  // all at once, 214 ms late at first
    EXPECT_EQ(v.kind, Kind::kAccept);
    EXPECT_EQ(v.gap, 0);
    EXPECT_FALSE(v.clock_reset);
  }
}

// Silent for 3 s, asked again meanwhile, and then everything: numbered anew, and held up all the
// same. That the sensor's own clock went on says so, not the length of the silence.
TEST(RdtSequencer, ABacklogAfterALongSilenceIsNoRestartThoughAskedAgain) {
  for (const double silence_s : {0.45, 0.7, 3.0, 600.0}) {
    Device device(7000);
    for (uint32_t n = 1; n <= 7000; ++n) device.Regular(n);
    const auto held = static_cast<uint32_t>(silence_s * 7000);
    for (uint32_t k = 1; k <= held; ++k) {
      const uint32_t rdt = k <= 64 ? 7000 + k : (k - 65) % 3000 + 1;  // asked again more than once
      const RdtVerdict v = device.Send(rdt, 7000 + k, 1.0 + silence_s + 1e-6 * k);
      ASSERT_EQ(v.kind, Kind::kAccept);
      ASSERT_EQ(v.gap, 0) << silence_s << " s, " << k;
      ASSERT_FALSE(v.clock_reset);
    }
    EXPECT_EQ(device.Send(9000, 7000 + held + 1, 1.0 + silence_s + 0.1).counter, 7000 + held);
  }
}

TEST(RdtSequencer, ABacklogNumberedAnewFromItsFirstRecordIsNoRestart) {
  Device device(7000);
  for (uint32_t n = 1; n <= 7000; ++n) device.Regular(n);
  const RdtVerdict v = device.Send(1, 7001, 4.0);
  EXPECT_TRUE(v.new_run);
  EXPECT_FALSE(v.clock_reset);
  EXPECT_EQ(v.gap, 0);
}

// An Axia's ft_sequence counts at its ADC's rate, not at 7000 Hz.
TEST(RdtSequencer, TheScaleOfTheSensorsOwnClockIsLearnt) {
  struct Axia {
    double record_hz, adc_hz;
  };
  for (const auto& [record_hz, adc_hz] :
       {Axia{976, 976}, Axia{488, 976}, Axia{3906, 3906}, Axia{1953, 7812}}) {
    Device device(record_hz);
    const auto ft = static_cast<uint32_t>(adc_hz / record_hz);
    for (uint32_t n = 1; n <= 1000; ++n) device.Send(n, ft * n, n / record_hz);
    // 5 s away, asked again: numbered anew, the sensor's clock has gone on.
    const auto away = static_cast<uint32_t>(5 * record_hz);
    const double at_s = (1000 + away) / record_hz;
    const RdtVerdict v = device.Send(1, ft * (1000 + away), at_s);
    EXPECT_TRUE(v.new_run);
    EXPECT_FALSE(v.clock_reset) << record_hz << " of " << adc_hz;
    EXPECT_EQ(v.gap, away - 1) << record_hz << " of " << adc_hz;
    EXPECT_EQ(device.sequencer.MissingBy(Timestamp::FromSeconds(at_s)), 0);
    for (uint32_t k = 1; k <= 100; ++k) {
      EXPECT_EQ(device.Send(1 + k, ft * (1000 + away + k), at_s + k / record_hz).counter,
                v.counter + k);
    }
    // And a true restart is one still.
    EXPECT_TRUE(device.Send(1, 1, at_s + 2).clock_reset);
  }
}

// One wild jump of ft_sequence, in a record that is in order, must not become the scale.
TEST(RdtSequencer, AJumpOfTheSensorsOwnClockIsNoScale) {
  Device device(976);
  for (uint32_t n = 1; n <= 1000; ++n) device.Send(n, n + (n > 500 ? 1'000'000'000u : 0), n / 976.);
  const RdtVerdict v = device.Send(1, 1'000'000'000u + 1000 + 4880, 1000 / 976. + 5);
  EXPECT_FALSE(v.clock_reset);
  EXPECT_EQ(v.gap, 4879);
}

// A restart is told by the counter's fall, also after a stall in which we read late: the gap is
// measured from when the last record was due, not from when it was read.
TEST(RdtSequencer, TheGapOfARestartAfterABacklogIsNotShortByTheBacklogsLateness) {
  Device device(7000);
  for (uint32_t n = 1; n <= 70'000; ++n) device.Regular(n);
  for (uint32_t n = 70'001; n <= 77'000; ++n) device.Send(n, n, 12.0);  // due by 11 s
  const RdtVerdict v = device.Send(1, 1, 13.0);
  EXPECT_TRUE(v.clock_reset);
  EXPECT_NEAR(static_cast<double>(v.gap), 14'000, 20);
}

}  // namespace
}  // namespace handhold::capture::rdt_decoder_test

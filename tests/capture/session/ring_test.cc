#include "capture/session/ring.h"

#include <cstring>
#include <random>
#include <thread>

#include <gmock/gmock.h>

#include "capture/session/ring_sink.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/scripted_source.h"

namespace handhold::capture::ring_test {
namespace {

using recording::GapCause;
using testing::ForceStream;
using testing::MarkerStream;

bool Write(RecordRing& ring, int64_t counter, size_t values) {
  RingRecord* record = ring.Reserve(values, 0, false);
  if (record == nullptr) return false;
  record->kind = RecordKind::kSamples;
  record->first_counter = counter;
  auto* out = reinterpret_cast<double*>(record + 1);
  for (size_t i = 0; i < values; ++i) out[i] = static_cast<double>(counter) + 0.5;
  ring.Publish();
  return true;
}

TEST(RecordRingTest, FullRingRefusesSamplesButNotWhatIsMissing) {
  RecordRing ring(16 << 10, 4 << 10);
  int64_t written = 0;
  while (Write(ring, written, 4)) ++written;
  EXPECT_GT(written, 50);
  EXPECT_NE(ring.Reserve(0, 0, true), nullptr);
  ring.Publish();
  // Reading alone makes no room; releasing does.
  RecordRing::Position at{&ring, 0};
  const RingRecord* record = RecordRing::At(at);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->first_counter, 0);
  RecordRing::Advance(at, *record);
  EXPECT_FALSE(Write(ring, written, 4));
  for (int64_t k = 1; k < written; ++k) RecordRing::Advance(at, *RecordRing::At(at));
  RecordRing::Release(at);
  EXPECT_TRUE(Write(ring, written, 4));
}

TEST(RecordRingTest, EveryRecordArrivesInOrderThroughManyWrapsAndALargerRing) {
  RecordRing small(8 << 10, 1 << 10), large(64 << 10, 1 << 10);
  constexpr int64_t kRecords = 200'000;
  std::thread producer([&] {
    std::mt19937 rng(7);
    for (int64_t k = 0; k < kRecords; ++k) {
      RecordRing& ring = k < kRecords / 2 ? small : large;
      if (k == kRecords / 2) small.ContinueIn(&large);
      const size_t values = rng() % 40;
      while (!Write(ring, k, values)) std::this_thread::yield();
    }
  });
  RecordRing::Position at{&small, 0};
  for (int64_t k = 0; k < kRecords;) {
    const RingRecord* record = RecordRing::At(at);
    if (record == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(record->first_counter, k);
    for (const double v : record->values()) ASSERT_EQ(v, static_cast<double>(k) + 0.5);
    RecordRing::Advance(at, *record);
    RecordRing::Release(at);
    ++k;
  }
  producer.join();
  EXPECT_EQ(at.ring, &large);
}

/// Sends samples of stream 0 of one announcement.
class Sender {
 public:
  explicit Sender(RingSink& sink, recording::StreamInfo info)
      : sink_(sink), info_(std::move(info)) {
    base_ = sink_.OnStreams(std::span(&info_, 1));
    values_.resize(info_.channels.size(), 1.0);
  }
  void Send(int64_t counter) {
    SampleView view;
    view.stream = base_;
    view.first_counter = counter;
    view.count = 1;
    view.values = values_;
    view.clock = {counter, counter * 1000, 5'000 + counter, 0};
    sink_.OnSamples(view);
  }
  int base() const { return base_; }

 private:
  RingSink& sink_;
  recording::StreamInfo info_;
  int base_ = 0;
  std::vector<double> values_;
};

struct Seen {
  std::vector<int64_t> counters;
  std::vector<std::pair<int64_t, int64_t>> gaps;  ///< [first, end)
  std::vector<GapCause> causes;
};

void Read(RingSink&, RecordRing::Position& at, Seen* seen) {
  while (const RingRecord* record = RecordRing::At(at)) {
    if (record->kind == RecordKind::kSamples) seen->counters.push_back(record->first_counter);
    if (record->kind == RecordKind::kGap) {
      seen->gaps.emplace_back(record->first_counter, record->first_counter + record->gap_count);
      seen->causes.push_back(record->cause);
    }
    RecordRing::Advance(at, *record);
  }
  RecordRing::Release(at);
  RecordRing::MarkRead(at);
}

TEST(RingSinkTest, WhatFindsNoRoomBecomesOneGapInItsPlace) {
  RingSink sink(Duration::Milliseconds(100));
  Sender sender(sink, ForceStream("plate/wrench", 1000));
  Seen seen;
  RecordRing::Position at = sink.begin();
  int64_t counter = 0;
  for (int round = 0; round < 3; ++round) {
    const int64_t lost_before = sink.overflowed_samples();
    while (sink.overflowed_samples() < lost_before + 500) sender.Send(counter++);
    EXPECT_EQ(sink.TakeFullest(), 1.0);
    EXPECT_EQ(sink.waiting(), 1);
    Read(sink, at, &seen);
    sender.Send(counter++);
    EXPECT_EQ(sink.waiting(), 0);
    Read(sink, at, &seen);
  }
  ASSERT_EQ(seen.gaps.size(), 3u);
  int64_t missing = 0, expected = 0;
  size_t gap = 0;
  for (const int64_t c : seen.counters) {
    if (c != expected) {
      ASSERT_LT(gap, seen.gaps.size());
      EXPECT_EQ(seen.gaps[gap], std::pair(expected, c));
      EXPECT_EQ(seen.causes[gap], GapCause::kRingOverflow);
      missing += c - expected;
      ++gap;
    }
    expected = c + 1;
  }
  EXPECT_EQ(gap, 3u);
  EXPECT_EQ(missing, sink.overflowed_samples());
  EXPECT_EQ(expected, counter);
}

TEST(RingSinkTest, ADeviceGapDuringAnOverflowKeepsItsCause) {
  RingSink sink(Duration::Milliseconds(100));
  Sender sender(sink, ForceStream("plate/wrench", 1000));
  int64_t counter = 0;
  while (sink.overflowed_samples() < 10) sender.Send(counter++);
  const int64_t device = counter;
  sink.OnGap(sender.base(), device, 7, GapCause::kDeviceSkipped);
  counter += 7;
  for (int k = 0; k < 5; ++k) sender.Send(counter++);
  Seen seen;
  RecordRing::Position at = sink.begin();
  Read(sink, at, &seen);
  sender.Send(counter++);
  Read(sink, at, &seen);
  ASSERT_EQ(seen.gaps.size(), 3u);
  EXPECT_EQ(seen.gaps[1], std::pair(device, device + 7));
  EXPECT_EQ(seen.causes, (std::vector{GapCause::kRingOverflow, GapCause::kDeviceSkipped,
                                      GapCause::kRingOverflow}));
  EXPECT_EQ(seen.gaps[2], std::pair(device + 7, device + 12));
}

// The reserve for what is not samples fills too, when a device restarts and skips for as long as
// the encoder stalls: nothing of it is lost.
TEST(RingSinkTest, AResetAndAStateThatFindNoRoomWaitAndArriveBeforeTheirSamples) {
  RingSink sink(Duration::Milliseconds(100));
  Sender sender(sink, ForceStream("plate/wrench", 1000));
  int64_t counter = 0;
  while (sink.overflowed_samples() < 10) sender.Send(counter++);
  int states = 0;
  for (; states < 100'000 && sink.waiting() < 2; ++states) sink.OnState(true, "filling");
  ASSERT_EQ(sink.waiting(), 2) << "the reserve is full: a gap and a state wait";
  sink.OnState(false, "gone");
  const int64_t first_reset = counter;
  sink.OnClockReset(sender.base(), first_reset);
  sender.Send(counter++);
  const int64_t last_reset = counter;
  sink.OnClockReset(sender.base(), last_reset);
  for (int k = 0; k < 5; ++k) sender.Send(counter++);
  sink.OnState(true, "back");
  EXPECT_EQ(sink.waiting(), 3);
  EXPECT_EQ(sink.resets_told(), 2);

  std::vector<int64_t> resets, after_reset;
  std::string newest_state;
  Seen seen;
  RecordRing::Position at = sink.begin();
  for (int round = 0; round < 2; ++round) {
    while (const RingRecord* record = RecordRing::At(at)) {
      if (record->kind == RecordKind::kReset) resets.push_back(record->first_counter);
      if (record->kind == RecordKind::kState) newest_state = record->text();
      if (record->kind == RecordKind::kGap)
        seen.gaps.emplace_back(record->first_counter, record->first_counter + record->gap_count);
      if (record->kind == RecordKind::kSamples && !resets.empty())
        after_reset.push_back(record->first_counter);
      RecordRing::Advance(at, *record);
    }
    RecordRing::Release(at);
    if (round == 0) {
      EXPECT_THAT(resets, ::testing::IsEmpty());
      EXPECT_EQ(newest_state, "filling");
      sender.Send(counter);
    }
  }
  // Between the two resets no sample found room: the last one is where samples go on behind.
  EXPECT_THAT(resets, ::testing::ElementsAre(last_reset));
  EXPECT_THAT(after_reset, ::testing::ElementsAre(counter));
  ASSERT_EQ(seen.gaps.size(), 1u);
  EXPECT_EQ(seen.gaps[0].second, counter) << "and what lies before them is missing, as said";
  EXPECT_EQ(newest_state, "back");
  EXPECT_EQ(sink.waiting(), 0);
}

TEST(RingSinkTest, HoldsWhatItWasAskedToHold) {
  RingSink sink(Duration::Seconds(5));
  Sender sender(sink, MarkerStream("vicon/markers", 60, 500));
  for (int64_t k = 0; k < 2500; ++k) sender.Send(k);
  EXPECT_EQ(sink.overflowed_samples(), 0);
}

TEST(RingSinkTest, NothingOfTheSamplePathAllocates) {
  RingSink sink(Duration::Milliseconds(200));
  Sender sender(sink, MarkerStream("vicon/markers", 60, 500));
  Seen seen;
  const size_t before = testing::AllocationsOfThisThread();
  for (int64_t k = 0; k < 20'000; ++k) {  // through the overflow too
    sender.Send(k);
    if (k % 1000 == 0) {
      sink.OnGap(sender.base(), k + 1, 1, GapCause::kNetworkLoss);
      sink.OnClockReset(sender.base(), k + 1);
      sink.OnState(true, "streams");
    }
  }
  EXPECT_EQ(testing::AllocationsOfThisThread(), before);
  EXPECT_GT(sink.overflowed_samples(), 0);
}

TEST(RingSinkTest, NewStreamsGoOnInALargerRingWithoutALoss) {
  RingSink sink(Duration::Seconds(1));
  Sender few(sink, MarkerStream("vicon/markers", 2, 500));
  few.Send(0);
  Sender many(sink, MarkerStream("vicon/markers", 500, 2000));
  EXPECT_EQ(many.base(), 1);
  for (int64_t k = 1; k < 2000; ++k) many.Send(k);
  EXPECT_EQ(sink.overflowed_samples(), 0);
  RecordRing::Position at = sink.begin();
  std::vector<RecordKind> kinds;
  int64_t samples = 0;
  while (const RingRecord* record = RecordRing::At(at)) {
    if (record->kind == RecordKind::kSamples) ++samples;
    if (kinds.size() < 4) kinds.push_back(record->kind);
    if (record->kind == RecordKind::kStreams) {
      EXPECT_EQ(sink.announcement(record->stream).base, record->stream);
    }
    RecordRing::Advance(at, *record);
  }
  EXPECT_EQ(samples, 2000);
  EXPECT_EQ(kinds, (std::vector{RecordKind::kStreams, RecordKind::kSamples, RecordKind::kStreams,
                                RecordKind::kSamples}));
  EXPECT_EQ(sink.newest_host_ns(1), 5'000 + 1999);
}

TEST(RingSinkTest, ASlowConsumerOnItsOwnThreadSeesEveryCounterOrItsGap) {
  RingSink sink(Duration::Milliseconds(20));
  Sender sender(sink, ForceStream("plate/wrench", 1000));
  constexpr int64_t kSamples = 400'000;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (int64_t k = 0; k < kSamples; ++k) sender.Send(k);
    done = true;
  });
  RecordRing::Position at = sink.begin();
  int64_t expected = 0;
  const auto read = [&] {
    while (const RingRecord* record = RecordRing::At(at)) {
      if (record->kind == RecordKind::kSamples || record->kind == RecordKind::kGap) {
        ASSERT_EQ(record->first_counter, expected);
        expected += record->kind == RecordKind::kGap ? record->gap_count : record->count;
      }
      RecordRing::Advance(at, *record);
      RecordRing::Release(at);
    }
    std::this_thread::yield();
  };
  while (!done) read();
  producer.join();
  read();
  while (expected < kSamples) {  // what waited is said with the next sample
    sender.Send(kSamples);
    read();
    ASSERT_LE(expected, kSamples + 1);
  }
}

}  // namespace
}  // namespace handhold::capture::ring_test

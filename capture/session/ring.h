/// The lock-free path from a source's thread to the encoder's: samples, gaps, resets, states and
/// announcements of streams as records, in order, in one byte ring per source.
///
/// One producer (the source's thread, through RingSink) and one consumer (the encoder's thread).
/// The consumer reads ahead of what it releases: what is read and not released is the pre-roll;
/// Start reads again from where it has released to. The producer neither allocates, locks nor
/// throws. Pinned by tests/capture/session/ring_test.cc, under TSan too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "database/recording/clip.h"
#include "database/recording/clock_map.h"
#include "database/recording/stream.h"

namespace handhold::capture {

enum class RecordKind : uint8_t {
  kPad,      ///< the unused end of the ring; consumers never see it
  kStreams,  ///< the streams of announcement `stream` hold from here (RingSink::announcement)
  kSamples,
  kGap,    ///< counters [first_counter, first_counter + gap_count) of `stream` are missing
  kReset,  ///< the device's clock starts anew at `first_counter`
  kState,  ///< connection: `connected`, text
};

/// Head of a record; its values follow, then its point counts (or the text of a state).
struct RingRecord {
  uint32_t bytes = 0;  ///< of the whole record, a multiple of 8
  RecordKind kind = RecordKind::kPad;
  recording::GapCause cause = recording::GapCause::kDeviceSkipped;
  bool connected = false;
  int32_t stream = 0;  ///< as the source numbers them: base + index in the announcement
  int32_t count = 0;   ///< samples
  int64_t first_counter = 0;
  int64_t gap_count = 0;
  int64_t written_host_ns = 0;  ///< gaps, resets, states: when they were told
  recording::ClockPair clock;
  uint32_t value_count = 0;
  uint32_t tail_count = 0;  ///< point counts, or bytes of text
  int32_t saturated = 0;    ///< samples of which the device said so

  /// Device time from its first sample to its last.
  Duration Covers(recording::Rate rate) const {
    if (count <= 1 || rate.hz() <= 0) return {};
    return Duration::Nanoseconds(recording::DeviceTimeOfCounter(count - 1, rate));
  }
  std::span<const double> values() const {
    return {reinterpret_cast<const double*>(this + 1), value_count};
  }
  std::span<const int32_t> point_counts() const {
    return {reinterpret_cast<const int32_t*>(values().data() + value_count), tail_count};
  }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(values().data() + value_count), tail_count};
  }
};
static_assert(sizeof(RingRecord) % 8 == 0);

/// Single producer, single consumer. Positions are bytes since the beginning, ascending.
class RecordRing {
 public:
  /// `reserve_bytes` of it are for records other than samples, so that a full ring can still say
  /// what is missing. Touches every page now, not while recording.
  RecordRing(size_t capacity_bytes, size_t reserve_bytes);
  ~RecordRing();
  RecordRing(const RecordRing&) = delete;
  RecordRing& operator=(const RecordRing&) = delete;

  // The producer.
  /// Room for a record with so many values and tail bytes; null: full. Fill it, then Publish.
  RingRecord* Reserve(size_t value_count, size_t tail_bytes, bool into_reserve) noexcept;
  void Publish() noexcept;
  /// The records go on in `larger` (another set of streams): nothing more is written here.
  void ContinueIn(RecordRing* larger) { next_.store(larger, std::memory_order_release); }

  // The consumer.
  struct Position {
    RecordRing* ring = nullptr;
    uint64_t at = 0;
    bool operator==(const Position&) const = default;
  };
  /// The record at `position`, skipping to the next ring where one ends; null: nothing there yet.
  static const RingRecord* At(Position& position) noexcept;
  static void Advance(Position& position, const RingRecord& record) noexcept {
    position.at += record.bytes;
  }
  /// Everything before `position` in its ring may be overwritten.
  static void Release(const Position& position) noexcept {
    position.ring->released_.store(position.at, std::memory_order_release);
  }

  /// What lies before `position` has been read once: it no longer counts as unread, though it may
  /// be read again.
  static void MarkRead(const Position& position) noexcept {
    std::atomic<uint64_t>& read = position.ring->read_;
    if (position.at > read.load(std::memory_order_relaxed))
      read.store(position.at, std::memory_order_release);
  }

  // Any thread.
  size_t capacity() const { return capacity_; }
  uint64_t written() const { return written_.load(std::memory_order_acquire); }
  /// Bytes written and not released.
  uint64_t held() const {
    const uint64_t released = released_.load(std::memory_order_acquire);
    return written() - released;
  }
  /// Bytes that nobody has read yet.
  uint64_t unread() const {
    const uint64_t read = read_.load(std::memory_order_acquire);
    return written() - read;
  }
  RecordRing* next() const { return next_.load(std::memory_order_acquire); }

 private:
  const size_t capacity_, reserve_;
  std::unique_ptr<std::byte[]> bytes_;
  std::atomic<RecordRing*> next_{nullptr};
  // Of the producer.
  alignas(64) uint64_t write_ = 0;  ///< where the reserved record begins
  uint64_t reserved_ = 0;           ///< its length
  uint64_t released_seen_ = 0;      ///< the last look at released_
  alignas(64) std::atomic<uint64_t> written_{0};
  alignas(64) std::atomic<uint64_t> released_{0};
  std::atomic<uint64_t> read_{0};
};

}  // namespace handhold::capture

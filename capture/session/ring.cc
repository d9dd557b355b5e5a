#include "capture/session/ring.h"

#include <cstring>
#include <new>

#include "database/base/check.h"

namespace handhold::capture {
namespace {

constexpr size_t RoundUp(size_t n) { return (n + 7) / 8 * 8; }

}  // namespace

RecordRing::RecordRing(size_t capacity_bytes, size_t reserve_bytes)
    : capacity_(RoundUp(capacity_bytes)),
      reserve_(RoundUp(reserve_bytes)),
      bytes_(std::make_unique<std::byte[]>(capacity_)) {
  CHECK_GE(reserve_, sizeof(RingRecord));
  CHECK_GT(capacity_, 2 * reserve_);
}

RecordRing::~RecordRing() = default;

RingRecord* RecordRing::Reserve(size_t value_count, size_t tail_bytes, bool into_reserve) noexcept {
  const size_t bytes = RoundUp(sizeof(RingRecord) + 8 * value_count + tail_bytes);
  const size_t offset = write_ % capacity_;
  const size_t pad = offset + bytes > capacity_ ? capacity_ - offset : 0;
  const size_t limit = into_reserve ? capacity_ : capacity_ - reserve_;
  if (bytes > limit) return nullptr;
  if (write_ + pad + bytes - released_seen_ > limit) {
    released_seen_ = released_.load(std::memory_order_acquire);
    if (write_ + pad + bytes - released_seen_ > limit) return nullptr;
  }
  if (pad > 0) {
    // A pad may be as short as 8 bytes: only length and kind of it are ever read.
    const auto length = static_cast<uint32_t>(pad);
    const RecordKind kind = RecordKind::kPad;
    std::memcpy(&bytes_[offset], &length, sizeof length);
    std::memcpy(&bytes_[offset + sizeof length], &kind, sizeof kind);
    write_ += pad;
  }
  auto* record = new (&bytes_[write_ % capacity_]) RingRecord;
  record->bytes = static_cast<uint32_t>(bytes);
  record->value_count = static_cast<uint32_t>(value_count);
  reserved_ = bytes;
  return record;
}

void RecordRing::Publish() noexcept {
  write_ += reserved_;
  reserved_ = 0;
  written_.store(write_, std::memory_order_release);
}

const RingRecord* RecordRing::At(Position& position) noexcept {
  for (;;) {
    const RecordRing& ring = *position.ring;
    // The successor is looked for first: once there is one, nothing more is written here.
    RecordRing* next = ring.next();
    if (position.at == ring.written()) {
      if (next == nullptr) return nullptr;
      position = {next, 0};
      continue;
    }
    const std::byte* at = &ring.bytes_[position.at % ring.capacity_];
    uint32_t length = 0;
    RecordKind kind = RecordKind::kPad;
    std::memcpy(&length, at, sizeof length);
    std::memcpy(&kind, at + sizeof length, sizeof kind);
    if (kind != RecordKind::kPad) return std::launder(reinterpret_cast<const RingRecord*>(at));
    position.at += length;
  }
}

}  // namespace handhold::capture

#include "database/store/clip_cursor.h"

#include <algorithm>

namespace handhold::store {

ClipCursor::ClipCursor(const Database& db, const recording::StreamInfo& info,
                       std::vector<ChunkEntry> entries)
    : db_(db),
      info_(info),
      layout_(ChunkLayout::Of(info, true, false)),
      entries_(std::move(entries)) {}

Status ClipCursor::Next(ChunkSamples& out) {
  const ChunkEntry& entry = entries_[next_++];
  const int64_t id = ChunkId(info_.id, entry.sequence);
  const auto read = [&]() -> Status {
    if (blob_.is_open()) {
      HANDHOLD_TRY(blob_.Move(id));
    } else {
      HANDHOLD_ASSIGN(blob_, BlobHandle::Open(db_, "chunk", "data", id));
    }
    bytes_.resize(static_cast<size_t>(blob_.size()));
    HANDHOLD_TRY(blob_.Read(0, bytes_));
    HANDHOLD_TRY(decoder_.Decode(layout_, bytes_, header_, out));
    return CheckEntry(header_, entry);
  };
  Status status = read();
  if (status) return status;
  return status.error().Within(db_.path() + ": stream '" + info_.name + "', samples " +
                               std::to_string(entry.first_index) + " to " +
                               std::to_string(entry.first_index + entry.count - 1));
}

Status CheckEntry(const ChunkHeader& header, const ChunkEntry& entry) {
  if (header.sequence == entry.sequence && header.first_index == entry.first_index &&
      header.first_counter == entry.first_counter && header.last_counter == entry.last_counter &&
      static_cast<int>(header.count) == entry.count &&
      header.first_time_ns == entry.first_time_ns) {
    return {};
  }
  return Error{ErrorCode::kCorrupt, "chunk: its header is not what its row says"};
}

int NominalCount(recording::Rate rate, Duration length) {
  if (rate.numerator <= 0) return 1024;
  return static_cast<int>(
      std::clamp(rate.hz() * length.seconds() + 0.5, 1.0, static_cast<double>(kMaxFrameSamples)));
}

int ChunkEnd(const ChunkLayout& layout, const ChunkSamples& samples, int begin, Duration length) {
  const int nominal = NominalCount(layout.rate, length);
  int end = std::min(samples.count(), begin + nominal);
  const int64_t columns = std::max<int64_t>(1, samples.columns());
  const int64_t most = std::min<int64_t>(kMaxFrameSamples, kMaxWrittenValues / columns);
  size_t text_bytes = 0;
  for (int i = begin; i < end && !samples.texts.empty(); ++i) {
    text_bytes += samples.texts[static_cast<size_t>(i)].size();
    if (text_bytes > kMaxWrittenValues * sizeof(double) && i > begin) return i;
  }
  if (samples.point_counts.empty())
    return static_cast<int>(std::min<int64_t>(end, begin + std::max<int64_t>(1, most)));
  int64_t points = 0;
  for (int i = begin; i < end; ++i) {
    points += samples.point_counts[static_cast<size_t>(i)];
    if (points > most && i > begin) return i;
  }
  return end;
}

Status InsertChunk(Statement& insert, ChunkEncoder& encoder, const ChunkLayout& layout,
                   uint32_t sequence, int64_t first_index, const ChunkSamples& samples, int begin,
                   int end, Bytes& bytes) {
  encoder.Encode(layout, sequence, first_index, samples, begin, end, bytes);
  const int64_t first = samples.CounterAt(begin), last = samples.CounterAt(end - 1);
  const bool even = samples.host_times.empty();
  const auto time = [&](int64_t counter, int i) {
    if (!even) return samples.host_times[static_cast<size_t>(i)];
    return layout.rate.numerator > 0 ? recording::DeviceTimeOfCounter(counter, layout.rate)
                                     : counter;
  };
  return insert.Bind(1, ChunkId(static_cast<int>(layout.stream), sequence))
      .Bind(2, first_index)
      .Bind(3, first)
      .Bind(4, last)
      .Bind(5, end - begin)
      .Bind(6, time(first, begin))
      .Bind(7, time(last, end - 1))
      .Bind(8, std::span<const uint8_t>(bytes))
      .Run();
}

}  // namespace handhold::store

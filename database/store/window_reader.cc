#include "database/store/window_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "database/base/check.h"
#include "database/store/clip_cursor.h"

namespace handhold::store {
namespace {

using recording::SampleOrigin;
using recording::SampleWindow;
using recording::StreamKind;

}  // namespace

WindowReader::WindowReader(const Database& db, const recording::StreamInfo& info,
                           std::vector<ChunkEntry> entries, ClipTimes times, int64_t host_start_ns)
    : db_(db),
      info_(info),
      entries_(std::move(entries)),
      times_(times),
      host_start_ns_(host_start_ns),
      layout_(ChunkLayout::Of(info, true, false)) {
  uneven_ = info.kind == StreamKind::kText || info.rate.numerator == 0;
}

Error WindowReader::Where(const Error& error, const ChunkEntry& entry) const {
  const TimeRange range = RangeOf(entry);
  return error.Within(db_.path() + ": stream '" + info_.name + "', " +
                      FormatSeconds(range.begin - Timestamp()) + " to " +
                      FormatSeconds(range.end - Timestamp()));
}

TimeRange WindowReader::RangeOf(const ChunkEntry& entry) const {
  if (uneven_) {
    return {Timestamp::FromNanoseconds(entry.first_time_ns - host_start_ns_),
            Timestamp::FromNanoseconds(entry.last_time_ns - host_start_ns_ + 1)};
  }
  return {times_.At(entry.first_counter), times_.At(entry.last_counter + 1)};
}

TimeRange WindowReader::Extent() const {
  if (entries_.empty()) return {};
  return {RangeOf(entries_.front()).begin, RangeOf(entries_.back()).end};
}

Status WindowReader::OpenChunk(const ChunkEntry& entry) {
  if (open_ == &entry) return {};
  open_ = nullptr;
  index_loaded_ = false;
  bytes_.clear();
  const int64_t id = ChunkId(info_.id, entry.sequence);
  if (blob_.is_open()) {
    HANDHOLD_TRY(blob_.Move(id));
  } else {
    HANDHOLD_ASSIGN(blob_, BlobHandle::Open(db_, "chunk", "data", id));
  }
  const int size = blob_.size();
  head_.resize(static_cast<size_t>(std::min(size, ChunkHeader::kFixedBytes)));
  HANDHOLD_TRY(blob_.Read(0, head_));
  HANDHOLD_ASSIGN(const int head_bytes, ChunkHeaderBytes(head_));
  if (head_bytes > size) return Error{ErrorCode::kCorrupt, "chunk: shorter than its frame table"};
  head_.resize(static_cast<size_t>(head_bytes));
  HANDHOLD_TRY(
      blob_.Read(ChunkHeader::kFixedBytes, std::span(head_).subspan(ChunkHeader::kFixedBytes)));
  HANDHOLD_ASSIGN(header_, ParseChunkHeader(head_, size));
  HANDHOLD_TRY(CheckLayout(layout_, header_));
  HANDHOLD_TRY(CheckEntry(header_, entry));
  open_ = &entry;
  return {};
}

Result<std::span<const uint8_t>> WindowReader::Frame(int i) {
  const ChunkHeader::Frame& frame = header_.frames[static_cast<size_t>(i)];
  std::span<const uint8_t> bytes;
  if (!bytes_.empty() && frame.begin >= bytes_begin_ &&
      frame.begin + frame.size <= bytes_begin_ + bytes_.size()) {
    bytes = std::span<const uint8_t>(bytes_).subspan(frame.begin - bytes_begin_, frame.size);
  } else {
    bytes_begin_ = frame.begin;
    bytes_.resize(frame.size);
    HANDHOLD_TRY(blob_.Read(static_cast<int>(frame.begin), bytes_));
    bytes = bytes_;
  }
  HANDHOLD_TRY(CheckFrame(header_, i, bytes));
  return bytes;
}

Status WindowReader::LoadIndex() {
  if (index_loaded_) return {};
  index_.Reset(0, static_cast<int>(header_.count), 0);
  HANDHOLD_TRY(decoder_.DecodeIndex(header_, [&](int i) { return Frame(i); }, index_));
  index_loaded_ = true;
  return {};
}

Status WindowReader::AddPiece(const ChunkEntry& entry, TimeRange range, bool whole) {
  const bool even_run = !uneven_ && entry.last_counter - entry.first_counter == entry.count - 1;
  Piece piece{&entry, 0, entry.count, even_run};
  if (!whole && even_run) {
    piece.begin = times_.LowerBound(entry.first_counter, entry.count, range.begin);
    piece.end = times_.LowerBound(entry.first_counter, entry.count, range.end);
  } else if (!whole) {
    HANDHOLD_TRY(OpenChunk(entry));
    HANDHOLD_TRY(LoadIndex());
    const auto time = [&](int i) {
      return uneven_ ? Timestamp::FromNanoseconds(index_.host_times[static_cast<size_t>(i)] -
                                                  host_start_ns_)
                     : times_.At(index_.CounterAt(i));
    };
    if (uneven_ && index_.host_times.empty())
      return Error{ErrorCode::kCorrupt, "chunk: has no times"};
    const auto bound = [&](Timestamp t) {
      int low = 0, high = entry.count;
      while (low < high) {
        const int middle = low + (high - low) / 2;
        if (time(middle) < t) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    };
    piece.begin = bound(range.begin);
    piece.end = bound(range.end);
  }
  if (piece.begin < piece.end) pieces_.push_back(piece);
  return {};
}

Status WindowReader::Read(TimeRange range, const std::vector<int>& channels, SampleWindow& out) {
  pieces_.clear();
  // The first chunk that ends after range.begin.
  auto entry = std::partition_point(entries_.begin(), entries_.end(), [&](const ChunkEntry& e) {
    return (uneven_ ? Timestamp::FromNanoseconds(e.last_time_ns - host_start_ns_)
                    : times_.At(e.last_counter)) < range.begin;
  });
  for (; entry != entries_.end(); ++entry) {
    if (RangeOf(*entry).begin >= range.end) break;
    if (Status status = AddPiece(*entry, range, false); !status)
      return Finish(Where(status.error(), *entry));
  }
  return Finish(Fill(channels, out));
}

Status WindowReader::ReadChunks(size_t first, size_t last, const std::vector<int>& channels,
                                SampleWindow& out) {
  pieces_.clear();
  for (size_t i = first; i < last; ++i) {
    if (Status status = AddPiece(entries_[i], {}, true); !status)
      return Finish(Where(status.error(), entries_[i]));
  }
  return Finish(Fill(channels, out));
}

Status WindowReader::TryChunk(const ChunkEntry& entry, std::set<int>& bad_groups,
                              std::string& why) {
  const auto decode = [&](const std::vector<int>& channels) -> Status {
    SampleWindow window;
    pieces_.assign(1, {&entry, 0, entry.count, false});  // not even: its index is read too
    return Fill(channels, window);
  };
  open_ = nullptr;
  Status whole = decode({});
  if (whole || info_.kind == StreamKind::kText || info_.kind == StreamKind::kUnlabelledPoints)
    return whole;
  HANDHOLD_TRY(OpenChunk(entry));
  HANDHOLD_TRY(LoadIndex());
  why = whole.error().message;
  const std::string place = Where({whole.error().code, ""}, entry).message;
  if (why.starts_with(place)) why.erase(0, place.size());  // it is told beside it
  const int group = static_cast<int>(header_.columns_per_frame);
  for (int g = 0; g < header_.value_frames(); ++g) {
    if (!decode({g * group})) bad_groups.insert(g);
  }
  return {};
}

std::vector<recording::Gap> WindowReader::ReadAround(Issues& damage) {
  std::vector<ChunkEntry> good;
  std::vector<recording::Gap> gaps;
  int64_t index = 0;  // that should come next
  int64_t counter = entries_.empty() ? 0 : entries_.front().first_counter;
  const auto tell = [&](const ChunkEntry& entry, std::string what) {
    const TimeRange range = RangeOf(entry);
    damage.push_back({"stream '" + info_.name + "', " + FormatSeconds(range.begin - Timestamp()) +
                          " to " + FormatSeconds(range.end - Timestamp()),
                      Severity::kLoss, std::move(what)});
  };
  for (const ChunkEntry& entry : entries_) {
    std::set<int> bad;
    std::string why;
    if (const Status read = TryChunk(entry, bad, why); !read) {
      tell(entry, std::to_string(entry.count) + " samples are left out: " + read.error().message);
      continue;
    }
    // Chunks that cannot be read, or are not even listed, lie between this and the last one.
    if (entry.first_index != index && entry.first_counter > counter) {
      gaps.push_back({info_.id, counter, entry.first_counter - counter,
                      recording::GapCause::kDisconnected,
                      good.empty() ? RangeOf(entries_.front()).begin : RangeOf(good.back()).end,
                      RangeOf(entry).begin});
    }
    index = entry.first_index + entry.count;
    counter = entry.last_counter + 1;
    good.push_back(entry);
    if (bad.empty()) continue;
    std::string names;
    for (const int g : bad) {
      const int group = static_cast<int>(header_.columns_per_frame);
      for (int c = g * group; c < std::min((g + 1) * group, info_.channel_count()); ++c)
        names += (names.empty() ? "" : ", ") + info_.channels[static_cast<size_t>(c)].name;
    }
    tell(entry, names + " are missing there: " + why);
    bad_groups_[entry.sequence] = std::move(bad);
  }
  if (!entries_.empty() && (good.empty() || good.back().sequence != entries_.back().sequence)) {
    const ChunkEntry& last = entries_.back();
    gaps.push_back({info_.id, counter, last.last_counter + 1 - counter,
                    recording::GapCause::kDisconnected,
                    good.empty() ? RangeOf(entries_.front()).begin : RangeOf(good.back()).end,
                    RangeOf(last).end});
  }
  open_ = nullptr;
  entries_ = std::move(good);
  return gaps;
}

Status WindowReader::Finish(Status status) {
  if (close_after_read_) {
    blob_ = BlobHandle();
    open_ = nullptr;
  }
  return status;
}

Status WindowReader::Fill(const std::vector<int>& channels, SampleWindow& out) {
  out.stream_id = info_.id;
  wanted_.clear();
  if (channels.empty()) {
    for (int c = 0; c < info_.channel_count(); ++c) wanted_.push_back({c, static_cast<size_t>(c)});
  } else {
    for (size_t k = 0; k < channels.size(); ++k) {
      if (channels[k] < 0 || channels[k] >= info_.channel_count()) {
        return Error{ErrorCode::kNotFound,
                     "stream '" + info_.name + "' has no channel " + std::to_string(channels[k])};
      }
      wanted_.push_back({channels[k], k});
    }
    std::sort(wanted_.begin(), wanted_.end());
  }
  out.channel_count = static_cast<int>(wanted_.size());
  out.times.clear();
  out.counters.clear();
  out.values.clear();
  out.origins.clear();
  out.point_counts.clear();
  out.texts.clear();
  size_t total = 0;
  for (const Piece& piece : pieces_) total += static_cast<size_t>(piece.end - piece.begin);
  out.times.reserve(total);
  out.counters.reserve(total);
  const bool columns =
      info_.kind != StreamKind::kText && info_.kind != StreamKind::kUnlabelledPoints;
  if (columns) out.values.resize(total * wanted_.size());
  size_t at = 0;
  for (const Piece& piece : pieces_) {
    const auto read = [&]() -> Status {
      HANDHOLD_TRY(OpenChunk(*piece.entry));
      if (piece.even_run) {
        times_.Append(piece.entry->first_counter + piece.begin, piece.end - piece.begin, out.times);
        const size_t from = out.counters.size();
        out.counters.resize(from + static_cast<size_t>(piece.end - piece.begin));
        std::iota(out.counters.begin() + static_cast<std::ptrdiff_t>(from), out.counters.end(),
                  piece.entry->first_counter + piece.begin);
      } else {
        HANDHOLD_TRY(LoadIndex());
        if (uneven_ && index_.host_times.empty())
          return Error{ErrorCode::kCorrupt, "chunk: has no times"};
        for (int i = piece.begin; i < piece.end; ++i) {
          const int64_t counter = index_.CounterAt(i);
          out.counters.push_back(counter);
          out.times.push_back(uneven_
                                  ? Timestamp::FromNanoseconds(
                                        index_.host_times[static_cast<size_t>(i)] - host_start_ns_)
                                  : times_.At(counter));
        }
      }
      if (info_.kind == StreamKind::kText) {
        out.texts.insert(out.texts.end(), index_.texts.begin() + piece.begin,
                         index_.texts.begin() + piece.end);
        return {};
      }
      if (info_.kind == StreamKind::kUnlabelledPoints) return FillPoints(piece, out);
      HANDHOLD_TRY(FillValues(piece, at, total, false, out));
      const bool has_origins = (header_.flags & ChunkHeader::kHasOrigins) != 0;
      if (has_origins && out.origins.empty()) {
        out.origins.assign(out.values.size(), SampleOrigin::kMeasured);
        for (size_t c = 0; c < wanted_.size(); ++c) {  // the pieces before had none
          for (size_t i = 0; i < at; ++i) {
            if (std::isnan(out.values[c * total + i]))
              out.origins[c * total + i] = SampleOrigin::kMissing;
          }
        }
      }
      if (has_origins) return FillValues(piece, at, total, true, out);
      for (size_t c = 0; c < wanted_.size() && !out.origins.empty(); ++c) {
        for (size_t i = at; i < at + static_cast<size_t>(piece.end - piece.begin); ++i) {
          if (std::isnan(out.values[c * total + i]))
            out.origins[c * total + i] = SampleOrigin::kMissing;
        }
      }
      return {};
    };
    if (Status status = read(); !status) return Where(status.error(), *piece.entry);
    at += static_cast<size_t>(piece.end - piece.begin);
  }
  return {};
}

Status WindowReader::FillValues(const Piece& piece, size_t at, size_t stride, bool origins,
                                SampleWindow& out) {
  const int group = static_cast<int>(header_.columns_per_frame),
            first_frame = origins ? header_.value_frames() : 0;
  const auto bad = bad_groups_.find(header_.sequence);
  if (wanted_.size() == static_cast<size_t>(info_.channel_count()) && !header_.frames.empty() &&
      bad == bad_groups_.end()) {  // all: one read for all frames
    const ChunkHeader::Frame& from = header_.frames[static_cast<size_t>(first_frame)];
    const ChunkHeader::Frame& to =
        header_.frames[static_cast<size_t>(first_frame + header_.value_frames() - 1)];
    bytes_begin_ = from.begin;
    bytes_.resize(to.begin + to.size - from.begin);
    HANDHOLD_TRY(blob_.Read(static_cast<int>(from.begin), bytes_));
  }
  for (size_t k = 0; k < wanted_.size();) {
    const int frame = wanted_[k].first / group;
    size_t end = k + 1;
    while (end < wanted_.size() && wanted_[end].first / group == frame) ++end;
    if (bad == bad_groups_.end() || !bad->second.contains(frame)) {
      HANDHOLD_TRY(FillFrame(first_frame + frame, k, end, piece, at, stride, origins, out));
    } else {
      for (size_t w = k; w < end; ++w) {
        const size_t from = wanted_[w].second * stride + at;
        const auto count = static_cast<size_t>(piece.end - piece.begin);
        if (origins) {
          std::fill_n(out.origins.begin() + static_cast<std::ptrdiff_t>(from), count,
                      SampleOrigin::kMissing);
        } else {
          std::fill_n(out.values.begin() + static_cast<std::ptrdiff_t>(from), count,
                      std::numeric_limits<double>::quiet_NaN());
        }
      }
    }
    k = end;
  }
  return {};
}

Status WindowReader::FillFrame(int frame, size_t first, size_t last, const Piece& piece, size_t at,
                               size_t stride, bool origins, SampleWindow& out) {
  const int group = static_cast<int>(header_.columns_per_frame),
            columns = static_cast<int>(header_.columns);
  const int channel = wanted_[first].first / group * group, n = std::min(group, columns - channel);
  const auto length = static_cast<size_t>(piece.end - piece.begin);
  HANDHOLD_ASSIGN(const std::span<const uint8_t> bytes, Frame(frame));
  if (origins) {
    integers_.resize(static_cast<size_t>(n) * header_.value_count);
    HANDHOLD_TRY(decoder_.frames().DecodeIntegers(bytes, n, static_cast<int>(header_.value_count),
                                                  integers_.data(), header_.value_count));
    for (size_t k = first; k < last; ++k) {
      const int64_t* from = integers_.data() +
                            static_cast<size_t>(wanted_[k].first - channel) * header_.value_count +
                            piece.begin;
      for (size_t i = 0; i < length; ++i) {
        if (from[i] < 0 || from[i] > 3)
          return Error{ErrorCode::kCorrupt, "chunk: an origin of no meaning"};
        out.origins[wanted_[k].second * stride + at + i] = static_cast<SampleOrigin>(from[i]);
      }
    }
    return {};
  }
  columns_.clear();
  bool direct = true;  // wanted columns are consecutive in the window too, and named once
  for (size_t k = first; k < last; ++k) {
    if (columns_.empty() || columns_.back() != wanted_[k].first - channel)
      columns_.push_back(wanted_[k].first - channel);
    direct = direct && wanted_[k].second == wanted_[first].second + (k - first);
  }
  direct = direct && columns_.size() == last - first;
  const std::span<const double> quanta =
      std::span(layout_.quanta).subspan(static_cast<size_t>(channel), static_cast<size_t>(n));
  const int count = static_cast<int>(header_.value_count);
  if (direct) {
    return decoder_.frames().DecodeValues(bytes, quanta, count, columns_, piece.begin, piece.end,
                                          out.values.data() + wanted_[first].second * stride + at,
                                          stride);
  }
  scratch_.resize(columns_.size() * length);
  HANDHOLD_TRY(decoder_.frames().DecodeValues(bytes, quanta, count, columns_, piece.begin,
                                              piece.end, scratch_.data(), length));
  size_t column = 0;
  for (size_t k = first; k < last; ++k) {
    while (columns_[column] != wanted_[k].first - channel) ++column;
    std::copy_n(scratch_.data() + column * length, length,
                out.values.data() + wanted_[k].second * stride + at);
  }
  return {};
}

Status WindowReader::FillPoints(const Piece& piece, SampleWindow& out) {
  HANDHOLD_TRY(LoadIndex());
  out.point_counts.insert(out.point_counts.end(), index_.point_counts.begin() + piece.begin,
                          index_.point_counts.begin() + piece.end);
  const int begin =
      std::accumulate(index_.point_counts.begin(), index_.point_counts.begin() + piece.begin, 0);
  const int end = std::accumulate(index_.point_counts.begin() + piece.begin,
                                  index_.point_counts.begin() + piece.end, begin);
  if (begin == end) return {};
  const auto points = static_cast<size_t>(end - begin);
  const int columns = static_cast<int>(header_.columns),
            group = static_cast<int>(header_.columns_per_frame);
  scratch_.resize(points * static_cast<size_t>(columns));
  for (int first = 0; first < columns; first += group) {
    const int n = std::min(group, columns - first);
    columns_.resize(static_cast<size_t>(n));
    std::iota(columns_.begin(), columns_.end(), 0);
    HANDHOLD_ASSIGN(const std::span<const uint8_t> bytes, Frame(first / group));
    HANDHOLD_TRY(decoder_.frames().DecodeValues(
        bytes,
        std::span(layout_.quanta).subspan(static_cast<size_t>(first), static_cast<size_t>(n)),
        static_cast<int>(header_.value_count), columns_, begin, end,
        scratch_.data() + static_cast<size_t>(first) * points, points));
  }
  for (size_t p = 0; p < points; ++p) {
    for (size_t c = 0; c < static_cast<size_t>(columns); ++c)
      out.values.push_back(scratch_[c * points + p]);
  }
  return {};
}

}  // namespace handhold::store

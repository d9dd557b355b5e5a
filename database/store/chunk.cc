#include "database/store/chunk.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "database/base/check.h"
#include "database/recording/clip.h"
#include "database/store/crc32c.h"

namespace handhold::store {
namespace {

using recording::SampleBlock;
using recording::StreamKind;

constexpr uint32_t kMagic = 0x4B434848;  // "HHCK"
constexpr uint16_t kLayoutVersion = 0;
constexpr int kCrcOffset = 76;

Error Damaged(const char* what) { return {ErrorCode::kCorrupt, std::string("chunk: ") + what}; }

}  // namespace

// ---- ChunkSamples

void ChunkSamples::Grow(int value_count) {
  if (static_cast<size_t>(value_count) <= stride_) return;
  const size_t columns = std::max<size_t>(1, static_cast<size_t>(columns_));
  const size_t ahead =
      std::min(stride_ + stride_ / 2, static_cast<size_t>(kMaxWrittenValues) / columns);
  const size_t stride = std::max(static_cast<size_t>(value_count), ahead);
  std::vector<double> values(stride * static_cast<size_t>(columns_));
  std::vector<uint8_t> origins(origins_.empty() ? 0 : values.size());
  for (size_t c = 0; c < static_cast<size_t>(columns_); ++c) {
    std::copy_n(values_.data() + c * stride_, value_count_, values.data() + c * stride);
    if (!origins_.empty())
      std::copy_n(origins_.data() + c * stride_, value_count_, origins.data() + c * stride);
  }
  values_ = std::move(values);
  origins_ = std::move(origins);
  stride_ = stride;
}

void ChunkSamples::NeedOrigins() {
  if (!origins_.empty()) return;
  origins_.assign(values_.size(), static_cast<uint8_t>(recording::SampleOrigin::kMeasured));
  for (size_t c = 0; c < static_cast<size_t>(columns_); ++c) {
    for (size_t i = 0; i < static_cast<size_t>(value_count_); ++i) {
      if (std::isnan(values_[c * stride_ + i]))
        origins_[c * stride_ + i] = static_cast<uint8_t>(recording::SampleOrigin::kMissing);
    }
  }
}

void ChunkSamples::AddRun(int64_t counter, int count) {
  if (count_ == 0) runs.clear();
  if (runs.empty() || counter != last_counter() + 1) runs.push_back({count_, counter});
  count_ += count;
}

void ChunkSamples::Append(StreamKind kind, const SampleBlock& block, int begin, int end) {
  const auto n = static_cast<size_t>(end - begin);
  if (kind == StreamKind::kUnlabelledPoints) {
    const int first =
        std::accumulate(block.point_counts.begin(), block.point_counts.begin() + begin, 0);
    const int points =
        std::accumulate(block.point_counts.begin() + begin, block.point_counts.begin() + end, 0);
    Grow(value_count_ + points);
    for (int p = 0; p < points; ++p) {
      for (int c = 0; c < columns_; ++c) {
        column(c)[value_count_ + p] =
            block.values[static_cast<size_t>(first + p) * static_cast<size_t>(columns_) +
                         static_cast<size_t>(c)];
      }
    }
    point_counts.insert(point_counts.end(), block.point_counts.begin() + begin,
                        block.point_counts.begin() + end);
    AddRun(block.first_counter + begin, end - begin);
    value_count_ += points;
  } else {
    Grow(value_count_ + static_cast<int>(n));
    if (!block.origins.empty()) NeedOrigins();
    for (int c = 0; c < columns_; ++c) {
      const size_t from =
          static_cast<size_t>(c) * static_cast<size_t>(block.count) + static_cast<size_t>(begin);
      const double* values = block.values.data() + from;
      std::copy_n(values, n, column(c) + value_count_);
      if (origins_.empty()) continue;
      uint8_t* origins =
          origins_.data() + static_cast<size_t>(c) * stride_ + static_cast<size_t>(value_count_);
      for (size_t i = 0; i < n; ++i) {
        const auto measured = std::isnan(values[i]) ? recording::SampleOrigin::kMissing
                                                    : recording::SampleOrigin::kMeasured;
        origins[i] =
            static_cast<uint8_t>(block.origins.empty() ? measured : block.origins[from + i]);
      }
    }
    AddRun(block.first_counter + begin, end - begin);
    value_count_ += static_cast<int>(n);
  }
  for (int i = begin; i < end && !block.host_times.empty(); ++i)
    host_times.push_back(block.host_times[static_cast<size_t>(i)].ns());
  if (kind == StreamKind::kText)
    texts.insert(texts.end(), block.texts.begin() + begin, block.texts.begin() + end);
}

void ChunkSamples::Append(const ChunkSamples& other, int begin, int end) {
  CHECK_EQ(columns_, other.columns_);
  const int from = other.ValueBegin(begin), to = other.ValueBegin(end), n = to - from;
  Grow(value_count_ + n);
  if (other.has_origins()) NeedOrigins();
  for (int c = 0; c < columns_; ++c) {
    std::copy_n(other.column(c) + from, n, column(c) + value_count_);
    if (origins_.empty()) continue;
    uint8_t* origins =
        origins_.data() + static_cast<size_t>(c) * stride_ + static_cast<size_t>(value_count_);
    for (int i = 0; i < n; ++i) {
      const auto measured = std::isnan(other.column(c)[from + i])
                                ? recording::SampleOrigin::kMissing
                                : recording::SampleOrigin::kMeasured;
      origins[i] =
          other.has_origins() ? other.origin_column(c)[from + i] : static_cast<uint8_t>(measured);
    }
  }
  for (int i = begin; i < end;) {  // by runs
    const auto next = std::upper_bound(other.runs.begin(), other.runs.end(), i,
                                       [](int at, const CounterRun& run) { return at < run.at; });
    const int stop = next == other.runs.end() ? end : std::min(end, next->at);
    AddRun(other.CounterAt(i), stop - i);
    i = stop;
  }
  value_count_ += n;
  if (!other.point_counts.empty())
    point_counts.insert(point_counts.end(), other.point_counts.begin() + begin,
                        other.point_counts.begin() + end);
  if (!other.host_times.empty())
    host_times.insert(host_times.end(), other.host_times.begin() + begin,
                      other.host_times.begin() + end);
  if (!other.texts.empty())
    texts.insert(texts.end(), other.texts.begin() + begin, other.texts.begin() + end);
}

void ChunkSamples::Truncate(int count) {
  value_count_ = ValueBegin(count);
  count_ = count;
  while (!runs.empty() && runs.back().at >= count) runs.pop_back();
  const auto cut = [&](auto& list) {
    if (list.size() > static_cast<size_t>(count)) list.resize(static_cast<size_t>(count));
  };
  cut(point_counts);
  cut(host_times);
  cut(texts);
  if (count == 0) origins_.clear();
}

void ChunkSamples::DropFront(int count) {
  if (count == count_) return Clear();
  const int values = ValueBegin(count);
  for (int c = 0; c < columns_; ++c) {
    std::copy(column(c) + values, column(c) + value_count_, column(c));
    if (origins_.empty()) continue;
    uint8_t* origins = origins_.data() + static_cast<size_t>(c) * stride_;
    std::copy(origins + values, origins + value_count_, origins);
  }
  const int64_t counter = CounterAt(count);
  std::erase_if(runs, [&](const CounterRun& run) { return run.at <= count; });
  for (CounterRun& run : runs) run.at -= count;
  runs.insert(runs.begin(), {0, counter});
  const auto cut = [&](auto& list) {
    if (!list.empty()) list.erase(list.begin(), list.begin() + count);
  };
  cut(point_counts);
  cut(host_times);
  cut(texts);
  count_ -= count;
  value_count_ -= values;
}

void ChunkSamples::Reset(int columns, int count, int value_count) {
  columns_ = columns;
  count_ = count;
  value_count_ = value_count;
  stride_ = static_cast<size_t>(value_count);
  const size_t values = stride_ * static_cast<size_t>(columns);
  if (values > values_.capacity()) values_ = std::vector<double>();  // not copied, not doubled
  values_.resize(values);
  origins_.clear();
}

int64_t ChunkSamples::CounterAt(int i) const {
  const auto next = std::upper_bound(runs.begin(), runs.end(), i,
                                     [](int at, const CounterRun& run) { return at < run.at; });
  return (next - 1)->counter + (i - (next - 1)->at);
}

int ChunkSamples::ValueBegin(int i) const {
  return point_counts.empty() ? std::min(i, value_count_)
                              : std::accumulate(point_counts.begin(), point_counts.begin() + i, 0);
}

bool ChunkSamples::SameAs(const ChunkSamples& other) const {
  if (count_ != other.count_ || columns_ != other.columns_ || value_count_ != other.value_count_ ||
      runs.size() != other.runs.size() || point_counts != other.point_counts ||
      host_times != other.host_times || texts != other.texts ||
      has_origins() != other.has_origins()) {
    return false;
  }
  for (size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].at != other.runs[r].at || runs[r].counter != other.runs[r].counter) return false;
  }
  for (int c = 0; c < columns_; ++c) {
    for (int i = 0; i < value_count_; ++i) {
      const double a = column(c)[i], b = other.column(c)[i];
      if (std::bit_cast<uint64_t>(a) != std::bit_cast<uint64_t>(b) &&
          !(std::isnan(a) && std::isnan(b)))
        return false;
    }
    if (has_origins() &&
        !std::equal(origin_column(c), origin_column(c) + value_count_, other.origin_column(c)))
      return false;
  }
  return true;
}

// ---- header

int ChunkHeader::FrameOf(uint16_t flag) const {
  if ((flags & flag) == 0) return -1;
  int at = value_frames();
  for (const uint16_t f : {kHasOrigins, kHasRuns, kHasTimes, kHasPoints, kHasTexts}) {
    if (f == flag) break;
    if ((flags & f) != 0) at += f == kHasOrigins ? value_frames() : 1;
  }
  return at;
}

int ChunkHeader::FrameCount() const {
  int total = value_frames();
  if ((flags & kHasOrigins) != 0) total += value_frames();
  for (const uint16_t f : {kHasRuns, kHasTimes, kHasPoints}) total += (flags & f) != 0 ? 1 : 0;
  return total + ((flags & kHasTexts) != 0 ? 2 : 0);
}

ChunkLayout ChunkLayout::Of(const recording::StreamInfo& info, bool compacted, bool lossless) {
  ChunkLayout layout;
  layout.stream = static_cast<uint32_t>(info.id);
  layout.kind = info.kind;
  layout.rate = info.rate;
  layout.lossless = lossless;
  if (info.kind == StreamKind::kUnlabelledPoints) {
    layout.quanta.resize(4);  // x y z id
    for (size_t c = 0; c < 4 && info.channels.size() == 4; ++c)
      layout.quanta[c] = info.channels[c].quantum;
  } else if (info.kind != StreamKind::kText) {
    for (const recording::Channel& channel : info.channels)
      layout.quanta.push_back(channel.quantum);
  }
  const int all = std::max(1, static_cast<int>(layout.quanta.size()));
  int group = 8;
  switch (info.kind) {
    case StreamKind::kMarkers:
    case StreamKind::kRigidPoses:
      group = info.channels.empty() ? 1 : info.channels_per_item();
      break;
    case StreamKind::kForceTorque:
      group = 6;
      break;
    case StreamKind::kUnlabelledPoints:
      group = 4;
      break;
    case StreamKind::kPressureArray:
      group = 16;
      break;
    default:
      break;
  }
  layout.columns_per_frame = compacted ? std::min(group, all) : all;
  return layout;
}

void ChunkEncoder::Encode(const ChunkLayout& layout, uint32_t sequence, int64_t first_index,
                          const ChunkSamples& samples, int begin, int end, Bytes& out) {
  const int count = end - begin, columns = samples.columns();
  const int value_begin = samples.ValueBegin(begin),
            value_count = samples.ValueBegin(end) - value_begin;
  CHECK_GT(count, 0);
  CHECK_EQ(static_cast<size_t>(columns), layout.quanta.size());
  CHECK_LE(static_cast<int64_t>(value_count) * columns, kMaxChunkValues);
  ChunkHeader header;
  header.columns = value_count > 0 ? static_cast<uint32_t>(columns) : 0;
  header.columns_per_frame = static_cast<uint32_t>(layout.columns_per_frame);
  header.count = static_cast<uint32_t>(count);
  header.value_count = static_cast<uint32_t>(value_count);
  const int64_t first_counter = samples.CounterAt(begin), last_counter = samples.CounterAt(end - 1);
  if (samples.has_origins() && value_count > 0) header.flags |= ChunkHeader::kHasOrigins;
  if (last_counter - first_counter != count - 1) header.flags |= ChunkHeader::kHasRuns;
  if (!samples.host_times.empty()) header.flags |= ChunkHeader::kHasTimes;
  if (layout.kind == StreamKind::kUnlabelledPoints) header.flags |= ChunkHeader::kHasPoints;
  if (layout.kind == StreamKind::kText) header.flags |= ChunkHeader::kHasTexts;
  const int64_t first_time =
      !samples.host_times.empty() ? samples.host_times[static_cast<size_t>(begin)]
      : layout.rate.numerator > 0 ? recording::DeviceTimeOfCounter(first_counter, layout.rate)
                                  : first_counter;
  const int frame_count = header.FrameCount();
  out.assign(ChunkHeader::kFixedBytes + static_cast<size_t>(frame_count) * 8, 0);
  size_t frame_begin = out.size(), next = 0;
  const auto finish_frame = [&] {
    const std::span<const uint8_t> frame(out.data() + frame_begin, out.size() - frame_begin);
    const auto size = static_cast<uint32_t>(frame.size());
    const uint32_t crc = Crc32c(frame);
    uint8_t* entry = out.data() + ChunkHeader::kFixedBytes + next++ * 8;
    std::memcpy(entry, &size, 4);
    std::memcpy(entry + 4, &crc, 4);
    frame_begin = out.size();
  };
  const auto integers = [&](int rows, int cols) {
    frames_.EncodeIntegers(integers_.data(), static_cast<size_t>(rows), rows, cols, out);
    finish_frame();
  };
  const int group = layout.columns_per_frame;
  for (int c = 0; c < static_cast<int>(header.columns); c += group) {
    const int n = std::min(group, columns - c);
    frames_.EncodeValues(
        samples.column(c) + value_begin, samples.stride(), value_count,
        std::span(layout.quanta).subspan(static_cast<size_t>(c), static_cast<size_t>(n)),
        layout.lossless, out);
    finish_frame();
  }
  for (int c = 0; c < columns && (header.flags & ChunkHeader::kHasOrigins) != 0; c += group) {
    const int n = std::min(group, columns - c);
    integers_.clear();
    for (int k = 0; k < n; ++k) {
      const uint8_t* origins = samples.origin_column(c + k) + value_begin;
      integers_.insert(integers_.end(), origins, origins + value_count);
    }
    integers(value_count, n);
  }
  if ((header.flags & ChunkHeader::kHasRuns) != 0) {
    std::vector<CounterRun> runs = {{0, first_counter}};
    for (const CounterRun& run : samples.runs) {
      if (run.at > begin && run.at < end) runs.push_back({run.at - begin, run.counter});
    }
    integers_.assign(runs.size() * 2, 0);
    for (size_t r = 0; r < runs.size(); ++r) {
      integers_[r] = runs[r].at;
      integers_[runs.size() + r] = runs[r].counter;
    }
    PutVarint(out, runs.size());
    integers(static_cast<int>(runs.size()), 2);
  }
  if ((header.flags & ChunkHeader::kHasTimes) != 0) {
    integers_.assign(samples.host_times.begin() + begin, samples.host_times.begin() + end);
    integers(count, 1);
  }
  if ((header.flags & ChunkHeader::kHasPoints) != 0) {
    integers_.assign(samples.point_counts.begin() + begin, samples.point_counts.begin() + end);
    integers(count, 1);
  }
  if ((header.flags & ChunkHeader::kHasTexts) != 0) {
    Bytes text;
    integers_.clear();
    for (int i = begin; i < end; ++i) {
      const std::string& s = samples.texts[static_cast<size_t>(i)];
      integers_.push_back(static_cast<int64_t>(s.size()));
      text.insert(text.end(), s.begin(), s.end());
    }
    integers(count, 1);
    frames_.EncodeBytes(text, out);
    finish_frame();
  }
  CHECK_EQ(static_cast<int>(next), frame_count);

  Bytes fixed;
  PutFixed(fixed, kMagic);
  PutFixed(fixed, kLayoutVersion);
  PutFixed(fixed, header.flags);
  PutFixed(fixed, layout.stream);
  PutFixed(fixed, sequence);
  PutFixed(fixed, first_index);
  PutFixed(fixed, first_counter);
  PutFixed(fixed, last_counter);
  PutFixed(fixed, first_time);
  PutFixed(fixed, header.count);
  PutFixed(fixed, header.value_count);
  PutFixed(fixed, header.columns);
  PutFixed(fixed, header.columns_per_frame);
  PutFixed(fixed, static_cast<uint32_t>(frame_count));
  PutFixed(fixed, uint64_t{0});  // reserved
  CHECK_EQ(fixed.size(), static_cast<size_t>(kCrcOffset));
  std::copy(fixed.begin(), fixed.end(), out.begin());
  const std::span<const uint8_t> table(out.data() + ChunkHeader::kFixedBytes,
                                       static_cast<size_t>(frame_count) * 8);
  const uint32_t crc = Crc32c(table, Crc32c(fixed));
  std::memcpy(out.data() + kCrcOffset, &crc, 4);
}

Result<int> ChunkHeaderBytes(std::span<const uint8_t> fixed) {
  if (fixed.size() < ChunkHeader::kFixedBytes) return Damaged("shorter than its header");
  uint32_t magic, frames;
  std::memcpy(&magic, fixed.data(), 4);
  std::memcpy(&frames, fixed.data() + 64, 4);
  if (magic != kMagic) return Damaged("does not begin with HHCK");
  if (frames > (1u << 18)) return Damaged("more frames than there can be");
  return static_cast<int>(ChunkHeader::kFixedBytes + frames * 8);
}

Result<ChunkHeader> ParseChunkHeader(std::span<const uint8_t> bytes, int64_t chunk_bytes) {
  HANDHOLD_ASSIGN(const int size, ChunkHeaderBytes(bytes));
  if (bytes.size() < static_cast<size_t>(size)) return Damaged("shorter than its frame table");
  ByteReader in(bytes);
  ChunkHeader h;
  in.Fixed<uint32_t>();
  const auto version = in.Fixed<uint16_t>();
  h.flags = in.Fixed<uint16_t>();
  h.stream = in.Fixed<uint32_t>();
  h.sequence = in.Fixed<uint32_t>();
  h.first_index = in.Fixed<int64_t>();
  h.first_counter = in.Fixed<int64_t>();
  h.last_counter = in.Fixed<int64_t>();
  h.first_time_ns = in.Fixed<int64_t>();
  h.count = in.Fixed<uint32_t>();
  h.value_count = in.Fixed<uint32_t>();
  h.columns = in.Fixed<uint32_t>();
  h.columns_per_frame = in.Fixed<uint32_t>();
  const auto frame_count = in.Fixed<uint32_t>();
  in.Fixed<uint64_t>();
  const auto crc = in.Fixed<uint32_t>();
  const std::span<const uint8_t> table =
      bytes.subspan(ChunkHeader::kFixedBytes, static_cast<size_t>(size) - ChunkHeader::kFixedBytes);
  if (Crc32c(table, Crc32c(bytes.first(kCrcOffset))) != crc)
    return Damaged("the header's checksum does not match");
  if (version != kLayoutVersion) {
    return Error{ErrorCode::kVersion,
                 "chunk: layout " + std::to_string(version) + " is newer than this program"};
  }
  if (h.count == 0 || h.count > kMaxFrameSamples || h.value_count > kMaxFrameSamples ||
      h.columns_per_frame == 0 || h.columns_per_frame > kMaxChunkValues ||
      h.columns > kMaxChunkValues ||
      static_cast<int64_t>(h.value_count) * h.columns > kMaxChunkValues ||
      h.last_counter < h.first_counter || h.first_index < 0 ||
      (h.columns > 0 && h.value_count == 0)) {
    return Damaged("impossible sizes");
  }
  if (static_cast<uint32_t>(h.FrameCount()) != frame_count)
    return Damaged("the number of frames does not fit the content");
  // The two ends of the counter must be able to hold the samples, and must be those of an even run
  // when no runs are given.
  const uint64_t span =
      static_cast<uint64_t>(h.last_counter) - static_cast<uint64_t>(h.first_counter);
  if (span < h.count - 1 || ((h.flags & ChunkHeader::kHasRuns) == 0 && span != h.count - 1))
    return Damaged("its counters do not fit its count");
  h.frames.resize(frame_count);
  uint64_t at = static_cast<uint64_t>(size);
  for (ChunkHeader::Frame& frame : h.frames) {
    frame.begin = static_cast<uint32_t>(at);
    frame.size = in.Fixed<uint32_t>();
    frame.crc = in.Fixed<uint32_t>();
    at += frame.size;
    if (at > (uint64_t{1} << 30)) return Damaged("frames beyond any size");
  }
  if (at != static_cast<uint64_t>(chunk_bytes))
    return Damaged("its length is not that of its frames");
  return h;
}

Status CheckFrame(const ChunkHeader& header, int i, std::span<const uint8_t> frame) {
  const ChunkHeader::Frame& f = header.frames[static_cast<size_t>(i)];
  if (frame.size() != f.size || Crc32c(frame) != f.crc) {
    return Damaged(("the checksum of frame " + std::to_string(i) + " does not match").c_str());
  }
  return {};
}

// ---- decoding

Status ChunkDecoder::DecodeRuns(const ChunkHeader& header, std::span<const uint8_t> frame,
                                ChunkSamples& out) {
  ByteReader in(frame);
  const uint64_t n = in.Varint();
  if (!in.ok() || n < 2 || n > header.count) return Damaged("counter runs");
  integers_.resize(n * 2);
  HANDHOLD_TRY(
      frames_.DecodeIntegers(in.Take(in.left()), 2, static_cast<int>(n), integers_.data(), n));
  out.runs.clear();
  for (size_t r = 0; r < n; ++r) {
    const int64_t at = integers_[r], counter = integers_[n + r];
    const bool fits = r == 0 ? at == 0 && counter == header.first_counter
                             : at > out.runs.back().at && at < header.count &&
                                   counter - out.runs.back().counter > at - out.runs.back().at;
    if (!fits || counter < header.first_counter || counter > header.last_counter)
      return Damaged("counter runs");
    out.runs.push_back({static_cast<int>(at), counter});
  }
  if (out.runs.back().counter + (header.count - 1 - out.runs.back().at) != header.last_counter)
    return Damaged("counter runs");
  return {};
}

Status ChunkDecoder::DecodeTimes(const ChunkHeader& header, std::span<const uint8_t> frame,
                                 ChunkSamples& out) {
  out.host_times.resize(header.count);
  HANDHOLD_TRY(frames_.DecodeIntegers(frame, 1, static_cast<int>(header.count),
                                      out.host_times.data(), header.count));
  if (out.host_times.front() != header.first_time_ns)
    return Damaged("times do not begin at the header's");
  return {};
}

Status ChunkDecoder::DecodePoints(const ChunkHeader& header, std::span<const uint8_t> frame,
                                  ChunkSamples& out) {
  integers_.resize(header.count);
  HANDHOLD_TRY(frames_.DecodeIntegers(frame, 1, static_cast<int>(header.count), integers_.data(),
                                      header.count));
  int64_t total = 0;
  for (const int64_t n : integers_) {
    if (n < 0 || n > header.value_count) return Damaged("point counts");
    out.point_counts.push_back(static_cast<int32_t>(n));
    total += n;
  }
  return total == header.value_count ? Status{} : Damaged("point counts");
}

Status ChunkDecoder::DecodeTexts(const ChunkHeader& header, std::span<const uint8_t> lengths,
                                 std::span<const uint8_t> text, ChunkSamples& out) {
  integers_.resize(header.count);
  HANDHOLD_TRY(frames_.DecodeIntegers(lengths, 1, static_cast<int>(header.count), integers_.data(),
                                      header.count));
  size_t total = 0;
  for (const int64_t n : integers_) {
    if (n < 0 || static_cast<uint64_t>(n) > kMaxTextBytes ||
        (total += static_cast<size_t>(n)) > kMaxTextBytes)
      return Damaged("text lengths");
  }
  HANDHOLD_ASSIGN(const Bytes bytes, frames_.DecodeBytes(text, total));
  if (bytes.size() != total) return Damaged("text lengths");
  size_t at = 0;
  for (const int64_t n : integers_) {
    out.texts.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at,
                           static_cast<size_t>(n));
    at += static_cast<size_t>(n);
  }
  return {};
}

Status ChunkDecoder::Decode(const ChunkLayout& layout, std::span<const uint8_t> chunk,
                            ChunkHeader& header, ChunkSamples& out) {
  HANDHOLD_ASSIGN(header, ParseChunkHeader(chunk, static_cast<int64_t>(chunk.size())));
  HANDHOLD_TRY(CheckLayout(layout, header));
  const auto frame = [&](int i) -> Result<std::span<const uint8_t>> {
    const ChunkHeader::Frame& f = header.frames[static_cast<size_t>(i)];
    const std::span<const uint8_t> bytes = chunk.subspan(f.begin, f.size);
    HANDHOLD_TRY(CheckFrame(header, i, bytes));
    return bytes;
  };
  out.Reset(static_cast<int>(layout.quanta.size()), static_cast<int>(header.count),
            static_cast<int>(header.value_count));
  HANDHOLD_TRY(DecodeIndex(header, frame, out));
  if (header.columns == 0) return {};
  const int columns = static_cast<int>(header.columns),
            group = static_cast<int>(header.columns_per_frame);
  const int values = static_cast<int>(header.value_count);
  std::vector<int> wanted;
  const bool origins = (header.flags & ChunkHeader::kHasOrigins) != 0;
  if (origins) out.origins_.resize(out.values_.size());
  for (int f = 0; f < header.value_frames(); ++f) {
    const int first = f * group, n = std::min(group, columns - first);
    wanted.resize(static_cast<size_t>(n));
    std::iota(wanted.begin(), wanted.end(), 0);
    HANDHOLD_ASSIGN(const std::span<const uint8_t> bytes, frame(f));
    HANDHOLD_TRY(frames_.DecodeValues(
        bytes, std::span(layout.quanta).subspan(static_cast<size_t>(first), static_cast<size_t>(n)),
        values, wanted, 0, values, out.column(first), out.stride()));
    if (!origins) continue;
    HANDHOLD_ASSIGN(const std::span<const uint8_t> origin_bytes, frame(header.value_frames() + f));
    integers_.resize(static_cast<size_t>(n) * header.value_count);
    HANDHOLD_TRY(
        frames_.DecodeIntegers(origin_bytes, n, values, integers_.data(), header.value_count));
    for (size_t i = 0; i < integers_.size(); ++i) {
      if (integers_[i] < 0 || integers_[i] > 3) return Damaged("an origin of no meaning");
      out.origins_[static_cast<size_t>(first) * out.stride() + i] =
          static_cast<uint8_t>(integers_[i]);
    }
  }
  return {};
}

Status CheckLayout(const ChunkLayout& layout, const ChunkHeader& header) {
  if (header.stream != layout.stream) return Damaged("belongs to another stream");
  const bool points = layout.kind == StreamKind::kUnlabelledPoints,
             text = layout.kind == StreamKind::kText;
  if ((header.columns != 0 && header.columns != layout.quanta.size()) ||
      (!points && !layout.quanta.empty() && header.columns == 0) ||
      ((header.flags & ChunkHeader::kHasPoints) != 0) != points ||
      ((header.flags & ChunkHeader::kHasTexts) != 0) != text ||
      (!points && header.columns != 0 && header.value_count != header.count)) {
    return Damaged("its shape is not its stream's");
  }
  return {};
}

}  // namespace handhold::store
